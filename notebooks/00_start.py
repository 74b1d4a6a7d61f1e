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
# An attention layer has weights. Change them and, usually, the function it computes changes too. But not always:
# some directions in the space of weights do nothing at all. So the set of **functions** that a network can express,
# its **neuromanifold**, has fewer dimensions than the network has parameters. How many fewer, which directions
# do nothing, and where the set has corners, is what the paper
#
# > N. W. Henry, G. L. Marchetti, K. Kohn. *Geometry of Lightning Self-Attention: Identifiability and Dimension.*
# > ICLR 2025, [arXiv 2408.17221](https://arxiv.org/abs/2408.17221)
#
# works out. In these notebooks you move its objects yourself, and every number you see is either exact or says that it is not.

# %% [markdown]
# *To run a cell, click on it and press Shift and Enter.*

# %% [markdown]
# ## One number, three ways
#
# Take two layers of *lightning* attention, which is attention without the softmax. Tokens are the columns of $X$, and a layer is
#
# $$\varphi(X) = V X \,\bigl(X^\top A X\bigr), \qquad A = K^\top Q .$$
#
# With width $d = 4$ and head dimension $a = 2$, each layer has $Q, K$ of size $2 \times 4$ and $V$ of size $4 \times 4$.

# %%
import neuroviz as nv

arch = nv.Architecture.uniform(d=4, a=2, layers=2, tokens=3)
arch.num_parameters

# %% [markdown]
# Sixty-four numbers go in. How many independent ways are there to change the function?
# Commit to a number before you look; any number will do. Then Shift-Enter goes on to the next cell.
#
# <!-- teacher (6 min): Collect numbers aloud before anybody presses the button. 64 counts parameters; 46 forgets the basis inside each head; 40 forgets the factor between A and V. Do not correct anybody: the hint does. -->

# %%
from neuroviz.lessons.teaching import predict
from neuroviz.lessons.wrong_answers import wrong_answers

predict(
    "How many dimensions does the set of functions have?",
    nv.measure_dimension(arch),
    wrong=wrong_answers(arch),
)

# %% [markdown]
# The answer can be reached in three ways, and the panel below shows them side by side (the second up to 900 parameters):
#
# * **measured, exactly:** nudge every weight, watch every output, count the independent responses. That count is the
#   rank of a matrix, and computed modulo a large prime it has no rounding in it;
# * **measured, in floating point:** the same matrix has singular values, and the rank shows as a gap between them;
# * **predicted:** a formula, with its source and its hypotheses.

# Now look at all three at once.

# %% [markdown]
# ## Move it
#
# <!-- teacher (7 min): Let them find the handle of the sliders and the arrow keys first. Then one question for all: which of the five controls does the dimension not care about? (Tokens, from two on.) -->
#
# Every panel works like this one. Drag a slider, or click on its handle and use the arrow keys.

# %%
from neuroviz.explorables import DimensionExplorer

DimensionExplorer()

# %% [markdown]
# *What you see.* On the left are the singular values, in floating point, of the 64 directions: dots that move the
# function, and rings that are rounding noise. The blue line is the exact rank and the triangle is the formula: they
# meet where the dots end. On the right, the same count for other widths, and how many inputs one has to look at before
# the rank stops growing.
#
# *What a panel has.* Badges that say with what right a number stands there; a sentence that describes the picture;
# **Reset**; and a **State** box: copy its text to show somebody else exactly what you see, paste it to come back.
# **More** unfolds the controls that are needed less often. (A panel made for a lecture, with `only=[…]`, hides these.)
# In other notebooks there are rows of buttons between the paragraphs: each takes a panel to a setting that the text speaks of.
#
# In code the three ways are three calls. Each result also says how it was found, and how far to trust it:

# %%
nv.measure_dimension(arch)

# %%
nv.measure_dimension(arch, method="float")

# %%
nv.expected_dimension(arch)

