# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Count the functions a deep attention network can express
#
# *Section 3.3 of the paper. About 40 minutes. You need: rank, and the [first notebook](00_start.ipynb).*
#
# You will predict the dimension of a deep network from its sizes, measure it exactly, and find two places where
# the obvious formula breaks, one layer of rank one and a network that widens, and one where a measurement does: too few inputs.

# %%
import neuroviz as nv
from neuroviz.explorables import DimensionExplorer
from neuroviz.teaching import predict

# %% [markdown]
# ## Parameters are not dimensions
#
# Stack $l$ lightning layers, all of width $d$, with head dimension $a = d$. Each has $3d^2$ parameters.
# Here is $d = 4$, $l = 3$:

# %%
net = nv.Architecture.uniform(d=4, a=4, layers=3)
net.num_parameters

# %% [markdown]
# How many independent ways are there to change its function? Before any theory, an estimate:

# %%
predict("144 parameters. How many dimensions?", nv.measure_dimension(net))

# %% [markdown]
# Three things can be done to these weights without any effect on the function:
#
# * **inside a head**, replace $Q, K$ by $CQ,\ C^{-\top}K$: only $A = K^\top Q$ matters. That is $a^2$ directions a layer;
# * **between two layers**, let layer $i$ hand on $C X_i$ instead of $X_i$ and let layer $i+1$ undo it: $d^2$ directions
#   for each of the $l - 1$ interfaces;
# * **along a layer**, multiply $A_i$ by $c$ and divide $V_i$ by $c$: one direction a layer.

# <details><summary>Add them up: what remains?</summary>
#
# Subtract $3 \cdot 16$ for the heads, $2 \cdot 16$ for the interfaces and $3$ for the factors, and 61 remain: 58 % of the
# directions change nothing. In general $3ld^2$ parameters shrink to $(l+1)d^2 - l$ dimensions, so with more and more layers it
# is towards two thirds.
#
# </details>
#
# That nothing *else* is lost is a theorem.

# %%
nv.expected_dimension(net)

# %% [markdown]
# **Corollary 3.8** (Eq. 14 of the paper). Let the inner widths all be $\delta \ge 2$, no larger than $d_0$ and $d_l$; let
# $2 \le a_i \le d_{i-1}$ and $t \ge 2$. Then
#
# $$\dim = \delta\,(d_0 + d_l - \delta) + \sum_{i=1}^{l} \alpha(a_i, d_{i-1}) - l, \qquad \alpha(a, d) = a(2d - a).$$
#
# The first term counts the linear map $L = V_l \cdots V_1$, which has rank at most $\delta$; each $\alpha$ counts one attention
# matrix of rank at most $a_i$; and the $-l$ is one factor a layer.

# %% [markdown]
# ## Move it
#
# The panel measures while you drag. Watch the blue line (the exact rank) and the triangle (the formula) on the left.

# %%
DimensionExplorer()

# %% [markdown]
# * Drag **a** past **δ**. The number of parameters goes on growing. What does the dimension do, and why?
# * Switch **attention** to softmax. How much does the dimension change? Does it depend on $\delta$?
# * Drag **layers** to 6 or more. The exact rank still agrees with the formula. What happens to the gap on the left?
#
# <details><summary>Answers</summary>
#
# Past $a = \delta$ every $\delta \times \delta$ matrix is already some $K^\top Q$, so nothing is gained. With $t \ge 2$ and $a \ge 2$
# softmax has exactly $l$ dimensions more, whatever $\delta$: doubling $A$ changes a softmax, so no factor can move to $V$. And the gap
# closes: with each layer the sizes of the singular values spread further, until float64 can no longer tell a small one from
# rounding. The panel then says "floats cannot decide". The exact rank is not affected, since it has no rounding in it.
#
# Now set **tokens** to 1 and compare again. Who has more? A single token attends to itself alone: for softmax nothing of $A$ can
# be seen, and the network is one linear map.
#
# </details>

# %% [markdown]
# ## The curve of the paper
#
# The paper's Figure 3 draws the dimension of two softmax layers against the width, with $a = 2$ and three tokens. Here it
# is measured exactly, point by point:

# %%
[nv.measure_dimension(nv.Architecture.uniform(d, 2, 2, 3, "softmax")).value for d in range(3, 11)]

# %% [markdown]
# These are the values of Eq. 16, which the paper conjectures for softmax (Conjecture 3.10) and which we
# [prove](../docs/mathematics.md) (our proof is not peer-reviewed). Lightning has two less, one for each layer:

# %%
[nv.measure_dimension(nv.Architecture.uniform(d, 2, 2, 3)).value for d in range(3, 11)]

# %% [markdown]
# The upper right part of this panel draws exactly that. Filled marks are measurements, hollow ones the formula: they
# come from different code, and where they differ you would see two marks instead of one.

# %%
DimensionExplorer(
    state="width=7;head_dim=2;tokens=3;layers=2;kind=softmax", only=["width", "head_dim", "kind"]
)

# %% [markdown]
# ## Where the formula stops: one layer of rank one
#
# Corollary 3.8 asks for $a_i \ge 2$. It is tempting to think that this is a technicality. Take three tokens, widths 3, 3, 3, and a first
# layer with $a_1 = 1$:

# %%
thin = nv.Architecture(widths=(3, 3, 3), head_dims=(1, 2), tokens=3)
nv.paper_formula(thin)

