"""Theorem 1, Remark 1 and Proposition 1 against what they bound."""
