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
# *Section 3.2 of the paper, and its Figure 1. About 52 minutes. You need: polynomials in two variables, rank, and
# [Single-layer fibers](02_single_layer_fibers.ipynb).*
#
# You will turn the functions of the smallest interesting layer into a surface, look for the places where it is not smooth,
# walk along them, and find out what remains of this in layers too large to draw, and in layers that learn.

# %% [markdown]
# ## Turn a layer into two quadratic forms
#
# Let tokens have $d = 2$ coordinates, from now on called $X$ and $Y$, and outputs only one. Then $A$ is a $2 \times 2$ matrix, and $V$ a row.
# The columns of $A$ and the row $V$ are linear forms in $(X, Y)$; call them $\ell_1, \ell_2$ and $v$.
#
# Let token $i$ have the coordinates $(\xi, \eta)$. Then $A x_i = \xi\,\ell_1 + \eta\,\ell_2$, and the output is
#
# $$\varphi_i = \sum_j v(x_j)\,\bigl(\xi\,\ell_1(x_j) + \eta\,\ell_2(x_j)\bigr) = \xi \sum_j q_1(x_j) + \eta \sum_j q_2(x_j), \qquad q_1 = \ell_1 v, \quad q_2 = \ell_2 v .$$
#
# So the weights act through $q_1$ and $q_2$ alone. And the function shows both: for $(\xi, \eta) = (1, 0)$ move another token, and the output changes as $q_1$ does; for $(0, 1)$ as $q_2$ (Proposition A.5).
#
# These are quadratic forms, $aX^2 + bXY + cY^2$: three numbers each. Take an example.
#
# <!-- teacher (5 min): Let them multiply out one pair of forms by hand. Whoever is not at home with [X:Y] may read X/Y and add one point at infinity. -->

# %%
import numpy as np

A, V = np.array([[1, 1], [-1, 1]]), np.array([1, 1])
q1, q2 = (np.polymul(column, V) for column in A.T)
print("q1 has the coefficients", q1, "and q2 has", q2)

# %% [markdown]
# The first is $X^2 - Y^2 = (X - Y)(X + Y)$, the second $X^2 + 2XY + Y^2 = (X + Y)^2$.
# <!-- check: [tuple(q1), tuple(q2)] == [(1, 0, -1), (1, 2, 1)] -->
# So a function is a point in a space of **six** dimensions. The layer has $4 + 2 = 6$ numbers, too. Do the functions fill the space?
#
# <details><summary>Think first, then open.</summary>
#
# No. A factor can move from $A$ to $V$, so one direction is silent, and 5 dimensions remain.
# <!-- check: dim((2, 1), (2,), tokens=2) == 5 -->
#
# </details>

# %% [markdown]
# ## Put the roots on a circle
#
# The two forms of a layer have the linear factor $v$ in common. Two forms usually have none. How does one see whether they have?
#
# A form is zero at two **roots** $[X:Y]$: the form $(X - Y)(X + Y)$ at $[1:1]$ and at $[-1:1]$. Of a root only the ratio counts. So the roots are
# the lines through the origin, and if a line turns by half a turn it is back: all roots together are a **circle**. In the picture are the roots of $q_1$ (●) and of $q_2$ (□), and the four chords
# from a root of the one to a root of the other. Multiply the halves of their lengths, with a minus sign if the marks alternate on the way round (●□●□). Call the product $R$.
#
# <!-- teacher (8 min): Nobody needs the word resultant before the product has been 0 once. Let somebody drag a root all the way round, and the room count how often R is 0. -->

# %% jupyter={"source_hidden": true}
from neuroviz.explorables import ResultantExplorer
from neuroviz.lessons.teaching import predict

predict(
    "When is R = 0?",
    "a root of one form meets a root of the other",
    choices={
        "the two roots of one form meet": "Then that form is a square. No chord "
        "joins two roots of one form.",
        "a root of one form meets a root of the other": "Then one of the four chords "
        "has length 0.",
        "all four roots meet": "Then it is, too. But one chord of length 0 is enough.",
    },
    asks="common root",
)

