# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Find all transformers that compute the same
#
# *For those who use attention with several heads. About 40 minutes. You need: the notebook [Softmax](../../notebooks/05_softmax_conjecture.ipynb), and exponentials of complex numbers.*
#
# You will move the weights of a transformer while its outputs stand still, match the heads of two weight files, and see why there is nothing else to move.

# %%
import tempfile

import numpy as np

import neuroviz_beyond as nb
from neuroviz.lessons.exercise import exercise
from neuroviz.lessons.teaching import predict

# %% jupyter={"source_hidden": true}
from neuroviz_beyond.explorables import SameFunctionExplorer
from neuroviz_beyond.lessons.checks import TWO_FILES, check_shuffle, write_two_files

# %% [markdown]
# ## Move weights, keep outputs
#
# A softmax layer with heads $h = 1, \dots, H$. All layers have a skip $X + {}$ or none, biases $c_h$ and $\omega$ or none:
#
# $$X \mapsto [X +] \sum_h V_h X \,\mathrm{softmax}\bigl(X^\top (A_h X + c_h)\bigr) + \omega .$$
#
# Tokens are the columns of $X$, the softmax acts column by column, and $c_h$ and $\omega$ are added to every column. Queries and keys count through $A_h = K_h^\top Q_h$ only ([notebook 01](../../notebooks/01_matrix_factorization.ipynb)). So **weights** are from now on the $A_h$ and $V_h$, with biases also $c_h$ and $\omega$. Three things may be done to them:
#
# * **Shuffle** the heads of a layer. A sum has no order.
# * **Change the basis** of the tokens between two layers, $z \to Gz$. One layer writes $G V_h$, the next one reads $G^{-\top} A_h G^{-1}$ and $V_h G^{-1}$.
# * **Shift** these tokens, $z \to z + g$. The next layer's biases take it back.
#
# <!-- teacher (7 min): Let the room say first which of the three needs no skip and which needs biases. Then move. -->

# %% jupyter={"source_hidden": true}
SameFunctionExplorer(
    presets={
        "shuffle": "swapped=both;basis=0",
        "basis": "swapped=none;basis=0.7",
        "shift": "swapped=none;basis=0;biases=yes;shift=0.7",
        "all three": "swapped=both;basis=0.7;biases=yes;shift=0.7",
        "with skip": "swapped=both;skip=yes",
        "a step off": "swapped=none;basis=0;off=0.3",
    },
)

# %% [markdown]
# * Press **basis** and drag its slider. Which matrices do not move, and why?
# * Press **with skip**. The slider of the basis is dead. Why?
# * Press **shift**. Which biases move, and which stay?
#
# <details><summary>Answers</summary>
#
# The $A_h$ of layer 1 look at the input, whose basis is given. A skip hands the input on as it is, beside what the heads write: a new basis between the layers would need $X \to GX$ there, and nobody does it. The shift moves $\omega$ of layer 1, and in layer 2 the $c_h$ and $\omega$. The $c_h$ of layer 1 stay.
# <!-- check: (lambda s: all((s.first[0].A == s.second[0].A).ravel()) and not np.allclose(s.first[0].V, s.second[0].V) and s.same_outputs)(shown(SameFunctionExplorer, "swapped=none;basis=0.7")[0]) -->
# <!-- check: (lambda s: np.allclose(s.first[0].c, s.second[0].c) and not np.allclose(s.first[1].c, s.second[1].c) and not np.allclose(s.first[1].omega, s.second[1].omega))(shown(SameFunctionExplorer, "swapped=none;basis=0;biases=yes;shift=0.7")[0]) -->
#
# </details>

# %% jupyter={"source_hidden": true}
predict(
    "Two layers of two heads, with skips, without biases. How many weights (all A and V) have the function of this one?",
    4,
    wrong={
        1: "The heads of a layer have no order.",
        2: "Each layer can be shuffled by itself.",
        24: "A head cannot go into the other layer: it would see other tokens.",
    },
)

# %% [markdown]
# <!-- tested: test_same_function_explorer.py::test_what_is_moved_leaves_outputs_and_poles_where_they_are -->
# That there are no fewer, you have just seen. That there are no more is a theorem, and the rest of this notebook.

# %% [markdown]
# ## Match two files
#
# Here are two weight files of one network: two layers of four heads, $d = 4$, $a = 2$, skips, no biases. Both compute the same. Averaging them entry by entry would give nonsense: heads would be mixed with other heads.

# %%
folder = tempfile.mkdtemp()
first, second = (dict(np.load(file)) for file in write_two_files(folder))
{name: matrix.shape for name, matrix in first.items()}

