# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Unroll a deep network into its virtual weights
#
# *Section 3.3 of the paper. About 60 minutes. You need: products of matrices, rank, and the notebooks
# [01](01_matrix_factorization.ipynb) and [02](02_single_layer_fibers.ipynb), for what a head and a single layer show of their weights.*
#
# You will find out what a deep network shows of its weights, write it as one product and as one long sum, count the terms, turn a part of
# a term round so that terms cancel, and read weights off a function. At the end you know, for a bottleneck of full rank, all that can be done to
# the weights without changing what the network computes.

# %%
from itertools import product

import numpy as np

import neuroviz as nv
from neuroviz.engine.field import DEFAULT_PRIME, PrimeField, Reals
from neuroviz.engine.network import Layer, forward, random_weights
from neuroviz.engine.symmetry import (
    VirtualWeights,
    change_interface,
    drop_rank,
    recover_interfaces,
    virtual_weights,
)
from neuroviz.engine.virtual import (
    balancing_factor,
    occurrences,
    product_form,
    reflect,
    sum_form,
    term,
    token_form,
)
from neuroviz.explorables import LedgerExplorer, UnrollingExplorer, VirtualWeightsExplorer
from neuroviz.kit.presets import presets
from neuroviz.lessons.teaching import predict

# %% [markdown]
# ## See what is left of a layer in the middle
#
# Two lightning layers in a row, three tokens. The tokens have 3 coordinates, only 2 between the layers, and 3 again at the end:
#
# <!-- teacher (5 min): Do the case l = 2 on the board: V₁ moves into A₂ from both sides. Everything below repeats this one line. -->

# %%
rng = np.random.default_rng(0)
arch = nv.Architecture(widths=(3, 2, 3), head_dims=(2, 2), tokens=3)
weights = random_weights(Reals(), arch, rng)
X = rng.standard_normal((3, 3))


def network(weights, X):
    for Q, K, V in weights:
        X = V @ X @ X.T @ (K.T @ Q) @ X
    return X


network(weights, X)

# %% [markdown]
# The second layer gets tokens $V_1 y$, and asks how much one attends to another: $(V_1 y)^\top A_2\, (V_1 y') = y^\top (V_1^\top A_2 V_1)\, y'$. So it never uses
# $A_2$ alone, only $V_1^\top A_2 V_1$. With $l$ layers, let $U_0 = 1$ and $U_i = V_i \cdots V_1$. What counts is
#
# $$L = U_l, \qquad M_i = U_{i-1}^\top A_i\, U_{i-1} \quad (i = 1, \dots, l).$$
#
# These are the **virtual weights** (Eq. 8 of the paper). The $M_i$ all have the size of the input: as far as the function is concerned, the tokens
# never leave the space that they came from, and $L$ is applied once, at the end.

# %%
L, M = virtual_weights(Reals(), weights)
Y = X
for M_i in M:
    Y = Y @ Y.T @ M_i @ Y
np.allclose(L @ Y, network(weights, X))

# %% [markdown]
# ## Change a basis that nobody sees
#
# Layer 1 can describe its outputs in another basis, $C V_1$ instead of $V_1$, with an invertible $C$. If layer 2 knows, it can undo it. Nothing is
# said outside. Of the six matrices $Q_1, K_1, V_1, Q_2, K_2, V_2$, how many have to change?
#
# <!-- teacher (5 min): Popular answers are 2 (only the V) and 6 (all). Ask who reads the tokens behind layer 1, and what they read them with. -->

# %%
C = np.array([[1.0, 2.0], [0.0, 1.0]])
other = change_interface(Reals(), weights, 0, C)
changed = sum(not np.array_equal(*pair) for pair in zip(sum(weights, ()), sum(other, ()), strict=True))
predict("How many of the six matrices change?", changed)

