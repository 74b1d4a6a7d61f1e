# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Find out what softmax changes
#
# *Section 3.4 of the paper. About 30 minutes. You need: derivatives, and the notebook [Deep dimension](04_deep_dimension.ipynb).*
#
# Lightning attention is attention without the softmax. You will see what the softmax notices, in one layer and in four, and reproduce Figure 3 of the paper with exact numbers.

# %%
import neuroviz as nv

# %% jupyter={"source_hidden": true}
from neuroviz.explorables import FiberExplorer, Figure3Explorer, LedgerExplorer
from neuroviz.lessons.checks_deep import check_more_than_factors
from neuroviz.lessons.exercise import exercise
from neuroviz.lessons.teaching import predict
from neuroviz.lessons.wrong_answers import wrong_answers

# %% [markdown]
# ## Move a factor
#
# A lightning layer is $V X\,(X^\top A X)$. Multiply $A$ by 2 and divide $V$ by 2, and the function stays. This rescaling costs one dimension in every layer. With softmax,
#
# $$\varphi(X) = V X\, S, \qquad S_{ji} = \frac{e^{\,x_j^\top A\, x_i}}{\sum_k e^{\,x_k^\top A\, x_i}},$$
#
# so each column of $S$ has positive entries with sum 1: the shares of the tokens. What does the same change do now? One lightning layer with $d = d' = 3$ and $a = 2$ has 16 dimensions.
# <!-- check: dim((3, 3), (2,), 3) == 16 -->
#
# <!-- teacher (4 min): 17 is the answer, one more than lightning. Who says 16 has let a factor move; ask what doubling A does to an attention weight. -->

# %% jupyter={"source_hidden": true}
one_layer = nv.Architecture((3, 3), (2,), tokens=3, attention="softmax")
predict(
    "d = d′ = 3, a = 2, one softmax layer. How many dimensions?",
    nv.measure_dimension(one_layer),
    wrong=wrong_answers(one_layer),
    asks="softmax layer",
)

# %% [markdown]
# Here is the panel of [Single-layer fibers](02_single_layer_fibers.ipynb), with softmax. Drag the point along the curve on which lightning stood still. What do the outputs do?

# %% jupyter={"source_hidden": true}
buttons = {
    "softmax": "along=1",
    "softmax, one token": "tokens=1;walk=a-alone;along=1",
}
FiberExplorer(
    state="kind=softmax;along=0",
    only=["along", "off"],
    presets=buttons,
    asks="softmax layer",
)

# %% [markdown]
# <details><summary>What counts, and why?</summary>
#
# The outputs move: a doubled $A$ makes the attention sharper, and no $V$ can undo that. In the chart the direction of the curve has slope 1 like every other. To see why, let all tokens be equal to $x$. The output is then $Vx$, which shows all of $V$,
# scale included. With two different tokens, output $i$ lies between $Vx_1$ and $Vx_2$ and shows the shares $S_{1i}, S_{2i}$. Their quotient is $e^{(x_1 - x_2)^\top A\, x_i}$, and its logarithm shows $A$. So the number is $\alpha(a, d) + dd' = 17$: only the basis inside the head is lost.
# <!-- check: "have moved" in shown(FiberExplorer, "kind=softmax;along=1")[1] and shown(FiberExplorer, "kind=softmax;along=1")[0].kernel == 0 -->
# <!-- check: dim((3, 3), (2,), 3, "softmax") == 17 -->
#
# With **softmax, one token**, the only attention weight is 1. So $\varphi(x) = Vx$, and $A$ is invisible altogether.
# <!-- check: "V is determined, A is free" in shown(FiberExplorer, "kind=softmax;" + buttons["softmax, one token"])[1] -->
#
# **Theorem 3.9** of the paper: for two tokens or more, the function of a softmax layer with $V \ne 0$ determines $A$ and $V$. ([How to read them off](../docs/mathematics/softmax.md#theorem-39-one-softmax-layer).)
# <!-- check: all(dim((d, e), (a,), 2, "softmax") == a * (2 * d - a) + d * e for d in (2, 3, 4) for e in (1, 3) for a in range(1, d + 1)) -->
#
# </details>

# %% [markdown]
# ## Go deep
#
# The silent directions inside the heads and between the layers are those of [lightning](04_deep_dimension.ipynb). So the function depends on the **virtual weights** $L = V_l \cdots V_1$ and $M_i = U_{i-1}^\top A_i\, U_{i-1}$ only, with softmax too.
#
# <!-- teacher (6 min): Three numbers come: 0, 1 and 4. One factor is lost in each lightning layer and none with softmax. -->

