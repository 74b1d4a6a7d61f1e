# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Unroll a network into one sum
#
# *Section 3.3 of the paper. About 40 minutes. You need: the notebook [Deep dimension](../../notebooks/04_deep_dimension.ipynb).*
#
# You will write a deep lightning network as one product and as one long sum, count its terms, turn a part of a term round so that terms cancel, and read weights off the function.

# %%
from itertools import product

import numpy as np

import neuroviz as nv
from neuroviz.lessons.checks_deep import check_rescaling
from neuroviz.lessons.exercise import exercise
from neuroviz.lessons.teaching import predict

# %% jupyter={"source_hidden": true}
from neuroviz_beyond.explorables import UnrollingExplorer

# %% [markdown]
# ## Write the network as one product
#
# With the virtual weights $L, M_1, \dots, M_l$ one layer is $X \mapsto XX^\top M X$. Put $G_0 = XX^\top$, and let $G_i$ be the same for the tokens after layer $i$. Then
#
# $$G_i = G_{i-1} M_i\, G_{i-1} M_i^\top G_{i-1}, \qquad \varphi(X) = L\, G_{l-1} M_l\, G_{l-2} M_{l-1} \cdots G_0 M_1\, X$$
#
# (Lemma 3.6, Eq. 10). Each $G$ contains the one before it three times. For two layers:
# <!-- check: np.allclose(L @ (G @ M1 @ G @ M1.T @ G) @ M2 @ G @ M1 @ X, network(X, L, M1, M2)) -->

# %%
rng = np.random.default_rng(0)
X, L, M1, M2 = rng.standard_normal((4, 3, 3))


def network(X, L, *Ms):
    for M in Ms:
        X = X @ (X.T @ M @ X)
    return L @ X


G = X @ X.T
np.allclose(L @ (G @ M1 @ G @ M1.T @ G) @ M2 @ G @ M1 @ X, network(X, L, M1, M2))

# %% [markdown]
# ## Multiply it out
#
# $G_0 = \sum_j x_j x_j^\top$ is a sum over tokens. Put this into the product. Between two neighbouring tokens there remains a number. For two layers, output token $i$ is
#
# $$\varphi(X)_i = \sum_{j_1, j_2, j_3, j_4} L x_{j_1} \cdot (x_{j_1}^\top M_1 x_{j_2})\,(x_{j_2}^\top M_1^\top x_{j_3})\,(x_{j_3}^\top M_2\, x_{j_4})\,(x_{j_4}^\top M_1\, x_i),$$
#
# where each $j$ runs through all tokens. Below, three tokens give the output token 1.
#
# <!-- teacher (6 min): Stop at two layers, and let them add up the places of three layers by themselves. The three in 3^l is mistaken for the number of tokens. -->

# %% jupyter={"source_hidden": true}
predict(
    "Two layers, four tokens: how many terms has one output token?",
    4 ** len(nv.unroll(2)),
    wrong={
        16: "Each of four places has a choice of four tokens, whatever the others chose.",
        81: "That would be three tokens: 3 to the number of places.",
        64: "Four tokens are chosen, not three: one at each j.",
    },
    asks="terms of the sum",
)

# %%
N1, N2 = X.T @ M1 @ X, X.T @ M2 @ X
total = sum(
    L @ X[:, j1] * N1[j1, j2] * N1[j3, j2] * N2[j3, j4] * N1[j4, 0]
    for j1, j2, j3, j4 in product(range(3), repeat=4)
)
np.allclose(total, network(X, L, M1, M2)[:, 0])

