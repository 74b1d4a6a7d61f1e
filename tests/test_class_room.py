"""What a class knows and tells: votes, seats, allowances, and what nobody is told too
early."""

import json
from contextlib import suppress

import pytest
from class_site import CHOICE, NUMBER, PAGE, some_polls

from neuroviz.lessons.classroom.room import (
    BURST,
    FULL,
    FULL_AT_ONE_ADDRESS,
    RefusedError,
    Room,
)


@pytest.fixture
def room():
    return Room(some_polls(), most=3, per_address=2)


def seats(room, count):
    return [room.seat(None, f"10.0.0.{n}") for n in range(count)]


def told(room, seat, name=NUMBER):
    return room.for_student(seat, PAGE)["questions"][name]


def test_the_first_guess_of_a_seat_counts(room):
    (seat,) = seats(room, 1)
    room.vote(seat, NUMBER, 40)
    room.vote(seat, NUMBER, 38)
    assert told(room, seat)["guess"] == "40"
    assert room.polls[NUMBER].counts() == [{"40": 1}]


def test_a_second_vote_stands_beside_the_first_and_there_is_no_third(room):
    one, other = seats(room, 2)
    room.vote(one, NUMBER, 64)
    room.vote(other, NUMBER, 38)
    room.vote_again(NUMBER)
    assert told(room, one)["isAsked"] and told(room, one)["guess"] == "64"
    room.vote(one, NUMBER, 38)
    room.vote_again(NUMBER)
    assert room.polls[NUMBER].counts() == [{"64": 1, "38": 1}, {"38": 1}]
    question = room.for_teacher()["questions"][0]
    assert question["totals"] == [2, 1]
    assert {bar["guess"]: bar["counts"] for bar in question["bars"]} == {
        "38": [1, 1],
        "64": [1, 0],
    }


def test_nobody_votes_again_once_the_answer_is_open(room):
    room.open(NUMBER)
    room.vote_again(NUMBER)
    assert len(room.polls[NUMBER].votes) == 1


def test_an_answer_is_told_when_it_is_open_and_a_guess_is_there(room):
    early, late = seats(room, 2)
    room.vote(early, NUMBER, 64)
    assert told(room, early)["answer"] is None
    room.open(NUMBER)
    assert told(room, early)["answer"] == {
        "value": "38",
        "remark": "That is the number of parameters.",
        "reason": "<p>It is 38.</p>",
        "folds": ["<p>Because 38 count.</p>"],
    }
    assert told(room, late)["answer"] is None and told(room, late)["isOpen"]
    room.vote(late, NUMBER, 38)
    assert told(room, late)["answer"]["value"] == "38"
    assert room.polls[NUMBER].counts() == [{"64": 1}]
    assert room.for_teacher()["questions"][0]["late"] == 1


def test_answers_that_are_not_held_come_with_the_guess(room):
    (seat,) = seats(room, 1)
    room.hold(False)
    assert told(room, seat)["answer"] is None
    room.vote(seat, NUMBER, 1)
    assert told(room, seat)["answer"]["value"] == "38"


def test_who_has_read_an_answer_keeps_it_when_answers_wait_again(room):
    reads, waits = seats(room, 2)
    room.hold(False)
    room.vote(reads, NUMBER, 1)
    assert told(room, reads)["answer"]["value"] == "38"
    room.hold(True)
    room.vote(waits, NUMBER, 1)
    assert told(room, reads)["answer"]["value"] == "38"
    assert told(room, waits)["answer"] is None


def test_a_late_guess_says_so(room):
    early, late = seats(room, 2)
    room.vote(early, NUMBER, 64)
    room.open(NUMBER)
    room.vote(late, NUMBER, 64)
    assert told(room, late)["isLate"] and not told(room, early)["isLate"]


def test_counts_do_not_sink_after_the_end(room):
    here = {*seats(room, 3)}
    room.present = lambda: here
    room.choose(NUMBER)
    room.count_hands(NUMBER, 38, 1)
    room.end()
    teacher = room.for_teacher([])
    assert (teacher["here"], teacher["unaware"]) == (3, 3)
    assert room.for_projector([])["question"]["expected"] == 4
    room.for_student(here.pop())
    assert room.for_teacher([])["unaware"] == 2


def test_after_the_end_all_answers_are_told_and_no_guess_is_taken(room):
    (seat,) = seats(room, 1)
    room.end()
    room.vote(seat, NUMBER, 1)
    assert told(room, seat)["guess"] is None
    assert told(room, seat)["answer"]["value"] == "38"


def test_students_are_never_told_a_count_or_somebody_elses_guess(room):
    one, other = seats(room, 2)
    room.vote(one, NUMBER, 12345)
    assert "12345" not in json.dumps(room.for_student(other))


