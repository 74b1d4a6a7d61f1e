"""Section 1. The factorisation A = KᵀQ and its fibre."""
