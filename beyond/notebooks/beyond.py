# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Switch on what real transformers have
#
# *For those who use attention with heads, skips, masks and biases. About 40 minutes. You need: the notebook [Deep dimension](../../notebooks/04_deep_dimension.ipynb).*
#
# You will switch on one thing at a time and see what it costs, find two formulas yourself, and count the silent directions of nineteen published models.

# %%
import neuroviz as nv
import neuroviz_beyond as nb
from neuroviz.kit.presets import presets
from neuroviz.lessons.exercise import exercise
from neuroviz.lessons.teaching import predict

# %% jupyter={"source_hidden": true}
from neuroviz_beyond.explorables import (
    FormulaExplorer,
    RealModelsExplorer,
    VariantsExplorer,
)
from neuroviz_beyond.lessons.checks import check_blending

# %% [markdown]
# ## Add a skip connection
#
# The paper's network has one head in each layer and nothing else. Take two layers of softmax with two heads each, $d = 4$ and $a = 2$. Two families are silent: the bases inside the four heads, $4a^2 = 16$ directions, and the basis between the layers, $d^2 = 16$. Now each layer's input is added to its output.
# <!-- check: lost(uniform(4, 2, 2, attention="softmax", heads=2)) == 16 + 16 -->
#
# <!-- teacher (6 min): Most people expect a skip to add nothing, for it has no parameters. It adds d² dimensions between two layers: the tokens there now have the basis of the input. Let the room say which of the two families survives before you press the button. -->

# %% jupyter={"source_hidden": true}
skip = nb.Transformer.uniform(
    d=4, a=2, layers=2, attention="softmax", heads=2, skip=True
)
predict(
    "With the skip, how many directions are silent?",
    skip.num_parameters - nv.measure_dimension(skip).value,
    wrong={
        32: "That is without the skip. Which of the two families does the added input break?",
        0: "A skip passes by the heads. Does anything else see the basis inside one?",
    },
)

# %% [markdown]
# The ledger shows parameters, what each family takes away, and the dimension that is left, beside the network before the last switch. The dimension is an exact rank, and each bar is the rank of the directions of its family.

# %% jupyter={"source_hidden": true}
VariantsExplorer(
    state="width=4;head_dim=2;layers=2;heads=2;kind=softmax;before=heads=1",
    presets={
        "skip, softmax": "skip=yes;before=skip=no",
        "skip, lightning": "kind=lightning;heads=1;skip=yes;before=skip=no",
        "second head, lightning": "kind=lightning;width=3;heads=2;before=heads=1",
        "third head, lightning": "kind=lightning;width=3;heads=3;before=heads=2",
        "rotary positions": "rotary=yes;before=rotary=no",
    },
)

# %% [markdown]
# * The paper expects that a skip breaks the rescaling $(cA, V/c)$ of lightning. Does it?
# * Give lightning with $d = 3$, $a = 2$ a second and a third head. From which one on is more lost than one rescaling a head?
# * Most models of today turn queries and keys by their place (**rotary positions**). What is left of the bases inside the heads?
#
# <!-- teacher (8 min): Let them find the blending by hand, and then ask for a reason. Mixtures of matrices of rank a have rank a only along special directions; there are (d − a)² conditions on H numbers. -->
#
# <details><summary>Answers</summary>
#
# It does not: a skip adds $X$ and never looks at $A$ and $V$. What it breaks is the basis between the layers. At $d = 3$, $a = 2$ it is the third head: from $H > (d - a)^2 + 1$ on a head can take on something of the others and still have rank $a$. The heads **blend**. Under rotary positions a change of basis has to commute with all rotations: $a$ directions a head instead of $a^2$.
# <!-- check: "rescaling" in " ".join(nv.kernel_ledger(uniform(3, 2, 2, skip=True)).entries) -->
# <!-- check: [lost(A((3, 6), (2,), 3, heads=h)) - h * 4 - h for h in (1, 2)] == [0, 0] and lost(A((3, 6), (2,), 3, heads=3)) > 3 * 4 + 3 -->
#
# </details>

# %% [markdown]
# ## Find the formula yourself
#
# Type a formula for the dimension, as Python writes it, and confirm it (Enter). Every network of a family is measured, and the panel shows the first one at which you are wrong. Begin with one layer; then take ① and ②, which have hints.
#
# <!-- teacher (12 min): Works well in pairs, one types and one looks for the counterexample beforehand. Stop after ① and compare. -->

