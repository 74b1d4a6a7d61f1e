"""The attention of real models, from their published shapes: which directions are
silent, by formula.

Nobody can measure a model of this size. For the stack of its attention layers alone,
with skips, the formula is a theorem; norm layers and MLPs are not in it.
"""

from dataclasses import dataclass
from functools import cache

from neuroviz.kit import theme
from neuroviz.kit.badges import badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.plot import ANSWER, Parts, Plot, compose
from neuroviz.kit.settings import choice
from neuroviz.kit.words import grouped, percent
from neuroviz_beyond.reasons import Reasons, repeated
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.block_formulas import known_redundancies
from neuroviz_beyond.transformers.formulas import expected_dimension

TOKENS = 3  # two rotary masked tokens are special; a fourth token changes no count
SYMMETRIES = (
    "bases of keys and queries",
    "bases of values and outputs",
    "key biases",
    "value biases",
)
"""The silent directions inside one layer, and so in every model that contains the
layer."""


@dataclass(frozen=True)
class RealModel:
    """The attention layers of a released model, as far as a `Block` can say them.

    Symmetries inside one layer leave its function alone, so they stay whatever stands
    between the layers:
    `dimension`, parameters less these, is an upper bound for the rank of the derivative
    in the attention weights of the model itself. That nothing else is lost is
    extrapolated, from stacks of attention layers with skips, where a `theorem` says it.
    Left out is what norm layers hide on top ("Blocks of real models").

    Attributes:
        name: as people say it.
        layers, width, heads, kv_heads, head_dim: l, d, H, G (key-value heads), a;
            values have rank a, too.
        biases: of queries, keys, values and outputs, all or none.
        rotary, causal: rotary positions on all coordinates of queries and keys; a mask.
        source: where the shapes stand.
        note: what else the real layer has and the count does not.
        has_narrow_mask: whether its mask hides more than the tokens that come later; no
            `Block` says that.

    >>> gpt2 = real_model("GPT-2 small")
    >>> gpt2.parameters, gpt2.dimension
    (28348416, 27150336)
    """

    name: str
    layers: int
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    biases: bool
    rotary: bool
    causal: bool
    source: str
    note: str = ""
    has_narrow_mask: bool = False

    @cache  # noqa: B019 (the models live as long as the module)
    def architecture(self) -> Transformer:
        """The stack of attention layers with skips.

        A window is left out: on inputs no longer than it, both masks agree. So for
        Mistral-7B and GPT-3 this is the network up to its window.
        """
        groups = None if self.kv_heads == self.heads else self.kv_heads
        block = Block(
            value_dim=self.head_dim,
            kv_heads=groups,
            rotary=self.rotary,
            biases=self.biases,
        )
        more = {
            "heads": self.heads,
            "skip": True,
            "causal": self.causal,
            "block": block,
        }
        return Transformer.uniform(
            self.width, self.head_dim, self.layers, TOKENS, "softmax", **more
        )

    @property
    def theorem(self) -> str:
        """What proves the dimension of `architecture` for inputs of any length:
        "Theorem H" or "Theorem R"; "" where the model has another mask.

        >>> names = "GPT-2 XL", "LLaMA-7B", "Mistral-7B"
        >>> [real_model(name).theorem for name in names]
        ['Theorem H', 'Theorem R', '']
        """
        if self.has_narrow_mask:
            return ""
        return expected_dimension(self.architecture()).source

    @property
    def parameters(self) -> int:
        """Entries of all Q, K, V, O and their biases."""
        return self.architecture().num_parameters

    @property
    def redundant(self) -> dict[str, int]:
        """Silent directions inside the layers: one of `SYMMETRIES` → how many in all
        layers."""
        found = known_redundancies(self.architecture())
        return {name: found[name] for name in SYMMETRIES if name in found}

    @property
    def shifts(self) -> int:
        """Silent directions between the layers of `architecture`, which a norm after
        each layer prevents.

        >>> real_model("GPT-2 small").shifts
        8448
        """
        found = known_redundancies(self.architecture())
        return found.get("shifts between layers", 0)

    @property
    def dimension(self) -> int:
        """`parameters` less all of `redundant`: extrapolated, and an upper bound in the
        real model."""
        return self.parameters - sum(self.redundant.values())


