"""An architecture is a value: sizes from 1 on, checked once, equal when they are
equal."""

from dataclasses import FrozenInstanceError
from math import prod

import numpy as np
import pytest

from neuroviz.attention import Architecture

LEGAL = [
    dict(widths=(1, 1), head_dims=(1,), tokens=1),  # everything as small as it gets
    dict(widths=(2, 3), head_dims=(5,), tokens=2),  # a > d
    dict(widths=(2, 5, 2), head_dims=(2, 2)),  # widening
    dict(widths=(5, 1, 5), head_dims=(2, 1)),  # a width of one
    dict(widths=(3, 3, 3), head_dims=(1, 1), attention="softmax"),  # rank-one heads
    dict(widths=(12_288, 12_288), head_dims=(128,), tokens=2048, attention="softmax"),
    dict(widths=(2,) * 97, head_dims=(1,) * 96),  # dozens of layers
]


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("widths", (3,), r"input and an output width; got widths=\(3,\).*at least two"),
        (
            "head_dims",
            (),
            r"make 1 layer\(s\), but head_dims=\(\) has 0; give head_dims with",
        ),
        ("head_dims", (2, 2), r"make 1 layer\(s\), but head_dims=\(2, 2\) has 2"),
        *(
            ("widths", (3, size), "each of widths must be a whole number ≥ 1; got")
            for size in (0, -1, 2.0, "2", True, np.bool_(True), None, float("nan"))
        ),
        *(
            (
                "widths",
                sizes,
                (
                    "widths needs a sequence of whole numbers ≥ 1, in order; got .*:"
                    " write a tuple"
                ),
            )
            for sizes in (3, {3, 4}, b"ab", {3: 4, 4: 3}, np.array(3), "33", None)
        ),
        ("head_dims", (0,), "each of head_dims must be a whole number ≥ 1; got 0"),
        ("tokens", 2.5, "tokens must be a whole number ≥ 1; got 2.5"),
        ("tokens", (3,), r"tokens must be a whole number ≥ 1; got \(3,\)"),
        ("attention", "linear", "one of 'lightning', 'softmax'; got 'linear'"),
        ("attention", None, "one of 'lightning', 'softmax'; got None"),
    ],
)
def test_a_bad_size_is_refused_with_what_is_needed_and_what_came(name, given, message):
    with pytest.raises(ValueError, match=message):
        Architecture(**(dict(widths=(3, 3), head_dims=(2,)) | {name: given}))


@pytest.mark.parametrize(
    "same",
    [
        Architecture([4, 3, 5], [2, 2], 3, "softmax"),
        Architecture(
            np.array([4, 3, 5]),
            np.array([2, 2], dtype=np.uint8),
            np.int32(3),
            "softmax",
        ),
        Architecture(iter((4, 3, 5)), (a for a in (2, 2)), 3, "softmax"),
    ],
    ids=["lists", "numpy", "iterators"],
)
def test_the_same_sizes_make_the_same_key(same):
    arch = Architecture((4, 3, 5), (2, 2), 3, "softmax")
    assert (
        same == arch and hash(same) == hash(arch) and {arch: "found"}[same] == "found"
    )
    assert {type(size) for size in (*same.widths, *same.head_dims, same.tokens)} == {
        int
    }
    assert str(same) == str(arch)


DIFFERENT = [
    Architecture((4, 3, 5), (2, 2), 3, "softmax"),
    Architecture((4, 3, 5), (2, 2), 3, "lightning"),
    Architecture((4, 3, 5), (2, 2), 2, "softmax"),
    Architecture((4, 3, 5), (2, 1), 3, "softmax"),
    Architecture((4, 3, 4), (2, 2), 3, "softmax"),
    Architecture((43, 5), (2,), 3, "softmax"),
]


def test_different_sizes_make_different_keys_and_different_titles():
    assert (
        len(set(DIFFERENT)) == len({str(arch) for arch in DIFFERENT}) == len(DIFFERENT)
    )


@pytest.mark.parametrize(
    "sizes", LEGAL, ids=lambda sizes: str(Architecture(**sizes))[:40]
)
def test_the_parameters_are_the_entries_of_all_Q_K_V(sizes):
    arch = Architecture(**sizes)
    assert arch.num_parameters == sum(map(prod, arch.parameter_shapes.values()))
    assert arch.num_layers == len(sizes["head_dims"])
    with pytest.raises(FrozenInstanceError):
        arch.tokens = 3


LONG = tuple(range(1, 1002))


def test_long_rows_are_written_in_short():
    deep = Architecture.uniform(4, 2, 10**5)
    uneven = Architecture(LONG, LONG[1:])
    assert str(deep) == "lightning 4 (100001 times), a = 2 (100000 times), t = 3"
    assert eval(repr(deep), {"Architecture": Architecture}) == deep
    for said in (repr(deep), str(uneven), repr(uneven)):
        assert len(said) < 300
    assert "1→2→3→4→5→6→…→999→1000→1001 (1001 numbers)" in str(uneven)
    short = Architecture(
        LONG[:20], LONG[1:20]
    )  # nothing is left out of what a reader can look through
    assert eval(repr(short), {"Architecture": Architecture}) == short


def test_errors_about_long_rows_are_short():
    with pytest.raises(ValueError, match=r"1001 numbers") as refused:
        Architecture(LONG, LONG)
    assert len(str(refused.value)) < 400


def test_a_network_has_a_million_layers_at_most():
    assert Architecture.uniform(1, 1, 10**6).num_layers == 10**6
    for layers in (0, 10**6 + 1, 10**12):
        with pytest.raises(
            ValueError, match=f"layers must be .* from 1 to 1000000; got {layers}"
        ):
            Architecture.uniform(1, 1, layers)
