"""What notebooks/00_start.py says in words: see tests/test_claims.py."""

import re
from functools import cache

import numpy as np

import neuroviz as nv
from claims.common import OVER, A, lost, random_networks, uniform
from neuroviz import explorables
from neuroviz.engine.field import DEFAULT_PRIME, Reals
from neuroviz.engine.formulas import variant_formula
from neuroviz.engine.network import Layer, flatten, forward, random_tokens, random_weights, unflatten
from neuroviz.engine.random_rank import rank_at_a_point
from neuroviz.engine.symmetry import change_head_basis
from neuroviz.explorables import DimensionExplorer, FactorizationExplorer, FormulaExplorer
from neuroviz.factorization.determinantal import measure_product
from neuroviz.kit import theme
from neuroviz.kit.words import grouped
from neuroviz.lessons.wrong_answers import wrong_answers
from neuroviz.softmax.known import what_is_known
from tools.editions import read
from tools.notebooks import FOLDER

START = uniform(4, 2, 2)


def layer_by_hand(d, a):
    """Whether a layer of random weights is V X (Xᵀ A X), in whole numbers modulo p."""
    arch, rng = A((d, d), (a,)), np.random.default_rng(d)
    weights, X = random_weights(OVER, arch, rng), random_tokens(OVER, arch, 1, rng)
    ((Q, K, V),), (x,) = weights, X
    head = OVER.matmul(K.T, Q)
    expected = OVER.matmul(OVER.matmul(V, x), OVER.matmul(x.T, OVER.matmul(head, x)))
    return np.array_equal(forward(OVER, "lightning", weights, X)[0], expected)


def hints():
    return {mistake.value: mistake.hint for mistake in wrong_answers(START)}


def loss_is_that_of_its_parts(softmax=False):
    """a² for each head, 1 for each lightning layer, d² for each place between two layers."""
    return all(
        lost(uniform(d, a, n, attention="softmax" if softmax else "lightning"))
        == n * (a * a + (not softmax)) + (n - 1) * d * d
        for d in (2, 3, 4)
        for a in range(2, d + 1)
        for n in (1, 2, 3)
    )


def three_ways():
    """Exact, floating point and formula, for some networks."""
    networks = [START, A((3, 3, 3), (1, 2)), A((2, 4, 2), (2, 2)), uniform(3, 2, 2, attention="softmax")]
    for arch in networks:
        exact, read_off = nv.measure_dimension(arch), nv.measure_dimension(arch, method="float")
        yield arch, exact, read_off, nv.expected_dimension(arch)


@cache
def start_panel():
    return DimensionExplorer()


def trace(name):
    (found,) = [one for one in start_panel().figure.data if one.name == name]
    return found


def dots_and_rings():
    kept = trace("singular values of the weights that move the function")
    noise = trace("singular values that are rounding noise")
    return (
        (len(kept.y), len(noise.y)) == (38, 26)
        and min(kept.y) > 1e6 * max(noise.y)
        and kept.marker.color == theme.color("measured")
        and noise.marker.color == theme.color("ground") != noise.marker.line.color
    )


def line_and_triangle_meet_where_the_dots_end():
    line, triangle = trace("exact rank (measured)"), trace("dimension by the formula")
    kept = trace("singular values of the weights that move the function")
    red, green, blue = (int(line.line.color[k : k + 2], 16) for k in (1, 3, 5))
    return (
        blue > max(red, green)
        and line.x[0] == triangle.x[0] == max(kept.x) + 0.5
        and "triangle" in triangle.marker.symbol
    )


def right_hand_side():
    measured, ranks = trace("measured"), trace("exact rank by inputs (measured)")
    return (
        list(measured.y) == [nv.measure_dimension(uniform(w, 2, 2)).value for w in measured.x]
        and len(measured.x) > 4
        and start_panel().figure.layout.xaxis2.domain[0] > 0.5
        and max(ranks.y) == 38 == ranks.y[-1]
        and ranks.y[0] < 38
    )