# %% jupyter={"source_hidden": true}
ResultantExplorer(only=["third"], asks="common root")

# %% [markdown]
# Drag a root of $q_2$ all the way round the circle, or press **▶**. How often is $R = 0$? Drag both roots of $q_2$ onto those of $q_1$.
#
# <details><summary>What to find</summary>
#
# Twice, where it meets one of the two roots of $q_1$; in between the marks alternate, and $R$ is negative. Where a chord has length 0, the forms have a common root, and then a common linear factor, the one that is zero there.
# <!-- check: "a root is common" in shown(ResultantExplorer, "third=20")[1] and "two roots are common" in shown(ResultantExplorer, "third=20;fourth=80")[1] -->
# <!-- check: (shown(ResultantExplorer, "third=50")[0].resultant > 0) != (shown(ResultantExplorer, "third=100")[0].resultant > 0) -->
#
# </details>
#
# $R$ is the **resultant** of the two forms. One can compute it without their roots, and also where these are complex numbers: with $q_k = a_kX^2 + b_kXY + c_kY^2$
#
# $$R = (a_1c_2 - a_2c_1)^2 - (a_1b_2 - a_2b_1)(b_1c_2 - b_2c_1) .$$
#
# (In the picture all linear factors have length 1. If a form is multiplied by $c$, then $R$ is multiplied by $c^2$, so that 0 stays 0.)
# <!-- tested: test_resultant_facts.py::test_the_product_of_half_chords_is_the_resultant_of_the_coefficients -->

# %%
p1, p2 = (1, 0, 1), (1, 2, 1)  # X² + Y² and (X + Y)²


def resultant(q1, q2):
    (a1, b1, c1), (a2, b2, c2) = q1, q2
    return (a1 * c2 - a2 * c1) ** 2 - (a1 * b2 - a2 * b1) * (b1 * c2 - b2 * c1)


print(
    "R =",
    resultant(q1, q2),
    "for the layer, and",
    resultant(p1, p2),
    "for the other two",
)

# %% [markdown]
# For our layer it is zero. For $X^2 + Y^2$ and $(X+Y)^2$ it is not, so no layer has these two forms: one equation in six numbers, and 5 dimensions remain.
# <!-- check: resultant(q1, q2) == 0 != resultant(p1, p2) -->

# %% [markdown]
# ## Take a slice
#
# Six dimensions cannot be drawn. So we keep three numbers free and fix the others, in a way that keeps what is interesting:
#
# $$q_1 = X^2 + sXY + Y^2, \qquad q_2 = y\,(X^2 - Y^2) + z\,XY .$$
#
# In this slice, which the panels call S1, the resultant is zero where $z^2 = (s^2 - 4)\,y^2$.
# <!-- check: all(resultant((1, s, 1), (y, z, -y)) == (4 - s * s) * y * y + z * z for s in range(5) for y in range(5) for z in range(5)) -->
#
# The surface is the set where $R = 0$. At most of its points it has a tangent plane. A point without one is **singular**, and the yellow line has them all. Turn the surface, and look at this line from all sides.
#
# <!-- teacher (8 min): Open the panel and wait; ask what they see before anybody names anything. The dotted line is taken for a drawing error: it is the point of the picture. -->

# %% jupyter={"source_hidden": true}
from neuroviz.explorables import SurfaceExplorer
from neuroviz.kit.presets import presets
from neuroviz.singular import forms

surface = SurfaceExplorer(asks="yellow line")
surface

# %% jupyter={"source_hidden": true}
predict(
    "How many kinds of points do you see on the yellow line?",
    len({str(forms.kind_of((1, s, 1), (0, 0, 0))) for s in (3, 2, 1, 0, -1, -2, -3)}),
    wrong={
        1: "The line is full in some places and dotted in others.",
        2: "Full and dotted are two. And the two points where the one becomes the other?",
        4: "The two outer parts are of one kind, and so are the two ends of the dotted part.",
        5: "The two outer parts are of one kind, and so are the two ends of the dotted part.",
    },
)

