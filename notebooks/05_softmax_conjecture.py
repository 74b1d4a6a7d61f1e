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
# Lightning attention is softmax attention without the softmax. You will see what this leaves out: softmax notices a factor that lightning does not notice. You will read all the weights off a softmax layer from its outputs alone, reproduce Figure 3 of the paper with exact numbers, and understand how a number about exponentials can be exact.
# The proof of the paper's conjecture has [a notebook of its own](05_the_proof.ipynb).

# %%
import numpy as np

import neuroviz as nv
from neuroviz.beyond.proof.exponentials_study import ExponentialsSetting, study_exponentials
from neuroviz.beyond.proof.logit_relations import measure_independence
from neuroviz.engine.field import DEFAULT_PRIME, PrimeField
from neuroviz.explorables import Figure3Explorer
from neuroviz.lessons.teaching import predict
from neuroviz.lessons.wrong_answers import wrong_answers
from neuroviz.softmax.known import measure_at_temperature
from neuroviz.softmax.known_table import known_table
from neuroviz.softmax.one_layer import integer_layer, softmax_layer
from neuroviz.softmax.one_layer_limit import limit_study
from neuroviz.softmax.one_layer_table import read_off_table
from neuroviz.softmax.one_layer_walk import read_off, read_off_exactly

# %% [markdown]
# ## Notice a factor
#
# Take one lightning layer, $\varphi(X) = V X X^\top A X$. Multiply $A$ by 2 and divide $V$ by 2: nothing happens. That is the rescaling, and it costs a dimension in every layer. With softmax,
#
# $$\varphi(X) = V X\, S, \qquad S = \mathrm{softmax}\bigl(X^\top A X\bigr) \text{ column by column}, \qquad S_{ji} = \frac{e^{\,x_j^\top A x_i}}{\sum_k e^{\,x_k^\top A x_i}},$$
#
# the same change makes the attention sharper and the values smaller. A layer with $d = d' = 3$ and $a = 2$ has 16 dimensions as lightning. How many as softmax?
#
# <!-- teacher (4 min): 17 is the answer, one more than lightning. Who says 16 has let a factor move; ask what doubling A does to an attention weight. -->

# %%
one_layer = nv.Architecture((3, 3), (2,), tokens=3, attention="softmax")
predict(
    "d = d′ = 3, a = 2, one softmax layer. How many dimensions?",
    nv.measure_dimension(one_layer),
    wrong=wrong_answers(one_layer),
)

# %% [markdown]
# That is all of $\alpha(a, d) + dd'$, the matrices $A$ of rank at most $a$ and the matrices $V$: nothing is lost except the basis inside the head. **Theorem 3.9** of the paper says more:
#
# > For two tokens or more the function of a softmax layer with $V \ne 0$ determines $A$ and $V$. If $V = 0$, it determines $V$ only.
#
# So one can read the weights off the function. Let us do it.

# %% [markdown]
# ## Read the weights off
#
# You may call the layer on any tokens you like, and see what comes out. Take tokens that are 0, all but one or two of them:
#
# 1. **$X = (x, 0, \dots, 0)$, last column.** A token 0 has all logits 0, so it looks at all tokens alike, and its output is the mean of the values, $Vx/t$. Take $x = e_1, e_2, \dots$: this is $V$, column by column.
# 2. **The same, first column.** Token $x$ has one logit $x^\top A x$, and the others are 0. With $E = e^{\,x^\top A x}$ the output is $\dfrac{E}{E + t - 1}\, Vx$. So $E$ is known wherever $Vx \ne 0$, and with it $x^\top A x$. Enough of these $x$ give the symmetric part of $A$, **Sym A** below.
# 3. **$X = (x, y, 0, \dots, 0)$, first column.** Now $F = e^{\,y^\top A x}$ enters as well: $\dfrac{E\,Vx + F\,Vy}{E + F + t - 2}$. Nothing else is new, so $F$ is known. And $y^\top A x$ with $x = e_j$, $y = e_i$ is the entry $A_{ij}$. (`read_off` puts in $-e_i$ where that keeps $Vx$ and $Vy$ further apart.)
#
# In code, given nothing but the function:
#
# <!-- teacher (10 min): Steps 1 to 3 can be done by the room: which tokens would you put in? All zeros but one is usually found within two minutes. -->

