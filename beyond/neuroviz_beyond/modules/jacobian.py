"""The derivative of any torch module in its parameters, input by input, on a float64
copy of it."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from neuroviz.rank.floats import nearby
from neuroviz_beyond.modules.analytic import Watch, own_derivative

# Bounds of what is pushed back at once: cotangents, and entries of the derivative (8
# bytes each).
_COTANGENTS = 256
_ENTRIES = 2**24
_TRANSFORMERS = nn.Transformer, nn.TransformerEncoder, nn.TransformerEncoderLayer
_TRANSFORMERS += nn.TransformerDecoder, nn.TransformerDecoderLayer
_WITH_A_BATCH = nn.RNNBase, nn.MultiheadAttention, *_TRANSFORMERS

Draw = Callable[[int], Tensor | Sequence[Tensor]]
"""draw(count) returns `count` random inputs."""


_LONG = {
    torch.float32: torch.float64,
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.complex64: torch.complex128,
}
_DOUBLE = torch.float64, torch.complex128
_CASTS = {
    Tensor.float: torch.float32,
    Tensor.half: torch.float16,
    Tensor.bfloat16: torch.bfloat16,
    Tensor.cfloat: torch.complex64,
}
# These give numbers out of torch, where nothing follows them.
_EXITS = {
    Tensor.numpy,
    Tensor.tolist,
    Tensor.__array__,
    Tensor.__dlpack__,
    Tensor.data_ptr,
}


class _Shortenings(TorchDispatchMode):
    """Notices when something in double precision becomes shorter: the first such
    type."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: torch.dtype | None = None

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if self.seen is None and any(
            isinstance(x, Tensor) and x.dtype in _DOUBLE for x in args
        ):
            results = result if isinstance(result, (tuple, list)) else [result]
            dtypes = [x.dtype for x in results if isinstance(x, Tensor)]
            short = [t for t in dtypes if t.is_floating_point or t.is_complex]
            self.seen = next((t for t in short if t not in _DOUBLE), None)
        return result


class _InDouble(TorchFunctionMode):
    """Maps shorter floating-point types to float64, and complex ones to complex128: no
    cast rounds anything.

    Attributes:
        mapped: the types that were asked for.
        left_torch: the first function that gave numbers out of torch, where nothing
            follows them; else empty.
    """

    def __init__(self) -> None:
        super().__init__()
        self.mapped: set[torch.dtype] = set()
        self.left_torch = ""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function in _EXITS:
            self.left_torch = self.left_torch or function.__name__
        if function in _CASTS:
            self.mapped.add(_CASTS[function])
            function, args = Tensor.to, (args[0], _LONG[_CASTS[function]])
        args, kwargs = self._longer((args, kwargs or {}))
        result = function(*args, **kwargs)
        # Without a type torch makes float32. An operation in place gives back its
        # argument, which has to stay the same tensor.
        if (
            isinstance(result, Tensor)
            and result.dtype in _LONG
            and not any(x is result for x in args)
        ):
            return result.to(_LONG[result.dtype])
        return result

    def _longer(self, asked: object) -> object:
        if isinstance(asked, torch.dtype) and asked in _LONG:
            self.mapped.add(asked)
            return _LONG[asked]
        if type(asked) in (tuple, list):
            return type(asked)(map(self._longer, asked))
        return (
            {key: self._longer(x) for key, x in asked.items()}
            if type(asked) is dict
            else asked
        )


@dataclass(frozen=True)
class Copied:
    """A copy in float64 and evaluation mode to take derivatives of: the caller's module
    is never called.

    Attributes:
        module: the copy; `what` is the name of its class.
        parameters: those of it that have `requires_grad`, each once, and their names,
            for messages.
        in_double: maps its casts to shorter types, and knows which there were.
    """

    module: nn.Module
    parameters: tuple[Tensor, ...]
    names: tuple[str, ...]
    what: str
    in_double: _InDouble = field(default_factory=_InDouble)

    @property
    def size(self) -> int:
        """How many numbers the parameters have."""
        return sum(parameter.numel() for parameter in self.parameters)


