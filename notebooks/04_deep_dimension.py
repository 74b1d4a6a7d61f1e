# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Count the functions a deep network can express
#
# *Section 3.3 of the paper. About 50 minutes. You need: rank, and the [first notebook](00_start.ipynb). Good to have: [02](02_single_layer_fibers.ipynb), a single layer.*
#
# You will change the weights of a deep network without changing its function, in three ways. You will add up what they cost, and predict the dimension. Then you will look for networks in which the obvious formula is wrong.

# %%
import numpy as np

import neuroviz as nv

# %% jupyter={"source_hidden": true}
from neuroviz.explorables import (
    HypothesesExplorer,
    LedgerExplorer,
    VirtualWeightsExplorer,
)
from neuroviz.lessons.checks_deep import check_wrong_pattern
from neuroviz.lessons.exercise import exercise
from neuroviz.lessons.teaching import predict
from neuroviz.lessons.wrong_answers import wrong_answers

# %% [markdown]
# ## See what a network uses of its weights
#
# A lightning layer is $V X\,(X^\top A X)$ with $A = K^\top Q$. Put a second layer behind it. It gets tokens $V_1 y$, where $y$ is a column of $X\,(X^\top A_1 X)$, and compares them:
#
# $$(V_1 y)^\top A_2\, (V_1 y') = y^\top (V_1^\top A_2 V_1)\, y' .$$
#
# It never uses $A_2$ alone, only $V_1^\top A_2 V_1$. For $l$ layers let $U_0 = I$ and $U_i = V_i \cdots V_1$. The function depends only on the **virtual weights** (Eq. 8 of the paper)
#
# $$L = U_l, \qquad M_i = U_{i-1}^\top A_i\, U_{i-1} \quad (i = 1, \dots, l).$$
#
# All $M_i$ act on the tokens of the input, and $L$ is applied once, at the end. For two layers:
# <!-- check: np.allclose(layer(L, M2, Y), layer(V2, A2, layer(V1, A1, X))) -->
#
# <!-- teacher (5 min): Do the case l = 2 on the board: V₁ moves into A₂ from both sides. -->

# %%
rng = np.random.default_rng(0)
X, A1, V1, A2, V2 = rng.standard_normal((5, 3, 3))


def layer(V, A, X):
    return V @ X @ (X.T @ A @ X)


L, M1, M2 = V2 @ V1, A1, V1.T @ A2 @ V1
Y = X @ (X.T @ M1 @ X)
np.allclose(layer(L, M2, Y), layer(V2, A2, layer(V1, A1, X)))

# %% [markdown]
# ## Change a basis that nobody sees
#
# Layer 1 can write its outputs in another basis: $C V_1$ instead of $V_1$, with an invertible matrix $C$. If the next layer undoes this, the function stays. Two layers have the six matrices $Q_1, K_1, V_1, Q_2, K_2, V_2$.
#
# <!-- teacher (5 min): Popular answers are 2 (only the V) and 6 (all). Ask which matrices read the tokens behind layer 1. -->

# %% jupyter={"source_hidden": true}
predict(
    "Layer 1 changes the basis of its outputs, and layer 2 undoes it. How many of the six matrices change?",
    4,
    wrong={
        2: "V₁ writes the tokens, and V₂ reads them. Which other matrices read them?",
        6: "Layer 1 reads the tokens of the input. Does their basis change?",
    },
    asks="basis between layers",
)

# %% [markdown]
# <details><summary>Which ones?</summary>
#
# $V_1$ becomes $CV_1$. Each matrix that reads the tokens after it is multiplied by $C^{-1}$: $Q_2C^{-1}$, $K_2C^{-1}$, $V_2C^{-1}$ (Eq. 9). These are four. $L$, $M_1$ and $M_2$ stay as they are.
#
# </details>
#
# In the picture are the two layers around the basis, and what the function depends on. Turn the ring of $C$: it rotates from −90° to 90°, a few of the invertible matrices that Eq. 9 allows. Which matrices move, and which stand still?
# <!-- check: np.allclose([shown(VirtualWeightsExplorer, f"along={t}")[0].C for t in (-1, 1)], [[[0, 1], [-1, 0]], [[0, -1], [1, 0]]]) -->

