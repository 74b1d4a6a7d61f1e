# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Find out what softmax changes
#
# *Section 3.4 of the paper. About 75 minutes. You need: derivatives, and the notebook [Deep dimension](04_deep_dimension.ipynb).*
#
# Lightning attention is softmax attention without the softmax. You will see what this leaves out: softmax notices one thing that lightning does not. You will read all the weights off a softmax layer from its outputs alone, reproduce Figure 3 of the paper with exact numbers, and understand how a number about exponentials can be exact.
# The proof of the paper's conjecture has [a notebook of its own](05_the_proof.ipynb).

# %%
import numpy as np

import neuroviz as nv
from neuroviz.explorables import ExponentialsExplorer, Figure3Explorer, OneLayerExplorer, SoftmaxExplorer
from neuroviz.field import DEFAULT_PRIME, PrimeField
from neuroviz.logit_relations import measure_independence
from neuroviz.one_layer import softmax_layer
from neuroviz.one_layer_limit import limit_study
from neuroviz.one_layer_walk import read_off
from neuroviz.teaching import predict

# %% [markdown]
# ## Notice a factor
#
# Take one lightning layer, $\varphi(X) = V X X^\top A X$. Multiply $A$ by 2 and divide $V$ by 2: nothing happens. That is the rescaling, and it costs a dimension in every layer. With softmax,
#
# $$\varphi(X) = V X\, S, \qquad S = \mathrm{softmax}\bigl(X^\top A X\bigr) \text{ column by column}, \qquad S_{ji} = \frac{e^{\,x_j^\top A x_i}}{\sum_k e^{\,x_k^\top A x_i}},$$
#
# the same change makes the attention sharper and the values smaller. A layer with $d = d' = 3$ and $a = 2$ has 16 dimensions as lightning. How many as softmax?

# %%
one_layer = nv.Architecture((3, 3), (2,), tokens=3, attention="softmax")
predict("d = d′ = 3, a = 2, one softmax layer. How many dimensions?", nv.measure_dimension(one_layer))

# %% [markdown]
# That is all of $\alpha(a, d) + dd'$: nothing is lost except the basis inside the head. **Theorem 3.9** of the paper says why:
#
# > For two tokens or more the function of a softmax layer with $V \ne 0$ determines $A$ and $V$. If $V = 0$, it determines $V$ only.
#
# So one can read the weights off the function. Let us do it.

# %% [markdown]
# ## Read the weights off
#
# You may call the layer on any tokens you like, and see what comes out. All tokens but one are 0:
#
# 1. **$X = (x, 0, \dots, 0)$, last column.** A token 0 has all logits 0, so it looks at all tokens alike, and its output is the mean, $Vx/t$. Take $x = e_1, e_2, \dots$: this is $V$, column by column.
# 2. **The same, first column.** Token $x$ has one logit $s = x^\top A x$, and the others are 0: $\dfrac{e^{s}}{e^{s} + t - 1}\, Vx$. So $s$ is known wherever $Vx \ne 0$, and with enough $x$ the symmetric part of $A$.
# 3. **$X = (x, y, 0, \dots, 0)$, first column.** Now $y^\top A x$ enters as well, and nothing else is new. So all of $A$ is known.
#
# In code, given nothing but the function:

# %%
rng = np.random.default_rng(0)
A, V = rng.standard_normal((2, 3, 3))
found = read_off(softmax_layer(A, V), d=3, tokens=4)
print("largest error in A and V:", abs(found.A - A).max(), abs(found.V - V).max())

# %% [markdown]
# In step 2, what if $Vx = 0$ for the $x$ that you chose? And what if $V$ has rank one? Go through the steps in the panel. **part done** shows one input after the other.

# %%
OneLayerExplorer()

# %% [markdown]
# * Choose the step with two tokens. How many inputs does a $3 \times 3$ matrix $A$ need?
# * Set the **size of V** to 0. Which equation dies? Then set **tokens** to 1 (under *More*).
# * Take tokens of length 1 and a low temperature. Why is $A$ hard to read there, and why is the theorem still true?
#
# <details><summary>Answers</summary>
#
# One for each entry. With $V = 0$ all outputs are 0, for every $A$: this is the exception in the theorem. With one token $S = 1$, and $A$ is not used at all. At a low temperature attention is so sharp that $1 - S_{ji}$ is lost in rounding: the information is there, sixteen digits do not show it. A function that determines its weights need not make them easy to find.
#
# </details>
#
# Nothing was used of $e^s$ but that it turns sums into products and can be inverted. So there is an exact version: whole weights, arithmetic modulo a prime, and powers of 3 in the place of exponentials. The panel runs it beside the other; there the weights come back without any error.
#
# ■ **Status: proved** (Theorem 3.9; the walk is ours).

