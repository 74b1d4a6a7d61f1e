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
# *Section 3.3 of the paper. About 60 minutes. You need: rank, and the [first notebook](00_start.ipynb). Good to have: [Unrolling](04_unrolling.ipynb),
# where the symmetries come from.*
#
# You will predict the dimension of a deep network from its sizes, measure it exactly, and compare it with the number of parameters. You will find three places where
# the obvious formula breaks, a layer of rank one, a network that widens and a single token, and one where a measurement does: too few inputs. At the end you
# look for a counterexample to the formula that has none of these limits.

# %%
import numpy as np

import neuroviz as nv
from neuroviz.engine.field import DEFAULT_PRIME, PrimeField
from neuroviz.engine.network import jacobian, random_weights
from neuroviz.engine.rank import exact_rank
from neuroviz.explorables import DimensionExplorer, HypothesesExplorer
from neuroviz.kit.presets import presets
from neuroviz.lessons.teaching import predict
from neuroviz.lessons.wrong_answers import wrong_answers

# %% [markdown]
# ## Parameters are not dimensions
#
# Stack $l$ lightning layers, all of width $d$, with head dimension $a = d$. Each has $3d^2$ parameters.
# Here is $d = 4$, $l = 3$:
#
# <!-- teacher (8 min): Collect the numbers on the board before the reveal. 144, 96 and 64 are typical; 64 forgets the three rescalings, 96 removes the bases in the heads and nothing else. Then let the room add up what is lost. -->

# %%
net = nv.Architecture.uniform(d=4, a=4, layers=3)
net.num_parameters

# %% [markdown]
# How many independent ways are there to change its function? Before any theory, an estimate:

# %%
predict("144 parameters. How many dimensions?", nv.measure_dimension(net), wrong=wrong_answers(net))

# %% [markdown]
# Three things can be done to these weights without any effect on the function:
#
# * **inside a head**, replace $Q, K$ by $CQ,\ C^{-\top}K$: only $A = K^\top Q$ matters. That is $a^2$ directions a layer;
# * **between two layers**, let layer $i$ hand on $C X_i$ instead of $X_i$ and let layer $i+1$ undo it: $d^2$ directions
#   for each of the $l - 1$ interfaces;
# * **along a layer**, multiply $A_i$ by $c$ and divide $V_i$ by $c$: one direction a layer.
#
# <details><summary>Add them up: what remains?</summary>
#
# Subtract $3 \cdot 16$ for the heads, $2 \cdot 16$ for the interfaces and $3$ for the factors, and 61 remain: 58 % of the
# directions change nothing. In general $3ld^2$ parameters shrink to $(l+1)d^2 - l$ dimensions.
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
#
# <!-- teacher (7 min): Drag a past δ and be silent until somebody says that the line stands still. At six layers the gap closes: say that floating point gives up, not the theorem. -->

# %%
dimension_panel = DimensionExplorer()
dimension_panel

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
# The upper right part of the panel above draws exactly that. Press a button, or set **δ** to 7, **a** to 2, **tokens** to 3, **layers** to 2 and **attention** to softmax. Filled marks are
# measurements, hollow ones the formula: they come from different code, and where they differ you would see two marks instead of one.

# %% tags=["hide-input"]
presets(
    dimension_panel,
    {
        "δ = 7, softmax": "width=7;head_dim=2;tokens=3;layers=2;kind=softmax",
        "δ = 7, lightning": "width=7;head_dim=2;tokens=3;layers=2",
    },
)

# %% [markdown]
# ## Count parameters against dimensions
#
# With all widths and head dimensions $\delta$ there are
#
# $$\frac{3l\delta^2}{(l+1)\delta^2 - l}$$
#
# parameters for each dimension. What becomes of this ratio in a very deep and very narrow network? Take $\delta = 2$ and let $l$ grow.

# %%
depths, widths = (1, 2, 3, 12, 96, 1000), (2, 3, 4, 16, 768)


def ratio(layers, width):
    net = nv.Architecture.uniform(d=width, a=width, layers=layers)
    return net.num_parameters / nv.expected_dimension(net).value


predict("δ = 2 and 1000 layers: how many parameters for each dimension, rounded?", round(ratio(1000, 2)))