def formula_beside_the_true_number():
    """For a = (1, 2) the formula of the paper says 20; the panel marks it and shows 18."""
    arch = A((3, 3, 3), (1, 2))
    panel = DimensionExplorer(state="width=3;head_dims=1,2")
    name = "the paper's formula outside its hypotheses, for this architecture"
    (cross,) = [one for one in panel.figure.data if one.name == name]
    said = panel.description
    panel.close()
    return (
        (nv.paper_formula(arch).status, nv.paper_formula(arch).value) == ("outside hypotheses", 20)
        and nv.measure_dimension(arch).value == 18
        and cross.x[0] == 20.5
        and "18 dimensions" in said
    )


def dimension_by_tokens():
    """Dimensions for one to five tokens, lightning and softmax."""
    return [
        [nv.measure_dimension(uniform(4, 2, 2, tokens=t, attention=kind)).value for t in range(1, 6)]
        for kind in ("lightning", "softmax")
    ]


def first_controls_matter():
    """Of the five controls that are seen at first all but the tokens change the dimension."""
    changed = {
        "width": uniform(5, 2, 2),
        "head_dim": uniform(4, 3, 2),
        "layers": uniform(4, 2, 3),
        "kind": uniform(4, 2, 2, attention="softmax"),
    }
    panel = DimensionExplorer()
    boxes = [box for box in panel.children if panel.controls["width"] in getattr(box, "children", ())]
    seen = [name for name, control in panel.controls.items() if control in boxes[0].children]
    panel.close()
    return set(seen) == {*changed, "tokens"} and all(
        nv.measure_dimension(arch).value != 38 for arch in changed.values()
    )


def calls_look_differently():
    found = [
        (arch, exact, read_off)
        for arch, exact, read_off, _ in three_ways()
        if exact.num_columns < arch.num_parameters
    ]
    return len(found) == 4 and all(
        read_off.num_columns == arch.num_parameters
        and exact.num_columns < exact.num_inputs <= exact.num_columns + 5
        and read_off.num_inputs < exact.num_inputs
        for arch, exact, read_off in found
    )


def rank_on(inputs, all_outputs):
    """The exact rank of the first network, from one combination of outputs an input or from all."""
    rng = np.random.default_rng(0)
    return rank_at_a_point(OVER, START, "slice", inputs, all_outputs, rng)


def rows_of_buttons():
    """Notebooks with rows of buttons; and whether this one has none."""
    with_rows = [path.stem for path in sorted(FOLDER.glob("*.py")) if "presets(" in path.read_text("utf-8")]
    return len(with_rows) > 5 and "00_start" not in with_rows


def links():
    text = "\n".join(cell.source for cell in read(FOLDER / "00_start.py").cells)
    files = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    return [FOLDER / file for file in files]


def every_other_notebook_is_in_the_table():
    named = {path.stem for path in links() if path.suffix == ".ipynb"}
    return named == {path.stem for path in FOLDER.glob("*.py")} - {"00_start"} and all(
        path.exists() for path in links()
    )


def a_rank_has_no_rounding():
    """Every seed gives 38; the spectrum has rounding errors in the place of zeros."""
    values = {nv.measure_dimension(START, seed=seed).value for seed in range(4)}
    spectrum = nv.measure_dimension(START, method="float").singular_values
    return values == {38} and 0 < spectrum[38] < 1e-8 * spectrum[37]


def notation():
    rng = np.random.default_rng(0)
    arch = A((4, 3, 5), (2, 1))
    weights = random_weights(Reals(), arch, rng)
    shapes = [[matrix.shape for matrix in layer] for layer in weights]
    tokens = random_tokens(Reals(), A((4, 4), (2,), tokens=3), 1, rng)
    return (
        shapes == [[(2, 4), (2, 4), (3, 4)], [(1, 3), (1, 3), (5, 3)]]
        and tokens.shape == (1, 4, 3)
        and [np.linalg.matrix_rank(layer.K.T @ layer.Q, rtol=1e-9) for layer in weights] == [2, 1]
        and (arch.widths, arch.head_dims, arch.num_layers) == ((4, 3, 5), (2, 1), 2)
    )


def outputs_after(change):
    """Whether the outputs of the first network stay, on some inputs, when its weights are changed so."""
    rng = np.random.default_rng(1)
    weights, X = random_weights(Reals(), START, rng), random_tokens(Reals(), START, 9, rng)
    return np.allclose(*(forward(Reals(), "lightning", w, X) for w in (weights, change(weights))))


