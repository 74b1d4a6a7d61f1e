"""What `neuroviz class` needs of the questions: two files, and pages without answers.

A page of the site folds the answer of a question; the code that asks has it, too, and
so may the folds that follow. The same page for a class has none of them: marks in its
HTML say where they begin and end.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from neuroviz.lessons.classroom.site import ANSWERS, PAGES, QUESTIONS

_MARK = re.compile(
    r"<!-- (?P<kind>question|fold) (?P<name>[\w-]+) -->(?P<html>.*?)"
    r"<!-- end of (?P=kind) -->",
    re.DOTALL,
)
_PLANNED = re.compile(r"<!-- asks: (.*?) -->")
_FOLD = re.compile(r"<details>.*?</details>", re.DOTALL)
_QUESTION = re.compile(
    r'<details class="nv-question"(?P<asks> data-asks="[^"]*")?[^>]*>\s*'
    r"<summary>(?P<asked>.*?)</summary>(?P<answer>.*?)<!-- remarks -->",
    re.DOTALL,
)


def marked(name: str, kind: str, text: str) -> str:
    """A text of a page between marks, which browsers do not show.

    >>> print(marked("00_start-1", "fold", "<details>Why?</details>"))
    <!-- fold 00_start-1 -->
    <BLANKLINE>
    <details>Why?</details>
    <BLANKLINE>
    <!-- end of fold -->
    """
    return f"<!-- {kind} {name} -->\n\n{text}\n\n<!-- end of {kind} -->"


def mark_folds(text: str, question: str) -> str:
    """The folds of a text that come after a question, up to the next heading of a
    section: they may say its answer.

    >>> print(mark_folds("So?\\n<details>9.</details>\\n## On", "a-1"))
    So?
    <!-- fold a-1 -->
    <BLANKLINE>
    <details>9.</details>
    <BLANKLINE>
    <!-- end of fold -->
    ## On
    """
    # \Z: without a heading all of the text is before it.
    before, heading, after = re.split(r"(^##+ |\Z)", text, maxsplit=1, flags=re.M)
    its = _FOLD.sub(lambda found: marked(question, "fold", found[0]), before)
    return its + heading + after


def has_section(text: str) -> bool:
    """Whether a section begins in a text: no fold after it belongs to an earlier
    question."""
    return re.search(r"^##+ ", text, re.M) is not None


def last_section(text: str) -> str:
    """The heading of the last section that begins in a text, or none.

    >>> last_section("# Deep\\n## Add *up*\\nOne, two.")
    'Add up'
    """
    found = re.findall(r"^##+ (.+)$", text, re.M)
    return re.sub(r"[*`$]", "", found[-1]) if found else ""


def for_class(html: str) -> tuple[str, dict[str, dict]]:
    """The page for a class, and what it lacks: question → the HTML of its answer and of
    its folds."""
    kept: dict[str, dict] = {}

    def without(found: re.Match) -> str:
        name = found["name"]
        its = kept.setdefault(name, {"html": "", "folds": []})
        if found["kind"] == "fold":
            its["folds"].append(found["html"].strip())
            place = len(its["folds"]) - 1
            return f'<div class="nv-fold" data-of="{name}" data-place="{place}"></div>'
        question = _QUESTION.search(found["html"])
        its["html"] = question["answer"].strip()
        asked = question["asked"].strip()
        asks = question["asks"] or ""
        return (
            # panels of the page are called by the same names and other numbers
            f'<div class="nv-class" id="ask-{name}" data-question="{name}"{asks}>'
            f"{asked}</div>"
        )

    return _MARK.sub(without, html), kept


def choices_of(question: dict) -> list[str]:
    """What there is to choose from, as `capture.texts` says it; nothing where a number
    is asked for."""
    if question["kind"] == "number":
        return []
    return [choice for choice, _ in question["remarks"]]


def planned(plan: str) -> list[str]:
    """The questions that the teacher's plan asks, in its order.

    >>> planned("<!-- asks: How many? -->\\n<!-- asks: And why? -->")
    ['How many?', 'And why?']
    """
    return _PLANNED.findall(plan)


def write(
    site: Path,
    questions: dict[str, dict],
    titles: dict[str, str],
    plan: Sequence[str] = (),
) -> None:
    """Write them for the questions of a site.

    Args:
        site: the folder of the built site.
        questions: name → what `capture.texts` says.
        titles: the pages of its notebooks, such as "notebooks/00_start", and what
            they are called.
        plan: the questions that the teacher asks first, in this order.

    Raises:
        ValueError: if a page lacks a question, or two questions have one text.
    """
    asked = [one["question"] for one in questions.values()]
    if len(set(asked)) < len(asked):
        raise ValueError("two questions have the same text: a class tells them by it")
    kept: dict[str, dict] = {}
    pages: dict[str, str] = {}
    for place in titles:
        page, found = for_class((site / f"{place}.html").read_text(encoding="utf-8"))
        if not found:
            continue
        target = site / PAGES / f"{place}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page, encoding="utf-8", newline="\n")
        kept |= found
        pages |= dict.fromkeys(found, place)
    if missing := questions.keys() - kept.keys():
        raise ValueError(f"not in their pages: {', '.join(sorted(missing))}")
    public = []
    secret = {}
    for name, one in questions.items():
        remarks = dict(one["remarks"])
        right = remarks.pop(one["answer"], "")
        public.append(
            {
                "id": name,
                "page": pages[name],
                "title": titles[pages[name]],
                "section": one["section"],
                "question": one["question"],
                "kind": one["kind"],
                "choices": choices_of(one),
                "mistakes": remarks,
                "planned": plan.index(one["question"]) + 1
                if one["question"] in plan
                else None,
            }
        )
        secret[name] = {"answer": one["answer"], "remark": right} | kept[name]
    for name, content in ((QUESTIONS, public), (ANSWERS, secret)):
        text = json.dumps(content, ensure_ascii=False, indent=1)
        (site / name).write_text(f"{text}\n", encoding="utf-8", newline="\n")
