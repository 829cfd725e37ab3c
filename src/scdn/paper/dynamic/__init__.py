"""Dynamic networks: score, energy and iterations per round while devices join and leave."""
