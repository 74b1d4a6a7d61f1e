"""Checks of the exercises beyond the paper, in notebooks/further. Each decides by
measurements."""

from pathlib import Path

import numpy as np

from neuroviz.attention import Architecture
from neuroviz.attention.expected import alpha
from neuroviz.kit.measured import measure_dimension
from neuroviz.lessons.checks_deep import small_network
from neuroviz.lessons.exercise import checker, matrix
from neuroviz.rank.field import Reals
from neuroviz_beyond.blending.heads import rank_of
from neuroviz_beyond.transformers import Transformer
from neuroviz_beyond.transformers.alignment import align
from neuroviz_beyond.transformers.evaluate import Weights, random_weights
from neuroviz_beyond.transformers.transformer import as_transformer

TWO_FILES = Transformer.uniform(4, 2, 2, 3, "softmax", heads=4, skip=True)
"""The network of both files of `write_two_files`."""


def _small_transformer(arch: object) -> Transformer:
    small = small_network(arch, (Architecture, Transformer))
    return as_transformer("the check", small)


@checker
def check_blending(arch: object) -> str:
    """Whether the heads of a lightning layer, of rank below the width, lose more than a
    rescaling each.

    >>> from neuroviz_beyond import Transformer
    >>> check_blending(Transformer((4, 4), (2,), heads=3))
    ✗ Not yet. Lost are 3: one rescaling a head, and nothing more.
    How many directions may a head take?
    """
    arch = _small_transformer(arch)
    if (
        arch.attention != "lightning"
        or arch.num_layers != 1
        or arch.skip
        or arch.causal
    ):
        raise ValueError(f"Take one lightning layer without skip and mask; got {arch}.")
    if not arch.block.is_plain or arch.tokens < 2:
        raise ValueError(f"Take two tokens or more, and an empty block; got {arch}.")
    ((d, d_out, a),), (H,) = arch.layers, arch.heads
    if H < 2 or a >= d:
        raise ValueError(
            f"The task asks for two heads or more, with a < d; here H = {H}, a = {a}, d"
            f" = {d}."
        )
    if H > d_out:
        raise ValueError(
            f"The task asks for at most as many heads as outputs; here H = {H}, d′ ="
            f" {d_out}."
        )
    lost = H * (alpha(a, d) + d * d_out) - measure_dimension(arch).value
    if lost > H:
        return (
            f"Lost are {lost}, {lost - H} more than one rescaling for each of {H}"
            " heads."
        )
    said = f"Lost are {lost}: one rescaling a head, and nothing more."
    raise ValueError(f"{said} How many directions may a head take?")


@checker
def check_mixtures(first: object, second: object) -> str:
    """Whether two 3 × 3 matrices of rank 1 have only mixtures of rank 1, and are no
    multiples of one another.

    Where both have rank 1, each 2 × 2 minor of c A₁ + s A₂ is c s times that of
    A₁ + A₂. So one mixture decides.

    >>> check_mixtures([[1, 0, 0], [0, 0, 0], [0, 0, 0]],
    ...                [[0, 0, 0], [0, 1, 0], [0, 0, 0]])
    ✗ Not yet. A₁ + A₂ has rank 2. What can two matrices of rank 1 have in common?
    """
    one, two = _whole("A₁", first), _whole("A₂", second)
    for name, found in (("A₁", one), ("A₂", two)):
        if (rank := rank_of(found)) != 1:
            raise ValueError(f"{name} has rank {rank}; the task asks for rank 1.")
    if rank_of(np.stack([one.ravel(), two.ravel()])) == 1:
        raise ValueError("One is a multiple of the other: nothing is mixed.")
    if (rank := rank_of(one + two)) > 1:
        raise ValueError(
            f"A₁ + A₂ has rank {rank}. What can two matrices of rank 1 have in common?"
        )
    return "Every c A₁ + s A₂ has rank 1 or less: these two heads blend."


def _whole(name: str, given: object) -> np.ndarray:
    """A 3 × 3 matrix of whole numbers."""
    found = matrix(name, given, 3, 3)
    if (found != np.round(found)).any():
        raise ValueError(f"Take whole numbers for {name}: then ranks are exact.")
    return np.vectorize(int, otypes=[object])(found)


@checker
def check_larger_and_poorer(larger: object, smaller: object) -> str:
    """Whether the first of two networks has more parameters and fewer dimensions than
    the second.

    >>> from neuroviz_beyond import Transformer
    >>> check_larger_and_poorer(Transformer((3, 3), (2,)), Transformer((2, 2), (1,)))
    ✗ Not yet. The first has 21 parameters and 16 dimensions, the second 8 and 6.
    """
    larger = _small_transformer(larger)
    smaller = _small_transformer(smaller)
    sizes = [arch.num_parameters for arch in (larger, smaller)]
    found = [measure_dimension(arch).value for arch in (larger, smaller)]
    first = f"{sizes[0]} parameters and {found[0]} dimensions"
    second = f"{sizes[1]} and {found[1]}"
    said = f"The first has {first}, the second {second}."
    if sizes[0] <= sizes[1] or found[0] >= found[1]:
        raise ValueError(said)
    return said


def write_two_files(folder: str | Path) -> tuple[Path, Path]:
    """Write the weights of `TWO_FILES` twice; in the second file heads and their inner
    bases are others."""
    paths = Path(folder, "first.npz"), Path(folder, "second.npz")
    for path, weights in zip(paths, _two_weights(), strict=True):
        np.savez(path, **weights)
    return paths


def _two_weights() -> tuple[Weights, Weights]:
    rng = np.random.default_rng(5)
    first = random_weights(Reals(), TWO_FILES, rng)
    second = {}
    for i, (H, a) in enumerate(
        zip(TWO_FILES.heads, TWO_FILES.head_dims, strict=True), start=1
    ):
        C = rng.standard_normal((H, a, a)) + 2 * np.eye(a)
        order = rng.permutation(H)
        moved = {
            "Q": C @ first[f"{i}.Q"],
            "K": np.linalg.inv(C).mT @ first[f"{i}.K"],
            "V": first[f"{i}.V"],
        }
        second |= {f"{i}.{name}": matrix[order] for name, matrix in moved.items()}
    return first, second


@checker
def check_shuffle(heads: object) -> str:
    """Whether head h of layer i in the first of the two files is head heads[i][h] in
    the second.

    >>> check_shuffle([[0, 1, 2, 3], [0, 1, 2, 3]])
    ✗ Not yet. Layer 1: head 0 of the first file is not head 0 of the second.
    """
    H = TWO_FILES.heads[0]
    layers = TWO_FILES.num_layers
    try:
        given = [[int(h) for h in layer] for layer in heads]
    except (TypeError, ValueError):
        given = []
    if len(given) != layers or any(sorted(layer) != list(range(H)) for layer in given):
        raise ValueError(
            f"Give {layers} lists, each with the numbers from 0 to {H - 1} in some"
            " order."
        )
    for i, partners in enumerate(align(TWO_FILES, *_two_weights()).heads):
        for h, partner in enumerate(partners):
            if (said := given[i][h]) != partner:
                raise ValueError(
                    f"Layer {i + 1}: head {h} of the first file is not head {said} of"
                    " the second."
                )
    return f"All {layers * H} heads have found their partners."
