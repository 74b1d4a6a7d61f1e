# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Factor an attention matrix in every possible way
#
# *Lemma 3.1, in Section 3 of the paper. About 30 minutes. You need: matrix products, rank and inverses. You do not
# need: algebraic geometry; its words are explained where they come up.*
#
# You will count how much freedom queries and keys have, change them without changing the attention, find the change again from its
# result, and break the rule.

# %% [markdown]
# ## What attention sees of its queries and keys
#
# A head turns a token $x$ of $d$ numbers into a query $Qx$ and a key $Kx$ of $a$ numbers each. How much token $i$ attends to token $j$
# depends on one number, the product of a query with a key:
#
# $$(K x_j)^\top (Q x_i) = x_j^\top A\, x_i, \qquad A = K^\top Q .$$
#
# So $Q$ and $K$ enter through the $d \times d$ matrix $A$ alone. Take $d = 3$ and $a = 2$, with random weights. Then describe queries in
# another basis, and keys in the one that fits: for an invertible $a \times a$ matrix $C$, let $Q' = CQ$ and $K' = C^{-\top}K$, where
# $C^{-\top}$ is the inverse of the transpose.
#
# <!-- teacher (4 min): Write A = KᵀQ on the board before anything runs, and ask what a row of Q means by itself. Most expect it to mean something; the next cell takes that away. -->

# %%
import numpy as np

rng = np.random.default_rng(0)
Q, K = rng.standard_normal((2, 3)), rng.standard_normal((2, 3))
A = K.T @ Q

C = np.array([[1.0, 2.0], [0.0, 1.0]])
Q2, K2 = C @ Q, np.linalg.inv(C).T @ K
print(f"Q moved by {np.abs(Q2 - Q).max():.2f}, A by {np.abs(K2.T @ Q2 - A).max():.0e}")

# %% [markdown]
# The queries have moved, and $A$ by rounding errors only, because $K'^\top Q' = K^\top C^{-1} C\, Q$.
# <!-- check: np.abs(Q2 - Q).max() > 0.5 and np.abs(K2.T @ Q2 - A).max() < 1e-14 -->
#
# All pairs $(Q, K)$ with one and the same product form the **fibre** of that product. The invertible matrices form a group
# called $\mathrm{GL}_a$, and each of them takes us from one point of the fibre to another. All points that can be reached from
# one in this way are its **orbit**.

# %% [markdown]
# ## Count the freedom
#
# $Q$ and $K$ have $2ad$ entries, and $A$ has $d^2$. But $A$ is a product through $a$ dimensions, so its rank
# is at most $a$; for $a < d$ not every matrix has so small a rank. The **dimension** of the set of all these
# $A$ is the number of independent directions in which a typical one can be moved without leaving the set.
#
# Take $d = 4$ and $a = 3$, and commit to a number.
#
# <!-- teacher (6 min): Collect predictions by show of hands. 24 forgets the basis of the head, 16 forgets that the rank is bounded. Let somebody with each of the two explain. -->

# %% jupyter={"source_hidden": true}
from neuroviz.factorization.determinantal import measure_product
from neuroviz.lessons.teaching import predict

predict(
    "24 entries go in. How many dimensions do the products have?",
    measure_product(d=4, a=3).dimension,
    wrong={
        24: "Many of the 24 entries say the same twice: CQ and C⁻ᵀK have the same product.",
        16: "A has 16 entries. But its rank is at most 3, which not every 4 × 4 matrix has.",
        9: "9 directions are silent, one for each entry of C. How many of the 24 remain?",
        12: "That is one of the two matrices. The product needs both, up to a C.",
    },
    asks="freedom of a product",
)

# %% [markdown]
# <details><summary>Why this number? Open when you have committed to one.</summary>
#
# Each of the $a^2 = 9$ entries of $C$ can be varied on its own, and each variation moves $(Q, K)$ along the fibre. So
# 9 of the 24 directions are silent, and $24 - 9 = 15$ remain. That is one less than 16, which makes
# sense: among sixteen free entries, rank $\le 3$ is the single equation $\det A = 0$.
# <!-- check: measure_product(d=4, a=3).dimension == 15 and measure_product(d=4, a=3).fiber == 9 -->
#
# In general the products have $\alpha(a, d) = a(2d - a)$ dimensions for $a \le d$, and $d^2$ for a larger head, as no $d \times d$ matrix has a rank above $d$.
# <!-- check: all(measure_product(d, a).dimension == (a * (2 * d - a) if a <= d else d * d) for d in range(1, 5) for a in range(1, 7)) -->
#
# </details>

