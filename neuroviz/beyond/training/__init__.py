"""Where gradient flow ends."""
