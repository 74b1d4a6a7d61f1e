"""What is proved about the dimension of an architecture, and why: an object that checks
itself again.

Two routes (beyond/docs/certificates.md):

    theorem   a statement with its hypotheses checked; any size at once
    ball      a square part of the Jacobian at a stored rational point, proved
              invertible in ball arithmetic; no appeal to Ax's theorem ("Ball
              arithmetic")

`find` finds them; `verify` checks them, and uses nothing of what found them.
"""

import json
from dataclasses import dataclass, field
from hashlib import sha256

from neuroviz.attention import Architecture
from neuroviz.attention.formulas import expected_dimension, general_formula
from neuroviz.rank.budget import Budget, BudgetSpent
from neuroviz.rank.checks import whole_number
from neuroviz.rank.point import num_parameters
from neuroviz_beyond.certificate.find import by_ball, check_size, rough_seconds, words
from neuroviz_beyond.certificate.verify import Verification, verify_ball, verify_theorem
from neuroviz_beyond.transformers.transformer import as_paper

ROUTES = ("theorem", "ball")
DEFAULT_BUDGET = 60.0
"""Seconds that `certify` may take unless told otherwise."""
_VERSION = 1
_SIZES = ("widths", "head_dims", "tokens", "attention")
_PARTS = ("dimension", "route", "source", "argument", "data")


