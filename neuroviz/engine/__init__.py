"""From an architecture to its dimension: fields, networks, ranks, formulas,
symmetries."""
