# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Move a proof of Conjecture 3.10
#
# *Section 3.4 of the paper and Part 4 of [docs/mathematics.md](../docs/mathematics.md). About 90 minutes, or 45 without the folded proofs. You need: derivatives, rank, and the notebook
# [Softmax](05_softmax_conjecture.ipynb).*
#
# The paper conjectures that a deep softmax network loses nothing but what every network loses: the dimension is that of its virtual weights, and almost all of its functions have one set of virtual weights only. Below is a proof of both, for softmax. It is **ours and not peer-reviewed**. You can check
# every line; the claims stand beside computations that could have failed; and each hypothesis can be broken, to see what it was good for. One published theorem is used without its proof (Ax, 1971).

# %%
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
from scipy.optimize import brentq

import neuroviz as nv
from neuroviz.beyond.proof.immersion import ImmersionSetting, study_immersion
from neuroviz.beyond.proof.logit_relations import measure_independence
from neuroviz.beyond.proof.uniqueness import SingletonSetting, study_singleton
from neuroviz.engine.field import PrimeField, Reals
from neuroviz.engine.network import forward, random_weights
from neuroviz.engine.rank import exact_rank
from neuroviz.engine.symmetry import VirtualWeights, virtual_weights
from neuroviz.explorables import ProofExplorer, SearchExplorer, SingletonExplorer
from neuroviz.kit.presets import presets
from neuroviz.lessons.teaching import predict
from neuroviz.softmax.two_tokens import Shares, attention, follow, free_jacobian, shares, softmax_shares

# %% [markdown]
# ## Say what has to be shown
#
# A network with weights $Q_i, K_i, V_i$ depends on its **virtual weights** only: $\theta = (L, M_1, \dots, M_l)$ with $U_i = V_i \cdots V_1$, $M_i = U_{i-1}^\top K_i^\top Q_i\, U_{i-1}$ and $L = U_l$. In these letters the values leave the layers. A layer mixes tokens, and at the end $L$ is applied once:
#
# $$X_0 = X, \qquad X_i = X_{i-1}\, S_i, \qquad S_i = \mathrm{softmax}\bigl(X_{i-1}^\top M_i X_{i-1}\bigr) \text{ column by column}, \qquad \varphi_\theta(X) = L X_l .$$
#
# Write $\mathrm{Sym}\,M = (M + M^\top)/2$. There are two claims, for networks that see $t \ge 2$ tokens:
#
# * **Theorem A.** If $L \ne 0$ and no $\mathrm{Sym}\,M_i$ is 0, then every direction $(\dot L, \dot M_1, \dots, \dot M_l)$ changes the function. So the dimension is that of the set of all $(L, M_1, \dots, M_l)$ of the network, which Lemma D counts: $D$ (in a bottleneck, Eq. 16; proved below).
# * **Theorem B.** If $L \ne 0$ and no $\mathrm{Sym}\,M_i$ is 0, and $\theta'$ is any other choice of virtual weights, then $\varphi_{\theta'} \ne \varphi_\theta$.
#
# Almost all weights satisfy the hypotheses (Corollary A). So together the two contain Conjecture 3.10, for softmax: Eq. 16, and almost all fibres in virtual weights are single points.

# %% [markdown]
# ## Two tokens are enough
#
# Show the network one token $x_1$, and $m = t - 1$ copies of another, $x_2$. Copies are treated alike, so they stay equal; two tokens go from layer to layer, the second with a weight $m$. A column of the attention matrix has two numbers in it, and they add up to 1. So one number a column is enough:
#
# $$S = \begin{pmatrix} 1 - \mu & \nu \\ \mu & 1 - \nu \end{pmatrix}, \qquad \mu = \frac{mP}{1 + mP}, \quad \nu = \frac{Q}{Q + m}, \qquad P = e^{\,p},\ p = (x_2 - x_1)^\top M x_1, \qquad Q = e^{\,q},\ q = (x_1 - x_2)^\top M x_2 .$$
#
# ($P$ and $Q$ are exponentials here, and $Q$ has nothing to do with queries.) Compare with the network itself, three layers and four tokens, of which three are equal:
#
# <!-- teacher (6 min): Everything hangs on det S. Let the room find the three settings, frozen, collapsed, saturated, before you name them. -->

# %%
rng = np.random.default_rng(0)
net = nv.Architecture.uniform(d=3, a=2, layers=3, tokens=4, attention="softmax")
weights = random_weights(Reals(), net, rng)
x1, x2 = rng.standard_normal((2, 3))
whole = forward(Reals(), "softmax", weights, np.stack([x1, x2, x2, x2], axis=1)[None])[0]

L, M = virtual_weights(Reals(), weights)
X = np.stack([x1, x2], axis=1)
mixed = follow(Reals(), softmax_shares(M, X, copies=3), X)[-1]
abs(whole[:, :2] - L @ mixed).max()

# %% [markdown]
# Since the columns of $S$ add up to 1, the new tokens lie on the line through the old ones, even between them: with $\delta = x_1 - x_2$ they are $x_1 - \mu\delta$ and $x_2 + \nu\delta$. Their difference is $\delta$ times $\det S = 1 - \mu - \nu$. Which values of $P$ and $Q$ make the tokens meet?

# %%
where = brentq(lambda P: 1 - sum(shares(P, 0.25)), 0, 100)  # for Q = 0.25
predict("Two tokens meet in a layer if the product PQ is … (a number)", round(0.25 * where))

# %% [markdown]
# With $m$ copies, $1 - \mu - \nu = \dfrac{m\,(1 - PQ)}{(1 + mP)(Q + m)}$. In fractions, for some numbers:

