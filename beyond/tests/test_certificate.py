"""Certificates: both routes agree, each checks itself again in another way, and none
survives a change."""

import ast
import json
import random
import unicodedata
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import Event, Thread

import flint
import numpy as np
import pytest

import neuroviz_beyond.certificate.small_rank_pieces
import neuroviz_beyond.certificate.verify
from neuroviz.attention import Architecture
from neuroviz.kit.measured import measure_dimension
from neuroviz.rank import budget as budget_module
from neuroviz.rank.budget import Budget
from neuroviz.rank.point import num_parameters
from neuroviz_beyond.certificate.balls import (
    ball_jacobian,
    ball_tangents,
    precision,
    proved_invertible,
)
from neuroviz_beyond.certificate.certificate import (
    ROUTES,
    Certificate,
    certify,
    routes_to_try,
)
from neuroviz_beyond.certificate.find import _random_weights, ball_proof, words
from neuroviz_beyond.certificate.verify import Place

BOTH = ("lightning", "softmax")


def soft(widths, head_dims, tokens=3):
    return Architecture(widths, head_dims, tokens, "softmax")


SMALL = [
    Architecture((3, 3), (2,)),
    soft((3, 2), (2,)),
    Architecture((4, 3, 5), (2, 2)),
    soft((4, 3, 5), (2, 2), 2),
    soft((2, 4, 2), (2, 2)),
    soft((1, 3, 2), (2, 2)),
    soft((3, 3, 3, 3), (1, 2, 1)),
    Architecture((5, 3, 3, 4), (2, 3, 2), 2),
    soft((5, 5, 5), (2, 2)),  # of Figure 3
    Architecture.uniform(4, 2, 4),
]
THIN = Architecture((3, 3, 3), (1, 2))
ONE_TOKEN = [Architecture((3, 2, 3), (2, 2), 1, attention) for attention in BOTH]


@pytest.mark.parametrize("arch", [*SMALL, *ONE_TOKEN], ids=str)
@pytest.mark.parametrize("route", ROUTES)
def test_all_routes_prove_what_is_measured(arch, route):
    if route == "ball" and arch in ONE_TOKEN:
        return  # the slice is larger than the dimension
    proof, other = (certify(arch, route, budget=seconds) for seconds in (600, 1000))
    assert proof.dimension == measure_dimension(arch, route="weights").value
    assert proof.verify(), proof.verify().finding
    assert proof == other and proof.data == other.data