# %% jupyter={"source_hidden": true}
VirtualWeightsExplorer(
    state="along=0",
    only=["layers", "along"],
    presets={
        "two layers": "along=0.7",
        "four layers, basis in the middle": "layers=4;interface=middle;along=0.7",
    },
    asks="basis between layers",
)

# %% [markdown]
# Press **four layers, basis in the middle**. How many matrices move now? Layers 1 and 4 are not drawn. Does one of their matrices move?
#
# <details><summary>Answer</summary>
#
# Again four matrices move, as the title says, and none of layers 1 and 4. The basis lies between layers 2 and 3. Only the layer before it writes in it, and only the layer after it reads in it.
# <!-- check: sum(part.change > 1e-6 for part in shown(VirtualWeightsExplorer, "layers=4;interface=middle;along=0.7")[0].weights) == 4 -->
#
# </details>
#
# **Lemma 3.5.** Let all inner widths be $\delta \le d_0, d_l$, and let every $V_i$ have rank $\delta$. Then two networks with the same virtual weights differ, in their $A_i$ and $V_i$, only by such changes of basis.

# %% [markdown]
# ## Let L answer a factor
#
# The virtual weights still have some freedom. Multiply $M_1$ by 2. Then $L$ can be divided by some number, and the function stays. Every layer uses its input three times: for queries, keys and values.
#
# <!-- teacher (4 min): 8 is the popular wrong answer: one factor of 2 for each layer. Ask how often the second layer uses the tokens of the first, and how often the third uses those of the second. -->

# %% jupyter={"source_hidden": true}
predict(
    "Three layers, and M₁ is doubled. By what must L be divided?",
    2**9,
    wrong={
        2: "That is right for one layer. The second layer uses the doubled tokens three times.",
        9: "2 is multiplied nine times, for three times three: what number is that?",
        27: "The third layer uses the second one three times, and that one uses the first three times: how many factors of 2?",
        8: "The second layer uses the doubled tokens three times. How often does the third use those?",
    },
    asks="factor of L",
)

# %% [markdown]
# Drag the knob of $\lambda_1 M_1$: $L$ answers by itself, with a factor $\lambda_0$. The bars count in powers of two. With two layers, how many steps down is $\lambda_0$ for one step up of $\lambda_1$? And with four layers?

# %% jupyter={"source_hidden": true}
VirtualWeightsExplorer(
    state="view=rescale;layers=2;width=3;log_1=0;log_2=0;log_3=0;log_4=0",
    only=["layers", "log_1", "log_2", "log_3", "log_4"],
    presets={
        "two layers, λ₁ = 2": "log_1=1",
        "four layers, λ₁ = 2": "layers=4;log_1=1",
    },
    asks="factor of L",
)

# %% [markdown]
# **Eq. 13.** $L' = \lambda_0 L$ and $M_i' = \lambda_i M_i$ give the same function (if it is not zero) exactly when
#
# $$\lambda_0\, \lambda_1^{3^{l-1}} \lambda_2^{3^{l-2}} \cdots \lambda_{l-1}^{3}\, \lambda_l = 1 .$$
#
# In the weights of the layers this is the rescaling $(cA_i, V_i/c)$ of one layer, once for each layer.
# <!-- check: shown(VirtualWeightsExplorer, "view=rescale;layers=3")[0].exponents[0] == 3**2 -->

# %% [markdown]
# ## Add up
#
# Three layers of width $d = 4$ with head dimension $a = 4$ have $3 \cdot 3 \cdot 16 = 144$ parameters. Three families of *silent directions* cost dimensions:
# <!-- check: uniform(4, 4, 3).num_parameters == 144 -->
#
# * **inside a head** (*head bases* in the picture), $(CQ, C^{-\top}K)$ has the same $A$: $a^2$ directions a layer;
# * **between two layers** (*interfaces*), the basis: $d^2$ directions for each of the $l - 1$ places;
# * **along a layer** (*rescalings*), the factor: one direction for each layer.
#
# <!-- teacher (8 min): Collect the numbers on the board before the reveal. 144, 96 and 64 are typical; 64 forgets the three factors, 96 removes the bases in the heads and nothing else. Then let the room add up. -->

