"""Pairs of softmax networks: with one function, or with two that differ where it is
hard to see."""

from dataclasses import dataclass

import mpmath
import numpy as np

from neuroviz.rank.field import Reals
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.evaluate import Weights, random_weights

ARCHS = [
    Transformer((3, 3), (2,), 3, "softmax", heads=3),
    Transformer((1, 1), (1,), 3, "softmax", heads=2, block=Block(biases=True)),
    Transformer(
        (2, 3),
        (2,),
        2,
        "softmax",
        heads=2,
        causal=True,
        block=Block(biases=True, temperature=True),
    ),
    Transformer.uniform(2, 2, 2, 3, "softmax", heads=2),
    Transformer.uniform(3, 2, 3, 3, "softmax", heads=2),
    Transformer.uniform(2, 1, 3, 3, "softmax", heads=3, causal=True),
    Transformer.uniform(3, 2, 2, 3, "softmax", heads=3, skip=True),
    Transformer.uniform(
        2, 2, 3, 2, "softmax", heads=2, skip=True, causal=True, block=Block(biases=True)
    ),
    Transformer.uniform(2, 1, 2, 3, "softmax", heads=2, block=Block(biases=True)),
    Transformer(
        (3, 2, 3), (2, 1), 3, "softmax", heads=(3, 2), block=Block(2, biases=True)
    ),
    Transformer(
        (3, 2, 2, 3), (1, 2, 2), 3, "softmax", heads=2, block=Block(2, temperature=True)
    ),
    Transformer.uniform(
        3, 2, 2, 3, "softmax", heads=4, skip=True, block=Block(2, 2, biases=True)
    ),
    Transformer.uniform(2, 2, 2, 3, "softmax", heads=4, block=Block(1, 2)),
]


def drawn(arch: Transformer, rng: np.random.Generator, reach: float) -> Weights:
    """Random weights; some heads, outputs, inputs and biases are up to 10^±reach times
    larger."""
    weights = random_weights(Reals(), arch, rng)
    last = arch.num_layers
    for name, w in weights.items():
        kind = name.split(".")[1]
        if kind in "QVOqvo" and rng.random() < 0.5:
            shape = (len(w), 1, 1) if w.ndim == 3 else (1, 1)
            weights[name] = w * 10 ** rng.uniform(-reach, reach, shape)
    if rng.random() < 0.3:  # outputs of different sizes
        sizes = 10 ** rng.uniform(-reach, reach, (arch.widths[-1], 1))
        for name in (
            {f"{last}.O", f"{last}.o"}
            if arch.block.value_dim
            else {f"{last}.V", f"{last}.v"}
        ):
            if name in weights and not arch.skip:
                weights[name] = weights[name] * sizes
    if rng.random() < 0.3:  # coordinates of the tokens, too
        sizes = 10 ** rng.uniform(-reach, reach, arch.widths[0])
        for name in ("1.Q", "1.K", "1.V"):
            weights[name] = weights[name] * sizes
    return weights


@dataclass(frozen=True)
class Change:
    """Of the same function: how heads, bases and shifts are drawn.

    Attributes:
        spread: of the bases between layers, 10^spread is the ratio of largest and
            smallest stretch.
        along: whether they stretch the coordinates themselves.
        inside: the same for the bases inside a head.
        shift: how far tokens are shifted.
    """

    spread: float = 0.0
    along: bool = False
    inside: float = 0.0
    shift: float = 1.0

    def basis(
        self, size: int, spread: float, along: bool, rng: np.random.Generator
    ) -> np.ndarray:
        """An invertible matrix."""
        stretch = np.diag(
            10 ** (np.linspace(-0.5, 0.5, size) * spread if size > 1 else np.zeros(1))
        )
        if along:
            return stretch[:, rng.permutation(size)]
        left, right = (
            np.linalg.qr(rng.standard_normal((size, size)))[0] for _ in range(2)
        )
        return left @ stretch @ right