# %%
rng = np.random.default_rng(0)
A, V = rng.standard_normal((2, 3, 3))
found = read_off(softmax_layer(A, V), d=3, tokens=4)
print("largest error in A and V:", abs(found.A - A).max(), abs(found.V - V).max())

# %% [markdown]
# What is known after each step? A dot is an entry that is not known yet.

# %%
read_off_table(found, A, V)

# %% [markdown]
# In step 2, what if $Vx = 0$ for the $x$ that you chose? And what if $V$ has rank one, so that $Vx$ and $Vy$ are parallel? What if $V = 0$, or if there is one token only? And which tokens would you not choose? Think first: how many of the nine entries of $A$ can be read?

# %%
print("inputs of step 3:", len(found.steps[2].probes))


def entries(A, V, tokens=4, temperature=1.0, scale=None):
    read = read_off(softmax_layer(A, V, temperature), 3, tokens, temperature, scale)
    return int(np.isfinite(read.A).sum())


print("V of rank one:", entries(A, V[:1]))
print("V = 0:", entries(A, 0 * V))
print("one token:", entries(A, V, tokens=1))
print("tokens of length one, all logits divided by 0.01:", entries(A, V, temperature=0.01, scale=1.0))
print("shorter tokens, all logits divided by 0.01:", entries(A, V, temperature=0.01))

# %% [markdown]
# How many inputs does step 3 take, and why fewer than the nine entries of $A$?
#
# <details><summary>Answers</summary>
#
# Six, one for each entry off the diagonal; the three on the diagonal are known from step 2, where $x = e_1, e_2, e_3$ gave $x^\top A x$. Together nine, one for each entry.
#
# If $Vx = 0$, take another $x$: as $V \ne 0$, almost every one will do. A $V$ of rank one loses nothing. Then the output is a multiple of one fixed vector, which is a single equation in step 2 and in step 3, but there is a single unknown too, $E$ or $F$.
#
# With $V = 0$ all outputs are 0, for every $A$: this is the second case of the theorem. With one token $S = 1$, and $A$ is not used at all. At a low temperature attention is so sharp that the small attention weights, or what a large one lacks to 1, are lost in rounding: the information is there, sixteen digits do not show it. A function that determines its weights need not make them easy to find.
#
# </details>
#
# Nothing was used of the exponential but that it turns sums into products and can be inverted. So there is an exact version: whole weights, arithmetic modulo a prime, and powers of 3 in the place of exponentials. There the weights come back without any error:

# %%
exact = read_off_exactly(*integer_layer(3, 2, 2, rng), tokens=3)
print(f"{exact.equal_A} of 9 entries of A and {exact.equal_V} of 6 of V")

# %% [markdown]
# ■ **Status: proved** (Theorem 3.9; the way of reading the weights off is ours).

# %% [markdown]
# ## Look for lightning inside softmax
#
# Divide the logits by a temperature $\tau$, which is to put $A/\tau$ in the place of $A$. If $\tau$ is high, all tokens attend to all alike. What is left then? Let $\mathbf{1}$ be the column of $t$ ones, and $C = I - \mathbf{1}\mathbf{1}^\top/t$: in $XC$ the mean of the tokens has been subtracted from each. To first order in $1/\tau$
#
# $$\varphi(X) = \tfrac1t V X \mathbf{1}\mathbf{1}^\top + \tfrac{1}{t\tau}\, V (XC)\, X^\top A X + \dots,$$
#
# the mean of the values, and a lightning layer whose keys and values are centred tokens. (As $CC^\top = C$, it does not matter that only one $C$ is written.) For large $\tau$, doubling it halves the distance from $\varphi(X)$ to the mean. What does it do to the distance from $\varphi(X)$ to the sum of both terms, with three tokens?
#
# <details><summary>Where the two terms come from</summary>
#
# A column of $X^\top A X$ has entries $s_1, \dots, s_t$ with mean $\bar s$. As $e^{s_j/\tau} = 1 + s_j/\tau + \dots$, its softmax is $\frac1t\bigl(1 + (s_j - \bar s)/\tau + \dots\bigr)$. The 1 gives the mean, and $s_j - \bar s$ is an entry of $C X^\top A X$.
#
# </details>

# %%
limit = limit_study(A, V, rng.standard_normal((3, 3)))
predict(
    "τ is large, and doubled. By which factor does the distance to both terms shrink?",
    2 ** round(limit.first_slope),
)