# %% jupyter={"source_hidden": true}
net = nv.Architecture.uniform(d=4, a=4, layers=3)
predict(
    "144 parameters. How many dimensions?",
    nv.measure_dimension(net),
    wrong=wrong_answers(net),
    asks="sum of a network",
)

# %% [markdown]
# The picture opens with the network of the first notebook. To see this one, press **three layers, a = 4**; or drag the edges $a_1$ and $a_2$ to 4, then press **+**.
# **▶** moves the weights along a family, there and back. Watch the output.

# %% jupyter={"source_hidden": true}
LedgerExplorer(
    only=["width", "head_dim", "layers"],
    presets={"three layers, a = 4": "layers=3;head_dim=4"},
    asks="sum of a network",
)

# %% [markdown]
# * What does each further layer cost?
# * Now <!-- lab --> drag **head dimension a** past **width d**.<!-- end of lab --><!-- page: drag the edge $a_1$ of a layer past 4, its width. --> The parameters go on growing. And the dimension?
#
# <details><summary>Answers</summary>
#
# The sum is $144 - 48 - 32 - 3 = 61$. For $d = a = 4$ each further layer costs 16 for its head, 16 for the basis before it, 1 for its factor. Past $a = d$ the dimension stands still: every $d \times d$ matrix is already some $K^\top Q$. A head then has $2ad - d^2$ silent directions, not $a^2$.
# <!-- check: measured(uniform(4, 4, 3)) == 61 and nv.kernel_ledger(uniform(4, 4, 3)).unexplained == 0 -->
# <!-- check: lost(uniform(4, 4, 4)) - lost(uniform(4, 4, 3)) == 16 + 16 + 1 -->
# <!-- check: measured(uniform(4, 6, 2)) == measured(uniform(4, 4, 2)) -->
# <!-- check: all(lost(uniform(4, a, 1)) == 2 * a * 4 - 4**2 + 1 for a in (5, 6, 8)) -->
#
# </details>
#
# That *nothing else* is lost is a theorem.
#
# **Corollary 3.8** (Eq. 14). Let the inner widths all be $\delta \ge 2$, no larger than $d_0$ and $d_l$. Let $2 \le a_i \le d_{i-1}$ and $t \ge 2$. Then
#
# $$\dim = \delta\,(d_0 + d_l - \delta) + \sum_{i=1}^{l} \alpha(a_i, d_{i-1}) - l, \qquad \alpha(a, d) = a(2d - a).$$
#
# The first term counts $L$, which has rank at most $\delta$. Each $\alpha$ counts one attention matrix, of rank at most $a_i$. The last term counts the factors. With all widths and heads $\delta$ this is $(l+1)\,\delta^2 - l$ dimensions for $3l\delta^2$ parameters: in a deep network about two of three directions are silent.
# <!-- check: [shown(LedgerExplorer, f"width={d};head_dim={d};layers=2")[0].ledger.dimension for d in (2, 3, 5)] == [(2 + 1) * d**2 - 2 for d in (2, 3, 5)] -->
# <!-- check: all(nv.expected_dimension(uniform(d, d, l)).value == (l + 1) * d**2 - l for d in (2, 3, 16) for l in (2, 3, 12)) -->
# <!-- check: 2.9 < uniform(64, 64, 96).num_parameters / nv.expected_dimension(uniform(64, 64, 96)).value < 3 -->
# <!-- check: all(nv.measure_dimension(n).value == nv.paper_formula(n).value for n in (A((5, 3, 4), (2, 2)), A((4, 2, 2, 3), (3, 2, 2)))) -->

# %% [markdown]
# ## Put the formula to the test
#
# Corollary 3.8 asks for $a_i \ge 2$. Is that a technicality? Take widths 3, 3, 3, three tokens, and a first layer with $a_1 = 1$, a second with $a_2 = 2$. Eq. 14, used anyway, says 20.
# <!-- check: nv.paper_formula(A((3, 3, 3), (1, 2))).value == 20 -->
#
# <!-- teacher (8 min): Everybody answers 20 here, as the text has just given the formula. This is wanted: a formula is only as good as its hypotheses. Then show the angles. -->

