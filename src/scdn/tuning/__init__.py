"""Find settings with which a scenario learns better, on training rows alone."""
