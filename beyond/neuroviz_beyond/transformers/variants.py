"""A network with the switches of a transformer, and what the last switch did to its
ledger."""

from dataclasses import dataclass, fields, replace

from neuroviz.attention.architecture import ATTENTION_KINDS
from neuroviz.attention.expected import Expected
from neuroviz.attention.ledger import KernelLedger
from neuroviz.kit.measured import kernel_ledger
from neuroviz.kit.settings import QUICK_MILLISECONDS, choice, seed, switch, text, whole
from neuroviz.kit.words import counted
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.formulas import expected_dimension

FAMILIES = {
    "bases of keys and queries": "bases of K, Q",
    "bases of values and outputs": "bases of V, O",
    "temperatures": "temperatures",
    "key biases": "key biases",
    "value biases": "value biases",
    "shifts between layers": "shifts of tokens",
    "hidden units of the MLPs": "MLP units",
    "affine maps between layers": "affine maps",
    "bases between layers": "bases between layers",
    "rescalings": "rescalings",
    "heads that blend": "blends of heads",
}
"""The families of a ledger, in order, and what they are called beside a bar."""
_PLAIN = {
    "head bases": "bases of keys and queries",
    "interfaces": "bases between layers",
}
_RANKS = [("full matrix V", "full"), *((f"rank {v}", str(v)) for v in range(1, 5))]
_SHARED = [("own", "own"), ("two heads share", "pairs"), ("all heads share", "all")]
_SWITCHED = {  # control → its name in the sentence on what was switched
    "skip": "skip",
    "causal": "mask",
    "mlp": "MLP",
    "rotary": "rotary positions",
    "biases": "biases",
    "temperature": "temperatures",
    "positions": "learned positions",
}
_NAMED = {
    "full": "full values",
    "own": "own keys",
    "pairs": "keys shared by two",
    "all": "keys shared by all",
}
_SIZES = {"width": "d", "head_dim": "a", "layers": "l", "tokens": "t"}


@dataclass(frozen=True)
class VariantSetting:
    """A network, and in `before` what was different: the controls of the network that
    it is compared with.

    Raises:
        ValueError: if `before` names no control of a network, or a value that it does
            not have.
    """

    heads: int = whole("heads H", 3, 1, 6)
    kind: str = choice("attention", ATTENTION_KINDS)
    skip: bool = switch("skip")
    causal: bool = switch("causal mask")
    mlp: bool = switch("MLP between")  # an MLP of four units, x ↦ x²
    width: int = whole("width d", 3, 1, 4, more=True)
    head_dim: int = whole("head dimension a", 2, 1, 4, more=True)
    layers: int = whole("layers l", 2, 1, 3, more=True)
    tokens: int = whole("tokens t", 3, 1, 4, more=True)
    value_dim: str = choice("values", _RANKS, more=True)
    shared: str = choice("keys, values", _SHARED, more=True)
    rotary: bool = switch("rotary positions", more=True)
    biases: bool = switch("biases", more=True)
    temperature: bool = switch("temperatures", more=True)
    positions: bool = switch("learned positions", more=True)
    before: str = text("before", "heads=2", placeholder="such as skip=no")
    seed: int = seed()

    def __post_init__(self) -> None:
        _ = self.earlier  # raises where `before` is not understood

    @property
    def earlier(self) -> "VariantSetting | None":
        """The setting that `before` means; None where nothing was different."""
        changes = {}
        for part in filter(None, (part.strip() for part in self.before.split(","))):
            name, equals, value = part.partition("=")
            if not equals or name not in _VALUES:
                names = (
                    f"such as skip=no, heads=2, with names of {', '.join(_VALUES)}; got"
                    f" {part!r}"
                )
                instead = "correct it, or clear the box to compare with nothing"
                raise ValueError(
                    f"before is what was different then, {names}: {instead}"
                )
            if value not in _VALUES[name]:
                raise ValueError(
                    f"{name} is one of {', '.join(_VALUES[name])}; got {value!r}"
                )
            changes[name] = _VALUES[name][value]
        if all(getattr(self, name) == value for name, value in changes.items()):
            return None
        return replace(self, before="", **changes)

    @property
    def toggle(self) -> str:
        """What lies between the two networks, in a few words, such as "skip on"."""
        other = self.earlier
        pairs = [
            (name, getattr(other or self, name), getattr(self, name))
            for name in _VALUES
        ]
        return ", ".join(
            _toggle(name, old, new) for name, old, new in pairs if old != new
        )

    @property
    def ignored(self) -> str:
        """The switches that cannot act here, and why, in a sentence; empty if all
        can."""
        full = self.value_dim == "full"
        odd = self.shared == "pairs" and self.heads % 2
        shares = self.shared != "own" and self.heads > 1
        reasons = {
            f"rotary (a = {self.head_dim} is odd)": self.rotary and self.head_dim % 2,
            "MLP (there is one layer)": self.mlp and self.layers == 1,
            "shared keys (give values a rank)": shares and full,
            f"shared keys ({self.heads} heads: no pairs)": shares and not full and odd,
        }
        found = ", ".join(words for words, holds in reasons.items() if holds)
        return f"Without effect: {found}." if found else ""

    @property
    def arch(self) -> Transformer:
        """The network, without the switches that cannot act."""
        H = self.heads
        value_dim = None if self.value_dim == "full" else int(self.value_dim)
        groups = None
        if value_dim is not None and H > 1:
            if self.shared == "all":
                groups = 1
            elif self.shared == "pairs" and H % 2 == 0:
                groups = H // 2
        block = Block(
            value_dim=value_dim,
            kv_heads=groups,
            rotary=self.rotary and self.head_dim % 2 == 0,
            biases=self.biases,
            temperature=self.temperature,
            positions=self.positions,
            mlp=(4, 2) if self.mlp and self.layers > 1 else None,
        )
        sizes = (self.width, self.head_dim, self.layers, self.tokens, self.kind)
        return Transformer.uniform(
            *sizes, heads=H, skip=self.skip, causal=self.causal, block=block
        )

    @property
    def is_slow(self) -> bool:
        """From sizes alone, so that it never depends on the machine; milliseconds on a
        laptop-like core."""
        networks = [one.arch for one in (self, self.earlier) if one]
        return (
            sum(20 + 1.0e-3 * arch.num_parameters**2 for arch in networks)
            > QUICK_MILLISECONDS
        )


