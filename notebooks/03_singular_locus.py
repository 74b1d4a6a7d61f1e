# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Walk on the functions of one layer, to where they are singular
#
# *Section 3.2 of the paper, and its Figure 1. About 50 minutes. You need: polynomials in two variables, rank, and the
# notebook on [single-layer fibers](02_single_layer_fibers.ipynb).*
#
# You will turn the functions of the smallest interesting layer into a surface, walk to the line along which it crosses itself,
# follow this line to its end and beyond, and find out what becomes of all this in layers too large to draw.

# %%
import numpy as np

from neuroviz.explorables import SectionExplorer, SingularityExplorer, SurfaceExplorer
from neuroviz.kit.presets import presets
from neuroviz.lessons.teaching import predict
from neuroviz.singular.forms import discriminant, forms_of, kind_of, nearest_layer, preimages_of, resultant
from neuroviz.singular.products_table import products_table
from neuroviz.singular.ranks import Approach, conjugate_table, follow_sequence, singular_facts
from neuroviz.singular.surface import SLICES

# %% [markdown]
# ## Turn a layer into two quadratic forms
#
# Let tokens have $d = 2$ coordinates $(X, Y)$ and outputs one, $d' = 1$. Then $A$ is a $2 \times 2$ matrix and $V$ a row. The columns
# of $A$ and the row $V$ are linear forms in $(X, Y)$; call them $\ell_1, \ell_2$ and $v$. Everything that a function shows of its layer
# is in two products (Proposition A.5 of the paper):
#
# $$q_1 = \ell_1 \cdot v, \qquad q_2 = \ell_2 \cdot v .$$
#
# These are quadratic forms, $aX^2 + bXY + cY^2$: three numbers each. Take an example.
#
# <!-- teacher (5 min): Let them multiply out one pair of forms by hand. Whoever is not at home with [X:Y] may read X/Y and add one point at infinity. -->

# %%
A, V = [[1, 1], [-1, 1]], [[1, 1]]
forms_of(A, V)

# %% [markdown]
# The first is $X^2 - Y^2 = (X - Y)(X + Y)$, the second $X^2 + 2XY + Y^2 = (X + Y)^2$. So a function is a point in a space of **six** dimensions.
# The layer has $4 + 2 = 6$ numbers, too. Do the functions fill the space?

# %% [markdown]
# <details><summary>Think first, then open.</summary>
#
# No. A factor can move from $A$ to $V$, so one dimension is lost, and 5 remain. Seen from the other side: the two forms of a layer
# have the linear factor $v$ in common, and two forms usually have none. To have one is a single equation.
#
# </details>
#
# That equation is called the **resultant**. With $q_k = a_kX^2 + b_kXY + c_kY^2$ it reads
#
# $$R = (a_1c_2 - a_2c_1)^2 - (a_1b_2 - a_2b_1)(b_1c_2 - b_2c_1) = 0 .$$

# %%
q1, q2 = forms_of(A, V)
resultant(q1, q2), resultant((1, 0, 1), (1, 2, 1))

# %% [markdown]
# For our layer it is zero. For $X^2 + Y^2$ and $(X+Y)^2$ it is not, so no layer has these two forms.

# %% [markdown]
# ## Take a slice, and look
#
# Six dimensions cannot be drawn. So we keep three numbers free and fix the others, in a way that keeps what is interesting: this slice is
#
# $$q_1 = X^2 + sXY + Y^2, \qquad q_2 = y\,(X^2 - Y^2) + z\,XY .$$
#
# In it the resultant is zero where $z^2 = (s^2 - 4)\,y^2$. Here is the surface.
#
# <!-- teacher (8 min): Open the panel and wait; ask what they see before you name anything. The dotted line is taken for a drawing error: it is the point of the picture. -->

# %%
panel = SurfaceExplorer()
panel

# %% [markdown]
# *What you see.* The blue and the sand-coloured sheet are functions of layers. The **dark lines** on them are straight: on each of them,
# all functions share one root, the root of $v$. The surface crosses itself along the **yellow line**, and the middle of that
# line is **dotted**. This is what Figure 1 of the paper shows, too (which slice its authors drew we do not know).
# On the right are the roots of $q_1$ and $q_2$, as points $[X:Y]$ of a circle. Two real roots are joined by a chord; a pair of complex
# roots is a point inside. The ring marks the root that both share.
#
# * Drag **which line**. The ring goes round the circle: every real root belongs to one straight line (but for $[1:0]$ and $[0:1]$,
#   whose lines lie at infinity).
# * Drag **along it** until the orange ball reaches the yellow line. Both chords stand still: on the way $q_2$ is only multiplied by a
#   number. On the yellow line this number is 0, and the dashed chord is gone.

