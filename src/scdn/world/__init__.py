"""Physics, no learning: geometry, channel, energy, churn, the fleet of devices."""
