"""torch modules: attention networks, and the functional dimension and symmetries of any module."""
