"""The ledger of a module: each symmetry leaves the function alone, and together they
explain the kernel."""

import copy
from itertools import product

import pytest
import torch
from torch import nn

from neuroviz.attention.modules import LightningAttention
from neuroviz_beyond.modules.functional import functional_dimension
from neuroviz_beyond.modules.symmetries import module_symmetries, moved
from neuroviz_beyond.modules.symmetry_families import Power


@pytest.fixture(autouse=True)
def no_fast_path(steady_torch):
    # it asks for norms where there are none
    torch.backends.mha.set_fastpath_enabled(False)
    yield
    torch.backends.mha.set_fastpath_enabled(True)


def chain(*widths, between=None, biases=True):
    """Linear layers of these widths; `between` is one activation (or None) for each
    gap."""
    between = between or [None] * (len(widths) - 2)
    biases = [biases] * (len(widths) - 1) if isinstance(biases, bool) else biases
    parts = []
    for i, (n, m) in enumerate(zip(widths, widths[1:], strict=False)):
        parts.append(nn.Linear(n, m, bias=biases[i]))
        if i < len(between) and between[i] is not None:
            parts.append(between[i])
    return nn.Sequential(*parts)


def encoder_layer(d=6, heads=2, hidden=7, norms=(True, True), **options):
    layer = nn.TransformerEncoderLayer(d, heads, hidden, batch_first=True, **options)
    for i, keep in enumerate(norms, start=1):
        if not keep:
            setattr(layer, f"norm{i}", nn.Identity())
    return layer