@dataclass(frozen=True)
class Certificate:
    """A proof that the functions of an architecture have a certain dimension.

    Attributes:
        arch: the architecture.
        dimension: what is proved.
        route: "theorem" or "ball".
        source: the statement that is used, such as "Cor. 3.8" or "Ball arithmetic".
        argument: how it is proved, in a sentence or two.
        data: what `verify` starts from: hypotheses, or a point; numbers as text or
            whole numbers.
        seal: a digest of all of the above: what was changed by a digit, on its way, is
            noticed.
    """

    arch: Architecture
    dimension: int
    route: str
    source: str
    argument: str
    # A dict has no hash; the seal stands for it where two are compared.
    data: dict = field(compare=False)
    seal: str = ""

    def __post_init__(self) -> None:
        if not self.seal:
            object.__setattr__(self, "seal", self._digest())

    def _contents(self) -> dict:
        sizes = {name: getattr(self.arch, name) for name in _SIZES}
        parts = {name: getattr(self, name) for name in _PARTS}
        return {"neuroviz certificate": _VERSION, "architecture": sizes} | parts

    def _digest(self) -> str:
        text = json.dumps(self._contents(), ensure_ascii=False, sort_keys=True)
        return sha256(text.encode()).hexdigest()

    def verify(self) -> Verification:
        """Check everything again from `data` alone, in other ways than it was found.

        First the seal, which is no signature: a change with a new seal passes it. Then
        the mathematics: what is said has to follow from what is stored. Another random
        point that does as well passes with a new seal, and what it says is true. Last
        the words.
        """
        try:
            if self.seal != self._digest():
                return Verification(
                    False, "it was changed after it was made: the seal does not fit"
                )
            if type(self.dimension) is not int:
                raise ValueError(
                    f"a dimension is a whole number; got {self.dimension!r}"
                )
            check = {"theorem": verify_theorem, "ball": verify_ball}[self.route]
            found = check(self.arch, self.dimension, self.source, self.data)
            said = self.source, self.argument
            if found and said != words(
                self.arch, self.route, self.dimension, self.data
            ):
                return Verification(False, "its words are not those of this proof")
            return found
        except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
            return Verification(False, f"the data cannot be read: {error}")

    def to_json(self) -> str:
        """The certificate as text, to keep or to send; `from_json` reads it."""
        return json.dumps(self._contents() | {"seal": self.seal}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """The certificate that a text holds. It is not trusted: call `verify`.

        Raises:
            ValueError: if the text is no certificate.
        """
        try:
            read = json.loads(text)
            if read["neuroviz certificate"] != _VERSION:
                raise ValueError(f"version {read['neuroviz certificate']!r}")
            arch = Architecture(**read["architecture"])
            parts = {name: read[name] for name in (*_PARTS, "seal")}
            if (
                parts["route"] not in ROUTES
                or not isinstance(parts["seal"], str)
                or not parts["seal"]
            ):
                raise ValueError(
                    f"it has no seal, or its route {parts['route']!r} is none of"
                    f" {ROUTES}"
                )
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            why = (
                "a certificate is the text that to_json writes; this is not one:"
                f" {error}"
            )
            raise ValueError(why) from None
        return cls(arch, **parts)

    def __str__(self) -> str:
        how = f"{self.argument}\n  route: {self.route} · {self.source}"
        return f"{self.arch}: dimension {self.dimension}\n  {how}"

    __repr__ = __str__


def certify(
    arch: Architecture,
    route: str | None = None,
    seed: int = 0,
    budget: float | None = None,
) -> Certificate:
    """The strongest proof that we have of the dimension of an architecture.

    Without a route: a theorem of the paper where its hypotheses hold; else, for
    networks that take some seconds at most, ball arithmetic; else our own theorem,
    which is not peer-reviewed.

    Args:
        arch: any `Architecture`.
        route: one of `ROUTES`, or None for the strongest.
        seed: what points are drawn from.
        budget: seconds that finding may take; 60 if None. It is looked at, and Ctrl-C
            heard, before each precision, input and matrix product. Its size changes
            whether a certificate is found, never which.

    Raises:
        ValueError: if the route is unknown, or the network too large for it, or if
            nothing is proved: this route proves nothing here, or the budget is spent.
            The message says which, and what to do.

    >>> certify(Architecture((4, 3, 5), (2, 2))).source
    'Cor. 3.8'
    >>> arch = Architecture((3, 3, 3), (2, 2), attention="softmax")
    >>> certify(arch, route="ball").dimension
    25
    """
    arch = as_paper("certify", arch)
    seed = whole_number("seed", seed, least=0)
    seconds = DEFAULT_BUDGET if budget is None else budget
    clock = Budget(seconds, "not proved", "choose route='theorem'")
    *attempts, last = _routes(arch, route)
    for attempt in attempts:
        try:
            return _certify(arch, attempt, seed, clock)
        except BudgetSpent:  # the machine's speed must not choose the proof
            raise
        except ValueError:  # this route proves nothing here: try the next one
            continue
    return _certify(arch, last, seed, clock)


def _routes(arch: Architecture, route: str | None) -> tuple[str, ...]:
    if route is not None and route not in ROUTES:
        raise ValueError(
            f"route must be one of {', '.join(map(repr, ROUTES))}, or None; got"
            f" {route!r}"
        )
    return (route,) if route else routes_to_try(arch)


_PATIENCE = 10.0  # rough seconds that a route may spend on its strongest proof


def routes_to_try(arch: Architecture) -> tuple[str, ...]:
    """The routes that `certify` tries if none is given, in order; they depend on the
    sizes only.

    >>> routes_to_try(Architecture((4, 3, 5), (2, 2)))  # Cor. 3.8 holds
    ('theorem',)
    >>> routes_to_try(Architecture((2, 2, 1), (1, 1)))
    ('ball', 'theorem')
    """
    if expected_dimension(arch).status == "proved":
        return ("theorem",)
    is_full = num_parameters(arch.slice()) == general_formula(arch).value
    return (
        ("ball", "theorem")
        if is_full and rough_seconds(arch) <= _PATIENCE
        else ("theorem",)
    )


def _certify(arch: Architecture, route: str, seed: int, budget: Budget) -> Certificate:
    if route == "theorem":
        expected = expected_dimension(arch)
        dimension = expected.value
        data = {"status": expected.status}
    else:
        check_size(arch)
        dimension, data = by_ball(arch, seed, budget)
    return Certificate(
        arch, dimension, route, *words(arch, route, dimension, data), data
    )
