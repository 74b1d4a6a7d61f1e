"""What is proved, from what, and how: bounds that meet, sums that add up, forgeries that are noticed."""

import json
import re

import plotly.graph_objects as go
import pytest
from panels import PATIENCE, ends, headlines, plain, said, texts, title, trace

from neuroviz.beyond.proof.certificate_figure import certificate_parts
from neuroviz.beyond.proof.certificate_panel import CertificateExplorer
from neuroviz.beyond.proof.certificate_study import TAMPERINGS, CertificateSetting, study_certificate, tamper
from neuroviz.certificate.certificate import ROUTES, certify
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.formulas import general_formula
from neuroviz.engine.measure import measure_dimension
from neuroviz.engine.orbit_slice import gauge_slice
from neuroviz.kit import theme
from neuroviz.kit.plot import make, redraw

STATES = [
    "",
    "route=exact-rank;attention=lightning;width=3",
    "route=exact-rank;attention=lightning;width=3;tokens=1",
    "route=ball;attention=lightning;width=3;tokens=1",
    "attention=lightning",
    "route=theorem",
    "layers=1;route=theorem;tokens=1",
    "layers=96;width=12288;head_dim=128;tokens=2048",
    "route=ball;width=128",
    "route=exact-rank;tokens=2048",
    "tamper=dimension",
    "tamper=dimension-resealed;attention=lightning",
    "tamper=data;route=exact-rank;width=2",
    "tamper=data-resealed;route=exact-rank;width=2",
    "tamper=data-resealed;width=2;seed=3",
]


@pytest.fixture
def panel():
    opened = CertificateExplorer()
    yield opened
    opened.close()


def at(panel, state):
    panel.reset()
    if state:
        panel.state = state
    assert panel.wait(PATIENCE)
    assert panel.status.startswith("done"), panel.status
    return panel


def setting(widths, head_dims, route=None, tampering="nothing", attention="lightning", seed=0, tokens=3):
    return CertificateSetting(Architecture(widths, head_dims, tokens, attention), route, tampering, seed)


# The study


@pytest.mark.parametrize("route", ["exact rank", "ball"])
@pytest.mark.parametrize("attention", ["lightning", "softmax"])
def test_the_upper_bounds_come_down_to_the_slice_and_meet_the_dimension(route, attention):
    found = study_certificate(setting((4, 3, 5), (2, 2), route, attention=attention))
    values = [bound.value for bound in found.upper]
    assert values == sorted(values, reverse=True)
    assert values[0] == found.setting.arch.num_parameters
    assert values[-1] == gauge_slice(found.setting.arch).num_free == found.certificate.dimension


def test_after_a_collapse_the_last_bound_is_that_of_theorem_c():
    found = study_certificate(setting((3, 3, 3), (1, 2), "exact rank"))
    assert [bound.value for bound in found.upper[-2:]] == [20, 18]
    assert found.upper[-1].reason == "Theorem C" and found.verification
    refused = study_certificate(setting((3, 3, 3), (1, 2), "ball"))
    assert refused.certificate is None and "its dimension is smaller, 18" in refused.refusal
    assert refused.upper[-1].value == 20


def test_the_terms_of_a_theorem_add_up_and_its_hypotheses_hold():
    for widths, head_dims in [((4, 4, 4), (2, 2)), ((3, 3, 3), (1, 2)), ((4, 3), (2,)), ((2, 5, 3), (1, 3))]:
        for attention in ("lightning", "softmax"):
            for tokens in (1, 3):
                found = study_certificate(
                    setting(widths, head_dims, "theorem", attention=attention, tokens=tokens)
                )
                assert found.count.total == found.certificate.dimension
                assert found.certificate.dimension == general_formula(found.setting.arch).value
                assert found.hypotheses and all(each.holds for each in found.hypotheses)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("tampering", TAMPERINGS[1:])
def test_a_change_is_one_digit_and_accepted_only_if_it_is_true(route, tampering):
    proof = certify(Architecture((3, 2, 3), (2, 1), 3, "softmax"), route)
    was = proof.to_json()
    accepted = 0
    for seed in range(8):
        changed, change = tamper(proof, tampering, seed)
        assert proof.to_json() == was, "the original stays as it is"
        differences = [a for a, b in zip(change.before, change.after, strict=True) if a != b]
        assert len(differences) == 1
        one, other = (json.loads(text) for text in (was, changed.to_json()))
        assert one != other
        found = changed.verify()
        if not tampering.endswith("resealed"):
            assert "the seal does not fit" in found.finding
        if tampering.startswith("dimension"):
            assert not found
        if found:
            accepted += 1
            assert changed.dimension == measure_dimension(changed.arch).value
    if tampering == "data resealed" and route == "ball":
        assert accepted, "another rational point does as well"


def test_a_study_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match="tampering is one of nothing, dimension"):
        setting((3, 3), (2,), tampering="seal")


