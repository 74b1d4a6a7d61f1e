"""The derivative with its true exponentials, in floating point: a check of the exact kernel without Ax."""

from neuroviz.beyond.proof.immersion import ImmersionStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label, ticks
from neuroviz.kit.sigma import drawable, noise_band, rank_line, sigma_axis, sigma_dots


def spectrum_view(
    study: ImmersionStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]
) -> View:
    """The singular values, and the exact rank as a line, on the axes x4 and y4."""
    rank, count = study.everything.measured.value, study.spectrum.num_columns
    sigma = drawable(study.spectrum.singular_values)
    indices = list(range(1, count + 1))
    hover = "σ<sub>%{x}</sub> = %{y:.1e}<extra></extra>"
    beyond = indices[rank:], sigma[rank:], False, hover
    traces = [
        sigma_dots(
            "singular values up to the exact rank (measured)", "4", indices[:rank], sigma[:rank], True, hover
        ),
        sigma_dots("singular values beyond the exact rank (measured)", "4", *beyond),
        rank_line("exact rank (measured)", "4", rank),
    ]
    axes = {
        "xaxis4": {
            "domain": x_domain,
            "anchor": "y4",
            "range": [0, count + 1],
            "tickvals": ticks(1, rank, count),
            "showgrid": False,
        },
        "yaxis4": sigma_axis("4", y_domain),
    }
    return View(traces, axes, [headline(_finding(study), "4"), *_labels(study, rank)], [noise_band("4")])


def _labels(study: ImmersionStudy, rank: int) -> list[dict]:
    to_the_left = 2 * rank > study.spectrum.num_columns
    side = {"xanchor": "right", "xshift": -8} if to_the_left else {"xanchor": "left", "xshift": 8}
    return [
        label(
            f"exact rank <b>{rank}</b>",
            rank + 0.5,
            -8,
            "4",
            yanchor="middle",
            font={"size": theme.size("base"), "color": theme.color("measured")},
            **side,
        ),
        label(
            "rounding",
            0,
            -16.3,
            "4",
            xref="x4 domain",
            xanchor="left",
            yanchor="middle",
            xshift=6,
            font={"size": theme.size("note"), "color": theme.color("soft")},
        ),
    ]


def _finding(study: ImmersionStudy) -> str:
    """Whether floating point, with the exponentials as they are, says the same."""
    found, zeros = study.spectrum, study.spectrum.kernel
    if not found.decided:
        return f"floats cannot decide: they read rank {found.value}"
    if found.value != study.everything.measured.value:
        return f"floats say rank {found.value}: another number"
    return f"floats agree: {zeros or 'no'} zero{'s' if zeros != 1 else ''} of {found.num_columns}, without Ax"