# %% jupyter={"source_hidden": true}
deep = [nv.Architecture.uniform(4, 2, 4, 3, kind) for kind in ("softmax", "lightning")]
predict(
    "Four layers. How many dimensions more than lightning does softmax have?",
    nv.measure_dimension(deep[0]).value - nv.measure_dimension(deep[1]).value,
    wrong={
        0: "In every lightning layer a factor can move from A to V. Can it with softmax?",
        1: "Each lightning layer loses a factor of its own.",
    },
    asks="softmax network",
)

# %% jupyter={"source_hidden": true}
LedgerExplorer(
    state="layers=4",
    only=["kind"],
    presets={"lightning": "kind=lightning", "softmax": "kind=softmax"},
    asks="softmax network",
)

# %% [markdown]
# Press **lightning** and **softmax**, and each time **▶** beside *rescalings*. Which number changes, and what does the output do?
#
# <details><summary>Answer</summary>
#
# Lightning loses 4 directions to rescalings, one in each layer, and the output stands still on them. With softmax it moves, and none is lost. All other silent directions are the same.
# <!-- check: measured(uniform(4, 2, 4, 3, "softmax")) - measured(uniform(4, 2, 4)) == 4 -->
#
# </details>
#
# **Conjecture 3.10** of the paper says that with softmax the virtual weights are all: almost every function has one choice of them, and in a bottleneck (inner widths $\delta \le d_0, d_l$)
#
# $$\dim = \delta\,(d_0 + d_l - \delta) + \sum_i \alpha(a_i, d_{i-1}). \tag{Eq. 16}$$
#
# □ **Status: proved here** for softmax ([Theorem A](../docs/mathematics/softmax.md) and [Theorem B](../beyond/docs/softmax_uniqueness.md), not peer-reviewed), and independently by P. V. Konda (2026), who has one choice of virtual weights for every real-analytic function in the place of $\exp$; ◇ **conjectured** for those that are not analytic.

# %% [markdown]
# ## Reproduce Figure 3
#
# The paper supports the conjecture by eight measurements in floating point (float32): two layers, three tokens, $a = 2$, and all widths $\delta = 3, \dots, 10$. Here are the same networks. Filled marks are **exact ranks**, hollow marks are Eq. 16. The two come from different code.
#
# <!-- teacher (7 min): Say what is claimed: eight exact numbers, and for each a proof. The float32 marks show how a tolerance misleads. -->

# %% jupyter={"source_hidden": true}
Figure3Explorer(
    presets={
        "softmax": "",
        "with float32 (up to a minute)": "peer=yes",
    },
)

# %% [markdown]
# One chart has the dimensions. The other has the gap in float64 between singular values that count and rounding errors: above the dashed line it decides.
#
# How can a rank be exact where there are exponentials? What holds for all tokens goes on to hold if each $e^y$ is replaced by any number, as if it were a variable of its own.
# So the computer draws numbers modulo a prime for the exponentials, too, and keeps $(e^y)' = e^y\, y'$. [The end](#Understand-why-it-can-be-exact) of this notebook shows why.
#
# Where does float32 miss, and by how much?
#
# <details><summary>Answer</summary>
#
# Float32 finds 142 for 145 and 169 for 172. The reason is not rounding: the last true singular values lie far above it. But the usual tolerance lies higher still, and what is below it is counted as 0. A tolerance is not a gap.
# <!-- check: [p.float32.value for p in shown(Figure3Explorer, "peer=yes")[0].points[-2:]] == [142, 169] -->
#
# </details>

# %% [markdown]
# ## Build one yourself
#
# Usually softmax has one dimension more for each layer. Not always. <!-- lab --> Below the verdict stand your sizes with lightning, added up.<!-- end of lab -->

# %% jupyter={"source_hidden": true}
exercise(
    "Give sizes, as an nv.Architecture with two tokens or more and l ≥ 2 layers, for which softmax has more than "
    "l dimensions more than lightning.",
    check_more_than_factors,
    difficulty=2,
    minutes=5,
)

# %% tags=["exercise"]
# nv.Architecture(widths=(d0, d1, d2), head_dims=(a1, a2), tokens=t)
my_sizes = ...
check_more_than_factors(my_sizes)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# Let the tokens of lightning become parallel: a first layer of rank one, and later ones with something to lose. A softmax of logits of rank one is no matrix of rank one, and its tokens stay apart.
#
# ```python
# my_sizes = nv.Architecture(widths=(3, 3, 3, 3), head_dims=(1, 2, 2))
# check_more_than_factors(my_sizes)
# ```
#
# </details>

