"""A rank is decided only where no further input can add to it; else it is a lower
bound, and says so."""

from functools import cache

import numpy as np
import pytest
import torch
from test_functional import residues_of
from torch import nn

from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import PrimeField
from neuroviz.rank.floats import float_rank
from neuroviz.rank.tape import Tape
from neuroviz_beyond.modules import functional
from neuroviz_beyond.modules.analytic import Watch
from neuroviz_beyond.modules.functional import functional_dimension
from neuroviz_beyond.modules.jacobian import copied

pytestmark = pytest.mark.usefixtures("steady_torch")


def points(d):
    return lambda count: torch.randn(count, d, dtype=torch.float64)


def rank_on(module, inputs):
    """The rank on many inputs at once, without functional_dimension's own
    derivative."""
    net = copied(module).module
    theta = dict(net.named_parameters())

    def outputs(theta, x):
        return torch.func.functional_call(net, theta, (x[None],))[0]

    blocks = torch.func.vmap(torch.func.jacrev(outputs), in_dims=(None, 0))(
        theta, inputs
    )
    rows = torch.cat(
        [block.detach().flatten(2) for block in blocks.values()], dim=-1
    ).flatten(0, 1)
    return float_rank(rows.numpy())


# --- functions with bends -------------------------------------------------------------


def random_relus(seed):
    """One or two hidden layers of up to four neurons that bend, and a function that
    draws inputs."""
    rng = np.random.default_rng(seed)
    widths = rng.integers(1, 5, int(rng.integers(3, 5))).tolist()
    widths[0] = int(rng.integers(1, 4))
    torch.manual_seed(seed)
    parts = []
    for n, m in zip(widths, widths[1:], strict=False):
        parts += [nn.Linear(n, m, bias=bool(rng.integers(4))), nn.ReLU()]
    return nn.Sequential(*parts[:-1]).double(), points(widths[0])


@cache
def against_many_inputs(seed):
    """What is measured of a ReLU module, and its rank on these and 3,000 further
    inputs."""
    module, draw = random_relus(seed)
    taken = []

    def kept(count):
        taken.append(draw(count))
        return taken[-1]

    found = functional_dimension(module, kept)
    return found, rank_on(module, torch.cat([*taken, draw(3000)]))


@pytest.mark.parametrize("seed", range(400))
def test_what_is_decided_of_a_relu_module_is_its_rank_on_3000_more_inputs(seed):
    found, many = against_many_inputs(seed)
    if found.decided:
        assert found.value == many.value
    elif found.clear and many.decided:
        assert found.value <= many.value
        assert found.status == "lower bound" and "a lower bound: " in found.note


@pytest.mark.full
def test_of_400_relu_modules_a_half_is_decided_and_a_third_of_the_bounds_falls_short():
    """The numbers of beyond/docs/any_torch_module.md, "Inputs of a module": 185, and 66
    of 204, by up to 11."""
    measured = [against_many_inputs(seed) for seed in range(400)]
    bounds = [
        (found, many) for found, many in measured if found.status == "lower bound"
    ]
    short = [
        many.value - found.value for found, many in bounds if many.value > found.value
    ]
    assert sum(found.decided for found, _ in measured) == pytest.approx(185, abs=8)
    assert len(bounds) == pytest.approx(204, abs=8)
    assert len(short) == pytest.approx(66, abs=8) and max(short) <= 12


def test_what_few_inputs_show_of_a_relu_module_is_a_lower_bound():
    """Five directions on 3,000 inputs, four and "steady" on 5, 8 and 12."""
    torch.manual_seed(3)
    module = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1)).double()
    assert rank_on(module, torch.randn(3000, 1, dtype=torch.float64)).value == 5
    found = functional_dimension(module, torch.randn(12, 1))
    assert (found.value < 5, found.decided, found.status) == (
        True,
        False,
        "lower bound",
    )
    found = functional_dimension(module, points(1))
    assert found.value == 5 or not found.decided


BENDS = {
    "ReLU": nn.functional.relu,
    "ReLU in place": lambda x: x.clone().relu_(),
    "leaky ReLU": nn.functional.leaky_relu,
    "ELU": nn.functional.elu,
    "hardswish": nn.functional.hardswish,
    "abs": torch.abs,
    "the root of a square": lambda x: (x * x).sqrt(),
    "a quotient": lambda x: x / x.sum(-1, keepdim=True),
    "a quotient after a change in place": lambda x: x / (x * x + 1).mul_(x),
    "max": lambda x: torch.maximum(x, x.flip(-1)),
    "the largest": lambda x: x.amax(-1, keepdim=True) * x,
    "clamp": lambda x: x.clamp(-0.5, 0.5),
    "sort": lambda x: x.sort(-1).values,
    "top 2": lambda x: x.topk(2, -1).values.repeat(1, 2)[..., : x.shape[-1]],
    "where": lambda x: torch.where(x > 0, x, 0.1 * x),
    "a mask of numbers": lambda x: x * (x > 0).to(x.dtype),
    "a mask filled in": lambda x: x.masked_fill(x < 0, 0.0),
    "a branch": lambda x: x if x.sum() > 0 else 2 * x,
    "a sum in Python": lambda x: x * abs(sum(x[0].tolist())),
    "floor": lambda x: x * x.detach().floor(),
    "numpy": lambda x: x * torch.from_numpy(np.abs(x.detach().numpy())),
}


