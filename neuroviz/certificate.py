"""What is proved about the dimension of an architecture, and why: an object that checks itself again.

Three routes (docs/mathematics.md):

    theorem      a statement with its hypotheses checked; any size at once
    exact rank   a rank mod p at a stored point that meets an upper bound ("The gauge slice", "Exact rank")
    ball         a square part of the Jacobian at a stored rational point, proved invertible in ball
                 arithmetic; no appeal to Ax's theorem ("Ball arithmetic")

`verify` uses none of the code that made the certificate: it differentiates forward where that went
backward, eliminates with python-flint where that used its own blocks, and counts another way.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import numpy as np

from neuroviz.architecture import Architecture, check_architecture
from neuroviz.balls import Place, ball_jacobian, ball_tangents, proved_invertible
from neuroviz.field import DEFAULT_PRIME, PrimeField, Reals
from neuroviz.formulas import alpha, expected_dimension, general_formula
from neuroviz.gauge import gauge_slice
from neuroviz.network import Layer, Weights, jacobian, random_tokens
from neuroviz.rank import exact_rank

ROUTES = ("theorem", "exact rank", "ball")
_VERSION = 1
_BITS = (128, 256, 512, 1024, 2048)
_SPARE_ROWS = 2


@dataclass(frozen=True)
class Verification:
    """The outcome of checking a certificate again: whether it holds, and what was found."""

    valid: bool
    finding: str

    def __bool__(self) -> bool:
        return self.valid


@dataclass(frozen=True)
class Certificate:
    """A proof that the functions of an architecture have a certain dimension.

    Attributes:
        arch: the architecture.
        dimension: what is proved.
        route: "theorem", "exact rank" or "ball".
        source: the statement that is used, such as "Cor. 3.8" or "The gauge slice".
        argument: how it is proved, in a sentence or two.
        data: what `verify` starts from: hypotheses, or a point; numbers as text or whole numbers.
        seal: a digest of all of the above: what was changed by a digit, on its way, is noticed.
    """

    arch: Architecture
    dimension: int
    route: str
    source: str
    argument: str
    data: dict = field(compare=False)
    seal: str = ""

    def __post_init__(self) -> None:
        if not self.seal:
            object.__setattr__(self, "seal", self._digest())

    def _contents(self) -> dict:
        arch = self.arch
        return {
            "neuroviz certificate": _VERSION,
            "architecture": {
                "widths": arch.widths,
                "head_dims": arch.head_dims,
                "tokens": arch.tokens,
                "attention": arch.attention,
            },
            "dimension": self.dimension,
            "route": self.route,
            "source": self.source,
            "argument": self.argument,
            "data": self.data,
        }

    def _digest(self) -> str:
        text = json.dumps(self._contents(), ensure_ascii=False, sort_keys=True)
        return sha256(text.encode()).hexdigest()

    def verify(self) -> Verification:
        """Check everything again from `data` alone, in other ways than it was found."""
        if self.seal != self._digest():
            return Verification(False, "it was changed after it was made: the seal does not fit")
        checks = {"theorem": _verify_theorem, "exact rank": _verify_rank, "ball": _verify_ball}
        try:
            return checks[self.route](self)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            return Verification(False, f"the data cannot be read: {error}")

    def to_json(self) -> str:
        """The certificate as text, to keep or to send; `from_json` reads it."""
        return json.dumps(self._contents() | {"seal": self.seal}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """The certificate that a text holds. It is not trusted: call `verify`.

        Raises:
            ValueError: if the text is no certificate.
        """
        try:
            read = json.loads(text)
            if read["neuroviz certificate"] != _VERSION:
                raise ValueError(f"version {read['neuroviz certificate']!r}")
            arch = Architecture(**read["architecture"])
            names = ("dimension", "route", "source", "argument", "data", "seal")
            parts = {name: read[name] for name in names}
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"a certificate is the text that to_json writes; this is not one: {error}"
            ) from None
        if parts["route"] not in ROUTES or not isinstance(parts["seal"], str) or not parts["seal"]:
            raise ValueError(
                f"a certificate has a seal and one of the routes {', '.join(ROUTES)}; got {parts['route']!r}"
            )
        return cls(arch, **parts)

    def save(self, path: str | Path) -> None:
        """Write `to_json` to a file."""
        Path(path).write_text(self.to_json() + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> "Certificate":
        """Read what `save` wrote.

        Raises:
            ValueError: as in `from_json`.
        """
        return cls.from_json(Path(path).read_text(encoding="utf-8"))

    def __str__(self) -> str:
        how = f"  {self.argument}\n  route: {self.route} · {self.source}"
        return f"{self.arch}: dimension {self.dimension}\n{how}"

    __repr__ = __str__


def certify(arch: Architecture, route: str | None = None, seed: int = 0) -> Certificate:
    """The strongest proof that we have of the dimension of an architecture.

    Without a route: a theorem of the paper where its hypotheses hold; else ball arithmetic for
    networks small enough; else an exact rank that meets an upper bound; else our own theorem, which
    is not peer-reviewed.

    Args:
        arch: any `Architecture`.
        route: one of `ROUTES`, or None for the strongest.
        seed: what points are drawn from.

    Raises:
        ValueError: if the route is unknown, or proves nothing here; the message says why.

    >>> certify(Architecture((4, 3, 5), (2, 2))).source
    'Cor. 3.8'
    >>> certify(Architecture((3, 3, 3), (2, 2), attention="softmax"), route="ball").dimension
    25
    """
    check_architecture("certify", arch)
    if route is None:
        return _strongest(arch, seed)
    if route not in ROUTES:
        raise ValueError(f"route must be one of {', '.join(map(repr, ROUTES))}, or None; got {route!r}")
    return {"theorem": _by_theorem, "exact rank": _by_rank, "ball": _by_ball}[route](arch, seed)


_BALL_COLUMNS, _RANK_COLUMNS = 130, 1500


def _strongest(arch: Architecture, seed: int) -> Certificate:
    if expected_dimension(arch).status == "proved":
        return _by_theorem(arch, seed)
    columns = _num_columns(arch)
    attempts: list[Callable[[Architecture, int], Certificate]] = []
    if columns <= _BALL_COLUMNS and columns == general_formula(arch).value:
        attempts.append(_by_ball)
    if columns <= _RANK_COLUMNS and arch.attention == "lightning":
        attempts.append(_by_rank)
    for attempt in attempts:
        try:
            return attempt(arch, seed)
        except ValueError:  # this route proves nothing here; the next one may
            continue
    return _by_theorem(arch, seed)


def _num_columns(arch: Architecture) -> int:
    """How many entries the slice leaves free, counted without writing it down: networks may be large."""
    d, depth = arch.widths, arch.num_layers
    r = [min(d[: i + 1]) for i in range(depth)] + [d[-1]]
    values = sum(r[i] * (r[i - 1] - r[i]) for i in range(1, depth)) + r[-1] * r[-2]
    heads = sum(alpha(a, width) for a, width in zip(arch.head_dims, r, strict=False))
    return values + heads - (depth if arch.attention == "lightning" else 0)


# By theorem


def _by_theorem(arch: Architecture, seed: int) -> Certificate:
    expected = expected_dimension(arch)
    who = "a theorem of the paper" if expected.status == "proved" else "proved here, not peer-reviewed"
    argument = f"{expected.source} ({who}): {expected.note}"
    data = {"status": expected.status}
    return Certificate(arch, expected.value, "theorem", expected.source, argument, data)


# Each statement once more: what it asks for, written without the functions that found it.
_HYPOTHESES: dict[str, Callable[[Architecture], bool]] = {
    "Cor. 3.3": lambda arch: arch.attention == "lightning" and arch.num_layers == 1 and arch.tokens > 1,
    "Cor. 3.8": lambda arch: (
        arch.attention == "lightning"
        and arch.num_layers > 1
        and arch.tokens > 1
        and len({*arch.widths[1:-1]}) == 1
        and 1 < arch.widths[1] <= min(arch.widths[0], arch.widths[-1])
        and all(1 < a <= d for a, d in zip(arch.head_dims, arch.widths, strict=False))
    ),
    "Thm. 3.9": lambda arch: arch.attention == "softmax" and arch.num_layers == 1 and arch.tokens > 1,
    "Eq. 16, Corollary A": lambda arch: (
        arch.attention == "softmax"
        and arch.num_layers > 1
        and arch.tokens > 1
        and len({*arch.widths[1:-1]}) == 1
        and arch.widths[1] <= min(arch.widths[0], arch.widths[-1])
    ),
    "Corollary A": lambda arch: arch.attention == "softmax" and arch.tokens > 1,
    "One token": lambda arch: arch.attention == "softmax" and arch.tokens == 1,
    "Theorem C": lambda arch: arch.attention == "lightning",
}
_PAPERS = ("Cor. 3.3", "Cor. 3.8", "Thm. 3.9")


def _verify_theorem(certificate: Certificate) -> Verification:
    arch, source = certificate.arch, certificate.source
    if source not in _HYPOTHESES:
        return Verification(False, f"no statement is called {source!r}")
    if not _HYPOTHESES[source](arch):
        return Verification(False, f"the hypotheses of {source} do not hold for {arch}")
    if certificate.data["status"] != ("proved" if source in _PAPERS else "proved here"):
        return Verification(False, f"{source} has another status than {certificate.data['status']!r}")
    count = _count_another_way(arch)
    if count != certificate.dimension:
        return Verification(False, f"{source} gives {count}, not {certificate.dimension}")
    return Verification(True, f"hypotheses of {source} hold; the count by codimensions is {count}")


def _count_another_way(arch: Architecture) -> int:
    """The general formula by codimensions, with the effective widths as minima over all later layers.

    w_{i−1} = min over k ≥ i − 1 of r_k + Σ_{i ≤ j ≤ k} 2 min(a_j, r_{j−1}), with r_l replaced by d_l;
    matrices of rank ≤ a have codimension (w − a)₊² in w², their symmetric parts (w − 2a)₊(w − 2a + 1)/2.
    """
    d, a, depth = arch.widths, arch.head_dims, arch.num_layers
    if arch.attention == "softmax" and arch.tokens == 1:
        r = min(d)
        return d[0] * d[-1] - (d[0] - r) * (d[-1] - r)
    r = [min(d[: i + 1]) for i in range(depth)] + [d[-1]]
    seen = []
    for i in range(depth + 1):
        reach, best = 0, r[i]
        for k in range(i, depth):
            reach += 2 * min(a[k], r[k])
            best = min(best, r[k + 1] + reach)
        seen.append(best)
    seen[0] = d[0]
    total, parallel = 0, arch.tokens == 1
    for i in range(depth):
        w = seen[i]
        if arch.attention == "lightning" and parallel:
            gap = max(0, w - 2 * a[i])
            total += w * (w + 1) // 2 - gap * (gap + 1) // 2
        else:
            total += w * w - max(0, w - a[i]) ** 2
        parallel = parallel or min(a[i], w) == 1
        out = seen[i + 1]
        total += out * w - (out * out if i < depth - 1 else 0)
    return total - (depth if arch.attention == "lightning" else 0)


# By an exact rank that meets an upper bound


class _Recording:
    """A prime field that remembers the attention weights it drew."""

    def __init__(self, over: PrimeField) -> None:
        self._over, self.drawn = over, []

    def __getattr__(self, name: str) -> object:
        return getattr(self._over, name)

    def softmax(self, logits: np.ndarray, symmetric: bool, rng: np.random.Generator) -> np.ndarray:
        self.drawn.append(self._over.softmax(logits, symmetric, rng))
        return self.drawn[-1]


def _by_rank(arch: Architecture, seed: int) -> Certificate:
    over = PrimeField(DEFAULT_PRIME)
    across = gauge_slice(arch)
    columns, bound = across.num_free, "symmetries"
    theory = general_formula(arch).value
    for rng in np.random.default_rng([seed, over.p, 10]).spawn(3):
        weights = across.weights(over, rng)
        inputs = columns + _SPARE_ROWS
        X = random_tokens(over, across.reduced, inputs, rng)
        cotangents = over.random(rng, (inputs, 1, arch.widths[-1], arch.tokens))
        recording = _Recording(over)
        rows = jacobian(recording, arch.attention, weights, X, cotangents, rng)[:, 0, across.free]
        rank = exact_rank(rows, over)
        if rank in (columns, theory):
            break
    else:
        raise ValueError(
            f"the exact rank {rank} of {arch} meets no upper bound: the symmetries prove {columns}, "
            f"Theorem C and Corollary A {theory}; this route proves nothing here"
        )
    if rank < columns:
        bound = general_formula(arch).source
    softmax = arch.attention == "softmax"
    argument = (
        f"rank {rank} at a point mod {over.p} is a lower bound of the generic rank"
        + (" (exponentials free by Ax's theorem)" if softmax else "")
        + f"; it meets the upper bound of {'the symmetries' if bound == 'symmetries' else bound}"
    )
    data = {
        "prime": over.p,
        "upper bound": bound,
        "weights": _whole_numbers(weights),
        "inputs": X.astype(int).tolist(),
        "functionals": cotangents[:, 0].astype(int).tolist(),
        "attention weights": [S.astype(int).tolist() for S in recording.drawn],
    }
    return Certificate(arch, rank, "exact rank", "The gauge slice, Exact rank", argument, data)


def _whole_numbers(weights: Weights) -> list:
    return [[matrix.astype(int).tolist() for matrix in layer] for layer in weights]


def _verify_rank(certificate: Certificate) -> Verification:
    """Forward differentiation along every free direction, and python-flint's elimination."""
    import flint

    arch, data = certificate.arch, certificate.data
    over = PrimeField(data["prime"])
    weights, free = _checked_slice(arch, _read_weights(data["weights"]))
    X, functionals = np.array(data["inputs"], dtype=float), np.array(data["functionals"], dtype=float)
    drawn = [np.array(S, dtype=float) for S in data["attention weights"]]
    if trouble := _attention_trouble(over, arch, drawn, X):
        return Verification(False, trouble)
    columns = []
    for direction in _directions(weights, free):
        moved = _tangent(over, arch.attention, weights, direction, X, drawn)
        columns.append(over.reduce(over.reduce(functionals * moved).sum(axis=(-2, -1))))
    matrix = np.array(columns).astype(int)
    rank = flint.nmod_mat(*matrix.shape, matrix.ravel().tolist(), over.p).rank()
    upper = len(columns) if data["upper bound"] == "symmetries" else _count_another_way(arch)
    if rank != certificate.dimension:
        return Verification(False, f"the rank at the stored point is {rank}, not {certificate.dimension}")
    if upper != certificate.dimension:
        return Verification(False, f"the upper bound is {upper}, not {certificate.dimension}")
    return Verification(
        True, f"rank {rank} mod {over.p} found again, forward; it meets the upper bound {upper}"
    )


