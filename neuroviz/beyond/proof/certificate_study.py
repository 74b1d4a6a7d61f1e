"""One certificate looked at: where its bounds come from, what checking again says, and after a changed digit.

docs/mathematics.md: "Certificates", "The gauge slice".
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter

from neuroviz.certificate.certificate import Certificate, certify
from neuroviz.certificate.find import check_size, rough_seconds
from neuroviz.certificate.verify import Count, Hypothesis, Verification, count_another_way, hypotheses
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.orbit_slice import slice_steps

TAMPERINGS = ("nothing", "dimension", "dimension resealed", "data", "data resealed")
"""What is changed in the certificate: one digit of a part of it, with the old seal or a new one."""

PATIENCE = 10.0
"""Rough seconds up to which a study computes."""
_BUDGET = 20.0


@dataclass(frozen=True)
class CertificateSetting:
    """What to prove, how, and what to change in the proof.

    Attributes:
        arch: the architecture.
        route: one of `neuroviz.certificate.certificate.ROUTES`, or None for the strongest.
        tampering: one of `TAMPERINGS`.
        seed: what the point is drawn from, and the digit that is changed.
    """

    arch: Architecture
    route: str | None = None
    tampering: str = "nothing"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.tampering not in TAMPERINGS:
            raise ValueError(f"tampering is one of {', '.join(TAMPERINGS)}; got {self.tampering!r}")


@dataclass(frozen=True)
class Change:
    """One digit of a certificate that was changed: where, and the number before and after."""

    place: str
    before: str
    after: str


@dataclass(frozen=True)
class Bound:
    """An upper bound of the dimension, and what brought it down to there."""

    value: int
    reason: str


@dataclass(frozen=True)
class CertificateStudy:
    """A certificate, what it rests on, and what checking it again says.

    Attributes:
        setting: the request.
        certificate: as it was found; None where this route proves nothing here.
        refusal: then why, else "".
        shown: the certificate after the change, if any: what is checked.
        change: what was changed; None for nothing.
        verification: what checking `shown` says.
        upper: the upper bounds from all parameters down: symmetry by symmetry, then a theorem's if that
            is the one that is met.
        hypotheses: by theorem only: what its statement asks for.
        count: by theorem only: the terms of its number, counted by codimensions.
        numbers, characters: how many numbers the certificate stores, and how long its text is.
        seconds_found, seconds_checked: on the clock of this machine.
    """

    setting: CertificateSetting
    certificate: Certificate | None
    refusal: str
    shown: Certificate | None = None
    change: Change | None = None
    verification: Verification | None = None
    upper: tuple[Bound, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    count: Count | None = None
    numbers: int = 0
    characters: int = 0
    seconds_found: float = 0.0
    seconds_checked: float = 0.0


def study_certificate(setting: CertificateSetting) -> CertificateStudy:
    """Find a certificate, change it as asked, and check it again.

    >>> found = study_certificate(CertificateSetting(Architecture((3, 3, 3), (2, 2)), "exact rank"))
    >>> [bound.value for bound in found.upper], found.certificate.dimension, found.verification.valid
    ([42, 33, 25, 23], 23, True)
    """
    arch, started = setting.arch, perf_counter()
    try:
        _check_patience(setting)
        proof = certify(arch, setting.route, setting.seed, _BUDGET)
    except ValueError as error:
        return CertificateStudy(setting, None, str(error), upper=_upper(arch))
    found = perf_counter()
    shown, change = tamper(proof, setting.tampering, setting.seed)
    checking = perf_counter()
    verification = shown.verify()
    checked = perf_counter()
    by_theorem, upper = proof.route == "theorem", _upper(arch)
    if proof.dimension < upper[-1].value and not by_theorem:
        upper += (Bound(proof.dimension, proof.data["upper bound"]),)
    return CertificateStudy(
        setting,
        proof,
        "",
        shown,
        change,
        verification,
        () if by_theorem else upper,
        hypotheses(proof.source, arch) if by_theorem else (),
        count_another_way(arch) if by_theorem else None,
        sum(1 for _ in _leaves(proof.data)),
        len(proof.to_json()),
        found - started,
        checked - checking,
    )


def _check_patience(setting: CertificateSetting) -> None:
    arch, route = setting.arch, setting.route
    if route is None:
        return
    check_size(arch, route)
    if (seconds := rough_seconds(arch, route)) > PATIENCE:
        raise ValueError(
            f"by this route the proof and its check take about {seconds:.0f} s, and this panel has "
            f"{PATIENCE:.0f} s: take a smaller network, fewer tokens, or the route theorem; in a cell of its "
            f"own measure_dimension(…, method='certified', route={route!r}) takes the time it needs"
        )


def _upper(arch: Architecture) -> tuple[Bound, ...]:
    """What symmetries alone prove."""
    names = ("all entries of Q, K, V", "bases between layers", "bases in the heads", "rescalings")
    return tuple(Bound(value, name) for value, name in zip(slice_steps(arch), names, strict=True))


def tamper(proof: Certificate, tampering: str, seed: int) -> tuple[Certificate, Change | None]:
    """The certificate with one digit changed, and which.

    Args:
        proof: a certificate; it stays as it is.
        tampering: one of `TAMPERINGS`. The data of a theorem are the sizes that it is about.
        seed: what draws the digit.

    >>> proof = certify(Architecture((4, 3, 5), (2, 2)))
    >>> changed, change = tamper(proof, "dimension resealed", seed=0)
    >>> changed.verify().finding == f"Cor. 3.8 gives {proof.dimension}, not {change.after}"
    True
    """
    if tampering == "nothing":
        return proof, None
    draw = random.Random(seed)
    seal = "" if tampering.endswith("resealed") else proof.seal
    if tampering.startswith("dimension"):
        after = int(_another(str(proof.dimension), draw))
        changed = replace(proof, dimension=after, seal=seal)
        return changed, Change("dimension", str(proof.dimension), str(after))
    if proof.route == "theorem":
        sizes = {"widths": list(proof.arch.widths), "head_dims": list(proof.arch.head_dims)}
        change = _change_a_leaf(sizes, draw)
        arch = replace(proof.arch, **{name: tuple(values) for name, values in sizes.items()})
        return replace(proof, arch=arch, seal=seal), change
    data = json.loads(json.dumps(proof.data))
    change = _change_a_leaf(data, draw)
    return replace(proof, data=data, seal=seal), change


_SAMPLES = ("widths", "head_dims", "weights", "inputs", "functionals", "attention weights")


def _change_a_leaf(parts: dict, draw: random.Random) -> Change:
    """Change a digit of one number of one part, in place; 1s of the slice are left alone."""
    name = draw.choice([key for key in _SAMPLES if parts.get(key)])
    places = [
        (home, i, where) for home, i, where in _leaves(parts[name]) if str(home[i]).strip("-") not in "01"
    ]
    if not places:
        places = list(_leaves(parts[name]))
    home, i, where = draw.choice(places)
    before = home[i]
    home[i] = type(before)(_another(str(before), draw))
    return Change(f"{name} {where}", str(before), str(home[i]))


def _leaves(part: object, where: str = "") -> Iterator[tuple[list, int, str]]:
    """Every number in nested lists: the list that holds it, its index, and the way to it from 1."""
    items = part.values() if isinstance(part, dict) else part
    for i, item in enumerate(items):
        at = f"{where}, {i + 1}" if where else f"{i + 1}"
        if isinstance(item, (list, dict)):
            yield from _leaves(item, at)
        elif isinstance(part, list):
            yield part, i, at


def _another(number: str, draw: random.Random) -> str:
    """A number with one digit changed, of the same length and not 0; a fraction changes above its line."""
    above, line, below = number.partition("/")
    places = [i for i, letter in enumerate(above) if letter.isdigit()]
    while True:
        i = draw.choice(places)
        changed = above[:i] + str((int(above[i]) + draw.randint(1, 9)) % 10) + above[i + 1 :]
        if changed.strip("-")[0] != "0":
            return changed + line + below
