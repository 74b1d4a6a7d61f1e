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
from neuroviz.teaching import predict

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
    wrong={57: "That is the number of parameters. How many of them can be seen in the function?"},
)

# %%
MemorisationExplorer(state="targets=nearby;network=lightning-4-4-a4;beyond=1")

# %% [markdown]
# *What you see.* Fourteen networks, lightning and softmax. Each was asked for $N$ numbers, eight times, and a damped Newton method had three starts. At the left the share of tasks that were learnt, over $N/D$; beside it the same over $N/P$.
#
# * Move **N − D** from 0 to 1: one number more. What happens?
# * Ask for **random** numbers instead of nearby ones. Which kind of attention gives up long before $D$?
# * The **teacher** gives numbers that another network of the same kind produces. Why can these be learnt beyond $D$?
#
# <!-- teacher (6 min): Point out what is a theorem and what is not: "none beyond D" has a proof; "all below D" has one for nearby numbers only. That softmax learns random numbers badly is an observation on six small networks. -->
#
# <details><summary>Answers</summary>
#
# One number beyond $D$, and no run learns. Over $N/D$ fourteen networks fall off one cliff, over $N/P$ at fourteen different places: the parameters do not tell it. Random numbers are another matter: nothing says that a set of the full dimension is everything, and softmax gives up long before $D$ in five of six networks. What a teacher gives lies in the set, for every $N$; this is no memorising, but it shows that the method can find a solution where there is one.
#
# </details>

# %% [markdown]
# ## Walk along a fibre
#
# $(CQ, C^{-\top}K)$ gives the same function as $(Q, K)$. The loss is the same, too; its gradient is not. So one might jump along the fibre to a place where the gradient is longer, and go on from there: *teleportation* (Zhao, Dehmamy, Walters, Yu 2022). Along a walk $C = e^{sE}$ the squared length of the gradient is a sum of exponentials, so it has a shortest place and no longest one ([Teleportation](../docs/mathematics.md#teleportation)).
#
# Two hundred starts jump to where the gradient is twice as long. Then they and those that stayed do 300 steps of gradient descent, each with its own best rate. How many of the 200 are ahead in the end?
#
# <!-- teacher (6 min): Collect guesses before you show it; the literature makes people optimistic. Then let them find the one setting in which jumping helps: a rate that is too small for the start. -->

# %%
from neuroviz.teleport_comparison import shipped_comparisons

own = {count.destination: count for count in shipped_comparisons()["keys"].of("own")}
predict(
    "Of 200 that jumped, how many are ahead after 300 steps, each with its own best rate?",
    own["twice"].ahead[-1],
)

# %%
TeleportExplorer(state="walk=keys;place=1;rate=-9")

# %% [markdown]
# * Move **place**: the loss does not stir. At a small rate the descent from there is faster.
# * Raise the **rate**: from there the descent is lost, from the start it is not.
# * Choose another **rule** for the rates. When does a jump help, and for how long?
#
# <details><summary>What was found</summary>
#
# A longer gradient is also a steeper valley: the largest rate that does not fail is smaller there. At an eighth of the start's best rate a jump is ahead after one step in most runs, and after 300 steps that has mostly gone. At the start's own best rate most jumps are lost. With the best rate for each, jumping is behind in the end. So a jump is worth something where the rate was too small, and then a larger rate is worth more.
#
# </details>

# %% [markdown]
# ## Larger and poorer
#
# Parameters are what one pays for. Dimensions are what one gets.

# %%
from neuroviz.checks_beyond import check_larger_and_poorer
from neuroviz.exercise import exercise

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
# How would you choose the widths and head dimensions of three layers, with 100 parameters at most, so that the network learns as many numbers as possible? A [sweep](04_sweeps.ipynb) can look at all of them.