# %% [markdown]
# (With two tokens it is 8. A softmax of two numbers is $\frac12 + \frac12 \tanh$, which has no quadratic part.)
#
# Is the rescaling back, then? No. With $cA$ and $V/c$ the lightning term stays as it is, but the mean is divided by $c$, at any temperature. How far is $\varphi$ from the mean, how far from mean and lightning term together, and how far does the rescaling with $c = 2$ move it?

# %%
print("       τ   from the mean   from both   moved by the rescaling")
for point in limit.path[8::4]:
    gaps = f"{point.mean_gap:13.1e}   {point.first_gap:9.1e}   {point.rescaled_gap:9.2f}"
    print(f"{point.temperature:8g}   {gaps}")

# %% [markdown]
# The first two go to 0, and the last does not.
#
# □ **Status: proved here** (*Small weights* in [docs/mathematics.md](../docs/mathematics.md)).

# %% [markdown]
# ## Go deep
#
# Put $l$ layers on top of each other. Bases inside the heads and between the layers may be changed as in [Deep dimension](04_deep_dimension.ipynb), and no such change alters the **virtual weights**
#
# $$L = V_l \cdots V_1, \qquad M_i = U_{i-1}^\top A_i\, U_{i-1} \quad\text{with}\quad U_{i-1} = V_{i-1} \cdots V_1 .$$
#
# $M_i$ is $A_i$ in the coordinates of the *input* tokens: what reaches layer $i$ is $U_{i-1} X$ times the attention matrices of earlier layers, and $U_{i-1}$ can be moved into $A_i$. So the function depends on $(L, M_1, \dots, M_l)$ only, with softmax and without. **Conjecture 3.10** of the paper says that with softmax this is all. Almost every function comes from one choice of the virtual weights; and in a bottleneck (inner widths $\delta$, no larger than $d_0$ and $d_l$)
#
# $$\dim = \delta\,(d_0 + d_l - \delta) + \sum_i \alpha(a_i, d_{i-1}), \tag{Eq. 16}$$
#
# which is the lightning number of Corollary 3.8 without its $-l$.
#
# □ **Status: proved here** for softmax, by [Theorems A and B](05_the_proof.ipynb), which are not peer-reviewed; ◇ **conjectured** for other functions in the place of $\exp$.
#
# How many dimensions more than lightning does a softmax network with four layers have?
#
# <!-- teacher (8 min): Three numbers come: 0, 1 and 4. One factor is lost in each lightning layer and none with softmax. -->

# %%
deep = [nv.Architecture.uniform(4, 2, 4, 3, kind) for kind in ("lightning", "softmax")]
lightning, softmax = (nv.measure_dimension(arch).value for arch in deep)
predict("Four layers. How many dimensions more than lightning does softmax have?", softmax - lightning)

# %% [markdown]
# What is known of the two, and with what right? The row **function → (L, M)** says which virtual weights have one function, **(L, M) → (A, V)** which weights of the layers have the same virtual weights.

# %%
known_table(deep[0])

# %% [markdown]
# Divide all logits by a temperature $\tau$. The dimension of two such layers stays 40. What does floating point read?

# %%
two_layers = nv.Architecture.uniform(4, 2, 2, 3, "softmax")
for power in (-1.5, -1, 0, 1, 5):
    read = measure_at_temperature(two_layers, 10**power)
    print(f"log₁₀ τ = {power:4}   floating point reads {read.value}   a gap decides: {read.decided}")

# %% [markdown]
# * Give layer 1 a head of rank one: softmax loses nothing, lightning does. Why?
# * Show the network one token. Now softmax has *fewer* dimensions than lightning. Why?

# %%
rank_one = {"widths": (3, 3, 3), "head_dims": (1, 2)}
one_token = {"widths": (4, 4, 4), "head_dims": (2, 2), "tokens": 1}
for sizes in (rank_one, one_token):
    for kind in ("lightning", "softmax"):
        arch = nv.Architecture(**sizes, attention=kind)
        value, formula = nv.measure_dimension(arch).value, nv.paper_formula(arch).value
        print(f"{sizes}, {kind}: {value} dimensions; the formula of the paper: {formula}")