# %% [markdown]
# <details><summary>How many terms, and where is the three?</summary>
#
# $n = (3^l - 1)/2$ places have a choice of $t$ tokens each: 1, 4, 13, 40 places for $l = 1, 2, 3, 4$. So four tokens have $4^4 = 256$ terms in two layers, and three tokens $3^{13} = 1{,}594{,}323$ in three. The three in $3^l$ is not the number of tokens: a layer uses its input three times, as keys, queries and values.
# <!-- check: [len(nv.unroll(l)) for l in (1, 2, 3, 4)] == [1, 4, 13, 40] and 4**4 == 256 and 3**len(nv.unroll(3)) == 1594323 -->
#
# </details>
#
# **Which matrix stands where?** Write the place $k$ in base three. The number of zeros at its end says which layer: none is $M_1$, one is $M_2$, and so on. The last digit that is not zero says whether the matrix is transposed: 1 is no, 2 is yes (Eq. 12).
# <!-- check: np.allclose(total, network(X, L, M1, M2)[:, 0]) -->

# %%
[(k, np.base_repr(k, 3), *factor) for k, factor in enumerate(nv.unroll(2), start=1)]

# %% [markdown]
# The tree has $3^l$ copies of $X$ at the bottom. Below it stands one term: the tokens $j_1, j_2, \dots, i$, and between them the matrices, coloured by layer and hatched where transposed. Press a matrix or a node of the tree: which two tokens does it join?

# %% jupyter={"source_hidden": true}
UnrollingExplorer(
    asks="terms of the sum",
    presets={
        "place 3": "",
        "place 3, reflected": "reflect=yes",
        "M₂ antisymmetric": "reflect=yes;antisymmetric=yes",
        "three layers": "layers=3",
        "only y and x": "two_tokens=yes",
    },
)

# %% [markdown]
# * With three layers, how often does each of $M_1, M_2, M_3$ occur?
# * Which matrix stands at place 36 of four layers? Work it out first, then look.
#
# <details><summary>Answers</summary>
#
# Nine times, three times, once: $M_h$ or its transpose occurs $3^{l-h}$ times. In base three $36$ is $1100$: two zeros, so $M_3$. The last digit before them is 1, so it is not transposed.
# <!-- check: np.base_repr(36, 3) == "1100" and nv.unroll(4)[35][0] == 3 and not nv.unroll(4)[35][1] -->
# <!-- check: [sum(f[0] == h for f in nv.unroll(3)) for h in (1, 2, 3)] == [9, 3, 1] -->
#
# </details>

# %% [markdown]
# ## Turn a part of a term round
#
# Go back to place 3 of two layers, where $M_2$ stands, and drag the ring between the tokens down: the tokens around place 3 change their order, the first with the last. The numbers left and right of place 3 change places, because the matrices there are transposes of each other: $x^\top M_1 x' = x'^\top M_1^\top x$. Only the middle one changes, from $x^\top M_2\, x'$ to $x^\top M_2^\top x'$. One matrix of the term has been transposed. (Both ends of the window hold the same token, so that the links to the outside stay. This is the paper's Figure 4.)
#
# If $M_2$ is antisymmetric, the term and its mirror image add up to 0. All terms with $j_2 = i$ come in such pairs:
#
# <!-- teacher (6 min): Write the term as a chain on the board and turn the window over with a sheet of paper. -->

# %%
N2 = X.T @ (M2 - M2.T) @ X
pairs_up = [
    N1[j1, 0] * N1[j3, 0] * N2[j3, j4] * N1[j4, 0] * (L @ X[:, j1])
    for j1, j3, j4 in product(range(3), repeat=3)
]
np.abs(pairs_up).max(), np.abs(sum(pairs_up)).max()

# %% [markdown]
# The paper's proof of its main theorem cancels terms in this way.
# <!-- check: np.abs(sum(pairs_up)).max() < 1e-9 * np.abs(pairs_up).max() -->

# %% [markdown]
# ## Read the weights off the function
#
# Feed in two tokens $y$ and $x$. Of the output for $x$ keep only what is *linear in $x$*. In the sum, $x$ stands at the last place in any case, so it stands nowhere else: all of $j_1, \dots, j_n$ are $y$. **One** term is left,
#
# $$L y \cdot (y^\top M_1 y)^{3^{l-1}-1} \cdot \prod_{h \ge 2} (y^\top M_h\, y)^{3^{l-h}} \cdot (y^\top M_1 x)$$
#
# (Eq. 28; the button **only y and x**). Its direction is that of $Ly$, and it depends on $x$ as $y^\top M_1 x$ does. So ratios of weights can be read off from outputs alone. Here are a ratio of two entries of $M_1$, and the first column of $L$ up to a factor, each beside the truth:

# %%
e1, e2, e3 = np.eye(3)


def linear_part(y, x, step=1e-5):
    def output(s):
        return network(np.stack([y, s * x], axis=1), L, M1, M2)[:, 1]

    return (output(step) - output(-step)) / (2 * step)


print(linear_part(e1, e2)[0] / linear_part(e1, e1)[0], M1[0, 1] / M1[0, 0])
print(linear_part(e1, e2) / linear_part(e1, e2)[0], L[:, 0] / L[0, 0])

# %% [markdown]
# This fails if an $M_i$ is antisymmetric, since then $y^\top M_i y = 0$. And if $M_1 = u k^\top$ has rank one, the ratios say nothing about $u$.
# <!-- check: np.isclose(linear_part(e1, e2)[0] / linear_part(e1, e1)[0], M1[0, 1] / M1[0, 0]) -->
# <!-- check: np.allclose(linear_part(e1, e2) / linear_part(e1, e2)[0], L[:, 0] / L[0, 0]) -->
#
# **Theorem 3.7.** Let $l, t \ge 2$, $L \ne 0$, all $M_i$ of rank at least 2 and none of them antisymmetric. Then $(L', M')$ has the function of $(L, M)$ exactly when it is a rescaling of it (Eq. 13).
#
# With Lemma 3.5 this says all: in a bottleneck of full rank, weights with the same function differ by bases inside the heads, bases between the layers, and one factor for each layer. (What the functions satisfy, as equations, is the subject of [*Algebraic Invariants of Lightning Self-Attention*](https://arxiv.org/abs/2604.15632).)
#
# The hypotheses are needed. Here $M_1 = J$ is a quarter turn, which is antisymmetric, and the two layers change places:

# %%
J = np.array([[0.0, 1.0], [-1.0, 0.0]])
L2, B = rng.standard_normal((2, 2, 2))
X2 = rng.standard_normal((2, 3))
np.allclose(network(X2, L2, J, B), network(X2, L2 / np.linalg.det(B), B, J))

# %% [markdown]
# The function is the same, and no rescaling connects the weights. A short proof is in [Fibres that are not one orbit](../docs/fibres_not_one_orbit.md).
# <!-- check: np.allclose(network(X2, L2, J, B), network(X2, L2 / np.linalg.det(B), B, J)) -->

# %% [markdown]
# ## Build one yourself
#
# A rescaling has to come out exactly. Fractions are safest: after `from fractions import Fraction`, `Fraction(1, 3)` is a third.

# %% jupyter={"source_hidden": true}
exercise(
    "Three lightning layers. Give λ₀, λ₁, λ₂, λ₃, none of them 0 or 1, so that λ₀L, λ₁M₁, λ₂M₂, λ₃M₃ "
    "have the function of L, M₁, M₂, M₃.",
    check_rescaling,
    difficulty=2,
    minutes=5,
)

# %% tags=["exercise"]
factors = ...
check_rescaling(factors)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# $\lambda_0 \lambda_1^9 \lambda_2^3 \lambda_3 = 1$. Choose three, and the fourth follows:
#
# ```python
# from fractions import Fraction
#
# factors = (Fraction(1, 2**9 * 3**3 * 5), 2, 3, 5)
# check_rescaling(factors)
# ```
#
# </details>

# %% [markdown]
# **On your own.** Fix $\lVert M_1 \rVert, \dots, \lVert M_l \rVert$. How many real points $(L, M_1, \dots, M_l)$ have the same function, under the hypotheses of Theorem 3.7?
#
# <details><summary>Answer</summary>
#
# Each $\lambda_i$ is $1$ or $-1$, for $i = 1, \dots, l$, and $\lambda_0$ follows from them: $2^l$ points.
#
# </details>
