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
# *Section 3.1 of the paper. About 45 minutes. You need: rank, products of matrices, and the first two notebooks,
# [Start](00_start.ipynb) and [Matrix factorization](01_matrix_factorization.ipynb).*
#
# You will collect all weights of a layer that compute the same function, walk through them, step off them, and count
# from this how many functions one layer can express. At the end you know what can be read off a function, and what cannot.

# %%
import numpy as np

import neuroviz as nv
from neuroviz.explorables import FiberExplorer, LedgerExplorer
from neuroviz.kit.presets import presets
from neuroviz.lessons.teaching import predict
from neuroviz.lessons.wrong_answers import wrong_answers

# %% [markdown]
# ## See a layer as its function sees it
#
# A layer of lightning attention maps the tokens, the columns of $X$, to
#
# $$\varphi(X) = V X X^\top A X, \qquad A = K^\top Q .$$
#
# The last notebook settled what happens between $Q, K$ and $A$: in a head of full rank, all $Q, K$ with the same $A$ are
# $CQ,\ C^{-\top}K$ for an invertible $C$ (Lemma 3.1). So here we look at $A$ and $V$ only.

# %%
rng = np.random.default_rng(0)
A, V = rng.standard_normal((2, 3, 3))
X = rng.standard_normal((3, 2))  # two tokens


def layer(A, V, X):
    return V @ X @ X.T @ A @ X


layer(A, V, X)

# %% [markdown]
# All pairs $(A, V)$ with one and the same function are called the **fibre** of that function. What is in it?

# %% [markdown]
# ## Walk along a fibre
#
# One thing is easy to see: $A$ and $V$ stand in the same product, so a factor can move from one to the other.
#
# <!-- teacher (6 min): Collect a number for the 18 directions before the panel is open. The popular wrong answers are 0 (a function determines its weights) and 9 (all of one matrix). -->

# %%
np.allclose(layer(2 * A, V / 2, X), layer(A, V, X))

# %% [markdown]
# Is that all? $A$ and $V$ have 18 entries together, so there are 18 independent directions to move in. We can measure
# how many of them move the function; the rest does nothing.

# %%
moving = nv.measure_dimension(nv.Architecture(widths=(3, 3), head_dims=(3,), tokens=2)).value
predict("Of 18 directions for A and V, how many do nothing?", 18 - moving)

# %% [markdown]
# Here is the fibre. An input $X$ is pushed through the layer at the **start** and through the layer **now**.

# %%
FiberExplorer()

# %% [markdown]
# *What you see.* On the left the weights and the outputs: a green frame means that the outputs are equal. In the middle the
# plane of all $(xA, yV)$: the thick curve $xy = 1$ is the fibre, the thin ones are other functions. On the right,
# how far the function moves when the weights take a *straight* step of some length, on logarithmic scales.
#
# * Drag **walk along**. Which matrices change, and which one does not?
# * Can the orange point walk from one arm of the curve to the other? (Under **More**, *from (−A, −V)* puts it there.)
# * Drag **step off** to 0.3. What happens to the outputs?
#
# <details><summary>Answers</summary>
#
# The weights change, the outputs stand still. The point cannot get across: the arms are $c > 0$ and $c < 0$ in $(cA, V/c)$, and
# between them lies $c = 0$, where nothing would be left of $A$. As soon as the point leaves the curve the outputs move.
#
# </details>

# %% [markdown]
# ## Tell first order from second order
#
# The curve is bent, so a straight step along it leaves it too, but only just. Take the step
# $\bigl((1+\varepsilon)A,\ (1-\varepsilon)V\bigr)$, which starts out along the curve:
#
# <!-- teacher (4 min): Ask for the two slopes before the cells run. A straight step along a bent curve leaves it: this is the one place where the word tangent is worth the chalk. -->

# %%
e = 0.001
np.abs(layer((1 + e) * A, (1 - e) * V, X) / layer(A, V, X) - 1).max()