# %%
P, Q, m = Fraction(2, 3), Fraction(5, 7), 3
mu, nu = shares(P, Q, copies=m)
1 - mu - nu, m * (1 - P * Q) / ((1 + m * P) * (Q + m))

# %% [markdown]
# Three settings will be used again and again:

# %%
frozen, met, saturated = shares(0, 0), shares(2.0, 0.5, copies=3), shares(0, np.inf)
[attention(Reals(), setting).round(3).tolist() for setting in (frozen, met, saturated)]

# %% [markdown]
# * **Frozen**, $P = Q = 0$: the layer does nothing at all. Its derivative in $M$ is 0 as well, because $\dot\mu = \mu(1 - \mu)\,\dot p$.
# * **Collapsed**, $PQ = 1$: both tokens become equal, all later ones too, and all later $p, q$ are 0. Whatever comes after is blind.
# * **Saturated**, $P \to 0$ and $Q \to \infty$: both tokens become $x_1$ (or, the other way round, $x_2$).
#
# **Fact (†).** *If $L \ne 0$ and no $\mathrm{Sym}\,M_i$ is 0, then the two columns of $\varphi_\theta(X)$ differ for almost all $X$; and if one of these is 0, they never differ.* Indeed $p + q = -\delta^\top M \delta$. So $PQ = 1$ says $\delta^\top M \delta = 0$, and this sees the symmetric part of $M$ only.
# Layer after layer, the difference of the tokens is $\delta$ times a number that is not 0, as long as $\delta^\top M_i \delta \ne 0$ for all $i$; at the end it is multiplied by $L$. For almost all $\delta$ none of $L\delta$ and $\delta^\top M_i \delta$ is 0.

# %% [markdown]
# ## Free the exponentials
#
# For real tokens $P$ and $Q$ are what they are: nobody can set them to 0. This is where the proof has its one deep ingredient.
#
# > **Ax's theorem** (J. Ax 1971, Theorem 3; cited, not proved here). Let $y_1, \dots, y_k$ be analytic functions near a point of $\mathbb{C}^N$, and let no combination of them with rational coefficients, not all 0, be constant. Then the field generated over $\mathbb{C}$ by the $y_j$ and the $e^{y_j}$ has transcendence degree at least $k$ plus the rank of the matrix of the partial derivatives of the $y_j$.
#
# In words, for functions like ours (rational in $X$ and in exponentials of earlier ones): exponentials satisfy no algebraic relations, except those that come from linear relations between the exponents. (For other functions this is false: $z$ and $\log(1 + e^z)$ have no linear relation, but the second exponential is $1 + e^z$.) (The transcendence degree is how many functions in the field are algebraically independent: like a dimension, and with $n$ generators it is at most $n$. Our functions are analytic near every real point.)
#
# **Lemma G.** *If no $\mathrm{Sym}\,M_i$ is 0, then $P_1, Q_1, \dots, P_l, Q_l$ are algebraically independent over the rational functions of $X$.*
#
# So an equation between rational functions of $X$ and the $P_i, Q_i$, once it holds for all $X$, holds for **any** numbers in the places of the $P_i, Q_i$ (at which no denominator is 0). We say that they are *free*.
#
# <details><summary>Proof of Lemma G</summary>
#
# Induction on $l$. Let $N = 2 d_0$ be the number of coordinates of $X$. It is enough that these coordinates and all $p_i, q_i$ are linearly independent over $\mathbb{Q}$ modulo constants. For then Ax's theorem applies to them: their rank is $N$, and the field generated by $X, p, q, e^X, P, Q$ has transcendence degree at least $(N + 2l) + N$. But $p_i, q_i$ are rational
# functions of $X$ and the earlier $P_j, Q_j$, so this field is generated by the $2N + 2l$ functions $X, e^X, P, Q$. So these are algebraically independent.
#
# Suppose that $\sum_i (n_i p_i + k_i q_i) + \lambda(X)$ is constant, with rational $n_i, k_i$ and a linear form $\lambda$; and let $i$ be the last index with $(n_i, k_i) \ne (0, 0)$. (If there is none, $\lambda$ is constant, so 0.) By induction the $P_j, Q_j$ with $j < i$ are free, so this equation holds for all values of them. For $i \ge 2$, freeze the layers $1, \dots, i-2$, and compare "layer
# $i-1$ frozen" with "layer $i-1$ collapsed". Nothing changes but the term of layer $i$: in the first case its tokens are those of $X$, in the second its $p_i, q_i$ are 0. So
#
# $$n_i\,(x_2 - x_1)^\top M_i\, x_1 + k_i\,(x_1 - x_2)^\top M_i\, x_2 = 0 \quad\text{for all } x_1, x_2 .$$
#
# For $i = 1$ the same equation is the part of degree 2. Its part of degree 2 in $x_1$ is $-n_i\, x_1^\top M_i x_1$, and that in $x_2$ is $-k_i\, x_2^\top M_i x_2$. As $\mathrm{Sym}\,M_i \ne 0$, both $n_i$ and $k_i$ are 0: a contradiction. ∎
#
# </details>
#
# What the lemma needs, that $p_1, q_1, \dots, p_l, q_l$ are linearly independent, can be checked for weights in hand, exactly. Two layers have two logits each:
#
# <!-- teacher (8 min): Ax's theorem is used and not proved; say so. The usual misunderstanding: P and Q are not set to 0 for any tokens, an identity is continued to where they are. -->

