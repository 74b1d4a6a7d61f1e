"""Gradient flow of one layer, by autograd and another solver, also in (Q, K)."""

import numpy as np
import torch
from scipy.integrate import solve_ivp


def forms_table(q1, q2):
    """The pair of forms aX² + bXY + cY² of d = 2, d′ = 1 as a table, shape (2, 1, 2,
    2)."""
    pair = [[float(c) for c in q] for q in (q1, q2)]
    return np.array([[[[a, b / 2], [b / 2, c]]] for a, b, c in pair])


def loss_of(target, *weights):
    """Half the squared distance of a layer, (A, V) or (Q, K, V), to a target table."""
    *head, V = weights
    A = head[0] if len(head) == 1 else head[1].T @ head[0]
    product = torch.einsum("ik,mj->kmij", A, V)
    symmetric = (product + product.transpose(-1, -2)) / 2
    return (symmetric - torch.tensor(target)).square().sum() / 2


def followed(target, starts, times):
    """Where one run of θ̇ = −∇ loss is at each time: of each weight, an array whose
    first axis are the times."""
    cuts = np.cumsum([part.size for part in starts])[:-1]

    def split(z):
        pieces = np.split(z, cuts)
        return [
            piece.reshape(part.shape)
            for part, piece in zip(starts, pieces, strict=True)
        ]

    def velocity(_time, z):
        leaves = [torch.tensor(piece, requires_grad=True) for piece in split(z)]
        grads = torch.autograd.grad(loss_of(target, *leaves), leaves)
        return -np.concatenate([grad.numpy().ravel() for grad in grads])

    path = solve_ivp(
        velocity,
        (times[0], times[-1]),
        np.concatenate([part.ravel() for part in starts]),
        t_eval=times,
        rtol=1e-9,
        atol=1e-11,
    ).y.T
    return [np.stack(parts) for parts in zip(*map(split, path), strict=True)]