# %% [markdown]
# (`num_columns` differs because the exact rank leaves out directions that are known to do nothing, and `num_inputs` because the ways look differently: the exact rank takes one random combination of the outputs of
# each input, and a few inputs more than it could need; floating point takes all outputs, of fewer inputs.)

# %% [markdown]
# ## What the badges mean
#
# | badge | meaning |
# | --- | --- |
# | ■ proved | a theorem of the paper, or a consequence of one line, with its hypotheses checked for the network in hand |
# | □ proved here | proved in this project's [mathematics](../docs/mathematics.md), in full; not peer-reviewed |
# | ● exact | computed exactly: most often a rank, modulo a prime that is shown |
# | ◆ certified | proved for this one network by a computation that can be checked again |
# | ≈ floating point | seen in floating-point numbers, in a spectrum or in runs: evidence, neither a bound nor a proof |
# | ○ observed | a formula, ours or yours, that agreed with exact ranks on a stated grid; no proof |
# | ◇ conjectured | stated as a conjecture, not proved |
# | – no formula | none is known; only the measurement is shown |
# | ▨ outside hypotheses | a formula or a theorem named where it does not apply, beside what is true |

# %% [markdown]
# ## Notation
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

# %% [markdown]
# ## Where to go
#
# | notebook | section of the paper | the question |
# | --- | --- | --- |
# | [01 Matrix factorization](01_matrix_factorization.ipynb) | 3 | which queries and keys give the same attention matrix? |
# | [02 Single-layer fibers](02_single_layer_fibers.ipynb) | 3.1 | which weights give one layer the same function, and what can be read off it? |
# | [03 Singular locus](03_singular_locus.ipynb) | 3.2, Figure 1 | where does the set of functions cross itself, and where does it end? |
# | [03 Where training ends](03_where_training_ends.ipynb) | 3.2 | does gradient flow prefer singular functions? |
# | [04 Unrolling](04_unrolling.ipynb) | 3.3 | what is a deep network made of, and which weights give the same one? |
# | [04 Deep dimension](04_deep_dimension.ipynb) | 3.3 | how many dimensions does a deep network have, and when does the formula fail? |
# | [04 Why the formula](04_why_the_formula.ipynb) | beyond the paper | why is the general formula true? |
# | [04 Sweeps](04_sweeps.ipynb) | beyond the paper | how are a thousand networks measured, and what does it cost? |
# | [05 The softmax conjecture](05_softmax_conjecture.ipynb) | 3.4, Figure 3 | what does softmax change, and how can that be counted exactly? |
# | [05 The proof](05_the_proof.ipynb) | 3.4, Conjecture 3.10 | why does a softmax network lose nothing, and where could the proof be wrong? |
# | [06 Beyond the paper](06_beyond_the_paper.ipynb) | beyond the paper | what do heads, skips, masks and biases cost, and what does nothing in GPT-2? |
# | [06 So what?](06_so_what.ipynb) | beyond the paper | does the dimension tell what a network can learn, and is a fibre good for anything? |
#
# All formulas, their hypotheses and our own proofs: [docs/mathematics.md](../docs/mathematics.md). Teaching with these? There are lesson plans for [50](../docs/lesson_50.md) and [90](../docs/lesson_90.md) minutes, and a [glossary](../docs/glossary.md) from algebraic geometry to machine learning.

# %% [markdown]
# ## On your own
#
# Set one layer, then two, three, four, and write down parameters minus dimension each time. What is the pattern?
#
# <details><summary>Answer</summary>
#
# With $d = 4$ and $a = 2$: 5, 26, 47, 68. Each layer loses $a^2 = 4$ (the basis of the head can be
# changed) and 1 (a factor can move from $A$ to $V$): 5 per layer. Each of the $l - 1$ places between two layers loses
# $d^2 = 16$ more, because the basis in which one layer hands its tokens to the next is nobody's business but theirs.
# So $5l + 16(l - 1)$.
#
# </details>
