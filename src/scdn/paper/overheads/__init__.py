"""The time that importance, the round's solver and smoothness add to a round."""
