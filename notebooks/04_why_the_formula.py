# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # See why the formula is true
#
# *Section 3.3 of the paper, and Lemma D, the Peel lemma and Theorem C of [docs/mathematics.md](../docs/mathematics.md). About 50 minutes. You need: rank, determinants, and the notebooks
# [Unrolling](04_unrolling.ipynb) and [Deep dimension](04_deep_dimension.ipynb).*
#
# The general formula gives the dimension of every deep lightning network. It is ours, proved in full, and **not peer-reviewed**. So do not believe it: take it apart. You will see why a network cannot have
# more dimensions than the formula says, watch a layer disappear, see why it cannot have fewer, and get a list of the places where one would attack the proof.

# %%
import numpy as np

import neuroviz as nv
from neuroviz.beyond.why.flag import measure_span
from neuroviz.beyond.why.peeling import (
    antisymmetric,
    first_layer,
    measure_kernel,
    scale_and_turn,
    without_first_layer,
)
from neuroviz.engine.field import DEFAULT_PRIME, PrimeField, Reals
from neuroviz.engine.network import random_weights
from neuroviz.engine.rank import numerical_rank
from neuroviz.engine.symmetry import VirtualWeights, virtual_weights
from neuroviz.engine.virtual import product_form
from neuroviz.explorables import FlagExplorer
from neuroviz.kit.presets import presets
from neuroviz.lessons.teaching import predict

# %% [markdown]
# ## Say what has to be shown
#
# Here is a network that is neither narrow in the middle nor of one width:
#
# <!-- teacher (4 min): Write the two halves on the board and keep them there: not more, not fewer. The second is where students stop asking what is being shown. -->

# %%
net = nv.Architecture(widths=(9, 8, 9, 1), head_dims=(2, 2, 1), tokens=2)
net.num_parameters, nv.general_formula(net).value

# %% [markdown]
# 239 parameters, and 87 dimensions. To prove such a number takes two halves:
#
# * **not more**: find 152 independent ways to change the weights that do nothing. Symmetries are such ways, and so is every change of what nobody looks at;
# * **not fewer**: show that nothing else does nothing. This is harder, for who knows what there might be?
#
# We begin with the first half. The function depends on the virtual weights only, $L$ and $M_1, \dots, M_l$. So count these.

# %% [markdown]
# ## Ask what later layers can see
#
# After layer 2 the tokens have 9 coordinates. But they came through a width of 8, so they live in a space of 8 dimensions. And who looks at them? $L$ has a single row, so it takes one number from each token. And the
# last attention matrix has rank one, $M_3 = k q^\top$, so it takes two: $k \cdot x$ and $q \cdot x$. Everything else about these tokens goes unnoticed.
#
# <!-- teacher (8 min): Build the columns of the panel from right to left by hand for 9, 8, 9, 1. The usual slip is to add a, and not 2a, for a layer: it has keys and queries. -->

# %%
predict("Of the 9 dimensions after layer 2, how many does anything later look at?", measure_span(net, 2))

# %% [markdown]
# This was measured at random weights as a rank, of the rows of $L$ together with the rows and columns of $M_3$:

# %%
L, M = virtual_weights(Reals(), random_weights(Reals(), net, np.random.default_rng(0)))
numerical_rank(np.vstack([L, M[2], M[2].T]))

# %% [markdown]
# One layer earlier $M_2$ looks as well. It has rank 2, so it takes four numbers more, and there are $3 + 4 = 7$ dimensions that somebody looks at:

# %%
numerical_rank(np.vstack([L, M[2], M[2].T, M[1], M[1].T]))

# %% [markdown]
# *What you see in the panel.* On the left each width is a column of cells, one for each dimension: with the name of who looks at it, or *unseen* if it arrives and nobody looks, or *empty* if no token ever reaches it.

# %%
flag_panel = FlagExplorer()
flag_panel

