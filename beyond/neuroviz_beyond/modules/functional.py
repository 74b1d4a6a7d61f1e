"""The functional dimension of any torch module: a float spectrum, with its gap and
whether that decides.

Inputs are taken until no further one can add to the rank, or until it is steady: then
it is a lower bound.
"""

from dataclasses import dataclass, replace
from math import ceil, inf
from time import monotonic

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from neuroviz.attention import Architecture
from neuroviz.rank.budget import Budget
from neuroviz.rank.cost import BUDGET_SECONDS, SVD_BYTES
from neuroviz.rank.floats import WIDEST, differ, is_wide, without_rounding
from neuroviz.rank.memory import available_bytes
from neuroviz.rank.results import FloatMeasurement, counted
from neuroviz.rank.spectrum import from_spectrum
from neuroviz_beyond.modules.analytic import Watch
from neuroviz_beyond.modules.jacobian import (
    Copied,
    Draw,
    arguments,
    check_deterministic,
    copied,
    nudge,
    parameter_jacobian,
)
from neuroviz_beyond.modules.symmetries import module_symmetries
from neuroviz_beyond.transformers import Transformer

# Up to so many parameters one thread is faster: the threads of torch and numpy wait for
# one another.
_ONE_THREAD = 2048
_GROWTH = 1.5  # factor by which the number of inputs grows
_STEADY = 2  # so many growths without gain end the search
_STEADY_IF_MORE_MAY_ADD = 4
# Inputs; some neurons bend so rarely that the rank would grow for ever.
_MOST_IF_MORE_MAY_ADD = 2000
# Numbers drawn from a density hardly ever repeat, not even in float32; this share may.
_REPEATED = 0.1


@dataclass(frozen=True)
class ModuleMeasurement(FloatMeasurement):
    """A rank read off a spectrum, on inputs that may or may not be enough.

    Attributes:
        decided: whether the spectrum decides and the inputs are enough.
        clear: whether the spectrum decides what the rank is on these inputs.
        enough: why no further input can add to it; empty where one may.
    """

    clear: bool = False
    enough: str = ""

    @property
    def status(self) -> str:
        """What a reader may take the number for: "float", or "lower bound" where other
        inputs may add."""
        return "lower bound" if self.clear and not self.enough else "float"


def functional_dimension(
    module: nn.Module,
    inputs: Tensor | tuple[Tensor, ...] | Draw,
    *,
    budget: float | None = None,
) -> ModuleMeasurement:
    """How many independent directions of the parameters change the module's outputs.

        rank of ∂(f_θ(x₁), …, f_θ(x_N)) / ∂θ   at the module's own weights θ

    A rank in floating point: evidence, not a proof. With enough inputs it is the
    dimension of the function space near f_θ, when θ is generic. Given a function that
    draws inputs, N grows by half until no more are needed, or until the rank has stayed
    the same twice; four times, or up to 2,000 inputs, where more may still add. The
    inputs are enough, and `decided` may be true, where

    - the rank is the number of parameters, or all that the symmetries of
      `module_symmetries` leave;
    - or f is real-analytic in its inputs, and inputs in general position added nothing.
      As drawn from a density they are in general position; numbers that repeat from
      input to input are noticed. So are activations that rounding makes straight.

    Else the rank is a lower bound, and `status` says so: a ReLU bends elsewhere too,
    token ids are other numbers elsewhere, and an operation that is not known to be
    analytic counts as one that bends.

    All is done on a float64 copy in evaluation mode, one input at a time: dropout is
    off, and batch normalisation uses its running statistics, or those of the one input.
    Where the module itself asks for float32, float16 or bfloat16, it gets float64, and
    the note says so. The module and torch's random numbers are left as they are.
    Parameters with `requires_grad` count, each once.

    Args:
        module: any `torch.nn.Module` with real parameters, a function of its input.
        inputs: a tensor, or a tuple of tensors for several arguments, whose first
            dimension counts the N inputs; they go in as batches of one. Whole numbers
            stay whole (token ids). Or a function: draw(count) returns `count` random
            inputs in this form.
        budget: seconds after which no further input is taken; the note then says so.
            None: 600 for a function that draws, no limit for tensors. The first input
            is always taken.

    Returns:
        A measurement with value, singular values, gap, and whether all this decides.
        Where the output is a tuple, list or dictionary, all floating-point and
        complex tensors in it count.

    Raises:
        ValueError: if there is no trainable real parameter, no input, or no tensor in
            the output; if draw or the module's forward fails, gives other outputs when
            called again, or numbers that are not finite; if the matrix does not fit
            into memory.

    The first shows 3 × 3 matrices of rank 2: 2·(3 + 3 − 2). Of the other nobody has
    asked for the last of five tokens.

    >>> first, second = nn.Linear(3, 2, bias=False), nn.Linear(2, 3, bias=False)
    >>> factors = nn.Sequential(first, second)
    >>> functional_dimension(factors, torch.randn(6, 3)).value
    8
    >>> functional_dimension(factors, lambda count: torch.randn(count, 3)).note
    '8 on 5 inputs; the known symmetries leave 8 of 12 parameters,
    so more inputs cannot add to it; ...'
    >>> tokens = torch.tensor([0, 1, 2, 3, 0, 1, 2, 3])
    >>> found = functional_dimension(nn.Embedding(5, 2), tokens)
    >>> found.value, found.status, found.decided
    (8, 'lower bound', False)
    """
    if not isinstance(module, nn.Module):
        hint = (
            ": call measure_dimension(arch)"
            if isinstance(module, Architecture | Transformer)
            else ""
        )
        raise ValueError(
            "functional_dimension needs a torch.nn.Module; got"
            f" {type(module).__name__}{hint}"
        )
    drawn = callable(inputs)
    if budget is not None:
        Budget(budget)  # an impossible budget raises here
    limit = budget
    if limit is None:
        limit = BUDGET_SECONDS if drawn else inf
    # A copy of parameters made under the caller's inference mode could not be
    # differentiated.
    with torch.inference_mode(False), torch.enable_grad():
        given = None if drawn else arguments(inputs)
        of = copied(module)
        size = sum(parameter.numel() for parameter in of.module.parameters())
        with threadpool_limits(1 if size <= _ONE_THREAD else None):
            rows = _Rows(of, limit)
            found, growth = _on_drawn(rows, inputs) if drawn else _on_given(rows, given)
    return replace(
        found, note="; ".join(filter(None, [growth, found.note, _casts(of)]))
    )


