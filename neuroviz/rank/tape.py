"""Reverse differentiation over any field.

A `Tape` computes with arrays and records each step; `gradients` goes back through the
record. So a network is written once, as its formula, and is differentiated in floats
and modulo a prime. It also counts degrees, which bound the probability that a random
point modulo a prime hides some of the rank.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.random import Generator

from neuroviz.rank.checks import whole_number
from neuroviz.rank.exponentials import INDEPENDENT, Exponentials
from neuroviz.rank.field import Field

Pull = Callable[[np.ndarray], np.ndarray]
"""From the gradient of a result to that of a source, before what was broadcast is
summed.

Gradients have one more axis than values, the second: one entry a functional."""


_BOUNDS_NOTHING = 2**60
"""Larger degrees are cut off here: that of 10,000 layers has 5,000 digits, and what is
above our primes bounds no probability anyway."""


class Source(NamedTuple):
    """A node that another one was computed from, and how gradients go back to it.

    Attributes:
        degree: that the pull adds.
        rows: the rows of the node that the gradient belongs to; None for all.
    """

    node: "Node"
    pull: Pull
    degree: int
    rows: slice | None = None


class _Part(NamedTuple):
    """What one of the results adds to a node's gradient."""

    gradient: np.ndarray
    rows: slice | None


_STEPS = (
    "matmul, inner_products, times, add, power, softmax, stack, rows, beside_identity "
    "and constant"
)
_NOT_THERE = (
    "exp, ReLU, GELU and other functions that are no polynomials cannot be computed "
    "modulo a prime; what can be is a function that calls `note`"
)


@dataclass(eq=False, slots=True)
class Node:
    """A value on a tape.

    Attributes:
        value: shape (N or 1, …, rows, columns): one for each input, or one for all.
        degree: a bound on the total degree of its entries in what was drawn at random.
        sources: what it was computed from.
        moves: whether it depends on a parameter.
    """

    value: np.ndarray
    degree: int
    sources: tuple[Source, ...] = ()
    moves: bool = False

    def _no_operator(self, other: object) -> NoReturn:
        del other
        raise TypeError(
            "nodes are computed with by their tape: tape.matmul(x, y) for x @ y, "
            "tape.times, tape.add, tape.power"
        )

    __matmul__ = __mul__ = __add__ = __sub__ = __truediv__ = __pow__ = _no_operator

    def __array_ufunc__(self, function: np.ufunc, *arguments: object) -> NoReturn:
        raise TypeError(
            f"numpy's {function.__name__} is no step of a tape, which has {_STEPS}: "
            f"{_NOT_THERE}"
        )

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"a node has no {name!r}: a tape computes with it, by {_STEPS}"
        )


def _check_nodes(*nodes: object) -> None:
    for node in nodes:
        if not isinstance(node, Node):
            raise TypeError(
                f"a tape computes with its nodes; got {type(node).__name__}: make it "
                "one by tape.constant, such as tape.constant(2 * np.eye(3)[None])"
            )