def same_function(
    arch: Transformer, weights: Weights, change: Change, rng: np.random.Generator
) -> tuple[Weights, tuple[tuple[int, ...], ...]]:
    """Other weights of the function, and where the heads have gone; groups stay
    together."""
    found = {}
    orders = []
    G = np.eye(arch.widths[0])
    g = np.zeros((arch.widths[0], 1))
    for i, (H, (_, d_out, a)) in enumerate(
        zip(arch.heads, arch.layers, strict=True), start=1
    ):
        w = {n.split(".")[1]: m for n, m in weights.items() if n.startswith(f"{i}.")}
        groups = len(w["K"])
        last = i == arch.num_layers
        each = H // groups
        group_order = rng.permutation(groups)
        order = np.concatenate([k * each + rng.permutation(each) for k in group_order])
        after = np.eye(d_out)
        if not (arch.skip or last):
            after = change.basis(d_out, change.spread, change.along, rng)
        back = np.linalg.inv(G)
        C = np.stack(
            [change.basis(a, change.inside, False, rng) for _ in range(groups)]
        )
        C_each = np.repeat(C, each, axis=0)
        new = {
            "Q": C_each @ w["Q"] @ back,
            "K": np.linalg.inv(C).mT @ w["K"] @ back,
            "V": w["V"] @ back,
        }
        if "O" in w:
            new["O"] = after @ w["O"]
        else:
            new["V"] = after @ new["V"]
        if "beta" in w:
            new["beta"] = w["beta"]
        if "q" in w:
            new["q"] = C_each @ w["q"] - new["Q"] @ g
            new["k"] = w["k"] + 1.0
            shift = (
                np.zeros((d_out, 1))
                if last
                else change.shift * rng.standard_normal((d_out, 1))
            )
            through = np.repeat(new["V"], each, axis=0) if "O" in w else new["V"]
            lost = (new["O"] @ through if "O" in w else through).sum(axis=0) @ g + (
                g if arch.skip else 0
            )
            if "O" in w:
                new["v"], new["o"] = w["v"], after @ w["o"] + shift - lost
            else:
                new["v"] = after @ w["v"]
                new["v"][0] += shift - lost
            g = shift
        at = order
        group_at = group_order
        found |= {
            f"{i}.{n}": (
                m
                if n == "o"
                else m[group_at if len(m) == groups and n in "KVkv" else at]
            )
            for n, m in new.items()
        }
        orders.append(tuple(int(k) for k in np.argsort(at)))
        G = after
    return {name: found[name] for name in weights}, tuple(orders)


# Functions that differ


def changed(
    arch: Transformer, weights: Weights, kind: str, rng: np.random.Generator
) -> tuple[Weights, Weights] | None:
    """Weights with one thing changed, and without it at all; None where this kind has
    no sense."""
    new = dict(weights)
    without = dict(weights)
    i = int(rng.integers(1, arch.num_layers + 1))
    H = arch.heads[i - 1]
    h = int(rng.integers(H))
    last = arch.num_layers
    outer = "O" if arch.block.value_dim else "V"

    def put(name: str, place: object, value: object) -> None:
        new[name] = new[name].copy()
        new[name][place] = value

    def leave_out(name: str, place: object) -> None:
        without[name] = without[name].copy()
        without[name][place] = 0.0

    Q = weights[f"{i}.Q"]
    V = weights[f"{i}.{outer}"]
    leave_out(f"{i}.{outer}", h)
    if kind in ATTENTION and arch.block.biases and kind != "head redrawn":
        put(f"{i}.q", h, 0.0)  # so that the kind is what it says
        weights[f"{i}.q"][h] = 0.0
    if kind == "head negated":
        put(f"{i}.Q", h, -Q[h])
    elif kind == "head redrawn":
        put(f"{i}.Q", h, np.linalg.norm(Q[h]) * rng.standard_normal(Q[h].shape))
    elif kind == "head blind":
        put(f"{i}.Q", h, 0.0)
    elif kind == "head a little sharper":
        put(f"{i}.Q", h, Q[h] * (1 + 10 ** rng.uniform(-4, -1)))
    elif kind == "one row of a query":
        row = int(rng.integers(len(Q[h])))
        put(f"{i}.Q", (h, row), -Q[h, row])
    elif kind == "head transposed":
        K = weights[f"{i}.K"]
        if len(K) != len(Q) or len(Q[h]) == 1 and arch.widths[i - 1] == 1:
            return None
        put(f"{i}.Q", h, K[h])
        put(f"{i}.K", h, Q[h])
    elif kind == "values negated":
        put(f"{i}.{outer}", h, -V[h])
    elif kind == "values a little larger":
        put(f"{i}.{outer}", h, V[h] * (1 + 10 ** rng.uniform(-4, -1)))
    elif kind == "one output of one head":
        row = int(rng.integers(len(V[h])))
        put(f"{i}.{outer}", (h, row), -V[h, row])
        without[f"{i}.{outer}"] = weights[f"{i}.{outer}"].copy()
        leave_out(f"{i}.{outer}", (h, row))
    elif kind == "head and values negated":
        put(f"{i}.Q", h, -Q[h])
        put(f"{i}.{outer}", h, -V[h])
    elif kind == "queries of two heads exchanged":
        k = (h + 1) % H
        if H == 1:
            return None
        new[f"{i}.Q"] = Q.copy()
        new[f"{i}.Q"][[h, k]] = Q[[k, h]]
    elif kind == "values of two heads exchanged":
        k = (h + 1) % H
        if H == 1:
            return None
        new[f"{i}.{outer}"] = V.copy()
        new[f"{i}.{outer}"][[h, k]] = V[[k, h]]
    elif kind == "query bias":
        if not arch.block.biases:
            return None
        put(f"{i}.q", h, weights[f"{i}.q"][h] * rng.choice([-1.0, 1.001, 0.0]))
    elif kind == "value bias":
        if not arch.block.biases:
            return None
        name = f"{i}.o" if arch.block.value_dim else f"{i}.v"
        row = int(rng.integers(arch.widths[i]))
        place = (row,) if arch.block.value_dim else (h, row)
        change = weights[name][place] * rng.choice([-3.0, 1.001])
        biases = [n for n in weights if n.split(".")[1] in ("q", "v", "o")]
        put(name, place, change)
        without = weights | {n: 0 * weights[n] for n in biases}
    elif kind == "temperature":
        if not arch.block.temperature:
            return None
        put(f"{i}.beta", h, -weights[f"{i}.beta"][h])
    elif kind == "layers exchanged":
        names = [n.split(".")[1] for n in weights if n.startswith("1.")]
        if last == 1 or any(
            weights[f"1.{n}"].shape != weights[f"2.{n}"].shape for n in names
        ):
            return None
        for n in names:
            new[f"1.{n}"], new[f"2.{n}"] = weights[f"2.{n}"], weights[f"1.{n}"]
        without = dict(weights)
        leave_out(f"1.{outer}", np.s_[:])
    elif kind == "basis of one layer only":
        if last == 1:
            return None
        G = np.linalg.qr(rng.standard_normal((arch.widths[1],) * 2))[0]
        G = G if arch.widths[1] > 1 else np.array([[-2.0]])
        new[f"1.{outer}"] = G @ weights[f"1.{outer}"]
        without = dict(weights)
        leave_out(f"1.{outer}", np.s_[:])
    elif kind == "one input of the values":
        column = int(rng.integers(arch.widths[i - 1]))
        W = weights[f"{i}.V"]
        group = h * len(W) // H
        put(f"{i}.V", (group, np.s_[:], column), -W[group, :, column])
        without = dict(weights)
        leave_out(f"{i}.V", (group, np.s_[:], column))
    return new, without


