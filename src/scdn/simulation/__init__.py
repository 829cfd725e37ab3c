"""Runs: Algorithm 1 as one loop, its data and environment, and the comparison of methods."""
