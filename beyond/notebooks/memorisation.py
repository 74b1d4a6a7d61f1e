# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # See what a dimension buys
#
# *For those who have asked what a dimension is good for. About 20 minutes. You need: the notebook [Deep dimension](../../notebooks/04_deep_dimension.ipynb).*
#
# You will see how many random numbers a network can learn, and whether its parameters or its dimension decide it.

# %%
import neuroviz as nv
from neuroviz.lessons.exercise import exercise
from neuroviz.lessons.teaching import predict

# %% jupyter={"source_hidden": true}
from neuroviz_beyond.explorables import MemorisationExplorer
from neuroviz_beyond.lessons.checks import check_larger_and_poorer

# %% [markdown]
# ## Learn numbers by heart
#
# Take $N$ random inputs, and for each of them one number that the network is to give there: a fixed combination of its outputs. Each number is one equation for the weights. A network of $P$ parameters and $D$ dimensions moves in $D$ directions only. For $N > D$ its functions reach a set of measure zero among all choices of $N$ numbers ([docs](../docs/memorisation_and_teleportation.md#memorisation)).
#
# Here is a layer with a head dimension far above its width, $d = d' = 3$ and $a = 8$. It has 57 parameters.
# <!-- check: A((3, 3), (8,)).num_parameters == 57 -->
#
# <!-- teacher (6 min): The prediction separates those who count parameters from those who count directions. 57 says parameters. On the board: A is a 3 × 3 matrix however large the head, so 9 for A, 9 for V, less one. -->

# %% jupyter={"source_hidden": true}
net = nv.Architecture(widths=(3, 3), head_dims=(8,))
predict(
    "Numbers near those that the network gives now are to be learnt. How many at most?",
    nv.measure_dimension(net),
    wrong={
        57: "That is the number of parameters. How many of them can be seen in the function?",
        18: "A and V have 9 entries each. What can be moved from one to the other?",
    },
    asks="numbers by heart",
)

# %% [markdown]
# Fourteen networks, lightning and softmax, were asked for $N$ numbers, eight times each. A damped Newton method had up to three starts. A line for each network shows the share of tasks that it learnt. The experiment was run beforehand.

# %% jupyter={"source_hidden": true}
MemorisationExplorer(
    state="over=P",
    asks="numbers by heart",
    presets={
        "over the parameters": "",
        "over the dimension": "over=D",
        "random numbers": "targets=random;over=D",
        "another network's outputs": "targets=teacher;over=D",
    },
)

# %% [markdown]
# * Do the parameters $P$ tell where a network stops? Press **over the dimension**: what happens at one number more than $D$?
# * Ask for **random numbers**. Which kind of attention stops long before $D$?
# * Another network of the same shape gives the numbers. Why can these be learnt beyond $D$?
#
# <!-- teacher (6 min): Point out what is a theorem and what is not: "none beyond D" has a proof; "all below D" has one for nearby numbers only. That softmax learns random numbers badly is an observation on six small networks. -->
#
# <details><summary>Answers</summary>
#
# One number beyond $D$, and no run learns. Over $N/D$ fourteen networks stop at one place, over $N/P$ at fourteen different places: the parameters do not tell. Random numbers are another matter: a set of full dimension need not be everything, and softmax stops before $D$ in five of six networks. The numbers of another network lie in the set, for every $N$.
# <!-- check: "Tasks learnt beyond D: none" in shown(MemorisationExplorer)[1] -->
# <!-- check: len(shown(MemorisationExplorer)[0].curves) > 13 -->
#
# </details>

# %% [markdown]
# ## Say what a dimension tells about data
#
# If data come from a network of this kind with generic weights, then from generic inputs
#
# * fewer than $D$ numbers leave a whole family of functions that fit perfectly;
# * $D$ numbers leave no other function nearby that fits ([proof](../../docs/mathematics/how_many_inputs.md)).
#
# The dimension does not say
#
# * that a training run finds the fit, or how long it takes;
# * how well the fit is determined: functions far away may fit *almost* as well, and with noise that counts;
# * which of many functions comes out of fewer than $D$ numbers;
# * how good the best function is, if the data come from somewhere else.
#
# A bound on the error of a trained network needs assumptions on all of these. The dimension is one ingredient: it takes the place of the number of parameters.
#
# Along a fibre the loss stays and its gradient does not. We tried to jump to places with a longer gradient (*teleportation*) on 200 small networks: with the best rate for each, those that jumped were behind after 300 steps in most cases ([the study](../studies/teleportation/README.md)).

# %% [markdown]
# ## Larger and poorer
#
# Parameters are what one pays for.

# %% jupyter={"source_hidden": true}
exercise(
    "Give two networks, the larger first: it has more parameters than the second, and can learn fewer numbers by heart.",
    check_larger_and_poorer,
    difficulty=1,
    minutes=5,
)

# %% tags=["exercise"]
larger, smaller = ..., ...
check_larger_and_poorer(larger, smaller)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# Spend parameters where they are silent, on large heads around a narrow place:
#
# ```python
# larger = nv.Architecture(widths=(4, 1, 4), head_dims=(4, 4))
# smaller = nv.Architecture(widths=(4, 3, 4), head_dims=(1, 2))
# check_larger_and_poorer(larger, smaller)
# ```
#
# </details>

# %% [markdown]
# **On your own.** How would you choose the widths and head dimensions of three layers, with 100 parameters at most, so that the network learns as many numbers as possible? A [sweep](../docs/library.md) measures many of them at once.
