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
# *Lemma 3.1, in Section 3 of the paper. About 35 minutes. You need: matrix products, rank and inverses. You do not
# need: algebraic geometry; its words are explained where they come up.*
#
# You will change queries and keys without changing the attention, find the change again from its result, count how much freedom
# there is, break the rule in two ways, and walk on the smallest surface of its kind, up to its tip.

# %%
import numpy as np

from neuroviz.engine.field import Reals
from neuroviz.engine.network import Layer
from neuroviz.engine.rank import numerical_rank
from neuroviz.engine.symmetry import drop_rank, recover_head_basis
from neuroviz.explorables import FactorizationExplorer
from neuroviz.factorization.determinantal import measure_product, product_jacobian
from neuroviz.kit.presets import presets
from neuroviz.lessons.teaching import predict

# %% [markdown]
# ## What attention sees of its queries and keys
#
# A head turns a token $x$ of $d$ numbers into a query $Qx$ and a key $Kx$ of $a$ numbers each. How much token $i$ attends to token $j$
# depends on one number, the product of the query of the first with the key of the second:
#
# $$(K x_j)^\top (Q x_i) = x_j^\top A\, x_i, \qquad A = K^\top Q .$$
#
# So $Q$ and $K$ enter through the $d \times d$ matrix $A$ alone. Take $d = 3$ and $a = 2$, with random weights:
#
# <!-- teacher (4 min): Write A = KᵀQ on the board before anything runs, and ask what a row of Q means by itself. Most expect it to mean something; the next cell takes that away. -->

# %%
rng = np.random.default_rng(0)
Q, K = rng.standard_normal((2, 3)), rng.standard_normal((2, 3))
A = K.T @ Q
A.round(2)

# %% [markdown]
# Now describe queries in another basis, and keys in the one that fits: for an invertible $a \times a$ matrix $C$, let
# $Q' = CQ$ and $K' = C^{-\top}K$, where $C^{-\top}$ is the inverse of the transpose.

# %%
C = np.array([[1.0, 2.0], [0.0, 1.0]])
Q2, K2 = C @ Q, np.linalg.inv(C).T @ K
print(np.abs(Q2 - Q).max(), np.abs(K2.T @ Q2 - A).max())

# %% [markdown]
# The queries have moved a lot and $A$ by rounding errors only, because $K'^\top Q' = K^\top C^{-1} C\, Q$.
#
# All pairs $(Q, K)$ with one and the same product form the **fibre** of that product. The invertible matrices form a group
# called $\mathrm{GL}_a$, and each of them takes us from one point of the fibre to another. All points that can be reached from
# one in this way are its **orbit**.

# %% [markdown]
# ## Move it
#
# The panel walks through $\mathrm{GL}_a$ along a curve $C(s)$ that starts at the identity, $C(0) = 1$: a rotation, a stretch or a shear.
# Slide **along the walk**, and keep an eye on the two green frames.

# %%
panel = FactorizationExplorer(only=["d", "a", "walk", "along"])
panel

# %% [markdown]
# *What you see.* On the left are $Q$, $K$ and $A$ at the start (○) and now (●). In the middle are the singular values of $A$, and
# below them a count that comes next. The surface on the right has its own section at the end.
#
# * The singular values of $A$ stand still. Do those of $Q$?
# * Set **head dimension a** to 1, and guess: which of the three walks still moves anything? Then press the buttons, or walk yourself.

# %% tags=["hide-input"]
presets(
    panel,
    {
        "a = 1, rotation": "a=1;walk=rotation;along=1",
        "a = 1, stretch": "a=1;walk=stretch;along=1",
        "a = 1, shear": "a=1;walk=shear;along=1",
    },
)

# %% [markdown]
# <details><summary>Answers</summary>
#
# They do not: $Q' = CQ$ can have any singular values. Of the three walks only the rotation keeps them. And for $a = 1$ only the
# stretch moves anything: the matrix $C$ is a number then, and a number cannot rotate or shear.
#
# </details>

# %% [markdown]
# ## Count the freedom
#
# $Q$ and $K$ have $2ad$ entries. $A$ has $d^2$, but it is a product through $a$ dimensions, so its rank
# is at most $a$, and for $a < d$ not every $d \times d$ matrix is like that. The **dimension** of the set of all these
# $A$ is the number of independent directions in which a typical one can be moved without leaving the set.
#
# For $d = 3$ and $a = 2$ the panel counts 8. Take $d = 4$ and $a = 3$, and commit before you ask the panel.
#
# <!-- teacher (6 min): Collect predictions for d = 4, a = 3 by show of hands. 24 forgets the basis of the head, 16 forgets that the rank is bounded. Let somebody with each of the two explain; the text below the panel fits both. -->