def _read_weights(stored: list) -> Weights:
    return tuple(Layer(*(np.array(matrix, dtype=float) for matrix in layer)) for layer in stored)


def _checked_slice(arch: Architecture, weights: Weights) -> tuple[Weights, list[Place]]:
    """The stored weights, if they lie on the slice, and its free places (layer, matrix, row, column).

    The slice of "The gauge slice", built again: K = [1 | K′], V = [1 | V′] before the last layer, and for
    lightning one entry of Q.
    """
    d, depth = arch.widths, arch.num_layers
    r = [min(d[: i + 1]) for i in range(depth)] + [d[-1]]
    free = []
    for i, (Q, K, V) in enumerate(weights):
        a = min(arch.head_dims[i], r[i])
        if (Q.shape, K.shape, V.shape) != ((a, r[i]), (a, r[i]), (r[i + 1], r[i])):
            raise ValueError(f"layer {i + 1} has other shapes than the slice")
        if (K[:, :a] != np.eye(a)).any() or (i < depth - 1 and (V[:, : r[i + 1]] != np.eye(r[i + 1])).any()):
            raise ValueError(f"layer {i + 1} does not lie on the slice")
        for m, matrix in enumerate((Q, K, V)):
            for row, column in np.ndindex(matrix.shape):
                held = (m == 1 and column < a) or (m == 2 and i < depth - 1 and column < r[i + 1])
                held = held or (m == 0 and arch.attention == "lightning" and row == column == 0)
                if not held:
                    free.append((i, m, row, column))
    if len(weights) != depth:
        raise ValueError(f"{len(weights)} layers are stored, of {depth}")
    return weights, free


