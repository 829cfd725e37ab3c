"""One restrained palette that works for colour-blind people (after Okabe and Ito)."""

INK = "#1f2933"
MUTED = "#8a94a0"
PAPER = "#ffffff"
GRID = "#e4e8ec"
SERVER = "#d55e00"
DANGER = "#b3261e"
KINDS = ("#0072b2", "#009e73", "#cc79a7", "#8c6d1f", "#56b4e9", "#5b5ea6")
SHADE = ("#f7f9fb", "#1b6f8f")  # poor … good places for the server

MARKERS = ("o", "^", "s", "D", "v", "P")
SYMBOLS = ("circle", "triangle-up", "square", "diamond", "triangle-down", "cross")
SYMBOLS_3D = ("circle", "diamond", "square", "cross", "circle", "diamond")