# %% [markdown]
# For more: [Proofs](../beyond/notebooks/proofs.ipynb) has both theorems and a search that tries to refute them; [Beyond](../beyond/notebooks/beyond.ipynb) measures attention as it is used, [Transformers](../beyond/notebooks/transformers.ipynb) finds all weights with one function when there are several heads, and [Memorisation](../beyond/notebooks/memorisation.ipynb) asks what a dimension is good for.

# %% [markdown]
# ## Further
#
# The course is complete without these parts. The first two are about why Theorem A is true, and why its numbers are exact.

# %% [markdown]
# ### Let two tokens meet
#
# Two tokens are enough to see all weights. (From here on $P$ and $Q$ are numbers; no queries come up.) A column of the attention matrix then has two entries with sum 1, so one number a column is enough:
#
# $$S = \begin{pmatrix} 1 - \mu & \nu \\ \mu & 1 - \nu \end{pmatrix}, \qquad \mu = \frac{P}{1 + P}, \quad \nu = \frac{Q}{Q + 1},$$
#
# with two exponentials, $P = e^{\,(x_2 - x_1)^\top M x_1}$ and $Q = e^{\,(x_1 - x_2)^\top M x_2}$. The new tokens $x_1 - \mu\,(x_1 - x_2)$ and $x_2 + \nu\,(x_1 - x_2)$ lie between the old ones. Their difference is $x_1 - x_2$ times $1 - \mu - \nu$.
# <!-- tested: test_two_tokens.py::test_the_tokens_stay_on_their_line_and_the_determinant_scales_their_difference -->
#
# <!-- teacher (6 min): Everything hangs on 1 − μ − ν. Let the room find the settings, frozen and tokens that meet, before you name them. -->

# %% jupyter={"source_hidden": true}
predict(
    "Two tokens meet in a layer if the product PQ is … (a number)",
    1,
    wrong={
        0: "Then one token does not move. Set 1 − μ − ν = 0 and multiply by both denominators.",
        -1: "P and Q are exponentials, and their product is positive.",
    },
    asks="tokens that meet",
)

# %% [markdown]
# In the picture two tokens run down through the layers (▶). Real tokens decide their own $P$ and $Q$. Decide instead: drag a token, or the dot $(\mu, \nu)$ of a layer; press a layer to freeze it. The buttons set both layers.

# %% jupyter={"source_hidden": true}
from neuroviz.explorables import ProofExplorer

ProofExplorer(
    presets={
        "as it is": "",
        "layer 1 frozen": "experiment=own;mode_1=frozen",
        "tokens meet in layer 1": "experiment=own;mode_1=collapsed",
        "M₁ antisymmetric": "symmetric=0",
    },
    asks="tokens that meet",
)

# %% [markdown]
# * **Frozen** means $P = Q = 0$. What does a frozen layer do to the tokens?
# * The tokens meet in layer 1. What can later layers show of their weights?
# * With an antisymmetric $M_1$ two tokens always meet. Why?
#
# <details><summary>Answers</summary>
#
# Frozen, a layer does nothing: $\mu = \nu = 0$. Equal tokens stay equal, all differences of later logits are 0, and the 4 entries of $M_2$ do not show. Tokens meet for $PQ = 1$, and $\log PQ = -(x_1 - x_2)^\top M\,(x_1 - x_2)$ sees only the symmetric part of $M$.
# <!-- check: shown(ProofExplorer, "symmetric=0")[0].everything.kernel == 4 and shown(ProofExplorer)[0].everything.kernel == 0 -->
# <!-- tested: test_two_tokens.py::test_the_two_logits_sum_to_a_form_that_sees_the_symmetric_part_only -->
#
# </details>
#
# **Theorem A** (ours, not peer-reviewed) follows. Let $L \ne 0$ and no $M_i$ be antisymmetric, and suppose that a direction $(\dot L, \dot M_1, \dots, \dot M_l)$ is silent. *Freeze all layers*: what is left is $\dot L X = 0$, so $\dot L = 0$. *Free layer $i$ alone*: the other layers do nothing, and the outputs stand still only if $\dot M_i = 0$. So no direction is silent, and the dimension is that of the virtual weights.

