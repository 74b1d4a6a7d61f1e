"""Find the formula: a game."""
