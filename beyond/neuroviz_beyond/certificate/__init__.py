"""Proofs of a dimension that can be stored and checked again."""