def nudged(weights):
    rng = np.random.default_rng(2)
    return tuple(Layer(*(M + 0.1 * rng.standard_normal(M.shape) for M in layer)) for layer in weights)


def with_another_head(weights):
    return change_head_basis(Reals(), weights, 1, np.array([[2.0, 1.0], [0.0, 3.0]]))


def handed_over_in_another_basis(weights):
    """The tokens between the layers in another basis: V of the first, and all of the second."""
    C = np.random.default_rng(3).standard_normal((4, 4))
    (Q1, K1, V1), second = weights
    return Layer(Q1, K1, C @ V1), Layer(*(M @ np.linalg.inv(C) for M in second))


def responses():
    """How many independent ones there are, when each of the 64 weights is nudged in turn."""
    rng, h = np.random.default_rng(0), 1e-5
    weights, X = random_weights(Reals(), START, rng), random_tokens(Reals(), START, 12, rng)

    def watched(numbers):
        return forward(Reals(), "lightning", unflatten(START, numbers), X).ravel()

    here = flatten(weights)
    ways = [(watched(here + h * e) - watched(here - h * e)) / (2 * h) for e in np.eye(len(here))]
    sigma = np.linalg.svd(np.array(ways), compute_uv=False)
    return int((sigma > 1e-7 * sigma[0]).sum())


def drawn_side_by_side(state):
    """The network of a state, and what its picture shows: the line, the dots, the triangle."""
    panel = DimensionExplorer(state=state)
    assert panel.wait(60)
    found = {one.name: one for one in panel.figure.data}
    arch = panel._shown.arch
    panel.close()
    return (
        arch,
        found["exact rank (measured)"].x[0] - 0.5,
        len(found["singular values of the weights that move the function"].y),
        found["dimension by the formula"].x[0] - 0.5,
    )


def three_ways_in_one_picture():
    states = ("", "kind=softmax", "head_dims=1,2;width=3", "tokens=1", "layers=1;head_dim=5")
    small = [drawn_side_by_side(state) for state in states]
    arch, line, dots, triangle = drawn_side_by_side("width=6;head_dim=12;layers=6")
    return (
        all(
            [line, dots, triangle]
            == [nv.measure_dimension(net).value, nv.measure_dimension(net, method="float").value]
            + [nv.expected_dimension(net).value]
            for net, line, dots, triangle in small
        )
        and arch.num_parameters > 900
        and (dots, line) == (0, triangle)
    )


def rows_of_badges():
    """The signs and the words in the table, in its order, and those that a badge can have."""
    text = "\n".join(cell.source for cell in read(FOLDER / "00_start.py").cells)
    rows = re.findall(r"^\| (\W) ([a-z ]+) \| .+ \|$", text, flags=re.MULTILINE)
    return rows, {theme._STATUS[status][::2] for status in theme._STATUS}


def the_table_has_all_badges():
    rows, known = rows_of_badges()
    return len(rows) == 9 and set(rows) == known


def badges_of(panel):
    return re.findall(r"<span[^>]*nv-badge[^>]*>([^<]+)<", panel._title_html.value)


@cache
def badges_of_all_panels():
    """Of every panel as it opens (flows and searches: small ones)."""
    small = {"FlowExplorer": "runs=2;time=10", "SearchExplorer": "starts=10"}
    found = {}
    for name in explorables.__all__:
        if name.endswith("Explorer"):
            panel = getattr(explorables, name)(state=small.get(name, ""))
            assert panel.wait(60)
            found[name] = badges_of(panel)
            panel.close()
    return found


def panels_with(sign):
    found = ((name, [b for b in all_ if b.startswith(sign)]) for name, all_ in badges_of_all_panels().items())
    return {name: badges for name, badges in found if badges}


def exact_badges_show_their_prime():
    """All but one: columns of outputs that agree or not."""
    shown = panels_with("● exact")
    without = {name for name, (badge, *_) in shown.items() if f"mod {grouped(DEFAULT_PRIME)}" not in badge}
    return len(shown) > 15 and without == {"SingletonExplorer"}


