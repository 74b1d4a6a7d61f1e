"""Sweeps over many architectures, as a picture."""
