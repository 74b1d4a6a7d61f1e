"""What is known for lightning and for softmax, as rows: an answer, and with what right it is given."""

from textwrap import wrap

from neuroviz.kit import theme
from neuroviz.kit.plot import View, label
from neuroviz.kit.words import colored
from neuroviz.softmax.known import StatusBoard, StatusEntry
from neuroviz.softmax.overview import SoftmaxStudy

# What stands at the left, and the questions of which the first that a board has is answered there.
ROWS = (
    ("dimension", ("dimension",)),
    ("certificate", ("certificates",)),
    ("φ → (L, M)", ("function → (L, M)",)),
    ("(L, M) → (A, V)", ("(L, M) → (A, V)",)),
    ("special weights", ("special weights",)),
    ("beyond", ("other normalisations", "heads or a skip")),
)
_NAMED = {"other normalisations": "not exp", "heads or a skip": "heads, skips"}


def board_view(
    study: SoftmaxStudy, columns: tuple[tuple[float, float], ...], rows: tuple[float, float]
) -> View:
    """The rows, in paper coordinates: questions at the left, an answer in each column."""
    low, high = rows
    step = (high - low) / len(ROWS)
    said, lines = [], []
    for i, (name, questions) in enumerate(ROWS):
        y = high - (i + 0.5) * step
        said.append(_text(colored("soft", name), 0.0, y, ""))
        for board, (left, _) in zip((study.lightning.board, study.softmax.board), columns, strict=True):
            entry = _first(board, questions)
            said.append(_text(_row(entry), left, y, _hover(entry)))
        lines.append(_rule(high - i * step))
    return View([], {}, said, lines)


def _first(board: StatusBoard, questions: tuple[str, ...]) -> StatusEntry:
    """The entry of the first of these questions that the board has."""
    return next(found for found in map(board.entry, questions) if found)


def _row(entry: StatusEntry) -> str:
    """Answer, glyph, word, and where a statement stands behind it, its source."""
    glyph, role = theme.glyph(entry.status)
    right = colored(role, f"{glyph} {entry.status}")
    named = _NAMED.get(entry.question, "")
    answer = f"{named}: {entry.answer}" if named else entry.answer
    source = entry.source.replace("Conjecture", "Conj.").replace("The gauge slice", "slice")
    bare = entry.status in ("no formula", "observed") or source == "Certificates"
    source = "" if bare else f" · {source}"
    return f"<b>{answer}</b>  {right}{source}"


def _hover(entry: StatusEntry) -> str:
    lines = wrap(f"{entry.note} [{entry.source}]", 70)
    return f"<b>{entry.question}</b><br>" + "<br>".join(lines)


def _text(text: str, x: float, y: float, hover: str) -> dict:
    return label(
        text,
        x,
        y,
        xref="paper",
        yref="paper",
        xanchor="left",
        yanchor="middle",
        align="left",
        hovertext=hover,
        # By itself the text would take the pale colour of the border.
        hoverlabel={"font": {"size": theme.size("tick"), "color": theme.color("ink")}},
        font={"size": theme.size("note"), "color": theme.color("ink")},
    )


def _rule(y: float) -> dict:
    return {
        "type": "line",
        "xref": "paper",
        "yref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": y,
        "y1": y,
        "line": {"color": theme.color("grid"), "width": 1},
    }
