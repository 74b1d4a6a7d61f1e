# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Find all weights that give one layer the same function
#
# *Section 3.1 of the paper. About 35 minutes. You need: rank, products of matrices, and
# [Matrix factorization](01_matrix_factorization.ipynb).*
#
# You will collect all weights of a layer that compute the same function, walk through them, step off them, and count
# from this how many functions one layer can express.

# %% [markdown]
# ## See a layer as its function sees it
#
# A layer of lightning attention maps the tokens, the columns of $X$, to
#
# $$\varphi(X) = V X X^\top A X, \qquad A = K^\top Q .$$
#
# In a head of full rank, all $Q, K$ with the same $A$ are $CQ,\ C^{-\top}K$ for an invertible $C$ (Lemma 3.1). So here we look at $A$ and $V$ only.

# %%
import numpy as np

import neuroviz as nv

rng = np.random.default_rng(0)
A, V = rng.standard_normal((2, 3, 3))
X = rng.standard_normal((3, 2))  # two tokens


def layer(A, V, X):
    return V @ X @ X.T @ A @ X


np.allclose(layer(2 * A, V / 2, X), layer(A, V, X))

# %% [markdown]
# $A$ and $V$ stand in the same product, so a factor can move from one to the other.
# <!-- check: np.allclose(layer(2 * A, V / 2, X), layer(A, V, X)) -->
# All pairs $(A, V)$ with one and the same function are called the **fibre** of that function.
#
# ## Take a small step
#
# All $(xA, yV)$ with numbers $x$ and $y$ are a plane. On the curve $xy = 1$ the function is the same. We stand on it, at $x = y = 1$, and take a
# straight step of length $\varepsilon = 0.001$:
#
# * *across* the curve, to $\bigl((1+\varepsilon)A,\ (1+\varepsilon)V\bigr)$. It moves the outputs by two thousandths of their size;
# * *along* the curve, in the direction of its tangent, to $\bigl((1+\varepsilon)A,\ (1-\varepsilon)V\bigr)$.
#
# By how much does the second step move the outputs?
#
# <!-- teacher (4 min): Take guesses before anybody multiplies out. This is the one place where the word tangent is worth the chalk. -->

# %%
e = 0.001
along = np.abs(layer((1 + e) * A, (1 - e) * V, X) / layer(A, V, X) - 1).max()
across = np.abs(layer((1 + e) * A, (1 + e) * V, X) / layer(A, V, X) - 1).max()

# %% jupyter={"source_hidden": true}
from neuroviz.lessons.teaching import predict

predict(
    "The step along the curve moves the outputs by 10ⁿ of their size. Which n?",
    round(np.log10(along)),
    wrong={
        -3: "That is the size of the step. Multiply out (1 + ε)(1 − ε).",
        -9: "That would be ε³. Multiply out (1 + ε)(1 − ε).",
        6: "The outputs hardly move: n is negative.",
        3: "The outputs hardly move: n is negative.",
    },
)

# %% [markdown]
# <details><summary>Why? Open this when you have committed to a number.</summary>
#
# The outputs move by a millionth, since $(1+\varepsilon)(1-\varepsilon) = 1 - \varepsilon^2$: a change of *second order*. Across the curve
# $(1+\varepsilon)(1+\varepsilon)$ is near $1 + 2\varepsilon$: a change of *first order*.
# <!-- check: np.isclose(along, 1e-6) and np.isclose(across, 2e-3, rtol=1e-2) -->
#
# </details>

# %% [markdown]
# ## Walk along a fibre
#
# $A$ and $V$ have 18 entries, so their weights can move in 18 directions. In how many of them does the function stand still?
#
# In the panel below an input $X$ is pushed through the layer at the **start** and through the layer **now**. Take hold of the orange point: it is
# the layer now.
#
# <!-- teacher (6 min): Before the panel is moved, collect how many of the 18 directions are silent. The popular wrong answers are 0 (a function determines its weights) and 9 (all of one matrix). -->

