# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # So what?
#
# *For those who have asked what a dimension is good for. About 20 minutes. You need: the notebook [Deep dimension](04_deep_dimension.ipynb).*
#
# You will see how many random numbers a network can learn, and whether parameters or dimensions decide it; and you will read whether it helps to jump along a fibre, where the function stays and its gradient does not. Both are experiments, told as they came out.

# %%
import neuroviz as nv
from neuroviz.explorables import MemorisationExplorer
from neuroviz.kit.presets import presets
from neuroviz.lessons.teaching import predict

# %% [markdown]
# ## How much can it learn by heart?
#
# Take random inputs, and for each one random number that the network is to give there: a fixed combination of its outputs. Each number is one equation for the weights. A network of $P$ parameters and $D$ dimensions moves in $D$ directions only. Beyond $N = D$ equations its functions fill a set of measure zero among all $N$ numbers (docs: [Memorisation](../docs/mathematics.md#memorisation)).
#
# Here is a network with a head dimension far above its width:
#
# <!-- teacher (6 min): The prediction separates those who count parameters from those who count directions. 57 says parameters. On the board: A is a 3 × 3 matrix however large the head, so 9 for A, 9 for V, less one. -->

# %%
net = nv.Architecture(widths=(3, 3), head_dims=(8,))
print(net.num_parameters, "parameters")
predict(
    "Numbers near those that the network gives now are to be learnt. How many at most?",
    nv.measure_dimension(net),
    wrong={
        57: "That is the number of parameters. How many of them can be seen in the function?",
        18: "A and V have 9 entries each. What can be moved from one to the other?",
    },
)

# %%
numbers_panel = MemorisationExplorer()
numbers_panel

# %% [markdown]
# *What you see.* Fourteen networks, lightning and softmax. Each was asked for $N$ numbers, eight times, and a damped Newton method had up to three starts. A line for each network shows the share of tasks that were learnt, over $N/D$. The experiment was run beforehand.
#
# * What happens at one number more than $D$? Take $N/P$ instead: do the parameters tell where a network stops?
# * Ask for **random numbers** instead of **a small change** of those that the network gives now. Which kind of attention gives up long before $D$?
# * **Another's outputs** are numbers that a teacher gives, a network of the same kind with other weights. Why can these be learnt beyond $D$?

# %% tags=["hide-input"]
presets(
    numbers_panel,
    {
        "over the dimension": "",
        "over the parameters": "over=P",
        "random numbers": "targets=random",
        "a teacher": "targets=teacher",
    },
)

# %% [markdown]
# <!-- teacher (6 min): Point out what is a theorem and what is not: "none beyond D" has a proof; "all below D" has one for nearby numbers only. That softmax learns random numbers badly is an observation on six small networks. -->
#
# <details><summary>Answers</summary>
#
# One number beyond $D$, and no run learns. Asked for a small change, fourteen networks fall off one cliff over $N/D$, and over $N/P$ at fourteen different places: the parameters do not tell it. Random numbers are another matter: nothing says that a set of the full dimension is everything, and softmax gives up before $D$ in five of six networks, at $0.9\,D$ in the mildest case and at $0.62\,D$ or less in the worst. What a teacher gives lies in the set, for every $N$; this is no memorising, but in eleven of the fourteen networks it shows that the method can find a solution beyond $D$ where there is one.
#
# </details>

# %% [markdown]
# ## Walk along a fibre
#
# $(CQ, C^{-\top}K)$ gives the same function as $(Q, K)$. The loss is the same, too; its gradient is not. So one might jump along the fibre to a place where the gradient is longer, and go on from there: *teleportation* (Zhao, Dehmamy, Walters, Yu 2022; docs: [Teleportation](../docs/mathematics.md#teleportation)). We tried it on 200 small networks ([the study](../studies/teleportation/README.md)). A longer gradient is also a steeper valley: the largest rate that does not fail is smaller there. With the best rate for each, those that jumped are behind after 300 steps, in 155 of 200 or more.

# %% [markdown]
# ## Larger and poorer
#
# Parameters are what one pays for; the dimension is the most numbers near its own that a network can learn.

# %%
from neuroviz.lessons.checks_beyond import check_larger_and_poorer
from neuroviz.lessons.exercise import exercise

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
# Spend parameters where they do nothing, on large heads around a narrow place:
#
# ```python
# larger = nv.Architecture(widths=(4, 1, 4), head_dims=(4, 4))
# smaller = nv.Architecture(widths=(4, 3, 4), head_dims=(1, 2))
# check_larger_and_poorer(larger, smaller)
# ```
#
# </details>

# %% [markdown]
# ## On your own
#
# How would you choose the widths and head dimensions of three layers, with 100 parameters at most, so that the network learns as many numbers as possible? There are almost three million choices: which of them would you hand to a [sweep](04_sweeps.ipynb)?