# The panel


@pytest.mark.parametrize("state", STATES)
def test_every_shown_number_is_the_certificates(panel, state):
    found = at(panel, state)._shown
    if found.certificate is None:
        assert headlines(panel.figure)[1] == "No certificate"
        assert "no lower bound" in headlines(panel.figure)[0] and "certificate" in panel.description
        assert "theorem" in panel.description  # what to do
        assert not trace(panel.figure, "lower bound").x
        return
    number = f"{found.certificate.dimension:,}".replace(",", " ")
    assert headlines(panel.figure)[0].endswith(number)
    assert f"dimension {number}" in panel.description
    if found.upper:
        assert trace(panel.figure, "lower bound").y[-1] == found.certificate.dimension
        assert trace(panel.figure, "upper bound").y[-1] == found.certificate.dimension
    else:
        checks = [text for text in texts(panel.figure) if text[:1] in ("■", "▨")]
        assert len(checks) == len(found.hypotheses)
    stamp = texts(panel.figure)[-1]
    assert stamp.startswith("<b>◆ verified" if found.verification else "<b>▨ rejected")
    assert ("nv-badge" in title(panel)) == bool(found.verification), "a refuted one claims nothing"


def test_the_largest_network_answers_at_once_by_theorem(panel):
    state = "layers=96;width=12288;head_dim=128;tokens=2048;attention=softmax;route=theorem"
    assert not panel._is_slow(
        CertificateSetting(Architecture.uniform(12288, 128, 96, tokens=2048), "theorem")
    )
    at(panel, state)
    assert panel._shown.certificate.dimension == 451_411_968
    assert panel._shown.verification and "451 411 968" in panel.description
    assert "proved here" in title(panel)


def test_the_kinds_of_forgery_are_told_apart(panel):
    at(panel, "width=2;tamper=data")
    assert "the seal does not fit" in panel.description
    at(panel, "width=2;tamper=data-resealed")
    assert "what it says is true" in panel.description and "still proves it" in headlines(panel.figure)[1]
    at(panel, "width=2;route=exact-rank;tamper=data-resealed;seed=0")
    kinds = set()
    for seed in range(6):
        panel.controls["seed"].value = seed
        assert panel.wait(PATIENCE)
        kinds.add(bool(panel._shown.verification))
    assert kinds == {True, False}, "attention weights have to sum to 1; a random point is as good as another"
    at(panel, "tamper=dimension-resealed;attention=lightning")
    assert re.search(r"rejected: Cor\. 3\.8 gives 38, not \d\d", panel.description)


def test_every_control_goes_to_both_ends(panel):
    for route in ("strongest", "exact-rank", "ball"):
        at(panel, f"route={route};width=2")
        for name, control in panel.controls.items():
            if name == "route":
                continue
            before = control.value
            for value in ends(control):
                control.value = value
                assert panel.wait(PATIENCE)
                assert panel.status.startswith("done"), (route, name, value, panel.status)
            control.value = before


@pytest.mark.parametrize("size", ["notebook", "lecture"])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_moving_is_the_same_as_drawing_anew(mode, size):
    with theme.using({"mode": mode, "size": size}):
        studies = [
            study_certificate(s)
            for s in (
                setting((3, 3, 3), (1, 2), "exact rank"),
                setting((3, 3, 3), (2, 2), "theorem"),
                setting((3, 3, 3), (1, 2), "ball"),
                setting((2, 2, 2), (2, 2), "ball", "data resealed", attention="softmax"),
                setting((3, 3, 3), (2, 2), None, "dimension"),
            )
        ]
        figure = make(certificate_parts(studies[0]))
        for old, new in zip([None, *studies], [*studies, studies[0]], strict=True):
            redraw(figure, certificate_parts(old), certificate_parts(new))
            assert plain(figure) == plain(make(certificate_parts(new)))
            for line in said(figure):
                assert "$" not in line


def test_an_empty_picture_has_no_place_of_its_own():
    """Two subplots in one place: the ground of one would cover the other."""
    for route, empty in (("theorem", "xaxis"), ("ball", "xaxis2")):
        figure = make(certificate_parts(study_certificate(setting((3, 3, 3), (2, 2), route))))
        assert isinstance(figure, go.Figure)
        assert figure.layout[empty].domain[1] < 0.01
        used = "xaxis2" if empty == "xaxis" else "xaxis"
        assert figure.layout[used].domain[1] > 0.4


def test_the_axes_hold_everything(panel):
    for state in STATES:
        at(panel, state)
        for number in ("", "2"):
            low, high = panel.figure.layout[f"yaxis{number}"].range
            for one in panel.figure.data:
                if (one.yaxis or "y") == f"y{number}" and one.y:
                    assert low <= min(one.y) and max(one.y) <= high, (state, one.name)
