"""Why the formula holds: peeling layers off, and the flag of a network."""
