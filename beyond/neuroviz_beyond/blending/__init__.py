"""What a lightning layer hides: a token turned by a cube root of 1, and heads that
blend."""