# %% jupyter={"source_hidden": true}
thin = nv.Architecture(widths=(3, 3, 3), head_dims=(1, 2), tokens=3)
predict(
    "Eq. 14, used anyway, says 20. What does the network say?",
    nv.measure_dimension(thin),
    wrong=wrong_answers(thin),
    asks="the formula put to the test",
)

# %% [markdown]
# Each cell of the map is a network with widths 3, 3, 3. Once you have guessed, it shows the exact rank minus Eq. 14, below that the exact rank, and why they differ (*rank 1*, *widens*, or *both*). With the map come the angles between the tokens of one random network, as they come in and after each layer.
#
# * What do the angles do for $a_1 = 1$, and for $a_1 = 2$?
# * What is lost if the *last* layer has rank one?
#
# **Press a cell, and its network plays**: tokens go from layer to layer, what a layer does not see of its $A$ fades, and the bar goes from the number of Eq. 14 to the exact one. A second press stops it, or plays it again.

# %% jupyter={"source_hidden": true}
where_it_stops = HypothesesExplorer(
    state="head_1=2;head_2=2;inner=3;outer=3;seed=4",
    presets={
        "a₁ = 1": "head_1=1;head_2=2;inner=3;outer=3;seed=4",
        "a₁ = 2": "head_1=2;head_2=2;inner=3;outer=3;seed=4",
        "a₂ = 1": "head_1=2;head_2=1;inner=3;outer=3;seed=4",
    },
    asks="the formula put to the test",
)
where_it_stops

# %% [markdown]
# <details><summary>Answers</summary>
#
# If $A_1 = k q^\top$ has rank one, token $i$ leaves the layer as $V_1 X X^\top k$ times the number $q^\top x_i$: all tokens are **parallel**; for $a_1 = 2$ they are not. A later layer compares a vector with multiples of itself, $g^\top A\, g$, and sees the symmetric part of $A$ only. For the 3, 3, 3 network 2 dimensions are missing: $\alpha(2, 3) = 8$ becomes 6. A *last* layer of rank one costs nothing, since no layer looks at its tokens.
#
# If all $a_i = 1$, nothing is missing: the matrices of rank one have as many dimensions as their symmetric parts.
# <!-- check: dim((3, 3, 3, 3), (1, 1, 1)) == nv.paper_formula(A((3, 3, 3, 3), (1, 1, 1))).value -->
# <!-- check: nv.paper_formula(A((3, 3, 3), (1, 2))).value - dim((3, 3, 3), (1, 2)) == 2 == 8 - 6 -->
# <!-- check: max(shown(HypothesesExplorer, "head_1=1;head_2=2;inner=3;outer=3;seed=4")[0].angles[1]) < 1e-6 < 1 < max(shown(HypothesesExplorer, "head_1=2;head_2=2;inner=3;outer=3;seed=4")[0].angles[1]) -->
# <!-- check: dim((3, 3, 3), (2, 1)) == nv.paper_formula(A((3, 3, 3), (2, 1))).value -->
#
# </details>
#
# A **single token** attends to itself: $x^\top A\, x$ sees the symmetric part of $A$ in every layer. For 3, 3, 3 with $a = 2, 2$ the formula says 23, and the network has 19.
# <!-- check: nv.paper_formula(A((3, 3, 3), (2, 2), 1)).value == 23 and dim((3, 3, 3), (2, 2), 1) == 19 -->
#
# **The general formula** (ours; [proved here](../docs/mathematics/general_formula.md), not peer-reviewed) covers every width, every head dimension and every number of tokens. It asks how much of each width later layers can see, and where the tokens become parallel. It is right in both cases, and where $\delta > d_0$ ([Further](#Further)).
# <!-- check: all(nv.general_formula(n).value == measured(n) for n in (thin, A((2, 4, 2), (2, 2)), A((3, 3, 3), (2, 2), 1))) -->

# %% [markdown]
# ## Build one yourself
#
# Not every network outside the hypotheses of Corollary 3.8 makes Eq. 14 wrong. <!-- lab --> Below the verdict stands your network, added up.<!-- end of lab -->

# %% jupyter={"source_hidden": true}
exercise(
    "Give a lightning network with two layers or more, none that this notebook shows, for which Eq. 14, used anyway, is wrong by 2 or more.",
    check_wrong_pattern,
    difficulty=1,
    minutes=5,
)

