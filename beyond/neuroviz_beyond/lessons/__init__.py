"""What the exercises of the notebooks beyond the path check."""
