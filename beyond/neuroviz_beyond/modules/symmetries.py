"""Which directions of a torch module are silent, as far as is known: a ledger of its
symmetries."""

import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import nn

from neuroviz.attention import Architecture
from neuroviz_beyond.modules.symmetry_families import (
    Family,
    Norm,
    Power,
    attention_families,
    hidden_rescaling,
    input_maps,
    linear_map,
    linear_stretch,
    mean_before,
    present,
    stream_shift,
)
from neuroviz_beyond.transformers import Transformer

_HOMOGENEOUS = (nn.ReLU, nn.LeakyReLU, Power)
# no continuous symmetry is known
_WITHOUT = (nn.Tanh, nn.Sigmoid, nn.GELU, nn.SiLU, nn.Softplus)
_NOTHING = (nn.Identity, nn.Dropout)  # these do nothing in evaluation mode


@dataclass(frozen=True)
class ModuleSymmetries:
    """The bound, parameters − Σ entries, is at least the functional dimension, at any
    weights and inputs.

    Attributes:
        module: the name of its class.
        parameters: the trainable ones.
        entries: name of a symmetry → how many directions it adds to those before it, at
            generic weights.
        note: what is left out, and what the bound says.
    """

    module: str
    parameters: int
    entries: dict[str, int] = field(hash=False)
    note: str

    @property
    def bound(self) -> int:
        return self.parameters - sum(self.entries.values())


def module_symmetries(module: nn.Module) -> ModuleSymmetries:
    """The continuous symmetries of a module that are known, by name, and how many
    directions each has.

        functional dimension  ≤  parameters − Σ entries

    with equality where nothing else hides parameters, as at generic weights of a smooth
    module.

    Known are `nn.Linear` and activations (ReLU, LeakyReLU, `Power`, Tanh, Sigmoid,
    GELU, SiLU, Softplus) in `nn.Sequential`; `nn.MultiheadAttention`;
    `nn.TransformerEncoderLayer`, whose norms may be `nn.Identity`. All in evaluation
    mode. A symmetry that would move a parameter without `requires_grad` is left out. Of
    the networks of `neuroviz.attention.modules` `kernel_ledger(module.arch)` says more.

    Raises:
        ValueError: if nothing is known about the module.

    >>> net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    >>> ledger = module_symmetries(net)
    >>> ledger.parameters, ledger.entries, ledger.bound
    (26, {'rescalings of hidden neurons': 4}, 22)
    >>> module_symmetries(nn.MultiheadAttention(4, 2)).entries
    {'query and key bases': 8, 'value and output bases': 8,
     'key biases': 4, 'value biases': 4}
    """
    entries = Counter()
    left_out = {}
    for family in _families(module):
        if all(parameter.requires_grad for parameter in family.parameters):
            entries[family.name] += family.dimension
        else:
            left_out[family.name] = None
    parameters = sum(p.numel() for p in module.parameters() if p.requires_grad)
    note = (
        "the functional dimension is at most the bound"
        if entries
        else "no continuous symmetry is known"
    )
    if left_out:
        note += f"; frozen parameters stop {', '.join(left_out)}"
    return ModuleSymmetries(type(module).__name__, parameters, dict(entries), note)


def moved(module: nn.Module, name: str, seed: int = 0) -> nn.Module:
    """A float64 copy whose weights have been moved by a random element of one symmetry
    of the ledger.

    Args:
        module: one that `module_symmetries` knows.
        name: a key of its entries.
        seed: a whole number ≥ 0.

    Raises:
        ValueError: if nothing is known about the module, or it has no such symmetry.

    >>> net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).double()
    >>> other, x = moved(net, "rescalings of hidden neurons"), torch.ones(1, 3).double()
    >>> torch.allclose(other[0].weight, net[0].weight), torch.allclose(other(x), net(x))
    (False, True)
    """
    other = copy.deepcopy(module).double().eval()
    families = _families(other)
    if not any(family.name == name for family in families):
        names = (
            ", ".join(dict.fromkeys(repr(family.name) for family in families)) or "none"
        )
        what = type(module).__name__
        raise ValueError(
            f"{what} needs the name of one of its symmetries, {names}; got {name!r}"
        )
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for family in families:
            if family.name == name:
                family.move(generator)
    return other


def _families(module: nn.Module) -> list[Family]:
    """All families of at least one direction, in the order in which they are
    counted."""
    if not isinstance(module, nn.Module):
        raise ValueError(
            f"module_symmetries needs a torch.nn.Module; got {type(module).__name__}"
        )
    for part in module.modules():
        if part._forward_hooks or part._forward_pre_hooks:
            raise _unknown(
                module, f"{type(part).__name__} has a hook that may change its function"
            )
    names = [name for name, _ in module.named_parameters(remove_duplicate=False)]
    if len(names) != len(list(module.parameters())):
        why = (
            "a parameter is used in two places, and a symmetry would have to move both"
            " alike"
        )
        raise _unknown(module, why)
    known = {
        **dict.fromkeys((nn.Sequential, nn.Linear), _chain),
        nn.MultiheadAttention: _attention,
        nn.TransformerEncoderLayer: _encoder_layer,
    }
    if type(module) not in known:
        if isinstance(
            arch := getattr(module, "arch", None), Architecture | Transformer
        ):
            raise ValueError(
                "module_symmetries is for torch's own modules; call"
                f" kernel_ledger({arch!r})"
            )
        why = (
            "known are nn.Sequential of linear layers and activations,"
            " nn.MultiheadAttention, "
        )
        raise _unknown(module, why + "nn.TransformerEncoderLayer")
    return [family for family in known[type(module)](module) if family.dimension]


