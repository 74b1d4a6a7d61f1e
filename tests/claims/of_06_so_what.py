"""What notebooks/06_so_what.py says in words: see tests/test_claims.py."""

from neuroviz.memorisation import shipped_experiment
from neuroviz.teleport_comparison import shipped_comparisons


def random_softmax():
    return [c for c in shipped_experiment().of("random") if c.arch.attention == "softmax"]


def jumps(rule):
    """Of each walk: what was counted for jumps to a gradient twice as long."""
    found = shipped_comparisons().values()
    return [count for walk in found for count in walk.of(rule) if count.destination == "twice"]


CLAIMS = [
    (
        "One number beyond $D$, and no run learns",
        lambda: (
            not any(
                trial.learnt
                for curve in shipped_experiment().of("nearby") + shipped_experiment().of("random")
                for trial in curve.trials
                if trial.count > curve.dimension
            )
        ),
    ),
    (
        "softmax gives up long before $D$ in five of six networks",
        lambda: (
            [c.capacity is None or c.capacity < 0.95 * c.dimension for c in random_softmax()].count(True) == 5
            and len(random_softmax()) == 6
        ),
    ),
    (
        "a jump is ahead after one step in most runs, and after 300 steps in about half of them or fewer",
        lambda: all(
            136 <= count.ahead[0] <= 180 and 23 <= count.ahead[-1] <= 103 for count in jumps("small")
        ),
    ),
    (
        "At the start's own best rate most jumps are lost",
        lambda: all(count.lost[-1] > 150 for count in jumps("same")),
    ),
    (
        "With the best rate for each, jumping is behind in the end",
        lambda: all(count.ahead[-1] < 50 for count in jumps("own")),
    ),
]

ELSEWHERE = []
