"""Convergence of Algorithm 3: the objective of P′ after each iteration."""
