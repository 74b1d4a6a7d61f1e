"""Certificates: three routes agree, each checks itself again in another way, and none survives a change."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from neuroviz.architecture import Architecture
from neuroviz.certificate import ROUTES, Certificate, _count_another_way, _num_columns, certify
from neuroviz.formulas import general_formula
from neuroviz.gauge import gauge_slice
from neuroviz.measure import measure_dimension

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
]


def random_architectures(count, seed):
    draw = random.Random(seed)
    for _ in range(count):
        depth = draw.randint(1, 5)
        yield Architecture(
            [draw.randint(1, 7) for _ in range(depth + 1)],
            [draw.randint(1, 5) for _ in range(depth)],
            draw.randint(1, 4),
            draw.choice(BOTH),
        )


def test_the_second_count_is_the_general_formula():
    """Codimensions and minima against widths and dimensions: 3,000 architectures."""
    for arch in random_architectures(3000, seed=1):
        assert _count_another_way(arch) == general_formula(arch).value, arch


@pytest.mark.parametrize("arch", SMALL, ids=str)
@pytest.mark.parametrize("route", ROUTES)
def test_all_routes_prove_what_is_measured(arch, route):
    proof = certify(arch, route)
    assert proof.dimension == measure_dimension(arch, route="weights").value
    assert proof.verify(), proof.verify().finding


@pytest.mark.parametrize("d", range(3, 9))
@pytest.mark.parametrize("route", ROUTES)
def test_figure_3_is_certified_by_every_route(d, route):
    """Conjecture 3.10 where the paper looked at it in floating point; balls do without Ax's theorem."""
    proof = certify(soft((d, d, d), (2, 2)), route)
    assert proof.dimension == {3: 25, 4: 40, 5: 57, 6: 76, 7: 97, 8: 120}[d]
    if d < 6:
        assert proof.verify()


def test_a_collapsed_network_has_an_exact_certificate_and_no_ball():
    thin = Architecture((3, 3, 3), (1, 2))
    proof = certify(thin, "exact rank")
    assert proof.dimension == 18 and proof.data["upper bound"] == "Theorem C" and proof.verify()
    with pytest.raises(ValueError, match="do not prove a rank of 20 .* its dimension is smaller"):
        certify(thin, "ball")


@pytest.mark.parametrize("attention", BOTH)
def test_one_token_is_certified_by_theorem_and_rank(attention):
    arch = Architecture((3, 2, 3), (2, 2), 1, attention)
    for route in ("theorem", "exact rank"):
        proof = certify(arch, route)
        assert proof.dimension == measure_dimension(arch).value and proof.verify()


def test_a_very_large_network_needs_no_computation():
    """Width 12,288 and 96 layers."""
    proof = certify(Architecture.uniform(12288, 128, 96, tokens=2048, attention="softmax"))
    assert proof.route == "theorem" and "not peer-reviewed" in proof.argument
    assert proof.dimension == 12288**2 + 96 * 128 * (2 * 12288 - 128)
    assert proof.verify()


def test_the_entries_of_the_slice_are_counted_without_it():
    for arch in random_architectures(300, seed=2):
        assert _num_columns(arch) == gauge_slice(arch).num_free, arch


def test_the_strongest_proof_comes_first():
    assert certify(Architecture((4, 3, 5), (2, 2))).source == "Cor. 3.8"  # a theorem of the paper
    assert certify(soft((3, 3, 3), (2, 2))).route == "ball"  # no theorem of ours, and none of Ax
    assert certify(Architecture((3, 3, 3), (1, 2))).route == "exact rank"
    assert certify(soft((3, 3, 3), (2, 2), 1)).source == "One token"


@pytest.mark.parametrize("route", ROUTES)
def test_a_certificate_survives_being_kept(route, tmp_path):
    proof = certify(soft((3, 3, 3), (2, 2)), route)
    proof.save(tmp_path / "proof.json")
    read = Certificate.load(tmp_path / "proof.json")
    assert read == proof and read.data == proof.data and read.verify()
    assert str(read) == str(proof) and "dimension 25" in str(read) and route in str(read)


def digits(text):
    return [i for i, letter in enumerate(text) if letter.isdigit()]


@pytest.mark.parametrize("route", ROUTES)
def test_one_changed_digit_is_noticed(route):
    """Anywhere in the file: 40 places of each."""
    text = certify(soft((3, 2, 3), (2, 1)), route).to_json()
    draw = random.Random(0)
    for place in draw.sample(digits(text), 40):
        changed = text[:place] + str((int(text[place]) + draw.randint(1, 9)) % 10) + text[place + 1 :]
        try:
            read = Certificate.from_json(changed)
        except ValueError:
            continue  # no certificate at all
        assert not read.verify(), (place, text[place - 20 : place + 20])


