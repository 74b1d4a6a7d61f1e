"""functional_dimension counts what is known of a module's functions, and says what it
cannot measure."""

import copy
from math import comb

import numpy as np
import pytest
import torch
from torch import nn

from neuroviz.attention import Architecture
from neuroviz.attention.formulas import expected_dimension
from neuroviz.attention.modules import AttentionNetwork
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField
from neuroviz.rank.tape import Tape
from neuroviz_beyond.modules import functional
from neuroviz_beyond.modules.functional import functional_dimension
from neuroviz_beyond.modules.symmetry_families import Power

pytestmark = pytest.mark.usefixtures("steady_torch")


# --- networks whose functions are known -----------------------------------------------

SIZES = [
    ((2, 3), (4,), 2),  # a > d: A is unconstrained
    ((4, 3, 5), (2, 2), 3),
    ((2, 4, 2), (2, 1), 4),  # widens
    ((3, 1, 2), (2, 1), 3),  # width 1: all tokens on a line
    ((3, 2), (2,), 1),  # one token
    ((3, 3, 3), (1, 2), 3),  # rank-one collapse
]
SHALLOW = [
    Architecture(*sizes, attention)
    for attention in ("lightning", "softmax")
    for sizes in SIZES
]


@pytest.mark.parametrize("arch", SHALLOW, ids=str)
def test_the_functional_dimension_of_an_attention_network_is_the_formulas(arch):
    """Up to two layers; deeper spectra have no clear gap at random weights."""
    X = torch.randn(arch.num_parameters, arch.widths[0], arch.tokens)
    found = functional_dimension(AttentionNetwork(arch), X)
    assert found.decided, f"gap {found.gap}"
    assert found.value == expected_dimension(arch).value
    assert (found.method, found.status, found.num_inputs) == (
        "float",
        "float",
        arch.num_parameters,
    )
    assert len(found.singular_values) == arch.num_parameters


def powers(*widths, exponent, bias=False):
    """A polynomial network: linear layers with xᵉ between them."""
    parts = []
    for n, m in zip(widths, widths[1:], strict=False):
        parts += [nn.Linear(n, m, bias=bias), Power(exponent)]
    return spread(nn.Sequential(*parts[:-1]))


def spread(module):
    """All weights of one size, so that none is lost to rounding."""
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    return module


def points(d, scale=1.0):
    return lambda count: scale * torch.randn(count, d)


# The first fills: 4 binary cubics.
@pytest.mark.parametrize(
    ("n", "m", "k", "e"), [(2, 3, 1, 3), (3, 4, 2, 3), (2, 5, 3, 4), (3, 6, 1, 4)]
)
def test_a_hidden_layer_of_powers_loses_one_scale_for_each_neuron_or_fills_all_forms(
    n, m, k, e
):
    """k forms of degree e in n variables: min(mn + km − m, k·C(n + e − 1, e)), but for
    exceptions."""
    found = functional_dimension(powers(n, m, k, exponent=e), points(n))
    assert (found.value, found.decided) == (
        min(m * (n + k - 1), k * comb(n + e - 1, e)),
        True,
    )


class Pair(nn.Module):
    """x ↦ (first(x), second(x)), with one weight for both or one each."""

    def __init__(self, tied):
        super().__init__()
        self.first = nn.Linear(3, 2, bias=False)
        self.second = nn.Linear(3, 2, bias=False)
        if tied:
            self.second.weight = self.first.weight

    def forward(self, x):
        return self.first(x), {"second": [self.second(x), "no tensor"]}


def test_a_tied_parameter_counts_once_and_every_tensor_of_the_output_counts():
    x = torch.randn(8, 3)
    assert functional_dimension(Pair(tied=True), x).value == 6
    assert functional_dimension(Pair(tied=False), x).value == 12


def test_frozen_parameters_do_not_count():
    net = nn.Linear(3, 2)
    net.bias.requires_grad_(False)
    assert functional_dimension(net, torch.randn(8, 3)).value == 6


