"""Ablations of the round's problem: Algorithm 3's iterations, terms of the objective, controls."""
