"""The paper's Algorithm 3: a sequence of geometric programs, and the repair of its answer."""