# %% [markdown]
# <details><summary>Answers</summary>
#
# The dimension does not depend on the temperature, since $A/\tau$ runs through the same matrices as $A$. But with softmax the gap in the spectrum closes at both ends. Floating point reads 38 for 40 at $\tau = 0.1$ and 31 at $\tau = 10^{-1.5}$; at $10^5$ it reads 40, without a gap that would decide. A lightning layer of rank one makes all tokens parallel; a softmax layer takes averages of tokens, and these are not. With one token every attention weight is 1, and all that is left of the network is the matrix $L$.
#
# </details>
#
# As text, for one network:

# %%
print(nv.what_is_known(deep[1]))

# %% [markdown]
# ## Reproduce Figure 3
#
# The paper supports the conjecture by eight measurements: $l = 2$, $t = 3$, $a = 2$ and all widths $\delta = 3, \dots, 10$. They were made in floating point (float32), from a Jacobian computed row by row. In the panel are the same networks. Filled marks are **exact ranks**, hollow ones on the line are Eq. 16.
#
# <!-- teacher (7 min): Say what is claimed: eight exact numbers, and for each a proof. The float32 column shows how a tolerance misleads. -->

# %%
Figure3Explorer()

# %% [markdown]
# * Set **attention** to *softmax and lightning*. How far apart are the two curves? Then go back to *softmax*.
# * Switch on **row-by-row float32** (under *More*; it takes some seconds). Where does this procedure miss, and by how much? What does the lower right view say about the reason?
# * The buttons below the panel save the numbers (CSV) and the picture (SVG, PNG).
#
# <details><summary>Answers</summary>
#
# 2 everywhere: one for each of the $l = 2$ layers. Float32 finds too few dimensions for large $\delta$: 142 for 145 and 169 for 172. Rounding is not to blame. In the lower right view the last true singular values lie far above the rounding, by a factor of 1,000 and more; but the usual tolerance, the black line, lies higher still, and what is below it is counted as 0. A tolerance is not a gap.
#
# </details>
#
# The whole grid, exactly:

# %%
[nv.measure_dimension(nv.Architecture.uniform(d, 2, 2, 3, "softmax")).value for d in range(3, 11)]

# %% [markdown]
# And each of these numbers can be *proved*, each for its own network, in three ways: by our theorem; by an exact rank that meets an upper bound; and by ball arithmetic, which computes with intervals that are sure to contain the true numbers. The last way does not use the idea of the next section. Here is the largest of the eight, with every proof checked again:

# %%
largest = nv.Architecture.uniform(10, 2, 2, 3, "softmax")
for route in ("theorem", "exact rank", "ball"):
    proof = nv.measure_dimension(largest, method="certified", route=route).certificate
    print(f"{route:11} {proof.dimension}   {proof.verify().finding}")

# %% [markdown]
# ## Understand why it can be exact
#
# An exact rank is computed modulo a prime. But what is $e^{\,y}$ modulo a prime?
#
# The answer is: it does not matter. Take polynomials $y_1, \dots, y_k$, and suppose that they are *independent*: no combination of them with rational coefficients, not all 0, is a constant. Then the exponentials $e^{\,y_j}$ satisfy no algebraic equation whatever, neither among each other nor with the variables. They behave like $k$ new variables. This is a case of **Ax's theorem** (1971); another covers the later layers of a network, whose $y$ contain the exponentials of earlier layers.
#
# And a rank asks for algebraic relations only. As the derivative of $e^{\,y}$ is $e^{\,y}\, dy$, the Jacobian and its minors are made of weights, inputs and exponentials by the four operations of arithmetic, and the question is which minors are 0. So draw a random element of the field for each exponential, as for each weight, keep the rule for the derivative, and count.
#
# But first one has to check that the logits *are* independent. In a column of a softmax only differences count, $y_{ji} = x_j^\top M x_i - x_i^\top M x_i$. Three tokens have six of them in a layer. For a random matrix $M$, how many are independent?
#
# <!-- teacher (8 min): Six is the usual answer, and it is right for a generic M. The question that follows, with M symmetric or antisymmetric, is the one to discuss. -->

# %%
over, draw = PrimeField(DEFAULT_PRIME), np.random.default_rng(0)
M = over.random(draw, (3, 3))
independent = measure_independence(over, (M,), 3, draw).layers[0].independent.value
predict("Three tokens, six differences of logits. How many are independent?", independent)