def test_the_wall_shows_guesses_when_asked_and_names_mistakes_when_open(room):
    (seat,) = seats(room, 1)
    assert room.for_projector()["question"] is None
    room.choose(NUMBER)
    room.vote(seat, NUMBER, 64)
    said = json.dumps(room.for_projector())
    assert "64" not in said and "38" not in said
    room.show_bars(True)
    said = room.for_projector()["question"]
    assert said["bars"] == [{"guess": "64", "counts": [1]}] and "answer" not in said
    room.vote_again(NUMBER)  # while they vote, nobody is led
    assert room.for_projector()["question"]["bars"] == []
    room.open(NUMBER)
    said = room.for_projector()["question"]
    assert said["answer"] == "38"
    assert said["bars"][0]["remark"] == "That is the number of parameters."


def test_all_pages_are_told_what_the_teacher_asks_and_whether_they_have_answered(room):
    (seat,) = seats(room, 1)
    assert room.for_student(seat)["now"] is None
    room.choose(NUMBER)
    now = room.for_student(seat, "elsewhere")["now"]
    assert (now["name"], now["page"], now["isAsked"]) == (NUMBER, PAGE, True)
    room.vote(seat, NUMBER, 64)
    assert not room.for_student(seat)["now"]["isAsked"]


def test_who_has_answered_is_expected_though_the_telephone_sleeps(room):
    one, other = seats(room, 2)
    room.choose(NUMBER)
    room.vote(one, NUMBER, 64)
    room.count_hands(NUMBER, 38, 2)
    question = room.for_projector([other])["question"]
    assert (question["totals"], question["expected"]) == ([3], 4)


def test_the_answer_has_a_bar_on_the_wall_though_others_are_more_frequent(room):
    room.choose(NUMBER)
    for guess in range(12):
        room.count_hands(NUMBER, guess, 2)
    room.count_hands(NUMBER, 38, 1)
    room.open(NUMBER)
    bars = room.for_projector()["question"]["bars"]
    assert len(bars) == 6 and [bar["guess"] for bar in bars if bar["isRight"]] == ["38"]


def test_the_most_frequent_guess_comes_first_and_equals_by_their_value(room):
    for guess, hands in ((100, 1), (-2, 1), (64, 3), (9, 1), (38, 2)):
        room.count_hands(NUMBER, guess, hands)
    bars = room.for_teacher()["questions"][0]["bars"]
    assert [bar["guess"] for bar in bars] == ["64", "38", "-2", "9", "100"]
    room.count_hands(CHOICE, "no", 1)
    room.count_hands(CHOICE, "yes", 1)
    bars = room.for_teacher()["questions"][1]["bars"]
    assert [bar["guess"] for bar in bars] == ["yes", "no"]


def test_the_great_mistake_of_the_first_vote_stays_after_the_second(room):
    room.choose(NUMBER)
    for guess, hands in ((64, 5), (9, 2), (10, 2)):
        room.count_hands(NUMBER, guess, hands)
    room.vote_again(NUMBER)
    room.show_bars(True)
    for guess, hands in ((38, 6), (40, 2), (1, 2), (2, 1)):
        room.count_hands(NUMBER, guess, hands)
    wall = room.for_projector()["question"]
    assert [(bar["guess"], bar["counts"]) for bar in wall["bars"]] == [
        ("38", [0, 6]),
        ("64", [5, 0]),
        ("1", [0, 2]),
        ("40", [0, 2]),
        ("9", [2, 0]),
    ]
    assert wall["totals"] == [9, 11] and wall["others"] == [2, 1]


def test_another_question_on_the_wall_hides_its_guesses(room):
    room.show_bars(True)
    room.choose(CHOICE)
    assert room.for_projector()["question"]["name"] == CHOICE
    assert not room.for_teacher()["hasBars"]


def test_hands_are_counted_with_the_votes_and_never_below_none(room):
    (seat,) = seats(room, 1)
    room.vote(seat, NUMBER, 64)
    room.count_hands(NUMBER, 64, 5)
    room.count_hands(NUMBER, 38, 2)
    room.count_hands(NUMBER, 38, -3)
    bar, *_ = room.for_teacher()["questions"][0]["bars"]
    assert bar["counts"] == [6] and bar["hands"] == 5
    assert room.polls[NUMBER].counts() == [{"64": 6}]
    room.count_hands(CHOICE, "no", 1)
    assert room.polls[CHOICE].counts() == [{"no": 1}]


@pytest.mark.parametrize("by", [True, "1", 1.5, None, 10**4])
def test_hands_are_whole_numbers(room, by):
    with pytest.raises(ValueError, match="hands"):
        room.count_hands(NUMBER, 64, by)


