"""What is asked of a network: the arguments of a measurement, checked."""

from dataclasses import dataclass
from functools import cached_property
from math import prod

from neuroviz.rank.checks import whole_number
from neuroviz.rank.field import PrimeField
from neuroviz.rank.network import Network, slice_of
from neuroviz.rank.outline import Outline, outline
from neuroviz.rank.point import num_parameters

METHODS = ("exact", "float")
_MEMBERS = ("parameter_shapes", "random_inputs", "record")


@dataclass(frozen=True)
class Question:
    """A checked question; `ask` makes it.

    Attributes:
        net: what was given.
        measured: it or its slice, which has the same functions.
        method: "exact" or "float".
        route: "slice" or "weights".
        inputs: observe so many, all outputs of each; None for enough of them.
        prime: of the field; None leaves the choice.
    """

    net: Network
    measured: Network
    method: str
    route: str
    inputs: int | None
    prime: int | None

    @cached_property
    def columns(self) -> int:
        """Of the matrix whose rank is taken."""
        return num_parameters(self.measured)

    @cached_property
    def outline(self) -> Outline:
        """Of what is measured."""
        return outline(self.measured)

    @property
    def equations(self) -> int:
        """Numbers of one input's output."""
        return prod(self.outline.output_shape)


def ask(
    net: Network,
    method: str = "exact",
    route: str | None = None,
    inputs: int | None = None,
    prime: int | None = None,
) -> Question:
    """The question that these arguments of `measure_dimension` ask.

    Raises:
        ValueError: if an argument is none of those, or does not go with the others.

    >>> ask("lightning")
    Traceback (most recent call last):
    ValueError: a measurement needs a network, with parameter_shapes, random_inputs ...
    """
    check_members(net)
    if method not in METHODS:
        raise ValueError(f"method must be 'exact' or 'float'; got {method!r}")
    if inputs is not None:
        inputs = whole_number("inputs", inputs)
    if route not in (None, "slice", "weights"):
        raise ValueError(f"route must be 'slice', 'weights' or None; got {route!r}")
    if method == "float" and prime is not None:
        raise ValueError(
            f"a float measurement has no prime; got {prime=}: leave it out, or take "
            "'exact'"
        )
    if method == "float" and route == "slice":
        raise ValueError(
            "the float spectrum is that of all parameters: leave route out, or take "
            "'weights'"
        )
    if prime is not None:
        prime = PrimeField(prime).p
    across = None
    if method == "exact" and route != "weights":
        across = slice_of(net)
    if across is None and route == "slice":
        raise ValueError(f"{net} has no slice: leave route out, or take 'weights'")
    return Question(
        net=net,
        measured=net if across is None else across,
        method=method,
        route="weights" if across is None else "slice",
        inputs=inputs,
        prime=prime,
    )


def check_members(net: object) -> None:
    """Refuse what is no network.

    Raises:
        ValueError: if one of the three members is missing.
    """
    if isinstance(net, type):
        raise ValueError(
            f"a measurement needs a network, and {net.__name__} is a class: give one "
            f"that is made, such as {net.__name__}(…)"
        )
    missing = [name for name in _MEMBERS if not hasattr(net, name)]
    if missing:
        raise ValueError(
            f"a measurement needs a network, with {', '.join(_MEMBERS[:-1])} and "
            f"{_MEMBERS[-1]}; {type(net).__name__} has no {missing[0]}: "
            "docs/own_network.md builds one; for a torch module call "
            "functional_dimension(module, inputs)"
        )
