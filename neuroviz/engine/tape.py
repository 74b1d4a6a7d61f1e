"""Reverse differentiation over any field.

A `Tape` computes with arrays and records each step; `gradients` goes back through the
record. It knows the few operations that transformers are made of, so a layer is written
once, as its formula. It also counts degrees, which bound the probability that a random
point over F_p hides some of the rank.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from neuroviz.rank.field import Field

Pull = Callable[[np.ndarray], np.ndarray]
"""From the gradient of a result to that of a source, before what was broadcast is
summed."""


@dataclass(eq=False, slots=True)
class Node:
    """A value on a tape.

    Attributes:
        value: shape (N or 1, heads or 1, rows, columns): one matrix for each input and
            head.
        degree: a bound on the total degree of its entries in everything that was drawn
            at random.
        sources: the nodes it was computed from, each with its pull and the degree that
            this adds.
        moves: whether it depends on a parameter.
        in_pieces: whether it was `split`.
    """

    value: np.ndarray
    degree: int
    sources: tuple[tuple["Node", Pull, int], ...] = ()
    moves: bool = False
    in_pieces: bool = False


class Tape:
    """What is computed, in order, over a field.

    >>> from neuroviz.rank.field import Reals
    >>> tape = Tape(Reals())
    >>> w = tape.parameter(np.array([[2.0]]))
    >>> x = tape.constant(np.array([[[[3.0]]], [[[4.0]]]]))
    >>> y = tape.power(tape.matmul(w, x), 2)
    >>> (row,) = tape.gradients(y, np.ones((2, 1, 1, 1)), [w])
    >>> row.ravel(), tape.degree(y, [w])  # d(wx)²/dw = 2wx², and the cotangent counts
    (array([36., 64.]), 4)
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        self._nodes: list[Node] = []

    def parameter(self, value: np.ndarray) -> Node:
        """What is differentiated in: a matrix, or one for each head."""
        return self._note(value.reshape(1, -1, *value.shape[-2:]), 1, moves=True)

    def constant(self, value: np.ndarray, degree: int = 1) -> Node:
        """What is given: shape (N or 1, heads or 1, rows, columns), or a matrix."""
        return self._note(value.reshape((1,) * (4 - value.ndim) + value.shape), degree)

    def matmul(self, x: Node, y: Node) -> Node:
        """x y, matrix by matrix."""
        mul = self.field.matmul
        return self._bilinear(
            mul(x.value, y.value),
            (x, lambda g: mul(g, y.value.mT[:, None])),
            (y, lambda g: mul(x.value.mT[:, None], g)),
        )

    def inner_products(self, x: Node, y: Node) -> Node:
        """xᵀ y, matrix by matrix."""
        mul = self.field.matmul
        return self._bilinear(
            mul(x.value.mT, y.value),
            (x, lambda g: mul(y.value[:, None], g.mT)),
            (y, lambda g: mul(x.value[:, None], g)),
        )

    def times(self, x: Node, y: Node) -> Node:
        """x y, entry by entry."""
        reduce = self.field.reduce
        return self._bilinear(
            reduce(x.value * y.value),
            (x, lambda g: reduce(g * y.value[:, None])),
            (y, lambda g: reduce(g * x.value[:, None])),
        )

    def add(self, x: Node, y: Node) -> Node:
        """x + y; what has one column, or one head, is added to all."""
        total, same = self.field.reduce(x.value + y.value), lambda g: g
        return self._note(total, max(x.degree, y.degree), ((x, same, 0), (y, same, 0)))

    def power(self, x: Node, exponent: int) -> Node:
        """xᵉ, entry by entry."""
        reduce = self.field.reduce
        below, square, left = np.ones_like(x.value), x.value, exponent - 1
        while left:  # by squaring: the bits of e − 1
            if left % 2:
                below = reduce(below * square)
            square, left = reduce(square * square) if left > 1 else square, left // 2
        slope = reduce(reduce(np.array(float(exponent))) * below)
        pull = (x, lambda g: reduce(g * slope[:, None]), (exponent - 1) * x.degree)
        return self._note(reduce(below * x.value), exponent * x.degree, (pull,))

    def split(self, x: Node, pieces: Sequence[tuple[int, int]]) -> list[Node]:
        """The rows of x, cut into consecutive pieces, (heads, rows of each head); they
        cover all rows."""
        nodes, stop, x.in_pieces = [], 0, True
        pull = (x, lambda g: g.reshape(*g.shape[:2], 1, -1, g.shape[-1]), 0)
        for heads, rows in pieces:
            start, stop = stop, stop + heads * rows
            piece = x.value[:, :, start:stop].reshape(len(x.value), heads, rows, -1)
            nodes.append(self._note(piece, x.degree, (pull,)))
        return nodes

    def share(self, x: Node, heads: int) -> Node:
        """Each head of x for several in a row, until there are so many heads."""
        if (times := heads // x.value.shape[1]) == 1:
            return x

        def pull(g: np.ndarray) -> np.ndarray:
            groups = g.reshape(*g.shape[:2], -1, times, *g.shape[3:])
            return self.field.reduce(groups.sum(axis=3))

        repeated = np.repeat(x.value, times, axis=1)
        return self._note(repeated, x.degree, ((x, pull, 0),))

    def over_heads(self, x: Node) -> Node:
        """Σ over the heads."""
        heads = x.value.shape[1]
        if heads == 1:
            return x
        pull = (x, lambda g: np.broadcast_to(g, (*g.shape[:2], heads, *g.shape[3:])), 0)
        return self._note(
            self.field.reduce(x.value.sum(axis=1, keepdims=True)), x.degree, (pull,)
        )

    def softmax(self, logits: Node, shares: np.ndarray, degree: int) -> Node:
        """Columns that sum to one: their values are given, their derivative is that of
        a softmax.

        d S_ji = S_ji (d s_ji − Σ_k S_ki d s_ki)
        """
        reduce, S = self.field.reduce, shares[:, None]

        def pull(g: np.ndarray) -> np.ndarray:
            weighted = reduce(S * g)
            return reduce(weighted - S * reduce(weighted.sum(axis=-2, keepdims=True)))

        return self._note(shares, degree, ((logits, pull, 2 * degree),))

    def gradients(
        self, result: Node, cotangents: np.ndarray, parameters: Sequence[Node]
    ) -> list[np.ndarray]:
        """The derivative of linear functionals of the result in each parameter.

        The result has one head, shape (N, 1, rows, columns); cotangents, (N or 1, c,
        rows, columns), are c functionals for each input. Returned is an array (N, c,
        its entries) for each parameter.
        """
        parts: dict[Node, list[np.ndarray]] = {result: [cotangents[:, :, None]]}
        for node in reversed(self._nodes):
            if node.sources and node in parts:
                g = self._total(parts.pop(node), node)
                for source, pull, _ in node.sources:
                    if source.moves:
                        parts.setdefault(source, []).append(
                            self._fitted(pull(g), source)
                        )
        N, c = max(len(result.value), len(cotangents)), cotangents.shape[1]
        rows = []
        for parameter in parameters:
            shape = parameter.value.shape[1:]
            g = (
                self._total(parts[parameter], parameter)
                if parameter in parts
                else np.zeros((1, 1, *shape))
            )
            g = g if g.shape[:2] == (N, c) else np.broadcast_to(g, (N, c, *shape))
            rows.append(g.reshape(N, c, -1))
        return rows

    def degree(self, result: Node, parameters: Sequence[Node]) -> int:
        """A bound on the total degree of an entry of `gradients`, where cotangents are
        drawn at random."""
        degrees = {result: 1}
        for node in reversed(self._nodes):
            for source, _, more in node.sources if node in degrees else ():
                if source.moves:
                    degrees[source] = max(degrees.get(source, 0), degrees[node] + more)
        return max((degrees[p] for p in parameters if p in degrees), default=1)

    def _total(self, parts: list[np.ndarray], node: Node) -> np.ndarray:
        """The sum of the parts; those of a split node are its pieces, the last one
        first."""
        if node.in_pieces:
            return np.concatenate(parts[::-1], axis=-2)
        return (
            parts[0] if len(parts) == 1 else self.field.reduce(sum(parts[1:], parts[0]))
        )

    def _fitted(self, g: np.ndarray, node: Node) -> np.ndarray:
        """A gradient, summed over the heads, rows and columns that the node's value was
        broadcast to."""
        for axis in (1, 2, 3):
            if node.value.shape[axis] == 1 and g.shape[axis + 1] > 1:
                g = self.field.reduce(g.sum(axis=axis + 1, keepdims=True))
        return g

    def _note(
        self,
        value: np.ndarray,
        degree: int,
        sources: tuple[tuple[Node, Pull, int], ...] = (),
        moves: bool = False,
    ) -> Node:
        node = Node(
            value,
            degree,
            sources,
            moves or any([source.moves for source, _, _ in sources]),
        )
        self._nodes.append(node)
        return node

    def _bilinear(
        self, value: np.ndarray, left: tuple[Node, Pull], right: tuple[Node, Pull]
    ) -> Node:
        (x, to_x), (y, to_y) = left, right
        return self._note(
            value, x.degree + y.degree, ((x, to_x, y.degree), (y, to_y, x.degree))
        )