def copied(module: nn.Module) -> Copied:
    """A copy in float64 and evaluation mode, and the parameters to vary.

    Raises:
        ValueError: if it cannot be copied, takes its batch in the second dimension, has
            no trainable parameter, or has complex or not yet initialised ones.

    >>> copied(nn.Linear(3, 2)).size
    8
    """
    what = type(module).__name__
    if any(nn.parameter.is_lazy(parameter) for parameter in module.parameters()):
        raise ValueError(
            f"the shapes in {what} are not known yet: call it once on some input, then"
            " measure"
        )
    # Only these classes are asked: a user's module may transpose its input before it
    # calls them.
    parts = module.modules() if isinstance(module, _WITH_A_BATCH) else ()
    if any(getattr(part, "batch_first", True) is False for part in parts):
        raise ValueError(
            f"the first dimension counts the inputs; got {what} with batch_first=False,"
            " which counts tokens there: build it with batch_first=True (its"
            " state_dict fits), and give inputs of shape (N, t, d)"
        )
    try:
        double = copy.deepcopy(module).double().eval()
    except Exception as error:
        why = f"copy.deepcopy({what}) raised {type(error).__name__}: {error}"
        raise ValueError(
            f"functional_dimension works on a copy of the module; {why}"
        ) from error
    named = [
        (name, parameter)
        for name, parameter in double.named_parameters()
        if parameter.requires_grad
    ]
    if not any(parameter.numel() for _, parameter in named):
        raise ValueError(
            f"{what} has no trainable parameter: set requires_grad=True on those that"
            " count"
        )
    if any(parameter.is_complex() for _, parameter in named):
        remedy = "store their real and imaginary parts as two parameters"
        raise ValueError(
            f"functional_dimension needs real parameters; got complex ones: {remedy}"
        )
    names, parameters = zip(*named, strict=True)
    return Copied(double, parameters, names, what)


@torch.no_grad()
def nudge(tensors: Iterable[Tensor], seed: int) -> None:
    """Change every number, in place, by some units in the last place; whole numbers
    stay."""
    rng = np.random.default_rng(seed)
    for x in tensors:
        if x.is_floating_point() or x.is_complex():
            x.mul_(torch.from_numpy(nearby(np.ones(tuple(x.shape)), rng)).to(x.device))


def arguments(inputs: Tensor | Sequence[Tensor]) -> list[Tensor]:
    """The arguments of the module, detached and in double precision; whole numbers stay
    whole.

    Raises:
        ValueError: if they are no tensors, or disagree about the number of inputs.
    """
    tensors = [inputs] if isinstance(inputs, Tensor) else inputs
    if not isinstance(tensors, (tuple, list)) or not all(
        isinstance(x, Tensor) for x in tensors
    ):
        raise ValueError(
            "inputs need to be a tensor, a tuple of tensors for several arguments, or"
            f" a function that draws them; got {type(inputs).__name__}: convert arrays"
            " with torch.as_tensor(…)"
        )
    _check_dense("inputs", tensors)
    lengths = [len(x) if x.ndim else 0 for x in tensors]
    if not lengths or len(set(lengths)) > 1 or lengths[0] == 0:
        raise ValueError(
            "the first dimension of every argument counts the inputs, at least one and"
            f" the same for all; got shapes {[tuple(x.shape) for x in tensors]}: put a"
            " single input x in as x[None]"
        )
    return [x.detach().clone().to(_doubled(x)) for x in tensors]


def _doubled(x: Tensor) -> torch.dtype:
    return (
        torch.complex128
        if x.is_complex()
        else torch.float64
        if x.is_floating_point()
        else x.dtype
    )


def _check_dense(what: str, tensors: Sequence[Tensor]) -> None:
    for x in tensors:
        if x.is_nested or x.layout != torch.strided or x.is_quantized or x.is_meta:
            raise ValueError(
                f"{what}: dense tensors with numbers in them are needed; got one with"
                f" {x.layout} and {x.dtype} on {x.device}: convert it, with"
                " x.to_dense(), x.dequantize() or x.to_padded_tensor(0.0)"
            )


def check_deterministic(of: Copied, one: list[Tensor]) -> int:
    """Call it twice on the same input; returns how many numbers the output has.

    Raises:
        ValueError: if the outputs differ, or something in double precision becomes
            shorter.
    """
    with torch.no_grad(), _undisturbed(of):
        with _Shortenings() as shortenings:
            first = _output(of, one)
        second = _output(of, one)
    if shortenings.seen:
        raise ValueError(
            f"{of.what} turns float64 numbers into {shortenings.seen} inside, the"
            " measurement cannot put float64 in its place, and the rounding of that"
            " would count as rank: take out the cast for the measurement, as in"
            " x.to(weight.dtype)"
        )
    if first.shape != second.shape or not torch.equal(first, second):
        raise ValueError(
            f"{of.what} is no function of its input: two calls on the same one gave"
            " different outputs, in evaluation mode; take out what draws random"
            " numbers or remembers earlier calls, such as F.dropout(x) without"
            " training=self.training"
        )
    return len(first)


