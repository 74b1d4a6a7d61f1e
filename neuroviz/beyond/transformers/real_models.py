"""The attention of real models, from their published shapes: which directions do nothing, by formula.

Nobody can measure a model of this size: formulas that were checked on small networks are extrapolated.
`real_models_study` measures small networks of the same kind beside them. Norm layers and MLPs are in
neither.
"""

from dataclasses import dataclass

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.block import Block
from neuroviz.engine.block_formulas import known_redundancies

TOKENS = 3
"""Of every network here: two rotary masked tokens are special, and more than three change no count."""
SYMMETRIES = (
    "bases of keys and queries",
    "bases of values and outputs",
    "key biases",
    "value biases",
)
"""What does nothing inside one layer, and so in every model that contains the layer."""
_SHIFTS = "shifts between layers"


@dataclass(frozen=True)
class RealModel:
    """The attention layers of a released model, as far as a `Block` can say them.

    Symmetries inside one layer leave its function alone, so they stay whatever stands between the layers:
    `dimension`, parameters less these, is an upper bound for the rank of the derivative in the attention
    weights of the model itself. That nothing else is lost is extrapolated, from stacks of attention layers
    with skips. Two things are left out of it: `shifts`, which only a stack without norm layers has, and
    `hidden_by_norm` ("Blocks of real models").

    Attributes:
        name, family: as people say it.
        layers, width, heads, kv_heads, head_dim: l, d, H, G (key-value heads), a; values have rank a, too.
        biases: of queries, keys, values and outputs, all or none.
        rotary: rotary positions on all coordinates of queries and keys.
        causal: whether attention is masked.
        norm: "LayerNorm" or "RMSNorm"; in no count but `hidden_by_norm`.
        source: where the shapes stand.
        note: what else the real layer has and the count does not.

    >>> gpt2 = real_model("GPT-2 small")
    >>> gpt2.parameters, gpt2.dimension, gpt2.shifts
    (28348416, 27150336, 8448)
    >>> print(gpt2.architecture(layers=1, heads=2, head_dim=2))
    softmax 4→4, a = 2, t = 3, 2 heads, skip, causal, values of rank 2, biases
    """

    name: str
    family: str
    layers: int
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    biases: bool
    rotary: bool
    causal: bool
    norm: str
    source: str
    note: str = ""

    def architecture(
        self, layers: int | None = None, heads: int | None = None, head_dim: int | None = None
    ) -> Architecture:
        """The stack of attention layers with skips, or one of the same kind and other sizes.

        The width keeps its ratio to a·H. So do the queries of a key; with fewer heads than that, all
        heads share one key.

        Args:
            layers, heads, head_dim: None: those of the model.

        Raises:
            ValueError: if the width is no whole number or below a, or keys would be shared unevenly.
        """
        layers = self.layers if layers is None else layers
        heads = self.heads if heads is None else heads
        head_dim = self.head_dim if head_dim is None else head_dim
        if min(layers, heads, head_dim) < 1:
            raise ValueError(
                f"layers, heads and head_dim are whole numbers ≥ 1; got {layers}, {heads} and {head_dim}"
            )
        width, rest = divmod(self.width * heads * head_dim, self.heads * self.head_dim)
        if rest or width < head_dim:
            raise ValueError(
                f"{self.name} has d = {self.width} for a·H = {self.heads * self.head_dim}; {heads} heads of "
                f"dimension {head_dim} give no whole width from {head_dim} on: take another number of heads"
            )
        sharing = min(self.queries_per_key, heads)
        if heads % sharing:
            raise ValueError(
                f"{self.name} has {sharing} queries for each key; got {heads} heads: take a multiple of it"
            )
        groups = heads // sharing
        block = Block(
            value_dim=head_dim,
            kv_heads=None if groups == heads else groups,
            rotary=self.rotary,
            biases=self.biases,
        )
        return Architecture.uniform(
            width,
            head_dim,
            layers,
            TOKENS,
            "softmax",
            heads=heads,
            skip=True,
            causal=self.causal,
            block=block,
        )

    def can_be(self, heads: int, head_dim: int) -> bool:
        """Whether there is such a layer of these sizes: see `architecture`."""
        width, rest = divmod(self.width * heads * head_dim, self.heads * self.head_dim)
        return not rest and width >= head_dim and heads % min(self.queries_per_key, heads) == 0

    @property
    def queries_per_key(self) -> int:
        """H/G, how many heads share one key and value."""
        return self.heads // self.kv_heads

    @property
    def parameters(self) -> int:
        """Entries of all Q, K, V, O and their biases."""
        return self.architecture().num_parameters

    @property
    def redundant(self) -> dict[str, int]:
        """Directions that do nothing inside the layers: one of `SYMMETRIES` → how many in all layers."""
        found = known_redundancies(self.architecture())
        return {name: found[name] for name in SYMMETRIES if name in found}

    @property
    def shifts(self) -> int:
        """(l − 1)d with biases: what a stack without norm layers and MLPs loses on top."""
        return known_redundancies(self.architecture()).get(_SHIFTS, 0)

    @property
    def hidden_by_norm(self) -> int:
        """Directions more that do nothing behind and before a LayerNorm, at least; none for RMSNorm.

        A LayerNorm takes away each token's mean. So no layer sees what another adds along (1, …, 1): H a
        columns of all O and, with biases, one direction of the output bias. And what follows one is blind
        in one direction of its input, up to a constant that biases make up for: a rows each of Q, K, V.
        """
        if self.norm == "RMSNorm":
            return 0
        outputs = self.heads * self.head_dim
        inputs = (self.heads + 2 * self.kv_heads) * self.head_dim
        return self.layers * (outputs + inputs + 1 if self.biases else outputs)

    @property
    def dimension(self) -> int:
        """`parameters` less all of `redundant`: extrapolated, and an upper bound in the real model."""
        return self.parameters - sum(self.redundant.values())

    @property
    def share(self) -> float:
        """Which part of the attention weights is redundant, from 0 to 1."""
        return 1 - self.dimension / self.parameters


