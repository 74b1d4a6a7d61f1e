"""How many targets a network can reach."""