_KINDS = {  # biases, rotary positions, mask
    "gpt": (True, False, True),
    "encoder": (True, False, False),
    "llama": (False, True, True),
}
_GPT2 = (
    "A. Radford et al., Language Models are Unsupervised Multitask Learners, 2019;"
    " released weights"
)
_GPT3 = "T. Brown et al., Language Models are Few-Shot Learners, 2020, arXiv 2005.14165"
_OPT = (
    "S. Zhang et al., OPT: Open Pre-trained Transformer Language Models, 2022, arXiv"
    " 2205.01068"
)
_BERT = (
    "J. Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers, 2018,"
    " arXiv 1810.04805"
)
_VIT = "A. Dosovitskiy et al., An Image is Worth 16x16 Words, 2020, arXiv 2010.11929"
_STARCODER = (
    "R. Li et al., StarCoder: may the source be with you!, 2023, arXiv 2305.06161"
)
_LLAMA = (
    "H. Touvron et al., LLaMA: Open and Efficient Foundation Language Models, 2023,"
    " arXiv 2302.13971"
)
_LLAMA2 = (
    "H. Touvron et al., Llama 2: Open Foundation and Fine-Tuned Chat Models, 2023,"
    " arXiv 2307.09288"
)
_LLAMA3 = "Llama Team, The Llama 3 Herd of Models, 2024, arXiv 2407.21783"
_MISTRAL = "A. Jiang et al., Mistral 7B, 2023, arXiv 2310.06825"
_GEMMA = (
    "Gemma Team, Gemma: Open Models Based on Gemini Research and Technology, 2024,"
    " arXiv 2403.08295"
)
_FALCON = (
    "E. Almazrouei et al., The Falcon Series of Open Language Models, 2023, arXiv"
    " 2311.16867"
)

_TABLE = (  # layers, width, heads, keys and values, head dimension
    ("GPT-2 small", 12, 768, 12, 12, 64, "gpt", _GPT2),
    ("GPT-2 medium", 24, 1024, 16, 16, 64, "gpt", _GPT2),
    ("GPT-2 large", 36, 1280, 20, 20, 64, "gpt", _GPT2),
    ("GPT-2 XL", 48, 1600, 25, 25, 64, "gpt", _GPT2),
    (
        "GPT-3 175B",
        96,
        12288,
        96,
        96,
        128,
        "gpt",
        _GPT3,
        "some of its masks are banded; biases as in GPT-2",
        True,
    ),
    ("OPT-6.7B", 32, 4096, 32, 32, 128, "gpt", _OPT),
    ("StarCoder 15.5B", 40, 6144, 48, 1, 128, "gpt", _STARCODER),
    ("BERT-base", 12, 768, 12, 12, 64, "encoder", _BERT),
    ("BERT-large", 24, 1024, 16, 16, 64, "encoder", _BERT),
    ("ViT-H/14", 32, 1280, 16, 16, 80, "encoder", _VIT),
    ("LLaMA-7B", 32, 4096, 32, 32, 128, "llama", _LLAMA),
    ("LLaMA-65B", 80, 8192, 64, 64, 128, "llama", _LLAMA),
    ("Llama-2-70B", 80, 8192, 64, 8, 128, "llama", _LLAMA2),
    ("Llama-3-8B", 32, 4096, 32, 8, 128, "llama", _LLAMA3),
    ("Llama-3-70B", 80, 8192, 64, 8, 128, "llama", _LLAMA3),
    (
        "Mistral-7B",
        32,
        4096,
        32,
        8,
        128,
        "llama",
        _MISTRAL,
        "its mask is a sliding window",
        True,
    ),
    ("Gemma-2B", 18, 2048, 8, 1, 256, "llama", _GEMMA),
    ("Gemma-7B", 28, 3072, 16, 16, 256, "llama", _GEMMA),
    (
        "Falcon-7B",
        32,
        4544,
        71,
        1,
        64,
        "llama",
        _FALCON,
        "attention and MLP side by side",
    ),
)
MODELS = tuple(RealModel(*row[:6], *_KINDS[row[6]], *row[7:]) for row in _TABLE)
# A Block cannot say, so the table leaves out: numbers added to logits (T5, BLOOM),
# rotation of some coordinates (GPT-NeoX, Pythia), biases of some matrices (Qwen2.5), a
# tanh of the logits (Gemma 2), keys and values from a shared narrow vector
# (DeepSeek-V2).


