# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Let one layer learn, and see where it ends
#
# *An experiment to Section 3.2 of the paper. About 25 minutes. You need: gradients, and the notebook on the
# [singular locus](03_singular_locus.ipynb).*
#
# Does training prefer singular functions? The paper raises this as a possibility. You will let hundreds of layers follow their gradient,
# for four kinds of targets, count where they end, and check what the flow is not allowed to change.

# %%
import numpy as np

from neuroviz.beyond.training.flow import attraction, gradient_flow, random_targets
from neuroviz.explorables import FlowExplorer
from neuroviz.kit.presets import presets
from neuroviz.lessons.questions import WHERE_RUNS_END, where_runs_end
from neuroviz.lessons.teaching import predict

# %% [markdown]
# ## Follow the gradient
#
# The layer is again the smallest one, $d = 2$, $d' = 1$. Its function is a table of two quadratic forms, and the loss is half the squared distance to a target table.
# The weights move along
#
# $$\dot\theta = -\nabla\,\mathrm{loss}.$$
#
# One run, from small random weights to the function of another random layer:
#
# <!-- teacher (4 min): One run only; the loss is dull, and the end is the point. Ask where it will end before the second cell. -->

# %%
rng = np.random.default_rng(0)
A, V = rng.standard_normal((1, 2, 2)) / 2, rng.standard_normal((1, 1, 2)) / 2
flow = gradient_flow(random_targets("realisable", 1, seed=0), A, V, time=60)
flow.loss[[0, 10, -1], 0]

# %% [markdown]
# The loss falls, and the run ends somewhere: smooth, singular (both ranks at most one), or at the boundary (and keys and values use the same form).

# %%
flow.ends

# %% [markdown]
# ## Ask what cannot change
#
# Rescaling $(cA, V/c)$ does not change the loss. A symmetry of the loss freezes a quantity of the flow:

# %%
kept = flow.conserved["‖A‖² − ‖V‖²"][:, 0]
kept.round(6)[[0, 10, -1]]

# %% [markdown]
# <details><summary>Why?</summary>
#
# Along the rescaling, at $c = 1$, the loss has derivative $\langle \nabla_A, A \rangle - \langle \nabla_V, V \rangle = 0$. And half the derivative of
# $\lVert A \rVert^2 - \lVert V \rVert^2$ along the flow is minus exactly this.
#
# </details>
#
# So the flow stays on the fibre's level at which it began: it cannot use the freedom that the function does not see.

# %% [markdown]
# ## Choose a target, and bet
#
# Four kinds of targets:
#
# * **Gaussian**: any pair of forms, usually the function of no layer;
# * **realisable**: the function of a random layer, so that the loss can reach zero;
# * **dotted**: a point of the dotted part, two proportional forms without real roots, which are the function of no layer;
# * **dotted, plus noise**: next to one.
#
# Take dotted targets, one for each of 40 runs.
#
# <!-- teacher (6 min): Let them bet on all four kinds of target before the first panel, and keep the bets on the board. The dotted one is usually guessed too low. -->

# %%
dotted = attraction("dotted", runs=40, time=100)
predict("Of 40 runs towards dotted targets, how many end at a singular point?", round(40 * dotted.singular))

# %%
FlowExplorer(state="target=dotted;runs=40;time=60")

# %% [markdown]
# *What you see.* The loss of every run against time; what is conserved, flat; and where the runs end. In the strip at the bottom are singular
# points, and in its framed corner those of the boundary.
#
# Now choose **Gaussian** as the target, then **realisable**. What do you expect?

# %%
gaussian = attraction("gaussian", runs=40, time=100)
predict("Gaussian targets. Where do most of 40 runs end?", where_runs_end(gaussian), choices=WHERE_RUNS_END)

# %% [markdown]
# ## Read the whole table
#
# With 400 runs of time 600 for each kind, this is what we found ($\sigma_2/\sigma_1$ of $A$ below $10^{-3}$ counts as singular; the standard error is about two per cent at most):
#
# | target | singular | of these, boundary | $\sigma_2/\sigma_1 < 0.05$ |
# | --- | --- | --- | --- |
# | Gaussian | 0 % | | 8 % |
# | realisable | 2 % | none | 21 % |
# | dotted | 99 % | nearly all | all |
# | dotted, plus noise | 4 % | nearly all | 85 % |
#
# One call measures a row again, with another seed if you like; each takes a few seconds. (`neuroviz.beyond.training.flow.attraction_table()` makes the whole table.)
#
# <!-- teacher (5 min): The temptation is to say that training likes singular points. Ask what the Gaussian row would have to show for that. -->

# %%
attraction("gaussian", runs=100, time=300)

# %% [markdown]
# <details><summary>What does this say about the paper's question?</summary>
#
# Singular points attract when the target lies off the set of functions and right beside them: then the nearest function of a layer *is* singular. For generic
# targets the flow has no preference. So a bias towards singular functions is not seen in this model; and this model is very small.
#
# </details>
#
# Place a target yourself: choose *placed by you* and move it through the slice of the last notebook, under **More**. Where do targets have to lie for the runs to end at the
# boundary?

# %%
panel = FlowExplorer(state="target=placed;runs=40;time=60;slice=S1;x=1;y=0;z=0")
panel

# %% [markdown]
# Three places to begin with, two of them on the yellow line of the last notebook, where $y = z = 0$. Guess before you press.

# %% tags=["hide-input"]
presets(
    panel,
    {
        "s = 3": "x=3",
        "s = 1": "x=1",
        "s = 1, y = 0.5": "x=1;y=0.5",
    },
)

# %% [markdown]
# ## Build one yourself
#
# Which targets draw the flow to singular points? Those whose nearest layer is singular. Find one without drawing lots.

# %%
from neuroviz.lessons.checks_one_layer import check_singular_goal
from neuroviz.lessons.exercise import exercise

exercise(
    "Give two forms, each as its three coefficients (a, b, c) of aX² + bXY + cY², that are the function of no layer, "
    "while the nearest layer is at a singular point.",
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
# Two proportional forms without real roots: a point of the dotted part. The nearest layer has proportional forms, too.
#
# ```python
# my_q1 = (1, 0, 2)
# my_q2 = (2, 0, 4)
# check_singular_goal(my_q1, my_q2)
# ```
#
# </details>

# %% [markdown]
# ## In practice
#
# * The flow is followed by an adaptive solver (DOP853 of scipy), all runs in one system. "Flat" means: up to the solver's tolerance.
# * Gradient *descent* with a finite step conserves these quantities only roughly, and stochastic descent does not conserve them.
# * A share of 2 % among 400 runs has a standard error of 0.7 %. Other seeds give other digits.
#
# **On your own.** Let the weights be $(Q, K, V)$ instead of $(A, V)$ in the panel. What else is conserved now, and does it change where runs end?
#
# <details><summary>Answer</summary>
#
# $\lVert Q \rVert^2 - \lVert V \rVert^2$, in the place of $\lVert A \rVert^2 - \lVert V \rVert^2$, and besides
# $QQ^\top - KK^\top$, one symmetric matrix for the head basis of Lemma 3.1. In the end about as many runs for dotted targets
# are at singular points; how fast they get there is not the same.
#
# </details>