# %%
over, draw = PrimeField(), np.random.default_rng(0)
A, B = over.random(draw, (2, 2, 2))
u, v = over.random(draw, (2, 2, 1))
both = {
    "random": (A, B),
    "symmetric and equal": (over.reduce(A + A.T), over.reduce(A + A.T)),
    "of rank one": (over.matmul(u, v.T), over.matmul(v, u.T)),
    "M₁ antisymmetric": (over.reduce(A - A.T), B),
    "M₂ antisymmetric": (A, over.reduce(B - B.T)),
}
for name, Ms in both.items():
    found = measure_independence(over, Ms, 2, draw).layers
    print(f"{name:20}", [layer.independent.value for layer in found], "of [2, 2] are independent")

# %% [markdown]
# Special weights do no harm, and the hypothesis is needed: a layer with an antisymmetric matrix has one relation, $p + q = 0$, and a layer behind it sees equal tokens, for which all logits are 0. (Three tokens are counted in the notebook [Softmax](05_softmax_conjecture.ipynb).)

# %% [markdown]
# ## Theorem A: freeze all layers but one
#
# Suppose that a direction $(\dot L, \dot M_1, \dots, \dot M_l)$ does nothing: the derivative of $\varphi_\theta(X)$ in this direction is 0 for all $X$. This derivative is a rational function of $X, P, Q$; so by Lemma G it is 0 for **free** $P, Q$. Now do experiments with them.
#
# 1. **Freeze all layers.** What is left is $\dot L X = 0$ for all $X$. So $\dot L = 0$.
# 2. **Free layer $i$ alone.** All others do nothing, and neither do their derivatives. One layer is left, its tokens are $X$, and its two columns say $-\mu(1-\mu)\,\dot p_i\, L\delta = 0$ and $\nu(1-\nu)\,\dot q_i\, L\delta = 0$. Now $L\delta \ne 0$ for almost all $\delta$, and $\mu$ is free, so $\dot p_i = (x_2 - x_1)^\top \dot M_i x_1 = 0$ for all $x_1, x_2$. So $\dot M_i = 0$.
#
# This works for every $i$. Nothing is left. ∎
#
# How many directions does the first experiment leave, for two layers in two dimensions? (Twelve entries in all: $L$, $M_1$, $M_2$.)
#
# <!-- teacher (8 min): Ask what the first experiment cannot see, and count: all of M₁ and M₂, 8 of 12. -->

# %%
study = study_immersion(ImmersionSetting())
predict(
    "All layers frozen, l = 2, d = 2. How many of 12 directions does this experiment not see?",
    study.experiments[0].so_far.kernel,
)

# %% [markdown]
# Each experiment is a matrix, and what it does not see is its kernel. All of these are exact ranks modulo a prime:

# %%
[experiment.so_far.kernel for experiment in study.experiments]

# %% [markdown]
# *What you see in the panel.* Two tokens travel through the layers, from top to bottom; you decide what their exponentials are. On the right is what the experiments of the proof leave, and the singular values of the derivative itself, with its true exponentials and without Ax's theorem.

# %%
proof_panel = ProofExplorer()
proof_panel

# %% [markdown]
# * Go through the **experiments** of the proof. Then choose *my own*, freeze **layer 1**, and collapse it. What happens to the two lines, and to all that comes after?
# * Press **Reset**, and drag **Sym M₁ times** to 0. Which experiments cannot be made any more, and how many directions appear that do nothing?
# * Set **L times** to 0 (under *More*).
#
# After each guess you may press a button instead.

# %% tags=["hide-input"]
presets(
    proof_panel,
    {
        "layer 1 frozen": "experiment=own;mode_1=frozen",
        "layer 1 collapsed": "experiment=own;mode_1=collapsed",
        "Sym M₁ = 0": "symmetric=0",
        "L = 0": "size=0",
    },
)

# %% [markdown]
# <details><summary>Answers</summary>
#
# Frozen, the lines go straight down; collapsed, they meet and never part, and $M_2$ is hidden. An antisymmetric $M_1$ has $p + q = 0$, so $PQ = 1$ whatever the tokens are: layer 1 cannot be frozen, and the proof needs that twice, for "all frozen" and for "layer 2 free" (hatched). Two tokens always meet in this layer, and the four entries of $M_2$ show nowhere. With $L = 0$ the output is 0, and the eight entries of $M_1$ and $M_2$ do nothing.
#
# </details>
#
# For two tokens the hypothesis is sharp, then: with an antisymmetric $M_1$ the kernel has dimension 4, in the exact count and in floating point. This is the negative control: a method that found 0 there would prove nothing.

# %%
control = study_immersion(ImmersionSetting(symmetric=0.0))
control.everything.kernel, control.spectrum.kernel

# %% [markdown]
# A *nearly* antisymmetric $M_1$ is as good as any other, and the last layer may be antisymmetric, as nothing comes after it (the theorem does not cover this; *What happens outside* in [docs/mathematics.md](../docs/mathematics.md) does). That all $M_i$ may be equal, symmetric, or of rank one, we have seen after Lemma G.
# With three *different* tokens an antisymmetric $M_1$ hides nothing (the notebook [Softmax](05_softmax_conjecture.ipynb) counts it), so for $t \ge 3$ the theorem asks for more than it must. $M_1 = 0$ hides all later layers, for every $t$.

# %%
nearly = study_immersion(ImmersionSetting(symmetric=0.001))
last = study_immersion(ImmersionSetting(symmetric=0.0, weak_layer=2))
nearly.everything.kernel, last.everything.kernel

