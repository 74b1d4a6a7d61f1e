"""Who is in a class, and what its pages are told. No disk has anything of it."""

import csv
import io
import secrets
import time
from collections import Counter
from collections.abc import Callable, Collection

from neuroviz.lessons.classroom.poll import Poll, letters_of

RATE = 8.0
"""Requests a second that a seat may make, and an address for those without one."""

BURST = 40.0
"""Requests that it may make at once."""

MOST_BARS = 24
"""Different guesses that the teacher sees; the rarest are counted together."""

MOST_ON_THE_WALL = {1: 8, 2: 5}
"""So many guesses fit below a question: after one vote, and after two."""

MOST_WITH_REMARKS = {1: 6, 2: 5}
"""The same once the answer is open: each guess has two lines then, for its remark."""

FULL = "full"
FULL_AT_ONE_ADDRESS = "full at one address"
TOO_OFTEN = "too often"
"""Why a request is refused."""


class RefusedError(Exception):
    """A request is not answered: the class is full, or it came too often."""


class Room:
    """Seats, questions, and what the teacher has decided.

    Args:
        polls: the questions by their names.
        most: seats.
        per_address: seats at one address; behind a proxy all have the same.
        changed: called when the pages of the students have something new to ask for,
            with True, and when the teacher alone has, with False.
        present: the seats that have a page open.
    """

    def __init__(
        self,
        polls: dict[str, Poll],
        most: int = 200,
        per_address: int = 4,
        changed: Callable[[bool], None] = lambda for_all: None,
        present: Callable[[], Collection[str]] = lambda: (),
    ) -> None:
        self.name = secrets.token_hex(4)
        self.present = present
        self._told = 0  # answers: a page leaves out one that a later one has overtaken
        self.polls = polls
        self.most = most
        self.per_address = per_address
        self.changed = changed
        self.is_held = True
        self.is_over = False
        self.has_bars = False
        self.chosen: str | None = None
        self.refused: Counter[str] = Counter()
        self.seconds_left = 0  # after the end, for those who have not heard it
        self._here_at_the_end: frozenset[str] = frozenset()
        self._named = {letters_of(poll.question): name for name, poll in polls.items()}
        self._have_heard: set[str] = set()  # seats that know of the end
        self._seats: dict[str, str] = {}  # seat → address, to bound how many it takes
        self._allowances: dict[str, tuple[float, float]] = {}

    # Those who come

    def seat(self, cookie: str | None, address: str) -> str:
        """The seat of a visitor, a new one if the cookie is none of ours.

        Raises:
            RefusedError: if all seats are taken, or all that this address may have.
        """
        if cookie in self._seats:
            return cookie
        if self._what_is_full(address):
            self._free_empty_seats()
        if full := self._what_is_full(address):
            self.changed(False)  # the teacher alone can help
            self.refuse(full)
        seat = secrets.token_urlsafe(12)
        self._seats[seat] = address
        self.changed(False)
        return seat

    def _what_is_full(self, address: str) -> str:
        """The class, or the address, or nothing."""
        if len(self._seats) >= self.most:
            return FULL
        if self._seats_at(address) >= self.per_address:
            return FULL_AT_ONE_ADDRESS
        return ""

    def _free_empty_seats(self) -> None:
        """Those that have no page open and have never voted: nobody sits there."""
        taken = set(self.present())
        for poll in self.polls.values():
            taken.update(poll.late, *poll.votes)
        for seat in [seat for seat in self._seats if seat not in taken]:
            del self._seats[seat]
            self._allowances.pop(seat, None)

    def has(self, seat: str | None) -> bool:
        """Whether somebody sits there."""
        return seat in self._seats

    @property
    def came(self) -> int:
        """How many seats have been taken."""
        return len(self._seats)

    def _seats_at(self, address: str) -> int:
        return sum(its == address for its in self._seats.values())

    def allow(self, address: str, cookie: str | None = None) -> None:
        """Count a request: each seat has an allowance, and each address has one for
        those who have no seat yet. So a flood takes nothing from others.

        Raises:
            RefusedError: if it has none left.
        """
        # An allowance grows by RATE a second up to BURST, and a request takes 1 of it.
        whose = cookie if cookie is not None and self.has(cookie) else address
        now = time.monotonic()
        left, when = self._allowances.get(whose, (BURST, now))
        left = min(BURST, left + (now - when) * RATE)
        if len(self._allowances) > 4 * self.most:
            self._allowances.clear()  # a flood of addresses fills no memory
        if left < 1:
            self._allowances[whose] = (left, now)
            self.refuse(TOO_OFTEN)
        self._allowances[whose] = (left - 1, now)

    def refuse(self, why: str) -> None:
        self.refused[why] += 1
        raise RefusedError(why)

    # What students do

    def find(self, question: str) -> str | None:
        """The name of a question, by its name or its text."""
        if question in self.polls:
            return question
        return self._named.get(letters_of(question))

    def vote(
        self, seat: str, name: str, guess: object, number: int | None = None
    ) -> None:
        """Take a guess, as `Poll.vote` says.

        Raises:
            ValueError: if it is no answer to the question.
        """
        if self.is_over:
            return
        self.polls[name].vote(seat, guess, number)
        self.changed(False)

    def for_student(self, seat: str, page: str = "") -> dict:
        """What a page is told of its questions, or of all: never a count, and an answer
        only when it is open."""
        self._told += 1
        if self.is_over:
            self._have_heard.add(seat)
        questions = {
            name: self._question_for(seat, poll)
            for name, poll in self.polls.items()
            if page in (poll.page, "")
        }
        return {
            "class": self.name,
            "number": self._told,
            "isOver": self.is_over,
            "now": self._asked_now(seat),
            "questions": questions,
        }

    def _asked_now(self, seat: str) -> dict | None:
        """The question that the teacher has chosen, and whether it is still open for
        this seat."""
        if self.chosen is None or self.is_over:
            return None
        poll = self.polls[self.chosen]
        return {
            "name": poll.name,
            "page": poll.page,
            "question": poll.question,
            "isAsked": poll.is_asked(seat),
        }

    def _question_for(self, seat: str, poll: Poll) -> dict:
        guess = poll.guess_of(seat)
        found = {
            "vote": len(poll.votes),
            "guess": guess,
            "isAsked": poll.is_asked(seat) and not self.is_over,
            "isLate": seat in poll.late,
            "choices": list(poll.choices),
            "answer": None,
        }
        has_guessed = guess is not None
        is_shown = poll.is_open or not self.is_held or seat in poll.told
        if self.is_over or (has_guessed and is_shown):
            poll.told.add(seat)  # who has read it keeps it, though answers wait again
            found["answer"] = {
                "value": poll.answer,
                "remark": poll.remark_on(guess) if has_guessed else "",
                "reason": poll.reason,
                "folds": list(poll.folds),
            }
        elif poll.is_open:
            found["isOpen"] = True
        return found

    # What the teacher does

    def choose(self, name: str) -> None:
        """Put a question on the projector and on all pages; its counts are hidden
        again."""
        if name != self.chosen:
            self.chosen = name
            self.has_bars = False
            self.changed(True)

    def show_bars(self, are_shown: bool) -> None:
        self.has_bars = are_shown
        self.changed(False)

    def hold(self, is_held: bool) -> None:
        """Whether answers wait for the teacher; otherwise each comes with its guess."""
        self.is_held = is_held
        self.changed(True)

    def vote_again(self, name: str) -> None:
        self.polls[name].vote_again()
        self.has_bars = False
        self.changed(True)

    def open(self, name: str) -> None:
        """Show the answer to all who have guessed."""
        self.polls[name].is_open = True
        self.changed(True)

    def count_hands(self, name: str, guess: object, by: int) -> None:
        """As `Poll.count_hands` says."""
        self.polls[name].count_hands(guess, by)
        self.changed(False)

    def end(self) -> None:
        self._here_at_the_end = frozenset(self.present())
        self.is_over = True
        self.changed(True)

    @property
    def unaware(self) -> int:
        """How many seats have not heard that the class is over."""
        return len(self._seats.keys() - self._have_heard)

    def for_teacher(self, here: Collection[str] = ()) -> dict:
        """All that the teacher's own page shows, with answers and known mistakes; the
        questions of the plan come first.

        Args:
            here: the seats that have a page open.
        """
        last = len(self.polls) + 1
        every = []
        for poll in sorted(self.polls.values(), key=lambda one: one.planned or last):
            every.append(self._counted(poll, True, MOST_BARS, here))
        return self._who(here) | {
            "isHeld": self.is_held,
            "hasBars": self.has_bars,
            "refused": dict(self.refused),
            "most": self.most,
            "perAddress": self.per_address,
            "unaware": self.unaware if self.is_over else 0,
            "secondsLeft": self.seconds_left,
            "chosen": self.chosen,
            "questions": every,
        }

    def for_projector(self, here: Collection[str] = ()) -> dict:
        """What all may see: the question that is chosen, its counts if the teacher
        shows them, its answer once it is open."""
        question = None
        if self.chosen is not None:
            poll = self.polls[self.chosen]
            fit = MOST_WITH_REMARKS if poll.is_open else MOST_ON_THE_WALL
            most = fit[len(poll.votes)]
            question = self._counted(poll, poll.is_open, most, here)
            if not (self.has_bars or poll.is_open):
                question["bars"] = []
                question["others"] = [0] * len(poll.votes)
        return self._who(here) | {"question": question}

    def _who(self, here: Collection[str]) -> dict:
        stayed = self._stayed(here)
        return {"here": len(stayed), "came": self.came, "isOver": self.is_over}

    def _stayed(self, here: Collection[str]) -> Collection[str]:
        """Who is here; after the end, who was: pages leave one by one."""
        return self._here_at_the_end if self.is_over else here

    def _counted(
        self, poll: Poll, names_mistakes: bool, most: int, here: Collection[str]
    ) -> dict:
        """The guesses that were most frequent in either vote come first, so a mistake
        that is gone in the second still stands there; of equals, those of the latest
        vote. A mistake named beside a wrong guess would give the right one away."""
        votes = poll.counts()

        def rank(guess: str) -> tuple[float, ...]:
            counts = [vote[guess] for vote in votes]
            return -max(counts), -counts[-1], poll.place_of(guess)

        every = sorted(set().union(*votes), key=rank)
        guesses = every[:most]
        # The right answer has a bar, however rare it is.
        if names_mistakes and poll.answer in every[most:]:
            guesses[-1] = poll.answer
        bars = []
        for guess in guesses:
            bar = {"guess": guess, "counts": [vote[guess] for vote in votes]}
            if names_mistakes:
                bar["isRight"] = guess == poll.answer
                bar["remark"] = poll.remark_on(guess)
                bar["hands"] = poll.hands[-1][guess]
            bars.append(bar)
        others = []
        for vote in votes:
            others.append(vote.total() - sum(vote[guess] for guess in guesses))
        found = {
            "name": poll.name,
            "page": poll.page,
            "title": poll.title,
            "section": poll.section,
            "question": poll.question,
            "choices": list(poll.choices),
            "planned": poll.planned,
            "isOpen": poll.is_open,
            "totals": [vote.total() for vote in votes],
            # a telephone that sleeps has answered all the same
            "expected": len({*self._stayed(here), *poll.votes[-1]})
            + poll.hands[-1].total(),
            "bars": bars,
            "others": others,
            "late": len(poll.late),
        }
        if names_mistakes:
            found["answer"] = poll.answer
        return found

    def table(self) -> str:
        """Counts as CSV: how often each guess came in each vote and after the answer
        ("late"), how many of these were hands, and nothing of who."""
        out = io.StringIO()
        rows = csv.writer(out)
        names = ["page", "question", "answer", "vote", "guess", "count", "hands"]
        rows.writerow([*names, "known mistake"])
        for poll in self.polls.values():
            counts = dict(enumerate(poll.counts(), 1))
            hands = dict(enumerate(poll.hands, 1))
            counts["late"] = Counter(poll.late.values())
            hands["late"] = Counter()
            for vote, its in counts.items():
                for guess, count in its.most_common():
                    row = [poll.page, poll.question, poll.answer, vote, guess, count]
                    mistake = poll.mistakes.get(guess, "")
                    rows.writerow([*row, hands[vote][guess], mistake])
        return out.getvalue()