def proved_badges_name_the_paper():
    """An item with a number, but for the quantities that a flow conserves: one line shows that."""
    item = re.compile(r"(Thm\.|Theorem|Lemma|Cor\.|Corollary|Prop\.|Eq\.) (A\.)?\d")
    shown = panels_with("■ proved")
    named = {name for name, badges in shown.items() if all(item.search(badge) for badge in badges)}
    return len(shown) > 8 and set(shown) - named == {"FlowExplorer"}


@cache
def headings():
    page = (FOLDER.parent / "docs" / "mathematics.md").read_text(encoding="utf-8")
    return "\n".join(line for line in page.splitlines() if line.startswith("#")), page


def on_the_page(source):
    items = source.replace("Cor.", "Corollary").replace("Thm.", "Theorem").split(", ")
    return all(re.search(rf"\b{re.escape(item)}(?!\w)", headings()[0]) for item in items)


def what_is_proved_here():
    """Formulas of ours stand on the page, are right, and are no theorem of the paper."""
    found = [(arch, nv.expected_dimension(arch)) for arch in random_networks(60)]
    ours = [(arch, theory) for arch, theory in found if theory.status == "proved here"]
    return (
        5 < len(ours) < len(found)
        and all(on_the_page(theory.source) for _, theory in ours)
        and all(theory.value == nv.measure_dimension(arch).value for arch, theory in ours)
        and "| `proved here` | proved in full on this page: ours, not peer-reviewed |" in headings()[1]
        and theme.glyph("proved here")[0] == "□"
    )


def variants():
    """Networks beyond the paper, small ones."""
    kinds = ({"skip": True}, {"causal": True}, {"heads": 2}, {"heads": 3})
    sizes = [(d, a, n) for d in (2, 3) for a in (1, 2) for n in (1, 2)]
    return [
        uniform(*size, attention=a, **k) for size in sizes for k in kinds for a in ("lightning", "softmax")
    ]


def what_is_observed():
    """It is right where it is said, and says on how many networks; and so is a formula of the reader's."""
    found = [(arch, variant_formula(arch)) for arch in variants()]
    seen = [(arch, theory) for arch, theory in found if theory.status == "observed"]
    yours = [
        badges_of(FormulaExplorer(state=f"formula={text}"))
        for text in ("min(a,d)*(2*d - min(a,d)) + d**2 - 1", "2*a*d + d**2")
    ]
    return (
        len(seen) > 10
        and all(nv.measure_dimension(arch).value == theory.value for arch, theory in seen)
        and all(re.search(r"\d networks, none different", theory.note) for _, theory in seen)
        and ["○ observed" in "".join(badges) for badges in yours] == [True, False]
        and all(nv.expected_dimension(arch).status != "observed" for arch in random_networks(60))
    )


def what_is_conjectured():
    """The paper's conjecture, for other normalisations than softmax; for softmax it is proved."""
    boards = [what_is_known(arch) for arch in random_networks(60)]
    entries = [(board.arch, e) for board in boards for e in board.entries if e.status == "conjectured"]
    return (
        len(entries) > 3
        and {(e.question, e.source) for _, e in entries} == {("other normalisations", "Conjecture 3.10")}
        and {nv.expected_dimension(arch).status for arch, _ in entries} <= {"proved", "proved here"}
        and theme.glyph("conjectured")[0] == "◇"
    )


def where_there_is_no_formula():
    """Five lightning heads and two outputs: a number was measured, and none is expected."""
    arch = A((3, 2), (2,), heads=5)
    theory = variant_formula(arch)
    return theory.value is None and theory.status == "no formula" and nv.measure_dimension(arch).value > 0


def outside_hypotheses():
    panel = FactorizationExplorer(state="d=4;a=5;walk=shear")
    lemma = badges_of(panel)[0]
    return formula_beside_the_true_number() and lemma == (
        "▨ outside hypotheses · Lemma 3.1: not a² = 25 but 24 here"
    )