# %% [markdown]
# **Corollary A.** *For two tokens or more the dimension of* every *softmax network of this kind is that of its set of virtual weights: $D$, and in a bottleneck Eq. 16.* For one token $\varphi(x) = Lx$.
#
# Indeed the weights give the virtual weights, and these the function. By Theorem A the second step loses no direction where the hypotheses hold; finitely many inputs suffice for that, since a kernel can shrink only finitely often. And the hypotheses hold for almost all weights: $L = V_l \cdots V_1 \ne 0$, and with $z = U_{i-1}\, y \ne 0$
# the number $y^\top M_i\, y = (K_i z) \cdot (Q_i z)$ is not 0 for almost all $K_i, Q_i$. So the rank of both steps together is that of the first, and this is the dimension of the set of virtual weights.
#
# <details><summary>Lemma D for a bottleneck, and its proof</summary>
#
# Write $\alpha(a, d)$ for the dimension of the set of $d \times d$ matrices of rank at most $a$: it is $a(2d - a)$, and $d^2$ if $a > d$. Let all inner widths be $\delta \le d_0, d_l$, and $l \ge 2$.
#
# *What the virtual weights are.* For almost all weights $U_1, \dots, U_{l-1}$ and $L$ have the same row space $R$, of dimension $\delta$. So $L$ is a matrix of rank $\delta$, $M_1$ has rank at most $a_1$, and each later $M_i = U_{i-1}^\top A_i\, U_{i-1}$ has rank at most $a_i$, with its rows and columns in $R$.
#
# *All of these occur.* Let the rows of $V_1$ be a basis of $R$, let $V_2, \dots, V_{l-1}$ be identities, and choose $V_l$ with $V_l V_1 = L$ and $W$ with $V_1 W = I$. Then $V_1^\top W^\top$ is the identity on $R$, so $A_i = W^\top M_i W$ gives $V_1^\top A_i V_1 = M_i$, and its rank is at most $a_i$. For the first layer $A_1 = M_1$.
#
# *Count.* Matrices $L$ of size $d_l \times d_0$ and rank $\delta$: $\delta(d_0 + d_l - \delta)$. Then $\alpha(a_1, d_0)$ for $M_1$, and $\alpha(a_i, \delta)$ for each later $M_i$. The sum is Eq. 16. ∎
#
# For any other widths the proof is in [docs/mathematics.md](../docs/mathematics.md) (Lemma D), and the notebook [Why the formula](04_why_the_formula.ipynb) lets you move it.
#
# </details>
#
# □ **Status: proved here**, using Ax's theorem and Lemma D; not peer-reviewed. The first half of Conjecture 3.10, and more: no bottleneck is needed.

# %%
large = nv.Architecture.uniform(d=12_288, a=128, layers=96, attention="softmax")
proof = nv.measure_dimension(large, method="certified").certificate
print(proof)
proof.verify()

# %% [markdown]
# No rank of this size was computed: a theorem was applied, and its count made twice, in two ways. The document says what is proved, from what, and it can be checked again. Change the last digit of the dimension. Who notices? And if the seal is renewed?

# %%
forged = replace(proof, dimension=proof.dimension + 1)
print(forged.verify())
print(replace(forged, seal="").verify())

# %% [markdown]
# A changed digit breaks the seal. If the seal is renewed as well, then a wrong dimension is still found: the check computes everything again, in another way.
#
# For a small network there are two more routes. An exact rank meets an upper bound. Ball arithmetic does not use Ax's theorem: it takes the true exponentials, encloses every number in an interval, and proves that a determinant is not 0.

# %% [markdown]
# ## Theorem B: collapse one network and not the other
#
# Now let $\theta' = (L', M_1', \dots, M_l')$ have the same function as $\theta$. To show: $\theta' = \theta$.
#
# **Step 0.** $\theta'$ satisfies the hypotheses, too: otherwise the columns of $\varphi_{\theta'}(X)$ would agree for all $X$, against (†).
#
# **Step 1. Free the first layers.** Split off the first layers: $\varphi_\theta(X) = F(X S(P, Q))$ and $\varphi_{\theta'}(X) = F'(X S(P', Q'))$, with networks $F, F'$ of $l - 1$ layers. We would like to set $P, Q, P', Q'$ as we please. But the two networks may be related, and then so are their exponentials. A relation $np + kq + n'p' + k'q' = 0$ with rational coefficients says, for the
# parts of degree 2 in $x_1$, of degree 2 in $x_2$, and the mixed part,
#
# $$n\,\mathrm{Sym}\,M_1 + n'\,\mathrm{Sym}\,M_1' = 0, \qquad k\,\mathrm{Sym}\,M_1 + k'\,\mathrm{Sym}\,M_1' = 0, \qquad n M_1 + k M_1^\top + n' M_1' + k' M_1'^\top = 0 .$$
#
# So there are three cases. Which relation is left if $M_1' = 2M_1 + N$ with an antisymmetric $N \ne 0$?
#
# <!-- teacher (12 min): Give each group one of the cases A, B2 and B1, and a board. B1 with ρ > 0 is the hard one. -->

# %%
found = study_singleton(SingletonSetting("same symmetric part"))
predict(
    "M₁′ = 2M₁ + N, N antisymmetric. How many of p, q, p′, q′ are independent over ℚ?",
    found.relations.independent,
)

# %%
for candidate in ("unrelated", "same symmetric part", "negative", "positive", "irrational"):
    found = study_singleton(SingletonSetting(candidate))
    print(
        f"{candidate:20} case {found.case:11} {found.relations.independent} of 4 independent  ",
        ", ".join(found.relations.words) or "no relation",
    )

