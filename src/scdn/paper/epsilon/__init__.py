"""How plans depend on ε, the number added to the denominator of Theorem 1's bound."""