# %% [markdown]
# ## Move it
#
# The panel walks through $\mathrm{GL}_a$: a rotation, a stretch or a shear.
# Turn $C$ by its ring: the green frame says that $A$ stands still. Then drag a number of $Q$ or $K$ up or down. $A$ changes with it.

# %% jupyter={"source_hidden": true}
from neuroviz.explorables import FactorizationExplorer

buttons = {
    "a = 1, rotation": "a=1;walk=rotation;along=1",
    "a = 1, stretch": "a=1;walk=stretch;along=1",
}
factors = FactorizationExplorer(presets=buttons, asks="freedom of a product")
factors

# %% [markdown]
# *What you see.* $Q$ and $K$ at the start (○) and now (●), their product $A$, what $C$ does to two
# directions; then the singular values of $A$, its stretches: as many as its rank are not 0. Once you have guessed, the last chart counts, for every $a$, the dimensions of the set of all products (●) and of the fibre (■).
#
# * The singular values of $A$ stand still. Those of $Q$ are not drawn. Do they, too?
# * For head dimension $a = 1$, which of the three walks still moves anything? Guess; then press the first two buttons.
#
# <details><summary>Answers</summary>
#
# No: $Q' = CQ$ can have any singular values, and of the three walks only the rotation keeps them. For $a = 1$ only the
# stretch moves anything: then $C$ is a number, and a number cannot rotate or shear.
# <!-- check: "move by 0, A by 0" in shown(FactorizationExplorer, buttons["a = 1, rotation"])[1] -->
# <!-- check: "move by up to" in shown(FactorizationExplorer, buttons["a = 1, stretch"])[1] -->
#
# </details>

# %% [markdown]
# ## Find the change again
#
# Somebody hands you two factorisations of the same $A$. Which $C$ leads from one to the other? If $Q' = CQ$, multiply by a
# matrix that cancels $Q$ from the right; numpy's `pinv` is one, as long as the rows of $Q$ are independent.

# %%
found = Q2 @ np.linalg.pinv(Q)
found.round(6)

# %% [markdown]
# That is the $C$ from above, and it carries $K$ to $K'$.
# <!-- check: np.allclose(found, C) and np.allclose(np.linalg.inv(found).T @ K, K2) -->
#
# **Lemma 3.1.** Let $a \le d$, let $Q$ and $K$ have rank $a$, and let $K^\top Q = K'^\top Q'$. Then there is exactly one invertible $C$
# with $Q' = CQ$ and $K' = C^{-\top}K$.
#
# So a fibre is a copy of $\mathrm{GL}_a$: it has $a^2$ dimensions, and nothing but changes of basis is in it.
#
# <details><summary>Proof, in four sentences</summary>
#
# $A = K^\top Q$ has rank $a$, so $Q'$ and $K'$ have rank $a$ too. The rows of $A$ span the same space as the rows of $Q$, and also the same
# as the rows of $Q'$; so $Q' = CQ$ for one invertible $C$, and only one, as the rows of $Q$ are independent. Put this into
# $K^\top Q = K'^\top Q'$: it says $(K^\top - K'^\top C)\,Q = 0$. But $Q$ has a right inverse and can be cancelled, so $K = C^\top K'$.
#
# </details>

# %% [markdown]
# ## Break it
#
# Let the queries lose a rank: the second row of $Q$ is twice the first. Every query now points along the line of $(1, 2)$. What a key
# does at right angles to that line, along $(2, -1)$, is never asked for:
#
# <!-- teacher (6 min): Most expect 4 here, since the lemma has just said a². The count is at *this* point: a fibre can be larger where a hypothesis fails. -->

# %%
thin = np.array([[1.0, 3.0, -2.0], [2.0, 6.0, -4.0]])
K3 = K + np.outer([2, -1], [1.0, 0.0, 0.0])
np.allclose(K3.T @ thin, K.T @ thin)

# %% [markdown]
# The product is the same. But the rows of $K$ and of $K'$ (`K3`) together span three dimensions, while the rows of $C^{-\top}K$ always span
# the same plane as those of $K$. So these two factorisations of one $A$ are in no common orbit: the fibre here is more than one orbit. Has it more
# dimensions than $a^2 = 4$, too?
# <!-- check: np.linalg.matrix_rank(np.vstack([K, K3])) == 3 == np.linalg.matrix_rank(thin) + 2 -->

# %% jupyter={"source_hidden": true}
from neuroviz.factorization.determinantal import product_jacobian
from neuroviz.rank.field import Reals
from neuroviz.rank.floats import numerical_rank

