"""Drawn fading and redrawn optimisers, which the paper's experiments have and its tables hide."""
