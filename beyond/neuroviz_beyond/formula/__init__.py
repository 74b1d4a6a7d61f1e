"""Find the formula: a game, and `nv.try_formula` for scripts."""