# %% [markdown]
# `first["1.Q"][0]` is the matrix $Q$ of head 0 in layer 1. Do not compare it with the other file's: somebody has changed the bases inside the heads as well.
#
# <!-- teacher (10 min): The usual slip is to compare Q with Q. Ask which product of Q and K nobody can change. -->

# %% jupyter={"source_hidden": true}
exercise(
    "For each layer, give the list of partners: the number, from 0 on, of the head in the second file "
    "that does what head 0, 1, 2, 3 of the first file does.",
    check_shuffle,
    difficulty=2,
    minutes=10,
)

# %% tags=["exercise"]
my_heads = ...
check_shuffle(my_heads)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# With skips no basis changes between the layers, so partners have the same $A = K^\top Q$.
#
# ```python
# one, other = map(np.load, write_two_files(tempfile.mkdtemp()))  # the files from above
#
#
# def attention(weights, layer):
#     return weights[f"{layer}.K"].mT @ weights[f"{layer}.Q"]
#
#
# def partner(A, others):
#     return int(np.abs(others - A).max(axis=(1, 2)).argmin())
#
#
# my_heads = [[partner(A, attention(other, i)) for A in attention(one, i)] for i in (1, 2)]
# check_shuffle(my_heads)
# ```
#
# </details>

# %% [markdown]
# One call does it, for every network that the theorem is about, also where a basis or a shift lies between. If there is nothing to find, it says in which layer:

# %%
found = nb.align(TWO_FILES, first, second)  # found.heads would tell you the answer
print("all equations hold:", found.error < 1e-9)
try:
    nb.align(TWO_FILES, first, second | {"2.Q": 1.1 * second["2.Q"]})
except ValueError as error:
    print(error)

# %% [markdown]
# ## Why there is nothing else: poles
#
# Take one layer, a token $x_1$ and $m$ copies of $x_2$. In a head $x_2$ takes a **share** $\nu$ of $x_1$. Divide numerator and denominator by the exponential of a copy:
#
# $$\nu = \frac{e^q}{e^q + m}, \qquad q = (x_1 - x_2)^\top (A x_2 + c) .$$
#
# Let $x_1 = x_2 + z w$ walk in a direction $w$. Then the **logit** is $q = s z$ with the **slope** $s = w^\top (A x_2 + c)$.
#
# Now let $z$ be complex. Outputs are made of fractions and exponentials, and two such functions that agree for all real $z$ agree for all complex ones. The share $\nu$ has a **pole** where its denominator is 0, $e^{sz} = -m$:
#
# $$z = \frac{\log m + i\pi(2k + 1)}{s}, \qquad k \in \mathbb{Z}.$$
#
# So each head has a comb of poles, $2\pi / |s|$ apart. It gives $x_2$ the sum $V_h x_2 + \nu V_h (x_1 - x_2)$: the output has these poles, too. Whoever computes the same has the same poles.
# <!-- tested: test_same_function_explorer.py::test_a_pole_is_one -->

# %% jupyter={"source_hidden": true}
predict(
    "A head with s > 0 and two tokens (m = 1) has its poles on the imaginary axis. Where do they go when a third token comes, a second copy of x₂?",
    "to the right",
    choices={
        "to the right": "All of them, by log 2 / s.",
        "to the left": "Look at the real part, log m / s, for m = 2.",
        "apart from each other": "The distance 2π / s does not contain m.",
    },
    asks="a third token",
)

# %% [markdown]
# Rings are poles of the first network, dots those of the second. The first chart is layer 1, the second layer 2 with layer 1 **frozen**: its shares are 0, it is $x \to Fx + \omega$ with $F = [I +] \sum_h V_h$.
#
# May one do this? The shares of layer 1 depend on the same $z$. By Ax's theorem the $e^q$ of all logits act like new variables for generic (almost all) weights; they meet those of another network only in products of powers, as $e^{q'} = e^q$. Then poles cannot cancel, and no layer hides those of another ("Poles" in [the proof](../docs/softmax_heads_fibres.md)).
#
# <!-- teacher (10 min): Press the second button, ask what will happen, and drag the third token slowly from 0 to 1. -->

# %% jupyter={"source_hidden": true}
SameFunctionExplorer(
    state="view=poles;third=0",
    asks="a third token",
    presets={
        "shuffled, another basis": "swapped=both;basis=0.7;third=1",
        "−A and −V": "swapped=none;basis=0;skip=yes;signs=yes",
        "a step off": "swapped=none;basis=0;off=0.3;third=1",
    },
)

