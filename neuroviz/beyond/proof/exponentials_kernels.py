"""Kernels with and without the relations of the exponentials, and the spectrum that tells which is true."""

from neuroviz.beyond.proof.exponentials_study import ExponentialsStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label, outside_words, ticks
from neuroviz.kit.sigma import NOISE, drawable, noise_band, rank_line, sigma_axis, sigma_dots

_WIDTH = 490  # pixels of the view in a panel of 1100


def kernels_view(
    study: ExponentialsStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]
) -> View:
    """Three counts of the directions that do nothing, one square each, on the axes x3 and y3."""
    counts = study.related.kernel, study.free.kernel, study.spectrum.kernel
    most = max(*counts, 10)
    size = min(1.2 * theme.size("tick"), 0.85 * _WIDTH * 0.62 / most)
    wrong = outside_words(f"{counts[1]}: wrong") if study.misled else str(counts[1])
    floats = str(counts[2]) if study.spectrum.decided else f"{counts[2]}, not decided"
    free = study.setting.treat == "free"
    rows = [("as related", not free), ("all free", free), ("floats", False)]
    return View(
        [
            _squares("kernel as the exponentials are related (measured)", 2, counts[0], "measured", size),
            _squares("kernel with all exponentials free (measured)", 1, counts[1], "outside", size),
            _squares("kernel in floating point (measured)", 0, counts[2], "ghost", size),
        ],
        {
            "xaxis3": {
                "domain": x_domain,
                "anchor": "y3",
                "range": [-0.2, most / 0.62],
                "showgrid": False,
                "showline": False,
                "ticks": "",
                "showticklabels": False,
            },
            "yaxis3": {
                "domain": y_domain,
                "anchor": "x3",
                "range": [-0.6, 2.6],
                "tickvals": [2, 1, 0],
                "ticktext": [_row(*row) for row in rows],
                "tickfont": {"color": theme.color("ink"), "size": theme.size("note")},
                "showgrid": False,
                "showline": False,
                "ticks": "",
            },
        },
        [
            headline(_finding(study), "3"),
            *(
                label(
                    text,
                    count,
                    row,
                    "3",
                    xanchor="left",
                    yanchor="middle",
                    xshift=8,
                    font={"size": theme.size("base")},
                )
                for text, count, row in zip((str(counts[0]), wrong, floats), counts, (2, 1, 0), strict=True)
            ),
        ],
        [],
    )


def _row(text: str, chosen: bool) -> str:
    return f'<b><span style="color:{theme.color("focus")}">▸ {text}</span></b>' if chosen else text


def _finding(study: ExponentialsStudy) -> str:
    true, free = study.related.kernel, study.free.kernel
    if study.misled:
        return f"{_nothing(true)}; " + outside_words(f"drawn free: {free}")
    if study.independence.complete:
        return f"{_nothing(true)}: no relation to miss"
    return f"{_nothing(true)}, either way"


def _nothing(count: int) -> str:
    if not count:
        return "every direction is seen"
    return f"{count} directions do nothing" if count > 1 else "1 direction does nothing"


def _squares(name: str, row: int, count: int, role: str, size: float) -> dict:
    return {
        "name": name,
        "xaxis": "x3",
        "yaxis": "y3",
        "x": [n + 0.5 for n in range(count)],
        "y": [row] * count,
        "mode": "markers",
        "cliponaxis": False,
        "marker": {
            "symbol": "square",
            "size": round(size),
            "color": theme.color(role),
            "line": {"width": 0},
        },
        "hovertemplate": f"{name}<extra></extra>",
    }


def spectrum_view(
    study: ExponentialsStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]
) -> View:
    """The singular values of the true softmax, and the exact rank that is chosen as a line; on x4 and y4."""
    sigma = drawable(study.spectrum.singular_values)
    rank, n = study.spectrum.value, study.spectrum.num_columns
    role = "outside" if study.shown is study.free and study.misled else "measured"
    hover = "σ<sub>%{x}</sub> = %{y:.1e}<extra></extra>"
    kept, zeros = list(range(1, rank + 1)), list(range(rank + 1, len(sigma) + 1))
    return View(
        [
            sigma_dots(
                "singular values of the true softmax (measured)", "4", kept, sigma[:rank], True, hover
            ),
            sigma_dots("zeros of the true softmax (measured)", "4", zeros, sigma[rank:], False, hover),
            rank_line(
                "exact rank (measured)",
                "4",
                study.shown.value,
                color=theme.color(role),
                dash="solid" if role == "measured" else "dash",
            ),
        ],
        {
            "xaxis4": {
                "domain": x_domain,
                "anchor": "y4",
                "range": [0, n + 1],
                "title": {"text": f"index i ({n} entries of L and the M)"},
                "tickvals": ticks(1, study.shown.value, n),
                "showgrid": False,
            },
            "yaxis4": sigma_axis("4", y_domain),
        },
        [headline(_spectrum_finding(study), "4"), _rank_label(study, role)],
        [noise_band("4", max(n * 2.2e-16, NOISE))],
    )


def _rank_label(study: ExponentialsStudy, role: str) -> dict:
    """Left of the line, below the dots."""
    words = "exact rank" if role == "measured" else "relations ignored:<br>exact rank"
    return label(
        f"{words} <b>{study.shown.value}</b>",
        study.shown.value + 0.5,
        -8.0,
        "4",
        xanchor="right",
        yanchor="middle",
        xshift=-8,
        align="right",
        font={"size": theme.size("base"), "color": theme.color(role)},
    )


def _spectrum_finding(study: ExponentialsStudy) -> str:
    zeros = study.spectrum.kernel
    if not study.spectrum.decided:
        return "floats cannot decide here"
    found = f"the true softmax has {zeros or 'no'} zero{'' if zeros == 1 else 's'}"
    if zeros == study.shown.kernel:
        return found
    return found + outside_words(f", not {study.shown.kernel}")
