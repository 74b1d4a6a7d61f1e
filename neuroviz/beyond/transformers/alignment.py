"""Two weights of one softmax network with heads: do they differ by what Theorem H allows?

Heads may be permuted, bases changed between layers without skips, and tokens shifted where there are biases.
`align` finds the permutation, the bases and the shifts, or says why there are none; `where_theorem_h_fails`
names the conditions that the weights violate. docs/mathematics.md: "Theorem H".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice, product
from math import prod
from typing import NamedTuple

import numpy as np

from neuroviz.engine.architecture import Architecture, check_architecture
from neuroviz.engine.network import BlockWeights

_MOST_PRODUCTS = 4096  # limit of Condition 4, causal: one product for each choice of heads in every layer


@dataclass(frozen=True)
class Alignment:
    """How the second weights arise from the first: head h of layer i is head `heads[i - 1][h]` of the second.

        V′ = G_i V G_{i−1}⁻¹,  A = G_{i−1}ᵀ A′ G_{i−1},  c = G_{i−1}ᵀ (A′ g_{i−1} + c′)

    Attributes:
        heads: one permutation a layer.
        bases: G₀, …, G_l; both ends are the identity.
        shifts: g₀, …, g_l; both ends are 0.
        second: the second weights in the bases of the first, layer by layer; heads in their own order.
        error: the largest difference, relative to the largest matrix of its kind in the layer.
    """

    heads: tuple[tuple[int, ...], ...]
    bases: tuple[np.ndarray, ...]
    shifts: tuple[np.ndarray, ...]
    second: tuple["Shown", ...]
    error: float


class Shown(NamedTuple):
    """What a layer's function depends on: X ↦ [X +] Σ_h V_h X softmax(Xᵀ(A_h X + c_h)) + ω."""

    A: np.ndarray  # (H, d, d)
    V: np.ndarray  # (H, d′, d)
    c: np.ndarray  # (H, d)
    omega: np.ndarray  # (d′,)


