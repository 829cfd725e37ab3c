"""Static networks (Tables I to III): four methods on networks of 2, 4 and 6 devices."""