# %% [markdown]
# <details><summary>What is what? Open this when you have looked.</summary>
#
# The blue and the sand-coloured sheet are functions of layers. The **dark lines** on them are straight: on each of them,
# all functions share one root, the root of $v$. The surface crosses itself along the **yellow line**, and the middle of that
# line is **dotted**. Figure 1 of the paper shows a surface with the same features.
# On the circle are the roots of $q_1$ and $q_2$. Two real roots are joined by a chord; a pair of complex
# roots is a point inside. The ring marks the root that both share.
#
# </details>

# %% [markdown]
# ## Stand on the yellow line
#
# Take the point $s = 3$, $y = z = 0$ on the yellow line, where $q_1 = X^2 + 3XY + Y^2$ and $q_2 = 0$. Up to rescaling, how many sets of weights have this function?

# %% jupyter={"source_hidden": true}
predict(
    "Up to rescaling, how many sets of weights have this function?",
    len(forms.preimages_of((1, 3, 1), (0, 0, 0))),
    wrong={
        0: "X² + 3XY + Y² has two real roots. Take one of them as that of v, and find A.",
        1: "q₁ has two real roots, and q₂ = 0 has every root. Which of them may be the root of v?",
        3: "v needs a root that both forms have. q₁ has no more than two.",
    },
)

# %% [markdown]
# <details><summary>Where do they come from?</summary>
#
# On the yellow line $q_1$ and $q_2$ are proportional, so they share *both* roots of one form, and $v$ may have either of the 2:
# what is a key for one layer is a value for the other. This is the swap of Theorem 3.2, and $A$ and $V$ have rank one here.
# Each choice lies on one of the two sheets. The sheets cross because both choices lead to the same function.
# <!-- check: len(forms.preimages_of((1, 3, 1), (0, 0, 0))) == 2 -->
#
# </details>

# %% [markdown]
# ## Follow the yellow line
#
# What decides whether the roots of $q_1 = X^2 + sXY + Y^2$ are real is its discriminant, $s^2 - 4$. Follow the yellow line from $s = 3$ inwards. What happens on the way?
# <!-- check: [forms.discriminant((1, s, 1)) for s in (3, 2, 1)] == [5, 0, -3] -->
#
# <!-- teacher (8 min): Ask for the kind of the point at s = 3, 2, 1 before they press. What usually goes wrong: singular and boundary are taken for the same. At s = 3 the set is singular and has no boundary. -->

# %% jupyter={"source_hidden": true}
predict(
    "Which points of the yellow line are functions of a layer?",
    "those with |s| ≥ 2",
    choices={
        "all": "At s = 1 the roots of q₁ are complex, and v is a real linear form.",
        "those with |s| ≥ 2": "There q₁ has a real root, which may be that of v.",
        "those with |s| > 2": "At s = 2 the two roots have met, and the one that is left is real.",
        "none": "At s = 3 you have found two sets of weights.",
    },
    asks="yellow line",
)

# %% jupyter={"source_hidden": true}
buttons = {
    "on a sheet": "moves=surface;where=0.8;along=0.5",
    "on the line, s = 3": "moves=curve;where=0.928571",
    "s = 2": "moves=curve;where=0.785714",
    "s = 1": "moves=curve;where=0.642857",
}
presets(surface, buttons)