def _gpt(
    name: str, layers: int, width: int, heads: int, family: str, source: str, note: str = ""
) -> RealModel:
    """With biases and learned positions; every head has its own key."""
    a = width // heads
    return RealModel(
        name, family, layers, width, heads, heads, a, True, False, True, "LayerNorm", source, note
    )


def _encoder(name: str, layers: int, width: int, heads: int, family: str, source: str) -> RealModel:
    """With biases, and no mask."""
    a = width // heads
    return RealModel(name, family, layers, width, heads, heads, a, True, False, False, "LayerNorm", source)


def _llama(
    name: str,
    layers: int,
    width: int,
    heads: int,
    kv_heads: int,
    a: int,
    family: str,
    source: str,
    note: str = "",
) -> RealModel:
    """Rotary, RMSNorm, no biases."""
    return RealModel(
        name, family, layers, width, heads, kv_heads, a, False, True, True, "RMSNorm", source, note
    )


_GPT2 = (
    "A. Radford et al., Language Models are Unsupervised Multitask Learners, 2019; heads from the config of "
    "the released weights"
)
_GPT3 = "T. Brown et al., Language Models are Few-Shot Learners, 2020, arXiv 2005.14165"
_OPT = "S. Zhang et al., OPT: Open Pre-trained Transformer Language Models, 2022, arXiv 2205.01068"
_BERT = "J. Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers, 2018, arXiv 1810.04805"
_VIT = "A. Dosovitskiy et al., An Image is Worth 16x16 Words, 2020, arXiv 2010.11929"
_STARCODER = "R. Li et al., StarCoder: may the source be with you!, 2023, arXiv 2305.06161"
_LLAMA = "H. Touvron et al., LLaMA: Open and Efficient Foundation Language Models, 2023, arXiv 2302.13971"
_LLAMA2 = "H. Touvron et al., Llama 2: Open Foundation and Fine-Tuned Chat Models, 2023, arXiv 2307.09288"
_LLAMA3 = "Llama Team, The Llama 3 Herd of Models, 2024, arXiv 2407.21783"
_MISTRAL = "A. Jiang et al., Mistral 7B, 2023, arXiv 2310.06825"
_GEMMA = "Gemma Team, Gemma: Open Models Based on Gemini Research and Technology, 2024, arXiv 2403.08295"
_FALCON = (
    "E. Almazrouei et al., The Falcon Series of Open Language Models, 2023, arXiv 2311.16867; config of the "
    "released weights"
)

MODELS = (
    _gpt("GPT-2 small", 12, 768, 12, "GPT", _GPT2),
    _gpt("GPT-2 medium", 24, 1024, 16, "GPT", _GPT2),
    _gpt("GPT-2 large", 36, 1280, 20, "GPT", _GPT2),
    _gpt("GPT-2 XL", 48, 1600, 25, "GPT", _GPT2),
    _gpt("GPT-3 175B", 96, 12288, 96, "GPT", _GPT3, "some of its masks are banded; biases as in GPT-2"),
    _gpt("OPT-6.7B", 32, 4096, 32, "OPT", _OPT),
    RealModel(
        "StarCoder 15.5B", "StarCoder", 40, 6144, 48, 1, 128, True, False, True, "LayerNorm", _STARCODER
    ),
    _encoder("BERT-base", 12, 768, 12, "BERT", _BERT),
    _encoder("BERT-large", 24, 1024, 16, "BERT", _BERT),
    _encoder("ViT-H/14", 32, 1280, 16, "ViT", _VIT),
    _llama("LLaMA-7B", 32, 4096, 32, 32, 128, "LLaMA", _LLAMA),
    _llama("LLaMA-65B", 80, 8192, 64, 64, 128, "LLaMA", _LLAMA),
    _llama("Llama-2-70B", 80, 8192, 64, 8, 128, "LLaMA", _LLAMA2),
    _llama("Llama-3-8B", 32, 4096, 32, 8, 128, "LLaMA", _LLAMA3),
    _llama("Llama-3-70B", 80, 8192, 64, 8, 128, "LLaMA", _LLAMA3),
    _llama("Mistral-7B", 32, 4096, 32, 8, 128, "Mistral", _MISTRAL, "its mask is a sliding window"),
    _llama("Gemma-2B", 18, 2048, 8, 1, 256, "Gemma", _GEMMA),
    _llama("Gemma-7B", 28, 3072, 16, 16, 256, "Gemma", _GEMMA),
    RealModel(
        "Falcon-7B",
        "Falcon",
        32,
        4544,
        71,
        1,
        64,
        False,
        True,
        True,
        "LayerNorm",
        _FALCON,
        "attention and MLP side by side",
    ),
)

LEFT_OUT = {
    "T5": "positions are learned numbers added to the logits, which a Block does not have",
    "BLOOM": "positions are fixed numbers added to the logits",
    "GPT-NeoX, Pythia": "rotary positions on a part of the coordinates only",
    "Qwen2.5": "biases of queries, keys and values, but none of the output",
    "Gemma 2": "logits pass through a tanh, and a norm stands inside the layer",
    "DeepSeek-V2, V3": "keys and values come from a shared narrow vector",
}
"""Well-known models that are missing, and what about them a `Block` cannot say."""


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
    raise ValueError(f"a model is one of {', '.join(m.name for m in MODELS)}; got {name!r}")