def imported_by(module):
    """The modules of neuroviz that a module imports, and its text without comments."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    named = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = {name.rpartition(".")[2] for name in named if name.startswith("neuroviz")}
    return ours, ast.unparse(tree)


def test_what_checks_uses_nothing_of_what_finds():
    ours, text = imported_by(import_module("neuroviz_beyond.certificate.verify"))
    assert ours == {"attention", "balls", "layers", "network", "small_ranks"}
    assert "jacobian" not in text
    pieces = {"attention", "field", "small_rank_pieces", "transformer"}
    assert (
        imported_by(import_module("neuroviz_beyond.certificate.small_ranks"))[0]
        == pieces
    )
    assert imported_by(import_module("neuroviz_beyond.certificate.small_rank_pieces"))[
        0
    ] == {"field"}


def test_a_theorem_is_checked_by_ranks_that_do_not_know_it(monkeypatch):
    """At any size; and a local check that finds another dimension, or a larger kernel,
    refutes it."""
    for arch in (
        Architecture((3, 3, 3), (1, 2)),
        Architecture.uniform(12288, 128, 96),
        soft((5, 1, 4), (2, 2)),
    ):
        proof = certify(arch, "theorem")
        assert f"finds {proof.dimension} too" in proof.verify().finding
        local = neuroviz_beyond.local_check(arch)
        first = local.pieces[0]
        for changed, said in (
            (
                replace(local, virtual=local.virtual + 1),
                f"a local check finds {proof.dimension + 1}, not",
            ),
            (
                replace(
                    local,
                    pieces=(replace(first, rank=first.rank - 1), *local.pieces[1:]),
                ),
                "finds a kernel of",
            ),
        ):
            monkeypatch.setattr(
                neuroviz_beyond.certificate.verify,
                "local_check",
                lambda arch, changed=changed: changed,
            )
            assert not proof.verify() and said in proof.verify().finding
        monkeypatch.undo()
    alone = certify(soft((3, 2, 3), (2, 2), 1), "theorem")
    assert alone.verify() and "local check" not in alone.verify().finding


@pytest.mark.parametrize("attention", BOTH)
def test_forward_and_backward_balls_overlap(attention):
    across = Architecture((3, 2, 4), (2, 1), 3, attention).slice()
    rng = np.random.default_rng(0)
    weights = {}
    free = []
    for name, matrix in _random_weights(across, rng).items():
        weights[name] = rng.integers(-2, 3, matrix.shape) / 2
        free += [Place(name, row, column) for row, column in np.ndindex(matrix.shape)]
    X = rng.integers(-2, 3, (2, 3, 3)) / 2
    functionals = rng.integers(-3, 4, (2, 4, 3))
    backward = ball_jacobian(
        attention, weights, np.ones(len(free), dtype=bool), X, functionals
    )
    for row, (x, functional) in enumerate(zip(X, functionals, strict=True)):
        forward = ball_tangents(attention, weights, free, x)
        for column in range(len(free)):
            moved = sum(
                int(s) * forward[column, j] for j, s in enumerate(functional.ravel())
            )
            assert moved.overlaps(backward[row, column]) and float(moved.rad()) < 1e-9


# Proofs of invertibility


def is_proved(rows, bits):
    with flint.ctx.workprec(bits):
        return proved_invertible(
            flint.arb_mat([[flint.arb(flint.fmpq(*at)) for at in row] for row in rows])
        )


@pytest.mark.parametrize(("n", "bits"), [(3, 128), (25, 256), (60, 512)])
def test_a_matrix_far_beyond_floating_point_is_proved_invertible(n, bits):
    """Hilbert's, of condition 10^(1.5 n): 10⁹⁰ for n = 60."""
    hilbert = [[(1, 1 + i + j) for j in range(n)] for i in range(n)]
    assert is_proved(hilbert, bits)
    if n == 60:
        assert not is_proved(hilbert, 128)  # too few bits prove nothing


def test_a_singular_matrix_is_never_proved_invertible():
    rng = np.random.default_rng(0)
    for bits in (128, 512):
        for n in (1, 2, 5, 20):
            thin = rng.integers(-9, 10, (n, n - 1))
            wide = rng.integers(-9, 10, (n - 1, n))
            assert not is_proved(
                [[(int(value), 7) for value in row] for row in thin @ wide], bits
            )


def test_large_and_small_entries_are_no_obstacle():
    for power in (5000, -5000):
        scale = flint.arb(2) ** power
        assert proved_invertible(flint.arb_mat([[scale, 0], [3 * scale, scale]]))
        assert not proved_invertible(flint.arb_mat([[scale, scale], [scale, scale]]))
    assert not proved_invertible(flint.arb_mat([[flint.arb("inf"), 0], [0, 1]]))


def on_the_slice(*layers):
    weights = {}
    for i, layer in enumerate(layers, start=1):
        for name, matrix in zip("QKV", layer, strict=True):
            weights[f"{i}.{name}"] = np.array(matrix, dtype=float)
    return weights


I2 = np.eye(2)
J2 = np.array([[0.0, 1.0], [-1.0, 0.0]])
SKEW = on_the_slice((J2, I2, I2), ([[1.5, -1], [0.5, 2]], I2, [[1, -0.5], [2, 0.25]]))
RANK_ONE = on_the_slice(
    ([[1, 2], [0.5, 1]], I2, I2), ([[1, -1], [0.5, 2]], I2, [[1, -0.5], [2, 0.25]])
)
PLAIN = on_the_slice(
    ([[1, 2], [-0.5, 1]], I2, I2), ([[1, -1], [0.5, 2]], I2, [[1, -0.5], [2, 0.25]])
)
SINGULAR = [
    pytest.param(
        soft((2, 2, 2), (2, 2), 2), SKEW, id="antisymmetric first layer, two tokens"
    ),
    pytest.param(
        Architecture((2, 2, 2), (2, 2), 3),
        RANK_ONE,
        id="rank-one first layer, lightning",
    ),
]