# %% [markdown]
# And if queries and keys are tied, $K = Q$, so that $M$ is symmetric? And if $M$ is antisymmetric?

# %%
tied, turned = over.reduce(M + M.T), over.reduce(M - M.T)
[measure_independence(over, (one,), 3, draw).layers[0].independent.value for one in (tied, turned)]

# %% [markdown]
# For a symmetric $M$ there is one relation: going round the three tokens one way adds up to the same as going round the other way, $y_{21} + y_{32} + y_{13} = y_{31} + y_{23} + y_{12}$. For an antisymmetric one $y_{ij} = -y_{ji}$. Then the exponentials are not free, and to draw them freely is to compute with a network that does not exist. Does it change the count? Here are two layers in two dimensions, with a special $M_1$. How many directions of $(L, M_1, M_2)$ do nothing, counted with the relations, with all exponentials free, and in floating point with the true exponentials?

# %%
print("M₁             t   independent   with relations   all free   floating point")
for kind, t in (("generic", 2), ("antisymmetric", 2), ("antisymmetric", 3), ("symmetric", 3)):
    study = study_exponentials(ExponentialsSetting(kind, tokens=t))
    logits = study.independence.layers[0].independent
    counts = study.related.kernel, study.free.kernel, study.spectrum.kernel
    print(
        f"{kind:14} {t}   {logits.value} of {logits.num_columns}        {counts[0]:<16} {counts[1]:<10} {counts[2]}"
    )

# %% [markdown]
# * One count is wrong. By how much?
# * With three tokens and an antisymmetric $M_1$ the relations are still there. Why is the count right all the same?
# * And a symmetric $M_1$?
#
# <details><summary>Answers</summary>
#
# For two tokens and an antisymmetric $M_1$, where $PQ = 1$ for the two exponentials; by 4, the entries of $M_2$. An antisymmetric $M_1$ makes two tokens equal, and equal tokens stay equal, whatever $M_2$ is; free exponentials do not know this. Three tokens do not become equal. For a symmetric $M_1$ one of six exponentials is determined by the others, and the set of its attention matrices has 5 dimensions instead of 6; but the number of directions that do nothing is 0 either way.
#
# </details>
#
# So the hypothesis of Ax's theorem is no formality. Without tied weights there is one kind of network where it fails for all weights: after a width of 1 all tokens lie on a line, $M$ is symmetric, and with three tokens or more the logits are related. There the software shares the exponentials. In all other networks the logits are independent for almost all weights (*Exponentials as free elements* in [docs/mathematics.md](../docs/mathematics.md)).

# %% [markdown]
# ## Build one yourself
#
# Usually softmax has one dimension more for each layer. Not always.

# %%
from neuroviz.lessons.checks_deep import check_more_than_factors
from neuroviz.lessons.exercise import exercise

exercise(
    "Give sizes, as an nv.Architecture with two tokens or more and l ≥ 2 layers, for which softmax has more than "
    "l dimensions more than lightning.",
    check_more_than_factors,
    difficulty=2,
    minutes=5,
)

# %% tags=["exercise"]
my_sizes = ...
check_more_than_factors(my_sizes)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# Let lightning collapse: a first layer of rank one, and a later one with something to lose.
#
# ```python
# my_sizes = nv.Architecture(widths=(4, 4, 4), head_dims=(1, 3))
# check_more_than_factors(my_sizes)
# ```
#
# </details>

# %% [markdown]
# ## In practice
#
# * A softmax network has no rescaling between $A$ and $V$. If you want to compare the weights of two trained networks of this kind, fix the bases of heads and layers, and nothing else.
# * A temperature is no parameter of its own: it is a factor of $A$. Learning it adds no dimension.
# * Low dimension counts in floating point are a warning about the spectrum before they are news about the network. Look at the gap, or count exactly.
#
# **On your own.** For $d = 1$ all matrices are numbers. How many dimensions does a softmax network of width 1 with $l$ layers and two tokens have? And lightning? Predict, then measure, with `nv.Architecture.uniform(1, 1, l, 2, "softmax")`.
#
# <details><summary>Answer</summary>
#
# Softmax $l + 1$: the numbers $L, M_1, \dots, M_l$. Lightning 1: its function is $L \prod_i M_i^{3^{l-i}}$ times a function without any weights.
#
# </details>