# %% [markdown]
# | case | when | relations |
# | --- | --- | --- |
# | A | $\mathrm{Sym}\,M_1'$ is not a rational multiple of $\mathrm{Sym}\,M_1$ | none |
# | B2 | $\mathrm{Sym}\,M_1' = \rho\,\mathrm{Sym}\,M_1$ with a rational $\rho$, but $M_1' \ne \rho M_1$ | $P'Q' = (PQ)^\rho$ |
# | B1 | $M_1' = \rho M_1$ with a rational $\rho$ | $P' = P^\rho$, $Q' = Q^\rho$ |
#
# ($\sqrt 2\, M_1$ is case A: exponentials know nothing of irrational multiples.) **Lemma F** says that within these relations the exponentials of the first layers are free:
#
# $$F(X S(P, Q)) = F'(X S(P', Q')) \qquad\text{for all } X \text{ and all positive } P, Q, P', Q' \text{ that satisfy the relations of the case,}$$
#
# and so, by continuity, also in limits. (Lemma G is not enough here: the later layers of the two networks may be related, in ways that nobody knows.)
#
# <details><summary>Lemma F and its proof</summary>
#
# **Setting.** Let $f_1, \dots, f_r$ be polynomials in $X$ such that no rational combination of them, except 0, has degree at most 1. Let $y_1, y_2, \dots$ be a *tower*: each $y_i$ is a rational function of $X$, of the $e^{f_j}$ and of $e^{y_1}, \dots, e^{y_{i-1}}$, with a denominator that is positive for positive exponentials. Let $\hat y_i(X, g)$ be the same recipe with a free positive number $g_j$ in
# the place of $e^{f_j}$, and $e^{\hat y_j}$ in the place of $e^{y_j}$. Suppose that $\hat y_i(X, 1) = 0$ for all $i$.
#
# **Lemma F.** *If $H(X, e^f, e^y) = 0$ for all $X$, with a rational function $H$ of the same kind, then $H(X, g, e^{\hat y(X, g)}) = 0$ for all $X$ and all positive $g$.*
#
# *Proof.* Go through $y_1, y_2, \dots$ and put $y_i$ into a set $C$ if it is linearly independent, over $\mathbb{Q}$ and modulo constants, of the coordinates of $X$, the $f_j$ and the members of $C$ so far. Every other $y_j$ is then
#
# $$y_j = \kappa + \lambda(X) + \sum_f \rho_f f + \sum_{c \in C} r_c\, c \qquad (1)$$
#
# with a constant $\kappa$, a linear form $\lambda$ with rational coefficients, rational $\rho_f, r_c$, and only members $c$ that came before $y_j$.
#
# *Independence.* Apply Ax's theorem to the coordinates of $X$ ($N$ of them), the $f$ and the $c$: the field generated by $X, f, c, e^X, e^f, e^c$ has transcendence degree at least $(N + r + |C|) + N$. The $f$ are polynomials in $X$. Each $c$ is rational in $X$, $e^f$ and some $e^{y_j}$, and by (1) the $e^{y_j}$ with $y_j \notin C$ are algebraic over the field of $X, e^X, e^f, e^c$. So this last field has a transcendence degree
# no smaller than the number of its generators, $2N + r + |C|$, and these are algebraically independent. They still are if $e^c$ is replaced by $e^{c/n}$, with a common denominator $n$ of all $r_c$.
#
# *Substitution.* An equation between rational functions of independent quantities is an identity, and it survives when $e^f$ is replaced by $g$ and $e^{c/n}$ by $e^{\hat c/n}$, wherever no denominator is 0.
#
# *Claim: this replaces $e^{y_i}$ by $e^{\hat y_i}$, and $e^{y_i}$ is a monomial in the $e^{c/n}$.* For $y_i \in C$ this is the definition. Otherwise look at (1). By induction all that occurs in it is a rational function of independent quantities. Substitute; denominators stay positive:
#
# $$\hat y_i(X, g) = \kappa + \lambda(X) + \sum_f \rho_f f(X) + \sum_c r_c\, \hat c(X, g) \qquad\text{for all } X, g .$$
#
# At $g = 1$ all $\hat y_i$ and $\hat c$ are 0. So $\kappa + \lambda + \sum \rho_f f = 0$, and by the assumption on the $f$ all $\rho_f$ are 0, then $\lambda = 0$ and $\kappa = 0$. Hence $y_i = \sum r_c\, c$, the function $e^{y_i} = \prod (e^{c/n})^{n r_c}$ is a monomial, and it becomes $\prod e^{r_c \hat c} = e^{\hat y_i}$.
#
# Finally $H = 0$ is an equation of the same kind. Substitute. ∎
#
# *How it is used.* The $f$ are a basis of $\mathbb{Z}p + \mathbb{Z}q + \mathbb{Z}p' + \mathbb{Z}q'$: quadratic forms. The logits of all later layers of both networks are a tower, with denominators $1 + mP$, $Q + m$ and so on. At $g = 1$ all four exponentials are 1, both networks collapse, and all later logits are 0.
#
# </details>
#
# Now each case but $M_1' = M_1$ is refuted by a setting at which one network collapses and the other does not, or collapses elsewhere. († is used for $F$ and $F'$, which satisfy the hypotheses as well.)
#
# **Step 2. Case A.** All four are free. Set $P'Q' = 1$ and leave $PQ \ne 1$. On the right the columns agree. On the left the two tokens $XS(P, Q)$ are as general as any, and by (†) the columns differ.
#
# **Step 3. Case B2.** Leave $P, Q$ with $PQ \ne 1$ and let $P' \to 0$; then $Q' = (PQ)^\rho / P' \to \infty$, and the right side saturates: columns agree. The left side has not moved, and by (†) its columns differ.
#
# **Step 4. Case B1, $\rho < 0$.** Let $P \to 0$ and $Q \to \infty$. The left side tends to $(Lx_1, Lx_1)$. As $P' = P^\rho \to \infty$ and $Q' \to 0$, the right side tends to $(L'x_2, L'x_2)$. These agree for all $x_1, x_2$ only if $L = 0$.
#
# **Step 5. Case B1, $\rho > 0$, $\rho \ne 1$.** Let only $Q \to 0$, then $Q' = Q^\rho \to 0$ too. Now $x_2$ stands still and $x_1$ is pulled towards it, in the two networks by different amounts. Let $x_1$ run away from $x_2 = y_2$ just as fast as $\theta$ pulls it back to a place $y_1$, that is $x_1 = y_2 + (1 + mP)(y_1 - y_2)$. Then
#
# $$F(y_1, y_2) = F'\bigl(y_2 + \tau\,(y_1 - y_2),\ y_2\bigr), \qquad \tau = \frac{1 + mP}{1 + mP^\rho} .$$
#
# If $\rho > 1$ then $\tau \to 0$ as $P \to \infty$: on the right the tokens meet, on the left nothing changes, and by (†) its columns differ. If $\rho < 1$, exchange $\theta$ and $\theta'$: then $1/\rho$ takes the place of $\rho$.
#
# **Step 6. Peel.** So $M_1' = M_1$. Freeze both first layers: $F = F'$, two networks with a layer less, and with the hypotheses. Go on with these. At the end $LX = L'X$, so $L = L'$. ∎
#
# *What you see in the panel.* Both networks, on the same tokens, with the exponentials that the relations allow. Drag **way** from 0, the true exponentials, to 1.