def real_model(name: str) -> RealModel:
    """The model of this name.

    Raises:
        ValueError: if there is none.

    >>> real_model("Llama-3-8B").redundant
    {'bases of keys and queries': 32768, 'bases of values and outputs': 4194304}
    """
    for model in MODELS:
        if model.name == name:
            return model
    raise ValueError(
        f"a model is one of {', '.join(m.name for m in MODELS)}; got {name!r}"
    )


PARTS = {
    "all": SYMMETRIES,
    "keys": SYMMETRIES[:1],
    "values": SYMMETRIES[1:2],
    "biases": SYMMETRIES[2:],
}
"""Which symmetries to compare the models by: name → those of `SYMMETRIES`."""
CAVEAT = "norm layers and MLPs are not in the formula"
_OPTIONS = [
    ("all", "all"),
    ("keys, queries", "keys"),
    ("values, outputs", "values"),
    ("biases", "biases"),
]
_SAID = {
    "all": "rotary, shared keys: less to lose",
    "keys": "rotary positions leave a of a²",
    "values": "a² for each key that is there",
    "biases": "biases: next to nothing",
}
_ROLES = dict(zip(SYMMETRIES, ("symmetry", "ground", "soft", "soft"), strict=True))


@dataclass(frozen=True)
class ModelSetting:
    """By which of `PARTS` the models are compared."""

    parts: str = choice("symmetries", _OPTIONS)


@dataclass(frozen=True)
class ModelStudy:
    """Model → symmetry asked for → which part of its directions is silent; the largest
    sum first."""

    setting: ModelSetting
    shares: dict[RealModel, dict[str, float]]


def study_models(setting: ModelSetting) -> ModelStudy:
    """Count, by formula.

    >>> study = study_models(ModelSetting("keys"))
    >>> [model.name for model in study.shares][::18]
    ['GPT-2 small', 'Falcon-7B']
    """
    names = PARTS[setting.parts]
    shares = {
        m: {name: m.redundant.get(name, 0) / m.parameters for name in names}
        for m in MODELS
    }
    ranking = sorted(MODELS, key=lambda model: -sum(shares[model].values()))
    return ModelStudy(setting, {model: shares[model] for model in ranking})


def real_model_parts(study: ModelStudy) -> Parts:
    """One bar for each model, the longest on top."""
    plot = Plot("", (0.14, 1.0), (0.0, 1.0))
    models = list(study.shares)
    small = {"size": theme.size("note"), "color": theme.color("soft")}
    rows = list(range(len(models)))
    ends = [0.0] * len(models)
    for name, role in _ROLES.items():
        x = [study.shares[model].get(name, 0.0) for model in models]
        edge = {"color": theme.color("symmetry"), "width": 1.5 * (role == "ground")}
        said = [
            f"{m.name}: {grouped(m.redundant.get(name, 0))} {name}, by formula"
            for m in models
        ]
        said = [
            "<br>".join([words, *_right_of(m)])
            for words, m in zip(said, models, strict=True)
        ]
        look = {
            "orientation": "h",
            "width": 0.72,
            "customdata": said,
            "hover": "%{customdata}",
        }
        plot.bars(name, x, rows, {"color": theme.color(role), "line": edge}, **look)
        words = (
            name.removeprefix("bases of ") if x[0] and name in SYMMETRIES[:2] else ""
        )
        plot.text(
            words, ends[0], -0.45, "note", "soft", xanchor="left", yanchor="bottom"
        )
        ends = [end + part for end, part in zip(ends, x, strict=True)]
    words = [
        f" {percent(end)}{_why(model)}" for model, end in zip(models, ends, strict=True)
    ]
    look = {
        "mode": "text",
        "textposition": "middle right",
        "textfont": small,
        "cliponaxis": False,
    }
    plot.points("what it comes to", ends, rows, {}, text=words, **look, meta=ANSWER)
    plot.axis("x", 0, 1.2 * max(ends), visible=False)
    # Which model is which answers a question, so the names are no ticks.
    names = [f"{model.name} " for model in models]
    look |= {"textposition": "middle left", "meta": ANSWER}
    plot.points("models", [0] * len(models), rows, {}, text=names, **look)
    plot.axis(
        "y", len(models) - 0.4, -1.7, showticklabels=False, ticks="", showgrid=False
    )
    plot.headline(_SAID[study.setting.parts])
    return compose(plot.view(), barmode="stack")


