"""Every table and figure of the paper, and a verdict on every claim."""
