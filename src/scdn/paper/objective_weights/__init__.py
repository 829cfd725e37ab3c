"""Characteristic curves: what changes as one of the objective's four weights grows."""
