"""What a layer of a transformer has beyond the paper's Q, K and V."""

from dataclasses import dataclass, fields

from neuroviz.rank.checks import true_or_false, whole_number


@dataclass(frozen=True)
class Block:
    """What a layer has beyond queries, keys and values; all of it is off by default.

    With heads h = 1, …, H, of which H/G share the keys and values of one group g(h):

        X ← X + P                                      positions, before the first layer
        q_h = Q_h X + b,  k_g = K_g X + b,  v_g = W_g X + b                       biases
        logits of h: β_h · (R_j k_g)ᵀ (R_i q_h) at row j, column i   temperature, rotary
        output: Σ_h O_h v_g S_h + b (+ X)        value_dim: W_g is v × d, O_h is d′ × v
        between layers: Y ← U₂ (U₁ Y)^e (+ Y)       mlp = (m, e): U₁ is m × d, U₂ d × m

    Args:
        value_dim: v, the rank of each head's value map; None: one full matrix V_h.
        kv_heads: G, how many different keys and values there are; it divides every H,
            and needs a value_dim. None: each head has its own.
        rotary: keys and queries are turned by angles proportional to their place; head
            dimensions are even.
        biases: of queries, keys, values, and with a value_dim also of the output.
        temperature: a learned factor β_h of each head's logits.
        positions: a learned P, d₀ × t, is added to the tokens.
        mlp: hidden width m and power e of what stands between two layers.

    Raises:
        ValueError: if a size is not a whole number ≥ 1, a switch neither True nor
            False, or groups are asked for without a value_dim.

    >>> Block(value_dim=2, kv_heads=1), Block().is_plain
    (Block(value_dim=2, kv_heads=1), True)
    >>> print(Block(value_dim=2, mlp=(8, 3)))
    values of rank 2, MLP 8^3
    """

    value_dim: int | None = None
    kv_heads: int | None = None
    rotary: bool = False
    biases: bool = False
    temperature: bool = False
    positions: bool = False
    mlp: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        for name in ("value_dim", "kv_heads"):
            size = getattr(self, name)
            if size is not None:
                # Frozen: a normalised value can only be stored in this way.
                object.__setattr__(self, name, whole_number(name, size))
        for name in ("rotary", "biases", "temperature", "positions"):
            object.__setattr__(self, name, true_or_false(name, getattr(self, name)))
        if self.kv_heads is not None and self.value_dim is None:
            raise ValueError(
                "heads that share keys and values need output matrices of their own: "
                f"give value_dim, too; got kv_heads={self.kv_heads} and value_dim=None"
            )
        if self.mlp is not None:
            object.__setattr__(self, "mlp", _mlp_sizes(self.mlp))

    @property
    def is_plain(self) -> bool:
        """Whether nothing is switched on."""
        return self == Block()

    def __repr__(self) -> str:
        """What is switched on."""
        said = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                said.append(f"{field.name}={value!r}")
        return f"Block({', '.join(said)})"

    def __str__(self) -> str:
        parts = []
        if self.value_dim is not None:
            parts.append(f"values of rank {self.value_dim}")
        if self.kv_heads is not None:
            heads = "head" if self.kv_heads == 1 else "heads"
            parts.append(f"{self.kv_heads} key-value {heads}")
        for name in ("rotary", "biases", "temperature", "positions"):
            if getattr(self, name):
                parts.append(name)
        if self.mlp is not None:
            hidden, power = self.mlp
            parts.append(f"MLP {hidden}^{power}")
        return ", ".join(parts)


def _mlp_sizes(mlp: object) -> tuple[int, int]:
    if not isinstance(mlp, (tuple, list)) or len(mlp) != 2:
        raise ValueError(f"mlp is (hidden width, power), such as (8, 2); got {mlp!r}")
    hidden = whole_number("an MLP's hidden width", mlp[0])
    power = whole_number("an MLP's power", mlp[1])
    return hidden, power