def _right_of(model: RealModel) -> list[str]:
    """With what right, in lines: the note, and what proves the stack."""
    lines = [f"({model.note})"] if model.note else []
    if model.theorem:
        more = f", with {grouped(model.shifts)} shifts more" if model.shifts else ""
        proved = f"its stack without norms and MLPs{more}"
        lines.append(f"{proved}: {model.theorem}, proved here")
    else:
        lines.append("no theorem is about its mask, beyond its window")
    return lines


def _why(model: RealModel) -> str:
    """The reason, where a model has few silent directions."""
    why = []
    if model.rotary:
        why.append("rotary")
    if model.heads > model.kv_heads:
        why.append(f"{model.heads // model.kv_heads} queries a key")
    return f"  {', '.join(why)}" if why else ""


class RealModelsExplorer(Panel):
    """Which part of real models' attention weights is silent, by formula. Controls: see
    `ModelSetting`.

    >>> RealModelsExplorer().description.split(":")[0]
    'Of the attention weights of 19 models,
    0.0099 % (Falcon-7B) to 4.2 % (GPT-2 small) are silent by formula'
    """

    title = "And in a real model?"
    setting = ModelSetting
    draw = staticmethod(real_model_parts)
    _answer = staticmethod(study_models)

    def _badge(self, answer: ModelStudy) -> str:
        return badge("observed", f"extrapolated: {CAVEAT}", _reasons(answer))

    def _describe(self, answer: ModelStudy) -> str:
        models = list(answer.shares.items())
        ends = [
            f"{percent(sum(parts.values()))} ({model.name})"
            for model, parts in (models[-1], models[0])
        ]
        return (
            f"Of the attention weights of {len(models)} models, {ends[0]} to {ends[1]}"
            f" are silent by formula: {', '.join(PARTS[answer.setting.parts])}. As"
            f" {CAVEAT}, more may be silent there."
        )


def _reasons(study: ModelStudy) -> Reasons:
    """The formula of the model with the largest part, and how many stacks are
    proved."""
    model = next(iter(study.shares))
    names = PARTS[study.setting.parts]
    lost = {name: model.redundant.get(name, 0) for name in names}
    counts = ", ".join(f"{name} {grouped(count)}" for name, count in lost.items())
    theorems = [one.theorem for one in study.shares]
    proved = [
        f"{theorems.count(name)} by {name}" for name in sorted({*theorems} - {""})
    ]
    return Reasons(
        f"{model.name}: of {grouped(model.parameters)} attention weights are silent, "
        f"by formula: {counts}.",
        "Real models",
        facts=(
            "stacks of the attention layers alone, with skips, that are proved: "
            f"{', '.join(proved)}",
            f"about the masks of {theorems.count('')} models no theorem speaks",
            f"{CAVEAT}: in the model more may be silent",
            "no model was measured",
        ),
        code=repeated(study_models, study.setting, ".shares"),
    )