# %% [markdown]
# ## Look for lightning inside softmax
#
# If $A$ is small, or the temperature high, all tokens attend to all alike. What is left then? To first order in $1/\tau$, with $C = 1 - \mathbf{1}\mathbf{1}^\top/t$, which subtracts the mean of the tokens,
#
# $$\varphi(X) = \tfrac1t V X \mathbf{1}\mathbf{1}^\top + \tfrac{1}{t\tau}\, V (XC)\, X^\top A X + \dots$$
#
# the mean of the values, and a lightning layer that sees centred tokens. Doubling $\tau$ halves the distance to the mean. What does it do to the distance to both terms together, with three tokens?

# %%
limit = limit_study(A, V, rng.standard_normal((3, 3)))
predict(
    "τ is doubled. By which factor does the rest, after both terms, shrink?", 2 ** round(limit.first_slope)
)

# %% [markdown]
# (With two tokens it is 8. A softmax of two numbers is $\frac12 + \frac12 \tanh$, which has no quadratic part.)
#
# Is the rescaling back, then? No. It leaves the lightning term alone, but it divides the mean by $c$, at any temperature. Go back to the panel and choose its last **step**: it shows the mean, the lightning term and the rest, as the temperature rises.

# %% [markdown]
# ## Go deep
#
# Put $l$ layers on top of each other. Between layers bases may be changed as before, and inside heads as well. **Conjecture 3.10** of the paper says that this is all: in a bottleneck (Eq. 16)
#
# $$\dim = \delta\,(d_0 + d_l - \delta) + \sum_i \alpha(a_i, d_{i-1}),$$
#
# which is the lightning number without $-l$; and almost every function comes from one choice of the virtual weights $(L, M_1, \dots, M_l)$. How many more dimensions than lightning has a softmax network with four layers?

# %%
deep = [nv.Architecture.uniform(4, 2, 4, 3, kind) for kind in ("lightning", "softmax")]
lightning, softmax = (nv.measure_dimension(arch).value for arch in deep)
predict("Four layers. How many more dimensions has softmax than lightning?", softmax - lightning)

# %%
SoftmaxExplorer()

# %% [markdown]
# *What you see.* The same sizes twice, on the left without softmax and on the right with it: the parameters, what the symmetries take away, and the singular values. Below stands what is known about this network, and by which right.
#
# * Drag the **temperature** to both ends. The exact ranks stand still. What does floating point do?
# * Give layer 1 a head of rank one: `3,3,3` and `1,2` under *More*. Softmax loses nothing, lightning does. Why?
# * Set **tokens** to 1. Now softmax has *fewer* dimensions than lightning.
#
# <details><summary>Answers</summary>
#
# The dimension does not depend on the temperature, since $A/\tau$ runs through the same matrices as $A$. But the gap in the spectrum closes at both ends, and floating point reads 38 for 40 at $\tau = 0.1$. A lightning layer of rank one makes all tokens parallel; a softmax layer takes averages of tokens, and these are not. With one token every attention weight is 1, and all that is left of the network is the matrix $L$.
#
# </details>
#
# In code, for any network:

# %%
print(nv.what_is_known(deep[1]))

# %% [markdown]
# ## Reproduce Figure 3
#
# The paper supports the conjecture by eight measurements: $l = 2$, $t = 3$, $a = 2$ and $\delta = 3, \dots, 10$. They were made in floating point (float32), from a Jacobian computed row by row. In the panel are the same networks. Filled marks are **exact ranks**, the line is Eq. 16.

# %%
Figure3Explorer()

# %% [markdown]
# * Choose *softmax and lightning*. How far apart are the two rows of marks?
# * Switch on the **row-by-row float32** procedure. Where does it miss, and by how much? What does the lower right view say about the reason?
# * The buttons save the picture (SVG, PNG) and the numbers (CSV).
#
# <details><summary>Answers</summary>
#
# $l = 2$ apart. Float32 finds too few dimensions for large $\delta$ (142 for 145, 169 for 172). It is not that its numbers were wrong: the singular values are there, but the usual tolerance lies above the smallest of them. A tolerance is not a gap.
#
# </details>
#
# The whole grid, exactly:

