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
# *For those who have asked what a dimension is good for. About 30 minutes. You need: the notebook [Deep dimension](04_deep_dimension.ipynb).*
#
# You will see how many random numbers a network can learn, and whether parameters or dimensions decide it; and you will walk along a fibre, where the function stays and its gradient does not, and see what that is worth. Both are experiments, told as they came out.

# %%
import neuroviz as nv
from neuroviz.explorables import MemorisationExplorer, TeleportExplorer
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
numbers_panel = MemorisationExplorer(state="targets=nearby;network=lightning-3-3-a8;beyond=0")
numbers_panel

# %% [markdown]
# *What you see.* Fourteen networks, lightning and softmax. Each was asked for $N$ numbers, eight times, and a damped Newton method had up to three starts. At the left the share of tasks that were learnt, over $N/D$; beside it the same over $N/P$. At the right three runs that were made just now, with the $N$ of the slider: the upright orange line in the other two pictures. (Random numbers take some seconds.)
#
# * Move **N − D** from 0 to 1: one number more. What happens?
# * Ask for **random numbers** instead of **a small change** of those that the network gives now. Which kind of attention gives up long before $D$?
# * **Another's outputs** are numbers that a teacher gives, a network of the same kind with other weights. Why can these be learnt beyond $D$?

# %% tags=["hide-input"]
presets(
    numbers_panel,
    {
        "as many as D": "",
        "one more": "beyond=1",
        "random numbers, lightning": "targets=random;beyond=-2",
        "random numbers, softmax": "targets=random;network=softmax-3-3-3-a2-2;beyond=-2",
        "a teacher, beyond D": "targets=teacher;beyond=2",
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
# $(CQ, C^{-\top}K)$ gives the same function as $(Q, K)$. The loss is the same, too; its gradient is not. So one might jump along the fibre to a place where the gradient is longer, and go on from there: *teleportation* (Zhao, Dehmamy, Walters, Yu 2022). Along a walk $C = e^{sE}$ the squared length of the gradient is a sum of exponentials, so it has a shortest place and no longest one ([Teleportation](../docs/mathematics.md#teleportation)).
#
# Two hundred starts jump to where the gradient is twice as long. Then they and those that stayed do 300 steps of gradient descent, each with the rate that is best for it at the step that is looked at. How many of the 200 are ahead in the end?
#
# <!-- teacher (6 min): Collect guesses before you show it; the literature makes people optimistic. Then let them find the one setting in which jumping helps: a rate that is too small for the start. -->

# %%
from neuroviz.beyond.teleport.comparison import shipped_comparisons

own = {count.destination: count for count in shipped_comparisons()["keys"].of("own")}
predict(
    "Of 200 that jumped, how many are ahead after 300 steps, each with its own best rate?",
    own["twice"].ahead[-1],
    wrong={
        100: "That is a toss of a coin. Does a longer gradient change the rate that one can afford?",
        200: "Were the slope all that counts, yes. But where the gradient is longer, is the rate the same?",
    },
)

# %%
jump_panel = TeleportExplorer(state="walk=keys;place=1;rate=-9")
jump_panel

# %% [markdown]
# *What you see.* At the left the length of the gradient along the fibre, and below it the loss, which does not stir. In the middle gradient descent from the start (dashed) and from the place of the walk, at one rate. At the right 200 networks, counted beforehand: which part of them is ahead after so many steps when it jumps first.
#
# * Move **place s**: the gradient changes and the loss does not. At a small rate the descent from there is faster.
# * Raise the **rate** to $2^{-7}$: from there the descent is lost, from the start it is not.
# * Choose another rate for **the 200**. When does a jump help, and for how long?
# * Longer is not better, then. Is it better to jump to where the gradient is shortest (the green line)?

# %% tags=["hide-input"]
presets(
    jump_panel,
    {
        "a small rate": "",
        "four times that rate": "rate=-7",
        "the 200 at the start’s best rate": "rule=same",
        "the 200, each at its own": "rule=own",
    },
)

# %% [markdown]
# <details><summary>What was found</summary>
#
# A longer gradient is also a steeper valley: the largest rate that does not fail is smaller there. At an eighth of the start's best rate a jump is ahead after one step in most runs, and after 300 steps in about half of them or fewer: of 200 that doubled their gradient, 136 to 180 are ahead at first and 23 to 103 in the end, depending on the walk. At the start's own best rate most jumps are lost. With the best rate for each, jumping is behind in the end, in 155 of 200 or more. To jump to the shortest gradient instead is a toss of a coin in the end, and at the start's own best rate a little worse than that. So a jump is worth something for a while, where the rate was too small.
#
# </details>

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
