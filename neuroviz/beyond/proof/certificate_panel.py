"""What is proved about the dimension of a network, from what, and how; and what happens to a forgery."""

import ipywidgets as widgets

from neuroviz.beyond.proof.certificate_figure import certificate_parts
from neuroviz.beyond.proof.certificate_study import (
    PATIENCE,
    CertificateSetting,
    CertificateStudy,
    study_certificate,
)
from neuroviz.certificate.certificate import ROUTES
from neuroviz.certificate.find import rough_seconds
from neuroviz.engine.architecture import ATTENTION_KINDS, Architecture
from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.kit.words import grouped

_LAYERS = (1, 2, 3, 4, 6, 8, 12, 24, 48, 96)
_WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 32, 64, 128, 768, 2048, 12288)
_HEADS = (1, 2, 3, 4, 5, 6, 8, 16, 32, 64, 128)
_TOKENS = (1, 2, 3, 4, 8, 128, 2048)
_ROUTES = [("the strongest", "strongest"), *((route, route.replace(" ", "-")) for route in ROUTES)]
_TAMPERINGS = [
    ("nothing", "nothing"),
    ("the dimension", "dimension"),
    ("dimension, new seal", "dimension-resealed"),
    ("the data", "data"),
    ("data, new seal", "data-resealed"),
]
_QUICK = 0.2  # rough seconds; a panel may keep the reader waiting for about 0.3


class CertificateExplorer(Panel):
    """A proof of the dimension of a network as a document that checks itself, and that one may tamper with.

    Left, the argument: a lower and an upper bound that meet, or a statement with its hypotheses and the
    terms of its number. Right, the certificate, and what checking it again by other means says.

    Controls: layers, width (all widths), attention, route, tamper (change one digit of …); under "More":
    head_dim, tokens, seed (of the stored point, and of the digit). See `Panel` for what all panels share.

    >>> panel = CertificateExplorer()
    >>> panel.state = "layers=96;width=12288;head_dim=128;tokens=2048;attention=softmax;route=theorem"
    >>> "451 411 968" in panel.description
    True
    """

    title = "What is proved, from what, and how"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        def choice(label: str, sizes: tuple[int, ...], value: int) -> widgets.Dropdown:
            options = [(grouped(size), str(size)) for size in sizes]
            return widgets.Dropdown(options=options, value=str(value), description=label)

        first = {
            "layers": choice("layers l", _LAYERS, 2),
            "width": choice("width δ", _WIDTHS, 4),
            "attention": widgets.Dropdown(options=ATTENTION_KINDS, value="softmax", description="attention"),
            "route": widgets.Dropdown(options=_ROUTES, description="route"),
            "tamper": widgets.Dropdown(options=_TAMPERINGS, description="change a digit of"),
        }
        more = {
            "head_dim": choice("head dimension a", _HEADS, 2),
            "tokens": choice("tokens t", _TOKENS, 3),
            "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
        }
        return first, more

    def _read(self) -> CertificateSetting:
        value = {name: control.value for name, control in self.controls.items()}
        arch = Architecture.uniform(
            int(value["width"]),
            int(value["head_dim"]),
            int(value["layers"]),
            int(value["tokens"]),
            attention=value["attention"],
        )
        route = value["route"].replace("-", " ")
        return CertificateSetting(
            arch, None if route == "strongest" else route, value["tamper"].replace("-", " "), value["seed"]
        )

    _answer = staticmethod(study_certificate)

    def _is_slow(self, request: CertificateSetting) -> bool:
        routes = ROUTES if request.route is None else (request.route,)
        return any(_QUICK < rough_seconds(request.arch, route) <= PATIENCE for route in routes)

    draw = staticmethod(certificate_parts)

    def _badge(self, answer: CertificateStudy) -> str:
        if not answer.verification:
            return ""  # nothing is claimed
        proof = answer.shown
        said = f"{proof.source}: {grouped(proof.dimension)}"
        status = proof.data["status"] if proof.route == "theorem" else "certified"
        return theme.badge(status, said)

    def _describe(self, answer: CertificateStudy) -> str:
        if answer.certificate is None:
            return f"{answer.setting.arch}: no certificate. {_sentence(answer.refusal)}"
        return " ".join(filter(None, (_say_proof(answer), _say_check(answer), _say_change(answer))))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _say_proof(study: CertificateStudy) -> str:
    proof = study.certificate
    how = {
        "theorem": f"{proof.source} gives it and was not measured: {len(study.hypotheses)} hypotheses hold",
        "exact rank": "a rank mod a prime at a stored point meets an upper bound",
        "ball": "a determinant at a stored point is not 0, in ball arithmetic, and symmetries allow no more",
    }[proof.route]
    found = grouped(proof.dimension)
    return f"{proof.arch}: dimension {found}. {_sentence(how)}"


def _say_check(study: CertificateStudy) -> str:
    times = f"Found in {_time(study.seconds_found)}, checked again in {_time(study.seconds_checked)}"
    if study.change is None:
        return f"{times}: {study.verification.finding}."
    return f"{times}."


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"


def _say_change(study: CertificateStudy) -> str:
    change = study.change
    if change is None:
        return ""
    said = f"In {change.place}, {change.before} became {change.after}"
    if study.verification:
        return (
            f"{said}. With a new seal nothing is wrong with it: this is another proof, and what it says is "
            "true. Only the old seal would have noticed, and a seal is no signature."
        )
    return f"{said}; rejected: {study.verification.finding}."
