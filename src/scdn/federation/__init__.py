"""The same parties as real processes: devices with features of their own, on Flower."""
