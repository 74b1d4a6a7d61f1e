"""What is known of one network as lightning and as softmax, side by side."""

from dataclasses import replace
from html import escape

from neuroviz.engine.architecture import ATTENTION_KINDS, Architecture
from neuroviz.kit import theme
from neuroviz.kit.table import Table, light
from neuroviz.softmax.known import StatusBoard, what_is_known

# What stands at the left, and the questions of which the first that a board has is answered there.
ROWS = (
    ("dimension", ("dimension",)),
    ("exact rank", ("exact rank",)),
    ("function → (L, M)", ("function → (L, M)",)),
    ("(L, M) → (A, V)", ("(L, M) → (A, V)",)),
    ("special weights", ("special weights",)),
    ("beyond", ("other normalisations", "heads or a skip")),
)


def known_table(arch: Architecture) -> Table:
    """`what_is_known` of the same sizes without and with softmax: answer, status and source.

    Args:
        arch: any `Architecture`; its own kind of attention does not matter.

    Raises:
        ValueError: as `what_is_known`.

    >>> known_table(Architecture.uniform(3, 2, 2)).rows[1][1:]
    ('<b>23</b>...proved...', '<b>25</b>...proved...')
    """
    boards = [what_is_known(replace(arch, attention=kind)) for kind in ATTENTION_KINDS]
    answers = ((name, *(_answer(board, questions) for board in boards)) for name, questions in ROWS)
    return Table((("", *ATTENTION_KINDS), *answers))


def _answer(board: StatusBoard, questions: tuple[str, ...]) -> str:
    """The entry of the first of these questions that the board has."""
    entry = next(found for found in map(board.entry, questions) if found)
    glyph, role = theme.glyph(entry.status)
    named = f"{entry.question}: " if len(questions) > 1 else ""
    return (
        f"<b>{escape(named + entry.answer)}</b>&ensp;{light(role, f'{glyph} {entry.status}')}"
        f" · {escape(entry.source)}"
    )
