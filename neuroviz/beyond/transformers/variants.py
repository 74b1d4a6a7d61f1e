"""What the figure of a variant shows: results, put together and nothing computed."""

from dataclasses import dataclass

from neuroviz.beyond.transformers.blending import Blend
from neuroviz.engine.formulas import Expected
from neuroviz.engine.ledger import KernelLedger

BLENDING = "heads that blend"
FAMILIES = {
    "bases of keys and queries": "bases of K, Q",
    "bases of values and outputs": "bases of V, O",
    "temperatures": "temperatures",
    "key biases": "key biases",
    "value biases": "value biases",
    "shifts between layers": "shifts of tokens",
    "hidden units of the MLPs": "MLP units",
    "bases between layers": "bases between layers",
    "rescalings": "rescalings",
    BLENDING: "blends of heads",
}
"""The families of a ledger, in order, and what they are called beside a bar."""
_PLAIN = {"head bases": "bases of keys and queries", "interfaces": "bases between layers"}


@dataclass(frozen=True)
class BlendCell:
    """One layer of the map.

    Attributes:
        column, row: d − a and H.
        ledger: of a layer with these.
    """

    column: int
    row: int
    ledger: KernelLedger

    @property
    def blends(self) -> int:
        """In how many directions its heads blend."""
        return self.ledger.entries.get(BLENDING, 0)


@dataclass(frozen=True, eq=False)
class VariantStudy:
    """Everything the figure of a network with switches shows.

    Attributes:
        ledger, expected: of the network; what theory says about its dimension.
        before: the ledger of the network it is compared with, or None.
        toggle: what lies between the two, in a few words, such as "skip on".
        blend: the heads of its first layer on their way.
        cells, columns, rows: the map of where heads of one layer blend.
        map_title: which layers stand on the map.
        here: the column and the row of the network on the map, or None where it is not on it.
        ignored: what was switched on and has no say here, and why, in sentences.
    """

    ledger: KernelLedger
    expected: Expected
    before: KernelLedger | None
    toggle: str
    blend: Blend
    cells: tuple[BlendCell, ...]
    columns: tuple[int, ...]
    rows: tuple[int, ...]
    map_title: str
    here: tuple[int, int] | None
    ignored: tuple[str, ...]


def costs(ledger: KernelLedger) -> dict[str, int]:
    """What each family costs, under the names that all networks share.

    >>> from neuroviz.engine.architecture import Architecture
    >>> from neuroviz.engine.ledger import kernel_ledger
    >>> costs(kernel_ledger(Architecture((3, 3), (2,))))
    {'bases of keys and queries': 4, 'bases between layers': 0, 'rescalings': 1}
    """
    return {_PLAIN.get(name, name): count for name, count in ledger.entries.items()}


def effects(before: KernelLedger, after: KernelLedger) -> list[str]:
    """What a switch did, in a few words each; last, what it left alone.

    Where it added or took away parameters, how many of these count; else which directions come to life, or
    no longer do anything.
    """
    more, dimensions = after.parameters - before.parameters, after.dimension - before.dimension
    if more:
        word = "more" if more > 0 else "fewer"
        if not dimensions:
            return [f"{_count(abs(more), 'parameter')} {word}, and no other dimension"]
        other = "more" if dimensions > 0 else "fewer"
        other = "" if other == word else f" {other}"
        return [f"{_count(abs(more), 'parameter')} {word}, {_count(abs(dimensions), 'dimension')}{other}"]
    old, new = costs(before), costs(after)
    old["unexplained directions"], new["unexplained directions"] = before.unexplained, after.unexplained
    found, stayed = [], []
    for name in [*FAMILIES, "unexplained directions"]:
        was, now = old.get(name, 0), new.get(name, 0)
        if was == now:
            stayed += [name] if now else []
        elif not now:
            found.append(f"the {was} of “{name}” come{'s' if was == 1 else ''} to life")
        else:
            found.append(f"{name}: {was} → {now}")
    if not found:
        return ["nothing in the ledger changes"]
    return found + ([f"as before: {', '.join(stayed)}"] if stayed else [])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