def _values() -> dict[str, dict[str, object]]:
    """Control of a network → what a state writes → its value."""
    found: dict[str, dict[str, object]] = {}
    for field in fields(VariantSetting):
        options = field.metadata["control"].options
        if "options" in options:
            pairs = [
                one if isinstance(one, tuple) else (one, one)
                for one in options["options"]
            ]
            found[field.name] = {value: value for _, value in pairs}
        elif "min" in options and field.name != "seed":
            found[field.name] = {
                str(n): n for n in range(options["min"], options["max"] + 1)
            }
        elif field.default is False:
            found[field.name] = {"no": False, "yes": True}
    return found


_VALUES = _values()


def _toggle(name: str, old: object, new: object) -> str:
    """What was switched, in a few words."""
    if name in _SWITCHED:
        return f"{_SWITCHED[name]} {'on' if new else 'off'}"
    if name == "heads":
        return f"{counted(new, 'head')} instead of {old}"
    if name in _SIZES:
        return f"{_SIZES[name]} = {new} instead of {old}"
    if name == "value_dim" and new != "full":
        return f"values of rank {new}"
    return _NAMED.get(new, f"{new} instead of {old}")


@dataclass(frozen=True)
class VariantStudy:
    """The ledger of a network, what theory says, and the ledger of the network before,
    if there is one."""

    setting: VariantSetting
    ledger: KernelLedger
    expected: Expected
    before: KernelLedger | None


def study_variants(setting: VariantSetting) -> VariantStudy:
    """Measure both networks.

    >>> study = study_variants(VariantSetting(skip=True, before="skip=no"))
    >>> study.before.dimension, study.ledger.dimension
    (81, 90)
    >>> effects(study.before, study.ledger)[0]
    'the 9 of “bases between layers” come to life'
    """
    arch = setting.arch
    other = setting.earlier
    before = kernel_ledger(other.arch, setting.seed) if other else None
    return VariantStudy(
        setting, kernel_ledger(arch, setting.seed), expected_dimension(arch), before
    )


def costs(ledger: KernelLedger) -> dict[str, int]:
    """What each family costs, under the names that all networks share.

    >>> costs(kernel_ledger(Transformer((3, 3), (2,))))
    {'bases of keys and queries': 4, 'bases between layers': 0, 'rescalings': 1}
    """
    return {_PLAIN.get(name, name): count for name, count in ledger.entries.items()}


def effects(before: KernelLedger, after: KernelLedger) -> list[str]:
    """What a switch did, in a few words each; last, what it left alone.

    Where it added or took away parameters, how many of these count; else which
    directions come or go.
    """
    more = after.parameters - before.parameters
    dimensions = after.dimension - before.dimension
    if more:
        word, other = (
            "more" if change > 0 else "fewer" for change in (more, dimensions)
        )
        beside = "and no other dimension"
        if dimensions:
            beside = counted(abs(dimensions), "dimension")
            if other != word:
                beside = f"{beside} {other}"
        return [f"{counted(abs(more), 'parameter')} {word}, {beside}"]
    old = costs(before)
    new = costs(after)
    old["unexplained directions"], new["unexplained directions"] = (
        before.unexplained,
        after.unexplained,
    )
    found = []
    stayed = []
    for name in [*FAMILIES, "unexplained directions"]:
        was = old.get(name, 0)
        now = new.get(name, 0)
        if was == now:
            stayed += [name] if now else []
        elif not now:
            found.append(f"the {was} of “{name}” come{'s' if was == 1 else ''} to life")
        else:
            found.append(f"{name}: {was} → {now}")
    if not found:
        return ["nothing in the ledger changes"]
    return found + ([f"as before: {', '.join(stayed)}"] if stayed else [])