def spread(module, bias=0.1):
    """Generic weights, also where torch begins with 0 and 1; small biases, so that
    ReLUs bend."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if parameter.ndim == 1:
                centre = 1.0 if "norm" in name and name.endswith("weight") else 0.0
                parameter.copy_(centre + bias * torch.randn_like(parameter))
            else:
                parameter.normal_(std=parameter.shape[-1] ** -0.5)
    return module


def points(d):
    return lambda count: 2 * torch.randn(count, d)


def tokens(d):
    return lambda count: torch.randn(count, 4, d)


RELU = nn.ReLU()
TANH = nn.Tanh()
GELU = nn.GELU()
ROW = "linear layers in a row"
NEURONS = "rescalings of hidden neurons"
CHAINS = {
    "one linear layer": (chain(3, 2), {}),
    "linear": (chain(4, 2, 3), {ROW: 4 + 2}),
    "linear without biases": (chain(4, 2, 3, biases=False), {ROW: 4}),
    "linear with a wide layer": (
        chain(2, 5, 3, biases=False),
        {ROW: 25 - (5 - 2) * (5 - 3)},
    ),
    # What W₂ kills of W₁ and b₁.
    "the only bias before the bottleneck": (
        chain(4, 3, 2, 3, biases=[True, False, False]),
        {ROW: 9 + 4 + 1 + 1},
    ),
    "the only bias in the bottleneck": (
        chain(4, 3, 2, 3, biases=[False, True, False]),
        {ROW: 9 + 4 + 1},
    ),
    # Any 3 × 2 matrix and any vector.
    "linear, biases before a wide layer": (
        chain(2, 3, 4, 3, biases=[True, True, False]),
        {ROW: 37 - 6 - 3},
    ),
    "ReLU": (chain(3, 5, 2, between=[RELU]), {NEURONS: 5}),
    "leaky ReLU, deep": (
        chain(3, 5, 4, 2, between=[nn.LeakyReLU(0.3), nn.LeakyReLU(0.3)]),
        {NEURONS: 9},
    ),
    "cubes": (chain(3, 4, 2, between=[Power(3)], biases=False), {NEURONS: 4}),
    "cubes with biases": (chain(3, 4, 2, between=[Power(3)]), {NEURONS: 4}),
    "deep cubes": (
        chain(3, 3, 2, 2, between=[Power(3), Power(3)], biases=False),
        {NEURONS: 5},
    ),
    "linear, then tanh": (chain(3, 2, 4, 2, between=[None, TANH]), {ROW: 4 + 2}),
    "linear, then ReLU": (
        chain(3, 2, 4, 2, between=[None, RELU]),
        {ROW: 4 + 2, NEURONS: 4},
    ),
    "tanh": (chain(3, 4, 2, between=[TANH]), {}),
    "GELU, nested": (
        nn.Sequential(nn.Flatten(), chain(3, 4, 3, between=[GELU]), nn.Dropout(0.5)),
        {},
    ),
    "a last activation": (nn.Sequential(nn.Linear(3, 2), nn.ReLU()), {}),
}
ATTENTIONS = {
    f"attention, H={heads}, {bias=}": nn.MultiheadAttention(
        6, heads, bias=bias, batch_first=True
    )
    for heads, bias in product((1, 2), (True, False))
}
KINDS = [
    ("gelu", 2, (1, 1)),
    ("gelu", 1, (1, 1)),
    ("gelu", 2, (0, 0)),
    ("relu", 2, (1, 0)),
    ("relu", 1, (0, 1)),
]
LAYERS = {
    f"{first=}, {norms=}, H={heads}, {activation}, {bias=}": encoder_layer(
        heads=heads, norms=norms, norm_first=first, bias=bias, activation=activation
    )
    for first, bias, (activation, heads, norms) in product(
        (False, True), (True, False), KINDS
    )
}


def drawing(module):
    """A function that draws inputs for one of the modules above."""
    if isinstance(module, nn.MultiheadAttention):
        # for queries, keys and values
        return lambda count: [torch.randn(count, 4, module.embed_dim)] * 3
    if isinstance(module, nn.TransformerEncoderLayer):
        return tokens(module.self_attn.embed_dim)
    return points(
        next(
            part for part in module.modules() if isinstance(part, nn.Linear)
        ).in_features
    )


ALL = {name: module for name, (module, _) in CHAINS.items()} | ATTENTIONS | LAYERS
WITHOUT_SYMMETRIES = [module for module, ledger in CHAINS.values() if not ledger]
every_module = pytest.mark.parametrize("module", ALL.values(), ids=ALL)


def outputs(module, inputs):
    inputs = inputs if isinstance(inputs, (tuple, list)) else [inputs]
    with torch.no_grad():
        result = module(*(x.double() for x in inputs))
    return torch.cat(
        [y.ravel() for y in (result if isinstance(result, tuple) else [result])]
    )


def change(module, other):
    """How far the outputs differ, relative to the largest of them."""
    inputs = drawing(module)(20)
    before = outputs(copy.deepcopy(module).double().eval(), inputs)
    after = outputs(other, inputs)
    return ((after - before).abs().max() / before.abs().max()).item()


@every_module
def test_every_symmetry_moves_the_weights_and_leaves_the_function_alone(module):
    spread(module)
    kept = copy.deepcopy(module.state_dict())
    entries = module_symmetries(module).entries
    assert bool(entries) != (module in WITHOUT_SYMMETRIES)
    for name in entries:
        other = moved(module, name)
        assert all(
            torch.equal(kept[n], value) for n, value in module.state_dict().items()
        )
        assert change(module, other) < 1e-10, name
        parameters = zip(module.parameters(), other.parameters(), strict=True)
        assert max((p - q).abs().max() for p, q in parameters) > 1e-2, name


def test_this_check_sees_a_move_that_is_no_symmetry():
    """A neuron of a ReLU network rescaled as if its activation were a cube."""
    net = spread(chain(3, 5, 2, between=[RELU]))
    other = copy.deepcopy(net).double()
    with torch.no_grad():
        for parameter, factor in zip(other.parameters(), (2, 2, 1 / 8, 1), strict=True):
            parameter.mul_(factor)
    assert change(net, other) > 0.1


@every_module
def test_the_symmetries_explain_every_direction_that_does_nothing(module):
    """At generic weights the measured dimension is parameters − Σ entries, for all of
    these modules."""
    ledger = module_symmetries(spread(module))
    found = functional_dimension(module, drawing(module))
    assert found.decided, found
    assert found.value == ledger.bound, ledger


@pytest.mark.parametrize(("module", "entries"), CHAINS.values(), ids=CHAINS)
def test_the_entries_of_a_chain_are_what_one_counts_by_hand(module, entries):
    assert module_symmetries(module).entries == entries


def test_an_encoder_layer_loses_what_one_counts_by_hand():
    """Post-norm with biases; d = 6 in two heads of width 3, and 7 hidden neurons."""
    assert module_symmetries(encoder_layer()).entries == {
        "query and key bases": 2 * 3**2,
        "value and output bases": 2 * 3**2,
        "key biases": 6,
        "value biases": 6,
        "rescalings of hidden neurons": 7,
        "means before norm1": 6 + 1,
        "the direction that norm1 removes": 7,
        "means before norm2": 7 + 1,
        "shifts of the residual stream": 6,
    }


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("d", "heads", "hidden"), [(3, 1, 1), (3, 3, 1), (4, 4, 5)])
def test_no_encoder_layer_has_more_dimensions_than_the_bound(
    d, heads, hidden, bias, norm_first
):
    """Also where the sizes are extreme, or the weights special: zero biases, unit
    scales."""
    layer = encoder_layer(
        d, heads, hidden, bias=bias, norm_first=norm_first, activation="gelu"
    )
    assert (
        functional_dimension(layer, tokens(d)).value <= module_symmetries(layer).bound
    )
    assert (
        functional_dimension(spread(layer), tokens(d)).value
        <= module_symmetries(layer).bound
    )


def test_dead_and_always_active_neurons_hide_more_than_the_bound_says():
    """The functional dimension of a ReLU network depends on where in parameter space
    one stands."""
    net = spread(chain(3, 5, 2, between=[RELU]))
    ledger = module_symmetries(net)
    # its four incoming and two outgoing weights do nothing, less one rescaling
    net[0].bias.data[0] = -100
    assert functional_dimension(net, points(3)).value == ledger.bound - (4 + 2 - 1)
    net[0].bias.data[1] = (
        # linear: its outgoing weights still turn the linear map, its incoming ones not
        100
    )
    assert functional_dimension(net, points(3)).value < ledger.bound - 5


# --- a transformer that nobody knows --------------------------------------------------


class GPTBlock(nn.Module):
    """As GPT-2 has it: norms first, causal attention, GELU; written without torch's
    layers for it."""

    def __init__(self, d, heads, hidden, bias=True):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(d, bias=bias)
        self.norm2 = nn.LayerNorm(d, bias=bias)
        self.qkv = nn.Linear(d, 3 * d, bias=bias)
        self.out = nn.Linear(d, d, bias=bias)
        self.up = nn.Linear(d, hidden, bias=bias)
        self.down = nn.Linear(hidden, d, bias=bias)

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = (
            self.qkv(self.norm1(x))
            .view(n, t, 3, self.heads, d // self.heads)
            .permute(2, 0, 3, 1, 4)
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, t, d))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("bias", [True, False])
def test_a_gpt_block_loses_what_torchs_encoder_layer_with_norms_first_loses(
    heads, bias
):
    """Neither the mask nor another way to write it changes which directions are
    silent."""
    block = spread(GPTBlock(6, heads, 7, bias))
    layer = encoder_layer(6, heads, 7, norm_first=True, activation="gelu", bias=bias)
    found = functional_dimension(block, tokens(6))
    assert (found.value, found.decided) == (module_symmetries(layer).bound, True)


# --- what is left out, and what is refused --------------------------------------------


def test_a_frozen_parameter_stops_the_symmetries_that_would_move_it():
    net = spread(chain(3, 5, 4, 2, between=[RELU, RELU]))
    net[0].weight.requires_grad_(False)
    ledger = module_symmetries(net)
    assert ledger.entries == {NEURONS: 4}
    assert "frozen parameters stop rescalings of hidden neurons" in ledger.note
    assert functional_dimension(net, points(3)).value <= ledger.bound


class Quiet(nn.Sequential):
    """Its forward is not nn.Sequential's."""

    def forward(self, x):
        return 0 * super().forward(x)


