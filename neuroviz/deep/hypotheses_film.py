"""The film of one network of the map: its tokens, layer by layer; what a layer sees of
its A; and the way from the formula's number to the exact one.

`web/deep/hypotheses_facts.ts` types these facts. The page moves between the numbers
that stand here, and computes none.
"""

from typing import NamedTuple

import numpy as np

from neuroviz.attention import Architecture
from neuroviz.attention.expected import alpha, sigma
from neuroviz.attention.formulas import effective_widths, numbered, symmetric_after
from neuroviz.deep.dimension import paper_name
from neuroviz.deep.hypotheses import PARALLEL, HypothesesStudy
from neuroviz.kit.picture import Facts, words


class Share(NamedTuple):
    """What a part of the virtual weights counts: by the paper's formula, and as far as
    it can be seen."""

    name: str
    formula: int
    seen: int


def shares_of(arch: Architecture) -> tuple[Share, ...]:
    """The dimensions of two layers, part by part: L, A₁, A₂ and the factors.

    The first numbers add up to `paper_formula`, the second ones to `general_formula`,
    where the outer widths are equal, as in the map.

    >>> for share in shares_of(Architecture((3, 3, 3), (1, 2))):
    ...     print(*share)
    L 9 9
    A₁ 5 5
    A₂ 8 6
    factors -2 -2
    """
    d, delta, d_out = arch.widths
    w = effective_widths(arch)
    shares = [Share("L", delta * (d + d_out - delta), w[1] * (d + d_out - w[1]))]
    for layer, a in enumerate(arch.head_dims, start=1):
        width = w[layer - 1]
        if not _sees_any(arch):
            seen = 0
        elif _sees_symmetric_part_only(arch, layer):
            seen = sigma(a, width)
        else:
            seen = alpha(a, width)
        formula = alpha(a, arch.widths[layer - 1])
        shares.append(Share(numbered("A", layer), formula, seen))
    factors = -arch.num_layers if arch.attention == "lightning" else 0
    return (*shares, Share("factors", factors, factors))


def _sees_any(arch: Architecture) -> bool:
    """A single softmax token attends to itself alone, whatever A is."""
    return arch.attention == "lightning" or arch.tokens > 1


def _sees_symmetric_part_only(arch: Architecture, layer: int) -> bool:
    """Whether a layer compares a vector with its own multiples alone."""
    parallel_after = symmetric_after(arch)
    return parallel_after is not None and layer > parallel_after


def film_facts(study: HypothesesStudy) -> Facts:
    """The film, act by act.

    >>> from neuroviz.deep.hypotheses import HypothesesSetting, study_hypotheses
    >>> film = film_facts(study_hypotheses(HypothesesSetting()))
    >>> film["acts"][-1]["says"][0]["text"]
    'A₂ counts 10, not 15: Eq. 14 says 36, the exact rank is 31.'
    """
    layers = range(1, study.arch.num_layers + 1)
    return {
        "says": words(f"the film of {study.arch}"),
        "stations": _stations(study),
        "matrices": [_matrix(study, layer) for layer in layers],
        "bar": {
            "name": paper_name(study.paper),
            "formula": study.paper.value,
            "exact": study.measured.value,
        },
        "acts": _acts(study),
    }


# The tokens


def _stations(study: HypothesesStudy) -> list[Facts]:
    """Where the tokens stand, as they come in and after each layer."""
    stations = []
    before = None
    for n, stage in enumerate(study.stages):
        lines = _lines(stage, before)
        before = [line["angle"] for line in lines]
        name = f"after layer {n}" if n else "input"
        spread = _spread(study.angles[n])
        stations.append({"name": name, "spread": spread, "lines": lines})
    return stations


