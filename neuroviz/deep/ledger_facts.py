"""The facts of a ledger: what its picture says, as plain data.

`web/deep/ledger_facts.ts` types them. Every number is counted or measured. The page
computes its own beside them, and shows those of another network until Python has
answered.
"""

from neuroviz.attention.architecture import ATTENTION_KINDS
from neuroviz.deep.dimension import paper_name, would_mislead
from neuroviz.deep.ledger import (
    FAMILIES,
    MAX_LAYERS,
    MAX_WIDTH,
    LedgerStudy,
    parts_of,
)
from neuroviz.kit.picture import Facts, Picture, words

SCHEMA = "ledger/1"
_SYMMETRIES = {
    "head bases": (
        "Q, K with the same KᵀQ in each layer (Lemma 3.1): "
        "a² = dim GL_a for a ≤ d, else 2ad − d²"
    ),
    "interfaces": "another basis between two layers (Eq. 9)",
    "rescalings": "A → cA, V → V/c in each layer (Eq. 13)",
}
"""What each family is, and where it is proved."""


def ledger_picture(study: LedgerStudy) -> Picture:
    """The network of a ledger, and its numbers."""
    choices = {"kind": list(ATTENTION_KINDS)}
    return Picture("deep/ledger", ledger_facts(study), study.place, {}, choices)


def ledger_facts(study: LedgerStudy) -> Facts:
    """What the picture says, from the parameters down to the dimension.

    >>> from neuroviz.deep.ledger import LedgerSetting, study_ledger
    >>> facts = ledger_facts(study_ledger(LedgerSetting()))
    >>> [family["cost"] for family in facts["families"]], facts["dimension"]["count"]
    ([8, 16, 2], 38)
    >>> facts["formula"], facts["paper"]
    ({'source': 'Cor. 3.8', 'value': 38}, None)
    """
    ledger = study.ledger
    expected = study.expected
    paper = study.paper
    n = ledger.parameters
    dimension = ledger.dimension
    misleads = would_mislead(paper, expected)
    return {
        "schema": SCHEMA,
        "says": words(_silent(n - dimension, n)),
        "parameters": {"count": n, "says": f"{n} entries of all Q, K, V"},
        "families": [_family(study, name) for name in FAMILIES],
        "unexplained": {"count": ledger.unexplained, "says": ledger.note},
        "dimension": {
            "count": dimension,
            "says": f"exact rank {dimension} mod {ledger.measured.prime}",
        },
        "formula": _formula(expected.source, expected.value),
        "paper": _formula(paper_name(paper), paper.value if misleads else None),
        "limits": {"width": MAX_WIDTH, "layers": MAX_LAYERS},
    }


def _silent(idle: int, n: int) -> str:
    directions = "directions" if n > 1 else "direction"
    are = "is" if idle == 1 else "are"
    return f"{idle} of {n} {directions} {are} silent"


def _family(study: LedgerStudy, name: str) -> Facts:
    """What a family of symmetries costs; its parts, layer by layer, add up to that."""
    parts = parts_of(study.ledger, name)
    return {"name": name, "cost": sum(parts), "parts": parts, "says": _SYMMETRIES[name]}


def _formula(source: str, value: int | None) -> Facts | None:
    """A formula and what it says; nothing where it says none."""
    return None if value is None else {"source": source, "value": value}
