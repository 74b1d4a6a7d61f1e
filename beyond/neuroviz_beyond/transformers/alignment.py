"""Two weights of one softmax network with heads: do they differ by what Theorem H
allows?

Heads may be permuted, bases changed between layers without skips, and tokens shifted
where there are biases. `align` finds the permutation, the bases and the shifts, or says
why there are none; `where_theorem_h_fails` names the conditions that the weights
violate. beyond/docs/softmax_heads_fibres.md: "Theorem H".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import prod
from numbers import Real
from typing import NamedTuple

import numpy as np

from neuroviz_beyond.transformers import Transformer
from neuroviz_beyond.transformers.comparison import (
    EPSILON,
    Attention,
    Judge,
    Rounded,
    Verdict,
    exactly,
    fills,
    length,
    solved,
)
from neuroviz_beyond.transformers.evaluate import Weights
from neuroviz_beyond.transformers.outputs import outputs_differ
from neuroviz_beyond.transformers.transformer import as_transformer

# limit of Condition 4, causal: one product for each choice of heads in every layer
_MOST_PRODUCTS = 4096


@dataclass(frozen=True)
class Alignment:
    """How the second weights arise from the first: head h of layer i is head `heads[i -
    1][h]` of the second.

        V′ = G_i V G_{i−1}⁻¹,  A = G_{i−1}ᵀ A′ G_{i−1},  c = G_{i−1}ᵀ (A′ g_{i−1} + c′)

    Attributes:
        heads: one permutation a layer.
        bases: G₀, …, G_l; both ends are the identity.
        shifts: g₀, …, g_l; both ends are 0.
        second: the second weights in the bases of the first, layer by layer; heads in
            their own order.
        error: the largest difference, relative to the largest matrix of its kind in the
            layer.
    """

    heads: tuple[tuple[int, ...], ...]
    bases: tuple[np.ndarray, ...]
    shifts: tuple[np.ndarray, ...]
    second: tuple["Shown", ...]
    error: float


class Shown(NamedTuple):
    """What a layer's function depends on: X ↦ [X +] Σ_h V_h X softmax(Xᵀ(A_h X + c_h))
    + ω."""

    A: np.ndarray  # (H, d, d)
    V: np.ndarray  # (H, d′, d)
    c: np.ndarray  # (H, d)
    omega: np.ndarray  # (d′,)


def shown(caller: str, arch: Transformer, weights: Weights) -> list[Shown]:
    """The part of the weights that the function shows, layer by layer."""
    block = arch.block
    if arch.attention != "softmax" or block.rotary or block.positions or block.mlp:
        raise ValueError(
            f"{caller} is about softmax networks without rotary positions, learned"
            f" positions and MLPs (Theorem H); got {arch}"
        )
    found = []
    for i, (H, (d_in, d_out, _)) in enumerate(
        zip(arch.heads, arch.layers, strict=True), start=1
    ):
        w = {
            n.split(".")[1]: np.asarray(m)
            for n, m in weights.items()
            if n.startswith(f"{i}.")
        }
        # One for each head, also where heads share: keys (H, a, d), values (H, v, d).
        keys, values = (np.repeat(w[name], H // len(w[name]), axis=0) for name in "KV")
        beta, O = w.get("beta", 1), w.get("O")  # noqa: E741
        back = beta * keys.mT  # A_h = β_h Kᵀ Q_h and c_h = β_h Kᵀ b_h
        A = back @ w["Q"]
        V = values if O is None else O @ values
        c = np.zeros((H, d_in), A.dtype)
        omega = np.zeros(d_out, A.dtype)
        if block.biases:
            c = (back @ w["q"])[..., 0]
            # Columns of a softmax sum to 1: biases of all values are one constant.
            through = np.repeat(w["v"], H // len(w["v"]), axis=0)
            through = through if O is None else O @ through
            omega = through.sum(0)[:, 0] + (w["o"][:, 0] if "o" in w else 0)
        found.append(Shown(A, V, c, omega))
    return found


def checked(caller: str, arch: Transformer, weights: Weights) -> Weights:
    """The weights as arrays, float16 and torch tensors too, if they are weights of this
    network."""
    given = weights if isinstance(weights, dict) else {}
    if others := sorted(map(str, given.keys() - arch.parameter_shapes.keys())):
        raise ValueError(
            f"{caller} needs the weights of {arch}, which has no {', '.join(others)}:"
            " is it the network that they are of?"
        )
    found = {}
    for name, shape in arch.parameter_shapes.items():
        got = np.shape(given[name]) if name in given else "none"
        # one head needs no axis of its own
        if got not in (shape, shape[1:] if shape[0] == 1 else shape):
            raise ValueError(
                f"{caller} needs a dict with {name} of shape {shape}, for {arch}; got"
                f" {got}"
            )
        found[name] = numbers(caller, name, given[name]).reshape(shape)
        if not np.isfinite(found[name].astype(float)).all():
            raise ValueError(
                f"{caller} needs finite weights; {name} has entries that are none"
            )
    return found


def numbers(caller: str, name: str, weight: object) -> np.ndarray:
    """An array of real numbers; of floats it keeps the kind that numpy has, and
    bfloat16 becomes float64."""
    try:
        # a torch tensor, perhaps a parameter, perhaps on another device
        if hasattr(weight, "detach"):
            weight = weight.detach().cpu()
            if str(weight.dtype) == "torch.bfloat16":
                weight = weight.double()
        found = np.asarray(weight)
        if found.dtype.kind not in "fiuO":
            # a bfloat16 of numpy has a kind of its own
            found = found.astype(float, casting="safe")
        found.astype(float)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{caller} needs arrays of real numbers; {name} is none: {error}"
        ) from None
    return found


def stored_epsilon(weights: Weights) -> float:
    """How far apart the numbers near 1 are, of the coarsest kind among these weights.

    >>> stored_epsilon({"1.Q": np.ones(2, np.float16), "1.K": np.ones(2)})
    0.0009765625
    """
    kinds = {
        str(getattr(w, "dtype", "")).removeprefix("torch.") for w in weights.values()
    }
    known = {"float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
    return max((known[kind] for kind in kinds & {*known}), default=EPSILON)


def align(
    arch: Transformer,
    first: Weights,
    second: Weights,
    tolerance: float = 1e-6,
) -> Alignment:
    """Find heads, bases and shifts that lead from the first weights to the second: both
    compute the same.

    Layer by layer: G_{i−1} is known, so the heads are told by their A; with the heads
    known G_i follows from their V. Every equation of Theorem H is checked, in units of
    each head and each output, and between layers in a basis of the tokens that all
    heads of the first weights fill alike. At the end outputs are compared, on tokens of
    every size at which some head neither ignores nor saturates.

    Args:
        arch: a softmax network, of any widths; heads, skips, masks, biases and shared
            keys are welcome.
        first, second: real weights, as in `random_weights`; arrays or torch
            tensors.
        tolerance: the largest relative difference that counts as equal. Outputs may
            differ by its root.

    Raises:
        ValueError: if weights have other shapes; if there is no such change, naming the
            first layer where it fails (under the conditions of Theorem H,
            `where_theorem_h_fails`, the functions then differ); or if this cannot be
            told: heads attend alike or do not fill the width, or rounding hides it.

    >>> from neuroviz_beyond.transformers.evaluate import random_weights
    >>> from neuroviz.rank.field import Reals
    >>> arch = Transformer.uniform(3, 2, 2, attention="softmax", heads=2, skip=True)
    >>> first = random_weights(Reals(), arch, np.random.default_rng(0))
    >>> second = first | {f"1.{name}": first[f"1.{name}"][::-1] for name in "QKV"}
    >>> align(arch, first, second).heads
    ((1, 0), (0, 1))
    """
    if not isinstance(tolerance, Real) or not 0 < tolerance < 1:
        raise ValueError(f"tolerance is a number between 0 and 1; got {tolerance!r}")
    epsilon = max(
        stored_epsilon(w) if isinstance(w, dict) else 0.0 for w in (first, second)
    )
    arch = as_transformer("align", arch)
    pair = [checked("align", arch, weights) for weights in (first, second)]
    pair = [{name: w.astype(float) for name, w in weights.items()} for weights in pair]
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not equal
        ours, theirs = (_summed(arch, weights) for weights in pair)
        found = _align_layers(arch, ours, theirs, Judge(tolerance, epsilon))
        # Outputs may differ by more than weights do, as layers magnify: by the root of
        # the tolerance.
        said = outputs_differ(
            arch, *pair, [_values(one) for one in ours], np.sqrt(tolerance)
        )
    if said:
        agree = f"the weights agree up to {found.error:.1e}"
        raise ValueError(f"{agree}, but {said}: heads cancel there, or layers magnify")
    return found


class _RoundedLayer(NamedTuple):
    """`Shown`, and how far rounding moves each matrix."""

    A: Rounded
    V: Rounded
    c: Rounded
    omega: Rounded


class _Tokens(NamedTuple):
    """Tokens z = basis · ẑ + origin, where ẑ is the same for both networks."""

    basis: Rounded
    origin: Rounded


def _summed(arch: Transformer, weights: Weights) -> list[_RoundedLayer]:
    """The matrices of `Shown`, each with how far rounding of all terms can move it.

    An entry is a sum of products of weights. The same sums of absolute values say how
    much one rounding of each term moves; sums of 0 and 1 say how many terms are not 0.
    """
    in_size = {n: np.abs(w) for n, w in weights.items()}
    in_number = {n: 1.0 * (w != 0) for n, w in weights.items()}
    found = []
    for values, sizes, counts in zip(
        shown("align", arch, weights),
        shown("align", arch, in_size),
        shown("align", arch, in_number),
        strict=True,
    ):
        sums = []
        for value, size, count in zip(values, sizes, counts, strict=True):
            # A term may be too small for float64, and then vanish.
            sums.append(Rounded(value, size + np.finfo(float).tiny * count))
        found.append(_RoundedLayer(*sums))
    return found


def _values(layer: _RoundedLayer) -> Shown:
    return Shown(*(each.value for each in layer))


def _align_layers(
    arch: Transformer,
    ours: list[_RoundedLayer],
    theirs: list[_RoundedLayer],
    judge: Judge,
) -> Alignment:
    """Both networks run on the same ẑ, where z = B ẑ + o and z′ = B′ ẑ + o′ are their
    tokens. So z′ = G z + g with G = B′ B⁻¹ and g = o′ − G o."""
    here = there = _Tokens(
        exactly(np.eye(arch.widths[0])), exactly(np.zeros(arch.widths[0]))
    )
    heads = []
    error = 0.0
    second = []
    bases = [here.basis.value]
    shifts = [here.origin.value]
    for i, (one, other) in enumerate(zip(ours, theirs, strict=True), start=1):
        last = i == arch.num_layers
        # Whether each coordinate stays itself: no change of basis mixes it with others.
        own_inputs = arch.skip or i == 1
        own_outputs = arch.skip or last
        A = _attention(one, here)
        A2 = _attention(other, there)
        order, attention = _partners(i, A, A2, one.V.value, own_inputs, judge)
        A2 = [A2[k] for k in order]
        other = other._replace(A=other.A[order], V=other.V[order], c=other.c[order])

        # Where ẑ = 0 goes; between layers the tokens may be shifted to it.
        origins = _through(one, here, arch.skip), _through(other, there, arch.skip)
        if own_outputs:
            after = after2 = exactly(np.eye(arch.widths[i]))
        else:
            after, after2 = _bases_after(i, one.V @ here.basis, other.V @ there.basis)
        V = solved(after, one.V @ here.basis)
        V2 = solved(after2, other.V @ there.basis)
        worst = judge.values(V, V2, own_outputs, own_inputs)
        if last:
            worst = worst.worse(judge.constants(*origins, V, A, arch.skip))
        if worst.kind != "equal":
            _refuse_values(i, worst, A, own_inputs, own_outputs, judge)

        error = max(error, attention.share, worst.share)
        own_order = np.argsort(order)  # the inverse permutation
        seen = [A2[h] for h in own_order], V2.value[own_order]
        second.append(_as_the_first(one, here, after, *seen))
        if last:  # nothing shifts the outputs
            second[-1] = second[-1]._replace(
                omega=one.omega.value + origins[1].value - origins[0].value
            )
            origins = 2 * (exactly(np.zeros(arch.widths[i])),)
        here = _Tokens(after, origins[0])
        there = _Tokens(after2, origins[1])
        bases.append(after2.value @ _inverse(after))
        shifts.append(there.origin.value - bases[-1] @ here.origin.value)
        heads.append(tuple(order))
    return Alignment(tuple(heads), tuple(bases), tuple(shifts), tuple(second), error)


def _attention(layer: _RoundedLayer, tokens: _Tokens) -> list[Attention]:
    """A and c of each head for ẑ."""
    B = tokens.basis
    found = []
    for h in range(len(layer.A.value)):
        # zᵀ(A z + c) with z = B ẑ + o; what is the same for all keys drops out.
        A = B.mT @ layer.A[h]
        found.append(Attention(A @ B, A @ tokens.origin + B.mT @ layer.c[h]))
    return found


def _through(layer: _RoundedLayer, tokens: _Tokens, skip: bool) -> Rounded:
    """Where the layer takes the origin."""
    V = Rounded(layer.V.value.sum(axis=0), layer.V.spread.sum(axis=0))
    found = V @ tokens.origin + layer.omega
    return found + tokens.origin if skip else found


def _bases_after(i: int, V: Rounded, V2: Rounded) -> tuple[Rounded, Rounded]:
    """Bases B, B′ of the tokens after layer i, with V_h = B R_h and V′_h = B′ R_h if
    they can be.

    The R_h side by side have orthonormal rows, once each is divided by the size of V_h;
    in layer 1 each of its columns by that of V_h, as coordinates of the inputs have
    sizes of their own.

    Raises:
        ValueError: if all V_h of one of them together have less than the rank of the
            width.
    """
    size = np.abs(V.value).max(axis=1 if i == 1 else (1, 2), keepdims=True)
    size[size == 0] = 1.0
    rows, rows2 = (
        _side_by_side(Rounded(each.value / size, each.spread / size))
        for each in (V, V2)
    )
    largest, scaled = _with_rows_of_one_size(rows)
    if not fills(*scaled):
        raise ValueError(
            f"layer {i}: its heads do not fill the width, so the basis is not"
            " determined"
        )
    # `scaled` is L times a matrix R of orthonormal rows; so `rows` = B R, where B is L
    # with the sizes of the rows again.
    L = np.linalg.qr(scaled.value.T, "r").T
    B = exactly(largest * L)
    R = solved(B, rows)
    # rows2 = B′ R, and R Rᵀ = 1.
    B2 = rows2 @ R.mT
    if not fills(*_with_rows_of_one_size(B2)[1]):
        raise ValueError(
            f"layer {i}: the heads of the second weights do not fill the width as those"
            " of the first do, or rounding hides it"
        )
    return B, B2


def _side_by_side(V: Rounded) -> Rounded:
    return Rounded(np.concatenate(V.value, axis=1), np.concatenate(V.spread, axis=1))


def _inverse(basis: Rounded) -> np.ndarray:
    return solved(basis, exactly(np.eye(len(basis.value)))).value


def _with_rows_of_one_size(M: Rounded) -> tuple[np.ndarray, Rounded]:
    """The largest entry of each row, and the rows divided by it."""
    largest = np.abs(M.value).max(axis=1, keepdims=True)
    largest[largest == 0] = 1.0
    return largest, Rounded(M.value / largest, M.spread / largest)


def _as_the_first(
    one: _RoundedLayer,
    here: _Tokens,
    after: Rounded,
    A2: list[Attention],
    V2: np.ndarray,
) -> Shown:
    """The second layer in the bases of the first; ω is that of the first, which fixes
    the shift."""
    # ẑ = B⁻¹(z − o), in what `_attention` has for ẑ.
    back = _inverse(here.basis)
    A = np.array([back.T @ each.A.value @ back for each in A2])
    c = np.array([each.c.value for each in A2]) @ back - A @ here.origin.value
    return Shown(A, after.value @ V2 @ back, c, one.omega.value)


def _partners(
    i: int,
    A: list[Attention],
    A2: list[Attention],
    V: np.ndarray,
    own_inputs: bool,
    judge: Judge,
) -> tuple[list[int], Verdict]:
    """For each head of the first weights the head of the second that attends as it
    does.

    Raises:
        ValueError: if a head of one of them has no partner, if rounding hides whether
            it has, or if two heads have the same.
    """
    order = []
    worst = Verdict("equal", 0.0, 0.0)
    for h, one in enumerate(A):
        far = np.array([_apart(one, other, judge) for other in A2])
        # A and c may each differ by the tolerance. `_apart` is rough: the judge decides
        # between those that are near.
        near = np.flatnonzero(far <= max(far.min(), 2 * judge.tolerance))
        found = {int(k): judge.attention(one, A2[k], own_inputs) for k in near}
        k = min(found, key=lambda k: found[k].share)
        _refuse_attention(i, h, found[k], V[h], judge)
        order.append(k)
        worst = worst.worse(found[k])
    for k in range(len(A2)):
        if order.count(k) == 0 and all(
            judge.attention(one, A2[k], own_inputs).kind == "unequal" for one in A
        ):
            raise ValueError(
                f"layer {i}: no head of the first weights attends as head {k + 1} of"
                " the second does"
            )
    for h, k in combinations(range(len(order)), 2):
        if order[h] == order[k]:
            _refuse_twins(i, h, k)
    return order, worst


def _apart(one: Attention, other: Attention, judge: Judge) -> float:
    """How differently two heads attend, roughly: relative to the larger one, or to what
    rounding hides."""
    found = 0.0
    for a, b in zip(one, other, strict=True):
        size = max(length(a.value), length(b.value))
        # A difference that is noise alone comes out below the tolerance.
        unit = size + length(judge.noise(a, b)) / judge.tolerance
        found += length(a.value - b.value) / unit if unit > 0 else 0.0
    return found if np.isfinite(found) else np.inf


def _refuse_attention(
    i: int, h: int, found: Verdict, V: np.ndarray, judge: Judge
) -> None:
    """If a head has no partner, say so, and why."""
    if found.kind == "hidden":
        raise ValueError(
            f"layer {i}, head {h + 1}: {_hidden('how it attends', found, judge)}"
        )
    if found.kind == "unequal":
        blind = ""
        if not V.any():
            blind = f"; head {h + 1} has V = 0, so no output shows how it attends"
        raise ValueError(
            f"layer {i}: no head of the second weights attends as head {h + 1} of the"
            f" first does; the nearest differs by {found.share:.1e} of its size{blind}"
        )


def _refuse_twins(i: int, h: int, k: int) -> None:
    raise ValueError(
        f"layer {i}: heads {h + 1} and {k + 1} attend alike and cannot be told apart;"
        " merge them"
    )


def _refuse_values(
    i: int,
    found: Verdict,
    A: list[Attention],
    own_inputs: bool,
    own_outputs: bool,
    judge: Judge,
) -> None:
    """Say why values do not agree: perhaps heads that attend alike have changed
    places."""
    if found.kind == "hidden":
        raise ValueError(f"layer {i}: {_hidden('its values', found, judge)}")
    for h, k in combinations(range(len(A)), 2):
        if judge.attention(A[h], A[k], own_inputs).kind != "unequal":
            _refuse_twins(i, h, k)
    what = (
        "the values and biases"
        if own_outputs
        else "the values of all heads in one basis"
    )
    raise ValueError(
        f"layer {i}: {what} do not agree; they differ by {found.share:.1e} of their"
        " size"
    )


def _hidden(what: str, found: Verdict, judge: Judge) -> str:
    if not np.isfinite(found.rounding):
        return (
            f"float64 does not reach far enough for {what}: numbers overflow, or vanish"
        )
    why = "bases are ill-conditioned, or terms cancel"
    if judge.epsilon > EPSILON:
        why = f"they are stored to {judge.epsilon:.0e}; a larger tolerance may do"
    return (
        f"rounding hides {what}: the two differ by {found.share:.1e} of its size, and"
        f" rounding the weights can make {found.rounding:.1e} ({why})"
    )


def where_theorem_h_fails(
    arch: Transformer, weights: Weights, tolerance: float = 1e-9
) -> tuple[str, ...]:
    """The conditions of Theorem H that these weights violate; if none, the fibre is one
    orbit.

    Exact for the weights as they are stored: floats are rational numbers, and
    independence over the rationals is a rank. Floats are often roundings of other
    weights, for which a condition may hold (more heads than entries are dependent only
    as rationals) or fail: what holds by less than the tolerance stands here too, as
    undecided. Integers and fractions are never undecided.

    Args:
        arch: a softmax network of one layer, or a bottleneck: inner widths δ ≤ d₀, d_l.
        weights: as in `random_weights`; floats, integers or fractions.
        tolerance: the smallest margin, as in `theorem_h_margins`, at which floats are
            trusted.

    Raises:
        ValueError: if the theorem is not about this network, or two causal tokens need
            too many products.

    >>> from neuroviz_beyond.transformers.evaluate import random_weights
    >>> from neuroviz.rank.field import Reals
    >>> arch = Transformer.uniform(2, 1, 2, attention="softmax", heads=2)
    >>> weights = random_weights(Reals(), arch, np.random.default_rng(0))
    >>> where_theorem_h_fails(arch, weights | {"1.V": 0 * weights["1.V"]})[0]
    'Condition 2: head 1 of layer 1 has V = 0'
    """
    arch = as_transformer("where_theorem_h_fails", arch)
    margins = theorem_h_margins(arch, weights)
    weights = checked("where_theorem_h_fails", arch, weights)
    floats = any(np.asarray(w).dtype.kind == "f" for w in weights.values())
    trusted = tolerance if floats else 0.0
    failing = []
    for said, margin in margins.items():
        if margin == 0:
            failing.append(said)
        elif margin <= trusted:
            failing.append(f"undecided, closer than {tolerance:.0e}: {said}")
    return tuple(failing)


def theorem_h_margins(arch: Transformer, weights: Weights) -> dict[str, float]:
    """How far the weights are from each way to violate Theorem H: 0 where they do,
    exactly, and at most 1.

    Change every matrix of the weights by less than this share of its Frobenius norm,
    and the condition still holds, up to rounding near 1e-15. A condition says that a
    matrix R, a polynomial of the weights, has full rank. A change by the share ε moves
    the rows of R by at most ε (P(2n) − P(n)), where P has the same terms, all positive,
    and n are the norms. R keeps its rank while this is less than its smallest singular
    value. Arguments and errors as in `where_theorem_h_fails`.

    >>> arch = Transformer((1, 1), (1,), attention="softmax")
    >>> weights = {name: np.ones((1, 1, 1)) for name in ("1.Q", "1.K", "1.V")}
    >>> margins = theorem_h_margins(arch, weights)
    >>> {said.split(":")[0]: round(margin, 2) for said, margin in margins.items()}
    {'Condition 1': 0.33, 'Condition 2': 1.0}
    """
    about = "theorem_h_margins"
    arch = as_transformer(about, arch)
    weights = checked(about, arch, weights)
    if arch.tokens == 1 or {*arch.widths[1:-1]} - {min(arch.widths)}:
        raise ValueError(
            f"{about} is about two tokens or more, and one layer or a bottleneck; got"
            f" {arch}"
        )
    layers = shown(about, arch, {n: _fractions(w) for n, w in weights.items()})
    # Remark 8 on Theorem H: networks of width 1 with the norms n of the weights, and
    # with 2 n, give P(n) and P(2 n).
    as_norm = {"axis": (-2, -1), "keepdims": True}
    norms = {
        n: _fractions(np.linalg.norm(np.asarray(w, float), **as_norm))
        for n, w in weights.items()
    }
    twice_norms = {n: 2 * w for n, w in norms.items()}
    of_norms = shown(about, arch, norms)
    of_twice = shown(about, arch, twice_norms)
    found: dict[str, float] = {}
    for (said, rows), (_, once), (_, twice) in zip(
        _conditions(arch, layers, -1),
        _conditions(arch, of_norms, 1),
        _conditions(arch, of_twice, 1),
        strict=True,
    ):
        growth = [
            np.abs(high - low).sum() for low, high in zip(once, twice, strict=True)
        ]
        # A condition may be asked in several ways; the one that holds least counts.
        found[said] = min(found.get(said, 1.0), _margin(rows, growth))
    return found


def _margin(rows: list[np.ndarray], growth: list[Fraction]) -> float:
    """0 exactly where the rows are dependent; else how far they may move, in units of
    their growth.

    Args:
        growth: one for each row, or one for a matrix whose rows move together.
    """
    if _rank(rows) < len(rows):
        return 0.0
    per_row = growth * (len(rows) // len(growth))
    scaled = [
        [float(x / (g or 1)) for x in row] for row, g in zip(rows, per_row, strict=True)
    ]
    # k rows that move by less than ε each move the matrix by less than ε √k. What is
    # independent has a margin, however small it is as a float.
    return max(
        float(np.linalg.svd(scaled)[1][-1]) / len(growth) ** 0.5, np.finfo(float).tiny
    )


def _conditions(
    arch: Transformer, layers: list[Shown], minus: int
) -> Iterator[tuple[str, list]]:
    """The conditions of Theorem H, and for each the rows that are dependent where it
    fails.

    Args:
        minus: −1; or 1 for the polynomials P, all of whose terms are positive.
    """
    F = []
    for layer in layers:
        total = layer.V.sum(0)
        F.append(total + np.eye(len(total), dtype=object) if arch.skip else total)
    for i, layer in enumerate(layers, start=1):
        # Twice the symmetric parts: a factor changes no rank.
        seen = layer.A if arch.causal else layer.A + layer.A.mT
        said = "the A" if arch.causal else "the symmetric parts of the A"
        yield (
            f"Condition 1: {said} of layer {i} are dependent",
            [A.ravel() for A in seen],
        )
        for h, V in enumerate(layer.V, start=1):
            yield f"Condition 2: head {h} of layer {i} has V = 0", [V.ravel()]
        if len(layers) > 1:
            said = (
                f"Condition 2: {'I + ' if arch.skip else ''}Σ V of layer {i} is"
                " singular"
            )
            # In a bottleneck F₁ has to be onto and F_l one-to-one: the rows or the
            # columns, whichever are fewer, have to be independent.
            yield said, list(min(F[i - 1], F[i - 1].T, key=len))
        if arch.skip and i < len(layers):
            said = (
                f"Condition 3: layer {i} hides a combination of the A of layer {i + 1}"
            )
            behind = layers[i].A
            yield (
                said,
                [np.concatenate([(V.T @ A).ravel() for V in layer.V]) for A in behind],
            )
            if not arch.causal:
                both = [
                    [(V.T @ (A + A.T) @ V).ravel() for V in layer.V] for A in behind
                ]
                yield said, [np.concatenate(parts) for parts in both]
    if arch.tokens == 2:
        for said, rows in _two_tokens(arch, layers, F, minus):
            yield f"Condition 4: {said}", [rows.ravel()]


def _two_tokens(
    arch: Transformer, layers: list[Shown], F: list[np.ndarray], minus: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Condition 4 as pairs (what fails, matrix): it fails where the matrix is 0."""
    sums = [_sums(layer.V) for layer in layers]
    if arch.causal and arch.skip:
        yield from _products_of_sums(sums)
    elif arch.causal:
        for i, parts in enumerate(sums, start=1):
            yield from _cancelling(i, parts)
    else:
        yield from _cancelling(1, sums[0])
        for i, layer in enumerate(layers, start=1):
            for V, W in combinations(layer.V, 2):
                for sign in (1, minus):
                    yield f"two heads of layer {i} have V = ± V′", V + sign * W
            if i > 1:
                # Without a skip J is not the set of all heads, where F_i − V_J = 0.
                some = sums[i - 1] if arch.skip else sums[i - 1][:-1]
                yield from _unseen(i, layers[i - 2].V, some, F[i - 1])


