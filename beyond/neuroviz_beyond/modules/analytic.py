"""Whether a module is a real-analytic function of its inputs, read off the operations
of one call.

Of an analytic function a random input shows all that any input shows ("How many
inputs"). A function with bends is other functions elsewhere, and no input says what
they are.
"""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# Of torch's own operations (aten) on numbers that depend on an input. Unnamed ones
# count as not analytic.
_MOVING = """
    view _unsafe_view reshape expand permute transpose t unsqueeze squeeze slice select
    split split_with_sizes unsafe_split chunk unsafe_chunk unbind unfold alias detach
    clone contiguous flip roll repeat diagonal narrow movedim as_strided
""".split()
_LINEAR = """
    _to_copy copy cat stack index index_select index_put gather scatter scatter_add
    index_add masked_fill where tril triu constant_pad_nd reflection_pad1d
    reflection_pad2d replication_pad1d replication_pad2d diag_embed fill zero
    slice_scatter select_scatter im2col col2im pixel_shuffle pixel_unshuffle sum mean
    cumsum add sub rsub neg avg_pool1d avg_pool2d avg_pool3d _adaptive_avg_pool2d
    _adaptive_avg_pool3d upsample_linear1d upsample_bilinear2d upsample_bicubic2d
    upsample_nearest1d upsample_nearest2d real imag _conj view_as_real view_as_complex
""".split()
_PRODUCTS = """
    mul mm bmm addmm baddbmm addbmm addmv mv dot addr addcmul lerp square prod cumprod
    var convolution _trilinear linear
""".split()
# Each is flat far from 0.
_CURVES = """
    exp expm1 tanh sigmoid erf erfc gelu silu softplus mish log_sigmoid_forward atan
    asinh
""".split()
_SMOOTH = "sin cos sinh cosh glu".split()
_SHARES = "_softmax _safe_softmax _log_softmax logsumexp".split()
_MAY_BE_FLAT = {*_CURVES, *_SHARES, "glu"}
_KNOWN = {*_MOVING, *_LINEAR, *_PRODUCTS, *_CURVES, *_SMOOTH, *_SHARES}
_NORMS = {
    "native_layer_norm",
    "native_group_norm",
    "native_batch_norm",
    "cudnn_batch_norm",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_no_training",
    "_fused_rms_norm",
}
_OF_POSITIVE = {"sqrt", "rsqrt", "log", "log2", "log10", "reciprocal"}
_CONSTANTS = {
    "zeros_like",
    "ones_like",
    "full_like",
    "empty_like",
    "new_zeros",
    "new_ones",
    "new_full",
    "new_empty",
}
_EPS = float(torch.finfo(torch.float64).eps)
# twice the rounding of a second difference, which adds up four values
_BENT = 8 * _EPS
_MASKED = -1e30  # logits below this one are a mask's

_NONNEGATIVE = 1
_POSITIVE = 2


