# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Take hold of the functions that attention can express
#
# *About 15 minutes. You need: matrices and rank. You do not need: algebraic geometry.*
#
# An attention layer has weights. If you change them, the function that it computes usually changes too. But some directions in
# the space of weights leave the function as it is. We call them **silent directions**. Because of them the set of all functions
# that a network can express, its **neuromanifold**, has fewer dimensions than the network has parameters. How many fewer? Which
# directions are silent? Where does the set have corners? These are the questions of one paper:
#
# > N. W. Henry, G. L. Marchetti, K. Kohn. *Geometry of Lightning Self-Attention: Identifiability and Dimension.*
# > ICLR 2025, [arXiv 2408.17221](https://arxiv.org/abs/2408.17221)
#
# In these notebooks you move its objects yourself. Every number that you see is exact, up to a chance of error that it names, or says that it is not.
#
# <!-- lab -->
# *Begin with Run All Cells in the menu Run, and scroll back up to here. Shift and Enter run one cell. Cells that only make a picture keep
# their code folded: their three dots open it.*
# <!-- end of lab -->
# <!-- page: *Nothing has to be run here. **Live** gives a panel all its controls.* -->

# %% [markdown]
# ## One number
#
# Take two layers of *lightning* attention, which is attention without the softmax, the step that makes shares with sum 1 out of the products of tokens. Tokens are the columns of $X$, and a layer is
#
# $$\varphi(X) = V X \,\bigl(X^\top A X\bigr), \qquad A = K^\top Q .$$
#
# With width $d = 4$ and head dimension $a = 2$, the matrices $Q$ and $K$ of each layer have size $2 \times 4$, and $V$ has size
# $4 \times 4$. Both layers together have 64 parameters.
# <!-- check: arch.num_parameters == 64 and arch.head_dims == (2, 2) and set(arch.widths) == {4} -->

# %%
import neuroviz as nv

arch = nv.Architecture.uniform(d=4, a=2, layers=2, tokens=3)

# %% [markdown]
# How many dimensions does the set of functions have? In other words, in how many independent ways can the function change? Commit to a number
# before you look; any number will do.
#
# <!-- teacher (5 min): Collect numbers aloud before anybody presses the button. 64 counts parameters; 46 forgets the basis inside each head; 40 forgets the factor between A and V. Do not correct anybody: the hint does. -->

# %% jupyter={"source_hidden": true}
from neuroviz.lessons.teaching import predict
from neuroviz.lessons.wrong_answers import wrong_answers

predict(
    "How many dimensions does the set of functions have?",
    nv.measure_dimension(arch),
    wrong=wrong_answers(arch),
)

# %% [markdown]
# ## Where do the parameters go?
#
# The panel opens with one layer. Its first part has the 32 parameters, a cell each: **take hold of an orange edge** and drag it, or
# press **+** for another layer. In the second part, beside it or below, each line takes away a group of silent directions, with its reason, and 27 dimensions
# remain. The last bar is measured; the mark at its end is a formula. Press **▶** beside a line: the weights move in these
# directions, and the output stands still. Beside the dimension they move in another one, and the output moves.
# <!-- check: uniform(4, 2, 1).num_parameters == 32 and measured(uniform(4, 2, 1)) == 27 -->
#
# <!-- teacher (5 min): Let them drag an edge and press every ▶ first: only the last one moves the output. Then ask which reason for silent directions is new when a second layer comes. -->

# %% jupyter={"source_hidden": true}
from neuroviz.explorables import LedgerExplorer

LedgerExplorer(
    state="layers=1",
    presets={"one layer": "layers=1", "two layers": "layers=2"},
)

# %% [markdown]
# When you have committed to a number, press **two layers**. Which group of silent directions is no longer 0?
#
# <details><summary>Answer</summary>
#
# The **interfaces**. Between two layers lies a space of tokens, and its basis can be changed: the first $V$ writes in one basis, and the second layer
# reads in it. No other layer sees this basis, and it costs $d^2 = 16$ directions.
# <!-- check: lost(arch) - 2 * lost(uniform(4, 2, 1)) == 16 -->
#
# </details>
#
# **Every panel works like this one.** Drag what is orange, in the picture or on a slider; on a keyboard, arrow keys move it. The buttons above its picture take it to
# settings that the text speaks of. The text below the picture describes it. <!-- page: **Live** adds the rest: --> **More** unfolds the controls that are needed less often. Behind the three dots (**⋯**),
# **Reset** goes back to the start, and the **State** box holds a text: give it to somebody else to show exactly what you see, or paste one to come back.
#
# In code, one call measures a dimension and another predicts it: `nv.measure_dimension(arch).value` and `nv.expected_dimension(arch).value`. <!-- lab --> Try them in a cell of your own.<!-- end of lab -->
# <!-- check: nv.expected_dimension(arch).value == nv.measure_dimension(arch).value -->