class _Rows:
    """The Jacobian's rows so far."""

    def __init__(self, of: Copied, limit: float) -> None:
        self.of = of
        self.limit = limit
        self.inputs = 0
        self.bound = _bound(of)
        self._end = monotonic() + limit
        self._blocks: list[np.ndarray] = []
        self.outputs = 0  # most outputs of an input
        # the largest on each input: its rows were divided by a power of two near it
        self._derivatives: list[float] = []
        self._near: Copied | None = None
        self._sizes = [_size(x) for x in of.module.parameters()]
        self._largest: list[float] = []  # largest size of each argument so far
        self._taken: list[list[Tensor]] = []
        self._doubt = ""  # an operation that is not known to be analytic
        # for each input an operation whose bend is lost to rounding, or ""
        self._flat: list[str] = []

    def add(self, tensors: list[Tensor], planned: int) -> bool:
        """Take these inputs, up to `planned` in all; False if the time was over before
        the last."""
        # Before the first input nobody knows how many outputs there are.
        if self.inputs:
            self._check_memory(planned)
        before = self._largest or [0.0] * len(tensors)
        self._largest = [
            max(size, _size(x)) for size, x in zip(before, tensors, strict=True)
        ]
        for i in range(len(tensors[0])):
            one = [x[i : i + 1] for x in tensors]
            if not self.inputs:
                self.outputs = check_deterministic(self.of, one)
                self._check_memory(planned)
            elif monotonic() >= self._end:
                return False
            block = self._block(one)
            if largest := np.abs(block).max(initial=0.0):
                # A power of two rounds nothing; large derivatives would hide small
                # ones.
                block = np.ldexp(block, -np.frexp(largest)[1])
                self._derivatives.append(float(largest))
            self._blocks.append(block)
            self._taken.append(one)
            self.outputs = max(self.outputs, len(block))
            self.inputs += 1
        return True

    def measure(self) -> ModuleMeasurement:
        """The rank of the rows so far; not clear where products may have left the range
        of floats unseen."""
        self._blocks = [np.concatenate(self._blocks)]
        instead = (
            "weights and inputs of other sizes, near 1, or a smaller module of the same"
            " kind may decide"
        )
        if isinstance(
            arch := getattr(self.of.module, "arch", None), Architecture | Transformer
        ):
            instead = (
                f"measure_dimension({arch!r}) gives the exact rank at random weights"
            )
        read = from_spectrum(self._blocks[0], self.inputs, instead=instead)
        found = ModuleMeasurement(**vars(read), clear=read.decided)
        if not found.clear:
            return found
        # Each input's rows were brought to size near 1, so these may differ more than
        # the lengths of rows may.
        if differ(np.array(self._derivatives), by=WIDEST**2):
            why = (
                f"derivatives on one input are more than {WIDEST**2:.0e} times as large"
                " as on another"
            )
        elif any(0 < size < 1 / WIDEST for size in (*self._sizes, *self._largest)):
            why = (
                f"the inputs or a parameter are smaller than {1 / WIDEST:.0e}, and"
                " products may be lost"
            )
        elif not found.value:
            why = (
                "all derivatives are 0: is the output detached in the forward, or have"
                " they left the floats"
            )
        elif found.value > self.bound:
            why = (
                f"{found.value} are more than the {self.bound} that the known"
                " symmetries leave"
            )
        else:
            return found
        return replace(
            found, clear=False, decided=False, note=f"undecided: {why}; {instead}"
        )

    def judged(
        self, found: ModuleMeasurement, unchanged_since: int | None
    ) -> ModuleMeasurement:
        """With the reason why no further input can add to it, or with what may.

        `unchanged_since` is a number of inputs that gave the same rank; None if all of
        them were needed.
        """
        if self.is_at_its_bound(found):
            size = self.of.size
            left = f"the known symmetries leave {self.bound} of {size} parameters"
            if self.bound == size:
                left = f"all {size} parameters count"
            enough = f"{left}, so more inputs cannot add to it"
            why = ""
        elif unchanged_since is None:
            enough = ""
            why = "more inputs may add to it"
        elif why := self.what_may_add(unchanged_since):
            enough = ""
        else:
            enough = "the module is analytic, and generic inputs added nothing"
        said = enough or f"a lower bound: {why}"
        note = f"{said}; {found.note}" if found.clear else found.note
        return replace(
            found, decided=bool(found.clear and enough), enough=enough, note=note
        )

    def is_at_its_bound(self, found: ModuleMeasurement) -> bool:
        """Whether it is all that the known symmetries leave."""
        return found.value == self.bound

    def what_may_add(self, start: int = 0) -> str:
        """Why inputs that add nothing, from this one on, do not show that none adds;
        empty if they do."""
        if self._doubt:
            return (
                f"{self._doubt} is not known to be analytic, so inputs elsewhere may"
                " add to it"
            )
        if _take_single_values(self._taken):
            return (
                "the inputs take single values only, as token ids do, and others may"
                " add to it"
            )
        flat = [operation for operation in self._flat[start:] if operation]
        if 2 * len(flat) > self.inputs - start:
            return (
                f"on most inputs {flat[0]} is straight to rounding; smaller ones may"
                " add to it"
            )
        return ""

    def _block(self, one: list[Tensor]) -> np.ndarray:
        """The rows of one input; what is only rounding is 0."""
        # After a first doubt there is nothing left to watch for.
        watch = None if self._doubt else Watch(one)
        J = parameter_jacobian(self.of, one, watch)
        if watch is not None:
            self._doubt = watch.doubt
            self._flat.append(watch.flat)
        # Rounding passes for rank only beside entries that are much larger.
        if not is_wide(J):
            return J
        if self._near is None:
            self._near = copied(self.of.module)
            nudge(self._near.module.parameters(), seed=0)
        near = [x.clone() for x in one]
        nudge(near, seed=1)
        try:
            return without_rounding(J, parameter_jacobian(self._near, near))
        except ValueError:
            # at the edge of the float range rounding cannot be told apart
            return J

    def fits(self, planned: int) -> bool:
        """Whether the rows of so many inputs fit into memory."""
        there = available_bytes()
        return there is None or self._bytes(planned) <= there

    def _bytes(self, planned: int) -> int:
        return SVD_BYTES * self.of.size * self.outputs * planned

    def _check_memory(self, planned: int) -> None:
        if not self.fits(planned):
            columns = self.of.size
            rows = self.outputs * planned
            needed = self._bytes(planned)
            there = available_bytes()
            raise ValueError(
                f"the derivative of {self.of.what} has {columns:,} columns, one for"
                f" each parameter, and {rows:,} rows on {planned:,} inputs; with its"
                f" spectrum that takes {needed / 1e9:.3g} GB, and {there / 1e9:.3g} GB"
                " are free: set requires_grad=False on parameters that need not count,"
                " give fewer inputs, or measure a smaller module of the same kind"
            )