# %%
count = measure_product(d=4, a=3)
predict("24 entries go in. How many dimensions do the products have?", count.dimension)

# %% [markdown]
# When you have committed, ask the panel above: press a button, or set **width d** and **head dimension a**. Its count stands below the
# singular values, and in the sentence below the picture.

# %% tags=["hide-input"]
presets(
    panel,
    {
        "d = 3, a = 2": "d=3;a=2",
        "d = 4, a = 3": "d=4;a=3",
    },
)

# %% [markdown]
# <details><summary>Why this number? Open when you have committed to one.</summary>
#
# Each of the $a^2 = 9$ entries of $C$ can be varied on its own, and each variation moves $(Q, K)$ along the fibre. So
# 9 of the 24 directions do nothing to $A$. If nothing else is lost, $24 - 9 = 15$ remain. That is one less than 16, which makes
# sense: among sixteen free entries, rank $\le 3$ is the single equation $\det A = 0$.
#
# </details>
#
# How is it measured? Nudge $Q$ by $\dot Q$ and $K$ by $\dot K$: the product moves by $K^\top \dot Q + \dot K^\top Q$. For the $Q, K$ from
# above this is linear in the twelve numbers of $\dot Q, \dot K$, and its rank is the count:

# %%
J = product_jacobian(Reals(), Q, K)
J.shape, numerical_rank(J)

# %% [markdown]
# (`measure_product` does this modulo a large prime at a random point, where a rank has no rounding in it. "Random" is how one gets
# the **generic** value, which means: the one at almost every point, all but a set of measure zero.)

# %% [markdown]
# ## Find the change again
#
# Somebody hands you two factorisations of the same $A$. Can you say which $C$ leads from one to the other? If $Q' = CQ$, multiply by a
# matrix that cancels $Q$ from the right; numpy's `pinv` is one, as long as the rows of $Q$ are independent.

# %%
found = Q2 @ np.linalg.pinv(Q)
found.round(6)

# %% [markdown]
# That is the $C$ from above. It was determined by $Q$ and $Q'$ alone, and it carries $K$ to $K'$ as well:

# %%
print(np.abs(np.linalg.inv(found).T @ K - K2).max())

# %% [markdown]
# **Lemma 3.1.** Let $a \le d$, let $Q$ and $K$ have rank $a$, and let $K^\top Q = K'^\top Q'$. Then there is exactly one invertible $C$
# with $Q' = CQ$ and $K' = C^{-\top}K$.
#
# So a fibre is a copy of $\mathrm{GL}_a$: it has $a^2$ dimensions, and nothing but changes of basis is in it.
#
# <details><summary>Proof, in four sentences</summary>
#
# $A = K^\top Q$ has rank $a$, so $Q'$ and $K'$ have rank $a$ too. The rows of $A$ span the same space as the rows of $Q$, and also the same
# as the rows of $Q'$; so $Q' = CQ$ for one invertible $C$, and only one, as the rows of $Q$ are independent. Put this into
# $K^\top Q = K'^\top Q'$: it says $(K^\top - K'^\top C)\,Q = 0$. But $Q$ can be cancelled, having a right inverse, so $K = C^\top K'$.
#
# </details>
#
# The package has this as a function. It checks the hypotheses first:

# %%
recover_head_basis(Reals(), Layer(Q, K, None), Layer(Q2, K2, None)).round(6)

# %% [markdown]
# ## Break it: a rank drops
#
# Let the queries lose a rank: both rows of $Q$ become multiples of one vector.
#
# <!-- teacher (6 min): Most expect 4 here, since the lemma has just said a². Stress that the count is at *this* point: a fibre can be larger where a hypothesis fails. Who says "smaller" has mixed up the fibre and its image. -->

# %%
thin = drop_rank(Q)
numerical_rank(thin), numerical_rank(K)

# %%
try:
    recover_head_basis(Reals(), Layer(thin, K, None), Layer(C @ thin, np.linalg.inv(C).T @ K, None))
except ValueError as refusal:
    print(refusal)

# %% [markdown]
# This time the lemma does not apply, and for a good reason. A query now always points along one line of $\mathbb{R}^2$. What a key does
# at right angles to that line is never asked for, so $K$ can be changed there at will. The fibre at this point is larger than $a^2 = 4$:

# %%
here = 2 * 2 * 3 - numerical_rank(product_jacobian(Reals(), thin, K))
predict("How many dimensions does the fibre have at this point?", here)