def _directions(weights: Weights, free: list[Place]):
    """One direction of weight space for each free entry."""
    for i, m, row, column in free:
        matrices = [[np.zeros(matrix.shape) for matrix in layer] for layer in weights]
        matrices[i][m][row, column] = 1
        yield tuple(Layer(*layer) for layer in matrices)


def _attention_trouble(over: PrimeField, arch: Architecture, drawn: list[np.ndarray], X: np.ndarray) -> str:
    """Why stored attention weights are none, or ""; columns sum to 1, and on a line cycles close."""
    if arch.attention == "lightning":
        return "" if not drawn else "lightning has no attention weights of its own"
    shape = (len(X), arch.tokens, arch.tokens)
    if len(drawn) != arch.num_layers or any(S.shape != shape for S in drawn):
        return f"each layer needs attention weights of shape {shape}"
    for i, S in enumerate(drawn):
        if (over.reduce(S.sum(axis=-2) - 1) != 0).any():
            return f"attention weights of layer {i + 1} do not sum to 1"
        if min(arch.widths[: i + 1]) == 1:  # logits are symmetric: so are the exponentials
            there = over.reduce(S[:, :, :, None] * S[:, None, :, :])  # S_ji S_ik
            around = over.reduce(there * np.swapaxes(S, 1, 2)[:, :, None, :])  # … S_kj
            if (around != np.swapaxes(around, 1, 2)).any():  # the same way back
                return f"attention weights of layer {i + 1} do not come from symmetric exponentials"
    return ""


