"""A question of a class, and the guesses at it: who has guessed, and what the counts
are."""

import re
from collections import Counter
from dataclasses import dataclass, field

LARGEST = 10**6
"""Of a guess at a number, either way."""

DECIMALS = 3
MOST_ROUNDS = 2


@dataclass
class Poll:
    """A question, its votes, and the answer that nobody gets before it is open.

    Attributes:
        name: such as "04_deep_dimension-3".
        page: where it stands, such as "notebooks/04_deep_dimension".
        title: what the page is called.
        section: the heading above the question.
        question: in words.
        choices: the answers to choose from; none if a number is asked for.
        mistakes: wrong guess → what was overlooked.
        answer: the true one.
        remark: on the true one, where it is a choice.
        reason: HTML of the page: the answer with its badge and reason.
        folds: HTML of the folds of the page that follow.
        planned: 1, 2, … in the order of the teacher's plan; None outside it.
        votes: seat → guess, for each vote.
        hands: guess → how many the teacher has counted, for each vote.
        late: seat → guess that came when the answer was open; it is not counted.
        told: the seats that have the answer: it stays with them.
        is_open: whether all see the answer.
    """

    name: str
    page: str
    title: str
    section: str
    question: str
    choices: tuple[str, ...]
    mistakes: dict[str, str]
    answer: str
    remark: str
    reason: str
    folds: tuple[str, ...]
    planned: int | None = None
    votes: list[dict[str, str]] = field(default_factory=lambda: [{}])
    hands: list[Counter[str]] = field(default_factory=lambda: [Counter()])
    late: dict[str, str] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    is_open: bool = False

    def read(self, guess: object) -> str:
        """A guess as it is counted: one way to write each.

        Raises:
            ValueError: if it is no answer to this question.

        >>> poll = Poll("a-1", "a", "A", "", "How many?", (), {}, "38", "", "", ())
        >>> poll.read(38), poll.read(38.0), poll.read(-0.5), poll.read(0.33333333)
        ('38', '38', '-0.5', '0.333')
        """
        if self.choices:
            if isinstance(guess, str) and guess in self.choices:
                return guess
            raise ValueError(f"a guess is one of {', '.join(self.choices)}")
        is_number = isinstance(guess, (int, float)) and not isinstance(guess, bool)
        # NaN is neither larger nor smaller, so `not … <=` refuses it.
        if not is_number or not abs(guess) <= LARGEST:
            raise ValueError(f"a guess is a number up to {LARGEST}, either way")
        rounded = round(guess, DECIMALS)
        return str(int(rounded)) if rounded == int(rounded) else str(rounded)

    def vote(self, seat: str, guess: object, number: int | None) -> None:
        """Take a guess; the first of a seat in each vote is the one that counts.

        Args:
            seat: whose it is.
            guess: a number, or one of the choices.
            number: of the vote that it is for, 1 or 2. A guess for a vote that is over
                was on its way when the teacher began another, and is not counted. None
                stands for the vote that is on.

        Raises:
            ValueError: if it is no answer to this question.
        """
        its = self.read(guess)
        is_on = number in (None, len(self.votes))
        if not is_on or not self.is_asked(seat):
            return
        votes = self.late if self.is_open else self.votes[-1]
        votes[seat] = its

    def is_asked(self, seat: str) -> bool:
        """Whether a guess of this seat is still to come."""
        if self.is_open:
            return self.guess_of(seat) is None
        return seat not in self.votes[-1]

    def guess_of(self, seat: str) -> str | None:
        """The latest guess of a seat."""
        for votes in (self.late, *reversed(self.votes)):
            if seat in votes:
                return votes[seat]
        return None

    def vote_again(self) -> None:
        """Begin the second vote. There is one, and none once the answer is open."""
        if len(self.votes) < MOST_ROUNDS and not self.is_open:
            self.votes.append({})
            self.hands.append(Counter())

    def count_hands(self, guess: object, by: int) -> None:
        """Add hands that the teacher has counted, or take some away.

        Raises:
            ValueError: if the guess is no answer to this question, or their number is
                none.
        """
        if not isinstance(by, int) or isinstance(by, bool) or abs(by) > 1000:
            raise ValueError("hands are a whole number, up to 1000 at once")
        its = self.read(guess)
        if self.is_open:
            raise ValueError("the answer is open, and hands are counted before it")
        self.hands[-1][its] = max(0, self.hands[-1][its] + by)

    def place_of(self, guess: str) -> float:
        """Where a guess stands among others of the same count: numbers by their value,
        choices as they are listed."""
        return self.choices.index(guess) if self.choices else float(guess)

    def counts(self) -> list[Counter[str]]:
        """Guess → how often it came, for each vote."""
        found = []
        for votes, hands in zip(self.votes, self.hands, strict=True):
            found.append(Counter(votes.values()) + hands)
        return found

    def remark_on(self, guess: str) -> str:
        """What is to be said of a guess once the answer is open."""
        return self.remark if guess == self.answer else self.mistakes.get(guess, "")


def letters_of(text: str) -> str:
    """The letters and digits of a question: the same in a page and in a notebook,
    whatever its quotes and formulas have become.

    >>> letters_of("d = 4:  How many “dimensions”?")
    'd4howmanydimensions'
    """
    return re.sub(r"\W+|_", "", text).lower()