def _sums(V: np.ndarray) -> list[np.ndarray]:
    """The V_J of all sets J of heads that are not empty; the last one has all heads."""
    return [sum(J) for n in range(len(V)) for J in combinations(V, n + 1)]


def _products_of_sums(
    sums: list[list[np.ndarray]],
) -> Iterator[tuple[str, np.ndarray]]:
    """Some heads of each layer, not none of all."""
    choices = [[0 * parts[0], *parts] for parts in sums]
    if (count := prod(map(len, choices))) > _MOST_PRODUCTS:
        raise ValueError(
            f"two causal tokens: {count} products of Condition 4, at most"
            f" {_MOST_PRODUCTS}"
        )
    one = np.eye(len(sums[0][0]), dtype=object)
    chosen_sums = product(*choices)
    next(chosen_sums)  # this one has no heads
    for chosen in chosen_sums:
        whole = one
        for V in chosen:
            whole = (one + V) @ whole
        # Written out, the 1 cancels, and no term has the sign −.
        yield "a product of the I + V_J is the identity", whole - one


def _cancelling(i: int, parts: list[np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    for V in parts:
        yield f"some heads of layer {i} have values that add up to 0", V


def _unseen(
    i: int, before: np.ndarray, some: list[np.ndarray], F: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """What some heads of layer i, or all others, make of a head of the layer before."""
    said = f"some heads of layer {i} do not see a head of layer {i - 1}"
    for V, J in product(before, some):
        yield said, J @ V
        # F − V_J is the sum over the other heads, with a skip 1 more: no sign − either.
        yield said, (F - J) @ V


def _fractions(matrix: np.ndarray) -> np.ndarray:
    entries = [Fraction(entry) for entry in np.asarray(matrix).ravel().tolist()]
    return np.array(entries, dtype=object).reshape(np.shape(matrix))


def _rank(rows: list[np.ndarray] | np.ndarray) -> int:
    """The rank over the rational numbers."""
    import flint  # late: flint would take a quarter of neuroviz's import time

    entries = [[flint.fmpq(x.numerator, x.denominator) for x in row] for row in rows]
    return flint.fmpq_mat(entries).rank()
