"""Algorithm 1 at work: a method, a network that changes, and what it costs."""