# %% [markdown]
# <details><summary>Which ones?</summary>
#
# $V_1$ becomes $CV_1$. Whatever reads the tokens after it has to multiply by $C^{-1}$ first: $Q_2, K_2$ and $V_2$ become $Q_2C^{-1}, K_2C^{-1}, V_2C^{-1}$
# (Eq. 9). So four.
#
# </details>
#
# Drag **along the walk**: $C$ runs through the invertible matrices. What moves, and what stands still?

# %%
basis_panel = VirtualWeightsExplorer(
    only=["layers", "width", "interface", "walk", "along", "lost", "free", "alone"]
)
basis_panel

# %% [markdown]
# * Give the network four **layers**, and change the **basis** *in the middle*, or press the first button. How many matrices move now?
# * Back to two layers, with **along the walk** at 0 and **move V alone** at 30 % (the second button): layer 1 has changed its language and told nobody. Which of $L$, $M_1$, $M_2$ notice? (Set it back to 0.)

# %% tags=["hide-input"]
presets(
    basis_panel,
    {
        "four layers, basis in the middle": "layers=4;interface=middle;along=0.7",
        "V alone by 30 %": "along=0;alone=0.3",
    },
)

# %% [markdown]
# <details><summary>Answers</summary>
#
# Still four: the basis between two layers concerns only the one before and the one after. And if $V_1$ moves alone, $L$ and $M_2$ move with it, as
# both contain $V_1$. $M_1 = A_1$ does not, since layer 1 attends before $V_1$ is applied.
#
# </details>

# %% [markdown]
# ## Find the change again
#
# Somebody hands you two networks with the same virtual weights. Which $C$ leads from one to the other? Since $U_1' = C U_1$:

# %%
found = other[0].V @ np.linalg.pinv(weights[0].V)
found.round(6)

# %% [markdown]
# **Lemma 3.5.** Let all inner widths be $\delta \le d_0, d_l$, and let every $V_i$ have rank $\delta$. Then two networks with
# the same $(L, M_1, \dots, M_l)$ differ, in their $A_i$ and $V_i$, by changes of basis between the layers, and the $C_i$ are unique.
#
# For more layers the package goes from interface to interface in the same way:

# %%
wide = nv.Architecture(widths=(4, 3, 3, 3, 4), head_dims=(2, 2, 2, 2), tokens=3)
one = random_weights(Reals(), wide, rng)
bases = [rng.standard_normal((3, 3)) for _ in range(3)]
two = one
for i, basis in enumerate(bases):
    two = change_interface(Reals(), two, i, basis)
[
    np.allclose(*pair, rtol=1e-6, atol=1e-6)
    for pair in zip(recover_interfaces(Reals(), one, two), bases, strict=True)
]

# %% [markdown]
# ## Break it: a V loses rank
#
# Now let $V_1$ have rank 1 only, in a network with $\delta = 2$. All tokens after layer 1 lie on one line. Let $n$ be at right angles to it. To each
# row of $Q_2$, $K_2$ and $V_2$ we may add a multiple of $n^\top$, and no token will ever notice.

# %%
thin = (weights[0]._replace(V=drop_rank(weights[0].V)), weights[1])
free_numbers = sum(len(W) for W in thin[1])
predict("How many numbers of layer 2 can be chosen freely in this way?", free_numbers)

# %%
n = np.linalg.svd(thin[0].V)[0][:, 1:]
moved = (thin[0], Layer(*(W + rng.standard_normal((len(W), 1)) @ n.T for W in thin[1])))
np.allclose(network(moved, X), network(thin, X))

# %%
try:
    recover_interfaces(Reals(), thin, moved)
except ValueError as refusal:
    print(refusal)

# %% [markdown]
# <details><summary>Why is there no C? Open this when you have committed to a number.</summary>
#
# There are $2 + 2 + 3 = 7$ rows. A $C$ that leaves $V_1$ as it is has the form $C = 1 + w n^\top$, with two numbers in $w$, and moves all three matrices with these
# two. So it cannot make seven independent changes: five of the seven belong to no change of basis.
#
# </details>
#
# In the panel above tick **V before it loses one rank** and drag **free part**. $L$, $M$ and the outputs stay, and the sentence below the picture says
# what has become of $C$.