def resealed(proof, **changes):
    """A forgery: changed, with a seal that fits."""
    return replace(proof, seal="", **changes)


@pytest.mark.parametrize("route", ROUTES)
def test_a_wrong_dimension_with_a_seal_that_fits_is_refuted(route):
    proof = certify(soft((3, 2, 3), (2, 1)), route)
    assert resealed(proof).verify()
    for wrong in (proof.dimension - 1, proof.dimension + 1):
        assert not resealed(proof, dimension=wrong).verify()


def test_a_theorem_is_not_taken_for_a_network_that_it_is_not_about():
    proof = certify(Architecture((4, 3, 5), (2, 2)), "theorem")
    for source in ("Cor. 3.3", "Thm. 3.9", "Corollary A", "One token", "Theorem X"):
        assert not resealed(proof, source=source).verify()
    assert not resealed(proof, data={"status": "proved here"}).verify()
    thin = Architecture((3, 3, 3), (1, 2))
    assert not resealed(proof, arch=thin, dimension=20).verify()


def forged(proof, change):
    data = json.loads(json.dumps(proof.data))
    change(data)
    return resealed(proof, data=data)


def test_a_point_off_the_slice_is_refused():
    """Elsewhere the number of free entries is no upper bound."""
    for route in ("exact rank", "ball"):
        proof = certify(soft((3, 2, 3), (2, 1)), route)

        def change(data):
            data["weights"][0][1][0][0] = 2 if isinstance(data["weights"][0][1][0][0], int) else "2"

        found = forged(proof, change).verify()
        assert not found and "does not lie on the slice" in found.finding


def test_a_point_of_smaller_rank_proves_nothing():
    """All inputs alike: one input cannot show everything."""
    for route, said in (("exact rank", "the rank at the stored point is"), ("ball", "determinant may be 0")):
        proof = certify(soft((3, 2, 3), (2, 1)), route)

        def change(data):
            data["inputs"] = [data["inputs"][0]] * len(data["inputs"])
            data["attention weights"] = [[S[0]] * len(S) for S in data.get("attention weights", [])]

        found = forged(proof, change).verify()
        assert not found and said in found.finding


def test_attention_weights_have_to_be_what_a_softmax_can_be():
    proof = certify(soft((3, 2, 3), (2, 1)), "exact rank")

    def unbalanced(data):
        data["attention weights"][0][0][0][0] += 1

    assert "do not sum to 1" in forged(proof, unbalanced).verify().finding
    line = certify(soft((1, 2, 2), (1, 1), 3), "exact rank")

    def unsymmetric(data):
        S = np.array(data["attention weights"][0])
        S[0, 0, 1] += 1
        S[0, 1, 1] -= 1
        data["attention weights"][0] = S.tolist()

    assert line.verify()
    assert "do not come from symmetric exponentials" in forged(line, unsymmetric).verify().finding


def test_unreadable_data_are_said_to_be():
    proof = certify(soft((3, 2, 3), (2, 1)), "ball")
    for change in (
        lambda data: data.pop("weights"),
        lambda data: data["weights"].pop(),
        lambda data: data["inputs"].pop(),
        lambda data: data["inputs"][0][0].__setitem__(0, "1/3"),
        lambda data: data["inputs"][0][0].__setitem__(0, "x"),
    ):
        found = forged(proof, change).verify()
        assert not found and "cannot be read" in found.finding


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"neuroviz certificate": 2}', "null"])
def test_a_text_that_is_no_certificate_is_refused(text):
    with pytest.raises(ValueError, match="a certificate is the text that to_json writes"):
        Certificate.from_json(text)


def test_measure_dimension_hands_out_the_certificate():
    found = measure_dimension(soft((3, 3, 3), (2, 2)), method="certified")
    assert (found.value, found.method, found.status, found.route) == (25, "certified", "certified", "ball")
    assert found.certificate.verify() and "ball arithmetic" in found.note
    assert measure_dimension(soft((3, 3, 3), (2, 2)), method="certified", route="theorem").num_inputs == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"route": "slice"}, "route must be one of 'theorem', 'exact rank', 'ball', or None; got 'slice'"),
        ({"inputs": 3}, "chooses its inputs and its field itself"),
        ({"prime": 7}, "chooses its inputs and its field itself"),
    ],
)
def test_what_a_certificate_cannot_be_asked_for_is_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        measure_dimension(Architecture((3, 3), (2,)), method="certified", **arguments)


def test_the_precision_of_others_is_left_alone():
    import flint

    before = flint.ctx.prec
    certify(soft((3, 2, 3), (2, 1)), "ball").verify()
    assert flint.ctx.prec == before