# %% [markdown]
# A millionth: $(1+\varepsilon)(1-\varepsilon) = 1 - \varepsilon^2$. And a step of the same length that goes across:

# %%
np.abs(layer((1 + e) * A, (1 + e) * V, X) / layer(A, V, X) - 1).max()

# %% [markdown]
# Two thousandths: of first order, and so it is in any direction but that of the curve. In the panel, under **More**, set
# **step goes** to *at random* and see. On logarithmic scales an order is a slope. That the direction of the rescaling is the *only* one with slope 2 is
# Lemma A.3 of the paper: to first order nothing else is invisible.

# %% [markdown]
# ## Find the second branch
#
# Now let $A = u k^\top$ and $V = h v^\top$ have rank one. Written out for token $i$, the layer is
#
# $$\varphi(X)_i = \sum_j (u \cdot x_j)\,(k \cdot x_i)\,(v \cdot x_j)\; h .$$
#
# The keys look at a token through $u$, the queries through $k$, the values through $v$. There are six ways to hand the three
# vectors to the three jobs.
#
# <!-- teacher (6 min): Vote on one to six. Six is popular, since the three vectors look alike; ask which of them meets x_i and which x_j. -->

# %%
from itertools import permutations

u, k, v, h = rng.standard_normal((4, 3))
before = layer(np.outer(u, k), np.outer(h, v), X)
same = [
    np.allclose(layer(np.outer(keys, queries), np.outer(h, values), X), before)
    for keys, queries, values in permutations([u, k, v])
]
predict("How many of the six leave the function alone?", sum(same))

# %% [markdown]
# <details><summary>Why? Open this when you have committed to a number.</summary>
#
# In the formula $u$ and $v$ play the same part, both meet $x_j$, and may change places. $k$ meets $x_i$ and may not.
# So two: leave all as it is, or swap $u$ and $v$.
#
# </details>
#
# No walk along the curve leads there: like the change of sign from $c > 0$ to $c < 0$, the swap is a jump.

# %%
branches_panel = FiberExplorer(
    state="preset=rank-one;along=0.5", only=["preset", "along", "off", "swap", "angle"]
)
branches_panel

# %% [markdown]
# * Tick **swap u and v**. The weights jump, the outputs do not.
# * The dashed curve is the second branch. No plane contains both branches: each of them bends within a plane of its own. So
#   you see the plane of the first branch, and the **shadow** of the second one in it. That is why the point is hollow.
# * Turn the **angle of u, v** down to 0. What becomes of the two branches? And how many directions does the sentence below the
#   picture say do nothing?
#
# <details><summary>Answer</summary>
#
# The shadow moves onto the first branch: with $u = v$ there is nothing to swap, and both are one. But 1 direction has become 3.
# The keys and the values look at a token $y$ through $(v \cdot y)(v \cdot y)$ now. Add $\varepsilon w$ to the first $v$ and take it off the
# second: the product loses $\varepsilon^2 (w \cdot y)^2$, which is of second order for every $w$ in $\mathbb{R}^3$. So three directions do
# nothing to first order, and yet the fibre is a curve. Such a function is a *boundary point* of the set of all
# functions of the layer (Theorem 3.4).
#
# </details>

# %% [markdown]
# ## Cross the zero function
#
# One function is left, the smallest. Which weights give $\varphi = 0$? In the panel above, set **layer** to *zero* and **walk along** to 0,
# or press the first button below: the start is $V = 0$, with some $A$. Drag **walk along** to the right. $A$ shrinks until it is 0; there, and
# only there, the walk may turn and let $V$ grow instead. Stop at the crossing, with **walk along** at 1 (the second button), and **step off**:
# why is even this of second order?

