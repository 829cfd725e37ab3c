"""Vertical federated learning without a network: parties, fusion model, memories, metrics."""
