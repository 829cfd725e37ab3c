"""The studio: a web page to plan rounds, start and watch runs, and compare methods."""