# %% [markdown]
# * Change the last head dimension from 1 to 3 (`2,2,3`). What do later layers see now, after layer 2 and after layer 1?
# * Type the widths `2,4,2` and head dimensions `2,2`. Why are two cells empty?
# * Find widths for which every cell is seen.
#
# Or press a button instead of typing; the last question has none.

# %% tags=["hide-input"]
presets(
    flag_panel,
    {
        "9, 8, 9, 1 with 2, 2, 1": "widths=9,8,9,1;head_dims=2,2,1",
        "9, 8, 9, 1 with 2, 2, 3": "widths=9,8,9,1;head_dims=2,2,3",
        "2, 4, 2 with 2, 2": "widths=2,4,2;head_dims=2,2",
    },
)

# %% [markdown]
# <details><summary>Answers</summary>
#
# After layer 2 they see $1 + 2 \cdot 3 = 7$ of 9, and after layer 1 all 8, since $7 + 4$ is more than there is. In `2,4,2` tokens come from a space of two dimensions, and $V_1$ cannot make
# more of it: here the formula of the paper does not apply, and this is why. All is seen in a bottleneck, such as `5,3,4`.
#
# </details>
#
# **The rule.** Let $r_i = \min(d_0, \dots, d_i)$ be the dimension of the space in which the tokens after layer $i$ live, and $w_i$ what later layers see of it. Going backwards from $w_l = d_l$,
#
# $$w_{i-1} = \min\bigl(r_{i-1},\ w_i + 2\min(a_i, r_{i-1})\bigr),$$
#
# since $M_i$ adds at most twice its rank, and never more than there is. (At the input, $w_0$ is $d_0$.)

# %% [markdown]
# ## Choose subspaces, then matrices
#
# Now count the virtual weights. The rows that later layers use span a space $R_i$ of $w_i$ dimensions, and what layer $i+1$ and later see is part of what layer $i$ and later see: $R_2 \subset R_1 \subset \mathbb{R}^9$, spaces inside spaces. Such a chain is called
# a **flag**. To choose virtual weights is to choose
#
# 1. the flag: a space of dimension $w_i$ inside one of dimension $w_{i-1}$ can be chosen in $w_i (w_{i-1} - w_i)$ independent ways;
# 2. $L$, whose $d_l$ rows lie in the last of these spaces: $d_l\, w_{l-1}$ ways;
# 3. each $M_i$, of rank at most $a_i$, with rows and columns in $R_{i-1}$: $\alpha(a_i, w_{i-1})$ ways.
#
# A plane through 0 in $\mathbb{R}^3$ is the simplest case of the first line. In how many independent ways can it be tilted?

# %%
predict("In how many independent ways can a plane in three dimensions be tilted?", 2 * (3 - 2))

# %% [markdown]
# The right part of the panel adds the terms. **Lemma D** says that this count is right: every such choice comes from weights of the network, and choices in general position give different virtual weights. Call the sum $D$.
#
# The $l$ rescalings of Eq. 13 move $(L, M_1, \dots, M_l)$ in $l$ independent directions and leave the function alone. So there are **at most $D - l$ dimensions**: $14 + 12 + 3 + 32 + 24 + 5 - 3 = 87$.
# (If tokens become parallel there may be fewer; see below.)

# %% [markdown]
# ## Look at one point to know about almost all
#
# Now the second half: nothing else does nothing. For which weights should we show it? The formula is about almost all weights. But it is enough to look at *one*:

# %%
[numerical_rank(np.array([[1, 1], [1, 1 + s]])) for s in (0, 0.001, 0.1, 1)]

# %% [markdown]
# A rank can drop at a special point, and never jumps up there. (If some minor is not zero at a point, then it is a polynomial that is not the zero polynomial, and it is not zero at almost all other points either.) So the
# directions that do nothing, the **kernel**, can be more at special weights than elsewhere, and never fewer.
#
# So we may choose the most convenient weights that there are. If we find *one* network in which only the $l$ rescalings do nothing, we are done. Which one?

