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
from neuroviz.block import Block
from neuroviz.explorables import FormulaExplorer, RealModelsExplorer, VariantsExplorer
from neuroviz.teaching import predict

# %% [markdown]
# ## Switch something on
#
# The paper's network has one head in each layer and nothing else. Here are two layers of softmax with two heads each. Between the layers the basis may be changed freely, which costs $d^2 = 16$ directions. Now add a skip connection: each layer's input is added to its output. How many directions do nothing then?
#
# <!-- teacher (6 min): Most people expect a skip to add nothing, for it has no parameters. It adds d² dimensions an interface: the stream between the layers now has the input's own basis, and nobody can change it unseen. Let the room say which symmetries of the list on the left survive before you press the button. -->

# %%
plain = nv.Architecture.uniform(d=4, a=2, layers=2, attention="softmax", heads=2)
skip = nv.Architecture.uniform(d=4, a=2, layers=2, attention="softmax", heads=2, skip=True)
print(nv.kernel_ledger(plain).entries)
predict(
    "With the skip, how many directions do nothing?",
    skip.num_parameters - nv.measure_dimension(skip).value,
    wrong={
        32: "That is without the skip. Which of the two symmetries does the added input break?",
        0: "The basis inside each head is nobody's business, skip or not.",
    },
)

# %%
VariantsExplorer()

# %% [markdown]
# *What you see.* At the left the parameters, what each symmetry takes away, and the dimension that is left, before the last switch (pale) and after it. Nothing in it is told to add up: the dimension is an exact rank, and each bar is the rank of the directions of its symmetry.
#
# * Switch **skip** on and off, for lightning and for softmax. The paper expects that a skip breaks the rescaling $(cA, V/c)$. Does it?
# * Give lightning a second and a third head. From which one on is more lost than one rescaling a head?
# * Move **blend**: the heads turn into mixtures of each other, and the function stays.
#
# <!-- teacher (8 min): Let them find the blending by hand: d = 3, a = 2, and go from two heads to three. Then ask for a reason. Mixtures of matrices of rank a have rank a only along special directions; there are (d − a)² conditions on H numbers. -->
#
# <details><summary>Answers</summary>
#
# It does not. A skip adds $X$ and never looks at $A$ and $V$, so $(cA, V/c)$ is still there; what is gone is the change of basis between the layers. At $d = 3$, $a = 2$ it is the third head: from $H > (d - a)^2 + 1$ on a head can take on something of the others and still have rank $a$.
#
# </details>

# %% [markdown]
# ## Find the formula yourself
#
# Type a formula for the dimension and press Enter. Every network of a family is measured, and the panel shows the first one at which you are wrong. Begin with one layer; then take ① and ②, whose hints lead from the number of parameters to formulas that nobody has proved yet.
#
# <!-- teacher (12 min): Works well in pairs, one types and one looks for the counterexample beforehand. Stop after ① and compare. The family "H > d" is for the quick ones: a formula that is right at 18 of 21 networks and then fails. -->

# %%
FormulaExplorer()

# %% [markdown]
# Where your formula fits everywhere you have evidence. How far that carries, the family "H > d" shows: there one fits eighteen networks and fails at the seventh head.

# %% [markdown]
# ## Everything at once
#
# What else a layer of a transformer has is in its `Block`: value matrices of lower rank with an output projection, keys shared by several heads, rotary or learned positions, biases, learned temperatures, an MLP between the layers. Every combination can be measured exactly.

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
from neuroviz.questions import KEY_BIAS, key_bias

predict("Does a key bias do nothing under rotary positions?", key_bias(rotary), choices=KEY_BIAS)

# %% [markdown]
# ## What does nothing in GPT-2?
#
# Published shapes, and the same formula. The filled squares are small networks that were measured exactly; the diamond is the real model, far out, where nothing was measured. The formula does not know of norm layers and MLPs; the symmetries that it counts act inside a layer, so these directions do nothing whatever stands around it, and the number is an upper bound.
#
# <!-- teacher (5 min): Say what is measured and what is not: filled, hollow, diamond. 4.2 % of the attention weights of GPT-2 small do nothing, and 0.3 % of Llama-3-8B's. Why fewer? Fewer groups of keys, rotary positions, no biases. -->

# %%
RealModelsExplorer()

# %% [markdown]
# * Compare two models of the same shape, one with biases and one with rotary positions: OPT-6.7B and LLaMA-7B.
# * In which model do the fewest directions do nothing, and why?
#
# <details><summary>Answers</summary>
#
# Rotary positions leave only what commutes with all rotations, $a$ directions instead of $a^2$ for each group of keys: 128 times fewer. In Falcon-7B, where 71 heads share a single key and value, it is one in ten thousand.
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
# All 26 parameters count. ReLU does not see the scale of a hidden neuron, so 3 of 13 do nothing here; and at some weights more, because a neuron that never bends hides more:

# %%
_ = torch.manual_seed(1)


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
from neuroviz.module_ledger import moved

x, double = torch.randn(5, 4, 6).double(), layer.double().eval()
{name: f"{(moved(layer, name)(x) - double(x)).abs().max().item():.0e}" for name in known.entries}

# %% [markdown]
# ## Blend yourself
#
# The panel showed heads of rank $d$ and below that blend.

# %%
from neuroviz.checks_beyond import check_blending
from neuroviz.exercise import exercise

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