def shown(caller: str, arch: Architecture, weights: BlockWeights) -> list[Shown]:
    """The part of the weights that the function shows, layer by layer."""
    block = arch.block
    if arch.attention != "softmax" or block.rotary or block.positions or block.mlp:
        raise ValueError(
            f"{caller} is about softmax networks without rotary positions, learned positions and MLPs "
            f"(Theorem H); got {arch}"
        )
    found = []
    for i, (H, (d_in, d_out, _)) in enumerate(zip(arch.heads, arch.layers, strict=True), start=1):
        w = {n.split(".")[1]: np.asarray(m) for n, m in weights.items() if n.startswith(f"{i}.")}
        keys, values = (np.repeat(w[name], H // len(w[name]), axis=0) for name in "KV")
        beta, O = w.get("beta", 1), w.get("O")  # noqa: E741
        back = beta * keys.mT
        A, V = back @ w["Q"], values if O is None else O @ values
        c, omega = np.zeros((H, d_in), A.dtype), np.zeros(d_out, A.dtype)
        if block.biases:
            c = (back @ w["q"])[..., 0]
            through = np.repeat(w["v"], H // len(w["v"]), axis=0)
            through = through if O is None else O @ through
            omega = through.sum(0)[:, 0] + (w["o"][:, 0] if "o" in w else 0)
        found.append(Shown(A, V, c, omega))
    return found


def _check(caller: str, arch: Architecture, weights: BlockWeights) -> None:
    check_architecture(caller, arch, variants=True)
    got = {n: np.shape(w) for n, w in weights.items()} if isinstance(weights, dict) else {}
    for name, shape in arch.parameter_shapes.items():
        if got.get(name) != shape:
            raise ValueError(
                f"{caller} needs a dict with {name} of shape {shape}, for {arch}; got {got.get(name, 'none')}"
            )
        if not np.isfinite(np.asarray(weights[name], float)).all():
            raise ValueError(f"{caller} needs finite weights; {name} has entries that are none")


def align(
    arch: Architecture, first: BlockWeights, second: BlockWeights, tolerance: float = 1e-6
) -> Alignment:
    """Find heads, bases and shifts that lead from the first weights to the second: both compute the same.

    Layer by layer: G_{i−1} is known, so the heads are told by their A; with the heads known G_i follows from
    their V, by least squares. At the end every equation of Theorem H is checked.

    Args:
        arch: a softmax network, of any widths; heads, skips, masks, biases and shared keys are welcome.
        first, second: real weights, as in `random_block_weights`.
        tolerance: the largest relative difference that counts as equal.

    Raises:
        ValueError: if weights have other shapes; or if there is no such change, naming the first layer where
            it fails. Under the conditions of Theorem H (`where_theorem_h_fails`) the functions then differ.

    >>> from neuroviz.engine.network import random_block_weights
    >>> from neuroviz.engine.field import Reals
    >>> arch = Architecture.uniform(3, 2, 2, attention="softmax", heads=2, skip=True)
    >>> first = random_block_weights(Reals(), arch, np.random.default_rng(0))
    >>> second = first | {f"1.{name}": first[f"1.{name}"][::-1] for name in "QKV"}
    >>> align(arch, first, second).heads
    ((1, 0), (0, 1))
    """
    for weights in (first, second):
        _check("align", arch, weights)
    ours, theirs = (shown("align", arch, weights) for weights in (first, second))
    G, g, heads, error = np.eye(arch.widths[0]), np.zeros(arch.widths[0]), [], 0.0
    bases, shifts, second = [G], [g], []
    for i, (one, other) in enumerate(zip(ours, theirs, strict=True), start=1):
        A, c = G.T @ other.A @ G, (other.A @ g + other.c) @ G
        apart = _relative(one.A[:, None] - A, one.A) + _relative((one.c[:, None] - c)[..., None], one.A)
        order = apart.argmin(axis=1)
        worst = int(apart.min(axis=1).argmax())
        if (off := float(apart[worst, order[worst]])) > tolerance:
            raise ValueError(
                f"layer {i}: no head of the second weights attends as head {worst + 1} of the first does; "
                f"the nearest differs by {off:.1e} of its size"
            )
        for h, k in combinations(range(len(order)), 2):
            if order[h] == order[k]:
                raise ValueError(
                    f"layer {i}: heads {h + 1} and {k + 1} attend alike and cannot be told apart; merge them"
                )
        heads.append(tuple(order.tolist()))
        V, reached = other.V[order], np.concatenate(one.V @ np.linalg.inv(G), axis=1)
        last = i == arch.num_layers
        if arch.skip or last:
            after = np.eye(arch.widths[i])
        else:
            if np.linalg.matrix_rank(reached) < len(reached):
                raise ValueError(
                    f"layer {i}: its heads do not fill the width, so the basis is not determined"
                )
            after = np.linalg.lstsq(reached.T, np.concatenate(V, axis=1).T)[0].T
        missed = float(_relative(after @ one.V @ np.linalg.inv(G) - V, V).max())
        through = other.V.sum(0) @ g + (g if arch.skip else 0) + other.omega
        g = through - after @ one.omega
        if last:
            missed = max(missed, float(np.abs(g).max() / max(1.0, np.abs(through).max())))
            g = np.zeros_like(g)
        if missed > tolerance:
            what = "the values and biases" if last or arch.skip else "the values of all heads in one basis"
            raise ValueError(f"layer {i}: {what} do not agree; they differ by {missed:.1e} of their size")
        if not last and np.linalg.cond(after) > 1 / tolerance:
            raise ValueError(f"layer {i}: the change of basis is not invertible")
        second.append(Shown(A, np.linalg.solve(after, other.V @ G), c, through if last else one.omega))
        error, G = max(error, off, missed), after
        bases.append(G)
        shifts.append(g)
    return Alignment(tuple(heads), tuple(bases), tuple(shifts), tuple(second), error)


def _relative(difference: np.ndarray, to: np.ndarray) -> np.ndarray:
    """The size of matrices, in units of the largest matrix of `to`."""
    unit = np.linalg.norm(to, axis=(-2, -1)).max() or 1.0
    return np.linalg.norm(difference, axis=(-2, -1)) / unit


def where_theorem_h_fails(
    arch: Architecture, weights: BlockWeights, tolerance: float = 1e-9
) -> tuple[str, ...]:
    """The conditions of Theorem H that these weights violate; if none, the fibre is one orbit.

    Exact for the weights as they are stored: floats are rational numbers, and independence over the rationals
    is a rank. But floats round other weights, which may do better (more heads than entries are dependent only
    as rationals) or worse: a condition that holds by less than the tolerance stands here too, as undecided.
    Integers and fractions are never undecided.

    Args:
        arch: a softmax network of one layer, or a bottleneck: inner widths δ ≤ d₀, d_l.
        weights: as in `random_block_weights`; floats, integers or fractions.
        tolerance: the smallest margin, as in `theorem_h_margins`, at which floats are trusted.

    Raises:
        ValueError: if the theorem is not about this network, or two causal tokens need too many products.

    >>> from neuroviz.engine.network import random_block_weights
    >>> from neuroviz.engine.field import Reals
    >>> arch = Architecture.uniform(2, 1, 2, attention="softmax", heads=2)
    >>> weights = random_block_weights(Reals(), arch, np.random.default_rng(0))
    >>> where_theorem_h_fails(arch, weights | {"1.V": 0 * weights["1.V"]})[0]
    'Condition 2: head 1 of layer 1 has V = 0'
    """
    margins = theorem_h_margins(arch, weights)
    floats = any(np.asarray(w).dtype.kind == "f" for w in weights.values())
    near = f"undecided, closer than {tolerance:.0e}: "
    return tuple(near * (m > 0) + said for said, m in margins.items() if m <= tolerance * floats)


def theorem_h_margins(arch: Architecture, weights: BlockWeights) -> dict[str, float]:
    """How far the weights are from each way to violate Theorem H: 0 where they do, exactly, and at most 1.

    Weights of which every matrix differs by less than this share of its Frobenius norm hold the condition
    too, up to rounding near 1e-15. A condition says that some matrix, a polynomial of the weights, has full
    rank. Its rows move by at most ε (P(2n) − P(n)), where P has the same terms, all positive, and n are the
    norms; its rank is full while this is less than its smallest singular value. Arguments and errors as in
    `where_theorem_h_fails`.

    >>> arch = Architecture((1, 1), (1,), attention="softmax")
    >>> margins = theorem_h_margins(arch, {name: np.ones((1, 1, 1)) for name in ("1.Q", "1.K", "1.V")})
    >>> {said.split(":")[0]: round(margin, 2) for said, margin in margins.items()}
    {'Condition 1': 0.33, 'Condition 2': 1.0}
    """
    about = "where_theorem_h_fails"
    _check(about, arch, weights)
    if arch.tokens == 1 or {*arch.widths[1:-1]} - {min(arch.widths)}:
        raise ValueError(f"{about} is about two tokens or more, and one layer or a bottleneck; got {arch}")
    layers = shown(about, arch, {n: _fractions(w) for n, w in weights.items()})
    as_norm = {"axis": (-2, -1), "keepdims": True}
    norms = {n: _fractions(np.linalg.norm(np.asarray(w, float), **as_norm)) for n, w in weights.items()}
    sizes = (shown(about, arch, {n: k * w for n, w in norms.items()}) for k in (1, 2))
    found: dict[str, float] = {}
    runs = _conditions(arch, layers, -1), *(_conditions(arch, each, 1) for each in sizes)
    for (said, rows), (_, once), (_, twice) in zip(*runs, strict=True):
        growth = [np.abs(high - low).sum() for low, high in zip(once, twice, strict=True)]
        found[said] = min(found.get(said, 1.0), _margin(rows, growth))
    return found


def _margin(rows: list[np.ndarray], growth: list[Fraction]) -> float:
    """0 exactly where the rows are dependent; else how far they may move, in units of their growth."""
    if _rank(rows) < len(rows):
        return 0.0
    per_row = growth * (len(rows) // len(growth))
    scaled = [[float(x / (g or 1)) for x in row] for row, g in zip(rows, per_row, strict=True)]
    return max(float(np.linalg.svd(scaled)[1][-1]) / len(growth) ** 0.5, np.finfo(float).tiny)


def _conditions(arch: Architecture, layers: list[Shown], minus: int) -> Iterator[tuple[str, list]]:
    """The conditions that fail where these rows are dependent."""
    F = [V.sum(0) + (np.eye(len(V[0]), dtype=object) if arch.skip else 0) for _, V, *_ in layers]
    for i, layer in enumerate(layers, start=1):
        seen = layer.A if arch.causal else layer.A + layer.A.mT
        said = "the A" if arch.causal else "the symmetric parts of the A"
        yield f"Condition 1: {said} of layer {i} are dependent", [A.ravel() for A in seen]
        for h, V in enumerate(layer.V, start=1):
            yield f"Condition 2: head {h} of layer {i} has V = 0", [V.ravel()]
        if len(layers) > 1:
            said = f"Condition 2: {'I + ' if arch.skip else ''}Σ V of layer {i} is singular"
            yield said, list(min(F[i - 1], F[i - 1].T, key=len))
        if arch.skip and i < len(layers):
            said = f"Condition 3: layer {i} hides a combination of the A of layer {i + 1}"
            behind = layers[i].A
            yield said, [np.concatenate([(V.T @ A).ravel() for V in layer.V]) for A in behind]
            if not arch.causal:
                both = [[(V.T @ (A + A.T) @ V).ravel() for V in layer.V] for A in behind]
                yield said, [np.concatenate(parts) for parts in both]
    if arch.tokens == 2:
        for said, rows in _two_tokens(arch, layers, F, minus):
            yield f"Condition 4: {said}", [rows.ravel()]


def _two_tokens(
    arch: Architecture, layers: list[Shown], F: list[np.ndarray], minus: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Condition 4 as pairs (what fails, matrix): it fails where the matrix is 0."""
    # All non-empty sets of heads; the last one has all of them.
    sums = [[sum(J) for n in range(len(V)) for J in combinations(V, n + 1)] for _, V, *_ in layers]
    if arch.causal and arch.skip:
        choices = [[0 * part[0], *part] for part in sums]
        if (count := prod(map(len, choices))) > _MOST_PRODUCTS:
            raise ValueError(f"two causal tokens: {count} products of Condition 4, at most {_MOST_PRODUCTS}")
        one = np.eye(len(F[0]), dtype=object)
        for chosen in islice(product(*choices), 1, None):  # the first choice has no heads
            whole = one
            for V in chosen:
                whole = (one + V) @ whole
            yield "a product of the I + V_J is the identity", whole - one
        return
    for i, (layer, parts) in enumerate(zip(layers, sums, strict=True), start=1):
        if arch.causal or i == 1:
            for V in parts:
                yield f"some heads of layer {i} have values that add up to 0", V
        if arch.causal:
            continue
        for (V, W), sign in product(combinations(layer.V, 2), (1, minus)):
            yield f"two heads of layer {i} have V = ± V′", V + sign * W
        if i > 1:
            some = parts if arch.skip else parts[:-1]
            for V, J in product(layers[i - 2].V, some):
                for part in (J, F[i - 1] - J):
                    yield f"some heads of layer {i} do not see a head of layer {i - 1}", part @ V


def _fractions(matrix: np.ndarray) -> np.ndarray:
    entries = [Fraction(entry) for entry in np.asarray(matrix).ravel().tolist()]
    return np.array(entries, dtype=object).reshape(np.shape(matrix))


def _rank(rows: list[np.ndarray] | np.ndarray) -> int:
    """The rank over the rational numbers."""
    import flint  # late: flint would take a quarter of neuroviz's import time

    entries = [[flint.fmpq(x.numerator, x.denominator) for x in row] for row in rows]
    return flint.fmpq_mat(entries).rank()
