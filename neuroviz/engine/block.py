"""What a layer of a transformer has beyond the paper's Q, K and V; the default is the
paper's layer."""

from dataclasses import dataclass, fields

from neuroviz.rank.checks import whole_number


@dataclass(frozen=True)
class Block:
    """Everything about a layer that is in use today and not in the paper; all of it is
    off by default.

    With heads h = 1, …, H, of which H/G share the keys and values of one group g(h),
    tokens as columns of X:

        X ← X + P                                                    positions, before
                                                                     the first layer
        q_h = Q_h X + b,   k_g = K_g X + b,   v_g = W_g X + b        biases
        logits of h: β_h · (R_j k_g)ᵀ (R_i q_h) at row j, column i   temperature β,
                                                                     rotary R
        output: Σ_h O_h v_g S_h + b (+ X)                            value_dim: W_g is v
                                                                     × d, O_h is d′ × v
        between layers: Y ← U₂ (U₁ Y)^e (+ Y), entry by entry        mlp = (m, e): U₁ is
                                                                     m × d, U₂ is d × m

    Args:
        value_dim: v, the rank of each head's value map O_h W_h; None: one full matrix
            V_h, d′ × d.
        kv_heads: G, how many different keys and values there are; it divides every H,
            and needs a value_dim. None: every head has its own.
        rotary: keys and queries are rotated by angles proportional to their token's
            place; a is even.
        biases: of queries, keys, values, and with a value_dim also of the output.
        temperature: a learned factor β_h of each head's logits.
        positions: a learned P, d₀ × t, is added to the tokens.
        mlp: hidden width m and power e of what stands between two layers.

    Raises:
        ValueError: if a size is not a whole number ≥ 1, or groups are asked for without
            a value_dim.

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
            if getattr(self, name) is not None:
                object.__setattr__(self, name, whole_number(name, getattr(self, name)))
        for name in ("rotary", "biases", "temperature", "positions"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(
                    f"{name} is True or False; got {getattr(self, name)!r}"
                )
        if self.kv_heads is not None and self.value_dim is None:
            raise ValueError(
                "heads that share keys and values need output matrices of their own:"
                f" give value_dim, too; got kv_heads={self.kv_heads} and value_dim=None"
            )
        if self.mlp is not None:
            if not isinstance(self.mlp, (tuple, list)) or len(self.mlp) != 2:
                raise ValueError(
                    f"mlp is (hidden width, power), such as (8, 2); got {self.mlp!r}"
                )
            hidden, power = self.mlp
            sizes = (
                whole_number("an MLP's hidden width", hidden),
                whole_number("an MLP's power", power),
            )
            object.__setattr__(self, "mlp", sizes)

    @property
    def is_plain(self) -> bool:
        """Whether nothing is switched on."""
        return self == _PLAIN

    def __repr__(self) -> str:
        """What is switched on."""
        on = [f for f in fields(self) if getattr(self, f.name) != f.default]
        return f"Block({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in on)})"

    def __str__(self) -> str:
        parts = []
        if self.value_dim is not None:
            parts.append(f"values of rank {self.value_dim}")
        if self.kv_heads is not None:
            parts.append(
                f"{self.kv_heads} key-value head{'s' if self.kv_heads > 1 else ''}"
            )
        parts += [
            name
            for name in ("rotary", "biases", "temperature", "positions")
            if getattr(self, name)
        ]
        if self.mlp is not None:
            parts.append(f"MLP {self.mlp[0]}^{self.mlp[1]}")
        return ", ".join(parts)


_PLAIN = Block()