# %% jupyter={"source_hidden": true}
from neuroviz.explorables import FiberExplorer
from neuroviz.lessons.wrong_answers import wrong_answers

predict(
    "18 directions. How many of them are silent, for random A and V?",
    2 * A.size - nv.measure_dimension(nv.Architecture((3, 3), (3,), tokens=2)).value,
    wrong={
        0: "A factor can move from A to V: (2A, V/2) has the same function.",
        2: "A factor can move from A to V. From V to A is the same direction, backwards.",
        9: "If V were free, for a given A, the outputs would not tell what V is. Try another V.",
        18: "Then every layer would have the same function.",
    },
    asks="fibre of a layer",
)

# %% jupyter={"source_hidden": true}
fibre = FiberExplorer(asks="fibre of a layer")
fibre

# %% [markdown]
# *What you see.* First comes the plane of all $(xA, yV)$: along each curve the product $xy$ is the same. Then come the weights, and the outputs as bars, black at the start: a green frame means that they are equal. The
# slider *walk along* sets the exponent of $c = 2^{\text{walk}}$ in $(cA, V/c)$. The last chart is for [the next section](#Read-the-orders-off-the-chart).
#
# * Drag the point along the curve (▶ walks it). What changes, and what does not? Does another input change the answer?
# * Drag it off the curve. What happens to the outputs?
#
# <details><summary>Answers</summary>
#
# The weights change, and the outputs stand still: the thick curve $xy = 1$ is the fibre, and the thin curves are other functions. As soon as the point leaves the curve, the outputs move. Of the 18 directions
# one is silent, that of the curve. No walk leads to the other arm of the curve: between the arms lies $c = 0$ in $(cA, V/c)$.
# <!-- check: 2 * A.size == 18 and dim((3, 3), (3,), tokens=2) == 2 * A.size - 1 -->
# <!-- check: "outputs are what they were" in shown(FiberExplorer)[1] and "outputs have moved" in shown(FiberExplorer, "off=0.3")[1] -->
#
# </details>

# %% [markdown]
# ## Read the orders off the chart
#
# The last chart of [the panel](#Walk-along-a-fibre) shows how far the outputs move after a straight step of any length. Its scales are logarithmic, so the
# order is the slope of a line: 1 for a step off the curve, 2 for a step along it. The curve is bent, so a straight step along it leaves it too, but only just.
# <!-- check: [round(curve.slope) for curve in (shown(FiberExplorer)[0].aside, shown(FiberExplorer)[0].along)] == [1, 2] -->
#
# The rescaling is the *only* direction in which nothing moves to first order: the only *silent* one (Lemma A.3 of the paper).

# %% [markdown]
# ## Go down to rank one
#
# Now let $A = u k^\top$ and $V = h v^\top$ have rank one. Written out for token $i$, the layer is
#
# $$\varphi(X)_i = \sum_j (u \cdot x_j)\,(k \cdot x_i)\,(v \cdot x_j)\; h .$$
#
# Each of the three vectors reads one number off a token: $u$ reads its key, $v$ its value, and $k$, in spite of the letter, its
# query. There are six ways to hand the three vectors to the three jobs.
#
# <!-- teacher (6 min): Vote on one to six. Six is popular, since the three vectors look alike; ask which of them meets x_i and which x_j. -->

# %% jupyter={"source_hidden": true}
from itertools import permutations

from neuroviz.lessons.checks_one_layer import RANK_ONE

u, k, v, h = RANK_ONE


def same_function(X):
    """How many permutations of u, k, v leave the outputs as they are."""
    before = layer(np.outer(u, k), np.outer(h, v), X)
    after = [
        layer(np.outer(a, b), np.outer(h, c), X) for a, b, c in permutations([u, k, v])
    ]
    return sum(np.allclose(one, before) for one in after)


predict(
    "How many of the six leave the function alone?",
    same_function(X),
    wrong={
        6: "Which of the three vectors meets the token x_i, and which meet x_j?",
        1: "That is the one that changes nothing. Two of the vectors have the same job.",
        3: "The vector that meets x_i has to stay. How many ways are left for the two others?",
        4: "The vector that meets x_i has to stay. How many ways are left for the two others?",
    },
)

