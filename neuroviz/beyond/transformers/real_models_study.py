"""Small networks of a real model's kind, measured exactly, and the formula from them to the model."""

from collections.abc import Generator
from dataclasses import dataclass

from neuroviz.beyond.transformers.real_models import MODELS, SYMMETRIES, RealModel, real_model
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.block_formulas import known_redundancies
from neuroviz.engine.measure import Measurement, measure_dimension
from neuroviz.engine.progress import finish

PARTS = {"all": SYMMETRIES, "keys": SYMMETRIES[:1], "values": SYMMETRIES[1:2], "biases": SYMMETRIES[2:]}
"""Which symmetries to compare the models by: name → those of `SYMMETRIES`."""
BASES = ("share", "directions")
"""What counts are compared to: all attention weights, or nothing (directions a layer)."""


@dataclass(frozen=True)
class ModelSetting:
    """What is asked: a model, which small networks of its kind to measure, and how to compare.

    Attributes:
        model: its name.
        parts: of `PARTS`; only the comparison of the models has parts, a measurement has none.
        base: of `BASES`.
        layers: of the small networks.
        widest: the largest width that is measured.
        seed: of the measurements.

    Raises:
        ValueError: if there is no such model, parts or base, or a number is below 1 (widest: 2).
    """

    model: str
    parts: str = "all"
    base: str = "share"
    layers: int = 1
    widest: int = 8
    seed: int = 0

    def __post_init__(self) -> None:
        real_model(self.model)
        for name, known in (("parts", PARTS), ("base", BASES)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is one of {', '.join(known)}; got {getattr(self, name)!r}")
        if self.layers < 1 or self.widest < 2:
            raise ValueError(
                f"small networks have at least 1 layer and width 2; got layers={self.layers}, "
                f"widest={self.widest}"
            )


@dataclass(frozen=True)
class BlockCount:
    """What a network of the model's kind has and repeats, by formula; nothing is measured here.

    Attributes:
        arch: the network.
        redundant: all directions that do nothing, shifts between layers among them.
    """

    arch: Architecture
    redundant: int

    @property
    def width(self) -> int:
        """d."""
        return self.arch.widths[0]

    @property
    def head_dim(self) -> int:
        """The dimension of the heads."""
        return self.arch.head_dims[0]

    @property
    def heads(self) -> int:
        """H."""
        return self.arch.heads[0]

    @property
    def share(self) -> float:
        """Which part of the parameters is redundant, from 0 to 1."""
        return self.redundant / self.arch.num_parameters

    def shown(self, base: str) -> float:
        """The count in one of `BASES`: as a part of the parameters, or directions a layer."""
        return self.share if base == "share" else self.redundant / self.arch.num_layers


@dataclass(frozen=True)
class MeasuredBlock:
    """A small network of the model's kind: its exact dimension, and what the formula says."""

    measured: Measurement
    formula: BlockCount

    @property
    def found(self) -> BlockCount:
        """The same count, measured: parameters less the exact rank."""
        return BlockCount(self.formula.arch, self.measured.kernel)

    @property
    def agrees(self) -> bool:
        """Whether formula and measurement are equal."""
        return self.measured.kernel == self.formula.redundant


@dataclass(frozen=True)
class ModelStudy:
    """A model, small networks of its kind that were measured, and the formula from there to the model.

    Attributes:
        setting, model: what was asked.
        blocks: the measured ones, by head dimension and width.
        lines: for each head dimension up to that of the model, the formula from one head to all of them.
        models: all models, to compare with.
    """

    setting: ModelSetting
    model: RealModel
    blocks: tuple[MeasuredBlock, ...]
    lines: tuple[tuple[BlockCount, ...], ...]
    models: tuple[RealModel, ...] = MODELS

    def shown(self, model: RealModel, name: str) -> float:
        """What one of `SYMMETRIES` costs a model, in the base of the setting (see `BlockCount.shown`)."""
        directions = model.redundant.get(name, 0)
        return directions / (model.parameters if self.setting.base == "share" else model.layers)

    @property
    def ranking(self) -> tuple[RealModel, ...]:
        """The models by what the parts asked for cost them, the largest first."""
        parts = PARTS[self.setting.parts]
        return tuple(sorted(self.models, key=lambda m: -sum(self.shown(m, name) for name in parts)))

    @property
    def wrong(self) -> tuple[MeasuredBlock, ...]:
        """Where formula and measurement differ."""
        return tuple(block for block in self.blocks if not block.agrees)


def small_blocks(setting: ModelSetting) -> tuple[Architecture, ...]:
    """The networks to measure: head dimensions 2, 4, 8, … and every number of heads, up to the widest.

    >>> [arch.widths[0] for arch in small_blocks(ModelSetting("GPT-2 small"))]
    [2, 4, 6, 8, 4, 8, 8]
    """
    model, found = real_model(setting.model), []
    for head_dim in _head_dims(setting.widest):
        # Where the heads together are wider than d, there may be more of them than d/a.
        for heads in range(1, min(model.heads, 2 * setting.widest) + 1):
            if model.can_be(heads, head_dim):
                arch = model.architecture(setting.layers, heads, head_dim)
                found += [arch] if arch.widths[0] <= setting.widest else []
    return tuple(found)


def formula_lines(setting: ModelSetting) -> tuple[tuple[BlockCount, ...], ...]:
    """The formula for each head dimension 2, 4, 8, … and that of the model; heads 1, 2, 4, … and all."""
    model = real_model(setting.model)
    dims = dict.fromkeys([*_head_dims(model.head_dim), model.head_dim])
    heads = dict.fromkeys([*(2**k for k in range(model.heads.bit_length())), model.heads])
    return tuple(
        tuple(_by_formula(model.architecture(setting.layers, H, a)) for H in heads if model.can_be(H, a))
        for a in dims
    )


def study_in_steps(setting: ModelSetting) -> Generator[str, None, ModelStudy]:
    """`study_real_model`, saying how far it is."""
    model, architectures, blocks = real_model(setting.model), small_blocks(setting), []
    for i, arch in enumerate(architectures, start=1):
        blocks.append(
            MeasuredBlock(measure_dimension(arch, seed=setting.seed, progress=False), _by_formula(arch))
        )
        yield f"{i} of {len(architectures)} small networks measured"
    return ModelStudy(setting, model, tuple(blocks), formula_lines(setting))


def study_real_model(setting: ModelSetting) -> ModelStudy:
    """Measure small networks of a model's kind, and follow the formula from them to the model.

    >>> study = study_real_model(ModelSetting("LLaMA-7B", widest=4))
    >>> [(block.found.redundant, block.formula.redundant) for block in study.blocks]
    [(6, 6), (12, 12), (20, 20)]
    """
    return finish(study_in_steps(setting))


def _head_dims(most: int) -> list[int]:
    """2, 4, 8, … up to `most`: rotary positions need even ones."""
    return [2**k for k in range(1, most.bit_length()) if 2**k <= most]


def _by_formula(arch: Architecture) -> BlockCount:
    return BlockCount(arch, sum(known_redundancies(arch).values()))