def _tangent(
    over: PrimeField,
    attention: str,
    weights: Weights,
    direction: Weights,
    X: np.ndarray,
    drawn: list[np.ndarray],
) -> np.ndarray:
    """How the outputs move when the weights move along a direction: the derivative, forward.

    Y = V X S,  Ẏ = V̇ X S + V Ẋ S + V X Ṡ,  ż = Ẋᵀ A X + Xᵀ Ȧ X + Xᵀ A Ẋ, and Ṡ = ż (lightning) or
    S_ji (ż_ji − Σ_k S_ki ż_ki).
    """
    mul, red = over.matmul, over.reduce
    moved = np.zeros(X.shape)
    for i, ((Q, K, V), (dQ, dK, dV)) in enumerate(zip(weights, direction, strict=True)):
        A, dA = mul(K.T, Q), red(mul(dK.T, Q) + mul(K.T, dQ))
        XT, movedT = np.swapaxes(X, -1, -2), np.swapaxes(moved, -1, -2)
        dz = red(mul(movedT, mul(A, X)) + mul(XT, mul(dA, X)) + mul(XT, mul(A, moved)))
        if attention == "softmax":
            S = drawn[i]
            dS = red(S * red(dz - red(S * dz).sum(axis=-2, keepdims=True)))
        else:
            S, dS = mul(XT, mul(A, X)), dz
        XS = mul(X, S)
        moved = red(mul(dV, XS) + mul(V, red(mul(moved, S) + mul(X, dS))))
        X = mul(V, XS)
    return moved