# %% tags=["hide-input"]
presets(
    branches_panel,
    {
        "zero, at the start": "preset=zero;along=0",
        "zero, at the crossing": "preset=zero;along=1",
        "zero, beyond it": "preset=zero;along=1.5",
    },
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# There both matrices are 0, and a step of length $\varepsilon$ makes both of size $\varepsilon$. The function is a product of the two.
#
# </details>

# %% [markdown]
# ## Put the three cases together
#
# **Theorem 3.2.** Let $t \ge 2$. The pairs with the same function as $(A, V)$ are
#
# | case | the fibre | in the picture |
# | --- | --- | --- |
# | $A = 0$ or $V = 0$ | all pairs with $A' = 0$ or $V' = 0$ | a cross |
# | $A = u k^\top$, $V = h v^\top$ of rank one | $(cA, V/c)$, and $(c\,v k^\top, h u^\top / c)$ | two branches |
# | all others | $(cA, V/c)$, $c \ne 0$ | one curve |
#
# A short proof is in [docs/mathematics.md](../docs/mathematics.md). It takes two tokens $x$ and $y$ and
# the part of $\varphi$ that is linear in $x$ and quadratic in $y$, which is $(y^\top A x)\,Vy$: a table of products of entries of
# $A^\top y$ with entries of $Vy$. The rest is unique factorisation: if all the products agree, factors can only have moved.
#
# <!-- teacher (5 min): Cover the table, and let them name the case for three matrices of your choice. What usually goes wrong is the transpose: the swap exchanges u and v, never u and k. -->

# %% [markdown]
# ## Look with one token only
#
# That proof needs a second token. With a single one, $\varphi(x) = (x^\top A x)\, V x$, and now something of $A$ is hidden.

# %%
one, two = (
    nv.measure_dimension(nv.Architecture(widths=(3, 3), head_dims=(3,), tokens=t)).value for t in (1, 2)
)
predict("A has 9 dimensions. How many of them does one token not see?", two - one)

# %% [markdown]
# <details><summary>Which ones? Open this when you have committed to a number.</summary>
#
# $x^\top A x$ is a number, so it equals $x^\top A^\top x$: only the **symmetric part** $\tfrac12(A + A^\top)$ counts. Hidden is the
# antisymmetric part, which for $3 \times 3$ matrices has 3 dimensions.
#
# </details>

# %%
antisymmetric = (A - A.T) / 2
x = X[:, :1]  # one token
np.allclose(layer(A + antisymmetric, V, x), layer(A, V, x))

# %%
np.allclose(layer(A + antisymmetric, V, X), layer(A, V, X))

# %% [markdown]
# In this panel the walk adds multiples of the antisymmetric part of $A$ to $A$. Drag **walk along**, then set **tokens t** to 2.

# %%
tokens_panel = FiberExplorer(
    state="tokens=1;walk=antisymmetric;along=1", only=["kind", "along", "tokens", "walk"]
)
tokens_panel

# %% [markdown]
# With one token, how many of the six permutations of $u, k, v$ above leave the function alone?
#
# <details><summary>Answer</summary>
#
# All six: $\varphi(x) = (u \cdot x)(k \cdot x)(v \cdot x)\,h$. Check it: replace `X` by `x` in that cell.
#
# </details>

# %% [markdown]
# ## Switch the softmax on
#
# Softmax divides by a sum of exponentials: column $i$ of the output becomes
# $\sum_j p_{ji}\, V x_j$, where the $p_{ji}$ are positive, add up to 1, and are in the ratios of $\exp(x_j^\top A x_i)$.
#
# What is its fibre? Decide what you expect. Then press the buttons, or set **tokens t** to 2, **the walk** to *rescale* and
# **attention** to *softmax* in the panel above, and walk along.

# %% tags=["hide-input"]
presets(
    tokens_panel,
    {
        "lightning, rescaled": "tokens=2;walk=rescale;along=1",
        "softmax, rescaled": "tokens=2;walk=rescale;kind=softmax;along=1",
    },
)

# %% [markdown]
# <details><summary>What happens, and why</summary>
#
# The thin curve is where lightning stood still. Here walking along it moves the outputs, and its direction has slope 1 like
# every other. To see why, let all tokens be equal to $x$: the weights $p_{ji}$ add up to 1, so the output is $Vx$, which shows all of $V$,
# scale included. With two different tokens the output then shows $p_{ji}$, hence the exponents, hence $A$. Nothing is left to move.
#
# **Theorem 3.9**: for $t \ge 2$ and $V \ne 0$ the fibre in $(A, V)$ is a single point.
#
# </details>
#
# And softmax with a single token? Press the buttons, or set **tokens t** to 1 again and try the three walks.

# %% tags=["hide-input"]
presets(
    tokens_panel,
    {
        "one token, rescale": "kind=softmax;walk=rescale",
        "one token, antisymmetric": "kind=softmax;walk=antisymmetric",
        "one token, A alone": "kind=softmax;walk=a-alone",
    },
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# A single weight that has to be 1 is 1. So $\varphi(x) = Vx$, $A$ is invisible altogether, and every $(A', V)$ lies in the fibre: both walks
# that leave $V$ alone stay in it.
#
# </details>

# %% [markdown]
# ## Ask what a function tells about its weights
#
# Whatever differs between two points of a fibre cannot be read off the function. So a fibre answers questions like: *can
# I recover this entry of $A$?* Here are six. Write down yes or no for each before you go on.
#
# <!-- teacher (6 min): Write the six questions on the board and collect yes or no for each. Only then run the cell: it shows the number first, so nobody can read off which. -->

# %%
arch = nv.Architecture(widths=(3, 3), head_dims=(2,), tokens=2)


def attention_matrix(weights):
    return weights[0].K.T @ weights[0].Q


questions = {
    "an entry of A": lambda w: attention_matrix(w)[0, 1],
    "a ratio of two entries of A": lambda w: attention_matrix(w)[0, 1] / attention_matrix(w)[0, 0],
    "V up to scale": lambda w: w[0].V / w[0].V[0, 0],
    "an entry of A times one of V": lambda w: attention_matrix(w)[0, 1] * w[0].V[0, 0],
    "the singular values of Q": lambda w: np.linalg.svd(w[0].Q, compute_uv=False),
    "norm of A times norm of V": lambda w: np.linalg.norm(attention_matrix(w)) * np.linalg.norm(w[0].V),
}
answers = {question: nv.is_identifiable(arch, quantity).value for question, quantity in questions.items()}
predict("To how many of the six is the answer yes?", sum(answers.values()))

# %% [markdown]
# <details><summary>Which ones? Open this when you have committed to a number.</summary>
#
# Not an entry of $A$, and not the singular values of $Q$; the other four can be read off. (The variable `answers` says so too.)
# Entries change along the curve $(cA, V/c)$; ratios and products do not. The singular values of $Q$ change with the basis of the head.
# (The answers are about almost all weights and about small changes: a sign, such as that of $c$, is not asked for.)
#
# </details>
#
# What will one token say to the second question? And softmax to the first? Decide, and ask in a cell of your own:
# `nv.is_identifiable(nv.Architecture((3, 3), (2,), tokens=1), questions["a ratio of two entries of A"])`, and the same with `tokens=2`,
# `attention="softmax"` and `"an entry of A"`.
#
# <details><summary>Answers</summary>
#
# One token: no, since of an entry of $A$ and its mirror image only the sum counts. Softmax with two tokens: yes, even entries, since its
# fibre is a point.
#
# </details>

# %% [markdown]
# ## Count the functions
#
# If a fibre is a curve, one dimension is lost, and the head bases of the last notebook cost $a^2$. This is the whole
# loss of one layer.
#
# <!-- teacher (6 min): Two mistakes come every time: 20 forgets the basis of the head and 17 forgets the rescaling. Ask both groups what they subtracted. -->

# %%
predict(
    "21 parameters, d = d' = 3, a = 2, t = 2. How many dimensions?",
    nv.measure_dimension(arch),
    wrong=wrong_answers(arch),
)

# %%
LedgerExplorer(
    state="width=3;width_out=3;head_dim=2;tokens=2;layers=1",
    only=["width", "width_out", "head_dim", "tokens", "layers"],
)

# %% [markdown]
# **Corollary 3.3** (Eq. 7 of the paper). For $t \ge 2$ the functions of one layer have dimension
#
# $$\alpha(a, d) + d d' - 1, \qquad \alpha(a, d) = a(2d - a) \text{ for } a \le d, \quad d^2 \text{ for } a > d .$$
#
# In the panel the parameters are spent one symmetry at a time. The last bar is measured, the line across it is the formula.
#
# * The paper states it for $d > 1$ with $a > 1$ or $d' > 1$. Set **head dimension a** and **output width d′** to 1, which
#   this leaves out. Has the formula become wrong?
# * Back to 2 and 3, and **tokens t** to 1. Move **head dimension a**. Where does the formula fail now, and by how much?
# * Back to 2 tokens, and **layers l** to 2. What does a second layer cost?
#
# <details><summary>Answers</summary>
#
# It is right: the hypotheses are not needed for the dimension. What they exclude are networks in which $A$ and $V$ always
# have rank one, as in the swap; and a swap does not cost a dimension: two curves are as thin as one. (They do matter for Theorem 3.4, on singular points.)
#
# With one token it fails wherever $a > 1$ and $d > 1$, as only the symmetric part of $A$ counts. For $a \ge d$ this costs all $d(d-1)/2$
# dimensions of the antisymmetric part, 3 for $d = 3$; here, where $a = 2$ bounds the rank, 2. For $a = 1$ it costs none.
#
# A second layer of width 3 brings its own head (4) and its own factor (1), and in between the basis of the tokens: 9 more.
# That is the subject of [Deep dimension](04_deep_dimension.ipynb).
#
# </details>

# %% [markdown]
# And softmax, whose fibre in $(A, V)$ is a point?

# %%
softmax = nv.Architecture(widths=(3, 3), head_dims=(2,), tokens=2, attention="softmax")
predict("Lightning has 16 dimensions here. How many has softmax?", nv.measure_dimension(softmax))

# %% [markdown]
# ## Build one yourself
#
# The second branch, with numbers of your own.

# %%
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
# A2_new, V2_new = 2 * np.outer(mixed, twos), np.outer(out, ones) / 2
# check_second_branch(A_new, V_new, A2_new, V2_new)
# ```
#
# </details>

# %% [markdown]
# ## In practice
#
# * "Same outputs" in the panel means equal on 64 random inputs up to a billionth of their size. The claim that these are *all*
#   weights is the theorem, and the badge names it. The tests of this project also try all weights of small layers modulo 3, 5 and 7, and
#   find exactly the fibres of Theorem 3.2.
# * The number of directions that do nothing, below the picture, is read off a spectrum in floating point; `nv.measure_dimension` is exact.
# * What cannot be seen can still be chosen. Weight decay pulls along the fibre: of all $(c\,Q, c'K, V/cc')$, which are one function,
#   it likes those with $\lVert Q \rVert = \lVert K \rVert = \lVert V \rVert$ best.
#
# **On your own.** Over the real numbers, how many pairs $(A', V')$ have the function of $(A, V)$ and $\lVert A' \rVert = \lVert A \rVert$?
# Consider all three cases and $t \ge 2$.
#
# <details><summary>Answer</summary>
#
# Generic: two, $\pm(A, V)$. Rank one: four, if $u$ and $v$ are not parallel, two if they are. Zero: infinitely many. If $A = 0$,
# then $A' = 0$ leaves $V'$ free; if $A \ne 0$ and $V = 0$, then $V' = 0$ and $A'$ may be any matrix of that length (for $d = 1$ there are
# only two).
#
# </details>
