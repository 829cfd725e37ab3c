"""Decides a round: the problem and its true objective, and the solvers that answer it."""
