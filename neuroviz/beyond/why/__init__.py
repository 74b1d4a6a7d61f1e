"""Why the formula holds: the flag of a network."""
