"""The network as one sum of terms, and the weights read off it."""