# By ball arithmetic


def _by_ball(arch: Architecture, seed: int) -> Certificate:
    import flint

    across = gauge_slice(arch)
    n = across.num_free
    rng = np.random.default_rng([seed, 11])
    weights = tuple(Layer(*(_short(matrix) for matrix in layer)) for layer in across.weights(Reals(), rng))
    X = _short(rng.standard_normal((n, arch.widths[0], arch.tokens)))
    shape = (n, arch.widths[-1], arch.tokens)
    functionals = rng.choice([-1, 1], shape) * rng.integers(1, 4, shape)
    precision = flint.ctx.prec
    try:
        for bits in _BITS:
            flint.ctx.prec = bits
            B = ball_jacobian(arch.attention, weights, across.free, X, functionals)
            if proved_invertible(B, n):
                break
        else:
            raise ValueError(
                f"{_BITS[-1]} bits do not prove a rank of {n} for {arch} at this point: "
                f"{'its dimension is smaller, ' if general_formula(arch).value < n else ''}"
                "so this route proves nothing here; try another seed or route"
            )
    finally:
        flint.ctx.prec = precision
    argument = (
        f"a square part of the Jacobian ({n} × {n}) at a rational point is invertible, by ball arithmetic "
        f"with {bits} bits, so the dimension is at least {n}; the symmetries prove that it is at most {n}. "
        "Ax's theorem is not used"
    )
    data = {
        "bits": bits,
        "weights": [[_texts(matrix) for matrix in layer] for layer in weights],
        "inputs": _texts(X),
        "functionals": functionals.tolist(),
    }
    return Certificate(arch, n, "ball", "Ball arithmetic, The gauge slice", argument, data)


