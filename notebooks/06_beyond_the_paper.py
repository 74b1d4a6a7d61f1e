# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Beyond the paper
#
# *For those who use attention as it is used: with heads, skips, masks and biases. About 45 minutes. You need: the notebook [Deep dimension](04_deep_dimension.ipynb).*
#
# You will switch on what real transformers have, one thing at a time, and see what each costs; find two formulas yourself; count what does nothing in nineteen published models; and measure any torch module.

# %%
import torch
from torch import nn

import neuroviz as nv
from neuroviz.engine.block import Block
from neuroviz.explorables import FormulaExplorer, RealModelsExplorer, VariantsExplorer
from neuroviz.kit.presets import presets
from neuroviz.lessons.questions import KEY_BIAS, key_bias
from neuroviz.lessons.teaching import predict

# %% [markdown]
# ## Switch something on
#
# The paper's network has one head in each layer and nothing else. Here are two layers of softmax with two heads each. Two things can be done to them unseen: inside each of the four heads the basis may be changed, $4a^2 = 16$ directions, and between the layers another $d^2 = 16$. Now add a skip connection: each layer's input is added to its output. How many directions do nothing then?
#
# <!-- teacher (6 min): Most people expect a skip to add nothing, for it has no parameters. It adds d² dimensions an interface: the stream between the layers now has the input's own basis, and nobody can change it unseen. Let the room say which of the two printed symmetries survives before you press the button. -->

# %%
plain = nv.Architecture.uniform(d=4, a=2, layers=2, attention="softmax", heads=2)
skip = nv.Architecture.uniform(d=4, a=2, layers=2, attention="softmax", heads=2, skip=True)
print(nv.kernel_ledger(plain).entries)
predict(
    "With the skip, how many directions do nothing?",
    skip.num_parameters - nv.measure_dimension(skip).value,
    wrong={
        32: "That is without the skip. Which of the two symmetries does the added input break?",
        0: "A skip passes by the heads. Does anybody see the basis inside one?",
    },
)

# %%
variants_panel = VariantsExplorer()
variants_panel

# %% [markdown]
# *What you see.* At the left the parameters, what each symmetry takes away, and the dimension that is left: thick bars for the network as it is, thin ones for the network before the last switch. Nothing in it is told to add up: the dimension is an exact rank, and each bar is the rank of the directions of its symmetry. At the right the matrices $A_h$ of the heads, as drawn and as they are now; below, in how many directions heads of one layer blend.
#
# * Switch **skip** on and off, for lightning and for softmax. The paper expects that a skip breaks the rescaling $(cA, V/c)$ of lightning. Does it?
# * Give lightning a second and a third head. From which one on is more lost than one rescaling a head?
# * With three heads, move **blend**: the heads turn into mixtures of each other, and the function stays. With two they are forced to, and it does not, until they have changed places.
# * Most models of today turn queries and keys by their place (**rotary positions**, under *More*). What is left of the bases inside the heads?
#
# Guess first. The buttons take the panel to these places; each switch can also be moved by hand.

# %% tags=["hide-input"]
presets(
    variants_panel,
    {
        "skip, lightning": "heads=1;skip=yes;before=skip=no",
        "skip, softmax": "heads=1;kind=softmax;skip=yes;before=skip=no",
        "second head": "heads=2;before=heads=1",
        "third head": "heads=3;before=heads=2",
        "rotary positions": "heads=2;kind=softmax;rotary=yes;before=rotary=no",
    },
)

# %% [markdown]
# <!-- teacher (8 min): Let them find the blending by hand: d = 3, a = 2, and go from two heads to three. Then ask for a reason. Mixtures of matrices of rank a have rank a only along special directions; there are (d − a)² conditions on H numbers. -->
#
# <details><summary>Answers</summary>
#
# It does not. A skip adds $X$ and never looks at $A$ and $V$, so $(cA, V/c)$ is still there; what is gone is the change of basis between the layers. (Softmax never had the rescaling, and loses the same change of basis.) At $d = 3$, $a = 2$ it is the third head: from $H > (d - a)^2 + 1$ on a head can take on something of the others and still have rank $a$. Under rotary positions a basis inside a head may only change in a way that commutes with all rotations: $a$ directions a head instead of $a^2$.
#
# </details>

# %% [markdown]
# ## Find the formula yourself
#
# Type a formula for the dimension, as Python writes it, and press Enter. Every network of a family is measured, and the panel shows the first one at which you are wrong. Begin with one layer; then take ① and ②, whose hints lead from the number of parameters to formulas that were measured and not proved.
#
# <!-- teacher (12 min): Works well in pairs, one types and one looks for the counterexample beforehand. Stop after ① and compare. The family "H > d" is for the quick ones: a formula that is right at 18 of 21 networks and then fails. -->

# %%
formula_panel = FormulaExplorer()
formula_panel

# %% [markdown]
# Where your formula fits everywhere, you have evidence and no proof. How far that carries, the family "H > d" shows, with the first button: there one fits eighteen networks and fails at the seventh head. (It is the answer to ②, with a cap: the functions of one layer lie in a space of $d^3(d+1)/2$ dimensions, and no number of heads leads out of it.) In a script, `nv.try_formula` finds the first network at which a formula is wrong.

# %% tags=["hide-input"]
presets(
    formula_panel,
    {
        "H > d, and a formula that almost fits": "family=heads-many;along=H;"
        "formula=min(H*(alpha(a, d) + d**2) - H*max(1, H - max(d - a, 0)**2), d**3*(d + 1)/2)",
        "back to one layer": "",
    },
)

