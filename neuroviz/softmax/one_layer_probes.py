"""What the values of a softmax layer at a few inputs tell of its weights, input by input.

The inputs are made in `one_layer_walk`; here their numbers are put together: Vb_k is a column of V in a basis
b_k, and xᵀAx, yᵀAx at basis vectors and their sums are the entries of A, once they are brought back to e_k.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neuroviz.engine.field import Field

SAME = 1e-8  # relative: two layers whose outputs on fresh tokens differ by less count as one function


@dataclass(frozen=True, eq=False)
class Probe:
    """One input, and the number that its output gives away.

    Attributes:
        place: (k,) where column k of V is read; (j, j), (j, k) where x = b_j, b_j ± b_k; counted from 0.
        x, y: the tokens that are on, as whole combinations of basis vectors, before scaling; y may be None.
        Y: what came out, (d', t).
        exponential: exp(xᵀAx/τ) or, with two tokens on, exp(yᵀAx/τ); None where V is read.
        logit: xᵀAx or yᵀAx of the tokens as they were put in; NaN where it was lost; None where V is read.
    """

    place: tuple[int, ...]
    x: np.ndarray
    y: np.ndarray | None
    Y: np.ndarray
    exponential: float | None = None
    logit: float | None = None


@dataclass(frozen=True, eq=False)
class Step:
    """A step of the walk: its inputs, and why it gives nothing here ("" where it works)."""

    probes: tuple[Probe, ...]
    dies: str


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of the weights on the way; NaN for what is not."""

    V: np.ndarray
    sym: np.ndarray
    A: np.ndarray


@dataclass(frozen=True, eq=False)
class ReadOff:
    """The weights of a layer, read off its values.

    Attributes:
        over: the field that the outputs live in.
        tokens: t.
        scale: how long the tokens were made.
        basis: columns b_k: e_k, or e_k plus another e_m where V e_k is 0 or nearly so.
        steps: V; one token on; two tokens on.
        mismatch: the largest difference between the function and the layer that was read, on fresh tokens and
            relative to the largest output; entries of A that could not be read are drawn at random for it.
            None over a prime field, where the weights themselves are compared.
    """

    over: Field
    tokens: int
    scale: float
    basis: np.ndarray
    steps: tuple[Step, Step, Step]
    mismatch: float | None = None

    @property
    def V(self) -> np.ndarray:
        """The value matrix, (d', d)."""
        return self._all.V

    @property
    def sym(self) -> np.ndarray:
        """(A + Aᵀ)/2, from the second step alone; NaN where nothing could be read."""
        return self._all.sym

    @property
    def A(self) -> np.ndarray:
        """The attention matrix, (d, d); NaN where nothing could be read."""
        return self._all.A

    @cached_property
    def _all(self) -> Known:
        return self.after(3)

    @property
    def is_layer(self) -> bool:
        """Whether the function is that of the layer that was read, on tokens not used before."""
        return self.mismatch is not None and self.mismatch < SAME

    def after(self, step: int) -> Known:
        """What is known after a step, 1 to 3.

        Raises:
            ValueError: if there is no such step.
        """
        if step not in (1, 2, 3):
            raise ValueError(f"the walk has the steps 1, 2 and 3; got {step!r}")
        values, squares_and_sums, pairs = (
            one.probes if number <= step else () for number, one in enumerate(self.steps, start=1)
        )
        basis, d = self.basis, len(self.basis)
        V = self.over.reduce(self.tokens * np.array([probe.Y[:, -1] for probe in values]).T) / self.scale
        # b_jᵀ Sym b_k and b_jᵀ A b_k
        sym, A = np.full((2, d, d), np.nan)
        for probe in squares_and_sums:
            j, k = probe.place
            if j == k:
                sym[k, k] = A[k, k] = probe.logit
            else:  # q(b_j ± b_k) = q(b_j) + q(b_k) ± 2 b_jᵀ Sym b_k
                sign = 1 if np.array_equal(probe.x, basis[:, j] + basis[:, k]) else -1
                sym[j, k] = sym[k, j] = sign * (probe.logit - sym[j, j] - sym[k, k]) / 2
        for probe in pairs:
            j, k = probe.place
            A[k, j] = probe.logit if np.array_equal(probe.y, basis[:, k]) else -probe.logit
        return Known(V, _from_basis(sym, basis) / self.scale**2, _from_basis(A, basis) / self.scale**2)


def _from_basis(table: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """The matrix A of a table b_jᵀAb_k, entry by entry, where some b_k are e_k + e_m, with one m.

    Only what an entry needs is asked for, so what is not known (NaN) does not spread.
    """
    added = basis - np.eye(len(basis))
    stronger, m = added.any(axis=0), int(np.argmax(added.any(axis=1)))
    if not stronger.any():
        return table
    found = table - np.where(stronger[:, None], table[[m]], 0.0) - np.where(stronger, table[:, [m]], 0.0)
    return found + np.where(np.outer(stronger, stronger), table[m, m], 0.0)