# %% [markdown]
# <details><summary>Why? Open this when you have committed to a number.</summary>
#
# In the formula $u$ and $v$ play the same part, both meet $x_j$, and may change places. $k$ meets $x_i$ and may not.
# So two: leave all as it is, or swap $u$ and $v$.
# <!-- check: same_function(X) == 2 -->
#
# Press **rank one**, the first of the buttons that follow; they move [the panel](#Walk-along-a-fibre). The dashed curve is a second **branch** of the fibre, where $u$ and $v$ are swapped.
# (A hyperbola counts as *one* branch, with two arms. No walk leads to another arm or branch; but a factor $c < 0$ leads to the second arm,
# and no factor to the second branch.) Drag the point over to the dashed curve: the weights jump, and there the outputs are what they were.
# <!-- check: "outputs are what they were" in shown(FiberExplorer, buttons["rank one"] + ";swap=yes")[1] -->
#
# The second branch does not lie in the plane of the picture. You see its **shadow**, what falls straight down on the plane. Every point
# outside the plane is drawn so, and is hollow.
#
# </details>

# %% jupyter={"source_hidden": true}
from neuroviz.kit.presets import presets

buttons = {
    "rank one": "preset=rank-one;along=0.5",
    "u = v": "preset=rank-one;along=0.5;angle=0",
    "zero": "preset=zero;along=0",
}
presets(fibre, buttons)

# %% [markdown]
# Then press **u = v**. What changes in the plane? And how many silent directions does the text below the picture count?
#
# <details><summary>Answer</summary>
#
# With $u = v$ there is nothing to swap, and the two branches are one. But 1 silent direction has become 3:
# add $\varepsilon w$ to $u$ and take it off $v$. Where the product $(u \cdot x_j)(v \cdot x_j)$ was the square $(v \cdot x_j)^2$, it loses
# $\varepsilon^2 (w \cdot x_j)^2$, which is of second order for every $w$ in $\mathbb{R}^3$. At such a function the set of all functions of the layer ends, as [the next notebook](03_singular_locus.ipynb) shows.
# <!-- check: "3 of 18 directions are silent" in shown(FiberExplorer, buttons["u = v"])[1] -->
#
# </details>

# %% [markdown]
# ## Put the three cases together
#
# One function is left, $\varphi = 0$. Press **zero** and drag the point: $A$ shrinks until it is 0. There, and
# only there, the point may turn without leaving the fibre: then $A$ stays 0, and $V$ grows.
#
# <details><summary>Which fibres are there? Open this when you have seen all three.</summary>
#
# **Theorem 3.2.** Let $t \ge 2$. The pairs with the same function as $(A, V)$ are
#
# | case | the fibre | in the picture |
# | --- | --- | --- |
# | $A = 0$ or $V = 0$ | all pairs with $A' = 0$ or $V' = 0$ | a cross |
# | $A = u k^\top$, $V = h v^\top$ of rank one | $(cA, V/c)$, and $(c\,v k^\top, h u^\top / c)$ | two branches |
# | all others | $(cA, V/c)$, $c \ne 0$ | one curve |
#
# <!-- tested: test_fiber.py::test_the_fibre_has_the_points_of_the_theorem_and_no_others -->
# A short proof is in [One lightning layer](../docs/mathematics/one_lightning_layer.md#theorem-32-the-fibre-of-one-lightning-layer).
#
# </details>
#
# <!-- teacher (4 min): Cover the table, and let them name the case for three matrices of your choice. What usually goes wrong is the transpose: the swap exchanges u and v, never u and k. -->

# %% [markdown]
# ## Count the functions
#
# You know the fibres now. So you can count the functions of one layer.
#
# <!-- teacher (5 min): Two mistakes come every time: 20 forgets the basis of the head and 17 forgets the rescaling. Ask both groups what they subtracted. -->