def test_whole_numbers_stay_whole_and_several_arguments_go_in_together():
    class Lookup(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(5, 2)
            self.map = nn.Linear(2, 2, bias=False)

        def forward(self, token, x):
            return self.table(token) + self.map(x)

    # rows 3 and 4 of the table are never looked up
    token = torch.tensor([0, 0, 0, 1, 2, 0, 0])
    assert functional_dimension(Lookup(), (token, torch.randn(7, 2))).value == 3 * 2 + 4


def test_an_output_of_many_entries_goes_in_pieces():
    """More entries than cotangents that are pushed back at once."""
    assert (
        functional_dimension(nn.Linear(2, 300, bias=False), torch.randn(3, 2)).value
        == 600
    )


def everything_about(module):
    """Values with their types, gradients, identities and modes: all that somebody could
    notice."""
    values = {name: value.clone() for name, value in module.state_dict().items()}
    gradients = {
        name: p.grad.clone()
        for name, p in module.named_parameters()
        if p.grad is not None
    }
    kept = (
        [(id(p), p.requires_grad) for p in module.parameters()],
        [m.training for m in module.modules()],
    )
    return values, gradients, kept


def test_the_module_and_the_inputs_are_left_as_they_were():
    net = nn.Sequential(
        nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2)
    )
    net[3].eval()
    net(torch.randn(8, 3)).sum().backward()
    net[0].bias.requires_grad_(False)
    x = torch.randn(8, 3, requires_grad=True)
    *before, kept_before = everything_about(net)
    x_before = x.detach().clone()
    random_state = torch.get_rng_state()
    assert functional_dimension(net, x).value == 8  # affine maps from R³ to R²
    *after, kept_after = everything_about(net)
    torch.testing.assert_close(after, before, rtol=0, atol=0)
    assert kept_after == kept_before
    assert torch.equal(x, x_before) and x.grad is None
    assert torch.equal(torch.get_rng_state(), random_state)


def test_dropout_is_off_and_batch_normalisation_is_a_fixed_map():
    """At p = 1 training would output 0; batches of one could not be normalised."""
    net = nn.Sequential(
        nn.Linear(3, 2, bias=False), nn.Dropout(1.0), nn.BatchNorm1d(2, affine=False)
    )
    assert functional_dimension(net.train(), torch.randn(8, 3)).value == 6


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_it_works_where_gradients_are_switched_off(mode):
    with mode():
        assert functional_dimension(nn.Linear(3, 2), torch.randn(8, 3)).value == 8


def test_too_few_inputs_are_noticed():
    """One input shows V X B with B of rank 2: a 4 × 3 matrix of rank 2, so 2(4 + 3 − 2)
    numbers."""
    network = AttentionNetwork(Architecture((4, 4), (2,)))
    X = torch.randn(32, 4, 3)
    one, two, enough = (functional_dimension(network, X[:N]) for N in (1, 2, 32))
    assert one.value == 10 < two.value < enough.value == 27
    assert one.note.startswith("one input only")
    assert two.note.startswith(
        f"still growing: 10 on the first 1 of 2 inputs, {two.value} on all: give more"
    )
    assert enough.note.startswith("the first 16 of 32 inputs already give 27; ")


def test_a_detached_output_is_pointed_out():
    class Detached(nn.Linear):
        def forward(self, x):
            return super().forward(x).detach()

    found = functional_dimension(Detached(3, 2), torch.randn(8, 3))
    assert found.value == 0 and "detached" in found.note


# --- inputs until the rank is steady --------------------------------------------------


def test_a_function_that_draws_is_asked_until_the_rank_is_steady():
    """First about as many outputs as parameters, and one input more; then half as many
    again, twice."""
    network = AttentionNetwork(Architecture((4, 4), (2,)))
    asked = []

    def draw(count):
        asked.append(count)
        return torch.randn(count, 4, 3)

    found = functional_dimension(network, draw)
    assert (found.value, found.num_inputs, asked) == (27, 9, [1, 3, 2, 3])
    assert found.note.startswith("steady: 27 on 4, 6 and 9 inputs; ")


def test_the_budget_ends_the_drawing_and_the_note_says_so():
    found = functional_dimension(nn.Linear(3, 2), points(3), budget=1e-9)
    assert (found.value, found.num_inputs) == (2, 1)
    assert found.note.startswith(
        "stopped after 1 input, as 1e-09 s were over: more may show more; raise"
    )
    found = functional_dimension(nn.Linear(3, 2), torch.randn(8, 3), budget=1e-9)
    assert found.note.startswith("stopped after 1 of 8 inputs")


# --- bounded memory -------------------------------------------------------------------