# %% [markdown]
# ## Watch a layer disappear
#
# Take two tokens, and let $M_1$ be antisymmetric: $M_1 = \alpha\beta^\top - \beta\alpha^\top$ with two vectors $\alpha, \beta$. No token attends to itself now, since $x^\top M_1 x = 0$. What does the first layer do?
#
# <!-- teacher (8 min): Two tokens only. Ask what a quarter turn does to XXᵀ before anybody computes. -->

# %%
rng = np.random.default_rng(0)
M1 = antisymmetric(Reals(), *rng.standard_normal((2, 3)))
X = rng.standard_normal((3, 2))
area, turned = scale_and_turn(Reals(), M1, X)
print(first_layer(Reals(), M1, X).round(3))
print((area * turned).round(3), "with Δ =", area.round(3))

# %% [markdown]
# It puts $-x_2$ in the place of $x_1$, and $x_1$ in the place of $x_2$, and multiplies both by one number,
#
# $$X \mapsto \Delta \cdot X J, \qquad J = \begin{pmatrix} 0 & 1 \\ -1 & 0 \end{pmatrix}, \qquad \Delta = x_1^\top M_1 x_2 = \det \begin{pmatrix} \alpha \cdot x_1 & \alpha \cdot x_2 \\ \beta \cdot x_1 & \beta \cdot x_2 \end{pmatrix}:$$
#
# a scale, which is the area between the two tokens in the coordinates $\alpha, \beta$, and a quarter turn. The rest of the network, $F$, can do nothing about either. A number passes through layers as a power, and $J$ passes as it is, because
# $XJ(XJ)^\top = XX^\top$. Which power of $\Delta$ comes out of the two layers after the first one?

# %%
two = VirtualWeights(np.eye(3), tuple(np.random.default_rng(3).standard_normal((2, 3, 3))))
doubled = product_form(Reals(), two, 2 * X) / product_form(Reals(), two, X)
predict(
    "l = 3 layers, the first is peeled off. Which power of Δ comes out of the other two?",
    round(np.log2(doubled.max())),
)

# %%
virtual = VirtualWeights(rng.standard_normal((3, 3)), (M1, *rng.standard_normal((2, 3, 3))))
J = np.array([[0.0, 1.0], [-1.0, 0.0]])
whole = product_form(Reals(), virtual, X)
rest = product_form(Reals(), without_first_layer(virtual), X)
print(whole / (rest @ J))
print(area**9)

# %% [markdown]
# So $\varphi(X) = \Delta^{\kappa}\, F(X)\, J$ with $\kappa = 3^{l-1}$: the first layer is gone but for its scale. (For parallel tokens the area $\Delta$ is 0, and both vanish.)

# %% [markdown]
# ## Split the kernel
#
# **Peel lemma.** At $M_1 = \alpha\beta^\top - \beta\alpha^\top$ (with $\alpha, \beta$ independent, $L \ne 0$, and no later $M_j$ antisymmetric) the kernel consists of the rescaling of $M_1$ and of the kernel of $F$, the network without its
# first layer.
#
# <details><summary>The proof in words</summary>
#
# Let a direction $(\dot M_1, \text{rest})$ do nothing, and write down what this means; using the form of $\varphi$ above it is one equation between polynomials in the two tokens, $\Delta \cdot \dot F(X) = DF(X)[XX^\top \dot M_1 X J]$. The left side contains the factor $\Delta$.
#
# First let both tokens lie on one line. There $\Delta = 0$, so the right side has to vanish, and it comes out as $u^\top \dot M_1 u$ times something that is not zero for almost all directions $u$ of the line. So $\dot M_1$ is antisymmetric as well.
#
# Then $X^\top \dot M_1 X$ is a number $\dot\Delta$ times $J$, and the equation says that $\Delta$ divides $\dot\Delta \cdot F$. Now $\Delta$ is a $2 \times 2$ determinant, which cannot be factored, and $F$ does not vanish wherever $\Delta$ does. So $\Delta$ divides $\dot\Delta$; both have degree
# 2, so $\dot\Delta = c\,\Delta$ and $\dot M_1 = c M_1$. That is the rescaling. Take it away, and $\dot F = 0$ remains.
#
# The lines are in [docs/mathematics.md](../docs/mathematics.md), *Peel lemma*.
#
# </details>
#
# Test it, exactly modulo a prime, for one to four layers and three dimensions: the kernel at an antisymmetric $M_1$, and that of the network without it.
#
# <!-- teacher (8 min): The proof can be told in words, as it stands there. That the determinant cannot be factored is the one fact to write down. -->

