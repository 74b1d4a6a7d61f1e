"""Do two softmax networks have the same outputs, on tokens of every size that some head
can tell apart?"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from neuroviz.rank.field import Reals
from neuroviz_beyond.transformers import Transformer
from neuroviz_beyond.transformers.evaluate import Weights, forward

_INPUTS = 4
# Weights fit any number of tokens, and three are enough for Theorem H.
_TOKENS = 4
_TRIES = 60  # halvings of a size that overflows: to 10⁻¹⁸
_ROUNDING = 1e-12  # logits that differ by less of their size are equal
# logits spread by so much: attention neither uniform nor on one token
_FITTING = (0.3, 3.0)


def outputs_differ(
    arch: Transformer,
    first: Weights,
    second: Weights,
    layers: Sequence,
    most: float,
) -> str:
    """Where an output differs by more than this share of its size, in words; or
    nothing.

    Args:
        layers: the first network as `alignment.shown` has it.
        most: the largest share that counts as equal.

    Tokens get, in turn, every size that fits one of the heads (`fitting_sizes`).
    """
    rng = np.random.default_rng(0)
    few = replace(arch, tokens=min(arch.tokens, _TOKENS))
    X = rng.standard_normal((_INPUTS, arch.widths[0], few.tokens))
    sizes = {
        size
        for size in fitting_sizes(layers, X, arch.skip, arch.causal)
        if size is not None
    }
    for size in sorted(sizes or {1.0}):
        one, other = (forward(Reals(), few, w, size * X) for w in (first, second))
        unit = _per_output(one)
        apart = _per_output(other - one)
        if not (apart <= most * unit).all():
            worst = int(
                np.argmax(apart / np.where(unit > 0, unit, np.finfo(float).tiny))
            )
            share = apart[worst] / unit[worst]
            return (
                f"on tokens of size {size:.0e} output {worst + 1} differs by"
                f" {share:.1e} of its size"
            )
    return ""


def _per_output(Y: np.ndarray) -> np.ndarray:
    """The root mean square of each coordinate of the outputs; infinite after an
    overflow. Y: (inputs, coordinates, tokens)."""
    with np.errstate(over="ignore"):
        found = np.sqrt((Y**2).mean(axis=(0, 2)))
    return np.where(np.isfinite(found), found, np.inf)


def fitting_sizes(
    layers: Sequence, X: np.ndarray, skip: bool, causal: bool
) -> list[float | None]:
    """For each head a factor of the inputs at which its logits spread by about 1; None
    if there is none.

    Heads are in the order of the layers. A logit is no polynomial in the factor, so it
    is searched for.
    """
    tried: dict[float, np.ndarray] = {}
    found: list[float | None] = []
    for head in range(sum(len(layer.A) for layer in layers)):
        size = 1.0
        for _ in range(_TRIES):
            # A size that was tried for another head may do.
            fitting = [
                s
                for s, spread in tried.items()
                if _FITTING[0] <= spread[head] <= _FITTING[1]
            ]
            if fitting:
                break
            if size not in tried:
                tried[size] = run(layers, size * X, skip, causal)[0]
            spread = tried[size][head]
            if 0 < spread < np.inf:
                # It grows with the first to the eighth power of the size. After a power
                # k this step leaves spread^(1 − k/5): for all these k nearer to 1.
                size *= spread**-0.2
            else:
                # It overflows, or it vanishes.
                size *= 0.5 if spread else 2.0
        found.append(fitting[0] if fitting else None)
    return found


def run(
    layers: Sequence, X: np.ndarray, skip: bool, causal: bool
) -> tuple[np.ndarray, list[np.ndarray]]:
    """How far the logits of a column spread, head by head of all layers; and the tokens
    after each layer.

    Args:
        layers: (A, V, c, ω) of each layer, as `alignment.Shown`.
        X: shape (N, d₀, t).
    """
    found = []
    tokens = []
    t = X.shape[-1]
    hidden = np.tril(np.ones((t, t), bool), -1) & causal  # row j > column i
    with np.errstate(over="ignore", invalid="ignore"):
        for A, V, c, omega in layers:
            # (N, H, t, t): row j, column i.
            logits = X[:, None].mT @ (A @ X[:, None] + c[..., None])
            spread, size = (
                np.sqrt(each.mean(axis=(0, 2, 3)))
                for each in (_apart(logits) ** 2, logits**2)
            )
            found.append(np.where(spread > _ROUNDING * size, spread, 0.0))
            logits = np.where(hidden, -np.inf, logits)
            shares = np.exp(logits - logits.max(axis=-2, keepdims=True))
            shares /= shares.sum(axis=-2, keepdims=True)
            X = (
                (X if skip else 0)
                + (V @ X[:, None] @ shares).sum(axis=1)
                + omega[:, None]
            )
            tokens.append(X)
    return np.concatenate(found), tokens


def _apart(logits: np.ndarray) -> np.ndarray:
    """Less the mean of each column, which a softmax does not see."""
    return logits - logits.mean(axis=-2, keepdims=True)