def _size(x: Tensor) -> float:
    """The largest entry, where it is a number with a fraction."""
    if not (x.numel() and (x.is_floating_point() or x.is_complex())):
        return 0.0
    return float(x.detach().abs().max())


def _bound(of: Copied) -> int:
    """The most that any inputs can show: parameters, less the symmetries that are
    known."""
    try:
        return module_symmetries(of.module).bound
    except ValueError:
        return of.size


def _take_single_values(taken: list[list[Tensor]]) -> bool:
    """Whether the inputs are no draws from a density: a number comes back that changed,
    or none changes."""
    any_changes = False
    for argument in zip(*taken, strict=True):
        numbers = torch.cat(argument).reshape(len(argument), -1)  # a row each input
        numbers = (
            torch.view_as_real(numbers.resolve_conj()).flatten(1)
            if numbers.is_complex()
            else numbers
        )
        changing = numbers[:, (numbers != numbers[0]).any(dim=0)]
        # An argument that never changes, such as a mask, is a constant.
        if not changing.numel():
            continue
        any_changes = True
        if not changing.is_floating_point():
            return True
        # Sorted, equal numbers stand side by side.
        again = (changing.sort(dim=0).values.diff(dim=0) == 0).sum(dim=0)
        if (again > _REPEATED * len(numbers)).any():
            return True
    return not any_changes


