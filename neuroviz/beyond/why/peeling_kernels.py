"""Kernels on the way to a special first layer, counted: one square for each direction that does nothing."""

from neuroviz.beyond.why.peeling import PeelStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label, outside_words

_WIDTH = 490  # pixels of the view in a panel of 1100


def kernels_view(study: PeelStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> View:
    """One row of squares for each kernel, on the axes x3 and y3."""
    rescalings, here, end, tail = _counts(study)
    peeled = 1 + tail
    beyond = end - peeled
    most = max(end, here, peeled, rescalings, 10)
    size = min(1.2 * theme.size("tick"), 0.85 * _WIDTH * 0.62 / most)
    traces = [
        _squares("rescalings", 3, range(rescalings), "symmetry", size),
        _squares("kernel here (measured)", 2, range(here), "measured", size),
        _squares("kernel at the end (measured)", 1, range(min(end, peeled)), "measured", size),
        _squares("kernel at the end beyond the lemma (measured)", 1, range(peeled, end), "outside", size),
        _squares("the rescaling of the first layer", 0, range(1), "symmetry", size),
        _squares("kernel without the first layer (measured)", 0, range(1, peeled), "measured", size),
    ]
    texts = [
        f"{rescalings}: always there",
        f"{here}",
        f"{end}" + (outside_words(f": {beyond} too many") if beyond > 0 else ""),
        f"1 + {tail} = {peeled}",
    ]
    font = {"size": theme.size("base")}
    counts = (rescalings, here, end, peeled)
    labels = [
        label(text, count, row, "3", xanchor="left", yanchor="middle", xshift=8, font=font)
        for text, count, row in zip(texts, counts, (3, 2, 1, 0), strict=True)
    ]
    return View(
        traces,
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
                "range": [-0.6, 3.6],
                "tickvals": [3, 2, 1, 0],
                "ticktext": [
                    "rescalings",
                    f"here, s = {study.setting.place:.4g}",
                    "at the end, s = 1",
                    "1 + without layer 1",
                ],
                "tickfont": {"color": theme.color("ink"), "size": theme.size("note")},
                "showgrid": False,
                "showline": False,
                "ticks": "",
            },
        },
        [headline(_finding(study), "3"), *labels],
        [],
    )


def _counts(study: PeelStudy) -> tuple[int, int, int, int]:
    return study.setting.layers, study.here.kernel, study.at_end.kernel, study.tail.kernel


def _finding(study: PeelStudy) -> str:
    """The chain of the proof: rescalings ≤ here ≤ at the end, which the lemma knows."""
    rescalings, here, end, tail = _counts(study)
    chain = f"kernel: {rescalings} ≤ {here} ≤ {end}"
    if not study.splits:
        return f"{chain} " + outside_words(f"≠ 1 + {tail}: proves nothing")
    return f"{chain} = 1 + {tail}" + (f", so it is {end}" if rescalings == here == end else "")


def _squares(name: str, row: int, which: range, role: str, size: float) -> dict:
    return {
        "name": name,
        "xaxis": "x3",
        "yaxis": "y3",
        "x": [i + 0.5 for i in which],
        "y": [row] * len(which),
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
