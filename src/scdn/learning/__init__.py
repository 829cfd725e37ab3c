"""Vertical learning, no radio: data, feature split, models, parties, a fusion model that grows."""
