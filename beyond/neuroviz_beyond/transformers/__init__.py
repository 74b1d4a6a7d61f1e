"""Heads, skips, masks and blocks; real models."""
