"""Find the formula: a game, and `nb.try_formula` for scripts."""