@pytest.mark.parametrize(
    "guess",
    [None, True, "38", [38], {}, float("nan"), float("inf"), 10**400, 10**7, -(10**7)],
)
def test_what_is_no_number_is_no_guess(room, guess):
    (seat,) = seats(room, 1)
    with pytest.raises(ValueError, match="a guess is a number"):
        room.vote(seat, NUMBER, guess)


@pytest.mark.parametrize("guess", ["maybe", "", 1, None, ["yes"]])
def test_what_is_no_choice_is_no_guess(room, guess):
    (seat,) = seats(room, 1)
    with pytest.raises(ValueError, match="one of yes, no"):
        room.vote(seat, CHOICE, guess)


def test_empty_seats_are_given_to_those_who_come(room):
    voted, listens, gone = room.seat(None, "a"), room.seat(None, "a"), ""
    room.vote(voted, NUMBER, 1)
    room.present = lambda: [listens]
    gone = room.seat(None, "b")
    newcomer = room.seat(None, "c")
    assert not room.has(gone)
    assert all(map(room.has, (voted, listens, newcomer)))


def test_a_guess_for_a_vote_that_is_over_is_not_counted_in_the_next(room):
    (seat,) = seats(room, 1)
    room.vote(seat, NUMBER, 64, 1)
    room.vote_again(NUMBER)
    room.vote(seat, NUMBER, 64, 1)  # sent twice, and slow
    assert told(room, seat)["isAsked"]
    room.vote(seat, NUMBER, 38, 2)
    assert room.polls[NUMBER].counts() == [{"64": 1}, {"38": 1}]


def test_what_is_told_later_has_a_larger_number(room):
    (seat,) = seats(room, 1)
    one, other = room.for_student(seat), room.for_student(seat)
    assert one["number"] < other["number"] and one["class"] == other["class"]


def test_hands_are_not_counted_once_the_answer_is_open(room):
    room.open(NUMBER)
    with pytest.raises(ValueError, match="the answer is open"):
        room.count_hands(NUMBER, 38, 1)


def test_seats_are_bounded_and_kept(room):
    first = room.seat(None, "a")
    room.seat("a name of somebody else", "a")
    room.present = lambda: room._seats
    told = []
    room.changed = told.append
    with pytest.raises(RefusedError, match="full at one address"):
        room.seat(None, "a")  # two an address
    assert told == [False]  # the teacher, at once
    room.seat(None, "b")
    with pytest.raises(RefusedError, match="full"):
        room.seat(None, "c")  # three in all
    assert told == [False] * 3  # and "b" has come
    assert room.seat(first, "elsewhere") == first
    assert room.came == 3 and room.refused == {FULL_AT_ONE_ADDRESS: 1, FULL: 1}
    told = room.for_teacher()
    assert (told["most"], told["perAddress"]) == (3, 2)


def test_an_address_has_an_allowance_and_leaves_that_of_others_alone(room):
    refused = 0
    for _ in range(3 * int(BURST)):
        try:
            room.allow("flood")
        except RefusedError:
            refused += 1
    assert refused > BURST
    room.allow("somebody else")


def test_a_flood_of_one_seat_leaves_others_at_its_address_alone(room):
    one, other = (room.seat(None, "proxy") for _ in range(2))
    for _ in range(2 * int(BURST)):
        with suppress(RefusedError):
            room.allow("proxy", one)
    room.allow("proxy", other)
    room.allow("proxy")


def test_many_addresses_fill_no_memory(room):
    for n in range(1000):
        room.allow(f"address {n}")
    assert len(room._allowances) <= 4 * room.most + 1


def test_the_table_has_counts_and_nothing_of_who(room):
    one, other = seats(room, 2)
    room.vote(one, NUMBER, 64)
    room.vote(other, NUMBER, 64)
    room.vote_again(NUMBER)
    room.vote(one, NUMBER, 38)
    room.count_hands(NUMBER, 38, 2)
    room.open(NUMBER)
    third = room.seat(None, "10.0.0.9")
    room.vote(third, NUMBER, 64)
    table = room.table()
    mistake = "That is the number of parameters."
    assert table.splitlines()[1:] == [
        f"{PAGE},How many dimensions?,38,1,64,2,0,{mistake}",
        f"{PAGE},How many dimensions?,38,2,38,3,2,",
        f"{PAGE},How many dimensions?,38,late,64,1,0,{mistake}",
    ]
    assert one not in table and "10.0.0" not in table


def test_a_question_is_found_by_its_name_and_by_its_text(room):
    assert room.find(NUMBER) == NUMBER
    assert room.find("  how many   “dimensions” ") == NUMBER
    assert room.find("What else?") is None