# %%
predict("Eq. 14, used all the same, says 20. What does the network say?", nv.measure_dimension(thin))

# %% [markdown]
# <details><summary>What happened? Open this when you have committed to a number.</summary>
#
# Two dimensions are missing. If $A_1 = k q^\top$ has rank one, then token $i$ leaves the first layer as
#
# $$V_1 X X^\top k \,\cdot\, (q^\top x_i),$$
#
# the same vector for every $i$, times a number. **All tokens have become parallel.** From then on a layer only ever
# compares a vector with multiples of itself, $g^\top A\, g$, and this sees the symmetric part of $A$ alone. What was counted with
# $\alpha$ in the later layers has to be counted with the dimension of the symmetric parts, called $\sigma$ here.
#
# </details>

# %%
nv.general_formula(thin)

# %% [markdown]
# One such layer is enough, wherever it stands, if a later layer has something to lose. In this panel, type the head dimensions
# of three layers, such as `2,1,2`, and compare the crosses, which are Eq. 14 where it does not apply, with the measured marks.

# %%
DimensionExplorer(
    state="width=3;tokens=3;layers=3;head_dims=2,1,2",
    only=["width", "head_dims", "kind"],
)

# %% [markdown]
# Try `1,1,1`: why are there no crosses? And does softmax collapse in the same way? Switch **attention** and see.
#
# <details><summary>Answer</summary>
#
# With $a = 1$ everywhere nothing is lost by it: the symmetric parts of the matrices of rank one have as many dimensions as the
# matrices themselves. And no: a softmax of rank-one logits is not a rank-one matrix, the tokens stay different, and the
# dimension is what Eq. 16 says, with $a_i = 1$ too.
#
# </details>

# %% [markdown]
# ## Where the formula stops: a network that widens
#
# Let the inner layer be wider than the input: 2, 4, 2.

# %%
wide = nv.Architecture(widths=(2, 4, 2), head_dims=(2, 2))
predict("Eq. 14, used all the same, says 14. And the network?", nv.measure_dimension(wide))

# %% [markdown]
# The tokens that come out of the first layer live in the image of a $4 \times 2$ matrix, so two of the four coordinates carry
# nothing new, and whatever the second layer does with them alone cannot be seen.

# %%
nv.expected_dimension(wide)

# %% [markdown]
# The **general formula** (ours, proved in [docs/mathematics.md](../docs/mathematics.md), not peer-reviewed) covers
# every width, every head dimension and every number of tokens. It first asks how much of each width the later layers can see.
# Check it against exact measurements of networks drawn at random; each run draws others if you change the seed:

# %%
import random

draw = random.Random(1)
nets = [
    nv.Architecture([draw.randint(1, 6) for _ in range(4)], [draw.randint(1, 4) for _ in range(3)], tokens=3)
    for _ in range(50)
]
sum(nv.measure_dimension(net).value == nv.expected_dimension(net).value for net in nets)

# %% [markdown]
# All fifty agree. If you ever find one that does not, the formula or its proof is wrong, and we would like to know.

# %% [markdown]
# ## How many inputs does one have to look at?
#
# A function is known by its values. To count independent responses we feed in some inputs and watch the outputs; the more
# inputs, the more equations. Is it enough to have as many equations as parameters?

# %%
narrow = nv.Architecture(widths=(3, 3, 3, 3), head_dims=(1, 1, 1), tokens=3)
narrow.num_parameters

# %% [markdown]
# One input gives $t \cdot d_3 = 9$ numbers, so five inputs give 45 equations for 45 parameters.

# %%
predict("The dimension is 21. How much of it do 5 inputs show?", nv.measure_dimension(narrow, inputs=5))

# %% [markdown]
# Counting equations is not enough: one input shows only a few numbers about all attention matrices together. In the
# lower right part the measured rank stays below the dotted line of equations. Move **inputs**: where does it stop for good?

# %%
DimensionExplorer(
    state="width=3;head_dim=1;tokens=3;layers=3;inputs=5", only=["width", "head_dim", "layers", "inputs"]
)

# %% [markdown]
# Once a further input adds nothing, none ever will: what a generic input adds can only shrink as others are there already.
# So the place where the curve first stays level is the end, and that is how the panel finds it.

# %% [markdown]
# ## In practice
#
# * An exact rank modulo a prime can never be too large. It can be too small, with a tiny probability, which
#   `Measurement.error_bound` states. It is 0 when the rank reaches the upper bound that the symmetries prove.
# * For softmax the exponentials are replaced by free random elements. That this changes no rank is a theorem of
#   Ax (1971); see *Exponentials as free elements* in [docs/mathematics.md](../docs/mathematics.md).
# * A float rank is evidence. Look at `decided`: it is False where the spectrum is no help. Of 20,000 small random networks with
#   at most four layers, 88 in 100 were decided, none of them wrongly; of 1,800 with five to eight layers 63 in 100, and 3 wrongly.
#
# **On your own.** Find a network with fewer than 30 parameters whose dimension is less than a third of them.
#
# <details><summary>One of many answers</summary>
#
# `nv.Architecture((1, 3, 1), (1, 1))` has 14 parameters and dimension 1: tokens on a line can only be multiplied by numbers, and
# all the factors end up in one product.
#
# </details>