# %% [markdown]
# ### Understand why it can be exact
#
# One step of Theorem A needs care. No real tokens have $P = 0$, and an exact rank is counted in whole numbers modulo a prime. What is $e^{\,y}$ there?
#
# Take the smallest layer: $d = 1$ and $M = kq$, so $y = (x_2 - x_1)\,kq\,x_1$ and $P = e^{\,y}$. Turn $k$ up and $q$ down, and $M$ stays: a silent direction. So in the table of derivatives of both new tokens by $k$ and by $q$,
#
# $$\begin{pmatrix} a & b \\ c & d \end{pmatrix}, \qquad a\,d = b\,c,$$
#
# one row is a multiple of the other: the rank is 1, not 2. (Here $a, b, c, d$ are these entries; the widths are all 1.)
#
# <!-- teacher (10 min): Collect the guesses. Let them drag through 0 before you write the products out in letters. Then the other claim: what did it use that this one did not? -->

# %% jupyter={"source_hidden": true}
predict(
    "You drag P off the curve P = eʸ, to a number that these tokens do not have. Does a·d = b·c still hold?",
    "yes, for every number P",
    choices={
        "yes, for every number P": "Both products are made of the same letters, by multiplication. They do not ask where P comes from.",
        "for positive P only": "A positive P is the exponential of another y. But look at what the products are made of.",
        "no, on the curve only": "Then the equation would have to use that P is eʸ. Look at what the products are made of.",
    },
    asks="P is let go",
)

# %% [markdown]
# Drag the token $x_2$, and the dot moves along the curve. Then drag the dot off it, through 0, and below. ▶ does all of it, and goes on to whole numbers modulo 7.

# %% jupyter={"source_hidden": true}
from neuroviz.explorables import NewVariableExplorer

NewVariableExplorer(
    presets={
        "a direction is silent": "",
        "modulo 7": "stage=modulo;P=3",
        "the tokens meet": "statement=meet",
    },
    asks="P is let go",
)

# %% [markdown]
# * Press **the tokens meet**: with an antisymmetric $M$ they do, as $PQ = 1$. Let go of $P$. What is different?
#
# <details><summary>Answer</summary>
#
# This claim breaks, and modulo 7 the rank is wrong. It is true only since $Q = e^{-y}$: the second exponent is the first one times $-1$. The first claim never used what the exponents are.
# <!-- check: all(shown(NewVariableExplorer, f"stage={stage};P={P}")[0].table.rank == 1 for stage in ("free", "modulo") for P in (-2, 0, 3)) -->
# <!-- check: shown(NewVariableExplorer, "statement=meet")[0].table.rank == 1 and all(shown(NewVariableExplorer, f"statement=meet;stage={stage};P=3")[0].table.rank == 2 for stage in ("free", "modulo")) -->
#
# </details>
#
# **Ax's theorem** (J. Ax, 1971; [in full](../docs/mathematics/softmax.md)). Let $y_1, \dots, y_k$ be polynomials, and *independent*: no combination of them with rational coefficients, not all 0, is constant. Then $e^{\,y_1}, \dots, e^{\,y_k}$ satisfy no polynomial equation over the variables: they behave like $k$ new variables. Another case of it covers later layers, whose $y$ contain exponentials of earlier ones.
#
# So an equation that holds for all tokens holds for *any* numbers in the places of $P$ and $Q$, also for 0. A rank asks only which minors are 0. We draw a random element of the field for each exponential, as for each weight, keep the rule $(e^{\,y})' = e^{\,y}\, y'$, and count. A minor that is always 0 is 0 modulo the prime too, and another one rarely. Where exponents depend on each other, as for an antisymmetric $M$, the count keeps [their relations](../docs/mathematics/free_exponentials.md).

# %% [markdown]
# ### In practice
#
# * To compare two trained softmax networks of this kind, compare $L$ and the $M_i$ directly: there is no factor to fix.
# * A temperature is a factor of $A$. Learning it adds no dimension.
# * A low dimension counted in floating point warns about the spectrum first. Look at the gap, or count exactly.
#
# **On your own.** For $d = 1$ all matrices are numbers. How many dimensions does a softmax network of width 1 with $l$ layers and two tokens have? And lightning?
#
# <details><summary>Answer</summary>
#
# Softmax $l + 1$: the numbers $L, M_1, \dots, M_l$. Lightning 1: its function is one number times a function without weights.
# <!-- check: all((measured(uniform(1, 1, l, 2, "softmax")), measured(uniform(1, 1, l, 2))) == (l + 1, 1) for l in (1, 2, 3)) -->
#
# </details>