# %% [markdown]
# ## Write the network as one product
#
# One layer is $X X^\top M X$. Put $G_0 = XX^\top$, and let $G_i$ be the same for the tokens after layer $i$. Then
#
# $$G_i = G_{i-1} M_i\, G_{i-1} M_i^\top G_{i-1}, \qquad \varphi(X) = L\, G_{l-1} M_l\, G_{l-2} M_{l-1} \cdots G_0 M_1\, X$$
#
# (Lemma 3.6, Eq. 10). The first formula is where the depth comes in: each $G$ contains the one before it three times. For two layers:

# %%
G = X @ X.T
np.allclose(L @ (G @ M[0] @ G @ M[0].T @ G) @ M[1] @ G @ M[0] @ X, network(weights, X))

# %% [markdown]
# Six layers are a polynomial of degree $3^6 = 729$ in $X$. In floating point that overflows easily, and "nearly equal" says little. Modulo a prime there
# is no rounding, and equal means equal. `token_form` is Eq. 11, the same with matrices of the size of the number of tokens.

# %%
over = PrimeField(DEFAULT_PRIME)
deep = random_weights(over, nv.Architecture.uniform(d=3, a=2, layers=6), rng)
inputs = over.random(rng, (3, 3))
virtual = virtual_weights(over, deep)
layers, Eq10, Eq11 = (
    forward(over, "lightning", deep, inputs[None])[0],
    product_form(over, virtual, inputs),
    token_form(over, virtual, inputs),
)
np.array_equal(layers, Eq10) and np.array_equal(layers, Eq11)

# %% [markdown]
# ## Multiply it out
#
# $G_0 = XX^\top = \sum_j x_j x_j^\top$ is a sum over tokens. Put this into the product, and between two neighbouring tokens there
# remains a number. For two layers, output token $i$ is
#
# $$\varphi(X)_i = \sum_{j_1, j_2, j_3, j_4} L x_{j_1} \cdot (x_{j_1}^\top M_1 x_{j_2})\,(x_{j_2}^\top M_1^\top x_{j_3})\,(x_{j_3}^\top M_2\, x_{j_4})\,(x_{j_4}^\top M_1\, x_i),$$
#
# where each $j$ runs through all tokens. How many terms is that with three tokens?
#
# <!-- teacher (8 min): Stop at 81 terms and let them add the places of three layers, 13, by themselves. The three in 3^l is mistaken for the number of tokens, as the example has three. -->

# %%
places = len(nv.unroll(2))
predict("l = 2 layers, t = 3 tokens: how many terms has one output token?", 3**places)

# %% [markdown]
# There are few enough to add them one by one:

# %%
np.allclose(sum_form(Reals(), VirtualWeights(L, M), X), network(weights, X))

# %% [markdown]
# And one layer more?

# %%
predict("l = 3, t = 3: how many digits has the number of terms?", len(str(3 ** len(nv.unroll(3)))))

# %% [markdown]
# <details><summary>How many terms, and where is the three?</summary>
#
# $n = (3^l - 1)/2$ places have a choice of $t$ tokens each: 1, 4, 13, 40 places for $l = 1, 2, 3, 4$. So $3^4 = 81$ terms for two layers, $3^{13} = 1{,}594{,}323$
# for three, and about $10^{19}$ for four. The three in $3^l$ is not the number of tokens: a layer uses its input three times, as keys, queries and values.
#
# </details>
#
# **Which matrix stands where?** Let $\widetilde M_k$ be the one at place $k$, and write $k$ in base three. The number of zeros at its end says which layer: none is $M_1$, one is
# $M_2$, and so on. The last digit that is not zero says whether it is transposed: 1 is no, 2 is yes (Eq. 12). `nv.unroll` reads this off:

