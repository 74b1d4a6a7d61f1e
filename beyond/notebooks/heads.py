# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Turn what a layer does not notice
#
# *Theorems [N](../docs/lightning_layers_add.md) and [M](../docs/lightning_heads.md). About 25 minutes. You need: complex numbers, and the notebook [Single-layer fibers](../../notebooks/02_single_layer_fibers.ipynb).*
#
# You will turn a token round a circle and see a layer miss it at some places, turn two heads into one another while the function stands still, and count how many heads can do that.

# %%
import neuroviz as nv
import neuroviz_beyond as nb

# %% jupyter={"source_hidden": true}
from neuroviz.lessons.exercise import exercise
from neuroviz.lessons.teaching import predict
from neuroviz_beyond.explorables import BlendingExplorer
from neuroviz_beyond.lessons.checks import check_mixtures

# %% [markdown]
# ## Turn a token
#
# Between two lightning layers a basis can be changed, and Theorem N says that this is all that layers hide from each other. Its proof lets the first layer go to a very special one,
#
# $$f^0(X) = X X^\top P X, \qquad P = \mathrm{diag}(1, 1, 0, \dots, 0),$$
#
# and asks: which tokens does it mistake for others? Take two tokens with $x_1^\top P x_2 = 0$, and multiply the first one by a complex number $\omega$ with $|\omega| = 1$.
#
# <!-- teacher (6 min): Let them write down both columns of the output before anybody drags. The usual slip is to count two factors of ω in the first column: a layer uses a token three times, as query, key and value. -->

# %% jupyter={"source_hidden": true}
predict(
    "At how many places of the circle is the output what it was at ω = 1, this one counted?",
    "3",
    choices={
        "1": "Count how often the first token stands in the first column of the output.",
        "2": "The signs ω = ±1 would do for an even power. Which power of ω is it?",
        "3": "The first column gets ω³, and the second one gets nothing.",
        "all": "The second column stands still. Does the first one?",
    },
    asks="places of the circle",
)

# %% [markdown]
# Drag $\omega$, or press ▶. Hollow circles are the entries of the output at $\omega = 1$.

# %% jupyter={"source_hidden": true}
BlendingExplorer(
    asks="places of the circle",
    presets={
        "orthogonal tokens": "",
        "not orthogonal": "slant=0.3;angle=120",
    },
)

# %% [markdown]
# * How fast does the first column turn, and why?
# * Make $x_1^\top P x_2$ something else than 0. Which places are left?
#
# <details><summary>Answers</summary>
#
# With $m_j = x_j^\top P x_j$ the scores are $X^\top P X = \mathrm{diag}(m_1, m_2)$, and $\omega x_1$ in the place of $x_1$ makes this $\mathrm{diag}(\omega^2 m_1, m_2)$. So the columns of the output are $\omega^3 m_1 x_1$ and $m_2 x_2$: the first one turns three times as fast, the second one stands still. Where $\omega^3 = 1$, the layers behind see no difference. **Over the complex numbers the layer is not one-to-one.** What these layers make up for has to be the same at both inputs, and only a change of basis is.
# <!-- check: [shown(BlendingExplorer, f"angle={a}")[0].is_same for a in (0, 119, 120, 121, 240, 360)] == [True, False, True, False, True, True] -->
#
# With other tokens the columns are $\omega^3 m_1 x_1 + \omega s\,x_2$ and $\omega^2 s\,x_1 + m_2 x_2$, where $s = x_1^\top P x_2$. Only $\omega = 1$ is left. At the two other cube roots of 1 the output comes nearest, and the less $s$ is, the nearer.
# <!-- check: shown(BlendingExplorer, "slant=0.3")[0].returns == [0] -->
# <!-- check: (lambda far: far[0] > far[1] > far[2] > 0)([shown(BlendingExplorer, f"slant={s};angle=120")[0].distance for s in (0.5, 0.3, 0.1)]) -->
#
# </details>

# %% [markdown]
# ## Turn two heads
#
# A layer with $H$ heads is $X \mapsto \sum_h V_h X X^\top A_h X$. Take an invertible $H \times H$ matrix $g$, and new heads
#
# $$A_h' = \sum_k g_{hk} A_k, \qquad (V_1', \dots, V_H') = (V_1, \dots, V_H)\,g^{-1}.$$
#
# The function is the same for every $g$. But the network has heads of dimension $a$: each $A_h'$ has to have rank $a$ or less. Let $g$ turn two heads, $A_1' = \cos\varphi\,A_1 + \sin\varphi\,A_2$ and $A_2' = -\sin\varphi\,A_1 + \cos\varphi\,A_2$.
#
# <!-- teacher (6 min): Ask for the rank of a sum of two matrices of rank a. Then let them find the places where nothing is added. -->

