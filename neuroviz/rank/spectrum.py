"""A rank in floating point: the spectrum of the derivative at a real point."""

from dataclasses import replace
from math import ceil, inf

import numpy as np
from numpy.random import Generator, default_rng

from neuroviz.rank import floats
from neuroviz.rank.cost import SVD_BYTES
from neuroviz.rank.field import DEFAULT_PRIME, Reals
from neuroviz.rank.inputs import curve
from neuroviz.rank.memory import check_memory
from neuroviz.rank.network import Network, Weights, constants_of, real_points_of
from neuroviz.rank.outline import Outline
from neuroviz.rank.point import Point, derivative
from neuroviz.rank.progress import Report
from neuroviz.rank.question import Question, ask
from neuroviz.rank.results import FloatMeasurement, observed_only

_CLEAR_GAP = 1e10  # at both points: a wrong rank was seen at two with 7·10⁹


def measure_spectrum(question: Question, seed: int, report: Report) -> FloatMeasurement:
    """The rank that the spectrum shows, and whether it decides.

    It is observed on one and a half times as many inputs as the exact rank needs, and
    one more, unless the question says how many.
    """
    net = question.net
    num_inputs = question.inputs
    if num_inputs is None:
        enough = curve(ask(net), seed, DEFAULT_PRIME, report).enough
        num_inputs = ceil(1.5 * enough) + 1
        entries = num_inputs * question.equations * question.columns
        check_memory(f"a spectrum on {num_inputs} inputs", SVD_BYTES * entries)
    report("derivative", 0.0)
    # 2 and 3 are two independent points.
    J = _float_rows(net, num_inputs, default_rng([seed, 2]))
    report("spectrum", 0.0)
    found = from_spectrum(J, num_inputs, seed)
    if found.decided:
        doubt = _doubt_here(question.outline, J, found)
        if doubt is None:
            del J  # so that its memory is free for the other one
            again = _float_rows(net, num_inputs, default_rng([seed, 3]))
            doubt = _doubt_there(again, found)
        if doubt is not None:
            note = f"undecided: {doubt}; the exact rank can tell"
            found = replace(found, decided=False, note=note)
    if question.inputs is not None:
        seen = observed_only(num_inputs)
        found = replace(found, note=f"{found.note}; {seen}")
    return found


def _doubt_here(shape: Outline, J: np.ndarray, found: FloatMeasurement) -> str | None:
    """Why a spectrum that seems to decide is not trusted; None if it is."""
    if found.gap < _CLEAR_GAP:
        return f"it splits by a factor {found.gap:.1g} only"
    # A row for each input, an entry for each number of its output.
    moves = J.any(axis=1).reshape(found.num_inputs, -1)
    # Generic weights move the same outputs on each input.
    if not moves.any() or (moves != moves[0]).any():
        return "derivatives left the range of floats and became 0"
    # One for each softmax over two tokens or more: a single one is trusted.
    delicate = [each for each in shape.exponentials if each.are_delicate]
    if delicate and len(shape.exponentials) > 1:
        return "tokens on a line have shown clear gaps at wrong ranks"
    return None


def _doubt_there(again: np.ndarray, found: FloatMeasurement) -> str | None:
    """Why the derivative at another point speaks against what was found; None if it
    does not."""
    other = from_spectrum(again, found.num_inputs, found.seed)
    if not other.decided or other.gap < _CLEAR_GAP:
        return f"{found.value} here, but another random point decides nothing"
    if other.value != found.value:
        return f"{found.value} here, but another random point reads {other.value}"
    return None


def _float_rows(net: Network, num_inputs: int, rng: Generator) -> np.ndarray:
    """The derivative at the first real point where it is finite and not too wide, a
    column for each parameter; what is only rounding is 0.

    Raises:
        ValueError: if no point is good, and it is not finite at the last one.
    """
    constants = constants_of(net, Reals(), rng)

    def rows(weights: Weights, X: np.ndarray) -> np.ndarray:
        point = Point(net, Reals(), weights, constants)
        with np.errstate(over="ignore", invalid="ignore"):
            J = derivative(point, X, rng, rescales=True)
        return J.reshape(-1, J.shape[-1])

    for weights, X in real_points_of(net, num_inputs, rng):
        J = rows(weights, X)
        if np.isfinite(J).all() and not floats.is_wide(J):
            return J
    # No point was good: the last one will do if it is finite. What is only rounding
    # makes it wide, and is another number at a point close by.
    if not np.isfinite(J).all():
        raise ValueError(
            f"a float measurement needs derivatives below 10^308, and those of {net} "
            "are larger at the last weights that it tries; take method='exact', fewer "
            "layers or smaller powers"
        )
    shaken = {name: floats.nearby(weights[name], rng) for name in weights}
    return floats.without_rounding(J, rows(shaken, floats.nearby(X, rng)))


def from_spectrum(
    J: np.ndarray,
    num_inputs: int,
    seed: int | None = None,
    instead: str = "the exact rank can tell",
) -> FloatMeasurement:
    """The measurement read off a Jacobian with one column for each parameter.

    Args:
        instead: what to do where the spectrum decides nothing.
    """
    found = floats.float_rank(J)
    spectrum = np.zeros(J.shape[1])  # columns beyond the number of rows get 0
    spectrum[: len(found.singular_values)] = found.singular_values
    spectrum.flags.writeable = False
    return FloatMeasurement(
        value=found.value,
        num_inputs=num_inputs,
        seed=seed,
        note=_float_note(found, instead),
        singular_values=spectrum,
        gap=found.gap,
        decided=found.decided,
    )


def _float_note(found: floats.FloatRank, instead: str) -> str:
    if found.decided:
        split = f"the spectrum splits by a factor {found.gap:.1g}"
        if found.gap == inf:
            split = "nothing but zeros is dropped"
        return f"{split}; floating point is evidence, not a proof"
    if found.wide:
        return (
            "undecided: rows or columns of the derivative differ in length by more "
            f"than {floats.WIDEST:.0e}, so small directions may be lost; {instead}"
        )
    split = f"it splits by a factor {found.gap:.1g} only, and"
    if found.gap == inf:
        split = "nothing but zeros is dropped, but"
    return f"undecided: {split} values lie near the rounding noise; {instead}"
