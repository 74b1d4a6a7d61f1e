"""Numbers as people type them: in a notebook, and on the pages of a class."""

import pytest
from node import ask

from neuroviz.lessons.typed_numbers import number_in

READ = {
    "0,5": 0.5,
    " 38 ": 38,
    "-2": -2,
    "+7": 7,
    "– 5": -5,
    "−1/2": -0.5,
    "39.": 39,
    ".25": 0.25,
    "1e3": 1000,
    "2.5E-1": 0.25,
    "1.234": 1.234,
    "123 456": 123456,
    "1\u202f234\u202f567": 1234567,
    "12'345": 12345,
    "1,234,567": 1234567,
    "0,125": 0.125,
}
NO_NUMBERS = (
    "",
    "many",
    "1e999",
    "3 4",
    "1  234",
    "٣",
    "1,234",
    "-1,234",
    "1,23,456",
    "1.234.5",
    "1/0",
    "2/3/4",
    "1" * 5000,
)


def test_a_complaint_keeps_the_sign():
    assert "may be −1234 or −1.234" in complaint_on("-1,234")


def complaint_on(typed: str) -> str:
    with pytest.raises(ValueError) as error:
        number_in(typed)
    return str(error.value)


def test_a_notebook_reads_them():
    assert [float(number_in(typed)) for typed in READ] == [*READ.values()]


def test_the_pages_of_a_class_read_the_same():
    program = """
    import { numberIn } from "classroom/numbers.ts";
    say(given.map(numberIn));
    """
    assert ask(program, [*READ]) == [*READ.values()]
    assert ask(program, NO_NUMBERS) == [None] * len(NO_NUMBERS)


def test_both_say_in_the_same_words_why_a_text_is_none():
    program = """
    import { complaintOn } from "classroom/numbers.ts";
    say(given.map(complaintOn));
    """
    assert ask(program, NO_NUMBERS) == [*map(complaint_on, NO_NUMBERS)]