# %%
[(k, np.base_repr(k, 3), *factor) for k, factor in enumerate(nv.unroll(2), start=1)]

# %%
term_panel = UnrollingExplorer()
term_panel

# %% [markdown]
# *What you see.* A layer takes what is below it three times: for its values, for its keys (these mirrored) and for its queries. So the tree has $3^l$ copies of $X$ at the bottom, 9 here. Below it is one term: the tokens $j_1, j_2, \dots$ and at the end $i$;
# between them the matrices, coloured by layer and hatched where transposed; $k$ in base three; and the numbers, at random weights, whose product is the term.
#
# * Set **layers** to 3 and find the places of $M_1$, of $M_2$ and of $M_3$. How often does each occur?
# * Which matrix stands at place 36 when $l = 4$? Work it out first, then set **layers** to 4 and look.
#
# <details><summary>Answers</summary>
#
# Nine times, three times, once: $M_h$ or its transpose occurs $3^{l-h}$ times. And $36$ is $1100$ in base three: two zeros, so $M_3$; the last digit before
# them is 1, so not transposed.
#
# </details>

# %% [markdown]
# ## Turn a part of a term round
#
# Set the panel back to 2 **layers**, go to **place** 3, where $M_2$ stands, and press **reflect**; or press the two buttons, one after the other. The tokens in a window around place 3 change their order: the first
# with the last, and so on. What becomes of the four numbers?
#
# <!-- teacher (6 min): Write the term as a chain on the board and turn the window over with a sheet of paper. -->

# %% tags=["hide-input"]
presets(
    term_panel,
    {
        "2 layers, place 3": "layers=2;place=3",
        "2 layers, place 3, reflected": "layers=2;place=3;reflect=yes",
    },
)

# %%
reflect(2, (0, 0, 1, 2, 0), place=3)

# %% [markdown]
# (In code, tokens are counted from 0.) The numbers at equal distances left and right of place 3 change places with each other, because the matrices there are transposes
# of each other: $x^\top M_1 x' = x'^\top M_1^\top x$. Only the middle one really changes, from $x^\top M_2\, x'$ to $x'^\top M_2\, x = x^\top M_2^\top x'$. One matrix in the
# term has been transposed. This works if both ends of the window hold the same token, so that the links to the outside stay. It is the paper's Figure 4.
#
# Now suppose that $M_2$ is antisymmetric, $M_2^\top = -M_2$. What is the sum of a term and its mirror image?

# %%
antisymmetric = VirtualWeights(L, (M[0], M[1] - M[1].T))
here = (0, 0, 1, 2, 0)
print(term(Reals(), antisymmetric, X, here), term(Reals(), antisymmetric, X, reflect(2, here, place=3)))

# %% [markdown]
# They cancel. So do all terms with $j_2 = i$, since in a window from $j_2$ to $j_5 = i$ every one of them has its mirror image. Their number, the largest of them, and their sum:

# %%
pairs_up = [
    term(Reals(), antisymmetric, X, (*indices, 0))
    for indices in product(range(3), repeat=4)
    if indices[1] == 0
]
print(len(pairs_up), np.abs(pairs_up).max(), np.abs(sum(pairs_up)).max())

# %% [markdown]
# In the panel, under **More**, tick *M at place k antisymmetric* and see two terms cancel, number by number. In the paper's proof of its main theorem terms are made to cancel in this
# way.

# %% [markdown]
# ## Rescale
#
# In every term $M_h$ occurs $3^{l-h}$ times and $L$ once. So multiply $M_1$ by 2, and each term of three layers is multiplied by $2^9$. What must $L$ be
# divided by?
#
# <!-- teacher (4 min): 8 is the popular wrong answer for three layers: one factor of 2 for each. Ask how often M₁ stands in a term. -->

# %%
predict("l = 3, M₁ is doubled. By what must L be divided?", round(1 / balancing_factor(Reals(), [2, 1, 1])))