# %% [markdown]
# Now move [the surface](#Take-a-slice). These buttons take you there:
#
# * Press **on a sheet**, and drag the orange ring, or the root on the circle: the other follows. Every real root belongs to one straight line.
# * Drag **along it** to 0, onto the yellow line. On the way $q_2$ is only multiplied by a number; at the end it is 0, and its chord is gone.
# <!-- check: "crossing of two sheets" in shown(SurfaceExplorer, "moves=surface;where=0.8;along=0")[1] -->
# * Press **on the line, s = 3**, **s = 2** and **s = 1**, or **▶**. Watch the two ends of the chord.
#
# <details><summary>What happens there</summary>
#
# * For $|s| > 2$ there are two real roots, and two sets of weights: a **crossing**.
# * At $s = \pm 2$ they meet: $q_1$ is a square. This is a **pinch point**. Here the functions of layers end: it is a **boundary point**.
# * For $|s| < 2$ they have become complex, conjugate to each other. No real layer has this function. Yet the equation $R = 0$ holds: the point lies in
#   the **Zariski closure**, the smallest set given by polynomial equations that contains all functions of layers. That is why the middle is dotted.
# <!-- check: [str(forms.kind_of((1, s, 1), (0, 0, 0))) for s in (3, 2, 1, -2)] == ["crossing", "boundary", "closure only", "boundary"] -->
#
# The dotted line hangs in the air: at $s = 1$ the nearest layer is at distance 0.5, at $s = 1.9$ at 0.05, and the line comes to the layers only at its two ends.
# (Distances are of coefficients, with $\lVert aX^2 + bXY + cY^2 \rVert^2 = a^2 + b^2/2 + c^2$: this length, the *Bombieri norm*, stays if $(X, Y)$ is rotated. If $b^2$ counted in full, the first would be 0.577.)
# <!-- tested: test_forms.py::test_the_nearest_layer_is_nearest_in_the_bombieri_norm -->
# <!-- check: [round(float(forms.nearest_layer((1.0, s, 1.0), (0.0, 0.0, 0.0)).distance), 3) for s in (1, 1.9)] == [0.5, 0.05] -->
#
# </details>
#
# At a **boundary point** the set of functions ends: as near as one likes lie points that solve all its equations (here $R = 0$), and no layer has them.
#
# **Theorem 3.4** (here for $a \ge d \ge 2$ and $t \ge 2$). The set of functions of one lightning layer is closed. A function is a singular
# point exactly where $A$ and $V$ have rank at most 1. It is a boundary point exactly where, besides, keys and values use the same linear form:
# $A = v k^\top$, $V = h v^\top$.

# %% [markdown]
# ## Leave the pictures behind
#
# In higher dimension there is nothing to draw, but the theorem is the same. How many directions in $(A, V)$
# are silent, to first order? Usually one, the rescaling. At a crossing it is still one: each of the two sheets is smooth by itself, and the set is singular
# where they meet. And at the boundary?
# <!-- tested: test_singular.py::test_the_kernel_is_one_and_jumps_to_d_exactly_at_the_boundary -->
#
# <!-- teacher (5 min): Most expect that the kernel grows at every singular point. It does not: each sheet is smooth by itself. -->

# %% jupyter={"source_hidden": true}
from neuroviz.singular.ranks import Approach, singular_facts

there = singular_facts(Approach(d=4, d_out=2, a=4, s=1, b=1))
predict(
    "d = 4, at a boundary point A = v kᵀ, V = h vᵀ. How many directions are silent?",
    there.kernel,
    wrong={
        1: "So it is at a crossing. What does the panel count at s = 2?",
        2: "So it is for d = 2. Let v become v + εw in A, and v − εw in V: for which w does the product stay, to first order?",
    },
)

# %% [markdown]
# <details><summary>Which ones?</summary>
#
# Those of $(w k^\top, -h w^\top)$, for any vector $w$ (Lemma A.3): $d = 4$ dimensions. The rescaling is the one with $w = v$.
# <!-- check: there.kernel == 4 and singular_facts(Approach(d=4, d_out=2, a=4, s=1, b=0)).kernel == 1 -->
#
# </details>
#
# <details><summary>And why is the set of functions closed?</summary>
#
# Let functions of layers converge. Their limit is the function of a layer, even if the weights grow without bound: rescale them so that
# $\lVert A \rVert = 1$. Then bounded products $\ell_k \cdot v$ need a bounded $V$, and bounded weights have a convergent subsequence.
# <!-- tested: test_singular.py::test_the_weights_run_off_and_the_functions_converge_to_a_layer -->
#
# </details>