here = thin.size + K.size - numerical_rank(product_jacobian(Reals(), thin, K))
predict(
    "How many dimensions does the fibre have at this point?",
    here,
    wrong={
        4: "So Lemma 3.1 says, and it asks for a Q of rank 2. This one has rank 1.",
        3: "So many dimensions have the changes of the keys that no query sees. Changes of basis move the queries, too.",
        7: "Four for C, and three for changes of the keys that no query sees. But some of these are changes of basis: they are counted twice.",
        6: "Two of the three changes of the keys that no query sees are changes of basis: they are counted already.",
    },
)

# %% [markdown]
# <details><summary>Where does the surplus come from?</summary>
#
# Let $v$ be the direction in $\mathbb{R}^2$ that no query has. The keys can be changed by $v w^\top$, with any $w$ in $\mathbb{R}^3$: these are
# $d = 3$ dimensions. Of these, $a = 2$ can also be had by changes of basis that fix all queries; 1 is
# new: $4 + 1 = 5$.
# <!-- check: here == 5 and "here it has dimension 5, against 4" in shown(FactorizationExplorer, "rank=Q")[1] -->
# <!-- check: "At most points 4 of 12 directions are silent" in shown(FactorizationExplorer, "rank=Q")[1] -->
#
# </details>
#
# Two buttons for [the panel](#Move-it): **d = 4, a = 3** has the sizes of your first guess; **Q loses a rank** counts at such a point.
# Then press **▶**: $C$ moves; after it the keys alone, by the knob beside $C$, along $v w^\top$ with a $w$ outside the rows of $K$. $A$ stands still, and no $C$ leads there.
# <!-- check: "span 3 dimensions together, and 2 each: no C leads" in shown(FactorizationExplorer, "rank=Q;off_orbit=1")[1] -->

# %% jupyter={"source_hidden": true}
from neuroviz.kit.presets import presets

presets(factors, {"d = 4, a = 3": "d=4;a=3", "Q loses a rank": "rank=Q"})

# %% [markdown]
# ## Build one yourself
#
# Make a fibre larger. <!-- lab --> Below the verdict stand your $Q$ and $K$.<!-- end of lab -->

# %% jupyter={"source_hidden": true}
from neuroviz.lessons.checks_one_layer import check_large_fiber
from neuroviz.lessons.exercise import exercise

exercise(
    "With d = 3 and a = 2, give Q and K with KᵀQ ≠ 0 and a fibre of more than a² = 4 dimensions at this point.",
    check_large_fiber,
    difficulty=1,
    minutes=4,
)

# %% tags=["exercise"]
Q_new = ...
K_new = ...
check_large_fiber(Q_new, K_new)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# One of the two has to lose a rank, and their product may not vanish. For instance both rows of $Q$ alike:
#
# ```python
# Q_new = [[1, 0, 0], [1, 0, 0]]
# K_new = [[1, 0, 0], [0, 1, 0]]
# check_large_fiber(Q_new, K_new)
# ```
#
# </details>

# %% [markdown]
# ## Why this matters for attention
#
# A network shows its function, never its weights. From the function one can hope to find $A$, and by Lemma 3.1 then $Q$ and $K$, but only
# up to a $C$. So counting parameters overcounts each head by $a^2$, and a row of $Q$ by itself says nothing at all.
#
# * A head of GPT-2 small has $d = 768$ and $a = 64$. Of the $2ad = 98{,}304$ entries in $Q$ and $K$, $a^2 = 4{,}096$ directions, about 4.2 %, are silent in this way.
#   <!-- check: (lambda a, d: (2 * a * d, a * a, round(100 * a / (2 * d), 1)))(64, 768) == (98304, 4096, 4.2) -->
# * Low-rank adapters (LoRA) write a change of weights as a product of a tall and a wide matrix of rank $r$. The same proof applies:
#   compare products and not factors.
#
# How much of $A$, and of the values $V$, the function of a whole layer determines is the next question: [Single-layer fibers](02_single_layer_fibers.ipynb).

# %% [markdown]
# ## Further
#
# The course goes on without these two parts.

# %% [markdown]
# ### A head wider than the tokens
#
# For $a > d$ every $d \times d$ matrix is a product, and a larger head gains nothing: for $d = 3$ and $a = 1, 2, \dots$ the products have
# 5, 8, 9, 9, 9, … dimensions. The fibre goes on growing, but not like $a^2$.
# <!-- check: [measure_product(3, a).dimension for a in range(1, 7)] == [5, 8, 9, 9, 9, 9] -->