# %% tags=["exercise"]
# nv.Architecture(widths=(d0, d1, d2), head_dims=(a1, a2), tokens=t)
my_net = ...
check_wrong_pattern(my_net)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# For instance one token: each layer loses the antisymmetric part of $A$.
#
# ```python
# my_net = nv.Architecture(widths=(4, 4, 4), head_dims=(3, 3), tokens=1)
# check_wrong_pattern(my_net)
# ```
#
# </details>

# %% [markdown]
# Next: [what softmax changes](05_softmax_conjecture.ipynb). For more: [Unrolling](../beyond/notebooks/unrolling.ipynb) writes the network as one sum and reads weights off it, and [Proofs](../beyond/notebooks/proofs.ipynb) shows why the general formula is true.

# %% [markdown]
# ## Further
#
# The course goes on without these parts.

# %% [markdown]
# ### Let a network widen
#
# Let the inner layer be wider than the input: 2, 4, 2, with $a = 2, 2$. Eq. 14, used anyway, says 14.
# <!-- check: nv.paper_formula(A((2, 4, 2), (2, 2))).value == 14 -->
#
# <!-- teacher (4 min): Ask where the tokens live after a 4 × 2 matrix. Who answers 14 has counted coordinates in which nothing arrives. -->

# %% jupyter={"source_hidden": true}
wide = nv.Architecture(widths=(2, 4, 2), head_dims=(2, 2))
predict(
    "Widths 2, 4, 2 with a = 2, 2. Eq. 14 says 14. What does the network say?",
    nv.measure_dimension(wide),
    wrong=wrong_answers(wide),
)

# %% [markdown]
# After the first layer the tokens live in the image of a $4 \times 2$ matrix. Two of their four coordinates carry nothing new. This button turns [the map](#Put-the-formula-to-the-test) into one over the widths, with many such networks: those with $\delta > d_0$. Is Eq. 14 right in any of them?

# %% jupyter={"source_hidden": true}
from neuroviz.kit.presets import presets

presets(where_it_stops, {"a map over the widths": "inner=4;outer=4;over=widths"})

# %% [markdown]
# <details><summary>Answer</summary>
#
# In none of them. It is usually too large. For outer widths 1 and $\delta = 5$ it is too small: it says 0, and the network has 1 dimension, since it can still multiply by a number.
# <!-- check: all(dim((o, i, o), (2, 2)) != nv.paper_formula(A((o, i, o), (2, 2))).value for o in range(1, 6) for i in range(o + 1, 6)) -->
# <!-- check: (nv.paper_formula(A((1, 5, 1), (2, 2))).value, dim((1, 5, 1), (2, 2))) == (0, 1) -->
#
# </details>

# %% [markdown]
# ### Find a network that is mostly silent
#
# How small can a network be in which most directions are silent?

# %% jupyter={"source_hidden": true}
from neuroviz.lessons.checks_deep import check_mostly_silent

exercise(
    "Give a network with fewer than 30 parameters whose dimension is less than a third of them. Then find one with fewer parameters.",
    check_mostly_silent,
    difficulty=2,
    minutes=5,
)

# %% tags=["exercise"]
# nv.Architecture(widths=(d0, d1, d2), head_dims=(a1, a2), tokens=t)
my_small = ...
check_mostly_silent(my_small)

# %% [markdown] tags=["solution"]
# <details><summary>One of many answers</summary>
#
# Tokens on a line can only be multiplied by numbers, and all factors end up in one product: 14 parameters, dimension 1.
#
# ```python
# my_small = nv.Architecture(widths=(1, 3, 1), head_dims=(1, 1))
# check_mostly_silent(my_small)
# ```
#
# </details>

# %% [markdown]
# ### In practice
#
# * Do not compare two trained networks weight by weight. Compare $L$ and the $M_i$, up to one factor each.
# * An exact rank modulo a prime is never too large. `error_bound` says with what probability it is too small; where it is 0, the symmetries prove the number.
# * A skip connection ties the bases of all layers together, and that family of silent directions goes away ([Beyond the paper](../beyond/notebooks/beyond.ipynb)).
