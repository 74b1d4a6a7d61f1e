"""The functional dimension of any torch module: a float spectrum, with its gap and whether that decides.

Inputs are taken until the rank is steady.
"""

from dataclasses import replace
from math import ceil, inf
from time import monotonic

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.budget import Budget
from neuroviz.engine.cost import BUDGET_SECONDS, available_bytes
from neuroviz.engine.measure import Measurement, from_spectrum
from neuroviz.engine.rank import WIDEST, differ, is_wide, without_rounding
from neuroviz.nn.jacobian import (
    Copied,
    Draw,
    arguments,
    check_deterministic,
    copied,
    nudge,
    parameter_jacobian,
)

# Up to so many parameters one thread is faster: the threads of torch and numpy wait for one another.
_ONE_THREAD = 2048
_BYTES = 40  # bytes of an entry: the matrix, its scaled copies, and LAPACK's workspace
_GROWTH = 1.5  # factor by which the number of inputs grows
_STEADY = 2  # so many growths without gain end the search


def functional_dimension(
    module: nn.Module, inputs: Tensor | tuple[Tensor, ...] | Draw, *, budget: float | None = None
) -> Measurement:
    """How many independent directions of the parameters change the module's outputs.

        rank of ∂(f_θ(x₁), …, f_θ(x_N)) / ∂θ   at the module's own weights θ

    A rank in floating point: evidence, not a bound. It is the dimension of the function space near f_θ when θ
    is generic and the inputs are enough. Given a function that draws inputs, N grows by half until the rank
    has stayed the same twice, or is the number of parameters. Given tensors, the note says whether their
    second half still added to it.

    All is done on a float64 copy in evaluation mode, one input at a time: dropout is off, and batch
    normalisation uses its running statistics, or those of the one input. The module and torch's random
    numbers are left as they are. Parameters with `requires_grad` count, each once.

    Args:
        module: any `torch.nn.Module` with real parameters, a function of its input.
        inputs: a tensor, or a tuple of tensors for several arguments, whose first dimension counts the N
            inputs; they go in as batches of one. Whole numbers stay whole (token ids). Or a function:
            draw(count) returns `count` random inputs in this form.
        budget: seconds after which no further input is taken; the note then says so. None: 600 for a
            function that draws, no limit for tensors. The first input is always taken.

    Returns:
        A Measurement with method "float": value, singular values, gap, and whether the gap decides.
        Where the output is a tuple, list or dictionary, all floating-point tensors in it count.

    Raises:
        ValueError: if there is no trainable real parameter, no input, or no tensor in the output; if draw or
            the module's forward fails, gives other outputs when called again, or numbers that are not
            finite; if the matrix does not fit into memory.

    >>> factors = nn.Sequential(nn.Linear(3, 2, bias=False), nn.Linear(2, 3, bias=False))
    >>> functional_dimension(factors, torch.randn(6, 3)).value  # 3 × 3 matrices of rank 2: 2·(3 + 3 − 2)
    8
    >>> functional_dimension(factors, lambda count: torch.randn(count, 3)).note
    'steady: 8 on 5, 8 and 12 inputs; ...'
    """
    if not isinstance(module, nn.Module):
        hint = ": call measure_dimension(arch)" if isinstance(module, Architecture) else ""
        raise ValueError(f"functional_dimension needs a torch.nn.Module; got {type(module).__name__}{hint}")
    drawn = callable(inputs)
    if budget is not None:
        Budget(budget)  # an impossible budget raises here
    limit = budget if budget is not None else BUDGET_SECONDS if drawn else inf
    # A copy of parameters made under the caller's inference mode could not be differentiated.
    with torch.inference_mode(False), torch.enable_grad():
        given = None if drawn else arguments(inputs)
        of = copied(module)
        size = sum(parameter.numel() for parameter in of.module.parameters())
        with threadpool_limits(1 if size <= _ONE_THREAD else None):
            rows = _Rows(of, limit)
            found, growth = _on_drawn(rows, inputs) if drawn else _on_given(rows, given)
    return replace(found, note=f"{growth}; {found.note}")


