# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Take the proofs apart
#
# *Theorems [A](../../docs/mathematics/softmax.md), [B](../docs/softmax_uniqueness.md) and [C](../docs/lightning_dimension.md), and [Lemma D](../../docs/mathematics/general_formula.md). About 70 minutes. You need: rank, determinants, and the notebooks [04](../../notebooks/04_deep_dimension.ipynb) and [05](../../notebooks/05_softmax_conjecture.ipynb).*
#
# Three theorems stand behind the numbers of this course: Theorem C gives the dimension of every lightning network, Theorems A and B prove Conjecture 3.10 for softmax. They are ours and **not peer-reviewed**. So do not believe them. Here are their ideas, with pictures in which each hypothesis can be broken; every line is in [the mathematics](../../docs/mathematics/index.md).

# %%
import numpy as np

import neuroviz as nv

# %% jupyter={"source_hidden": true}
from neuroviz.deep.span import measure_span
from neuroviz.explorables import ProofExplorer
from neuroviz.lessons.checks_deep import check_meeting, check_unseen
from neuroviz.lessons.exercise import exercise
from neuroviz.lessons.teaching import predict
from neuroviz_beyond.explorables import FlagExplorer, SearchExplorer, SingletonExplorer

# %% [markdown]
# ## Lightning: not more
#
# Take the lightning network with widths 9, 8, 9, 1 and $a = 2, 2, 1$. It has 239 parameters and 87 dimensions. A proof has two halves: *not more*, and *not fewer*.
# <!-- check: A((9, 8, 9, 1), (2, 2, 1)).num_parameters == 239 and dim((9, 8, 9, 1), (2, 2, 1)) == 87 -->
#
# The function depends on the virtual weights only. So ask what later layers use. After layer 2 the tokens have 9 coordinates and live in a space of 8 dimensions. $L$ has a single row, and takes one number from each token. $M_3 = k q^\top$ has rank one, and takes two: $k \cdot x$ and $q \cdot x$.
#
# <!-- teacher (8 min): Build the columns of the picture from right to left by hand. The usual slip is to add a, and not 2a, for a layer: it has keys and queries. -->

# %% jupyter={"source_hidden": true}
net = nv.Architecture(widths=(9, 8, 9, 1), head_dims=(2, 2, 1), tokens=2)
predict(
    "Of the 9 dimensions after layer 2, how many does anything later look at?",
    measure_span(net, 2),
    wrong={
        9: "That is the width. Only L and M₃ come later: how many numbers do they take?",
        8: "So many arrive. How many of them do L and M₃ look at?",
        2: "L has one row and takes a number, M₃ takes k·x and q·x. Add them up.",
        1: "That is what L takes. M₃ looks at the same tokens.",
    },
)

# %% [markdown]
# Each width is a column of cells, one for each dimension. A cell has the name of who looks at it, or it is *unseen*, or *empty* if no token ever reaches it.

# %% jupyter={"source_hidden": true}
FlagExplorer(
    state="widths=5,3,4;head_dims=2,2",
    presets={
        "5, 3, 4": "",
        "2, 4, 2": "widths=2,4,2;head_dims=2,2",
        "9, 8, 9, 1": "widths=9,8,9,1;head_dims=2,2,1",
        "9, 8, 9, 1, larger last head": "widths=9,8,9,1;head_dims=2,2,3",
    },
)

# %% [markdown]
# **The rule.** Let $r_i = \min(d_0, \dots, d_i)$. Later layers see of the tokens after layer $i$ a space of dimension $w_i$, where, backwards from $w_l = d_l$,
#
# $$w_{i-1} = \min\bigl(r_{i-1},\ w_i + 2\min(a_i, r_{i-1})\bigr), \qquad w_0 = d_0 .$$
#
# To choose virtual weights is to choose these spaces, one inside the other (a **flag**), then $L$, then each $M_i$ inside its space. The free choices add up (**Lemma D**) to
#
# $$D = \sum_{i=1}^{l-1} w_i (w_{i-1} - w_i) + d_l w_{l-1} + \sum_{i=1}^{l} \alpha(a_i, w_{i-1}) .$$
#
# The $l$ rescalings move $(L, M_1, \dots, M_l)$ and are silent, so there are at most $D - l$ dimensions.
# <!-- check: all(measure_span(net, i).value == w for i, w in ((1, 7), (2, 3))) -->
# <!-- check: nv.general_formula(net).value == measured(net) -->