# %%
occurrences(3), occurrences(5)

# %% [markdown]
# **Eq. 13.** $L' = \lambda_0 L$ and $M_i' = \lambda_i M_i$ give the same function (if it is not zero) exactly when
#
# $$\lambda_0\, \lambda_1^{3^{l-1}} \lambda_2^{3^{l-2}} \cdots \lambda_{l-1}^{3}\, \lambda_l = 1 .$$
#
# The panel from above has a second view, in which $\lambda_0$ answers by itself. Sliders and bars count in powers of two. Which slider moves it most?

# %%
rescaling_panel = VirtualWeightsExplorer(state="view=rescale;layers=3;width=3")
rescaling_panel

# %% [markdown]
# * Set **layers** to 4, all $\log_2\lambda_i$ to 0 and $\log_2\lambda_1 = 1$, or press the first button. How large is $\lambda_0$?
# * Under **More**: miss $\lambda_0$ by a little. And switch **attention** to softmax. Does any $\lambda_0$ answer there? (The other two buttons.)

# %% tags=["hide-input"]
presets(
    rescaling_panel,
    {
        "four layers, λ₁ = 2": "layers=4;log_1=1;log_2=0;log_3=0;log_4=0",
        "miss λ₀ by a little": "layers=4;log_1=1;log_2=0;log_3=0;log_4=0;off=0.1",
        "the same with softmax": "layers=4;log_1=1;log_2=0;log_3=0;log_4=0;kind=softmax",
    },
)

# %% [markdown]
# <details><summary>Answers</summary>
#
# $2^{-27}$, about $7.5 \cdot 10^{-9}$. So a factor of 2 in the first layer, which is a mere matter of units, comes out of the fourth as 134 million. Miss $\lambda_0$, and all outputs are off by this factor. For softmax there is no answer at all: a doubled $M$ makes a
# sharper softmax, which no $L$ can undo.
#
# </details>
#
# In the weights of the layers it is the rescaling of notebook 02, one for each layer: $(cA_i, V_i/c)$.

# %% [markdown]
# ## Read the weights off the function
#
# So far we know what can be changed. Is that all? To see it, one has to get $L$ and the $M_i$ back from the function. Feed in two tokens $y$ and $x$, look at the output for $x$,
# and keep only what is *linear in $x$*. In the sum, $x$ stands at the last place in any case. So it must stand nowhere else: all of $j_1, \dots, j_n$ are $y$. **One** term is left:
#
# $$L y \cdot (y^\top M_1 y)^{3^{l-1}-1} \cdot \prod_{h \ge 2} (y^\top M_h\, y)^{3^{l-h}} \cdot (y^\top M_1 x)$$
#
# (Eq. 28; in the panel with the tree, under **More**: *only y and x*). Its direction is that of $Ly$, and its dependence on $x$ is that of $y^\top M_1 x$. So ratios can be read off. Here the
# ratio of two entries of $M_1$, from outputs alone:

# %%
e1, e2, e3 = np.eye(3)


def linear_part(y, x, step=1e-5):
    def output(s):
        return network(weights, np.stack([y, s * x], axis=1))[:, 1]

    return (output(step) - output(-step)) / (2 * step)


print(linear_part(e1, e2)[0] / linear_part(e1, e1)[0], M[0][0, 1] / M[0][0, 0])

# %% [markdown]
# And the first column of $L$, up to a factor:

# %%
print(linear_part(e1, e2) / linear_part(e1, e2)[0], L[:, 0] / L[0, 0])