@pytest.mark.parametrize(("arch", "weights"), SINGULAR)
def test_a_singular_point_is_not_proved_and_no_certificate(arch, weights):
    """The dimension is n, but not by this point; at another one it is proved."""
    n = num_parameters(arch.slice())
    rng = np.random.default_rng(0)
    X = rng.integers(-64, 65, (n, 2, arch.tokens)) / 64
    functionals = rng.integers(1, 4, (n, 2, arch.tokens))
    with pytest.raises(
        ValueError,
        match=f"not proved: 1024 bits do not prove a rank of {n} .* another seed",
    ):
        ball_proof(arch, weights, X, functionals, Budget(60))
    found, data = ball_proof(arch, PLAIN, X, functionals, Budget(60))
    proof = Certificate(arch, found, "ball", *words(arch, "ball", n, data), data)
    assert proof.verify()

    def change(data):
        data["weights"] = {
            name: [[str(x) for x in row] for row in M.tolist()]
            for name, M in weights.items()
        }

    assert (
        forged(proof, change).verify().finding
        == "at the stored point the determinant may be 0"
    )


# A budget


def test_the_budget_is_asked_on_the_way_and_the_message_says_how_far_it_came(
    monkeypatch,
):
    """A clock that goes on by a second whenever it is looked at."""
    said = []
    for seconds in (3, 20, 90):
        clock = iter(range(10**6))
        monkeypatch.setattr(budget_module, "monotonic", lambda clock=clock: next(clock))
        with pytest.raises(ValueError) as caught:
            certify(Architecture((3, 3, 3), (1, 2)), "ball", budget=seconds)
        said.append(str(caught.value))
    assert said[0].startswith(
        "not proved in 3 s: nothing is done yet, and 128 bits were begun (2 of 20"
    )
    assert said[1].startswith(
        "not proved in 20 s: nothing is done yet, and 128 bits were begun (19 of 20"
    )
    assert said[2].startswith(
        "not proved in 90 s: 128 bits did not suffice, and 256 bits were begun ("
    )


def test_ctrl_c_ends_the_search_and_leaves_the_precision_alone(monkeypatch):
    calls = iter([None] * 5)

    def check(self, so_far):
        if next(calls, "now") == "now":
            raise KeyboardInterrupt

    monkeypatch.setattr(Budget, "check", check)
    before = flint.ctx.prec
    with pytest.raises(KeyboardInterrupt):
        certify(soft((3, 2, 3), (2, 1)), "ball")
    assert flint.ctx.prec == before


def test_a_network_too_large_to_compute_with_is_refused_at_once():
    for arch in (
        Architecture.uniform(12288, 128, 96, tokens=2048, attention="softmax"),
        Architecture.uniform(3, 2, 2, tokens=10**5),
    ):
        with pytest.raises(ValueError, match="choose route='theorem'"):
            certify(arch, "ball")


def test_the_strongest_proof_comes_first():
    # a theorem of the paper
    assert certify(Architecture((4, 3, 5), (2, 2))).source == "Cor. 3.8"
    # no theorem of ours, and none of Ax
    assert certify(soft((3, 3, 3), (2, 2))).route == "ball"
    assert certify(THIN).source == "Theorem C"  # the rank on the slice is not full
    assert certify(soft((3, 3, 3), (2, 2), 1)).source == "One token"
    for arch in SMALL:
        assert certify(arch).route in routes_to_try(arch)
    # too large for the others
    assert routes_to_try(Architecture.uniform(300, 300, 4)) == ("theorem",)


@pytest.mark.parametrize("route", ROUTES)
def test_a_certificate_survives_being_kept(route):
    proof = certify(soft((3, 3, 3), (2, 2)), route)
    read = Certificate.from_json(proof.to_json())
    assert read == proof and read.data == proof.data and read.verify()
    assert (
        str(read) == str(proof) and "dimension 25" in str(read) and route in str(read)
    )