class Bend(nn.Identity):
    """A subclass of what does nothing."""

    def forward(self, x):
        return x.relu()


def hooked():
    net = chain(3, 2)
    net[0].register_forward_hook(lambda *_: None)
    return net


def tied():
    net = chain(3, 3, 3, between=[RELU])
    net[2].weight = net[0].weight
    return net


def with_bounded_weights():
    layer = encoder_layer()
    nn.utils.parametrizations.spectral_norm(layer.linear1)
    return layer


def with_norm(norm):
    layer = encoder_layer()
    layer.norm1 = norm
    return layer


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            GPTBlock(6, 2, 7),
            "nothing is known about the symmetries of this GPTBlock: known are",
        ),
        (Quiet(nn.Linear(3, 2)), "this Quiet"),
        (chain(3, 2, 2, between=[nn.ReLU6()]), "it has a ReLU6"),
        (chain(3, 2, 2, between=[Bend()]), "it has a Bend"),
        (with_bounded_weights(), "it has a ParametrizedLinear"),
        (nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)), "it has a BatchNorm1d"),
        (
            nn.Sequential(nn.Linear(3, 2), RELU, TANH, nn.Linear(2, 2)),
            "two activations follow one another",
        ),
        (
            nn.Sequential(nn.Linear(3, 4), nn.Flatten(), nn.Linear(4, 2)),
            "it has a Flatten",
        ),
        (
            nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)),
            "this ParametrizedLinear",
        ),
        (hooked(), "Linear has a hook"),
        (tied(), "a parameter is used in two places"),
        (nn.MultiheadAttention(4, 2, add_bias_kv=True), "further keys"),
        (nn.MultiheadAttention(4, 2, add_zero_attn=True), "further keys"),
        (with_norm(nn.RMSNorm(6)), "it has a RMSNorm for a norm"),
        (encoder_layer(1, 1, 3), "a constant of a single entry"),
        (
            LightningAttention(4, 4, 2),
            r"call kernel_ledger\(Architecture\(widths=\(4, 4\)",
        ),
        ("net", "needs a torch.nn.Module; got str"),
    ],
)
def test_where_nothing_is_known_an_error_says_so(module, message):
    with pytest.raises(ValueError, match=message):
        module_symmetries(module)


def test_what_is_no_symmetry_and_no_power_is_refused():
    with pytest.raises(ValueError, match="'rescalings of hidden neurons'; got 'turns'"):
        moved(chain(3, 4, 2, between=[RELU]), "turns")
    with pytest.raises(ValueError, match="whole number ≥ 1; got 0"):
        Power(0)
