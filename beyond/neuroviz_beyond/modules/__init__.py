"""The functional dimension and the symmetries of any torch module."""

# Says how to get torch where there is none.
from neuroviz.attention.modules import torch as torch