CLAIMS = [
    ("Change them and, usually, the function it computes changes too", lambda: not outputs_after(nudged)),
    (
        "some directions in the space of weights do nothing at all",
        lambda: outputs_after(with_another_head),
    ),
    (
        "has fewer dimensions than the network has parameters",
        lambda: all(
            0 < nv.measure_dimension(arch).value < arch.num_parameters for arch in random_networks(60)
        ),
    ),
    (
        r"\varphi(X) = V X \,\bigl(X^\top A X\bigr), \qquad A = K^\top Q",
        lambda: all(layer_by_hand(d, a) for d in (2, 4) for a in (1, 2, 5)),
    ),
    (
        r"each layer has $Q, K$ of size $2 \times 4$ and $V$ of size $4 \times 4$",
        lambda: list(START.parameter_shapes.values()) == [(1, 2, 4), (1, 2, 4), (1, 4, 4)] * 2,
    ),
    ("Sixty-four numbers go in", lambda: START.num_parameters == 64),
    (
        "64 counts parameters; 46 forgets the basis inside each head; 40 forgets the factor between A and V",
        lambda: (
            "number of parameters" in hints()[64]
            and "basis inside each head" in hints()[46]
            and "from A to V" in hints()[40]
            and 38 + 2 * measure_product(4, 2).fibre == 46
        ),
    ),
    ("Do not correct anybody: the hint does", lambda: set(hints()) >= {64, 46, 40} and 38 not in hints()),
    (
        "The answer can be reached in three ways",
        lambda: all(e.value == f.value == x.value for _, e, f, x in three_ways()),
    ),
    (
        "and the panel below shows them side by side (the second up to 900 parameters)",
        three_ways_in_one_picture,
    ),
    (
        "nudge every weight, watch every output, count the independent responses",
        lambda: responses() == 38,
    ),
    ("modulo a large prime it has no rounding in it", a_rank_has_no_rounding),
    (
        "the rank shows as a gap between them",
        lambda: all(f.decided and f.gap > 1e6 for _, _, f, _ in three_ways()),
    ),
    (
        "a formula, with its source and its hypotheses",
        lambda: all(x.source and x.status and len(x.note) > 20 for *_, x in three_ways()),
    ),
    (
        "which of the five controls does the dimension not care about? (Tokens, from two on.)",
        lambda: first_controls_matter() and dimension_by_tokens() == [[34, 38, 38, 38, 38], [16, *[40] * 4]],
    ),
    ("of the 64 directions: dots that move the function, and rings that are rounding noise", dots_and_rings),
    ("they meet where the dots end", line_and_triangle_meet_where_the_dots_end),
    ("the same count for other widths, and how many inputs one has to look at", right_hand_side),
    ("In other notebooks there are rows of buttons between the paragraphs", rows_of_buttons),
    (
        "In code the three ways are three calls",
        lambda: (
            [nv.measure_dimension(START).value, nv.measure_dimension(START, method="float").value]
            == [nv.expected_dimension(START).value] * 2
        ),
    ),
    (
        "Each result also says how it was found, and how far to trust it",
        lambda: all(
            (e.status, f.status) == ("exact", "float")
            and e.note
            and f.note
            and e.error_bound is not None
            and f.gap is not None
            for _, e, f, _ in three_ways()
        ),
    ),
    ("the exact rank leaves out directions that are known to do nothing", calls_look_differently),
    (
        "the exact rank takes one random combination of the outputs of each input",
        lambda: (
            [rank_on(n, False) for n in (1, 5, 20, 40)] == [1, 5, 20, 38]
            and [rank_on(n, True) for n in (1, 5)] == [10, 38]
        ),
    ),
    ("a few inputs more than it could need", calls_look_differently),
    (
        "floating point takes all outputs, of fewer inputs",
        lambda: (
            calls_look_differently() and nv.measure_dimension(START, method="float", inputs=1).value == 10
        ),
    ),
    (
        "| ● exact | computed exactly: most often a rank, modulo a prime that is shown |",
        lambda: (
            "● exact · 38 mod 8 388 593" in start_panel()._title_html.value
            and exact_badges_show_their_prime()
        ),
    ),
    ("| ■ proved | a theorem of the paper, or a consequence of one line", proved_badges_name_the_paper),
    (
        "with its hypotheses checked for the network in hand",
        lambda: (
            [nv.expected_dimension(A(*sizes)).status for sizes in (((4, 4, 4), (2, 2)), ((3, 3, 3), (1, 2)))]
            == ["proved", "proved here"]
        ),
    ),
    (
        "| ◆ certified | proved for this one network by a computation that can be checked again |",
        lambda: (
            nv.measure_dimension(START, method="certified").status == "certified"
            and nv.measure_dimension(START, method="certified").certificate.verify()
        ),
    ),
    (
        "| ▨ outside hypotheses | a formula or a theorem named where it does not apply, beside what is",
        outside_hypotheses,
    ),
    ("| □ proved here | proved in this project's [mathematics]", what_is_proved_here),
    ("in full; not peer-reviewed |", what_is_proved_here),
    (
        "| ≈ floating point | seen in floating-point numbers, in a spectrum or in runs: evidence",
        lambda: (
            nv.measure_dimension(START, method="float").error_bound is None
            and set(panels_with("≈")) == {"FlowExplorer", "MemorisationExplorer", "SearchExplorer"}
        ),
    ),
    (
        "| ○ observed | a formula, ours or yours, that agreed with exact ranks on a stated grid; no proof |",
        what_is_observed,
    ),
    ("| ◇ conjectured | stated as a conjecture, not proved |", what_is_conjectured),
    ("| – no formula | none is known; only the measurement is shown |", where_there_is_no_formula),
    ("| badge | meaning |", the_table_has_all_badges),
    ("tokens are **columns**", notation),
    ("the attention matrix, of rank at most $a$", notation),
    (
        r"$\alpha(a, d) = a(2d - a)$ | | dimension of the $d \times d$ matrices of rank at most $a \le d$",
        lambda: all(
            measure_product(d, a).dimension == a * (2 * d - a) for d in range(1, 6) for a in range(1, d + 1)
        ),
    ),
    ("| notebook | section of the paper | the question |", every_other_notebook_is_in_the_table),
    (
        "There are lesson plans for [50](../docs/lesson_50.md) and [90](../docs/lesson_90.md) minutes",
        lambda: all(path.exists() for path in links()),
    ),
    (
        "With $d = 4$ and $a = 2$: 5, 26, 47, 68.",
        lambda: [lost(uniform(4, 2, k)) for k in (1, 2, 3, 4)] == [5, 26, 47, 68],
    ),
    ("Each layer loses $a^2 = 4$ (the basis of the head can be changed)", loss_is_that_of_its_parts),
    (
        "and 1 (a factor can move from $A$ to $V$): 5 per layer",
        lambda: loss_is_that_of_its_parts(softmax=True) and lost(uniform(4, 2, 1)) == 5,
    ),
    ("Each of the $l - 1$ places between two layers loses $d^2 = 16$ more", loss_is_that_of_its_parts),
    (
        "the basis in which one layer hands its tokens to the next is nobody's business but theirs",
        lambda: outputs_after(handed_over_in_another_basis),
    ),
    ("So $5l + 16(l - 1)$", lambda: all(lost(uniform(4, 2, k)) == 21 * k - 16 for k in (1, 2, 3, 4, 5))),
]