# %%
singleton_panel = SingletonExplorer()
singleton_panel

# %% [markdown]
# * For each candidate **M₁′**, what tells the two networks apart at the end of the **way**?
# * Choose *M₁, another M₂*, and drag **Sym M₁ times** to 0, or press the buttons. What has become of the proof, and of the theorem?

# %% tags=["hide-input"]
presets(
    singleton_panel,
    {
        "another M₂, way at 1": "candidate=other M₂;travel=1",
        "another M₂, way at 1, Sym M₁ = 0": "candidate=other M₂;travel=1;symmetric=0",
    },
)

# %% [markdown]
# <details><summary>Answers</summary>
#
# Unrelated, or $\sqrt 2\,M_1$: $PQ = 1$ in one of them only. The same symmetric part: one saturates. $\rho < 0$: one ends at $x_1$, the other at $x_2$. $\rho > 0$: one network brings the runaway token back to where it was, the other all the way to its neighbour. Another $M_2$: both first layers are frozen, and then the second layer of one collapses.
#
# With an antisymmetric $M_1$ the first layer can be neither frozen nor left: $PQ = 1$ always. Step 6 fails, and with two tokens so does the theorem: they have met before $M_2$ looks at them, and every $M_2$ gives the same function.
#
# </details>
#
# The ends of the ways, exactly modulo a prime, for two hundred random pairs: do the columns of $\theta$, of $\theta'$ agree, and are the outputs the same?

# %%
Counter(
    (found.case, found.ending.left_meet, found.ending.right_meet, found.ending.same)
    for seed in range(40)
    for candidate in ("unrelated", "same symmetric part", "negative", "positive", "other M₂")
    for found in [study_singleton(SingletonSetting(candidate, seed=seed))]
)

# %% [markdown]
# And the control: an antisymmetric $M_1$, two tokens and another $M_2$, which is a second preimage. Its outputs are the same, exactly, and in floating point up to rounding.

# %%
second = study_singleton(SingletonSetting("other M₂", symmetric=0.0))
second.ending.same, second.functions_apart

# %% [markdown]
# □ **Status: proved here**, using Ax's theorem; not peer-reviewed. With Lemma 3.5 of the paper: in a bottleneck with $L$ of full rank $\delta$ the weights $(A, V)$ with a given function are one orbit of the changes of basis between layers. The depth is determined, too. If the numbers of layers differ, the steps go through all the same (towers may have any length), until one side is $LX$ and the other has a layer left. Free the exponentials of this layer by Lemma F and set $PQ = 1$: its columns agree, those of $LX$ do not.