# %%
print("   l", *(f"{layers:5}" for layers in depths))
for width in widths:
    print(f"{width:4}", *(f"{ratio(layers, width):.3f}" for layers in depths))

# %% [markdown]
# <details><summary>Which limits do you see?</summary>
#
# Down a column the width grows: $3l/(l+1)$, which is 1.5 for one layer, 2 for two, 2.25 for three. Along a row the depth grows: $3\delta^2/(\delta^2 - 1)$, which is 4 for $\delta = 2$ and 3.2 for $\delta = 4$:
# in a narrow network the one factor a layer counts. With both growing it is 3, so that two thirds of all directions do nothing.
#
# Where do the two thirds go? Each layer has $Q$, $K$ and $V$. One $\delta^2$ goes to the basis of its head, one to the basis of the tokens in front of it, one remains.
#
# </details>
#
# So counting parameters overstates what these networks can express, about twofold with two layers and threefold with many. With many layers and heads below a third of the width it is more, as the bases
# between the layers cost $\delta^2$ in any case: 4.8 for $\delta = 768$, $a = 64$ and 12 layers. (This is about one head in each layer and no skip connection, which real models do have.)

# %% [markdown]
# ## Where the formula stops: one layer of rank one
#
# Corollary 3.8 asks for $a_i \ge 2$. It is tempting to think that this is a technicality. Take three tokens, widths 3, 3, 3, and a first
# layer with $a_1 = 1$:
#
# <!-- teacher (8 min): Everybody answers 20 here, as the text has just said so. This is wanted: a formula is only as good as its hypotheses. Then show the angles. -->

# %%
thin = nv.Architecture(widths=(3, 3, 3), head_dims=(1, 2), tokens=3)
nv.paper_formula(thin)

# %%
predict(
    "Eq. 14, used all the same, says 20. What does the network say?",
    nv.measure_dimension(thin),
    wrong=wrong_answers(thin),
)

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
# The panel shows this for two layers. On the left every cell is a network of its own: above, its exact rank minus Eq. 14, below, the rank. On the right
# are the angles between the tokens of one random network, as they come in and after each layer.

# %%
hypotheses_panel = HypothesesExplorer(state="head_1=1;head_2=2;inner=3;outer=3;tokens=3")
hypotheses_panel

# %% [markdown]
# * Look at the angles. Drag **a₁** to 2. What happens to them, and to the number in the chosen cell?
# * Keep $a_1 = 1$ and drag **a₂** up. How much is lost for $a_2 = 1, 2, 3$?
# * Set **a₁** to 2 and **a₂** to 1: a *last* layer of rank one. What is lost?
# * Does softmax collapse in the same way? Set **a₁** to 1, **a₂** to 2, and switch **attention**.
#
# Guess first. The buttons lead to the places that the last two questions are about.

# %% tags=["hide-input"]
presets(
    hypotheses_panel,
    {
        "a₁ = 2, a₂ = 1": "head_1=2;head_2=1",
        "a₁ = 1, a₂ = 2, softmax": "head_1=1;head_2=2;kind=softmax",
    },
)

# %% [markdown]
# <details><summary>Answers</summary>
#
# With $a_1 = 1$ all angles are 0 after layer 1; with $a_1 = 2$ they are not, and nothing is lost. Lost are $\alpha(a_2, 3) - \sigma(a_2, 3)$: 0 for $a_2 = 1$, then 2, then 3, the number of
# antisymmetric $3 \times 3$ matrices. A last layer of rank one costs nothing, for nobody looks at its tokens any more. And no: a softmax of
# rank-one logits is not a rank-one matrix, the tokens come closer to each other but not onto one line, and the dimension is
# what Eq. 16 says, with $a_i = 1$ too.
#
# </details>
#
# With more layers, one such layer is enough, wherever it stands, if a later layer has something to lose. Head dimensions, Eq. 14 used all the same, and the truth:

# %%
for heads in ((1, 2, 2), (2, 1, 2), (2, 2, 1), (1, 1, 1)):
    net = nv.Architecture(widths=(3, 3, 3, 3), head_dims=heads, tokens=3)
    print(heads, nv.paper_formula(net).value, nv.measure_dimension(net).value)

