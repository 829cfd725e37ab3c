"""Response to the time limit of a report: two devices and the server as the limit shrinks."""
