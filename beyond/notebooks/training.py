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
# *An experiment to Section 3.2 of the paper. About 20 minutes. You need: gradients, and
# [Singular locus](../../notebooks/03_singular_locus.ipynb).*
#
# Does training prefer singular functions? The paper raises this as a possibility. You will let layers follow their gradient
# for four kinds of targets, count where they end, and check what the flow is not allowed to change.

# %% [markdown]
# ## Ask what cannot change
#
# The layer is again the smallest one, $d = 2$, $d' = 1$. Its function is a pair of quadratic forms, and the loss is half the squared distance to a target pair, in the Bombieri norm: $aX^2 + bXY + cY^2$ has the squared length $a^2 + b^2/2 + c^2$.
# <!-- tested: test_flow_explorer.py::test_outside_the_set_the_least_possible_loss_is_told -->
# The weights $\theta = (A, V)$ move along
#
# $$\dot\theta = -\nabla\,\mathrm{loss}.$$
#
# The rescaling $(cA, V/c)$ is silent: it does not change the loss. A symmetry of the loss freezes a quantity of the flow, here $\lVert A \rVert^2 - \lVert V \rVert^2$.
#
# <details><summary>Why?</summary>
#
# Along the rescaling, at $c = 1$, the loss has derivative $\langle \nabla_A, A \rangle - \langle \nabla_V, V \rangle = 0$. And half the derivative of
# $\lVert A \rVert^2 - \lVert V \rVert^2$ along the flow is minus exactly this.
# <!-- tested: test_flow.py::test_what_theory_says_is_conserved_is -->
#
# </details>

# %% [markdown]
# ## Choose a target, and bet
#
# * **Gaussian**: any pair of forms, usually the function of no layer;
# * **realisable**: the function of a random layer, so that the loss can reach zero;
# * **dotted**: a point of the dotted line, two proportional forms without real roots, which are the function of no layer;
# * **dotted, plus noise**: next to one.
#
# A run can end at a smooth point, at a singular one (both ranks are at most one), or at the boundary (keys and values use the same form besides).
#
# <!-- teacher (6 min): Let them bet on all four kinds of target before the panel, and keep the bets on the board. The dotted one is usually guessed too low. -->

# %% jupyter={"source_hidden": true}
from neuroviz.lessons.teaching import predict
from neuroviz.singular.flow import attraction
from neuroviz_beyond.lessons.questions import WHERE_RUNS_END, where_runs_end

gaussian = attraction("gaussian", runs=40, time=100)
predict(
    "Gaussian targets. Where do most of 40 runs end?",
    where_runs_end(gaussian),
    choices=WHERE_RUNS_END,
)

# %% jupyter={"source_hidden": true}
dotted = attraction("dotted", runs=40, time=100)
predict(
    "Of 40 runs towards dotted targets, how many end at a singular point?",
    round(40 * dotted.singular),
)

# %% [markdown]
# The panel opens with realisable targets. It shows the loss of every run against time; what is conserved, flat; and where the runs end: in the strip at the
# bottom are singular points, and in its framed corner those of the boundary. The last three buttons place one target yourself, in the slice of
# [Singular locus](../../notebooks/03_singular_locus.ipynb). Guess before you press.

# %% jupyter={"source_hidden": true}
from neuroviz_beyond.explorables import FlowExplorer

buttons = {
    "realisable": "target=realisable",
    "Gaussian": "target=gaussian",
    "dotted": "target=dotted",
    "dotted, plus noise": "target=dotted, noisy",
    "at s = 3": "target=placed;slice=S1;x=3;y=0;z=0",
    "at s = 1": "target=placed;slice=S1;x=1;y=0;z=0",
    "at s = 1, y = 0.5": "target=placed;slice=S1;x=1;y=0.5;z=0",
}
FlowExplorer(state="target=realisable;runs=40;time=60", presets=buttons)

# %% [markdown]
# <details><summary>What happens at the three places?</summary>
#
# At $s = 3$, a crossing, all runs end at a singular point, and none at the boundary. At $s = 1$, on the dotted line, all end at the boundary. Beside the
# line none ends at a singular point.
# <!-- check: "all 40 end at a singular point (none of 40 at the boundary)" in shown(FlowExplorer, "runs=40;" + buttons["at s = 3"])[1] -->
# <!-- check: "all 40 end at a singular point (all 40 at the boundary)" in shown(FlowExplorer, "runs=40;" + buttons["at s = 1"])[1] -->
# <!-- check: "none of 40 end at a singular point" in shown(FlowExplorer, "runs=40;" + buttons["at s = 1, y = 0.5"])[1] -->
#
# </details>
#
# <details><summary>The whole table, from 4,000 runs of time 600 each</summary>
#
# | target | singular | of these, boundary | $\sigma_2/\sigma_1 < 0.05$ |
# | --- | --- | --- | --- |
# | Gaussian | 0.1 % | none | 9 % |
# | realisable | 2.2 % | none | 19 % |
# | dotted | 99.6 % | nearly all | all |
# | dotted, plus noise | 5.2 % | nearly all | 82 % |
#
# Here $\sigma_2/\sigma_1$ of $A$ below $10^{-3}$ counts as singular. The standard error is 0.6 per cent at most, and other seeds give other digits.
# `attraction("dotted", runs=4000)` makes the third row again, and so on.
# <!-- tested: test_flow.py::test_the_table_of_the_documentation_is_reproduced -->
#
# **What does this say about the paper's question?** Singular points attract when the target lies off the set of functions and right beside them: then the nearest
# layer *is* singular. For generic targets the flow has no preference. So this model shows no bias towards singular functions; and it is a very small model.
# <!-- check: gaussian.singular < 0.1 and dotted.singular > 0.9 -->
#
# </details>
#
# <!-- teacher (5 min): The temptation is to say that training likes singular points. Ask what the Gaussian row would have to show for that. -->

# %% [markdown]
# ## Build one yourself
#
# Which targets draw the flow to singular points? Those whose nearest layer is singular. Find one without drawing lots.

# %% jupyter={"source_hidden": true}
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
# * The flow is followed by an adaptive solver (Dormand and Prince's pair of orders 5 and 4), all runs in one system. "Flat" means: up to the solver's tolerance.
# * Gradient *descent* with a finite step conserves these quantities only roughly, and stochastic descent does not conserve them.
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
