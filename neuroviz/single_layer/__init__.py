"""Section 2. The fibre of one lightning layer."""