# %% [markdown]
# What can go wrong here? If $M_1$ is antisymmetric, or a later one is, the part that we look at is zero, since $y^\top M y = 0$. And if $M_1 = u k^\top$ has rank one, then $y^\top M_1 x$ is
# $k^\top x$ up to a factor that does not depend on $x$, and these ratios say nothing about $u$.
#
# **Theorem 3.7.** Let $l, t \ge 2$, $L \ne 0$, all $M_i$ of rank at least 2 and none of them antisymmetric. Then $(L', M')$ has the same function as $(L, M)$ exactly when it is a
# rescaling of it (Eq. 13).
#
# Together with Lemma 3.5 and Lemma 3.1 this says all: in a bottleneck of full rank, weights with the same function differ by changes of basis inside the heads, changes of basis
# between the layers, and one factor for each layer. (The paper may ask for less: the text that we worked from does not show
# for which $i$ the two hypotheses on $M_i$ are needed, and asking for all is safe.)
#
# The hypotheses are there for a reason. Here is a network that breaks one: $M_1 = J$ is a quarter turn, which is antisymmetric. Let the two layers change places:

# %%
J = np.array([[0.0, 1.0], [-1.0, 0.0]])
B, L2 = rng.standard_normal((2, 2, 2))
X2 = rng.standard_normal((2, 3))
first = product_form(Reals(), VirtualWeights(L2, (J, B)), X2)
second = product_form(Reals(), VirtualWeights(L2 / np.linalg.det(B), (B, J)), X2)
np.allclose(first, second)

# %% [markdown]
# The same function, from weights that no rescaling connects. (A short proof is in [docs/mathematics.md](../docs/mathematics.md), *Fibres that are not one orbit*.)

# %% [markdown]
# ## Try some changes yourself
#
# Which of these five leave the function of our network alone?
#
# 1. $Q_1$ doubled, $K_1$ halved;
# 2. $V_1$ doubled, $V_2$ halved;
# 3. $V_1$ doubled, $V_2$ divided by 8;
# 4. $Q$ and $K$ exchanged in both layers;
# 5. a rotation $R$ after layer 1: $R V_1$, $Q_2 R^\top$, $K_2 R^\top$, and $V_2$ as it was.

# %%
(Q1, K1, V1), (Q2, K2, V2) = weights
R = np.array([[0.6, -0.8], [0.8, 0.6]])
tries = [
    (Layer(2 * Q1, K1 / 2, V1), Layer(Q2, K2, V2)),
    (Layer(Q1, K1, 2 * V1), Layer(Q2, K2, V2 / 2)),
    (Layer(Q1, K1, 2 * V1), Layer(Q2, K2, V2 / 8)),
    (Layer(K1, Q1, V1), Layer(K2, Q2, V2)),
    (Layer(Q1, K1, R @ V1), Layer(Q2 @ R.T, K2 @ R.T, V2)),
]
size = np.linalg.norm(network(weights, X))
off = [np.linalg.norm(network(trial, X) - network(weights, X)) / size for trial in tries]
predict("How many of the five leave the function alone?", sum(error < 1e-9 for error in off))

# %% [markdown]
# Run the next cell when you have committed: by what part of their size do the outputs change?

# %%
np.round(off, 2)

# %% [markdown]
# <details><summary>Which ones, and why?</summary>
#
# The first, a change of basis in a head, and the third: tokens of twice the size come out of layer 2 eight times as large. With the wrong factor, 2 instead of 8, the outputs
# are four times too large: off by three times their size. Exchanging $Q$ and $K$ transposes every $A$, so keys ask and queries answer. And in the last one $V_2$ was forgotten: it gets tokens
# in a basis that it does not know.
#
# </details>

# %% [markdown]
# ## Count: the three are all
#
# To first order, too, there is nothing else. A network of any depth has directions that do nothing; write down those of the three families, count how many are independent, and compare with
# all. **unexplained** is what is left.
#
# <!-- teacher (6 min): Let them fill in the table for l = 2 by hand, then run the cell. -->

# %%
for depth in range(1, 7):
    ledger = nv.kernel_ledger(nv.Architecture.uniform(d=3, a=2, layers=depth))
    print(depth, ledger.parameters, ledger.entries, ledger.unexplained, ledger.dimension)

# %% [markdown]
# Pick your own depth and sizes:

