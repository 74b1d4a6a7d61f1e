"""The functional dimension and the symmetries of any torch module."""
