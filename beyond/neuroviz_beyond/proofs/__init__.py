"""The proof for softmax, step by step."""