# %% [markdown]
# Why is nothing lost in the last row, where all layers have rank one?
#
# <details><summary>Answer</summary>
#
# Because the symmetric parts of the matrices of rank one have as many dimensions as the matrices themselves: $\alpha(1, 3) = \sigma(1, 3) = 5$.
#
# </details>

# %% [markdown]
# ## Where the formula stops: a network that widens
#
# Let the inner layer be wider than the input: 2, 4, 2.
#
# <!-- teacher (4 min): Ask where the tokens live after a 4 × 2 matrix. Who answers 14 has counted coordinates in which nothing arrives. -->

# %%
wide = nv.Architecture(widths=(2, 4, 2), head_dims=(2, 2))
predict(
    "Eq. 14, used all the same, says 14. And the network?",
    nv.measure_dimension(wide),
    wrong=wrong_answers(wide),
)

# %% [markdown]
# The tokens that come out of the first layer live in the image of a $4 \times 2$ matrix, so two of the four coordinates carry
# nothing new, and whatever the second layer does with them alone cannot be seen.

# In the panel above, set **a₁** and **a₂** to 2 and **map over** to widths, or press a button. The cells with $\delta > d_0$, on the lower right, widen. Is Eq. 14 right in any of them? Is it always too large?

# %% tags=["hide-input"]
presets(
    hypotheses_panel,
    {
        "a = 2, 2 and widths 3, 3, 3": "head_1=2;head_2=2;over=widths",
        "a = 2, 2 and widths 2, 4, 2": "head_1=2;head_2=2;inner=4;outer=2;over=widths",
    },
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# It is right in none of them. In most it is too large, by 2, 3 or 4. For outer widths 1 and $\delta = 5$ it is too small: it says 0, but the network can still multiply by a number, 1 dimension.
#
# </details>

# %% [markdown]
# ## Where the formula stops: one token
#
# A single token attends to itself, $x^\top A\, x$. What does that see of $A$?

# %%
alone = nv.Architecture(widths=(3, 3, 3), head_dims=(2, 2), tokens=1)
predict(
    "3, 3, 3 with a = 2, 2. Eq. 14 says 23. And with one token?",
    nv.measure_dimension(alone),
    wrong=wrong_answers(alone),
)

# %% [markdown]
# Again the symmetric parts only, now in every layer: $\alpha(2, 3) = 8$ becomes $\sigma(2, 3) = 6$, twice.

# %% [markdown]
# ## A formula without these limits
#
# The **general formula** (ours, proved in [docs/mathematics.md](../docs/mathematics.md), not peer-reviewed) covers
# every width, every head dimension and every number of tokens. It first asks how much of each width the later layers can see, and counts with that instead of the width; then
# it asks where the tokens become parallel.

# %%
[nv.general_formula(net).value for net in (thin, wide, alone)]

# %% [markdown]
# These are the three measurements from above. [Why the formula is true](04_why_the_formula.ipynb) takes it apart.

# %% [markdown]
# ## How many inputs does one have to look at?
#
# A function is known by its values. To count independent responses we feed in some inputs and watch the outputs; the more
# inputs, the more equations. Is it enough to have as many equations as parameters?
#
# <!-- teacher (5 min): All expect 21, since 45 equations are as many as there are parameters. One input says little about all attention matrices together. -->

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
# ## Say what a dimension tells about data, and what it does not
#
# From one input we took all its outputs, and they repeated each other. Take a *single* number from each input instead, a random combination of its outputs. The rank after 1, 5, 10, 20, 21, 22 and 30 inputs:

# %%
over, rng = PrimeField(DEFAULT_PRIME), np.random.default_rng(0)
weights, X = random_weights(over, narrow, rng), over.random(rng, (30, 3, 3))
rows = jacobian(over, "lightning", weights, X, over.random(rng, (30, 1, 3, 3)))[:, 0]
[exact_rank(rows[:count], over) for count in (1, 5, 10, 20, 21, 22, 30)]

# %% [markdown]
# Each number fixes one dimension, until all 21 are fixed; that it goes on like this is proved in [docs/mathematics.md](../docs/mathematics.md) (*How many inputs*). So this is what a dimension $D$ says about data. If they come from a
# network of this kind with generic weights, then from generic inputs
#
# * fewer than $D$ numbers leave a whole family of functions that fit perfectly, of dimension $D$ minus their number;
# * $D$ numbers leave no other function nearby that fits. Here 21 are enough, where counting parameters would ask for 45.
#
# The paper remarks that the dimension governs how many samples learning needs. That remark is worth a careful look. What is counted here are the parameters of a fit in general position, without noise, for data that some network
# of the family explains. The dimension does not say
#
# * that a training run finds the fit, or how long it takes;
# * how well the fit is determined: functions far away may fit *almost* as well, and with noise that is what counts;
# * that nothing can be learned from fewer than $D$ numbers: then many functions fit, and it depends on the training which one comes out;
# * how good the best function of the family is, if the data come from somewhere else.
#
# A bound on the error of a trained network, in numbers, needs assumptions on all of these. The dimension is one ingredient: it replaces the number of parameters, which says less.

# %% [markdown]
# ## Look for a counterexample
#
# Back to the general formula. A proof can have a gap, so let us try to refute it: fifty architectures at random, of both kinds of attention, each
# measured exactly and compared. Change the seed to draw others, or the sizes to draw wider and deeper ones.
#
# <!-- teacher (4 min): Let the room name the sizes. Fifty agreements are no proof; the next notebook is about that. -->

# %%
import random

draw = random.Random(1)


def random_architecture(most_layers=3, most_width=5):
    layers = draw.randint(1, most_layers)
    widths = [draw.randint(1, most_width) for _ in range(layers + 1)]
    heads = [draw.randint(1, 4) for _ in range(layers)]
    return nv.Architecture(widths, heads, draw.randint(1, 4), draw.choice(("lightning", "softmax")))


found = nv.sweep([random_architecture() for _ in range(50)], progress=False)
found

# %% [markdown]
# The general formula is about all fifty of them, the paper's own formulas are about some. The first number counts those; the list holds the
# architectures that the general formula gets wrong. If it is ever not empty, please send it to us.

# %%
covered = [nv.paper_formula(record.arch).status != "outside hypotheses" for record in found]
sum(covered), [record.arch for record in found if record.value != nv.general_formula(record.arch).value]

# %% [markdown]
# All fifty agree. Fifty agreements are no proof; how one goes is told in [Why the formula is true](04_why_the_formula.ipynb).

# %% [markdown]
# ## Build one yourself
#
# You have met three ways to break Corollary 3.8. None of them makes its number wrong every time.

# %%
from neuroviz.lessons.checks_deep import check_wrong_pattern
from neuroviz.lessons.exercise import exercise

exercise(
    "Give a lightning network with two layers or more for which Eq. 14, used all the same, is wrong by 2 or more.",
    check_wrong_pattern,
    difficulty=1,
    minutes=5,
)

# %% tags=["exercise"]
my_net = ...
check_wrong_pattern(my_net)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# For instance one token: for each layer the antisymmetric part of $A$ is lost.
#
# ```python
# my_net = nv.Architecture(widths=(4, 4, 4), head_dims=(3, 3), tokens=1)
# check_wrong_pattern(my_net)
# ```
#
# </details>

# %% [markdown]
# ## In practice
#
# * An exact rank modulo a prime can never be too large. It can be too small, with a tiny probability, which
#   `Measurement.error_bound` states. It is 0 when the rank reaches the upper bound that the symmetries prove.
# * For softmax the exponentials are replaced by free random elements. That this changes no rank is a theorem of
#   Ax (1971); see *Exponentials as free elements* in [docs/mathematics.md](../docs/mathematics.md).
# * A float rank is evidence. Look at `decided`: it is False where the spectrum is no help. Of small random networks with
#   at most four layers 85 in 100 were decided, of those with five to eight layers about half, and none of 6,000 of them wrongly.
#
# **On your own.** Find a network with fewer than 30 parameters whose dimension is less than a third of them.
#
# <details><summary>One of many answers</summary>
#
# `nv.Architecture((1, 3, 1), (1, 1))` has 14 parameters and dimension 1: tokens on a line can only be multiplied by numbers, and
# all the factors end up in one product.
#
# </details>