def digits(text):
    return [i for i, letter in enumerate(text) if letter.isdigit()]


def resealed(proof, **changes):
    """A forgery: changed, with a seal that fits."""
    return replace(proof, seal="", **changes)


def forged(proof, change):
    """A forgery of the data."""
    data = json.loads(json.dumps(proof.data))
    change(data)
    return resealed(proof, data=data)


def with_its_seal_renewed(text):
    """The certificate that a text holds, under a seal that fits; None where it holds
    none."""
    try:
        return resealed(Certificate.from_json(text))
    except ValueError:
        return None


FORGED = [
    soft((3, 2, 3), (2, 1)),
    Architecture((3, 2, 3), (2, 1)),
    Architecture((3, 3, 2), (1, 2), 1),
]


@pytest.mark.parametrize(
    ("route", "arch"),
    # One token: the slice is larger than the dimension, so no ball certificate exists.
    [
        (route, arch)
        for route in ROUTES
        for arch in FORGED
        if route != "ball" or arch.tokens > 1
    ],
    ids=str,
)
def test_with_any_digit_changed_and_the_seal_renewed_only_what_is_true_is_accepted(
    route, arch
):
    """Another random point may do as well: then the changed certificate proves what it
    says."""
    text = certify(arch, route).to_json()
    draw = random.Random(1)
    truths = 0
    places = digits(text)
    for place in draw.sample(places, min(40, len(places))):
        # Another digit, plain also where it was a subscript.
        digit = (unicodedata.digit(text[place]) + draw.randint(1, 9)) % 10
        changed = f"{text[:place]}{digit}{text[place + 1 :]}"
        read = with_its_seal_renewed(changed)
        if read is None:
            continue
        assert not Certificate.from_json(changed).verify()  # with the old seal
        if read.verify():
            assert read.dimension == measure_dimension(read.arch).value
            truths += 1
    if (route, arch.attention) == ("ball", "softmax"):
        assert truths  # the check is not empty: some changes leave a proof


@pytest.mark.parametrize(
    "part", ["dimension", "source", "argument", "widths", "head_dims", "tokens"]
)
@pytest.mark.parametrize("route", ROUTES)
def test_what_is_said_cannot_be_changed_by_a_digit_even_under_a_new_seal(route, part):
    """Every digit of the claim, of its words and of the sizes, each changed to every
    other digit."""
    proof = certify(soft((2, 2, 2), (1, 2)), route)
    contents = json.loads(proof.to_json())
    home = contents if part in contents else contents["architecture"]
    was = json.dumps(home[part], ensure_ascii=False)
    for place in digits(was):
        for digit in set("0123456789") - {was[place]}:
            try:
                home[part] = json.loads(was[:place] + digit + was[place + 1 :])
            except ValueError:
                continue
            read = with_its_seal_renewed(json.dumps(contents, ensure_ascii=False))
            if read is None or not read.verify():
                continue
            # A head wider than the tokens is as good as one as wide; the theorem has
            # the same number for every t ≥ 2. Both are true, and the words of the
            # certificate are still the right ones.
            assert part in ("head_dims", "tokens", "widths")
            assert read.dimension == measure_dimension(read.arch).value


def test_a_theorem_is_not_taken_for_a_network_that_it_is_not_about():
    proof = certify(Architecture((4, 3, 5), (2, 2)), "theorem")
    for source in ("Cor. 3.3", "Thm. 3.9", "Corollary A", "One token", "Theorem X"):
        assert not resealed(proof, source=source).verify()
    assert not resealed(proof, data={"status": "proved here"}).verify()
    thin = Architecture((3, 3, 3), (1, 2))
    assert not resealed(proof, arch=thin, dimension=20).verify()


def at(*way, to):
    """A change that puts another entry in some place of the data."""

    def change(data):
        *home, last = way
        for step in home:
            data = data[step]
        data[last] = to(data[last]) if callable(to) else to

    return change


def alike(data):
    """All inputs alike: one input cannot show everything."""
    data["inputs"] = [data["inputs"][0]] * len(data["inputs"])