# %% jupyter={"source_hidden": true}
predict(
    "a = 7, d = 3. By how much does the fibre miss 7² = 49?",
    49 - measure_product(3, 7).fiber,
    wrong={
        0: "Can a C change something, and leave both Q and K as they are?",
        4: "4 dimensions of ℝ⁷ are left over. How many entries has a matrix that acts on these alone?",
        9: "9 is the dimension of the products. Which matrices C do nothing at all?",
        33: "33 dimensions has the fibre itself. How many are missing from 49?",
        40: "The matrices C that do nothing act on 4 dimensions, and so have 4² entries that count.",
    },
)

# %% [markdown]
# <details><summary>Why?</summary>
#
# Queries and keys are now columns in $\mathbb{R}^7$ that fill three dimensions only. The matrices $C$ that act on the $a - d = 4$
# dimensions left over, and on nothing else, change neither $Q$ nor $K$. They have $(a - d)^2 = 16$ dimensions, so the fibre has
# $a^2 - (a - d)^2$. When $A$ is invertible there still is a $C$ between any two factorisations, but it is no longer unique.
# <!-- check: 49 - measure_product(3, 7).fiber == 16 -->
#
# </details>

# %% [markdown]
# ### The smallest determinantal variety
#
# The $d \times d$ matrices of rank at most $a$ can be described by equations: all $(a+1) \times (a+1)$ minors vanish. A set given by polynomial
# equations is called a **variety**, and this one is a **determinantal variety**. The smallest
# interesting one has $d = 2$, $a = 1$ and a single equation, $\det A = 0$. It has $\alpha(1, 2) = 3$ dimensions in the four of all $2 \times 2$ matrices.
# <!-- check: measure_product(2, 1).dimension == 3 -->
#
# Four dimensions are one too many to draw. So fix the **trace** $c$, the sum of the diagonal, and write
#
# $$A = \begin{pmatrix} c/2 + x & y + z \\ y - z & c/2 - x \end{pmatrix}, \qquad \det A = \frac{c^2}{4} - x^2 - y^2 + z^2 .$$
#
# In the space of $(x, y, z)$, rank $\le 1$ means $x^2 + y^2 = z^2 + c^2/4$. What does this surface look like for $c = 0$? Sketch it, then press the first of the buttons that follow; they move [the panel](#Move-it).
#
# <!-- teacher (6 min): Let a student drive the point to the tip and say aloud when the badge turns. x, y, z are a slice of four dimensions and not all of it: say so, or the hyperboloid looks like another set. -->
#
# The ball is $A$, and the lines through it lie in the surface. Drag the ring of $C$: $Q$ and $K$ move and the ball stands still. Each point of the surface has a whole fibre above
# it, and you are walking in it. Then drag the ball: the numbers of $Q$ and $K$ follow. If you drag one of these numbers instead, the trace changes as well, and the surface with it.
#
# %% jupyter={"source_hidden": true}
slices = {
    "c = 0": "d=2;a=1;walk=stretch",
    "height 0": "d=2;a=1;walk=stretch;height=0",
    "trace 1": "d=2;a=1;walk=stretch;trace=1",
}
presets(factors, slices)

# %% [markdown]
# * Press **height 0**. What is $A$ there, and which hypothesis of Lemma 3.1 fails?
# * Press **trace 1**. Where has the tip gone?
#
# <details><summary>Answers</summary>
#
# This is the tip of the cone. There $A = 0$, so $Q$ and $K$ cannot both be of rank 1. The badge turns to "outside hypotheses", and the fibre has 2 dimensions instead of 1.
# <!-- check: "A = 0 is that point" in shown(FactorizationExplorer, slices["height 0"])[1] -->
# <!-- check: "here it has dimension 2, against 1" in shown(FactorizationExplorer, slices["height 0"])[1] -->
#
# A slice with trace $c \ne 0$ does not contain the zero matrix. The surface is then a hyperboloid, and smooth.
# <!-- check: "hyperboloid, smooth everywhere" in shown(FactorizationExplorer, slices["trace 1"])[1] -->
#
# </details>
#
# A point of a surface is **singular** if there is no tangent plane at it. If one equation gives the surface, look where its
# derivative vanishes. For $\det A = ps - qr$ the derivative in $(p, q, r, s)$ is $(s, -r, -q, p)$. It vanishes for
# $A = 0$ and for no other matrix, so the tip is the only singular point.
#
# The general rule has the same shape: for $a < d$ the singular points of $\{\mathrm{rank} \le a\}$ are the matrices of rank $\le a - 1$. They are exactly
# the products of which a factor has dropped rank, where Lemma 3.1 does not apply.