# %% jupyter={"source_hidden": true}
predict(
    "Width d = 3, a = 2. At how many places of the circle have both heads rank 2, the start counted?",
    "4",
    choices={
        "1": "At 90° the heads have changed places, up to a sign.",
        "2": "At 180° both have the other sign. And halfway there?",
        "4": "At quarters of a turn the heads change places and signs, and nothing else.",
        "all": "A sum of two matrices of rank 2 has rank 3, if nothing prevents it.",
    },
    asks="heads of rank a",
)

# %% jupyter={"source_hidden": true}
BlendingExplorer(
    state="view=heads;head_dim=2",
    asks="heads of rank a",
    presets={
        "a = 2": "",
        "a = 3": "head_dim=3",
        "a = 2, three heads": "heads=3",
        "a = 2, the same queries": "shared=yes",
    },
)

# %% [markdown]
# * Give the heads $a = d$. What is left of the condition?
# * Let the values stay behind. Which places are left?
# * One part counts the numbers $g_{hk}$ that stay free near $g = 1$. From how many heads on do some blend at $a = d - 1$?
#
# <details><summary>Answers</summary>
#
# Both heads have rank 2 at 0°, 90°, 180° and 270°, where they change places and signs. Heads of full rank blend with all of $\mathrm{GL}_H$: that is $H^2$ silent directions. For $a < d$ a direction $\dot A_h = \sum_k g_{hk} A_k$ keeps the rank if $U_h^\top \dot A_h W_h = 0$, where $U_h$ and $W_h$ span the kernels of $A_h$. These are $(d - a)^2$ equations for each row of $g$, and $g_{hh}$ does not occur in them. So $\max(1, H - (d - a)^2)$ numbers a row stay free (**Theorem M**, for $H \le d$ and at almost all weights): at $a = d - 1$ heads blend from the third one on. With the same queries in both heads $W_1 = W_2$, the equations hold by themselves, and two heads blend at these special weights.
# <!-- check: [(lambda c: (c.formula, c.measured))(shown(BlendingExplorer, f"view=heads;{s}")[0].count) for s in ("head_dim=3", "head_dim=2", "head_dim=2;heads=3")] == [(4, 4), (2, 2), (6, 6)] -->
# <!-- check: [a for a, ranks in enumerate(shown(BlendingExplorer, "view=heads;head_dim=2")[0].all_ranks) if max(ranks) <= 2] == [0, 90, 180, 270, 360] -->
# <!-- check: {max(ranks) for ranks in shown(BlendingExplorer, "view=heads;head_dim=2;shared=yes")[0].all_ranks} == {2} -->
#
# Without $V' = V g^{-1}$ the outputs are what they were at the start only, and at 360°.
# <!-- check: [a for a in range(0, 361, 15) if shown(BlendingExplorer, f"view=heads;follow=no;turn={a}")[0].is_same] == [0, 360] -->
#
# </details>

# %% [markdown]
# The same count for a network of your own: the parameters of all $A_h$ and $V_h$, $H(\alpha(a, d) + d^2)$ of them, less the exact rank. With three heads, $d = 3$ and $a = 2$:

# %%
three = nb.Transformer(widths=(3, 3), head_dims=(2,), heads=3)
alpha = 2 * (2 * 3 - 2)
3 * (alpha + 3**2) - nv.measure_dimension(three).value

# %% jupyter={"source_hidden": true}
exercise(
    "Give two 3 × 3 matrices of rank 1 with whole numbers, A₁ and A₂, no multiples of one another, "
    "so that every mixture c A₁ + s A₂ has rank 1 or less.",
    check_mixtures,
    difficulty=2,
    minutes=6,
)

# %% tags=["exercise"]
first_head = ...
second_head = ...
check_mixtures(first_head, second_head)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# Both have the same queries, or both the same keys. With $A_h = k_h q^\top$ the mixture is $(c k_1 + s k_2)\,q^\top$:
#
# ```python
# first_head = [[1, 2, 3], [0, 0, 0], [0, 0, 0]]
# second_head = [[0, 0, 0], [1, 2, 3], [0, 0, 0]]
# check_mixtures(first_head, second_head)
# ```
#
# </details>

# %% [markdown]
# Both proofs are in [the mathematics](../../docs/mathematics/index.md), ours and not peer-reviewed. Next: [what else real transformers have](beyond.ipynb).
