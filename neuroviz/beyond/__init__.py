"""What the five sections do not need."""
