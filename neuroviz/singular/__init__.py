"""Section 3. Singular and boundary points of one layer, and the surface of Figure 1."""
