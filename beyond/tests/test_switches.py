"""A transformer is a value: sizes and switches, checked once, equal when they are
equal."""

from math import prod

import numpy as np
import pytest

from neuroviz_beyond.sweeps import sweep
from neuroviz_beyond.transformers import Block, Transformer

LONG = tuple(range(1, 1002))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Block(value_dim=0), "value_dim must be a whole number"),
        (lambda: Block(kv_heads=2), "give value_dim, too"),
        (lambda: Block(rotary=1), "rotary is True or False"),
        (lambda: Block(mlp=3), r"mlp is \(hidden width, power\)"),
        (lambda: Block(mlp=(3, 0)), "power must be a whole number"),
        (lambda: Transformer((3, 3), (3,), block=Block(rotary=True)), "in pairs"),
        (
            lambda: Transformer((3, 3), (2,), heads=3, block=Block(1, 2)),
            "divides the heads",
        ),
        (lambda: Transformer((3, 3), (2,), block={"biases": True}), "block is a Block"),
    ],
)
def test_bad_blocks_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"heads": 0}, "each of heads must be a whole number ≥ 1; got 0"),
        ({"heads": True}, "each of heads must be a whole number ≥ 1; got True"),
        ({"heads": (1, 2, 3)}, "one for each of 2"),
        ({"heads": 1.5}, "heads needs a sequence"),
        ({"skip": 1}, "skip is True or False"),
        ({"causal": "yes"}, "causal is True or False"),
        ({"widths": (3, 2, 3), "skip": True}, "all widths must be equal"),
        ({"widths": (3,)}, r"input and an output width; got widths=\(3,\)"),
        ({"head_dims": (2,)}, r"make 2 layer\(s\), but head_dims=\(2,\) has 1"),
        ({"tokens": 0}, "tokens must be a whole number ≥ 1; got 0"),
        ({"attention": "linear"}, "one of 'lightning', 'softmax'; got 'linear'"),
    ],
)
def test_bad_sizes_are_refused_with_what_is_needed_and_what_came(arguments, words):
    with pytest.raises(ValueError, match=words):
        Transformer(**{"widths": (3, 3, 3), "head_dims": (2, 2)} | arguments)


def test_a_bool_of_numpy_is_a_switch():
    yes = np.bool_(True)
    given = Transformer((3, 3), (2,), skip=yes, causal=yes, block=Block(rotary=yes))
    own = Transformer((3, 3), (2,), skip=True, causal=True, block=Block(rotary=True))
    assert given == own and given.skip is True and given.block.rotary is True
    assert len(sweep([Transformer((3, 3), (2,))], progress=~yes)) == 1


@pytest.mark.parametrize("heads", [2, np.int64(2), [2, 2], np.array([2, 2]), iter("")])
def test_heads_are_one_number_or_one_for_each_layer(heads):
    if not isinstance(heads, (int, np.integer, list, np.ndarray)):
        with pytest.raises(ValueError, match="one for each of 2"):
            Transformer((3, 3, 3), (2, 2), heads=heads)
        return
    net = Transformer((3, 3, 3), (2, 2), heads=heads)
    assert net == Transformer((3, 3, 3), (2, 2), heads=(2, 2))
    assert hash(net) == hash(Transformer((3, 3, 3), (2, 2), heads=(2, 2)))
    assert {type(size) for size in net.heads} == {int}


def test_what_is_switched_on_is_said():
    block = Block(value_dim=1, kv_heads=1, rotary=True, biases=True, mlp=(4, 2))
    net = Transformer((3, 3, 3), (2, 2), 4, "softmax", (2, 1), True, True, block)
    assert str(net) == (
        "softmax 3→3→3, a = 2, 2, t = 4, heads 2, 1, skip, causal, values of rank 1, "
        "1 key-value head, rotary, biases, MLP 4^2"
    )
    assert eval(repr(net)) == net
    assert not net.is_plain and Transformer((3, 3), (2,)).is_plain


def test_long_rows_are_written_in_short():
    deep = Transformer.uniform(4, 2, 10**5, heads=3)
    assert (
        str(deep) == "lightning 4 (100001 times), a = 2 (100000 times), t = 3, 3 heads"
    )
    assert eval(repr(deep)) == deep
    for build in (
        lambda: Transformer(LONG, LONG[1:], skip=True),
        lambda: Transformer(LONG, LONG[1:], heads=LONG),
    ):
        with pytest.raises(ValueError, match=r"1001 numbers") as refused:
            build()
        assert len(str(refused.value)) < 400


@pytest.mark.parametrize("positions", [True, False])
@pytest.mark.parametrize(
    ("widths", "heads"),
    [((3, 4, 3, 4, 3), (2, 1, 2, 3)), ((3, 3, 3), (2, 2)), ((2, 5), (1,))],
)
def test_parameters_are_counted_as_they_are_shaped(widths, heads, positions):
    """Layers of several sizes, some of them equal, and an MLP after each but the
    last."""
    block = Block(2, 1, False, True, True, positions, (5, 2))
    net = Transformer(widths, (2,) * len(heads), heads=heads, block=block)
    assert net.num_parameters == sum(map(prod, net.parameter_shapes.values()))
