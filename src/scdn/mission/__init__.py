"""Missions: the least energy or time to a target, or the best model within a budget."""