# %% [markdown]
# ## Meet the second preimage
#
# Take the point $s = 3$, $y = z = 0$ on the yellow line, where $q_1 = X^2 + 3XY + Y^2$ and $q_2 = 0$.

# %%
S1 = SLICES["S1"]
predict("Up to rescaling, how many weights have this function?", len(preimages_of(*S1.forms(3.0, 0.0, 0.0))))

# %% [markdown]
# <details><summary>Where do they come from?</summary>
#
# On the yellow line $q_1$ and $q_2$ are proportional, so they share *both* roots of one form $q$, and $v$ may have either of them:
# what is a key for one layer is a value for the other. This is the swap of Theorem 3.2, and $A$ and $V$ have rank one here.
# Each choice lies on one of the two sheets, and they cross because both lead to the same function.
#
# </details>
#
# **Theorem 3.4** (here for $a \ge d \ge 2$). The set of functions of one lightning layer is closed. It is singular exactly where $A$
# and $V$ have rank at most 1. It has a boundary exactly where, besides, keys and values use the same linear form: $A = v k^\top$, $V = h v^\top$.

# %% [markdown]
# ## Follow the line to its end
#
# In the panel, let **the point move** along the yellow curve, and drag **where on it** from right to left, through $s = 2$;
# or press the buttons, one after the other. Watch the two ends of the chord.

# %% tags=["hide-input"]
presets(
    panel,
    {
        "on the line, s = 3": "moves=curve;where=0.928571",
        "s = 2": "moves=curve;where=0.785714",
        "s = 1": "moves=curve;where=0.642857",
    },
)

# %% [markdown]
# What decides whether they are real is the discriminant of $q_1$, which is $s^2 - 4$:
#
# <!-- teacher (8 min): Ask for the kind of the point at s = 3, 2, 1 before the cell runs. What usually goes wrong: singular and boundary are taken for the same. At s = 3 the set is singular and has no boundary. -->

# %%
[(s, discriminant((1, s, 1)), kind_of((1, s, 1), (0, 0, 0))) for s in (3, 2, 1, 0, -2, -3)]

# %% [markdown]
# * For $|s| > 2$ there are two real roots and two preimages: a **crossing**.
# * At $s = \pm 2$ they meet: $q_1$ is a square. This is a **pinch point**, and a boundary point of the set of functions.
# * For $|s| < 2$ they have become complex, conjugate to each other. No real layer has this function. Yet the equation $R = 0$ holds: the point lies in
#   the **Zariski closure**, the smallest set given by polynomial equations that contains all functions of layers. That is why the middle is dotted.
#
# How far is a dotted point from the functions of real layers?

# %%
[round(float(nearest_layer((1.0, s, 1.0), (0.0, 0.0, 0.0)).distance), 3) for s in (0.0, 0.5, 1.0, 1.5, 1.9)]

# %% [markdown]
# The dotted line hangs in the air: it has no layers near it, and comes to them only at the pinch points.
#
# Other slices of the same six-dimensional set look different. As **preset** of the panel, choose *tangent developable*: there *all* singular points are
# boundary. Then choose *crossing along a twisted cubic*, and lower **α of S3** to below 2; or press the buttons. What happens to the crossing?