# %% jupyter={"source_hidden": true}
formulas = FormulaExplorer(presets={"one layer": ""})
formulas

# %% [markdown]
# A formula that fits everywhere is evidence and no proof. When you have ② or have given up, press this button. Its formula is right at eighteen of 21 networks, and fails from the seventh head on.

# %% jupyter={"source_hidden": true}
presets(
    formulas,
    {
        "a formula that almost fits": "family=heads-many;"
        "formula=min(H*(alpha(a, d) + d**2) - H*max(1, H - max(d - a, 0)**2), d**3*(d + 1)/2)",
    },
)

# %% [markdown]
# It is the answer to ②, with a cap: the functions of one layer lie in a space of $d^3(d+1)/2$ dimensions.

# %% [markdown]
# ## Count the silent directions of published models
#
# The same formulas, applied to published shapes: one bar for each model, the part of its attention weights that is silent. Nothing here was measured. The formulas are right on small networks of each kind. They do not know norm layers and MLPs; these directions are silent whatever stands around a layer, and more may be.
#
# <!-- teacher (5 min): Say that nothing in the picture is measured. 4.2 % of the attention weights of GPT-2 small are silent, and 0.3 % of Llama-3-8B's. Three reasons of about the same size: a head is 1/32 of the width instead of 1/12, rotary positions leave half, and four heads share a key. -->

# %% jupyter={"source_hidden": true}
predict(
    "In which of these models is the smallest part of the attention weights silent?",
    "Falcon-7B: 71 heads with one key and one value, rotary positions",
    choices={
        "GPT-2 small: 12 heads, biases": "Each head has two bases of its own, a² directions each: of all models here it is the largest part.",
        "LLaMA-7B: 32 heads, rotary positions": "Rotary positions leave a of a² for keys and queries. The values lose a² a head.",
        "Llama-3-8B: 32 heads, four to a key and a value, rotary positions": "A quarter of the bases. One of the others shares more.",
        "Falcon-7B: 71 heads with one key and one value, rotary positions": "A layer has one basis of keys, one of values, and no more.",
    },
    asks="silent part",
)

# %% jupyter={"source_hidden": true}
RealModelsExplorer(
    asks="silent part",
    presets={
        "all": "",
        "bases of keys, queries": "parts=keys",
        "bases of values, outputs": "parts=values",
        "biases": "parts=biases",
    },
)

# %% [markdown]
# * OPT-6.7B and LLaMA-7B have the same shape; one has biases and one rotary positions. Compare their keys and queries.
#
# <details><summary>Answers</summary>
#
# Rotary positions leave $a$ directions instead of $a^2$ for each group of keys: 128 times fewer. The bases of values and outputs stay, so about half is left, 0.79 % instead of 1.6 %. In Falcon-7B, where 71 heads share one key and one value, it is one in ten thousand.
# <!-- check: {m.name: f"{sum(part.values()):.1%}" for m, part in shown(RealModelsExplorer)[0].shares.items()}["OPT-6.7B"] == "1.6%" -->
# <!-- check: {m.name: f"{sum(part.values()):.2%}" for m, part in shown(RealModelsExplorer)[0].shares.items()}.items()
#      >= {"LLaMA-7B": "0.79%", "Falcon-7B": "0.01%", "GPT-2 small": "4.23%", "Llama-3-8B": "0.31%"}.items() -->
# <!-- check: (lambda keys: round(keys["OPT-6.7B"] / keys["LLaMA-7B"]))(
#      {m.name: sum(part.values()) for m, part in shown(RealModelsExplorer, "parts=keys")[0].shares.items()}) == 128 -->
#
# </details>

# %% [markdown]
# ## Blend yourself
#
# Two heads that turn into one another, by your hand, are in [Turn what a layer does not notice](heads.ipynb). How many blend, for a shape of your own? A network is written with `widths`, `head_dims` and `heads`:

# %%
three = nb.Transformer(widths=(3, 6), head_dims=(2,), heads=3)
three.num_parameters, nv.measure_dimension(three).value

# %% jupyter={"source_hidden": true}
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
# my_layer = nb.Transformer(widths=(4, 4), head_dims=(3,), heads=3)
# check_blending(my_layer)
# ```
#
# </details>

# %% [markdown]
# What else a layer can have (shared keys, output projections, biases, positions, an MLP), and any torch module, is measured in [The library beyond the paper](../docs/library.md).