def _casts(of: Copied) -> str:
    """Which types the module asked for and did not get."""
    asked = ", ".join(
        sorted(str(dtype).removeprefix("torch.") for dtype in of.in_double.mapped)
    )
    return asked and f"double precision in place of {asked}, which the module asks for"


def _on_given(rows: _Rows, tensors: list[Tensor]) -> tuple[ModuleMeasurement, str]:
    """The rank on these inputs, and whether the second half of them added to the
    first."""
    N = len(tensors[0])
    # The second half stands for the inputs that nobody gave.
    in_time = N == 1 or rows.add([x[: N // 2] for x in tensors], N)
    half = rows.measure().value if N > 1 and in_time else None
    in_time = in_time and rows.add([x[N // 2 :] for x in tensors], N)
    found = rows.measure()
    unchanged_since = None
    if not in_time:
        said = _stopped(rows, f" of {N}")
    elif rows.is_at_its_bound(found):
        said = f"{found.value} on {counted(N, 'input')}"
    elif half is None:
        said = (
            "one input only, so nothing shows whether more would add to it: give more"
            " inputs"
        )
    elif half < found.value:
        said = (
            f"still growing: {half} on the first {N // 2} of {N} inputs, {found.value}"
            " on all"
        )
        said += ": give more inputs"
    else:
        said = f"the first {N // 2} of {N} inputs already give {half}"
        unchanged_since = N // 2
    return rows.judged(found, unchanged_since), said


def _on_drawn(rows: _Rows, draw: Draw) -> tuple[ModuleMeasurement, str]:
    """The rank on more and more inputs, until more of them add nothing."""
    rows.add(_drawn(draw, 1), 1)  # shows how many outputs there are
    seen: list[tuple[int, int]] = []
    # The first guess: as many outputs as parameters, and one input more.
    planned = max(2, ceil(rows.of.size / max(1, rows.outputs)) + 1)
    while True:
        in_time = rows.add(_drawn(draw, planned - rows.inputs), planned)
        found = rows.measure()
        seen.append((rows.inputs, found.value))
        if not in_time:
            return rows.judged(found, None), _stopped(rows, "", seen)
        if rows.is_at_its_bound(found):
            said = f"{found.value} on {counted(rows.inputs, 'input')}"
            return rows.judged(found, None), said
        same: list[int] = []  # the last numbers of inputs, which all gave this rank
        for inputs, value in reversed(seen):
            if value != found.value:
                break
            same.insert(0, inputs)
        judged = rows.judged(found, same[0] if len(same) > 1 else None)
        # The first of these ranks is no growth yet.
        if len(same) > (_STEADY if judged.enough else _STEADY_IF_MORE_MAY_ADD):
            *first, most = (f"{inputs:,}" for inputs in same)
            return (
                judged,
                f"steady: {found.value} on {', '.join(first)} and {most} inputs",
            )
        planned = ceil(_GROWTH * planned)
        # What is only a lower bound may end early; where nothing may add, the search
        # goes on until the rank is steady.
        too_many = planned > _MOST_IF_MORE_MAY_ADD or not rows.fits(planned)
        if len(seen) > 1 and too_many and rows.what_may_add():
            before, value = seen[-2]
            said = f"{found.value} on {counted(rows.inputs, 'input')}"
            return judged, f"{said}, where {before:,} gave {value}"


def _drawn(draw: Draw, count: int) -> list[Tensor]:
    needed = (
        "draw(count) needs to return count inputs, as in lambda count:"
        " torch.randn(count, 3); "
    )
    try:
        drawn = draw(count)
    except Exception as error:
        raise ValueError(
            f"{needed}draw({count}) raised {type(error).__name__}: {error}"
        ) from error
    tensors = arguments(drawn)
    if len(tensors[0]) != count:
        raise ValueError(
            f"{needed}draw({count}) returned {len(tensors[0])}, in shape"
            f" {tuple(tensors[0].shape)}, whose first dimension counts them"
        )
    return tensors


def _stopped(rows: _Rows, of_all: str, seen: list[tuple[int, int]] | tuple = ()) -> str:
    inputs = (
        f"{rows.inputs:,}{of_all} input{'' if rows.inputs == 1 and not of_all else 's'}"
    )
    before = f", where {seen[-2][0]:,} gave {seen[-2][1]}" if len(seen) > 1 else ""
    return (
        f"stopped after {inputs}{before}, as {rows.limit:g} s were over: more may show"
        " more; raise budget"
    )
