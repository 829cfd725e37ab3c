"""scdn: vertical federated learning in networks that change."""

__version__ = "0.1.0"
