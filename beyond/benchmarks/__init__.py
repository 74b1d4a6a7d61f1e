"""How long things take: `python -m benchmarks` runs everything and writes the tables
(see README.md here)."""