# %%
LedgerExplorer(
    state="width=3;width_out=3;head_dim=2;tokens=2;layers=4",
    only=["width", "head_dim", "tokens", "layers", "kind", "head_dims"],
)

# %% [markdown]
# * What does each further layer cost?
# * Switch **attention** to softmax. Which family is gone?
# * Set **tokens** to 1: 8 directions are unexplained. Which part of the $A_i$ can one token not see? (Notebook 02 knew.)
# * With two tokens again, let the first layer alone have rank one: type `1,2,2,2` into **a per layer**. Which hypothesis of Theorem 3.7 fails? And with `1,1,1,1`?
#
# <details><summary>Answers</summary>
#
# For $d = 3$, $a = 2$: 4 for its head, 9 for the basis in front of it, 1 for its factor. Softmax has no rescalings. One token sees the symmetric part of an $A_i$ only; this hides
# 2 dimensions of each. The theorem asks for rank 2 at least. With `1,2,2,2` six directions are unexplained, two in each layer after the first. With `1,1,1,1` the hypothesis fails in all layers, and nothing is unexplained: what it
# protects from need not happen. Both are told in [Deep dimension](04_deep_dimension.ipynb).
#
# </details>
#
# Back to our own network, $3 \to 2 \to 3$ with $a = 2$. Add up the three families in your head:

# %%
silent = arch.num_parameters - nv.measure_dimension(arch).value
predict("32 parameters. How many directions do nothing?", silent)

# %% [markdown]
# <details><summary>Which ones?</summary>
#
# $4 + 4$ for the heads, $4$ for the basis between the layers, which has only 2 dimensions, and $1 + 1$ for the factors.
#
# </details>
#
# **A direction that is no symmetry.** Take a change of basis between the layers, as a straight step of length $\varepsilon$, and the same step without the answer of layer 2. By what part of their size do the
# outputs change?

# %%
D = rng.standard_normal((2, 2))


def step(e, answered):
    back = np.eye(2) - e * D if answered else np.eye(2)
    return (Layer(Q1, K1, V1 + e * D @ V1), Layer(Q2 @ back, K2 @ back, V2 @ back))


for e in (0.01, 0.001):
    print(
        e, *(np.linalg.norm(network(step(e, yes), X) - network(weights, X)) / size for yes in (True, False))
    )

# %% [markdown]
# A tenth of the step, a hundredth of the change: along a symmetry the function moves in second order only (because the step is straight and the orbit is bent). Without the answer it moves in first
# order, in proportion to the step.

# %% [markdown]
# ## Build one yourself
#
# A rescaling that has to come out exactly. Fractions are the safest: after `from fractions import Fraction`, `Fraction(1, 3)` is a third.

# %%
from neuroviz.lessons.checks_deep import check_rescaling
from neuroviz.lessons.exercise import exercise

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
# ## In practice
#
# * Two trained networks should never be compared weight by weight. Compare $L$ and $M_i$, up to one factor each, or bring both into one basis first.
# * For merging or pruning it matters which basis a layer hands on: a small entry of $V_i$ is small in that basis only.
# * A skip connection, as in real transformers, ties the basis of all layers together: this family of changes is gone then. The factor for each layer remains for lightning, as far as we
#   have measured it (see *Beyond the paper* in [docs/mathematics.md](../docs/mathematics.md)).
#
# **On your own.** Fix $\lVert M_1 \rVert, \dots, \lVert M_l \rVert$. How many real points $(L, M_1, \dots, M_l)$ have the same function, under the hypotheses of Theorem 3.7?
#
# <details><summary>Answer</summary>
#
# Each $\lambda_i$ is $1$ or $-1$, for $i = 1, \dots, l$, and $\lambda_0$ follows from them: $2^l$ points.
#
# </details>
#
# Next: [Deep dimension](04_deep_dimension.ipynb) counts what is left, and [Why the formula is true](04_why_the_formula.ipynb) proves it.
