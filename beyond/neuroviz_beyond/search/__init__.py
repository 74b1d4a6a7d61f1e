"""Search for weights with the same function."""