def test_what_does_not_fit_into_memory_is_refused_before_it_starts(monkeypatch):
    monkeypatch.setattr(functional, "available_bytes", lambda: 10**6)
    with pytest.raises(
        ValueError,
        match=(
            r"20,200 columns.* 2,000 rows on 10 inputs.*GB are free: set requires_grad"
        ),
    ):
        functional_dimension(nn.Linear(100, 200), torch.randn(10, 100))
    assert functional_dimension(nn.Linear(10, 2), torch.randn(22, 10)).value == 22


# --- modules with a will of their own -------------------------------------------------


class Noisy(nn.Linear):
    """Draws random numbers, and lets them show."""

    def forward(self, x):
        return super().forward(x) + torch.randn(2)


class Counting(nn.Linear):
    """Remembers its calls."""

    calls = 0

    def forward(self, x):
        self.calls += 1
        return super().forward(x) * self.calls


class Root(nn.Linear):
    """Has no derivative at 0."""

    def forward(self, x):
        return (super().forward(x) * 0).sqrt()


class Stubborn(torch.autograd.Function):
    """A backward with a Python number in it, which torch cannot do for many cotangents
    at once."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, cotangent):
        return cotangent * (1.0 if cotangent.abs().sum().item() >= 0 else 0.0)


class OneByOne(nn.Linear):
    def forward(self, x):
        return Stubborn.apply(super().forward(x))


class Broken(Stubborn):
    @staticmethod
    def backward(ctx, cotangent):
        raise RuntimeError("no way back")


class NoWayBack(nn.Linear):
    def forward(self, x):
        return Broken.apply(super().forward(x))


class Uncopied(nn.Linear):
    def __deepcopy__(self, memo):
        raise RuntimeError("one of a kind")


def test_a_backward_that_takes_one_cotangent_at_a_time_gets_one_at_a_time():
    assert functional_dimension(OneByOne(3, 2), torch.randn(8, 3)).value == 8


def test_batch_normalisation_without_statistics_is_a_function_of_the_one_input():
    """Images have many pixels to take a mean of; a scale of the filter is then all but
    lost, not quite: ε."""
    net = nn.Sequential(
        nn.Conv2d(1, 2, 2, bias=True), nn.BatchNorm2d(2, track_running_stats=False)
    )
    found = functional_dimension(net, lambda count: torch.randn(count, 1, 4, 4))
    # a bias before the mean is taken away does nothing
    assert found.value == 8 + 2 + 4 - 2


# --- errors that teach ----------------------------------------------------------------


class Words(nn.Linear):
    def forward(self, x):
        return "a sentence"


class Nothing(nn.Linear):
    def forward(self, x):
        return super().forward(x)[:, :0]


ATTENTION = nn.MultiheadAttention(4, 2)
TRANSFORMER = nn.TransformerEncoderLayer(4, 2, 8)
TOKENS = torch.randn(2, 3, 4)
ROWS = torch.ones(2, 3)
LINEAR = nn.Linear(3, 2)
UNREAL = nn.Linear(3, 2, dtype=torch.complex64)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: functional_dimension(torch.tanh, ROWS),
            "needs a torch.nn.Module; got builtin",
        ),
        (
            lambda: functional_dimension(nn.Tanh(), ROWS),
            "Tanh has no trainable parameter.*requires_grad",
        ),
        (
            lambda: functional_dimension(Words(3, 2), ROWS),
            "Words needs a floating-point tensor.*wrap",
        ),
        (lambda: functional_dimension(Nothing(3, 2), ROWS), "output"),
        (
            lambda: functional_dimension(LINEAR, np.ones((2, 3))),
            "tensor.*got ndarray.*torch.as_tensor",
        ),
        (
            lambda: functional_dimension(LINEAR, torch.ones(0, 3)),
            r"at least one.*\[\(0, 3\)\]",
        ),
        (
            lambda: functional_dimension(LINEAR, (ROWS, torch.ones(4, 3))),
            r"the same.*\(2, 3\), \(4, 3\)",
        ),
        (
            lambda: functional_dimension(LINEAR, 1 / (ROWS - 1)),
            "entries that overflowed",
        ),
        (lambda: functional_dimension(UNREAL, ROWS), "real parameters; got complex"),
        (
            lambda: functional_dimension(Noisy(3, 2), ROWS),
            "Noisy is no function of its input.*F.dropout",
        ),
        (
            lambda: functional_dimension(Counting(3, 2), ROWS),
            "two calls on the same one gave different outputs",
        ),
        (
            lambda: functional_dimension(LINEAR, torch.ones(2, 4)),
            r"input of shape \(1, 4\).*mat1 and mat2",
        ),
        (
            lambda: functional_dimension(Root(3, 2), ROWS),
            r"derivatives in \w+ that are not finite",
        ),
        (
            lambda: functional_dimension(NoWayBack(3, 2), ROWS),
            "derivative of NoWayBack .* no way back",
        ),
        (
            lambda: functional_dimension(Uncopied(3, 2), ROWS),
            "copy.deepcopy.Uncopied.* one of a kind",
        ),
        (
            lambda: functional_dimension(nn.LazyLinear(2), ROWS),
            "not known yet: call it once",
        ),
        (
            lambda: functional_dimension(ATTENTION, (TOKENS,) * 3),
            "batch_first=False.*build it with",
        ),
        (
            lambda: functional_dimension(TRANSFORMER, TOKENS),
            "TransformerEncoderLayer with batch_first=False",
        ),
        (
            lambda: functional_dimension(nn.GRU(4, 2), TOKENS),
            "GRU with batch_first=False",
        ),
        (
            lambda: functional_dimension(LINEAR, lambda n: ROWS),
            r"draw\(1\) returned 2, in shape \(2, 3\)",
        ),
        (
            lambda: functional_dimension(LINEAR, lambda count: "x"),
            "function that draws them; got str",
        ),
        (
            lambda: functional_dimension(LINEAR, lambda: ROWS),
            r"draw\(1\) raised TypeError",
        ),
        (
            lambda: functional_dimension(LINEAR, ROWS, budget=0),
            "seconds > 0, such as 60; got 0",
        ),
    ],
)
def test_an_error_says_what_is_needed_what_came_and_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- sizes far apart ------------------------------------------------------------------

FACTORS = nn.Sequential(
    nn.Linear(3, 2, bias=False), nn.Linear(2, 3, bias=False)
).double()


@pytest.mark.parametrize("exponent", [-300, -30, -4, 4, 300])
def test_other_units_change_no_rank_that_is_decided(exponent):
    """Of the inputs, of one factor, and of the inputs beside a bias."""
    torch.manual_seed(0)
    far = 10.0**exponent
    x = torch.randn(12, 3, dtype=torch.float64)
    scaled = copy.deepcopy(FACTORS)
    with torch.no_grad():
        scaled[0].weight.mul_(far)
    with_biases = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 3)).double()
    cubes = nn.Sequential(
        nn.Linear(3, 2, bias=False), Power(3), nn.Linear(2, 3, bias=False)
    ).double()
    for module, inputs, wanted in (
        (FACTORS, far * x, 8),
        (scaled, x, 8),
        (with_biases, far * x, 11),
        (cubes, far * x, 10),
    ):
        try:
            found = functional_dimension(module, inputs)
        except ValueError as error:
            assert "not finite" in str(error) and abs(exponent) == 300
            continue
        assert not found.decided or found.value == wanted, found
        assert found.decided or "undecided" in found.note
        assert found.decided or abs(exponent) > 4 or module in (with_biases, cubes)
        assert found.value == wanted or module is not FACTORS or exponent < 0


def residues_of(numbers):
    """Floats as what they are, fractions, modulo a prime."""
    p = DEFAULT_PRIME
    ratios = [float(x).as_integer_ratio() for x in np.ravel(numbers)]
    return np.array([n * pow(d, -1, p) % p for n, d in ratios], dtype=float).reshape(
        np.shape(numbers)
    )


def exact_rank_of(net):
    """The rank of the derivative of linear layers and powers at their own weights, on
    random inputs mod p."""
    over = PrimeField()
    rng = np.random.default_rng(0)
    size = sum(p.numel() for p in net.parameters()) + 2
    tape = Tape(over)
    learned = []
    x = tape.constant(over.random(rng, (size, net[0].in_features, 1)))
    for part in net:
        if isinstance(part, Power):
            x = tape.power(x, part.exponent)
            continue
        given = [part.weight.detach().double().numpy()]
        if part.bias is not None:
            given.append(part.bias.detach().double().numpy()[:, None])
        nodes = [tape.parameter(over.reduce(residues_of(one))) for one in given]
        x = tape.matmul(nodes[0], x)
        x = tape.add(x, nodes[1]) if len(nodes) > 1 else x
        learned += nodes
    outputs = x.value.shape[-2]
    rows = tape.gradients(x, np.eye(outputs).reshape(1, outputs, outputs, 1), learned)
    J = np.concatenate(
        [np.broadcast_to(r, (size, *r.shape[1:])) for r in rows], axis=-1
    )
    return exact_rank(J.reshape(-1, J.shape[-1]), over)


def random_powers(rng):
    """Linear layers of up to four neurons, with powers between them, and weights of
    several sizes."""
    depth = int(rng.integers(2, 5))
    widths = rng.integers(1, 5, depth + 1).tolist()
    parts = []
    for n, m in zip(widths, widths[1:], strict=False):
        parts += [
            nn.Linear(n, m, bias=bool(rng.integers(2))),
            Power(int(rng.integers(1, 5))),
        ]
    net = nn.Sequential(*parts[:-1])
    factor = float(rng.choice([0.1, 1.0, 5.0]))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(factor)
    return net


@pytest.mark.long
def test_what_is_decided_of_linear_layers_and_powers_is_their_exact_rank():
    rng = np.random.default_rng(8)
    decided = 0
    nets = [random_powers(rng) for _ in range(40)]
    for net in nets:
        found = functional_dimension(net, points(net[0].in_features))
        assert not found.decided or found.value == exact_rank_of(net), net
        decided += found.decided
    assert decided > 0.6 * len(nets), (
        "a measurement that hardly ever decides is of no use"
    )


@pytest.mark.parametrize("seed", [0, 9])
def test_long_and_short_inputs_are_seen_alike(seed):
    """Degree 24 and large weights: without scaling each input by itself a clear gap
    stood at 9 for 13."""
    torch.manual_seed(seed)
    parts = [nn.Linear(2, 3, bias=False), Power(4), nn.Linear(3, 1), Power(2)]
    net = nn.Sequential(*parts, nn.Linear(1, 2, bias=False), Power(3), nn.Linear(2, 4))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(5)
    found = functional_dimension(net, points(2))
    assert found.value == exact_rank_of(net) == 13


def test_derivatives_that_are_all_zero_decide_nothing():
    net = nn.Sequential(nn.Linear(1, 1, bias=False), *[Power(4)] * 6)
    found = functional_dimension(net, torch.full((3, 1), 1e-2))
    assert (found.value, found.decided) == (
        0,
        False,
    ) and "all derivatives are 0" in found.note


@pytest.mark.parametrize(
    ("module", "inputs"),
    [
        # lengths far apart
        (FACTORS, torch.randn(12, 3) * torch.tensor([1.0, 1.0, 1e-12])),
        # no gap
        (
            nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1)),
            0.1 * torch.randn(40, 1),
        ),
        # all zero
        (
            nn.Sequential(nn.Linear(1, 1, bias=False), *[Power(4)] * 6),
            torch.full((3, 1), 1e-2),
        ),
        (nn.Linear(3, 2), 1e-12 * torch.randn(12, 3)),
    ],
    ids=["lengths", "noise", "zeros", "small"],
)
def test_an_undecided_module_is_told_what_it_can_do(module, inputs):
    """A torch module has no exact rank."""
    found = functional_dimension(module, inputs)
    assert not found.decided
    assert (
        "; weights and inputs of other sizes, near 1, or a smaller module of the same"
        " kind may dec" in found.note
    )
    assert "the exact rank" not in found.note


def test_an_undecided_network_of_the_paper_is_told_of_its_exact_rank():
    arch = Architecture.uniform(3, 2, 6)
    found = functional_dimension(AttentionNetwork(arch), torch.randn(12, 3, 3))
    assert not found.decided
    assert (
        f"measure_dimension({arch!r}) gives the exact rank at random weights"
        in found.note
    )


# --- arguments of the wrong kind ------------------------------------------------------

X = torch.ones(4, 3)
ODD = {
    "CSR": (lambda: X.to_sparse_csr(), "sparse_csr"),
    "jagged": (
        lambda: torch.nested.nested_tensor([X[0], X[1]], layout=torch.jagged),
        "jagged",
    ),
    "quantized": (lambda: torch.quantize_per_tensor(X, 0.1, 0, torch.qint8), "qint8"),
    "meta": (lambda: X.to("meta"), "on meta"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("made", "said"), ODD.values(), ids=ODD)
def test_tensors_that_are_not_dense_are_refused(made, said):
    with pytest.raises(ValueError, match=f"inputs: dense tensors .*{said}"):
        functional_dimension(nn.Linear(3, 2), made())


# --- casts to shorter types inside ----------------------------------------------------


class Cast(nn.Module):
    """A product of two 3 × 3 matrices, nine dimensions, through shorter types on the
    way."""

    def __init__(self, cast):
        super().__init__()
        self.cast = cast
        self.first = nn.Parameter(torch.eye(3) + 0.3)
        self.second = nn.Parameter(torch.eye(3) - 0.2)

    def forward(self, x):
        return self.cast(x) @ self.cast(self.first) @ self.cast(self.second)


CASTS = {
    "float()": (lambda x: x.float(), "float32"),
    "to(torch.float32)": (lambda x: x.to(torch.float32), "float32"),
    "to(dtype=torch.float32)": (lambda x: x.to(dtype=torch.float32), "float32"),
    "type(torch.float32)": (lambda x: x.type(torch.float32), "float32"),
    "half()": (lambda x: x.half(), "float16"),
    "bfloat16()": (lambda x: x.bfloat16(), "bfloat16"),
    "a sum in float32": (
        lambda x: x * (x.sum(dtype=torch.float32) / x.sum()).to(x.dtype),
        "float32",
    ),
    "softmax in float32": (
        lambda x: x + 0 * x.softmax(-1, dtype=torch.float32),
        "float32",
    ),
    "through complex numbers": (lambda x: x.to(torch.complex64).real, "complex64"),
    "cfloat()": (lambda x: x.cfloat().real, "complex64"),
    "and back": (
        lambda x: x.float().to(torch.bfloat16).to(x.dtype),
        "bfloat16, float32",
    ),
}


@pytest.mark.parametrize(("cast", "types"), CASTS.values(), ids=CASTS)
def test_where_a_module_asks_for_a_shorter_type_it_gets_float64_and_the_note_says_so(
    cast, types
):
    """In float32 the rounding of the product looks like nine more directions."""
    found = functional_dimension(Cast(cast), torch.randn(8, 3))
    assert found.value == 9
    assert found.note.endswith(
        f"; double precision in place of {types}, which the module asks for"
    )
    assert (
        "in place of"
        not in functional_dimension(Cast(lambda x: x), torch.randn(8, 3)).note
    )


class Constants(nn.Module):
    """Positions without a type, which torch makes float32."""

    def __init__(self):
        super().__init__()
        self.map = nn.Linear(3, 2, bias=False)

    def forward(self, x):
        return self.map(
            torch.zeros(1, 3) + torch.arange(3).float().cos() + x
        ) @ torch.eye(2)


def test_constants_that_torch_would_make_float32_are_float64():
    found = functional_dimension(Constants(), torch.randn(6, 3))
    assert (found.value, found.decided) == (6, True)


def test_a_cast_in_compiled_code_is_mapped_as_well():
    class Short(nn.Module):
        def forward(self, x):
            return x.to(torch.float32).to(x.dtype)

    compiled = torch.jit.trace(Short(), torch.ones(1, 3, dtype=torch.float64))
    found = functional_dimension(
        nn.Sequential(compiled, nn.Linear(3, 2)), torch.randn(8, 3)
    )
    assert (found.value, found.decided) == (8, True)
    assert found.note.endswith(
        "; double precision in place of float32, which the module asks for"
    )


@pytest.mark.parametrize(
    "cast",
    [lambda x: x.type("torch.FloatTensor"), lambda x: x.to(torch.float8_e5m2)],
    ids=["name", "float8"],
)
def test_a_cast_that_is_not_mapped_is_refused(cast):
    with pytest.raises(
        ValueError,
        match="turns float64 numbers into torch.float.*cannot put.*take out the cast",
    ):
        functional_dimension(Cast(lambda x: cast(x).to(x.dtype)), torch.randn(8, 3))


def test_the_casts_are_mapped_within_the_measurement_only():
    module = Cast(lambda x: x.float())
    functional_dimension(module, torch.randn(8, 3))
    assert module(torch.randn(8, 3)).dtype == torch.float32 == torch.zeros(1).dtype