class Between(nn.Module):
    """A function between two linear maps, of which some directions are silent."""

    def __init__(self, curve):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.curve = curve
        self.second = nn.Linear(3, 2)
        self.silent = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return self.second(self.curve(self.first(x))) + self.silent


@pytest.mark.parametrize("curve", BENDS.values(), ids=BENDS)
def test_a_function_with_bends_is_never_decided_below_its_bound(curve):
    found = functional_dimension(Between(curve), points(2))
    assert (found.decided, found.status, found.enough) == (False, "lower bound", "")
    assert (
        "is not known to be analytic, so inputs elsewhere may add to it" in found.note
    )


class Sign(torch.autograd.Function):
    """A derivative that is not that of the function."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, cotangent):
        return cotangent * ctx.saved_tensors[0].sign()


def test_a_derivative_that_torch_did_not_make_is_not_known_to_be_analytic():
    found = functional_dimension(Between(Sign.apply), points(2))
    assert not found.decided and "Sign is not known to be analytic" in found.note


# --- analytic functions ---------------------------------------------------------------


def root_mean_square(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


ANALYTIC = {
    "tanh": torch.tanh,
    "tanh in place": lambda x: x.clone().tanh_(),
    "GELU": nn.functional.gelu,
    "SiLU": nn.functional.silu,
    "softplus": nn.functional.softplus,
    "sine": torch.sin,
    "cube": lambda x: x**3,
    "layer normalisation": lambda x: nn.functional.layer_norm(x, (3,)),
    "root mean square": root_mean_square,
    "torch's root mean square": lambda x: nn.functional.rms_norm(x, (3,), eps=1e-6),
    "a rational function": lambda x: x / (1 + x**2),
    "the logarithm of a sum of exponentials": lambda x: (
        x * x.logsumexp(-1, keepdim=True)
    ),
    "the logarithm of a sum": lambda x: (
        x * torch.log(1 + (x * x).sum(-1, keepdim=True))
    ),
    "softmax": lambda x: x.softmax(-1) * x,
    "a mask that is no function of x": lambda x: (
        x.masked_fill(torch.arange(3) > 1, 0.0) ** 2
    ),
    "a mask of its shape": lambda x: (
        x.masked_fill(torch.ones_like(x).cumsum(-1) > 2, 0.0) ** 2
    ),
    "written into zeros": lambda x: torch.zeros_like(x).copy_(x) ** 2,
}


@pytest.mark.parametrize("curve", ANALYTIC.values(), ids=ANALYTIC)
def test_an_analytic_function_is_decided_although_directions_are_silent(curve):
    found = functional_dimension(Between(curve), points(2))
    assert (found.decided, found.status) == (True, "float"), found.note
    assert found.enough == "the module is analytic, and generic inputs added nothing"
    assert found.value == rank_on(Between(curve), points(2)(300)).value


@pytest.mark.parametrize(
    "draw",
    [
        lambda count: torch.randint(0, 2, (count, 2)).double(),
        lambda count: torch.randint(0, 9, (count, 2)).double(),
        lambda count: nn.functional.dropout(torch.randn(count, 2), 0.3),
        lambda count: torch.linspace(-1, 1, 6).reshape(3, 2).repeat(count, 1)[:count],
        lambda count: torch.ones(count, 2),
    ],
    ids=["bits", "digits", "zeros in between", "three points", "one point"],
)
def test_inputs_that_take_single_values_are_a_lower_bound(draw):
    found = functional_dimension(Between(torch.tanh), draw)
    assert not found.decided and "the inputs take single values only" in found.note


def test_token_ids_are_a_lower_bound_unless_all_parameters_count():
    table = nn.Embedding(5, 2)
    some = torch.tensor([0, 1, 2, 3, 0, 1, 2, 3])
    every = torch.arange(5)
    assert functional_dimension(table, some).status == "lower bound"
    found = functional_dimension(table, every)
    assert (found.value, found.decided) == (10, True)


def test_an_argument_that_never_changes_is_a_constant():
    class Masked(nn.Linear):
        def forward(self, x, mask):
            return super().forward(x.masked_fill(mask, 0.0)) * 2

    layer = Masked(3, 2)
    mask = torch.tensor([[False, False, True]])
    found = functional_dimension(
        layer, lambda count: (torch.randn(count, 3), mask.repeat(count, 1))
    )
    assert (found.value, found.decided) == (6, True)


@pytest.mark.parametrize("scale", [1, 10, 100, 1000])
@pytest.mark.parametrize(
    "curve",
    [nn.Tanh, nn.GELU, nn.SiLU, nn.Softplus, nn.Sigmoid],
    ids=lambda c: c.__name__,
)
def test_a_smooth_function_that_rounding_makes_straight_is_not_decided(curve, scale):
    """All parameters count at generic weights; large inputs make of GELU a ReLU, to
    rounding."""
    for seed in range(5):
        torch.manual_seed(seed)
        module = nn.Sequential(nn.Linear(1, 3), curve(), nn.Linear(3, 1)).double()
        found = functional_dimension(
            module, lambda count: scale * torch.randn(count, 1)
        )
        assert not found.decided or found.value == 10, found.note


@pytest.mark.parametrize("masked", [-torch.inf, torch.finfo(torch.float32).min])
def test_a_softmax_is_sharp_where_rounding_hides_shares_and_not_where_they_are_masked(
    masked,
):
    mask = torch.tensor([0.0, 0.0, masked], dtype=torch.float64)
    found = functional_dimension(
        Between(lambda x: (x + mask).softmax(-1) * x), points(2)
    )
    assert found.decided, found.note
    found = functional_dimension(
        Between(lambda x: (1e4 * x + mask).softmax(-1) * x), points(2)
    )
    assert not found.decided
    assert (
        not found.clear
        or "on most inputs softmax is straight to rounding" in found.note
    )


def test_a_gate_is_straight_where_its_sigmoid_is():
    gate = functional_dimension(
        Between(lambda x: nn.functional.glu(torch.cat([x, x], -1))), points(2)
    )
    assert gate.decided
    sharp = Between(lambda x: nn.functional.glu(torch.cat([x, 1e4 * x], -1)))
    found = functional_dimension(sharp, points(2))
    assert not found.decided
    assert not found.clear or "on most inputs glu is straight to rounding" in found.note


@pytest.mark.parametrize(
    ("function", "number", "straight"),
    [
        (torch.tanh, 16.0, False),
        (torch.tanh, 17.5, True),
        (nn.functional.gelu, 7.0, False),
        (nn.functional.gelu, 9.0, True),
        (nn.functional.softplus, 18.0, False),
        (nn.functional.softplus, 20.5, True),
        (lambda x: torch.softmax(torch.cat([x, 0 * x]), 0), 30.0, False),
        (lambda x: torch.softmax(torch.cat([x, 0 * x]), 0), 40.0, True),
    ],
)
def test_an_activation_is_straight_where_its_bend_is_below_rounding(
    function, number, straight
):
    x = torch.tensor([number], dtype=torch.float64)
    with Watch([x]) as watch:
        function(x)
    assert (watch.doubt, bool(watch.flat)) == ("", straight)


def test_a_complex_exponential_has_no_sign():
    x = torch.ones(1, dtype=torch.float64)
    with Watch([x]) as watch:
        (1j * x).exp().sqrt()  # it jumps where x is π
    assert watch.doubt == "sqrt"


def test_a_rank_above_the_bound_of_the_symmetries_is_undecided(monkeypatch):
    monkeypatch.setattr(functional, "_bound", lambda of: 7)
    found = functional_dimension(nn.Linear(3, 2), points(3))
    assert (
        not found.decided
        and "8 are more than the 7 that the known symmetries leave" in found.note
    )


# --- how many inputs ------------------------------------------------------------------


def test_where_more_may_add_four_growths_without_gain_end_the_search():
    found = functional_dimension(
        nn.Embedding(3, 2), lambda count: torch.zeros(count, dtype=torch.long)
    )
    assert found.note.startswith("steady: 2 on 4, 6, 9, 14 and 21 inputs; ")
    assert found.status == "lower bound"


@pytest.mark.long
def test_where_a_neuron_bends_ever_more_rarely_2000_inputs_end_the_search():
    """Without an end this one took 78,894 inputs."""
    module, draw = random_relus(367)
    found = functional_dimension(module, draw)
    assert (found.status, found.num_inputs <= 2000) == ("lower bound", True)
    assert f" on {found.num_inputs:,} inputs, where " in found.note


def test_what_is_a_lower_bound_in_any_case_ends_where_memory_does(monkeypatch):
    """Entries of 40 bytes: 21 inputs of two outputs do not fit, and 14 do."""
    table = nn.Embedding(3, 2)
    monkeypatch.setattr(functional, "available_bytes", lambda: 40 * 6 * 2 * 20)
    found = functional_dimension(
        table, lambda count: torch.zeros(count, dtype=torch.long)
    )
    assert (found.value, found.status, found.num_inputs) == (2, "lower bound", 14)
    assert found.note.startswith("2 on 14 inputs, where 9 gave 2; ")


# --- polynomials: analytic, and with an exact rank at their own weights ---------------


class Polynomial(nn.Module):
    """Linear maps, powers, products and sums, in a random order."""

    def __init__(self, seed):
        super().__init__()
        rng = np.random.default_rng(seed)
        torch.manual_seed(seed)
        self.d = int(rng.integers(1, 4))
        self.layers = nn.ModuleList()
        self.steps = []
        self.degrees = [1]
        widths = [self.d]
        for _ in range(int(rng.integers(2, 7))):
            last = len(widths) - 1
            mates = [i for i, width in enumerate(widths) if width == widths[-1]]
            other = int(rng.choice(mates))
            kind = str(rng.choice(["linear", "linear", "power", "product", "sum"]))
            exponent = int(rng.integers(2, 4))
            degree = {
                "linear": self.degrees[last],
                "power": exponent * self.degrees[last],
                "product": self.degrees[last] + self.degrees[other],
                "sum": max(self.degrees[last], self.degrees[other]),
            }[kind]
            if degree <= 12:
                self._add(
                    kind,
                    other if kind in ("product", "sum") else exponent,
                    widths,
                    degree,
                    rng,
                )
        self._add("linear", 0, widths, self.degrees[-1], rng)
        self.double()

    def _add(self, kind, what, widths, degree, rng):
        if kind == "linear":
            what = len(self.layers)
            width = int(rng.integers(1, 5))
            self.layers.append(nn.Linear(widths[-1], width, bias=bool(rng.integers(2))))
            widths.append(width)
        else:
            widths.append(widths[-1])
        self.steps.append((kind, what))
        self.degrees.append(degree)

    def run(self, x, linear, power, times, add):
        """The same steps in any arithmetic."""
        values = [x]
        for kind, what in self.steps:
            if kind == "linear":
                values.append(linear(what, values[-1]))
            elif kind == "power":
                values.append(power(values[-1], what))
            else:
                values.append(
                    (times if kind == "product" else add)(values[-1], values[what])
                )
        return values[-1]

    def forward(self, x):
        return self.run(
            x, lambda i, y: self.layers[i](y), torch.pow, torch.mul, torch.add
        )


def exact_rank_of(module):
    """The rank at the module's own weights, as fractions, on random inputs modulo a
    prime."""
    over = PrimeField()
    rng = np.random.default_rng(0)
    count = sum(p.numel() for p in module.parameters()) + 2
    tape = Tape(over)
    weights = []
    nodes = {}
    for i, layer in enumerate(module.layers):
        nodes[i] = [
            tape.parameter(over.reduce(residues_of(layer.weight.detach().numpy())))
        ]
        if layer.bias is not None:
            nodes[i].append(
                tape.parameter(
                    over.reduce(residues_of(layer.bias.detach().numpy()[:, None]))
                )
            )
        weights += nodes[i]

    def linear(i, y):
        product = tape.matmul(nodes[i][0], y)
        return tape.add(product, nodes[i][1]) if len(nodes[i]) > 1 else product

    x = tape.constant(over.random(rng, (count, module.d, 1)))
    y = module.run(x, linear, tape.power, tape.times, tape.add)
    outputs = y.value.shape[-2]
    rows = tape.gradients(y, np.eye(outputs).reshape(1, outputs, outputs, 1), weights)
    J = np.concatenate(
        [np.broadcast_to(r, (count, *r.shape[1:])) for r in rows], axis=-1
    )
    return exact_rank(J.reshape(-1, J.shape[-1]), over)


@cache
def against_the_exact_rank(seed):
    """What is measured of a polynomial module, and its exact rank."""
    module = Polynomial(seed)
    return functional_dimension(module, points(module.d)), exact_rank_of(module)


@pytest.mark.parametrize("seed", range(400))
def test_what_is_decided_of_a_polynomial_module_is_its_exact_rank(seed):
    found, exact = against_the_exact_rank(seed)
    assert not found.decided or found.value == exact
    assert found.status == "float"


@pytest.mark.full
def test_of_400_polynomial_modules_nearly_all_are_decided():
    """The number of beyond/docs/any_torch_module.md, "Inputs of a module": 393."""
    assert sum(
        against_the_exact_rank(seed)[0].decided for seed in range(400)
    ) == pytest.approx(393, abs=5)
