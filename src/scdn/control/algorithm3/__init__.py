"""The paper's Algorithm 3: a sequence of geometric programs, and its repair under the true channel."""
