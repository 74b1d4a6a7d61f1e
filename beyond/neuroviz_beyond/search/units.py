"""Units in which a softmax network is searched: tokens of a size at which its heads
attend to some more than to others, but not to one alone.

A search sees a network through random inputs. Of inputs too long for a head it sees one
token, of inputs too short their mean, and then directions of the weights look silent
that are not.
"""

import numpy as np

from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.rank.weights import flatten
from neuroviz_beyond.transformers import Transformer
from neuroviz_beyond.transformers.alignment import Shown, shown
from neuroviz_beyond.transformers.evaluate import (
    Weights,
    unflatten,
    with_heads,
)
from neuroviz_beyond.transformers.outputs import fitting_sizes, run

_FAR = 5.0  # inputs so much longer or shorter than the heads ask for are good, too
# more than this no input shows, to the digits that a search compares
_APART = 30.0
_HEADS_APART = 1e4
_INSIDE = ("Q", "K", "V", "O", "q", "k", "v", "beta")  # weights of a layer

Units = tuple[float, ...]
"""What is called 1 of the tokens before layer 1, 2, … and of the outputs."""


def fitting_units(arch: Transformer, weights: Weights) -> Units:
    """Units for a search; all are 1 where the network is of an ordinary size.

    Raises:
        ValueError: if no size of the inputs suits all heads, or a layer's heads have
            values of sizes too different for outputs to show them all.
    """
    ones = (1.0,) * (arch.num_layers + 1)
    if arch.attention == "lightning":  # is homogeneous
        return ones
    layers = shown("search_fiber", arch, with_heads(arch, weights))
    for i, layer in enumerate(layers, start=1):
        sizes = [size for size in np.linalg.norm(layer.V, axis=(1, 2)) if size > 0]
        if sizes and max(sizes) > _HEADS_APART * min(sizes):
            raise ValueError(
                f"search_fiber would not see all heads of layer {i} in outputs: their"
                f" values have sizes from {min(sizes):.0e} to {max(sizes):.0e}; give"
                " weights of more equal sizes"
            )
    X = np.random.default_rng(0).standard_normal((20, arch.widths[0], arch.tokens))
    fitting = [
        size
        for size in fitting_sizes(layers, X, arch.skip, arch.causal)
        if size is not None
    ]
    if not fitting:
        size = 1.0
    elif (apart := max(fitting) / min(fitting)) > _APART:
        raise ValueError(
            "search_fiber needs tokens that all heads tell apart; one asks for tokens"
            f" {apart:.0e} times as long as another, which then attends to a single"
            " token: give weights of more equal sizes"
        )
    elif min(fitting) / _FAR <= 1 <= max(fitting) * _FAR:
        size = 1.0
    else:
        size = float(np.sqrt(max(fitting) * min(fitting)))
    lengths = [size]
    for tokens in run(layers, size * X, arch.skip, arch.causal)[1]:
        lengths.append(float(np.sqrt((tokens**2).mean())))
    _check_biases(layers, lengths)
    # A skip adds tokens before a layer to those after it, so all have one unit.
    if arch.skip:
        return (size,) * len(ones)
    # Ordinary lengths need no unit, and outputs that are all 0 have none.
    inner = (
        1.0 if 1 / _HEADS_APART < length < _HEADS_APART or not length else length
        for length in lengths[1:]
    )
    return (size, *inner)


def _check_biases(layers: list[Shown], lengths: list[float]) -> None:
    """Refuse biases that are lost beside what tokens of these lengths add, or beside
    which that is lost."""
    for i, (layer, length) in enumerate(zip(layers, lengths, strict=False), start=1):
        for A, c in zip(layer.A, layer.c, strict=True):
            _check_sizes(
                i, "logits", np.linalg.norm(A) * length**2, np.linalg.norm(c) * length
            )
        values = np.linalg.norm(layer.V, axis=(1, 2)).max() * length
        _check_sizes(i, "outputs", values, np.linalg.norm(layer.omega))