# %%
[nv.measure_dimension(nv.Architecture.uniform(d, 2, 2, 3, "softmax")).value for d in range(3, 11)]

# %% [markdown]
# And each of these numbers can be *proved*, for this one network, in three ways: by our theorem; by an exact rank that meets an upper bound; and by ball arithmetic, which does not use the idea of the next section.

# %%
largest = nv.Architecture.uniform(10, 2, 2, 3, "softmax")
for route in ("theorem", "exact rank", "ball"):
    proof = nv.measure_dimension(largest, method="certified", route=route).certificate
    print(f"{route:11} {proof.dimension}   {proof.verify().finding}")

# %% [markdown]
# ## Understand why it can be exact
#
# An exact rank is computed modulo a prime. But what is $e^s$ modulo a prime?
#
# The answer is: it does not matter. Exponentials of *independent* functions satisfy no algebraic equation whatever, with the functions or among each other. That is **Ax's theorem** (1971): if no combination of $y_1, \dots, y_k$ with rational coefficients is constant, then the $e^{y_j}$ behave like $k$ new variables, as long as one asks for algebraic relations only. And whether a
# Jacobian has full rank is such a question, as the derivative of $e^{y}$ is $e^{y}\, dy$. So draw a random element of the field for each exponential, keep the rule for the derivative, and count.
#
# But first one has to check that the logits *are* independent. In a column only differences count, $y_{ji} = x_j^\top A x_i - x_i^\top A x_i$. Three tokens have six of them in a layer. For a random matrix $M$, how many are independent?

# %%
over, draw = PrimeField(DEFAULT_PRIME), np.random.default_rng(0)
M = over.random(draw, (3, 3))
independent = measure_independence(over, (M,), 3, draw).layers[0].independent
predict("Three tokens, six differences of logits. How many are independent?", independent)

# %% [markdown]
# And if queries and keys are tied, $K = Q$, so that $M$ is symmetric? And if $M$ is antisymmetric?

# %%
tied, turned = over.reduce(M + M.T), over.reduce(M - M.T)
[measure_independence(over, (one,), 3, draw).layers[0].independent for one in (tied, turned)]

# %% [markdown]
# For a symmetric $M$ there is one relation: going round the three tokens one way adds up to the same as going round the other way. For an antisymmetric one $y_{ij} = -y_{ji}$. Then the exponentials are not free, and drawing them freely would be a mistake. Does it change the count?

# %%
ExponentialsExplorer()

# %% [markdown]
# *What you see.* Two tokens and an antisymmetric $M_1$: the two exponentials are related by $PQ = 1$. On the left is what is free and what is not; on the right is how many directions of the weights do nothing, counted with the relation and without it, and as floating point sees it, with the true exponentials.
#
# * Set **exponentials** to *all free*. By how much is the count wrong?
# * Give the layer a third token. The relations are still there. Why is the count right?
# * Take a symmetric $M_1$ and three tokens.
#
# <details><summary>Answers</summary>
#
# By 4: the entries of $M_2$. An antisymmetric $M_1$ with two tokens makes them equal, and what comes later sees nothing; free exponentials do not know this. With three tokens nothing collapses. For a symmetric $M_1$ one of six exponentials is determined by the others, and the set of its attention matrices has 5 dimensions instead of 6; but the number of directions that do nothing is 0 either way.
#
# </details>
#
# So the hypothesis of Ax's theorem is no formality. The software checks tokens on a line, where all logits are symmetric, and shares the exponentials there; for almost all weights of all other networks the logits are independent, which is *Lemma G* in [docs/mathematics.md](../docs/mathematics.md).

# %% [markdown]
# ## In practice
#
# * A softmax network has no rescaling symmetry between keys and values. If you want to compare two trained networks, fix the bases of heads and layers, and nothing else.
# * A temperature is no parameter of its own: it is a factor of $A$. Learning it adds no dimension.
# * Low dimension counts in floating point are a warning about the spectrum before they are news about the network. Look at the gap, or count exactly.
#
# **On your own.** For $d = 1$ all matrices are numbers. How many dimensions has a softmax network of width 1 with $l$ layers and two tokens? And lightning? Predict, then measure.
#
# <details><summary>Answer</summary>
#
# Softmax $l + 1$: the numbers $L, M_1, \dots, M_l$. Lightning 1: its function is $L \prod_i M_i^{3^{l-i}}$ times a fixed one.
#
# </details>
