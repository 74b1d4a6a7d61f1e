# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Measure a thousand networks
#
# *For those who have a network, or a thousand, of their own. About 30 minutes. You need: Python, and the notebook [Deep dimension](04_deep_dimension.ipynb).*
#
# You will know what a measurement costs before it starts, measure whole grids of networks and look for the places where they surprise, keep the results in a file, and send the work to other processes or another machine.

# %%
import tempfile
from pathlib import Path

import neuroviz as nv
from neuroviz.beyond.sweep.figure import sweep_figure
from neuroviz.lessons.teaching import predict

# %% [markdown]
# ## Know what it costs
#
# An exact rank takes time that grows with the third power of the number of columns. Ask first:
#
# <!-- teacher (4 min): Ask how the time grows if d is doubled: there are four times as many columns, and their third power counts. -->

# %%
for d in (8, 24, 64):
    net = nv.Architecture.uniform(d=d, a=d, layers=4, attention="softmax")
    cost = nv.estimate_cost(net)
    print(f"d = {d:3}  {net.num_parameters:7,} parameters  {cost.columns:6,} columns  {cost}")

# %% [markdown]
# What would take longer than ten minutes, or more memory than there is, is refused, and the message says what to do instead:

# %%
try:
    nv.measure_dimension(nv.Architecture.uniform(300, 300, 4))
except ValueError as refusal:
    print(refusal)

# %% [markdown]
# From about 1,500 columns on the rank is taken modulo 241, where an entry fits into one byte. Modulo so small a prime the bound on the chance of bad luck is worth nothing; but a rank modulo *any* prime is a lower bound, and the symmetries give an upper one. If they meet, the number is proved, and luck does not matter.

# %%
nv.measure_dimension(nv.Architecture.uniform(d=20, a=20, layers=3, attention="softmax"))

# %% [markdown]
# `error_bound` is 0: all columns are independent. Where they are not (a layer of rank one, say) two independent points modulo a prime near 8 million decide instead.

# %% [markdown]
# ## Look at a whole grid
#
# Here are two layers; the inner width goes from 1 to 8, the head dimension from 1 to 5. The formulas of the paper do not cover all of these 40 networks. How many of them will agree with the general formula?
#
# <!-- teacher (8 min): Let everybody guess where the numbers stop growing before you run the next cell. -->

# %%
grid = [nv.Architecture((4, width, 4), (a, a)) for width in range(1, 9) for a in range(1, 6)]
agree = sum(nv.measure_dimension(arch).value == nv.general_formula(arch).value for arch in grid)
predict("40 networks. How many agree with the general formula?", agree)

# %%
sweep_figure(nv.sweep(grid, progress=False), "inner width", "a")

# %% [markdown]
# Each cell is a network, and the number in it is its dimension, measured. Where does it stop growing with the inner width, and why there?
#
# Here are two more grids: the number of tokens across; then $\delta = 4$ and the head dimension of layer 1 across. From which $t$ on does nothing change any more? And which column does not fit in?

# %%
tokens = [nv.Architecture((4, width, 4), (2, 2), t) for t in range(1, 5) for width in range(1, 6)]
sweep_figure(nv.sweep(tokens, progress=False), "tokens", "inner width")

# %%
heads = [nv.Architecture((4, 4, 4), (a1, a2)) for a1 in range(1, 6) for a2 in range(1, 6)]
sweep_figure(nv.sweep(heads, progress=False), "a1", "a2")

# %% [markdown]
# <details><summary>Answers</summary>
#
# At $\delta = 4$, the width of the input: a wider layer cannot make more of tokens that live in four dimensions. From $t = 2$ on: two tokens tell everything that more of them would (one does not). And $a_1 = 1$ makes all tokens parallel, so later layers show less of their weights than the pattern of the other columns suggests.
#
# </details>

# %% [markdown]
# ## Measure a list of your own
#
# Any list of architectures will do. What surprises is in `disagreements`; what went wrong is in `failed`, with the reason, and does not stop the rest.
#
# <!-- teacher (5 min): The bare pattern fails more often than it is right, which surprises. Ask which hypothesis each group has broken without noticing. -->