# %% jupyter={"source_hidden": true}
arch = nv.Architecture(widths=(3, 3), head_dims=(2,), tokens=2)
predict(
    "21 parameters, d = d' = 3, a = 2, t = 2. How many dimensions?",
    nv.measure_dimension(arch),
    wrong=wrong_answers(arch),
)

# %% [markdown]
# <details><summary>What is subtracted, and for all sizes? Open this when you have committed to a number.</summary>
#
# $21 - 4 - 1 = 16$: the basis of the head costs $a^2 = 4$, the rescaling 1. This is the whole loss of one layer.
# <!-- check: arch.num_parameters == 21 and measured(arch) == 16 -->
#
# **Corollary 3.3** (Eq. 7 of the paper). For $t \ge 2$ the functions of one layer have dimension
#
# $$\alpha(a, d) + d d' - 1, \qquad \alpha(a, d) = a(2d - a) \text{ for } a \le d, \quad d^2 \text{ for } a > d .$$
# <!-- check: all(dim((d, e), (a,), tokens=2) == (a * (2 * d - a) if a <= d else d * d) + d * e - 1 for d in (1, 2, 3) for e in (1, 2, 3) for a in (1, 2, 3, 4)) -->
#
# A swap costs no dimension: two curves are as thin as one.
#
# </details>

# %% [markdown]
# ## Build one yourself
#
# Now find two weights with one function yourself, with numbers of your own. <!-- lab --> Below the verdict stands your own layer, $A$ and $V$ divided by their lengths. Where
# your second pair has its function, the point has walked there.<!-- end of lab -->

# %% jupyter={"source_hidden": true}
from neuroviz.lessons.checks_one_layer import check_second_branch
from neuroviz.lessons.exercise import exercise

exercise(
    "Give two layers, A with V and A2 with V2, that have the same function for two tokens or more, not 0, "
    "and that no rescaling connects. Sizes are up to you: A is d × d, V is d′ × d.",
    check_second_branch,
    difficulty=2,
    minutes=6,
)

# %% tags=["exercise"]
A_new, V_new = ..., ...
A2_new, V2_new = ..., ...
check_second_branch(A_new, V_new, A2_new, V2_new)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# Only rank one has a second branch. Take $u$, $k$, $v$ and $h$, and let $u$ and $v$ change places; a factor may move as well:
#
# ```python
# ones, twos, mixed, out = np.array([1, 1]), np.array([2, 1]), np.array([1, 3]), np.array([1])
# A_new, V_new = np.outer(ones, twos), np.outer(out, mixed)
# A2_new, V2_new = np.outer(mixed, twos) / 2, 2 * np.outer(out, ones)
# check_second_branch(A_new, V_new, A2_new, V2_new)
# ```
#
# </details>

# %% [markdown]
# Next: the set of all these functions, and [where it is singular](03_singular_locus.ipynb).

# %% [markdown]
# ## Further
#
# The course goes on without these parts.

# %% [markdown]
# ### Look with one token only
#
# All this needed a second token. With a single one, $\varphi(x) = (x^\top A x)\, V x$, and something of $A$ is hidden.

# %% jupyter={"source_hidden": true}
one, two = (
    nv.measure_dimension(nv.Architecture((3, 3), (3,), tokens=t)).value for t in (1, 2)
)
predict(
    "A has 9 dimensions. How many of them does one token not see?",
    two - one,
    wrong={
        0: "xᵀAx is a number, so it is its own transpose, xᵀAᵀx.",
        1: "A factor that moves to V is silent with two tokens as well. What is hidden from one token alone?",
        6: "6 of them it does see: those of A + Aᵀ.",
        9: "The number xᵀAx is in the output. What of A does it show?",
    },
)