class _Rows:
    """The Jacobian's rows so far."""

    def __init__(self, of: Copied, limit: float) -> None:
        self.of, self.limit, self.inputs = of, limit, 0
        self._end = monotonic() + limit
        self._blocks: list[np.ndarray] = []
        self.outputs = 0  # most outputs of an input
        self._derivatives: list[float] = []  # the largest on each input: its rows were divided by it
        self._near: Copied | None = None
        self._sizes = [_size(x) for x in of.module.parameters()]
        self._largest: list[float] = []  # largest size of each argument so far

    def add(self, tensors: list[Tensor], planned: int) -> bool:
        """Take these inputs, up to `planned` in all; False if the time was over before the last."""
        if self.inputs:
            self._check_memory(planned)
        before = self._largest or [0.0] * len(tensors)
        self._largest = [max(size, _size(x)) for size, x in zip(before, tensors, strict=True)]
        for i in range(len(tensors[0])):
            one = [x[i : i + 1] for x in tensors]
            if not self.inputs:
                self.outputs = check_deterministic(self.of, one)
                self._check_memory(planned)
            elif monotonic() >= self._end:
                return False
            block = self._block(one)
            if largest := np.abs(block).max(initial=0.0):
                # A power of two rounds nothing; large derivatives would hide small ones.
                block = np.ldexp(block, -np.frexp(largest)[1])
                self._derivatives.append(float(largest))
            self._blocks.append(block)
            self.outputs = max(self.outputs, len(block))
            self.inputs += 1
        return True

    def measure(self) -> Measurement:
        """The rank of the rows so far; undecided where products may have left the range of floats unseen."""
        self._blocks = [np.concatenate(self._blocks)]
        found = from_spectrum(self._blocks[0], self.inputs)
        if not found.decided:
            return found
        if differ(np.array(self._derivatives), by=WIDEST**2):
            why = f"derivatives on one input are more than {WIDEST**2:.0e} times as large as on another"
        elif any(0 < size < 1 / WIDEST for size in (*self._sizes, *self._largest)):
            why = f"the inputs or a parameter are smaller than {1 / WIDEST:.0e}, and products may be lost"
        elif not found.value:
            why = "all derivatives are 0, as they also are where they left the range of floats"
        else:
            return found
        return replace(found, decided=False, note=f"undecided: {why}")

    def _block(self, one: list[Tensor]) -> np.ndarray:
        """The rows of one input; what is only rounding is 0."""
        J = parameter_jacobian(self.of, one)
        if not is_wide(J):
            return J
        if self._near is None:
            self._near = copied(self.of.module)
            nudge(self._near.module.parameters(), seed=0)
        near = [x.clone() for x in one]
        nudge(near, seed=1)
        try:
            return without_rounding(J, parameter_jacobian(self._near, near))
        except ValueError:  # at the edge of the float range rounding cannot be told apart
            return J

    def _check_memory(self, planned: int) -> None:
        columns, rows = self.of.size, self.outputs * planned
        needed, there = _BYTES * columns * rows, available_bytes()
        if there is not None and needed > there:
            raise ValueError(
                f"the derivative of {self.of.what} has {columns:,} columns, one for each parameter, and "
                f"{rows:,} rows on {planned:,} inputs; with its spectrum that takes {needed / 1e9:.3g} GB, "
                f"and {there / 1e9:.3g} GB are free: set requires_grad=False on parameters that need not "
                "count, give fewer inputs, or measure a smaller module of the same kind"
            )


def _size(x: Tensor) -> float:
    """The largest entry, where it is a number with a fraction."""
    if not (x.numel() and (x.is_floating_point() or x.is_complex())):
        return 0.0
    return float(x.detach().abs().max())


def _on_given(rows: _Rows, tensors: list[Tensor]) -> tuple[Measurement, str]:
    """The rank on these inputs, and whether the second half of them added to the first."""
    N = len(tensors[0])
    in_time = N == 1 or rows.add([x[: N // 2] for x in tensors], N)
    half = rows.measure().value if N > 1 and in_time else None
    in_time = in_time and rows.add([x[N // 2 :] for x in tensors], N)
    found = rows.measure()
    said = f"the first {N // 2} of {N} inputs already give {half}"
    if not in_time:
        said = _stopped(rows, f" of {N}")
    elif end := _at_an_end(rows, found):
        said = end
    elif half is None:
        said = "one input only, so nothing shows whether more would add to it: give more inputs"
    elif half < found.value:
        said = f"still growing: {half} on the first {N // 2} of {N} inputs, {found.value} on all"
        said += ": give more inputs"
    return found, said


def _on_drawn(rows: _Rows, draw: Draw) -> tuple[Measurement, str]:
    """The rank on more and more inputs, until more of them add nothing."""
    rows.add(_drawn(draw, 1), 1)
    seen: list[tuple[int, int]] = []
    # The first guess: as many outputs as parameters, and one input more.
    planned = max(2, ceil(rows.of.size / max(1, rows.outputs)) + 1)
    while True:
        in_time = rows.add(_drawn(draw, planned - rows.inputs), planned)
        found = rows.measure()
        seen.append((rows.inputs, found.value))
        if not in_time:
            return found, _stopped(rows, "", seen)
        if said := _at_an_end(rows, found):
            return found, said
        last = seen[-1 - _STEADY :]
        if len(last) > _STEADY and len({value for _, value in last}) == 1:
            *first, most = (f"{inputs:,}" for inputs, _ in last)
            return found, f"steady: {found.value} on {', '.join(first)} and {most} inputs"
        planned = ceil(_GROWTH * planned)


def _drawn(draw: Draw, count: int) -> list[Tensor]:
    needed = "draw(count) needs to return count inputs, as in lambda count: torch.randn(count, 3); "
    try:
        drawn = draw(count)
    except Exception as error:
        raise ValueError(f"{needed}draw({count}) raised {type(error).__name__}: {error}") from error
    tensors = arguments(drawn)
    if len(tensors[0]) != count:
        raise ValueError(
            f"{needed}draw({count}) returned {len(tensors[0])}, in shape {tuple(tensors[0].shape)}, whose "
            "first dimension counts them"
        )
    return tensors


def _at_an_end(rows: _Rows, found: Measurement) -> str:
    """Why more inputs can make no difference, if so."""
    if found.value == rows.of.size:
        return f"all {rows.of.size} parameters count: more inputs cannot add to it"
    if found.value == 0:
        return "no output changes with any parameter: is the output detached in the module's forward?"
    return ""


def _stopped(rows: _Rows, of_all: str, seen: list[tuple[int, int]] | tuple = ()) -> str:
    inputs = f"{rows.inputs:,}{of_all} input{'' if rows.inputs == 1 and not of_all else 's'}"
    before = f", where {seen[-2][0]:,} gave {seen[-2][1]}" if len(seen) > 1 else ""
    return f"stopped after {inputs}{before}, as {rows.limit:g} s were over: more may show more; raise budget"