# %% [markdown]
# ## Lightning: not fewer
#
# A rank can drop at a special point, and never jumps up there. So we may choose the most convenient weights: if only the $l$ rescalings are silent at *one* point, then nothing else is silent at almost all points.
#
# Take two tokens and an antisymmetric $M_1$. No token attends to itself now: $X^\top M_1 X$ is a number $\Delta = x_1^\top M_1 x_2$ times a quarter turn $J$. The first layer only scales and turns, and the others pass both on:
#
# $$X X^\top M_1 X = \Delta \cdot X J, \qquad \varphi(X) = \Delta^{3^{l-1}}\, F(X)\, J,$$
#
# where $F$ is the network without its first layer.
# <!-- check: np.allclose(network(X, L, M1, M2, M3), delta**9 * network(X, L, M2, M3) @ J) -->
#
# <!-- teacher (8 min): Two tokens only. Ask what a quarter turn does to XXᵀ before anybody computes. -->

# %%
rng = np.random.default_rng(0)
X, L, G, M2, M3 = rng.standard_normal((3, 2)), *rng.standard_normal((4, 3, 3))
M1, J = G - G.T, np.array([[0, 1], [-1, 0]])


def network(X, L, *Ms):
    for M in Ms:
        X = X @ (X.T @ M @ X)
    return L @ X


delta = X[:, 0] @ M1 @ X[:, 1]
np.allclose(network(X, L, M1, M2, M3), delta**9 * network(X, L, M2, M3) @ J)

# %% [markdown]
# **Peel lemma.** At such an $M_1$ (with $L \ne 0$, and no later $M_j$ antisymmetric) the silent directions are the rescaling of $M_1$ and those of $F$. <!-- tested: test_peeling.py::test_the_kernel_is_one_rescaling_and_the_kernel_of_the_rest -->
#
# <details><summary>The idea</summary>
#
# Let a direction be silent. The formula above turns this into one equation between polynomials in the two tokens, $\Delta \cdot \dot F(X) = DF(X)[XX^\top \dot M_1 X J]$. On tokens of one line $\Delta = 0$, and the right side says that $\dot M_1$ is antisymmetric as well. Then $X^\top \dot M_1 X$ is a number $\dot\Delta$ times $J$, and $\Delta$ divides $\dot\Delta \cdot F$. But $\Delta$ is a $2 \times 2$ determinant, which cannot be factored, and it does not divide $F$. So $\dot\Delta = c\,\Delta$ and $\dot M_1 = c M_1$: the rescaling.
#
# </details>
#
# Peel off layer after layer. Each costs one silent direction, the last one too (Lemma A.3 of the paper): $l$ in all. If some layer before the last has $\min(a_k, w_{k-1}) = 1$, it cannot be peeled; exactly then tokens become parallel, and later layers count with their symmetric parts.
#
# **Theorem C.** For two tokens or more the dimension is $D - l$, with symmetric parts in all layers after the first $k < l$ with $\min(a_k, w_{k-1}) = 1$. For one token it is $D - l$ with symmetric parts everywhere.

# %% jupyter={"source_hidden": true}
exercise(
    "Give a lightning network in which, after some layer, later layers look at fewer dimensions than arrive there.",
    check_unseen,
    difficulty=2,
    minutes=5,
)

# %% tags=["exercise"]
my_net = ...
check_unseen(my_net)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# Few outputs and a small last head: after layer 1 arrive 6 dimensions, and $1 + 2 \cdot 1 = 3$ are looked at.
#
# ```python
# my_net = nv.Architecture(widths=(6, 6, 1), head_dims=(2, 1))
# check_unseen(my_net)
# ```
#
# </details>