# %%
shapes = [
    nv.Architecture(widths=(d, w, d), head_dims=(a, b), tokens=t, attention=kind)
    for d in (2, 3, 4)
    for w in (1, 3, 5)
    for a in (1, 2)
    for b in (1, 3)
    for t in (1, 3)
    for kind in ("lightning", "softmax")
]
found = nv.sweep(shapes, progress=False)
found

# %% [markdown]
# Compare with Eq. 14 and Eq. 16 as they stand, without their hypotheses. In how many of the 144 networks would the bare patterns be wrong?

# %%
wrong = [r for r in found if nv.paper_formula(r.arch).value != r.value]
predict("144 networks. In how many is the bare pattern wrong?", len(wrong))

# %% [markdown]
# `found.to_pandas()` and `found.to_csv("shapes.csv")` make tables of it.

# %% [markdown]
# ## Stop, and go on
#
# With `file=` every record is written as soon as it is there, one a line. Run the same sweep again, and only what is missing is measured; so a sweep can be interrupted, by you or by a power cut.

# %%
with tempfile.TemporaryDirectory() as folder:
    kept = Path(folder, "shapes.jsonl")
    nv.sweep(shapes[:100], file=kept, progress=False)
    heard = []
    again = nv.sweep(shapes, file=kept, progress=lambda done, of, record: heard.append(record))
    print(len(heard), "measured the second time;", "the same records:", again == found)

# %% [markdown]
# ## Use more processes, or a cluster
#
# `workers=4` starts four processes and ends them afterwards. If one of them dies, its network is tried again, and then recorded as failed; nothing else is lost. On a cluster use its executor, in two lines:
#
# ```python
# from dask.distributed import Client
# nv.sweep(shapes, executor=Client("tcp://scheduler:8786").get_executor(), file="shapes.jsonl")
# ```
#
# The same seed gives the same records, wherever they are computed. (A floating-point gap may differ from one processor to another.)

# %% [markdown]
# ## Find some yourself
#
# A dimension does not tell the number of parameters. A sweep finds examples faster than thinking does.

# %%
from neuroviz.lessons.checks_deep import check_same_dimension
from neuroviz.lessons.exercise import exercise

exercise(
    "Give a list of three or more lightning networks with two layers or more that all have the same dimension, "
    "no two of them with equally many parameters.",
    check_same_dimension,
    difficulty=1,
    minutes=6,
)

# %% tags=["exercise"]
my_nets = ...
check_same_dimension(my_nets)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# Widen the inner layer beyond what comes in, and nothing is gained:
#
# ```python
# my_nets = [nv.Architecture(widths=(3, w, 3), head_dims=(2, 2)) for w in (3, 4, 5)]
# check_same_dimension(my_nets)
# ```
#
# </details>

# %% [markdown]
# ## Go beyond the paper
#
# Heads, skip connections and causal masks are part of an `Architecture`, too, and can be measured and swept. For some there is a formula of ours; for others nobody has one yet. Here one, two and three heads of lightning, with $d = 3$:

# %%
variants = [nv.Architecture.uniform(d=3, a=a, layers=2, heads=h) for a in (1, 2, 3) for h in (1, 2, 3)]
[(r.arch.head_dims[0], r.arch.heads[0], r.value, r.expected) for r in nv.sweep(variants, progress=False)]

# %% [markdown]
# **On your own.** Three heads with $a = 2$ lose more than one rescaling each, and those with $a = 1$ do not. For which $H$ and $a$ do the heads of one lightning layer with $d = d' = 4$ begin to blend into one another? Sweep, and compare with $H(\alpha + dd') - H$.
#
# <details><summary>Answer</summary>
#
# From $H > (d - a)^2 + 1$ on: for $a = 4$ with the second head, for $a = 3$ with the third. For $a = 2$ it would take six heads, more than there are outputs; there the formula ends. (`expected_dimension` gives the formula and its status: observed, not proved.)
#
# </details>