def _short(x: np.ndarray) -> np.ndarray:
    """Numbers with few binary digits: floats, and exact."""
    return np.round(x * 64) / 64


def _texts(x: np.ndarray) -> list:
    """Nested lists of fractions as text."""
    return [_texts(part) for part in x] if np.ndim(x) else str(Fraction(float(x)))


def _verify_ball(certificate: Certificate) -> Verification:
    """Forward differentiation in balls, and the determinant by python-flint's own elimination."""
    import flint

    arch, data = certificate.arch, certificate.data
    weights = tuple(Layer(*(_as_floats(matrix) for matrix in layer)) for layer in data["weights"])
    weights, free = _checked_slice(arch, weights)
    X = _as_floats(data["inputs"])
    functionals = np.array(data["functionals"])
    n = len(free)
    if X.shape != (n, arch.widths[0], arch.tokens) or functionals.shape != (n, arch.widths[-1], arch.tokens):
        raise ValueError(f"{n} inputs and functionals are needed")
    if n != certificate.dimension:
        return Verification(False, f"the slice has {n} free entries, not {certificate.dimension}")
    precision, flint.ctx.prec = flint.ctx.prec, 2 * int(data["bits"])
    try:
        columns = [[flint.arb(0)] * n for _ in free]
        for row, (x, functional) in enumerate(zip(X, functionals, strict=True)):
            for column, moved in enumerate(ball_tangents(arch.attention, weights, free, x)):
                columns[column][row] = sum(
                    (int(s) * m for s, m in zip(functional.ravel(), moved.entries(), strict=True) if s),
                    flint.arb(0),
                )
        invertible = not flint.arb_mat(columns).det().contains(flint.arb(0))
    finally:
        flint.ctx.prec = precision
    if not invertible:
        return Verification(False, "at the stored point the determinant may be 0")
    return Verification(
        True, f"the determinant of the {n} × {n} matrix, found forward, is not 0; {n} free entries"
    )


def _as_floats(texts: list) -> np.ndarray:
    """Stored fractions as floats that are the same numbers; ValueError where floats would round."""
    numbers = np.vectorize(Fraction, otypes=[object])(np.array(texts))
    floats = numbers.astype(float)
    if (numbers != np.vectorize(Fraction, otypes=[object])(floats)).any():
        raise ValueError("a stored number is no short binary fraction")
    return floats