# %% [markdown]
# ## Softmax, Theorem A: no direction is silent
#
# **Theorem A.** Let $t \ge 2$, $L \ne 0$ and no $\mathrm{Sym}\,M_i = (M_i + M_i^\top)/2$ be 0. Then every direction $(\dot L, \dot M_1, \dots, \dot M_l)$ changes the function of the softmax network.
#
# So the dimension is $D$ (**Corollary A**), for every softmax network of two tokens or more; in a bottleneck $D$ is Eq. 16. [Notebook 05](../../notebooks/05_softmax_conjecture.ipynb) tells the proof: free the exponentials by Ax's theorem (**Lemma G**), freeze all layers but one. Here the experiments of the proof are counted, for two layers in two dimensions: each is a matrix, and its kernel is what it does not see. Make your own: drag the dot $(\mu, \nu)$ of a layer, or press a layer to freeze it.

# %% jupyter={"source_hidden": true}
ProofExplorer(
    state="experiment=frozen",
    presets={
        "all frozen": "",
        "only layer 1 free": "experiment=only-1",
        "only layer 2 free": "experiment=only-2",
        "Sym M₁ = 0": "symmetric=0",
        "L = 0": "size=0",
    },
)

# %% [markdown]
# Of 12 directions the experiments leave 8, then 4, then none. What goes wrong with the last two buttons?
# <!-- check: [e.so_far.kernel for e in shown(ProofExplorer)[0].experiments] == [8, 4, 0] and sum(m.size for m in (np.eye(2),) * 3) == 12 -->
#
# <details><summary>Answers</summary>
#
# An antisymmetric $M_1$ has $PQ = 1$ whatever the tokens are. Layer 1 cannot be frozen, two tokens meet in it, and the 4 entries of $M_2$ show nowhere. With $L = 0$ the output is 0, and the 8 entries of $M_1$ and $M_2$ are silent.
# <!-- check: [shown(ProofExplorer, state)[0].everything.kernel for state in ("symmetric=0", "size=0")] == [4, 8] -->
#
# </details>
#
# This is the negative control: a method that found 0 there would prove nothing. With three *different* tokens an antisymmetric $M_1$ hides nothing, so for $t \ge 3$ the theorem asks for more than it must.

# %% [markdown]
# ## Softmax, Theorem B: no other weights
#
# **Theorem B.** Under the same hypotheses, no other virtual weights $\theta' = (L', M')$ have the function of $\theta$.
#
# The exponentials of both networks are freed within the rational relations between their logits (the **Tower lemma**). There are three kinds of relations, and for each a setting in which one network collapses and the other does not:
#
# | $M_1'$ | relation | setting |
# | --- | --- | --- |
# | $\mathrm{Sym}\,M_1'$ is no rational multiple of $\mathrm{Sym}\,M_1$ | none | $P'Q' = 1$: tokens meet in one network only |
# | $\mathrm{Sym}\,M_1' = \rho\,\mathrm{Sym}\,M_1$, and $M_1' \ne \rho M_1$ | $P'Q' = (PQ)^\rho$ | $P' \to 0$: one saturates, the other stays |
# | $M_1' = \rho M_1$, $\rho \ne 1$ | $P' = P^\rho$, $Q' = Q^\rho$ | $\rho < 0$: one ends at $x_1$, the other at $x_2$; $\rho > 0$: a token runs away, and one network brings it all the way to its neighbour |
#
# So $M_1' = M_1$. Freeze both first layers, and go on with the networks behind them.
#
# <!-- teacher (12 min): Give each group one row of the table, and a board. ρ > 0 is the hard one. -->

# %% jupyter={"source_hidden": true}
SingletonExplorer(
    presets={
        "unrelated": "candidate=unrelated;travel=1",
        "same symmetric part": "travel=1",
        "negative": "candidate=negative;travel=1",
        "positive": "candidate=positive;travel=1",
        "another M₂": "candidate=other M₂;travel=1",
        "another M₂, Sym M₁ = 0": "candidate=other M₂;travel=1;symmetric=0",
    },
)

# %% [markdown]
# Take hold of a dot or a token with a ring, and drag it from the true exponentials to the end of the way. The last button breaks the hypothesis: two tokens have met before $M_2$ looks at them, and every $M_2$ gives the same function.
# <!-- check: shown(SingletonExplorer, "candidate=other M₂;symmetric=0")[0].ending.same and not shown(SingletonExplorer, "candidate=other M₂")[0].ending.same -->
# <!-- check: {c: shown(SingletonExplorer, "candidate=" + c)[0].case for c in ("unrelated", "same symmetric part", "negative", "positive")}
#      == {"unrelated": "A", "same symmetric part": "B2", "negative": "B1, ρ < 0", "positive": "B1, ρ > 0"} -->
#
# □ **Status: proved here**, using Ax's theorem. A causal mask has a proof of its own (**Theorem A′**), with weaker hypotheses.