# %% [markdown]
# ## Build one yourself
#
# It is easy to put the linear form on the wrong side. Whole numbers are checked exactly. <!-- lab --> Below the verdict stand the roots of your $q_1$ and $q_2$.<!-- end of lab -->

# %% jupyter={"source_hidden": true}
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
# ## Does training end there?
#
# The paper raises the possibility that training prefers singular functions. Let layers learn, and watch where they end. In the panel you hold a
# **target**, a point of the slice. (The panel draws the half $s \ge 0$ of it. The other half has the same functions, turned.) Forty layers with random weights follow $-\nabla$ of half the squared distance to it.
#
# A layer that learns has six coordinates and leaves the slice. So each is drawn at its *twin*: where it comes to lie in the slice by turning $(X, Y)$,
# turning $(q_1, q_2)$ and a factor, of which none changes whether it is singular. Turning changes distances; the chart has the true ones.
#
# Three moves ask for a guess: do **none**, **some** or **all** of the forty end at a singular point?
#
# <!-- teacher (8 min): Let them vote on all three moves before the first. After the second most believe that training likes singular points; let somebody say so aloud before the third. -->

# %% jupyter={"source_hidden": true}
from neuroviz.explorables import LearningExplorer

LearningExplorer()

# %% [markdown]
# <details><summary>After the third move: what has happened?</summary>
#
# * On a sheet none ends at a singular point. All find their target, and the yellow line keeps nobody.
# * On the dots all do, at the pinch point. No layer has the target's function, and the layer nearest to it *is* singular.
# * One step beside the dots none does: the nearest layer is smooth.
# <!-- tested: test_learning_facts.py::test_the_answer_of_a_move_is_where_400_layers_of_python_end -->
#
# For which targets in this half of the slice is the nearest layer singular? For those on the full part of the yellow line, which are singular layers themselves, and for those on the **coin** that has appeared:
# $y = 0$, $(s - 1)^2 + z^2 \le 1$. Its diameter is the dotted line from $s = 0$ to $s = 2$. The half $s \le 0$ has a coin of its own, $(s + 1)^2 + z^2 \le 1$. Drag the target along the coin, and off it.
# In all six dimensions the coins become the targets $q_i = k_i u^2 + p_i w^2$ ($i = 1, 2$) with linear forms $u \perp w$ and $p \cdot k \ge \lvert p \rvert^2$; 5 parameters, so a coin is thin there, too
# ([the proof](../docs/mathematics/nearest_layer.md)). A target drawn at random lies beside all of them; where its layers end, [Further](#Draw-targets-at-random) asks.
# <!-- tested: test_learning_facts.py::test_in_the_slice_the_nearest_layer_is_singular_on_the_line_and_the_coin -->
#
# </details>

# %% [markdown]
# Next: [how many functions a deep network has](04_deep_dimension.ipynb).

# %% [markdown]
# ## Further
#
# The course goes on without these parts.

# %% [markdown]
# ### Cut it with a plane
#
# A surface that crosses itself is easier to believe when it is cut. The panel opens with a plane through the dotted part of the yellow line. The other frame shows what it
# cuts out of the surface.
#
# Drag the ring on the plane, or **move it**, and the plane goes along the yellow line.

# %% jupyter={"source_hidden": true}
predict(
    "The plane moves from the dotted part to the pinch point. What does it cut out there?",
    "a curve with a cusp",
    choices={
        "one point": "So it is in the dotted part: the point belongs to no curve at all.",
        "a curve with a cusp": "There the isolated point has just become part of a curve.",
        "a curve that crosses itself": "So it is beyond the pinch point.",
    },
    asks="section",
)

# %% jupyter={"source_hidden": true}
from neuroviz.explorables import SectionExplorer

SectionExplorer(state="offset=0.2", only=["turn", "tilt", "offset"], asks="section")

