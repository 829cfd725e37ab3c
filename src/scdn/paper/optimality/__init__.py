"""Algorithm 3 against the proven optimum of the true problem."""
