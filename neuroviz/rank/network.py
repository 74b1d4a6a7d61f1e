"""What can be measured: anything with parameters that records how it computes.

Three members are needed. What else an estimator must know (the shape of the output, the
degree of the derivative, how much memory an input takes) it reads off one recording
without numbers: see `neuroviz.rank.outline`.

Four abilities are optional: a method of that name is all that is asked for.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator

from neuroviz.rank.field import Field, Reals
from neuroviz.rank.tape import Node, Tape

Weights = Mapping[str, np.ndarray]
SHRINKS = tuple(0.5**k for k in range(8))
"""Factors of weights, to be tried in turn where numbers leave the range of floats."""


class Network(Protocol):
    """A family of functions: one for each choice of the parameters.

    A polynomial network, x ↦ W₂ (W₁ x)², entry by entry:

    >>> class Squares:
    ...     parameter_shapes = {"W1": (3, 2), "W2": (1, 3)}
    ...
    ...     def random_inputs(self, field, count, rng):
    ...         return field.random(rng, (count, 2, 1))
    ...
    ...     def record(self, tape, weights, inputs):
    ...         hidden = tape.power(tape.matmul(weights["W1"], inputs), 2)
    ...         return tape.matmul(weights["W2"], hidden)
    >>> from neuroviz.rank import measure_dimension
    >>> measure_dimension(Squares()).value  # all quadratic forms in two variables
    3
    """

    @property
    def parameter_shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The parameters by name; their order is that of the derivative's columns."""
        ...

    def random_inputs(self, field: Field, count: int, rng: Generator) -> np.ndarray:
        """So many random inputs, the first axis; their entries are polynomials of
        degree one in what is drawn."""
        ...

    def record(self, tape: Tape, weights: Mapping[str, Node], inputs: Node) -> Node:
        """The outputs, computed on the tape; a loop over layers, as on paper.

        It must be the same steps at every point: the numbers decide nothing here.
        """
        ...


class Sliced(Protocol):
    """A network with a slice: a smaller network with the same functions, by symmetries
    that are proved.

    The slice then has the same generic rank, and the number of its parameters is a
    proved upper bound: a measurement that meets it is a proof.
    """

    def slice(self) -> Network: ...


class Conditioned(Protocol):
    """A network that knows real points where its spectrum is easy to read."""

    def conditioned_points(
        self, count: int, rng: Generator
    ) -> Iterable[tuple[Weights, np.ndarray]]:
        """Weights and so many inputs: one point, or some in turn.

        The next one is asked for where the derivative leaves the range of floats, or
        its rows and columns differ too much in length to decide anything.
        """
        ...


@dataclass(frozen=True)
class Constant:
    """A number that is no parameter but stands for a transcendental one.

    Attributes:
        value: an array; over a prime field a random element stands for the number.
        degree: of its entries in what was drawn for them.
        theorem: by which the element may stand for the number.
    """

    value: np.ndarray
    degree: int
    theorem: str


class WithConstants(Protocol):
    """A network with constants, drawn once for each point, such as rotary angles.

    `record` finds them among the weights, by name.
    """

    def constants(self, field: Field, rng: Generator) -> Mapping[str, Constant]: ...


class Relaxed(Protocol):
    """A network that is a special case of a more general one whose derivative has a
    lower degree: if that one has no larger rank, its error bound holds here as well."""

    def relaxed(self) -> Network | None: ...


# A protocol's isinstance would take longer than a small rank's derivative.


def slice_of(net: Network) -> Network | None:
    """The network's slice, if it has one."""
    return net.slice() if hasattr(net, "slice") else None


def constants_of(net: Network, field: Field, rng: Generator) -> Mapping[str, Constant]:
    """The network's constants, if it has any."""
    return net.constants(field, rng) if hasattr(net, "constants") else {}


def relaxed_of(net: Network) -> Network | None:
    """The more general network, if there is one."""
    return net.relaxed() if hasattr(net, "relaxed") else None


def real_points_of(
    net: Network, count: int, rng: Generator
) -> Iterator[tuple[Weights, np.ndarray]]:
    """The network's own points, or one of random weights that keep the size of what
    they multiply, and the same weights by factors of 2 smaller."""
    if hasattr(net, "conditioned_points"):
        yield from net.conditioned_points(count, rng)
        return
    weights = {}
    for name, shape in net.parameter_shapes.items():
        weights[name] = rng.standard_normal(shape) / np.sqrt(shape[-1])
    X = net.random_inputs(Reals(), count, rng)
    for shrink in SHRINKS:
        yield {name: shrink * weight for name, weight in weights.items()}, X