def _check_sizes(i: int, what: str, tokens: float, biases: float) -> None:
    if min(tokens, biases) > 0 and max(tokens, biases) > _HEADS_APART * min(
        tokens, biases
    ):
        raise ValueError(
            f"search_fiber would not see all weights of layer {i}: to its {what} tokens"
            f" add {tokens:.0e} and biases {biases:.0e}; give weights of more equal"
            " sizes"
        )


def in_units(arch: Transformer, weights: Weights, units: Units) -> Weights:
    """The same network, of inputs and outputs in these units.

    >>> arch = Transformer((1, 1), (1,))
    >>> one = np.ones((1, 1))
    >>> changed = in_units(arch, {"1.Q": one, "1.K": one, "1.V": one}, (0.5, 4.0))
    >>> [float(weight[0, 0]) for weight in changed.values()]
    [0.5, 0.5, 0.125]
    """
    if set(units) == {1.0}:
        return weights
    found = with_heads(arch, weights)
    outer = "O" if arch.block.value_dim else "V"
    for i, (before, after) in enumerate(
        zip(units[:-1], units[1:], strict=True), start=1
    ):
        # Q, K and V read tokens x = before · x′; V, or O after it, writes after · y′.
        for name in "QKV":
            found[f"{i}.{name}"] = found[f"{i}.{name}"] * before
        found[f"{i}.{outer}"] = found[f"{i}.{outer}"] / after
        # Where there is an O the biases v stay: it is divided already.
        for name in "vo":
            if f"{i}.{name}" in found and not (name == "v" and outer == "O"):
                found[f"{i}.{name}"] = found[f"{i}.{name}"] / after
        found |= _balanced_inside(
            {n: found[f"{i}.{n}"] for n in _INSIDE if f"{i}.{n}" in found}, i
        )
    return unflatten(arch, flatten(arch, found))


def _balanced_inside(layer: Weights, i: int) -> Weights:
    """The same layer with temperatures near 1, Q as large as K, and W as large as O."""
    size = {
        name: float(np.linalg.norm(matrix)) or 1.0 for name, matrix in layer.items()
    }
    # β KᵀQ and O V stay: what one factor loses, another one gets.
    heat = size["beta"] / np.sqrt(layer["beta"].size) if "beta" in layer else 1.0
    keys = np.sqrt(size["Q"] * heat / size["K"])
    factor = {
        "beta": 1 / heat,
        "Q": heat / keys,
        "q": heat / keys,
        "K": keys,
        "k": keys,
    }
    if "O" in layer:
        values = np.sqrt(size["O"] / size["V"])
        factor |= {"V": values, "v": values, "O": 1 / values}
    return {
        f"{i}.{name}": matrix * factor.get(name, 1.0) for name, matrix in layer.items()
    }


def as_given(
    arch: Transformer, virtual: VirtualWeights, units: Units
) -> VirtualWeights:
    """What a search compares, for inputs and outputs as they were given: the inverse of
    `in_units`."""
    if set(units) == {1.0}:
        return virtual
    if arch.is_plain:
        L = virtual.L * (units[-1] / units[0])
        return VirtualWeights(L, tuple(M / units[0] ** 2 for M in virtual.M))
    M = []
    omega = []
    start = 0
    for heads, before, after in zip(virtual.M, units[:-1], units[1:], strict=True):
        # The rows are those of A, which meets two tokens, of c, which meets one, and of
        # V, which maps tokens before the layer to tokens after it.
        d = heads.shape[-1]
        scale = np.full((heads.shape[1], 1), after / before)
        scale[:d], scale[d] = 1 / before**2, 1 / before
        M.append(heads * scale)
        # ω of this layer has as many entries as V has rows.
        stop = start + heads.shape[1] - d - 1
        omega.append(virtual.L[start:stop] * after)
        start = stop
    return VirtualWeights(np.concatenate(omega), tuple(M))