# %% [markdown]
# <details><summary>Which ones? Open this when you have committed to a number.</summary>
#
# $x^\top A x$ is a number, so it equals $x^\top A^\top x$: only the **symmetric part** $\tfrac12(A + A^\top)$ counts. Hidden is the
# antisymmetric part, which for $3 \times 3$ matrices has 3 dimensions. Press **one token** below: the walk of [the panel](#Walk-along-a-fibre) then adds
# multiples of it to $A$. The walk leaves the plane of the picture at once, so its point is hollow and beside the curve, a shadow again;
# yet the outputs stand still. Then press **two tokens**.
# And all six permutations of $u, k, v$ leave the function alone, as $\varphi(x) = (u \cdot x)(k \cdot x)(v \cdot x)\,h$.
# <!-- check: two - one == 3 and same_function(X[:, :1]) == 6 -->
# <!-- check: "are what they were" in shown(FiberExplorer, tokens["one token"])[1] and "have moved" in shown(FiberExplorer, tokens["two tokens"])[1] -->
#
# </details>

# %% jupyter={"source_hidden": true}
tokens = {
    "one token": "tokens=1;walk=antisymmetric;along=1",
    "two tokens": "tokens=2;walk=antisymmetric;along=1",
}
presets(fibre, tokens)

# %% [markdown]
# ### Ask what a function tells about its weights
#
# Whatever differs between two points of a fibre cannot be read off the function. Here are six quantities of a layer with $d = 3$ and $a = 2$. Can they be read off? Write down
# yes or no for each.
#
# 1. an entry of $A$
# 2. a ratio of two entries of $A$
# 3. $V$ up to a factor
# 4. an entry of $A$ times one of $V$
# 5. the singular values of $Q$
# 6. the norm of $A$ times the norm of $V$
#
# <!-- teacher (5 min): Collect yes or no for each on the board. The answer is a number, so nobody can read off which. -->

# %%
layer_of_six = nv.Architecture(widths=(3, 3), head_dims=(2,), tokens=2)


def attention_matrix(weights):
    return weights["1.K"].T @ weights["1.Q"]


questions = {
    "an entry of A": lambda w: attention_matrix(w)[0, 1],
    "a ratio of two entries of A": lambda w: (
        attention_matrix(w)[0, 1] / attention_matrix(w)[0, 0]
    ),
    "V up to a factor": lambda w: w["1.V"] / w["1.V"][0, 0],
    "an entry of A times one of V": lambda w: (
        attention_matrix(w)[0, 1] * w["1.V"][0, 0]
    ),
    "the singular values of Q": lambda w: np.linalg.svd(w["1.Q"], compute_uv=False),
    "norm of A times norm of V": lambda w: (
        np.linalg.norm(attention_matrix(w)) * np.linalg.norm(w["1.V"])
    ),
}

# %% jupyter={"source_hidden": true}
answers = [
    nv.is_identifiable(layer_of_six, quantity).value for quantity in questions.values()
]
predict(
    "To how many of the six is the answer yes?",
    sum(answers),
    wrong={
        6: "What does (2A, V/2) do to an entry of A? And C to the rows of Q?",
        5: "Two are no: one changes along (cA, V/c), the other with the basis of the head.",
        3: "Go through them once more, with (cA, V/c) in mind: which products and ratios stay?",
        2: "Go through them once more, with (cA, V/c) in mind: which products and ratios stay?",
    },
)

# %% [markdown]
# <details><summary>Which ones? Open this when you have committed to a number.</summary>
#
# Not an entry of $A$, and not the singular values of $Q$; the other four can be read off. Entries change along the curve $(cA, V/c)$; ratios
# and products do not. The singular values of $Q$ change with the basis of the head.
# (The answers are about almost all weights and about small changes: a sign, such as that of $c$, is not asked for.)
# <!-- check: answers == [False, True, True, True, False, True] -->
#
# </details>

# %% [markdown]
# ### In practice
#
# * "Same outputs" in the panel means equal on 64 random inputs up to a billionth of their size. That these are *all*
#   weights is the theorem, and the badge names it.
# * What the function does not show can still be chosen. All $(c\,Q, c'K, V/cc')$ have one function, and weight decay prefers those with
#   $\lVert Q \rVert = \lVert K \rVert = \lVert V \rVert$: it pulls along the fibre.