def _unknown(module: nn.Module, why: str) -> ValueError:
    what = f"nothing is known about the symmetries of this {type(module).__name__}"
    return ValueError(f"{what}: {why}; functional_dimension measures any module")


# Linear layers and activations


def _parts(module: nn.Module) -> Iterator[nn.Module]:
    if type(module) is nn.Sequential:
        for part in module:
            yield from _parts(part)
    elif type(module) not in _NOTHING:  # a subclass may compute something else
        yield module


def _chain(module: nn.Module) -> Iterator[Family]:
    parts = list(_parts(module))
    while parts and type(parts[0]) is nn.Flatten:
        parts = parts[1:]
    stretches: list[list[nn.Linear]] = []
    between: list[nn.Module] = []
    for i, part in enumerate(parts):
        is_linear = type(part) is nn.Linear
        if not is_linear and type(part) not in (*_HOMOGENEOUS, *_WITHOUT):
            raise _unknown(module, f"it has a {type(part).__name__}")
        if is_linear and not {name for name, _ in part.named_parameters()} <= {
            "weight",
            "bias",
        }:
            raise _unknown(
                module, "a linear layer has other parameters than weight and bias"
            )
        # Linear layers with nothing between them are one stretch.
        if is_linear and i and type(parts[i - 1]) is nn.Linear:
            stretches[-1].append(part)
        elif is_linear:
            stretches.append([part])
            # the activation before each stretch but the first
            between += parts[i - 1 : i] if len(stretches) > 1 else []
        elif i and type(parts[i - 1]) is not nn.Linear:
            raise _unknown(module, "two activations follow one another")
    for stretch in stretches:
        yield linear_stretch(stretch)
    for before, activation, after in zip(
        stretches, between, stretches[1:], strict=False
    ):
        yield from hidden_rescaling(before[-1], activation, after[0])


# Transformers


def _attention(attention: nn.MultiheadAttention) -> Iterator[Family]:
    if attention.bias_k is not None or attention.add_zero_attn:
        raise _unknown(attention, "it has further keys (add_bias_kv or add_zero_attn)")
    return attention_families(attention)


def _encoder_layer(layer: nn.TransformerEncoderLayer) -> Iterator[Family]:
    d = layer.self_attn.embed_dim
    attention = layer.self_attn
    for part, kind in (
        (attention, nn.MultiheadAttention),
        (layer.linear1, nn.Linear),
        (layer.linear2, nn.Linear),
    ):
        if type(part) is not kind:
            raise _unknown(layer, f"it has a {type(part).__name__}")
    for norm in (layer.norm1, layer.norm2):
        if type(norm) not in (nn.LayerNorm, nn.Identity):
            raise _unknown(layer, f"it has a {type(norm).__name__} for a norm")
    first, second = (
        isinstance(norm, nn.LayerNorm) for norm in (layer.norm1, layer.norm2)
    )
    if d == 1 and (first or second):
        raise _unknown(layer, "a layer norm makes a constant of a single entry")
    into = layer.linear1
    out = layer.linear2
    by_linear = [linear_map(into)], tuple(into.parameters())  # what reads a norm
    yield from _attention(attention)
    yield from hidden_rescaling(into, layer.activation, out)
    # Norm first: x + attention(norm1(x)), so only the block reads the norm, and takes
    # its scale and shift into its own maps.
    if layer.norm_first:
        if first:
            joint = present(attention.in_proj_weight, attention.in_proj_bias)
            norm = Norm("norm1", layer.norm1, input_maps(attention), joint)
            yield from norm.absorbed()
            # One head as wide as the tokens, without biases: nnᵀ in A is a change of Q
            # and one of K.
            yield from norm.direction(
                counted_before=int(
                    attention.num_heads == 1 and attention.in_proj_bias is None
                )
            )
        if second:
            norm = Norm("norm2", layer.norm2, *by_linear)
            yield from norm.absorbed()
            yield from norm.direction()
        start = attention.out_proj.bias
        reader = None if second else into
    else:
        # Norm last: norm1(x + attention(x)), and the stream goes on from the norm, so
        # its scale and shift are seen.
        if first:
            yield mean_before("norm1", attention.out_proj)
            yield from Norm("norm1", layer.norm1, *by_linear).direction()
        if second:
            yield mean_before("norm2", out)
        start = layer.norm1.bias if first else attention.out_proj.bias
        reader = into
    if (
        start is not None
        and out.bias is not None
        and (reader is None or reader.bias is not None)
    ):
        yield stream_shift(start, reader, out)