# %% [markdown]
# <details><summary>Where does the surplus come from?</summary>
#
# Let $v$ be the direction in $\mathbb{R}^2$ that no query has. The keys can be changed by $v w^\top$, with any $w$ in $\mathbb{R}^3$, and $A$ stays.
# That is $d = 3$ dimensions. Of these, $a = 2$ can also be had by changes of basis that fix all queries; 1 is
# new: $4 + 1$. In general, one lost rank of $Q$ costs $d - a$ dimensions more.
#
# </details>
#
# Here is a change that no $C$ can make. Let `v` be that direction, and keep everything else:

# %%
v = np.linalg.svd(thin)[0][:, 1:]
K3 = K + v @ np.array([[1.0, 0.0, 0.0]])
print(np.abs(K3.T @ thin - K.T @ thin).max(), numerical_rank(np.vstack([K, K3])))

# %% [markdown]
# The product is the same. But the rows of $K$ and of $K'$ together span three dimensions, while the rows of $C^{-\top}K$ always span
# the same plane as those of $K$. So these two factorisations of one $A$ are in no common orbit of $\mathrm{GL}_2$.
#
# Look at an extreme case: $d = 2$, $a = 1$, and all queries are zero. Slide **along the walk**: ● runs through the orbit of ○. Slide **angle**:
# ○ moves too. What happens to the key, and what to $A$?

# %%
FactorizationExplorer(state="d=2;a=1;walk=stretch;rank=Q", only=["along", "angle"])

# %% [markdown]
# <details><summary>Answer</summary>
#
# $A = 0$ throughout. The walk multiplies the key by a number, which is all that $\mathrm{GL}_1$ can do. The angle turns it. So every
# key with $Q = 0$ is in the fibre: 2 dimensions, and not $a^2 = 1$.
#
# </details>

# %% [markdown]
# ## Break it: a head wider than the tokens
#
# And for $a > d$? Here are the measured counts for $d = 3$: head dimension, entries, dimension of the products, and of a generic fibre.

# %%
[(c.a, 2 * c.a * 3, c.dimension, c.fibre) for c in (measure_product(3, a) for a in range(1, 7))]

# %% [markdown]
# The third number is $\alpha(a, d) = a(2d - a)$ up to $a = d = 3$. From there on it is $d^2 = 9$: every matrix has rank at most $d$, so all of
# them are products, and a larger head gains nothing. The fibre goes on growing, though no longer like $a^2$.

# %%
predict("a = 7, d = 3. By how much does the fibre miss 7² = 49?", 49 - measure_product(3, 7).fibre)

# %% [markdown]
# <details><summary>Why?</summary>
#
# Queries and keys are now columns in $\mathbb{R}^7$ that fill three dimensions only. The matrices $C$ that act on the $a - d = 4$
# dimensions left over, and on nothing else, change neither $Q$ nor $K$. They have $(a - d)^2 = 16$ dimensions. So the fibre has
# $a^2 - (a - d)^2 = 2ad - d^2$. When $A$ is invertible there still is a $C$ between any two factorisations, but it
# is no longer unique.
#
# </details>
#
# Drag **head dimension a** from below $d$ to above it, and watch the orange frames in the middle meet and part. Filled marks are measured,
# hollow ones are the formula. What does the badge say on either side of $a = d$, and what when **rank** drops?

# %%
FactorizationExplorer(state="d=4;a=3;walk=shear", only=["d", "a", "rank"])

# %% [markdown]
# <details><summary>Answer</summary>
#
# Up to $a = d$ the lemma holds, beyond it does not: for $a = 5$ the fibre has 24 dimensions and not 25. When a rank drops, it fails for
# every $a$. For $a < d$ the fibre has $d - a$ dimensions more; for $a = d$ it still has $a^2$ of them, but more than one orbit.
#
# </details>

# %% [markdown]
# ## See one: the smallest determinantal variety
#
# The $d \times d$ matrices of rank at most $a$ can be described by equations: all $(a+1) \times (a+1)$ minors, which are determinants of parts of the
# matrix, vanish. A set given by polynomial equations is called a **variety**, and this one is a **determinantal variety**. The smallest
# interesting one has $d = 2$, $a = 1$ and a single equation, $\det A = 0$. It has $\alpha(1, 2) = 3$ dimensions in the four of all $2 \times 2$ matrices.
#
# Four dimensions are one too many to draw. So fix one number, the **trace** $c$ (the sum of the diagonal), and write
#
# $$A = \begin{pmatrix} c/2 + x & y + z \\ y - z & c/2 - x \end{pmatrix}, \qquad \det A = \frac{c^2}{4} - x^2 - y^2 + z^2 .$$
#
# In the space of $(x, y, z)$, rank $\le 1$ means $x^2 + y^2 = z^2 + c^2/4$. What does this surface look like for $c = 0$?
#
# <!-- teacher (8 min): Let a student drive the point to the tip and say aloud when the badge turns. x, y, z are a slice of four dimensions and not all of it: say so, or the hyperboloid looks like another set. -->