def _lines(X: np.ndarray, before: list[float] | None) -> list[Facts]:
    """Of each token the line that it spans, in the plane that is nearest to all of
    these lines: how it is turned (in degrees), how much of its length lies in the
    plane, and where on it the token is (the longest token is at ±1).

    Lines turn by as little as they can from where they were `before`.
    """
    lengths = np.linalg.norm(X, axis=0)
    units = X / lengths
    # A line has two ends: each is named by the one on the side of the first token.
    signs = np.where(units[:, 0] @ units < 0, -1.0, 1.0)
    axes, _, _ = np.linalg.svd(units * signs)
    plane = np.zeros((2, len(X)))
    plane[: min(2, len(X))] = axes[:, :2].T
    x, y = plane @ (units * signs)
    # The first axis is upright: that of most lines. An axis has no sign, so there are
    # two such pictures, and the one that is nearer to `before` is taken.
    turned = [np.degrees(np.arctan2(x, mirror * y)) for mirror in (1, -1)]
    if before is None:
        angles, flips = turned[0], np.ones(len(lengths))
    else:
        near = [_nearest(np.array(before), one) for one in turned]
        costs = [np.abs(angles - before).sum() for angles, _ in near]
        angles, flips = near[int(costs[1] < costs[0])]
    at = flips * signs * lengths / lengths.max()
    reach = np.hypot(x, y)
    return [
        {"angle": float(a), "reach": float(r), "at": float(p)}
        for a, r, p in zip(angles, reach, at, strict=True)
    ]