ATTENTION = (
    "head negated",
    "head redrawn",
    "head blind",
    "head a little sharper",
    "one row of a query",
    "head transposed",
)
KINDS = (
    *ATTENTION,
    "values negated",
    "values a little larger",
    "one output of one head",
    "head and values negated",
    "queries of two heads exchanged",
    "values of two heads exchanged",
    "query bias",
    "value bias",
    "temperature",
    "layers exchanged",
    "basis of one layer only",
    "one input of the values",
)


def exact_outputs(
    arch: Transformer, weights: Weights, X: np.ndarray, size: float
) -> list:
    """Outputs with 60 digits, from the definition; rows are coordinates."""
    number = np.frompyfunc(mpmath.mpf, 1, 1)
    exp = np.frompyfunc(mpmath.exp, 1, 1)
    Z = number(X) * mpmath.mpf(size)
    t = X.shape[1]
    for i, H in enumerate(arch.heads, start=1):
        w = {
            n.split(".")[1]: number(m)
            for n, m in weights.items()
            if n.startswith(f"{i}.")
        }
        each = H // len(w["K"])
        out = Z if arch.skip else 0
        for h in range(H):
            g = h // each
            q = w["Q"][h] @ Z
            k = w["K"][g] @ Z
            v = w["V"][g] @ Z
            if "q" in w:
                q = q + w["q"][h]
                k = k + w["k"][g]
                v = v + w["v"][g]
            S = k.T @ q
            if "beta" in w:
                S = w["beta"][h, 0, 0] * S
            for column in range(t):
                rows = slice(column + 1 if arch.causal else t)
                logits = S[rows, column]
                shares = exp(logits - max(logits))
                S[rows, column] = shares / sum(shares)
                if arch.causal:
                    S[column + 1 :, column] = mpmath.mpf(0)
            Y = v @ S
            out = out + (w["O"][h] @ Y if "O" in w else Y)
        Z = out + w["o"] if "o" in w else out
    return Z


def seen(
    arch: Transformer,
    weights: Weights,
    new: Weights,
    without: Weights,
    rng: np.random.Generator,
) -> float:
    """How far outputs differ, beside what the part that was changed does to them: the
    most, over sizes."""
    X = rng.standard_normal((arch.widths[0], arch.tokens))
    most = 0.0
    with mpmath.workdps(60):
        for size in 10.0 ** np.arange(-12, 13, 3):
            one, other, less = (
                exact_outputs(arch, w, X, size) for w in (weights, new, without)
            )
            for a, b, c in zip(one, other, less, strict=True):
                part = max(map(abs, a - c))
                apart = max(map(abs, a - b))
                if part > mpmath.mpf(10) ** -45 * max(map(abs, a)):
                    most = max(most, float(apart / part))
    return most


def dense_condition(change: Change) -> float:
    """How ill-conditioned bases are that mix coordinates."""
    return 10.0 ** max(0.0 if change.along else change.spread, change.inside)