# %% [markdown]
# ## With a causal mask
#
# Let token $i$ look at tokens $1, \dots, i$ only. The first token sees itself, so $\mu = 0$, and there is a single exponential $Q$ a layer. Two tokens are enough again (now without copies), since no later token is seen by them. Frozen is $Q = 0$, and the tokens meet in the limit $Q \to \infty$ only; so if $L \ne 0$ the columns differ for almost all $X$, whatever the $M_i$ are.
#
# **Theorem A′.** *For $t \ge 2$, $L \ne 0$ and all $M_i \ne 0$ every direction changes the function; so the dimension is $D$ again. And for almost every $\theta$ no other $\theta'$ of the same architecture has its function.*
#
# The proof is that of Theorems A and B with $q$ alone. A relation between $q$ and $q'$ means $M_1' = \rho M_1$, so there is no case B2. Only $\rho < 0$ asks for a new argument.
#
# <details><summary>The proof in full</summary>
#
# *Directions.* $Q_1, \dots, Q_l$ are algebraically independent: as in Lemma G, comparing $Q_{i-1} = 0$ with the limit $Q_{i-1} \to \infty$, where the tokens meet. (All is polynomial in $\nu = Q/(Q+1)$, so the limit does no harm.) One finds $n_i\,(x_1 - x_2)^\top M_i x_2 = 0$, hence $n_i = 0$, since $M_i \ne 0$. Then freeze all layers but one as before: $\dot q_i = (x_1 - x_2)^\top \dot M_i x_2 = 0$ for all
# $x_1, x_2$, so $\dot M_i = 0$. ∎
#
# *Fibres, step 0.* Take $\theta$ with $L \ne 0$ and all $\mathrm{Sym}\,M_i \ne 0$. The first column of the output is $L x_1$, so $L' = L$. Those $\theta'$ of the architecture in which some $M_i' = 0$ form a set $Z$ of smaller dimension. Near a generic $\theta$ the values at finitely many inputs determine the weights, and distances between weights and between values differ by bounded factors; so the $\theta$ that share their
# function with a point of $Z$ form a set of no larger dimension than $Z$: almost no $\theta$ does. So let all $M_i' \ne 0$.
#
# *Step 1.* Write $F, F'$ for the networks without their first layers. If the first exponentials may be freed within their relations, then $F(XS(Q)) = F'(XS(Q'))$ for all $X$ and all $Q, Q' > 0$ that satisfy them.
#
# *No relation.* Lemma F holds with "all $g \to \infty$" in the place of $g = 1$: there both first layers collapse, and all later logits tend to 0. Let $Q' \to \infty$: the columns on the right agree, on the left they do not.
#
# *$M_1' = \rho M_1$, $\rho > 0$.* The same base point works, as $Q$ and $Q' = Q^\rho$ tend to infinity together. If $\rho = 1$, then $Q \to 0$ gives $F = F'$: peel. Otherwise let $x_2$ run away, $x_2 = y_1 + (1 + Q)(y_2 - y_1)$: then $F(y_1, y_2) = F'(y_1, y_1 + \tau(y_2 - y_1))$ with $\tau = (1 + Q)/(1 + Q^\rho)$. For $\rho > 1$ this tends to 0 as $Q \to \infty$, and the columns agree on the right only; for $\rho < 1$ exchange the networks.
#
# *$\rho < 0$.* No point collapses both networks now. Lemma F needs its base point only to see that in (1) the terms $\kappa, \lambda, \rho_f$ vanish. So let an equation (1), freed, be
#
# $$\sum_{j \ge 2} n_j \hat q_j + \sum_{j \ge 2} n_j' \hat q_j' = \kappa + \lambda(X) + c\, q_1(X) \qquad\text{for all } X \text{ and } Q > 0, \qquad (2)$$
#
# where $\hat q_j$ are the logits of $F$ on the tokens $XS(Q)$, and $\hat q_j'$ those of $F'$ on $XS(Q^\rho)$. For $Q \to \infty$ all $\hat q_j \to 0$, and the $\hat q_j'$ become the logits of $F'$ on $X$ itself; these are independent, as shown above: so $n_j' = 0$ for $j \ge 3$ (free, freeze the layers before $j - 1$, compare frozen with collapsed), and comparing degrees $\kappa = 0$, $\lambda = 0$ and
# $n_2' M_2' = c M_1$. In the same way $Q \to 0$ gives $n_j = 0$ for $j \ge 3$ and $n_2 M_2 = c M_1$. Put this into (2), with $\nu = Q/(Q+1)$, $\nu' = Q^\rho/(Q^\rho + 1)$ and $\delta = x_1 - x_2$:
#
# $$c\,\bigl[(1 - \nu) + (1 - \nu')\bigr]\, \delta^\top M_1 x_2 + c\,\bigl[\nu(1 - \nu) + \nu'(1 - \nu')\bigr]\, \delta^\top M_1 \delta = c\, \delta^\top M_1 x_2 .$$
#
# If $c \ne 0$, the terms with $x_2$ give $\nu + \nu' = 1$, which happens for $\rho = -1$ only, and then the others say $2\nu(1 - \nu)\,\delta^\top M_1 \delta = 0$, so $\mathrm{Sym}\,M_1 = 0$: excluded. So $c = 0$, Lemma F holds, and $Q \to 0$ collapses the right side only. ∎
#
# </details>
#
# □ **Status: proved here**, using Ax's theorem (and, for the dimension, Lemma D); not peer-reviewed.
#
# The ends of the ways again, now with a mask. And what was a second preimage above, with an antisymmetric $M_1$, is none here:

# %%
Counter(
    (found.case, found.ending.left_meet, found.ending.right_meet, found.ending.same)
    for seed in range(40)
    for candidate in ("unrelated", "negative", "positive", "other M₂")
    for found in [study_singleton(SingletonSetting(candidate, seed=seed, causal=True))]
)

# %%
no_second = study_singleton(SingletonSetting("other M₂", symmetric=0.0, causal=True))
no_second.ending.same, no_second.functions_apart

# %% [markdown]
# The panels of both theorems have a control **causal mask** under *More*. There is a surprise in the first one: with the mask, set **M₁ times** to 0. The argument breaks, but does the conclusion?

# %%
masked = study_immersion(ImmersionSetting(causal=True, symmetric=0.0))
[experiment.possible for experiment in masked.experiments], masked.everything.kernel, masked.spectrum.kernel

# %% [markdown]
# Two of three experiments cannot be made as the proof says, since $Q_1 = 1$; and still no direction is lost. So "all $M_i \ne 0$" is what this argument needs, and not what is true: one $M_i$ may be 0, by another argument (*One zero layer* in [docs/mathematics.md](../docs/mathematics.md)). If two may depends on the number of tokens. With two tokens and $M_1 = M_2 = 0$ all exponentials are 1, so nothing
# has to be freed, and in two dimensions one direction does nothing:

# %%
L, zero = over.random(draw, (2, 2)), np.zeros((2, 2))
half = Shares(0.0, (over.p + 1) / 2)
X, functionals = over.random(draw, (2, 14, 2, 2))
J = free_jacobian(over, VirtualWeights(L, (zero, zero)), X, [half, half], functionals)
J.shape[1] - exact_rank(J, over)