class Tape:
    """What is computed, in order, over a field.

    A step that is missing is a function that calls `note`.

    Args:
        field: what is computed with.
        rng: source of free exponentials; needed by `softmax` over a prime field only.
        rescales: whether `up_to_scale` divides by the norm.

    >>> from neuroviz.rank.field import Reals
    >>> tape = Tape(Reals())
    >>> w = tape.parameter(np.array([[2.0]]))
    >>> x = tape.constant(np.array([[[3.0]], [[4.0]]]))
    >>> y = tape.power(tape.matmul(w, x), 2)
    >>> (row,) = tape.gradients(y, np.ones((2, 1, 1, 1)), [w])
    >>> row.ravel(), tape.degree(y, [w])  # d(wx)²/dw = 2wx², and the cotangent counts
    (array([36., 64.]), 4)
    """

    def __init__(
        self, field: Field, rng: Generator | None = None, rescales: bool = False
    ) -> None:
        self.field = field
        self.nodes: list[Node] = []
        self.exponentials: list[Exponentials] = []  # of each softmax
        self._rng = rng
        self._rescales = rescales

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a tape has no {name!r}, but {_STEPS}: {_NOT_THERE}")

    # What is given

    def parameter(self, value: np.ndarray) -> Node:
        """Weights, in which is differentiated; the same for all inputs."""
        node = self.note(value[None], degree=1)
        node.moves = True
        return node

    def constant(self, value: np.ndarray, degree: int = 1) -> Node:
        """Numbers that stand still; their first axis is that of the inputs, of length 1
        or N."""
        if isinstance(value, Node):
            raise TypeError("a constant is an array; this is a node already")
        return self.note(value, degree)

    # What is computed

    def matmul(self, x: Node, y: Node) -> Node:
        """x y, matrix by matrix."""
        _check_nodes(x, y)
        matmul = self.field.matmul

        # d(x y) = dx y + x dy, so x gets g yᵀ and y gets xᵀ g. Here and below [:, None]
        # adds the axis of the functionals, which values lack.
        def to_x(g: np.ndarray) -> np.ndarray:
            return matmul(g, _turned(y.value)[:, None])

        def to_y(g: np.ndarray) -> np.ndarray:
            return matmul(x.value.mT[:, None], g)

        return self._bilinear(matmul(x.value, y.value), x, to_x, y, to_y)

    def inner_products(self, x: Node, y: Node) -> Node:
        """xᵀ y, matrix by matrix: all products of a column with a column."""
        _check_nodes(x, y)
        matmul = self.field.matmul

        # d(xᵀ y) = dxᵀ y + xᵀ dy, so x gets y gᵀ and y gets x g.
        def to_x(g: np.ndarray) -> np.ndarray:
            return matmul(y.value[:, None], _turned(g))

        def to_y(g: np.ndarray) -> np.ndarray:
            return matmul(x.value[:, None], g)

        return self._bilinear(matmul(x.value.mT, y.value), x, to_x, y, to_y)

    def times(self, x: Node, y: Node) -> Node:
        """x y, entry by entry."""
        _check_nodes(x, y)
        times = self.field.times

        def to_x(g: np.ndarray) -> np.ndarray:
            return times(g, y.value[:, None])

        def to_y(g: np.ndarray) -> np.ndarray:
            return times(g, x.value[:, None])

        return self._bilinear(times(x.value, y.value), x, to_x, y, to_y)

    def add(self, x: Node, y: Node) -> Node:
        """x + y; what has one column is added to all."""
        _check_nodes(x, y)
        total = self.field.add(x.value, y.value)
        sources = (Source(x, _same, 0), Source(y, _same, 0))
        return self.note(total, max(x.degree, y.degree), sources)

    def power(self, x: Node, exponent: int) -> Node:
        """xᵉ, entry by entry.

        Raises:
            ValueError: if the exponent e is not a whole number ≥ 1, and below 2⁵³.
        """
        _check_nodes(x)
        # It is a factor of the slope, and from 2⁵³ on a float loses its last digits.
        exponent = whole_number("exponent", exponent, most=2**53 - 1)
        times = self.field.times
        # d xᵉ = e xᵉ⁻¹ dx, and one more product with x makes the value of xᵉ⁻¹.
        below = self._power(x.value, exponent - 1)
        slope = times(below, self.field.reduce(np.array(float(exponent))))

        def pull(g: np.ndarray) -> np.ndarray:
            return times(g, slope[:, None])

        source = Source(x, pull, (exponent - 1) * x.degree)
        return self.note(times(below, x.value), exponent * x.degree, (source,))

    def _power(self, base: np.ndarray, exponent: int) -> np.ndarray:
        """By squaring: one step for each bit of the exponent."""
        result = np.ones_like(base)
        while exponent:
            if exponent % 2:
                result = self.field.times(result, base)
            exponent //= 2
            if exponent:
                base = self.field.times(base, base)
        return result

    def softmax(
        self,
        logits: Node,
        exponentials: Exponentials = INDEPENDENT,
        mask: np.ndarray | None = None,
    ) -> Node:
        """Columns that sum to one; d S_ji = S_ji (d s_ji − Σ_k S_ki d s_ki).

        Args:
            exponentials: the relations between the exponentials of these logits. To
                claim too few of them gives ranks that are too large.
            mask: True where row j is seen from column i.
        """
        _check_nodes(logits)
        if logits.value.shape[-2] > 1:  # a single share is 1
            self.exponentials.append(exponentials)
        field = self.field
        value = field.softmax(logits.value, exponentials.draw, mask, self._rng)
        shares = value[:, None]

        def pull(g: np.ndarray) -> np.ndarray:
            weighted = field.times(shares, g)
            sums = field.reduce(weighted.sum(axis=-2, keepdims=True))
            return field.reduce(weighted - shares * sums)

        # Two shares stand in the pull. The value has the degree of the draw, whatever
        # the logits are.
        source = Source(logits, pull, 2 * exponentials.degree)
        return self.note(value, exponentials.degree, (source,))

    # What only moves entries

    def stack(self, parts: Sequence[Node]) -> Node:
        """The rows of all parts, one below the other; what is the same for all inputs
        is repeated for each where other parts differ."""
        if not parts:
            raise ValueError("a stack needs one part or more")
        _check_nodes(*parts)
        count = max([len(part.value) for part in parts])
        values = []
        sources = []
        start = 0
        for part in parts:
            value = part.value
            if len(value) < count:
                value = np.broadcast_to(value, (count, *value.shape[1:]))
            values.append(value)
            stop = start + value.shape[-2]
            sources.append(Source(part, _take_rows(start, stop), 0))
            start = stop
        degree = max([part.degree for part in parts])
        return self.note(self.field.stack(values), degree, tuple(sources))

    def rows(self, x: Node, start: int, stop: int | None = None) -> Node:
        """Some consecutive rows of x; up to the last one if no end is given.

        Raises:
            ValueError: if x does not have these rows, or they are none.
        """
        _check_nodes(x)
        count = x.value.shape[-2]
        end = count if stop is None else stop
        if not 0 <= start < end <= count:
            raise ValueError(f"rows {start} to {end} of {count} rows")
        source = Source(x, _same, 0, slice(start, end))
        return self.note(x.value[..., start:end, :], x.degree, (source,))

    def beside_identity(self, entries: Node, shape: tuple[int, int], size: int) -> Node:
        """A matrix with an identity matrix of that size in its upper left corner.

        Args:
            entries: one vector: all other entries, row by row.
            shape: of the matrix.
        """
        _check_nodes(entries)
        rows, _ = shape

        def pull(g: np.ndarray) -> np.ndarray:
            beside = _in_a_row(g[..., :size, size:])
            if rows == size:  # most often
                return beside
            return np.concatenate([beside, _in_a_row(g[..., size:, :])], axis=-1)

        value = self.field.beside_identity(entries.value, shape, size)
        return self.note(value, entries.degree, (Source(entries, pull, 0),))

    def up_to_scale(self, x: Node) -> Node:
        """x, of which only the direction counts: the output is homogeneous in it.

        A factor for each input then multiplies all rows of the derivative that belong
        to the input, which changes no rank. Over the reals, where deep networks leave
        the range of floats, a tape may divide by the norm here.
        """
        if not self._rescales:
            return x
        axes = tuple(range(1, x.value.ndim))
        norm = np.linalg.vector_norm(x.value, axis=axes, keepdims=True)
        factor = 1 / np.where(norm > 0, norm, 1.0)
        # As a constant, so that the rows get this factor and nothing of its derivative.
        return self.times(x, self.constant(factor))

    # Backwards

    def gradients(
        self, result: Node, cotangents: np.ndarray, parameters: Sequence[Node]
    ) -> list[np.ndarray]:
        """The derivative of linear functionals of the result in each parameter.

        Args:
            cotangents: shape (N or 1, c, …, rows, columns): c functionals an input.

        Returns:
            An array of shape (N, c, number of entries) for each parameter.
        """
        parts: dict[Node, list[_Part]] = {result: [_Part(cotangents, None)]}
        # A node is recorded after its sources: backwards, all parts of its gradient are
        # there when its turn comes.
        for node in reversed(self.nodes):
            if not node.sources or node not in parts:
                continue
            g = self._total(parts.pop(node), node)
            for source, pull, _, rows in node.sources:
                if source.moves:
                    part = _Part(self._fitted(pull(g), source), rows)
                    parts.setdefault(source, []).append(part)
        count = max(len(result.value), len(cotangents))
        functionals = cotangents.shape[1]
        found = []
        for parameter in parameters:
            shape = (count, functionals, *parameter.value.shape[1:])
            if parameter in parts:
                g = self._total(parts[parameter], parameter)
            else:
                g = np.zeros((1,) * len(shape))
            if g.shape != shape:  # the same for all inputs, or nothing
                g = np.broadcast_to(g, shape)
            found.append(g.reshape(count, functionals, parameter.value.size))
        return found

    def degree(self, result: Node, parameters: Sequence[Node]) -> int:
        """A bound on the total degree of an entry of `gradients`, where cotangents are
        drawn at random, too."""
        degrees = {result: 1}  # of its cotangent
        for node in reversed(self.nodes):
            if node not in degrees:
                continue
            for source, _, more, _ in node.sources:
                if source.moves:
                    known = degrees.get(source, 0)
                    there = min(degrees[node] + more, _BOUNDS_NOTHING)
                    degrees[source] = max(known, there)
        return max((degrees.get(parameter, 0) for parameter in parameters), default=0)

    def note(
        self, value: np.ndarray, degree: int, sources: tuple[Source, ...] = ()
    ) -> Node:
        """Record a step: what came out, its degree, and how gradients go back."""
        moves = any([source.node.moves for source in sources])
        node = Node(value, min(degree, _BOUNDS_NOTHING), sources, moves)
        self.nodes.append(node)
        return node

    def _bilinear(
        self, value: np.ndarray, x: Node, to_x: Pull, y: Node, to_y: Pull
    ) -> Node:
        sources = (Source(x, to_x, y.degree), Source(y, to_y, x.degree))
        return self.note(value, x.degree + y.degree, sources)

    def _total(self, parts: list[_Part], node: Node) -> np.ndarray:
        """The sum of all parts of a node's gradient."""
        if len(parts) == 1 and parts[0].rows is None:  # most often
            return parts[0].gradient
        if _are_pieces(parts, node):
            pieces = [part.gradient for part in reversed(parts)]
            return np.concatenate(pieces, axis=-2)
        total = _on_all_rows(parts[0], node)
        for part in parts[1:]:
            total = self.field.add(total, _on_all_rows(part, node))
        return total

    def _fitted(self, g: np.ndarray, node: Node) -> np.ndarray:
        """A gradient, summed over the axes that the node's value was broadcast along.

        But for the first axis: one value for all inputs has a gradient for each.
        """
        if g.shape[2:] == node.value.shape[1:]:  # most often
            return g
        for axis in range(1, node.value.ndim):
            # The functionals come second, so a value's axis is one later in g.
            if node.value.shape[axis] == 1 and g.shape[axis + 1] > 1:
                g = self.field.reduce(g.sum(axis=axis + 1, keepdims=True))
        return g