# %%
over, draw = PrimeField(DEFAULT_PRIME), np.random.default_rng(1)


def kernels(layers, width, first):
    L, *Ms = over.random(draw, (layers + 1, width, width))
    special = VirtualWeights(L, (first(*over.random(draw, (2, width))), *Ms[1:]))
    return tuple(measure_kernel(one, over, draw).kernel for one in (special, without_first_layer(special)))


for layers in (1, 2, 3, 4):
    here, tail = kernels(layers, 3, lambda a, b: antisymmetric(over, a, b))
    print(f"l = {layers}: {here} directions do nothing; without the first layer {tail}")

# %% [markdown]
# One more each time: the step that peels off a layer costs its rescaling and nothing else. Does any special $M_1$ do? Try a symmetric one of rank one, $M_1 = \alpha\alpha^\top$, with three layers and two dimensions.

# %%
wrong_end, _ = kernels(3, 2, lambda a, b: over.matmul(a[:, None], a[None]))
predict("M₁ = ααᵀ, l = 3, two dimensions. How many directions do nothing?", wrong_end)

# %% [markdown]
# That is more than three. It is not wrong, a kernel may be larger at special weights; but it proves nothing about others.

# %% [markdown]
# <details><summary>Where do the two more come from?</summary>
#
# After a layer of rank one the tokens are parallel. Then $M_2$ and $M_3$ are asked for their symmetric part only, and each has one antisymmetric direction, in two dimensions. In three dimensions there are three each, and the kernel is $3 + 6 = 9$.
#
# </details>

# %% [markdown]
# ## Peel again
#
# Now put it together. Let $k(l)$ be the size of the kernel for $l$ layers at almost all $L, M_1, \dots, M_l$, all entries free. Then
#
# $$k(l) \;\le\; \text{kernel at an antisymmetric } M_1 \;=\; 1 + k(l-1) \;\le\; \dots \;\le\; (l - 1) + k(1) \;=\; l .$$
#
# The first step is the rule about special points, the equation is the Peel lemma, and then the next layer is peeled off, and the next. At the end one layer is left, where $k(1) = 1$ is Lemma A.3 of the paper, which you met in notebook 02. The $l$ rescalings are always there, so
# $k(l) = l$.
#
# That is the heart of it. Two things are left to do.
#
# **The matrices are not free.** In a network with widths and head dimensions, $M_i$ has rank at most $a_i$ and its rows and columns lie in $R_{i-1}$. So the antisymmetric matrix has to be found in there. It has rank 2: this needs $a_i \ge 2$ and $w_{i-1} \ge 2$. And it has to be a limit of
# what generic weights give, so that the rule about special points applies. It is, since all choices of flags and matrices form one connected piece with a single notion of "generic" (one says: the set is *irreducible*).
#
# **And if $a_k = 1$ or $w_{k-1} = 1$ for some layer $k$ before the last?** Then there is no antisymmetric matrix of rank 2 for layer $k$, and no peeling. But exactly then $M_k$ has rank one, the tokens become parallel, and later layers show the symmetric part of their $M_j$ only. So there may be fewer dimensions: $\sigma$ instead of $\alpha$, the
# rank-one collapse. The layers before $k$ are peeled off as before. For the rest there is an explicit formula, in which the function is a product of powers of quadratic forms $g^\top M_j\, g$ and a linear one; and since polynomials
# factor in one way only, each factor can be read off, up to a number. These numbers are the rescalings.
#
# **Theorem C.** For two tokens or more the dimension is $D - l$, with $\sigma$ in place of $\alpha$ in all layers after the first $k < l$ with $\min(a_k, w_{k-1}) = 1$, if there is one. For one token it is $D - l$ with $\sigma$ everywhere.