# %% jupyter={"source_hidden": true}
exercise(
    "Give a 2 × 2 matrix M that is not antisymmetric, and two different tokens x₁ and x₂ "
    "that a softmax layer with this M makes equal.",
    check_meeting,
    difficulty=3,
    minutes=8,
)

# %% tags=["exercise"]
M_new = ...
my_x1, my_x2 = ..., ...
check_meeting(M_new, my_x1, my_x2)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# $PQ = 1$ says $\delta^\top M \delta = 0$ with $\delta = x_1 - x_2$. A symmetric part with both signs has such a $\delta$. For almost all other tokens it does not vanish.
#
# ```python
# M_new = [[1, 0], [0, -1]]
# my_x1, my_x2 = [2, 1], [1, 0]
# check_meeting(M_new, my_x1, my_x2)
# ```
#
# </details>

# %% [markdown]
# ## Attack them
#
# Look for a second set of weights: start somewhere, and move until the function is that of the given network. Begin with *lightning, rank one*: a layer with one output and $a = 1$, so $A = u k^\top$ and $V = h v^\top$ (Theorem 3.2 of the paper).

# %% jupyter={"source_hidden": true}
predict(
    "Its output is φ(X)ᵢ = Σⱼ (u·xⱼ)(k·xᵢ)(v·xⱼ) h. Up to rescaling, how many weights (A, V) have this function?",
    2,
    wrong={
        1: "Look at the sum: can you tell u from v?",
        3: "u and v meet the same token, and k another one. Who may change places?",
        6: "u and v meet the same token, and k another one. Who may change places?",
    },
    asks="second set of weights",
)

# %% [markdown]
# Each dot is a start: how far from the given weights it ended, and how far its function is from theirs. Does the search find what you said? Then choose, as **network**, softmax with one, two, three layers (some seconds each).

# %% jupyter={"source_hidden": true}
SearchExplorer(
    asks="second set of weights",
    presets={
        "lightning, rank one": "",
        "softmax, one layer": "case=softmax-1",
        "M₁ antisymmetric, two tokens": "case=softmax-turn",
    },
)

# %% [markdown]
# <details><summary>What did it find?</summary>
#
# Both solutions of the first network. For softmax most starts arrive, all of them at the given weights. With an antisymmetric $M_1$ and two tokens every start arrives somewhere else: $M_2$ can be anything.
# <!-- check: len(shown(SearchExplorer)[0].search.classes) == 2 and len(shown(SearchExplorer, "case=softmax-1")[0].search.classes) == 1 -->
#
# </details>
#
# A search that finds nothing proves nothing. But one that finds the second solution where there is one, and never where the theorem says that there is none, is a reason to go on reading.
#
# <details><summary>Where would you look for a gap?</summary>
#
# | the step | what could be wrong |
# | --- | --- |
# | Lemma D: what later layers see has dimension $w_i$ | vectors less generic than claimed; small widths |
# | special points: generic weights and the antisymmetric $M_1$ in one irreducible set | with two pieces the inequality says nothing |
# | Peel lemma: $\Delta$ does not divide $F$ | a special $F$ |
# | Lemma G: from linear to algebraic independence | the count of generators against the transcendence degree |
# | Tower lemma: the base point | a later logit that is not 0 where both first layers collapse |
# | Theorem B: three kinds of relations | one that was overlooked |
#
# More than 20,000 exact ranks, 320 exact kernels and 44,060 starts of the search agree; [the checks](../docs/checks.md#checks) are listed. A computation that agrees is no proof, and a proof that nobody else has read is not yet one that you should trust.
#
# </details>
#
# **Not proved here**: other normalisations than softmax; fibres of lightning networks with several heads, a mask, or an inner matrix of rank one. (Softmax with heads and skips has [a notebook of its own](transformers.ipynb).) Related: P. V. Konda's proof for one head, which covers other normalisations and special weights, and N. W. Henry's Lean developments for causal networks; both are in the [references](../../docs/mathematics/references.md). We claim no priority.