ELSEWHERE = [
    (
        "Badges that say with what right a number stands there; a sentence that describes the picture",
        "test_all_panels.py::test_every_control_goes_to_its_places",
    ),
    (
        "every number you see is either exact or says that it is not",
        "test_theme.py::test_a_badge_says_its_status_without_the_colour",
    ),
    (
        "Drag a slider, or click on its handle and use the arrow keys",
        "test_accessibility.py::test_every_control_can_be_used_with_the_keyboard",
    ),
    (
        "copy its text to show somebody else exactly what you see, paste it to come back",
        "test_panel.py::test_a_state_comes_back_as_it_was_and_brings_the_figure_with_it",
    ),
    ("**Reset**", "test_panel.py::test_reset_goes_back_to_how_the_panel_was_opened"),
    (
        "**More** unfolds the controls that are needed less often",
        "test_panel.py::test_few_controls_are_visible_at_first_and_the_rest_unfolds",
    ),
    (
        "(A panel made for a lecture, with `only=[…]`, hides these.)",
        "test_panel.py::test_only_hides_the_others_which_keep_their_values_and_stay_in_the_state",
    ),
    (
        "each takes a panel to a setting that the text speaks of",
        "test_panel.py::test_a_preset_is_a_button_with_a_label_that_drives_the_panel",
    ),
    (
        "Then Shift-Enter goes on to the next cell",
        "test_browser.py::test_after_a_commitment_the_keyboard_goes_on",
    ),
]