# %% tags=["hide-input"]
presets(
    panel,
    {
        "tangent developable": "preset=tangent",
        "twisted cubic, α = 2.6": "preset=crossing",
        "twisted cubic, α = 1.5": "preset=crossing;alpha=1.5",
    },
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# At $\alpha = 2$ both roots of the common form meet, all along the curve; below 2 they are complex. The sheets no longer cross, and the curve is isolated, but for
# one pinch point.
#
# </details>

# %% [markdown]
# ## Cut it with a plane
#
# A surface that crosses itself is easier to believe when it is cut. Move the plane, and look at the curve on the right.

# %%
SectionExplorer()

# %% [markdown]
# **Move it** along the yellow line. What is the section in front of the pinch point, at it, and behind it?
#
# <details><summary>Answer</summary>
#
# In front, a curve that crosses itself (two sheets). Behind, between the pinch points, the plane meets the yellow line in one point that belongs
# to no curve at all: an isolated solution of $R = 0$. The pinch point is where one turns into the other.
#
# </details>

# %% [markdown]
# ## Fill the table of products
#
# With more outputs there are more forms, one for each column $\ell_k$ of $A$ and each row $v_m$ of $V$: a table. A table belongs to a layer if it can be
# written as products like this:
#
# <!-- teacher (5 min): If time is short, leave this part out; nothing below needs it. -->

# %%
products_table(A, [[1, 1], [1, -2]])

# %% [markdown]
# Now take a complex $v$, with its conjugate as values. The products are real. Is it the table of a real layer?

# %%
(row,) = conjugate_table(np.array([1, 1j]), k=np.array([1, 2]), h=np.array([1]))
row, resultant(*row), kind_of(*row)

# %% [markdown]
# The two forms are $X^2 + Y^2$ and twice as much. Their resultant is 0, and still no real layer has them. This is all that the Zariski closure adds (Corollary A.6).
#
# And a sequence of layers, does it always lead to a layer? Here the weights $A$ grow without bound:

# %%
sequence = follow_sequence("rescaled", d_out=1, steps=(1, 10, 100, 1000))
for n, size, away in zip(sequence.steps, sequence.sizes_a, sequence.distances, strict=True):
    print(f"n = {n:4}   |A| = {size:7.1f}   distance from the function of a layer: {away:.4f}")

# %% [markdown]
# The function converges, and its limit is a layer. The set of functions is closed.
#
# <details><summary>Why can it not escape?</summary>
#
# Rescale so that $\lVert A \rVert = 1$. The products are zero only if a factor is, so for all $A$ and $V$ of length one the table has at
# least some length $c > 0$. So a table of bounded length needs a $V$ of bounded length, and bounded weights have a convergent subsequence.
#
# </details>

# %% [markdown]
# ## Leave the pictures behind
#
# In higher dimension there is nothing to draw, but the theorem is the same, and its traces can be measured. How many directions in $(A, V)$
# do nothing, to first order? Usually one, the rescaling. And at the boundary?
#
# <!-- teacher (5 min): Most expect that the kernel grows at every singular point. It does not: each sheet is smooth by itself. -->

# %%
there = singular_facts(Approach(d=4, d_out=2, a=4, s=1, b=1))
predict("d = 4, at a boundary point A = v kᵀ, V = h vᵀ. How many directions do nothing?", there.kernel)

# %% [markdown]
# In this panel **s** leads to rank one and **b** turns the values' form $v$ into the keys' form $u$. Watch the singular values.

# %%
SingularityExplorer(state="s=0;b=0")

# %% [markdown]
# * Drag **s** to 1, with **b** at 0. The point is singular now. Has the kernel grown?
# * Then drag **b** to 1. How many singular values fall to zero, and only where?
#
# <details><summary>Answer</summary>
#
# No: at a crossing each of the two sheets is smooth by itself, and the kernel is still the rescaling alone. Singular is the *set*, where two sheets meet.
# At the boundary, $d - 1 = 3$ more singular values reach zero, at $b = 1$ and not before: the kernel has dimension $d$. Its directions are
# $(w k^\top, -h w^\top)$ for any vector $w$ (Lemma A.3).
#
# </details>

# %% [markdown]
# ## Build one yourself
#
# On which side the linear form has to stand is easily mixed up. Whole numbers are checked exactly.

# %%
from neuroviz.lessons.checks_one_layer import check_boundary_layer
from neuroviz.lessons.exercise import exercise

exercise(
    "With d = 2 and d′ = 1, give A (2 × 2) and V (1 × 2), without any entry 0, "
    "whose function is a boundary point.",
    check_boundary_layer,
    difficulty=2,
    minutes=5,
)

# %% tags=["exercise"]
A_new = ...
V_new = ...
check_boundary_layer(A_new, V_new)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# $A = v k^\top$ and $V = h v^\top$, for instance with $v = (1, 3)$, $k = (1, 2)$ and $h = 1$. The columns of $A$ are multiples of $v$:
#
# ```python
# A_new = [[1, 2], [3, 6]]
# V_new = [[1, 3]]
# check_boundary_layer(A_new, V_new)
# ```
#
# </details>

# %% [markdown]
# ## In practice
#
# * For $a < d$ the points with $\mathrm{rank}\, A < a$ are singular as well, like the tip of the cone in [Matrix factorization](01_matrix_factorization.ipynb);
#   [docs/mathematics.md](../docs/mathematics.md) has the reason. Set **head dimension a** to 2 in the last panel, with **s** at 1, and take the tick off *V goes to rank one too*.
# * Kinds of points are decided exactly for whole numbers and fractions, as in the cell above with $s = 3, 2, 1, \dots$; for decimal numbers up to a relative error of
#   $10^{-9}$, and the sliders stop at pinch points.
# * The surface is drawn from its straight lines, never contoured: a contouring program cannot see the dotted line, where $R$ is zero but does not change its sign.
# * Does training end at such points? That is the question of [Where training ends](03_where_training_ends.ipynb).
#
# **On your own.** Find a point of the slice *along a hyperbola* (S4) where a crossing, a boundary point and dotted points are all near each other.
#
# <details><summary>Answer</summary>
#
# The pinch point $(4, 4, \tfrac14)$: on one side of it along the curve $x = y = 1/z$ are crossings ($x > 4$), on the other ($0 < x < 4$) dotted points.
#
# </details>