class Watch(TorchDispatchMode):
    """Follows the inputs through one call of a module.

    An operation on what depends on an input is analytic on all real inputs if it is on
    the list, and roots, logarithms and divisors are positive for a reason that is seen,
    such as a square plus ε.

    Attributes:
        doubt: the first operation that is not known to be analytic; empty if there is
            none.
        flat: the first one whose bend is lost to rounding somewhere on this input;
            empty if there is none.

    >>> x = torch.ones(2, dtype=torch.float64)
    >>> with Watch([x]) as watch:
    ...     _ = (x.tanh() / (1 + x * x).sqrt()).relu()
    >>> watch.doubt, watch.flat
    ('relu', '')
    """

    def __init__(self, inputs: list[Tensor]) -> None:
        super().__init__()
        self.doubt = self.flat = ""
        # What is kept alive keeps its id and its place in memory.
        self._kept: list[Tensor] = []
        self._places: set[int] = set()
        self._signs: dict[int, int] = {}
        for x in inputs:
            if x.is_floating_point() or x.is_complex():
                self._follow(x)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        # An operator of higher order, such as cond, hides what it computes.
        if not isinstance(function, torch._ops.OpOverload):
            self.doubt = self.doubt or str(function)
            return function(*args, **kwargs)
        name = function.overloadpacket.__name__
        name = name.removesuffix("_") if function._schema.is_mutable else name
        # An operation in place overwrites its argument.
        before = args[0].clone() if name in _MAY_BE_FLAT and not self.doubt else None
        result = function(*args, **kwargs)
        # zeros_like and the like read the shape of their argument, not its numbers.
        if (
            self.doubt
            or name in _CONSTANTS
            or not any(map(self._moves, tree_leaves((args, kwargs))))
        ):
            return result
        if not self._is_analytic(name, args, kwargs, result):
            self.doubt = name.strip("_")
            return result
        sign = self._sign_of_result(name, args, kwargs)
        # Its argument may have views, and their signs may be others afterwards.
        if function._schema.is_mutable:
            self._signs.clear()
        for x in tree_leaves(result):
            if isinstance(x, Tensor):
                self._follow(x)
                if sign and not x.is_complex():  # complex numbers have no sign
                    self._signs[id(x)] = sign
        if (
            before is not None
            and not self.flat
            and _is_flat(name, before, *args[1:], **kwargs)
        ):
            self.flat = name.strip("_")
        return result

    def _follow(self, x: Tensor) -> None:
        self._kept.append(x)
        self._places.add(_place(x))

    def _moves(self, x: object) -> bool:
        return isinstance(x, Tensor) and _place(x) in self._places

    def _is_analytic(
        self, name: str, args: tuple, kwargs: dict, result: object
    ) -> bool:
        tensors = [x for x in tree_leaves(result) if isinstance(x, Tensor)]
        # A comparison gives no floats: a mask made of the input ends here.
        if not all(x.is_floating_point() or x.is_complex() for x in tensors):
            return False
        if name == "div":
            return kwargs.get("rounding_mode") is None and self._is_free_of_zeros(
                args[1]
            )
        if name == "pow":
            base, exponent = args
            if not isinstance(exponent, (int, float)):
                return False
            return (exponent >= 0 and exponent == int(exponent)) or self._sign(
                base
            ) == _POSITIVE
        if name in _OF_POSITIVE:
            return self._sign(args[0]) == _POSITIVE
        if name in _NORMS:
            return args[-1] is None or args[-1] > 0  # ε; None is that of the type
        return name in _KNOWN

    def _is_free_of_zeros(self, divisor: object) -> bool:
        return not self._moves(divisor) or self._sign(divisor) == _POSITIVE

    def _sign(self, x: object) -> int:
        """What is known of all entries, on every input."""
        # Numbers of this one input say nothing of others; those of a constant do.
        if self._moves(x):
            return self._signs.get(id(x), 0)
        if isinstance(x, Tensor) and x.is_complex():
            return 0
        least = x.min().item() if isinstance(x, Tensor) and x.numel() else x
        if not isinstance(least, (int, float)):
            return 0
        return _POSITIVE if least > 0 else _NONNEGATIVE if least == 0 else 0

    def _sign_of_result(self, name: str, args: tuple, kwargs: dict) -> int:
        # A logarithm of a positive number may be negative.
        if name in (
            "exp",
            "sigmoid",
            "softplus",
            *_OF_POSITIVE - {"log", "log2", "log10"},
        ):
            return _POSITIVE
        if name == "pow":
            even = args[1] % 2 == 0 and not args[0].is_complex()
            return self._sign(args[0]) or (_NONNEGATIVE if even else 0)
        # A mask of −∞ makes a share 0, so softmax is not among the positive ones.
        if name in ("square", "var", "_softmax", "_safe_softmax") or (
            name == "mul" and args[0] is args[1]
        ):
            return 0 if args[0].is_complex() else _NONNEGATIVE
        if name in (*_MOVING, "sum", "mean", "cumsum", "_to_copy"):
            return self._sign(args[0])
        # A keyword such as alpha may turn the sign of the second term.
        if name in ("add", "mul", "div") and not kwargs:
            signs = self._sign(args[0]), self._sign(args[1])
            # One positive term makes a sum positive; a product needs two.
            if 0 in signs:
                return 0
            return max(signs) if name == "add" else min(signs)
        return 0


def own_derivative(output: Tensor) -> str:
    """The first torch.autograd.Function behind an output, with a backward of its own;
    empty without one."""
    for node in _nodes(output):
        if isinstance(node, torch.autograd.function.BackwardCFunction):
            return type(node).__name__.removesuffix("Backward")
    return ""


def _nodes(output: Tensor) -> Iterator[object]:
    left = [output.grad_fn]
    seen = set()
    while left:
        node = left.pop()
        if node is not None and node not in seen:
            seen.add(node)
            yield node
            left += [before for before, _ in node.next_functions]


def _is_flat(name: str, u: Tensor, *args: object, **kwargs: object) -> bool:
    """Whether the function is straight at some entry, to rounding: no derivative there
    sees its bend."""
    if name in _SHARES:
        # A share below ε is lost beside the others, which add up to nearly 1.
        shares = (u - u.logsumexp(args[0], keepdim=True)).exp()
        return bool(((shares < _EPS) & (u > _MASKED)).any())
    # glu(u₁, u₂) = u₁ · sigmoid(u₂)
    if name == "glu":
        return _is_flat("sigmoid", u.chunk(2, *(args or [-1]))[1])
    curve = getattr(torch.ops.aten, name)
    # f(u) − 2 f(u + ½) + f(u + 1) is 0 where f is straight.
    results = [curve(u + step, *args, **kwargs) for step in (0.0, 0.5, 1.0)]
    first, middle, last = (x if isinstance(x, Tensor) else x[0] for x in results)
    bend = (first - 2 * middle + last).abs()
    return bool((bend <= _BENT * first.abs().clamp(min=1.0)).any())


def _place(x: Tensor) -> int:
    """The memory that a tensor shares with its views; a sparse one is by itself."""
    if x.layout != torch.strided or x.is_meta:
        return id(x)
    return x.untyped_storage()._cdata
