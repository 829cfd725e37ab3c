"""The exact solver: branch and bound over the server's position."""