# %%
nv.general_formula(net)

# %% [markdown]
# □ **Status: proved here.** The proof is written out in full in [docs/mathematics.md](../docs/mathematics.md), and it is elementary: it uses neither Theorem 3.7 of the paper nor Ax's theorem. It is not peer-reviewed.

# %% [markdown]
# ## Build one yourself
#
# Where cells of the panel say *unseen*, the formula of the paper may be too large: for our network it says 90.

# %%
from neuroviz.lessons.checks_deep import check_unseen
from neuroviz.lessons.exercise import exercise

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
# ## Attack the proof
#
# Where would you look for a gap? Here is where we would.
#
# | the step | what could be wrong | what was tried |
# | --- | --- | --- |
# | Lemma D: what later layers see has dimension $w_i$ | vectors that are not as generic as claimed | the panel measures each $w_i$ as a rank, without the rule |
# | Lemma D: every flag with its matrices comes from weights | some choice is out of reach, and $D$ too large | the rank of weights $\mapsto (L, M)$ was $D$ in 2,898 networks |
# | special points: generic weights and the antisymmetric $M_1$ lie in one irreducible set | with two pieces the inequality says nothing | it is an image of one bundle over flags: check that *every* point of it is admitted |
# | two tokens instead of $t$ | with fewer inputs a kernel could be too *small* | it can only be too large, so this is the harmless direction: check that you agree |
# | Peel lemma: $\Delta$ cannot be factored, and $F$ does not vanish wherever it does | a special $F$ | this is where "no later $M_j$ antisymmetric" is used; 120 exact cases |
# | collapse: quadratic forms without common factors | small widths, where $M_j$ has few entries | the cases with a width of 1 are treated separately: look there first |
# | the formula as a whole | all of the above | more than 20,000 exact ranks, three implementations, no mismatch |
#
# A computation that agrees is no proof, and a proof that nobody else has read is not yet one that you should trust. The third column can be tested further here: the Peel lemma at random sizes, each time with fresh weights.
#
# <!-- teacher (6 min): Give each group one line of the table, and let them come back with a doubt. -->

# %%
sizes = [(int(draw.integers(1, 5)), int(draw.integers(2, 5))) for _ in range(30)]
found = [kernels(layers, width, lambda a, b: antisymmetric(over, a, b)) for layers, width in sizes]
sum(here == 1 + tail for here, tail in found), len(found)

# %% [markdown]
# ## In practice
#
# * The two halves are how many such counts are done: symmetries give an upper bound, one computed rank a lower bound. Where both agree, the dimension of this one network is proved, whatever one thinks of the general proof. `nv.measure_dimension` then gives an `error_bound` of 0.
# * To get a lower bound one is free to choose the weights. Random ones are the usual choice; special ones make a proof readable.
# * Softmax has a special point of its own, which no weights reach: every token attends to itself alone, so that a layer does nothing at all. Freeze all layers but one, and only one is left to look at (*Theorem A* in [docs/mathematics.md](../docs/mathematics.md)). For this one needs exponentials that
#   behave like free numbers, which is Ax's theorem.
#
# **On your own.** The Peel lemma takes $M_1 = \alpha\beta^\top - \beta\alpha^\top$, of rank 2. In four dimensions there are antisymmetric matrices of rank 4. Does the first layer disappear there as well? Go through the proof, then measure: `over.reduce(G - G.T)` for a random $G$.
#
# <details><summary>Answer</summary>
#
# Yes. Two tokens make a $2 \times 2$ matrix $X^\top M_1 X$, and an antisymmetric one is a number times $J$, whatever the rank of $M_1$. The number $x_1^\top M_1 x_2$ cannot be factored either. The kernels for $l = 2, 3$ are 2 and 3. Rank 2 is taken because it fits into heads with $a_1 = 2$.
#
# </details>