def _are_pieces(parts: list[_Part], node: Node) -> bool:
    """Whether the parts are pieces of the node's rows, from the last to the first and
    without a gap: so gradients come back where `rows` has cut the node in order."""
    if parts[0].rows is None:
        return False
    count = len(parts[0].gradient)
    end = node.value.shape[-2]
    for part in parts:
        # A gradient may be the same for all inputs, and its first axis short.
        if part.rows is None or part.rows.stop != end or len(part.gradient) != count:
            return False
        end = part.rows.start
    return end == 0


def _on_all_rows(part: _Part, node: Node) -> np.ndarray:
    """The gradient, with zeros where it does not reach."""
    g = part.gradient
    if part.rows is None:
        return g
    whole = np.zeros((*g.shape[:-2], node.value.shape[-2], g.shape[-1]))
    whole[..., part.rows, :] = g
    return whole


def _same(g: np.ndarray) -> np.ndarray:
    return g


def _turned(values: np.ndarray) -> np.ndarray:
    """All matrices transposed, as a copy: a product takes up to twice as long with a
    right factor that is a transposed view."""
    return np.ascontiguousarray(values.mT)


def _in_a_row(g: np.ndarray) -> np.ndarray:
    """All entries of each matrix, row by row."""
    rows, columns = g.shape[-2:]
    return g.reshape(*g.shape[:-2], rows * columns)


def _take_rows(start: int, stop: int) -> Pull:
    def pull(g: np.ndarray) -> np.ndarray:
        return g[..., start:stop, :]

    return pull