# %%
FactorizationExplorer(state="d=2;a=1;walk=stretch;angle=330", only=["a", "along", "trace", "angle", "height"])

# %% [markdown]
# The ball is $A$, on a cone, and it moves when $A$ does: with **angle** and **height**. Slide **along the walk**: now $Q$ and $K$ move and the
# ball stands still. Each point of the surface has a whole fibre of factorisations above it, and you are walking in it.
#
# * Let **height** go to 0. What is $A$ there, and which hypothesis of Lemma 3.1 fails?
# * Give **trace of A** a value above 0. Where has the tip gone?
# * Set **head dimension a** to 2. Why does the ball leave the surface?
#
# <details><summary>Answers</summary>
#
# At the tip $A = 0$, so $Q$ and $K$ cannot both be of rank 1. The badge turns to "outside hypotheses", and the fibre has 2 dimensions instead of 1.
#
# A slice with trace $c \ne 0$ does not contain the zero matrix. The surface is then a hyperboloid, and smooth. The cone is the
# one slice of this family that goes through the bad point.
#
# With $a = 2 = d$ all $2 \times 2$ matrices are products. The small ball is the nearest matrix of rank 1 in the slice.
#
# </details>
#
# A point of a surface is **singular** if there is no tangent plane at it. If the surface is given by one equation, look where the
# derivative of the equation vanishes. For $\det A = ps - qr$ the derivative in $(p, q, r, s)$ is $(s, -r, -q, p)$. It vanishes for
# $A = 0$ and for no other matrix, so the tip is the only singular point, in all four dimensions.
#
# The general rule has the same shape: for $a < d$ the singular points of $\{\mathrm{rank} \le a\}$ are the matrices of rank $\le a - 1$. These are exactly
# the products for which a factor has dropped rank, and Lemma 3.1 failed.
#
# **The orange rods.** Through each point but the tip go two straight lines of matrices of rank at most 1. On one all matrices share their
# image, since $K$ keeps its direction; on the other they share their kernel, since $Q$ does. On the cone the two are the same line. Set
# **trace of A** above 0 to see both, and turn the figure with the mouse.

# %% [markdown]
# ## Build one yourself
#
# A rank drop makes a fibre larger. Make one.

# %%
from neuroviz.lessons.checks_one_layer import check_large_fibre
from neuroviz.lessons.exercise import exercise

exercise(
    "With d = 3 and a = 2, give Q and K with KᵀQ ≠ 0 and a fibre of more than a² = 4 dimensions, to first order.",
    check_large_fibre,
    difficulty=1,
    minutes=4,
)

# %% tags=["exercise"]
Q_new = ...
K_new = ...
check_large_fibre(Q_new, K_new)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# One of the two has to lose a rank, and their product may not vanish. For instance both rows of $Q$ alike:
#
# ```python
# Q_new = [[1, 0, 0], [1, 0, 0]]
# K_new = [[1, 0, 0], [0, 1, 0]]
# check_large_fibre(Q_new, K_new)
# ```
#
# </details>

# %% [markdown]
# ## Why this matters for attention
#
# A network shows its function, never its weights. From the function one can hope to find $A$, and by Lemma 3.1 then $Q$ and $K$, but only
# up to a $C$. So counting parameters overcounts each head by $a^2$, and a single row of $Q$ says nothing by itself. How much of $A$, and
# of the values $V$, the function of a layer determines is the next question.
#
# ## In practice
#
# * A head of GPT-2 small has $d = 768$ and $a = 64$: $2ad = 98{,}304$ entries in $Q$ and $K$, of which $a^2 = 4{,}096$, about 4.2 %, are
#   redundant in this way.
# * Low-rank adapters (LoRA) write a change of weights as a product of a tall and a wide matrix of rank $r$. The same proof applies: the
#   factors are known up to a $\mathrm{GL}_r$ only, so compare products and not factors.
# * Near a rank drop the recovered $C$ exists but is badly conditioned: small errors in $Q$ are divided by its smallest singular value.
#
# **On your own.** With `numpy`, find two factorisations of the same $2 \times 2$ matrix $A \ne 0$, with $a = 2$, that no $C$ connects.
#
# <details><summary>One of many answers</summary>
#
# Take $A$ with a single 1 in the upper left corner. Then $Q = A$, $K = I$ is a factorisation, and $Q' = I$, $K' = A$ is another. Since $CQ$ has
# the rank of $Q$, which is 1, it is never $Q'$, whose rank is 2.
#
# </details>