# %% [markdown]
# ## Everything at once
#
# What else a layer of a transformer has is in its `Block`: value matrices of lower rank with an output projection, keys shared by several heads, rotary or learned positions, biases, learned temperatures, an MLP between the layers. Every combination can be measured exactly. (The MLP is $U_2 (U_1 y)^e$ with an entrywise power, here of six units and $e = 2$: a power can be computed without rounding, and GELU cannot.)

# %%
block = Block(value_dim=2, kv_heads=1, biases=True, mlp=(6, 2))
net = nv.Architecture.uniform(
    d=4, a=2, layers=2, attention="softmax", heads=2, skip=True, causal=True, block=block
)
print(net)
nv.measure_dimension(net)

# %%
nv.expected_dimension(net)

# %% [markdown]
# The note lists what does nothing. A key bias $b$ adds $b^\top Q x_i$ to all logits of a column, and a softmax does not see that. Rotary positions turn each key by an angle that depends on its place. Does a key bias do nothing under rotary positions?
#
# <!-- teacher (4 min): A good place for a vote. Under rotation the term is bᵀR(i−j)Qxᵢ, which depends on j; so the bias is seen. -->

# %%
rotary = nv.Architecture.uniform(
    d=4,
    a=2,
    layers=1,
    attention="softmax",
    heads=2,
    skip=True,
    block=Block(value_dim=2, biases=True, rotary=True),
)
predict("Does a key bias do nothing under rotary positions?", key_bias(rotary), choices=KEY_BIAS)

# %% [markdown]
# ## What does nothing in GPT-2?
#
# Published shapes, and the same formula. All models by formula, one bar each: which part of its attention weights does nothing. Nothing here was measured. The formula is right on small networks of each kind; the rest is extrapolated.
#
# The formula does not know of norm layers and MLPs. The symmetries that it counts act inside a layer, so these directions do nothing whatever stands around it. More may do nothing: what remains is an upper bound for the dimension.
#
# <!-- teacher (5 min): Say that nothing in the picture is measured. 4.2 % of the attention weights of GPT-2 small do nothing, and 0.3 % of Llama-3-8B's. Why so much less? Three reasons of about the same size: a head is 1/32 of the width instead of 1/12, rotary positions leave half, and four heads share a key. That there are no biases hardly counts. -->

# %%
models_panel = RealModelsExplorer()
models_panel

# %% [markdown]
# * Compare two models of the same shape, one with biases and one with rotary positions: OPT-6.7B and LLaMA-7B. Which part of their keys and queries does nothing?
# * In which model is the smallest part of the weights without effect, and why?

# %% tags=["hide-input"]
presets(
    models_panel,
    {
        "all symmetries": "",
        "bases of keys, queries": "parts=keys",
        "bases of values, outputs": "parts=values",
        "biases": "parts=biases",
    },
)

# %% [markdown]
# <details><summary>Answers</summary>
#
# Rotary positions leave only what commutes with all rotations, $a$ directions instead of $a^2$ for each group of keys: 128 times fewer. The bases of values and outputs stay, so of all directions about half are left, 0.79 % of the weights instead of 1.6 %. In Falcon-7B, where 71 heads share a single key and value, it is by this formula one in ten thousand.
#
# </details>

# %% [markdown]
# ## Any torch module
#
# Give a module and a function that draws inputs. The rank is taken on more and more of them until it is steady, in floating point: evidence, not a proof.

# %%
_ = torch.manual_seed(0)
mlp = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
nv.functional_dimension(mlp, lambda count: torch.randn(count, 3))

# %% [markdown]
# All 26 parameters count. ReLU does not see the scale of a hidden neuron, so 3 of 13 do nothing; and at some weights more, because a neuron that never bends on the inputs drawn hides more. Eight random networks, of which at most 10 can count:

# %%
_ = torch.manual_seed(3)


def relu():
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))


print(nv.module_symmetries(relu()).bound)
[nv.functional_dimension(relu(), lambda count: 3 * torch.randn(count, 2)).value for _ in range(8)]

# %% [markdown]
# A transformer layer of torch has 302 parameters at these sizes. Which of them do nothing?

# %%
layer = nn.TransformerEncoderLayer(6, 2, 8, batch_first=True, norm_first=True, activation="gelu")
known = nv.module_symmetries(layer)
print(known.entries)
predict(
    "302 parameters. How many directions are left?",
    nv.functional_dimension(layer, lambda count: torch.randn(count, 4, 6)),
    wrong={302: "Then nothing would be lost; the list above has something to say."},
)

# %% [markdown]
# Move the weights along each of these symmetries: the output stays.

# %%
from neuroviz.nn.symmetries import moved

x, double = torch.randn(5, 4, 6).double(), layer.double().eval()
{name: f"{(moved(layer, name)(x) - double(x)).abs().max().item():.0e}" for name in known.entries}

# %% [markdown]
# ## Blend yourself
#
# Three heads blended in the panel because there were enough of them. How many are enough for a shape of your own? A network is written as above, with `widths`, `head_dims` and `heads`.

# %%
from neuroviz.lessons.checks_beyond import check_blending
from neuroviz.lessons.exercise import exercise

exercise(
    "Give one lightning layer with two heads or more, a < d and at most as many heads as outputs, in which more is lost "
    "than the bases of the heads and one rescaling for each of them.",
    check_blending,
    difficulty=2,
    minutes=6,
)

# %% tags=["exercise"]
my_layer = ...
check_blending(my_layer)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# More than $(d - a)^2 + 1$ heads are needed, which is two at $a = d - 1$. So three heads:
#
# ```python
# my_layer = nv.Architecture(widths=(4, 4), head_dims=(3,), heads=3)
# check_blending(my_layer)
# ```
#
# </details>

# %% [markdown]
# ## On your own
#
# **What buys what?** Does a network with more dimensions fit more data, and what can be done with directions that do nothing? That is the next notebook, [So what?](06_so_what.ipynb)