# %% [markdown]
# <details><summary>Answer</summary>
#
# In the dotted part it is one point, which belongs to no curve at all. At the pinch point it is a curve with a cusp; beyond, it is a curve that crosses itself, as two sheets do: a **crossing**. The pinch point is where one turns into the other.
# <!-- check: "is one isolated point" in shown(SectionExplorer, "offset=0.2")[1] and "cusp" in shown(SectionExplorer, "offset=0.45")[1] -->
# <!-- check: "crosses itself once" in shown(SectionExplorer, "offset=0.6875")[1] -->
#
# </details>

# %% [markdown]
# ### Draw targets at random
#
# In "Does training end there?" you chose the targets. Now take them at random, among all pairs of forms. Usually no layer has them.

# %% jupyter={"source_hidden": true}
from neuroviz.lessons.where_runs_end import WHERE_RUNS_END, where_runs_end
from neuroviz.singular.flow import attraction

gaussian = attraction("gaussian", runs=40, time=100)
predict(
    "Targets drawn at random, each with a layer of its own. Where do most of 40 layers end?",
    where_runs_end(gaussian),
    choices=WHERE_RUNS_END,
)

# %% [markdown]
# <details><summary>Does training prefer singular functions, then?</summary>
#
# Not in this model: of 4,000 layers with random targets 0.1 % end at a singular point. In the panel, too, press **100 random targets**: eight layers share a target, so a count alone says little; press again, and the counts add up.
# <!-- tested: test_flow.py::test_the_table_of_the_documentation_is_reproduced -->
# <!-- check: gaussian.singular < 0.1 -->
#
# Not every layer ends at the nearest one: in the panel, with random targets, 18 % rest in a **second valley**, at the small ring. It
# can be singular where the nearest layer is smooth: towards $q_1 = X^2 + 2XY$, $q_2 = Y^2$ about 30 % of all layers end at a crossing, at distance 1, and the
# nearest layer, at 0.19, is smooth. Such targets are as thin as the coin; and this is a very small model.
# <!-- tested: test_learning_facts.py::test_random_targets_leave_a_part_of_the_runs_in_a_second_valley -->
# <!-- tested: test_learning_facts.py::test_a_second_valley_can_be_singular -->
# <!-- check: round(float(forms.nearest_layer((1.0, 2.0, 0.0), (0.0, 0.0, 1.0)).distance), 2) == 0.19 -->
#
# </details>
#
# Find a target that draws layers to a singular point, without drawing lots. <!-- lab --> Below the verdict it stands at its twin in the slice, turned and scaled.<!-- end of lab -->

# %% jupyter={"source_hidden": true}
from neuroviz.lessons.checks_one_layer import check_singular_goal

exercise(
    "Give two forms, each as its three coefficients (a, b, c) of aX² + bXY + cY², that are the function of no layer, "
    "while the nearest layer is at a singular point. They are to lie outside the slice of the pictures.",
    check_singular_goal,
    difficulty=2,
    minutes=6,
)

# %% tags=["exercise"]
my_q1 = ...
my_q2 = ...
check_singular_goal(my_q1, my_q2)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# Two proportional forms without real roots: turned, they are a point of the dotted part. Or take $q_i = k_i u^2 + p_i w^2$ with $u = X$ and $w = Y$.
#
# ```python
# my_q1 = (1, 0, 2)
# my_q2 = (3, 0, 6)
# check_singular_goal(my_q1, my_q2)
# ```
#
# </details>

# %% [markdown]
# ### In practice
#
# * For $a < d$ the points with $\mathrm{rank}\, A < a$ are singular as well, like the tip of the cone in [Matrix factorization](01_matrix_factorization.ipynb);
#   [The singular points of one layer](../docs/mathematics/singular_points.md#theorem-34-singular-and-boundary-points-of-one-layer) has the reason.
# * The polynomial equations that the functions satisfy are the subject of Y. Alexandr, H. Duan, G. Montúfar, *Algebraic Invariants of Lightning
#   Self-Attention*, [arXiv 2604.15632](https://arxiv.org/abs/2604.15632).
# * The surface is drawn from its straight lines, never contoured: a contouring program cannot see the dotted line, where $R$ is zero but does not change its sign.