# %% [markdown]
# * Drag **third token** from 0 to 1. Did the poles go where you said?
# * Press the first button. Weights have moved; have the poles?
# * Press **−A and −V**. Each logit is *minus* one of the other network. Are the poles the same? Then drag **third token** away from 0.
#
# <details><summary>What happens?</summary>
#
# The poles do not tell $s$ from $-s$ while all of them lie on the imaginary axis. So with two tokens a logit is known up to its sign, and there are networks that use this. If $V_1 + V_2 = 0$, the weights $(-A_h, -V_h)$ give the same outputs for two tokens: $\nu$ becomes $1 - \nu$ in both heads, and what changes adds up to 0. Choose **weights and outputs** to see it, up to rounding. A third token sends the poles of $s$ and of $-s$ to different sides, and the outputs differ.
# <!-- check: shown(SameFunctionExplorer, "signs=yes;third=0")[0].moved < 1e-13 and shown(SameFunctionExplorer, "signs=yes;third=1")[0].moved > 0.01 -->
# <!-- check: (lambda s: [s.partners[0], len(s.failing) > 0])(shown(SameFunctionExplorer, "view=poles;swapped=none;signs=yes;third=0")[0]) == [((0, -1), (1, -1)), True] -->
# <!-- tested: test_alignment.py::test_values_that_add_up_to_zero_have_a_second_preimage_for_two_tokens -->
#
# </details>

# %% [markdown]
# ## From poles to weights
#
# Let two networks of one shape compute the same, with three tokens or more: $m \ge 2$. The first one is generic: every $F$ is invertible, no $V_h$ is 0.
#
# 1. **Heads.** Each head of the first network leaves poles: $V_h \ne 0$ lets them out of the head, invertible $F$ through the frozen layers behind. Only shares have poles, so some head of the second has the same comb: $s = s'$, with sign, as $m \ge 2$. Generic heads have different combs, and both networks equally many heads, so each has one partner: $q_h = q'_{\pi(h)}$. The pairing $\pi$ is the shuffle. It stays inside a layer: logits of layer 1 are polynomials, those of layer $i + 1$ contain exponentials of layer $i$ and of no later one. (Without a mask $x_1$ takes shares, too. The two columns of the output tell which is which.)
# 2. **Bases and shifts.** Freeze all layers; partners freeze together. Each layer is now $z \to Fz + \omega$ on tokens $z$. The products of all $F$ and of all $F'$ agree, so each $F'$ is invertible, too. So $z' = Gz + g$ between two layers, $G$ invertible, $G = I$ and $g = 0$ at both ends.
# 3. **A and c.** The direction $w$ is $Gw$ in the second network. Partners have equal slopes: $w^\top (A_h z + c_h) = (Gw)^\top \bigl(A'_{\pi(h)} (Gz + g) + c'_{\pi(h)}\bigr)$. So $A_h = G^\top A'_{\pi(h)} G$ and $c_h = G^\top (A'_{\pi(h)} g + c'_{\pi(h)})$.
# 4. **V and ω.** Free one head and its partner. They add $u = \nu V_h (z_1 - z_2)$ and $u' = \nu V'_{\pi(h)} G (z_1 - z_2)$. Outputs agree, so $u' = G_+ u$, with $G_+$ after the layer: $V'_{\pi(h)} = G_+ V_h G^{-1}$. Frozen layers say the same of $F$, and how $\omega$ moves. With skips $F - \sum_h V_h = I$ in both networks, so $I = G_+ I G^{-1}$. Then $G_+ = G$ in every layer; all are $I$, as at the input.
#
# This is **Theorem H** ([statement and proof](../docs/softmax_heads_fibres.md)). □ **Status: proved here**, using Ax's theorem; not peer-reviewed. It has conditions, which almost all weights satisfy; two of them stand above. For weights in hand they are decided exactly:

# %%
(
    nb.where_theorem_h_fails(TWO_FILES, first),
    nb.where_theorem_h_fails(TWO_FILES, first | {"1.V": 0 * first["1.V"]})[0],
)

# %% [markdown]
# Rotary and learned positions, MLPs and normalisation layers are not in the theorem; [what it means for real models](../docs/transformers.md) is a page of its own.
#
# **On your own.** In which of the four steps does a mask change something?
#
# <details><summary>Answer</summary>
#
# In step 1. Now put $m$ copies of $x_1$ before $x_2$: they see $x_1$ only, so there are logits $q$ and no others. With two tokens the signs need a condition of their own. The rest stays.
#
# </details>

# %% [markdown]
# What have we got? Shuffles of heads, bases where there is no skip, shifts where there are biases: you have moved each of them, and the outputs stood still. And where the conditions hold, a network of the same shape with the same function has the same poles, so the same logits, so the same weights up to these. If both satisfy them, equal depth and heads follow. So these are all.