def _nearest(before: np.ndarray, angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same lines by other angles, as near as may be to those before; and −1 where
    the line is then named by its other end."""
    halves = np.round((before - angles) / 180)
    return angles + 180 * halves, (-1.0) ** halves


def _spread(degrees: tuple[float, ...]) -> str:
    """The angles between tokens, from the smallest to the largest."""
    if not degrees:
        return "one token"
    least, most = min(degrees), max(degrees)
    if most < 0.05:
        return "0° apart" if most < PARALLEL else "less than 0.1° apart"
    if f"{least:.0f}" == f"{most:.0f}":
        return f"{most:.0f}° apart" if most >= 1 else f"{most:.1f}° apart"
    return f"{least:.0f}° to {most:.0f}° apart"


# What is seen of A


def _matrix(study: HypothesesStudy, layer: int) -> Facts:
    """A = KᵀQ of a layer, its symmetric and its antisymmetric part, and which of their
    entries the layer sees.

    Where the tokens do not fill the width, the first vectors of the basis are those
    that they fill.
    """
    arch = study.arch
    weights = study.weights
    A = weights[f"{layer}.K"].T @ weights[f"{layer}.Q"]
    arriving = effective_widths(arch)[layer - 1]
    if arriving < len(A):
        U = np.eye(arch.widths[0])
        for i in range(1, layer):
            U = weights[f"{i}.V"] @ U
        basis, _, _ = np.linalg.svd(U)
        A = basis.T @ A @ basis
    arrives = np.zeros(A.shape, dtype=bool)
    arrives[:arriving, :arriving] = _sees_any(arch)
    keeps = not _sees_symmetric_part_only(arch, layer)
    return {
        "name": numbered("A", layer),
        "parts": [
            _part("symmetric", (A + A.T) / 2, arrives),
            _part("antisymmetric", (A - A.T) / 2, arrives & keeps),
        ],
    }


def _part(name: str, entries: np.ndarray, seen: np.ndarray) -> Facts:
    """A matrix; its colours go to its own largest entry."""
    most = float(np.abs(entries).max())
    return {
        "name": name,
        "entries": entries.tolist(),
        "seen": seen.tolist(),
        "most": most,
    }


# The acts


def _acts(study: HypothesesStudy) -> list[Facts]:
    """One after the other: the tokens come in; what a layer sees of its A, and what it
    makes of the tokens; and what all this counts."""
    arch = study.arch
    acts = [_act("input", 0, _say_input(study))]
    for layer in range(1, arch.num_layers + 1):
        if layer > 1 or _hides(arch, layer):
            acts.append(_act("look", layer, _say_look(study, layer)))
        acts.append(_act("layer", layer, _say_layer(study, layer)))
    acts.append(_act("count", 0, _say_count(study)))
    return acts


def _act(kind: str, layer: int, said: str) -> Facts:
    return {"kind": kind, "layer": layer, "says": words(said)}


def _hides(arch: Architecture, layer: int) -> bool:
    """Whether a layer does not see all of its A."""
    is_narrow = effective_widths(arch)[layer - 1] < arch.widths[layer - 1]
    cancels = _sees_symmetric_part_only(arch, layer)
    return is_narrow or cancels or not _sees_any(arch)


def _say_input(study: HypothesesStudy) -> str:
    tokens = study.arch.tokens
    if tokens == 1:
        return "One token comes in."
    if study.arch.widths[0] == 1:
        return f"{tokens} random tokens come in: with width 1, all on one line."
    return f"{tokens} random tokens come in, {_spread(study.angles[0])}."


def _say_look(study: HypothesesStudy, layer: int) -> str:
    arch = study.arch
    A = numbered("A", layer)
    if not _sees_any(arch):
        return f"A single token attends to itself alone: {A} makes no difference."
    arriving = effective_widths(arch)[layer - 1]
    width = arch.widths[layer - 1]
    said = []
    if arriving < width:
        said.append(
            f"The tokens fill {arriving} of {width} dimensions: layer {layer} never"
            f" uses the rest of {A}."
        )
    if arriving > 1 and _sees_symmetric_part_only(arch, layer):
        vector = (
            "a token with itself" if arch.tokens == 1 else "multiples of one vector g"
        )
        form = f"xᵀ{A}x" if arch.tokens == 1 else f"gᵀ{A}g"
        said.append(
            f"Layer {layer} compares {vector}: {form} does not see the antisymmetric"
            " part."
        )
    if said:
        return " ".join(said)
    if arriving == 1:
        return f"On a line, {A} is one number: all of it counts."
    return f"Layer {layer} compares tokens that are apart: it sees all of {A}."


def _say_layer(study: HypothesesStudy, layer: int) -> str:
    arch = study.arch
    A = numbered("A", layer)
    before = study.angles[layer - 1]
    after = study.angles[layer]
    if arch.tokens == 1:
        return f"The token leaves layer {layer}."
    if arch.widths[layer] == 1:
        return f"Layer {layer} has output width 1: its tokens lie on one line."
    if _is_parallel(before):
        return f"Parallel tokens leave layer {layer} parallel."
    has_rank_one = arch.head_dims[layer - 1] == 1
    if _is_parallel(after):
        last = layer == arch.num_layers
        so = "No later layer looks at them." if last else "All become parallel."
        return (
            f"{A} has rank one: it sends every token to a multiple of one vector. {so}"
        )
    if has_rank_one and arch.attention == "softmax":
        return (
            f"{A} has rank one, but its softmax has not: the tokens are"
            f" {_spread(after)}."
        )
    return f"The tokens leave layer {layer} {_spread(after)}."


def _is_parallel(degrees: tuple[float, ...]) -> bool:
    return bool(degrees) and max(degrees) < PARALLEL


def _say_count(study: HypothesesStudy) -> str:
    name = paper_name(study.paper)
    formula = study.paper.value
    exact = study.measured.value
    shares = shares_of(study.arch)
    if formula == exact:
        if study.paper.status != "outside hypotheses":
            return f"The bar stays: {name} says {formula}, and so does the exact rank."
        return (
            f"The bar stays: {name} does not apply, but its {formula} is right"
            f"{_why_right(study)}."
        )
    parts = []
    for share in shares:
        if share.seen != share.formula:
            parts.append(f"{share.name} counts {share.seen}, not {share.formula}")
    said = f"{'; '.join(parts)}: {name} says {formula}, the exact rank is {exact}."
    return said.replace("-", "−")


def _why_right(study: HypothesesStudy) -> str:
    """Where something of A cannot be seen, but nothing is lost."""
    hidden = [
        numbered("A", layer)
        for layer in range(1, study.arch.num_layers + 1)
        if _sees_symmetric_part_only(study.arch, layer)
        and effective_widths(study.arch)[layer - 1] > 1
    ]
    if not hidden:
        return ""
    return f": the symmetric parts of {hidden[-1]} have as many dimensions"