# %% [markdown]
# It is an antisymmetric $\dot M_2$ together with $\dot M_1 = -\frac12 \dot M_2$. In floating point a third token shows it, and so does a layer with $M \ne 0$ between the two.

# %% [markdown]
# ## Build one yourself
#
# Fact (†) speaks of *almost all* inputs. Find one of the others.

# %%
from neuroviz.lessons.checks_deep import check_meeting
from neuroviz.lessons.exercise import exercise

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
# $PQ = 1$ says $\delta^\top M \delta = 0$ with $\delta = x_1 - x_2$. A symmetric part with both signs has such a $\delta$, for instance $M = \mathrm{diag}(1, -1)$ and $\delta = (1, 1)$. For almost all other $x_1, x_2$ the tokens stay apart.
#
# ```python
# M_new = [[1, 0], [0, -1]]
# my_x1, my_x2 = [2, 1], [1, 0]
# check_meeting(M_new, my_x1, my_x2)
# ```
#
# </details>

# %% [markdown]
# ## Attack the theorem
#
# Do not believe the proof: look for a second set of weights. Start somewhere, and move until the function is that of the given network. Starts are random, or near the candidates of Theorem B, or transposed, or with layers swapped (or values and keys, in the last layer), or with $-L$.

# %%
SearchExplorer()

# %% [markdown]
# * Begin with the **network** *lightning, rank one*. There *are* two solutions: Theorem 3.2 of the paper. Does the search find both?
# * Then softmax, with one, two, three layers. How many **starts** arrive, and where?
# * Then softmax with an antisymmetric $M_1$, for $t = 2$ and for $t = 3$.
#
# <details><summary>Answers</summary>
#
# It finds both: of 30 starts 10 end at the weights with values and keys swapped (with other seeds often half of them). With softmax nearly all of 30 starts arrive, and all of them at the given weights. (With three layers and another seed it may be only half of them; where they arrive is the same.) With an antisymmetric $M_1$ and two tokens every start arrives, each somewhere else: $M_2$ can be anything. A third token brings them all back to the given weights.
#
# </details>
#
# A search that finds nothing proves nothing, and one that arrives nowhere says nothing at all. But one that finds the second solution where there is one, and never where the theorem says that there is none, is a reason to go on reading.

# %% [markdown]
# ## Where would you look for a gap?
#
# | the step | what could be wrong | what was tried |
# | --- | --- | --- |
# | Ax's theorem | used for functions of several variables, near real points | it is a published theorem; check that the functions are analytic there |
# | Lemma G: from linear to algebraic independence | the count of generators against the transcendence degree | linear independence measured exactly, also for special weights; antisymmetric $M_i$ as control |
# | Lemma F: the base point | a later logit that is not 0 at $g = 1$ | at $g = 1$ both first layers collapse, so all later $p, q$ are 0 |
# | Lemma F: denominators | a substitution at which one is 0 | they are sums of positive numbers |
# | step 1: three cases | a relation that was overlooked | the rank over $\mathbb{Q}$, exact, in the panel |
# | Lemma D | virtual weights that no weights reach, or a wrong count | the rank of weights $\mapsto (L, M)$ was $D$ in 2,898 networks |
# | Theorem A′, $\rho < 0$ | no setting collapses both networks, so Lemma F has no base point | a proof of its own; where all $M_i$ are antisymmetric its relation does exist |
# | steps 2 to 5 | a limit that cannot be reached within the relations | the ends of the ways, modulo a prime, and the ways in floating point |
# | Theorem A as a whole | all of the above | 320 exact kernels, among them special weights; antisymmetric $M_1$ as control |
# | Theorem B as a whole | all of the above | 44,060 starts of the search: no second solution |
#
# **What is not proved here.** Other normalisations than softmax (there Conjecture 3.10 is still a conjecture); whole fibres for several heads or with skip connections (Theorem E of [docs/mathematics.md](../docs/mathematics.md) speaks of directions only); fibres of lightning networks outside Theorem 3.7 of the paper.
#
# **Others.** J. Ax, *On Schanuel's conjectures*, Annals of Mathematics 93 (1971). For **causal** networks N. W. Henry has developments in Lean 4 (repositories `noskip_transformer_identifiability`, `attention_only_transformer_identifiability`) on generic identifiability, also for several heads, if the width is large enough; their method is another one, and we have not checked them. We claim no priority.
#
# <!-- teacher (6 min): Homework: one line of the table, one page of doubt. -->

# %% [markdown]
# ## In practice
#
# * To know which weights a function has, ask it at inputs with two different tokens. For almost all weights longer sequences add nothing to identifiability.
# * For almost all weights a softmax network of this kind (one head a layer, no biases, norms or skip connections) has one set of matrices $L, M_1, \dots, M_l$ only. So those of two trained copies can be compared directly: if they differ, so do the functions.
# * But not every difference is large. Attention draws tokens together (set **layers** to 4 in the first panel: 0.009 % of their distance is left), and what a layer does to tokens that are nearly equal is hard to hear. Identifiable is not the same as easy to identify.
#
# **On your own.** The proof of Theorem A uses $P = Q = 0$, which no real tokens reach. Find tokens that come close, for $M_1 = 5 \cdot I$, say with $P, Q < 10^{-6}$.
#
# <details><summary>Answer</summary>
#
# $p = 5\,(x_2 - x_1) \cdot x_1$ and $q = 5\,(x_1 - x_2) \cdot x_2$. With $x_2 = -x_1$ both are $-10\,|x_1|^2$, so $|x_1| \ge 1.2$ does it. But tokens that freeze one layer need not freeze the next; that all layers can be frozen independently is what needed Ax's theorem.
#
# </details>
