"""From an architecture to its dimension: networks, ranks, formulas, symmetries."""