def doubled(x):
    return 2 * x if isinstance(x, int) else "2"


SOFT = soft((3, 2, 3), (2, 1))
LIGHT = Architecture((3, 2, 3), (2, 1))
OFF = "does not lie on the slice"
READ = "cannot be read"
FORGERIES = [
    ("ball", SOFT, at("weights", "1.K", 0, 0, to=doubled), OFF),
    ("ball", SOFT, alike, "determinant may be 0"),
    *(
        ("ball", SOFT, at("inputs", 0, 0, 0, to=x), READ)
        for x in ("1/0", "x", "nan", "1/3", None, "9" * 400, "9" * 9999, "1e99999999")
    ),
    *(("ball", SOFT, at("bits", to=bits), READ) for bits in (0, 10**9, "128", None)),
    ("ball", SOFT, lambda data: data.pop("weights"), READ),
    ("ball", SOFT, lambda data: data["weights"].pop("2.V"), READ),
    ("ball", SOFT, lambda data: data["weights"].update({"3.V": [["1"]]}), READ),
    ("ball", SOFT, at("weights", to=[]), READ),
    ("ball", SOFT, lambda data: data["inputs"].pop(), READ),
]


@pytest.mark.parametrize(("route", "arch", "change", "said"), FORGERIES)
def test_other_data_under_a_new_seal_prove_nothing_and_are_no_error(
    route, arch, change, said
):
    proof = certify(arch, route)
    found = forged(proof, change).verify()
    assert proof.verify() and not found and said in found.finding


@pytest.mark.parametrize("route", ROUTES)
def test_another_dimension_or_number_of_tokens_under_a_new_seal_is_refuted(route):
    """Three tokens show more than one: a claim about one token needs inputs of one
    token."""
    for arch in (SOFT, LIGHT):
        proof = certify(arch, route)
        assert resealed(proof).verify()
        for wrong in (
            proof.dimension - 1,
            proof.dimension + 1,
            float(proof.dimension),
            "25",
            True,
            None,
        ):
            assert not resealed(proof, dimension=wrong).verify()
        if route != "theorem":
            for tokens in (1, 2, 4):
                found = resealed(proof, arch=replace(arch, tokens=tokens)).verify()
                assert not found and "inputs need the shape" in found.finding


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"neuroviz certificate": 2}', "null"]
)
def test_a_text_that_is_no_certificate_is_refused(text):
    with pytest.raises(
        ValueError, match="a certificate is the text that to_json writes"
    ):
        Certificate.from_json(text)


POINT = Architecture((3, 3), (2,))
TOO_LATE = (
    r"not proved in 1e-09 s: .* raise budget, choose route='theorem', or take a smaller"
    r" network"
)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: certify(POINT, route="slice"), "got 'slice'"),
        *(
            (
                lambda given=given: certify(SOFT, budget=given),
                "budget is a number of seconds > 0",
            )
            for given in (0, True, "long", np.inf)
        ),
        *(
            (
                lambda given=given: certify(SOFT, seed=given),
                "seed must be a whole number ≥ 0",
            )
            for given in ("0", None, 1.5, -1)
        ),
        *(
            (
                lambda route=route: certify(
                    Architecture((2, 4, 2), (2, 2)), route, budget=1e-9
                ),
                TOO_LATE,
            )
            for route in ("ball", None)
        ),
        (
            lambda: certify(THIN, "ball"),
            "do not prove a rank of 20 .* its dimension is smaller",
        ),
    ],
)
def test_what_cannot_be_asked_for_or_proved_is_refused(ask, said):
    with pytest.raises(ValueError, match=said):
        ask()


def test_precisions_of_two_threads_neither_mix_nor_stay():
    before = flint.ctx.prec
    begun = Event()
    leave = Event()

    def other():
        with precision(before + 200):
            begun.set()
            leave.wait()

    thread = Thread(target=other)
    with precision(before + 100):
        thread.start()
        assert not begun.wait(0.2)  # it waits for this block
        assert flint.ctx.prec == before + 100
    begun.wait()
    assert flint.ctx.prec == before + 200
    leave.set()
    thread.join()
    assert flint.ctx.prec == before
