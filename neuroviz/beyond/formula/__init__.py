"""Find the formula: a game, and `try_formula` for scripts."""

from neuroviz.beyond.formula.family import try_formula

__all__ = ["try_formula"]