def parameter_jacobian(
    of: Copied, one: list[Tensor], watch: Watch | None = None
) -> np.ndarray:
    """∂ module(*one) / ∂ parameters, shape (number of output entries, number of
    parameters).

    A `watch` sees the call, and is told of derivatives that torch did not make.

    Raises:
        ValueError: if the module cannot be called or differentiated, or if an output or
            a derivative is not finite.
    """
    with _undisturbed(of):
        output = _output(of, one, watch)
        if watch is not None:
            watch.doubt = (
                watch.doubt or of.in_double.left_torch or own_derivative(output)
            )
        J = np.zeros((len(output), of.size))
        if not output.requires_grad:
            return J
        chunk = max(1, min(_COTANGENTS, _ENTRIES // of.size))
        for start in range(0, len(output), chunk):
            stop = min(start + chunk, len(output))
            # rows `start` to `stop` of the identity: each picks one output
            cotangents = output.new_zeros(stop - start, len(output))
            cotangents[:, start:stop].fill_diagonal_(1)
            column = 0
            for parameter, gradient in zip(
                of.parameters, _pull_back(of, output, cotangents), strict=True
            ):
                if gradient is not None:
                    dense = (
                        gradient
                        if gradient.layout == torch.strided
                        else gradient.to_dense()
                    )
                    values = (
                        dense.detach()
                        .to("cpu", torch.float64)
                        .reshape(stop - start, -1)
                    )
                    J[start:stop, column : column + parameter.numel()] = values.numpy()
                column += parameter.numel()
    if (bad := ~np.isfinite(J).all(axis=0)).any():
        ends = np.cumsum([parameter.numel() for parameter in of.parameters])
        # The first bad column belongs to the first parameter that ends after it.
        name = of.names[int(np.searchsorted(ends, bad.argmax(), side="right"))]
        raise ValueError(
            f"{of.what} has finite outputs, but derivatives in {name} that are not"
            f" finite, on an input of shape {_shapes(one)}: is there a root or a"
            " logarithm at 0, or a torch.where around one?"
        )
    return J


def _pull_back(of: Copied, output: Tensor, cotangents: Tensor) -> list[Tensor | None]:
    """The cotangents pulled back to each parameter: all at once, or one by one where
    torch cannot."""
    gradients = partial(
        torch.autograd.grad, output, of.parameters, retain_graph=True, allow_unused=True
    )
    # a fault of the backward pass itself is reported below
    with suppress(RuntimeError), of.in_double:
        return list(gradients(cotangents, is_grads_batched=True))
    try:
        with of.in_double:
            rows = [gradients(cotangent) for cotangent in cotangents]
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise ValueError(
            f"the derivative of {of.what} could not be taken: {why}"
        ) from error
    return [
        None if column[0] is None else torch.stack(column)
        for column in zip(*rows, strict=True)
    ]


def _output(of: Copied, one: list[Tensor], watch: Watch | None = None) -> Tensor:
    """All real numbers in the output, in one row."""
    seen = nullcontext() if watch is None else watch
    # Fused attention would hide its softmax from the watch.
    attention = nullcontext() if watch is None else sdpa_kernel(SDPBackend.MATH)
    try:
        with of.in_double, attention, seen:
            # The module may write into its input: the next call gets another copy.
            result = of.module(*(x.clone() for x in one))
    except Exception as error:
        how = f"on one input of shape {_shapes(one)}, in float64 and evaluation mode"
        why = f"it raised {type(error).__name__}: {error}"
        raise ValueError(f"{of.what} could not be called {how}; {why}") from error
    tensors = list(_tensors(result))
    if not tensors:
        raise ValueError(
            f"the output of {of.what} needs a floating-point tensor, alone or in a"
            " tuple, list or dictionary; got none: wrap the module in one that returns"
            " the tensor to look at"
        )
    _check_dense(f"the output of {of.what}", tensors)
    real = [
        torch.view_as_real(x.resolve_conj()) if x.is_complex() else x for x in tensors
    ]
    output = torch.cat([x.reshape(-1).double() for x in real])
    if not len(output):
        shapes = f"{_shapes(one)}: its tensors have shapes {_shapes(tensors)}"
        raise ValueError(
            f"the output of {of.what} has no entries, on one input of shape {shapes}"
        )
    if not output.isfinite().all():
        bad = output[~output.isfinite()][0].item()
        where = (
            f"not finite, on one input of shape {_shapes(one)}: entries that overflowed"
            " or are undefined"
        )
        raise ValueError(
            f"{of.what} has outputs such as {bad:g}, {where}; take smaller inputs or"
            " weights"
        )
    return output


def _tensors(output: object) -> Iterator[Tensor]:
    """The real or complex tensors in a module's output, in order."""
    if isinstance(output, Tensor):
        if output.is_floating_point() or output.is_complex():
            yield output
    elif isinstance(output, (Mapping, tuple, list)):
        for part in output.values() if isinstance(output, Mapping) else output:
            yield from _tensors(part)


@contextmanager
def _undisturbed(of: Copied) -> Iterator[None]:
    """Within the block random numbers may be drawn; afterwards torch goes on as if none
    had been.

    Fused inference is off as well: it passes by the submodules, such as norms that
    somebody replaced.
    """
    devices = {
        parameter.device.index for parameter in of.parameters if parameter.is_cuda
    }
    fused = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.random.fork_rng(devices=sorted(devices)):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fused)


def _shapes(one: list[Tensor]) -> str:
    return ", ".join(str(tuple(x.shape)) for x in one)
