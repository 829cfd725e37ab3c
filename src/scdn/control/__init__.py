"""Decide a round: the problem, its true objective, and the solvers, one per method."""