# %% [markdown]
# ## How do we know?
#
# To measure a dimension, one changes every weight a little and watches every output. The dimension is the number of independent responses, a rank.
#
# * Modulo a large prime this rank has no rounding in it. That is how the panels count. The weights are random; an unlucky draw gives too small
#   a number, and the panel says how rare that is.
# * In floating point the same rank shows as a gap between singular values. The two ways have to agree.
# <!-- check: nv.measure_dimension(arch, method="float").value == measured(arch) -->
#
# A badge says with what right a number stands there:
#
# | badge | meaning |
# | --- | --- |
# | ■ proved | a theorem of the paper, with its hypotheses checked for the network in hand |
# | □ proved here | proved in this project's [mathematics](../docs/mathematics/index.md); not peer-reviewed |
# | ● exact | computed exactly, most often a rank modulo a prime |
# | ◆ certified | proved for this one network by a computation that can be checked again |
# | ≈ floating point | seen in floating-point numbers: evidence, no proof |
# | ○ observed | a formula that agreed with exact ranks on a stated grid; no proof |
# | ◇ conjectured | stated as a conjecture, not proved |
# | – no formula | none is known; only the measurement is shown |
# | ▨ outside hypotheses | a formula or a theorem named where it does not apply |

# %% [markdown]
# ## Where to go
#
# | notebook | minutes | the question |
# | --- | --- | --- |
# | [01 Matrix factorization](01_matrix_factorization.ipynb) | 30 | which queries and keys give the same attention matrix? |
# | [02 Single-layer fibers](02_single_layer_fibers.ipynb) | 35 | which weights give one layer the same function? |
# | [03 Singular locus](03_singular_locus.ipynb) | 52 | where does the set of functions cross itself, where does it end, and does training end there? |
# | [04 Deep dimension](04_deep_dimension.ipynb) | 50 | how many dimensions does a deep network have, and when does the formula fail? |
# | [05 The softmax conjecture](05_softmax_conjecture.ipynb) | 30 | what does softmax change? |
#
# They follow Section 3 of the paper in its order. The minutes are those of the path; what stands under *Further* comes on top. For those who want more, the folder `beyond/notebooks` has
# [unrolling](../beyond/notebooks/unrolling.ipynb), [proofs](../beyond/notebooks/proofs.ipynb),
# [networks beyond the paper](../beyond/notebooks/beyond.ipynb), [all transformers that compute the same](../beyond/notebooks/transformers.ipynb),
# [a token and heads to turn](../beyond/notebooks/heads.ipynb),
# and [what a dimension is good for](../beyond/notebooks/memorisation.ipynb).
#
# All formulas, hypotheses and proofs: [the mathematics](../docs/mathematics/index.md). Words from algebraic geometry: the
# [glossary](../docs/glossary.md). Teaching with these? There are [lesson plans](../docs/lessons.md) for 50 and 90 minutes.
#
# <details><summary>Notation, to look up</summary>
#
# | paper | here | meaning |
# | --- | --- | --- |
# | $X \in \mathbb{R}^{d_0 \times t}$ | `X` | tokens are **columns** |
# | $Q, K \in \mathbb{R}^{a \times d}$, $V \in \mathbb{R}^{d' \times d}$ | `Q`, `K`, `V` | queries, keys, values of one layer |
# | $A = K^\top Q$ | `A` | the attention matrix, of rank at most $a$ |
# | $d_0, \dots, d_l$ | `widths` | widths from input to output; $\delta$ if the inner ones are equal |
# | $a_1, \dots, a_l$ | `head_dims` | head dimensions |
# | $t$ | `tokens` | length of the sequence |
# | $l$ | `layers` | number of layers |
# | $\alpha(a, d) = a(2d - a)$ | | dimension of the $d \times d$ matrices of rank at most $a \le d$ |
#
# </details>

# %% [markdown]
# **On your own.** Set one layer, then two, three, four, and write down how many directions are silent. What is the pattern?
#
# <details><summary>Answer</summary>
#
# With $d = 4$ and $a = 2$: 5, 26, 47, 68. Each layer loses $a^2 = 4$ (the basis of the head) and 1 (the factor between $A$ and $V$), and each of the
# $l - 1$ places between two layers loses $d^2 = 16$. So $5l + 16(l - 1)$.
# <!-- check: [lost(uniform(4, 2, l)) for l in (1, 2, 3, 4)] == [5, 26, 47, 68] -->
# <!-- check: all(lost(uniform(4, 2, l)) == 5 * l + 16 * (l - 1) for l in range(1, 7)) -->
#
# </details>
