"""The operators as torch knows them: with shapes for torch.compile, rules for vmap, and adjoints as backward passes.

The torque is linear in the forces, and its adjoint is the contribution map; each is the other's backward pass. Value
and scale maps pass the gradient to the patch that was chosen. Outside of torch.compile and vmap, where no gradient is
wanted, the functions are called directly: that saves some tens of microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from imtorque.torch import _canny, _coherence, _cuda_far, _extrema, _gradient, _host, _images, _launch, _tables, _torque
from imtorque.torch._patches import boxes_for

Found = tuple[Tensor, Tensor, Tensor, Tensor]


def torque_volume(forces: Tensor, sides: list[int], alpha: float, exact: bool) -> Tensor:
    """Return the torque of each patch around each pixel, (B, S, H, W); sides: heights and widths in turn."""
    if _is_plain(forces):
        return _run_volume(forces, sides, alpha, exact)
    return _volume(forces, sides, alpha, exact)


def value_and_scale(forces: Tensor, sides: list[int], alpha: float, exact: bool) -> tuple[Tensor, Tensor]:
    """Return the strongest torque at each pixel, and the label of its patch with its sign."""
    if _is_plain(forces):
        return _run_maps(forces, sides, alpha, exact)
    value, scale = _maps(forces, sides, alpha, exact)
    return value, scale


def find_extrema(forces: Tensor, sides: list[int], alpha: float, request: _extrema.Request) -> Found:
    """Return size's place, y, x and value of the strongest extrema, (B, count), value 0 where there are no more."""
    if _is_plain(forces):
        return _run_extrema(forces, sides, alpha, *request)
    if request.limit < 0:
        raise ValueError("count must be given under torch.compile and vmap, where shapes are fixed, got None")
    k, y, x, value = _find(forces, sides, alpha, *request)
    return k, y, x, value


def canny(
    image: Tensor, sigma: float, low: float, high: float, kind: int, value_range: list[float], unit: bool
) -> Tensor:
    """Return Canny's edges (B, 2, H, W); kind of thresholds: 0 gradients, 1 quantiles, 2 automatic."""
    image = image.detach()
    if _is_plain(image):
        return _run_canny(image, sigma, low, high, kind, value_range, unit)
    return _canny_op(image, sigma, low, high, kind, value_range, unit)


def coherence(forces: Tensor, size: int) -> Tensor:
    """Return the library's bits of the torque over edge mass, (B, H, W)."""
    return _coherence.coherence(forces, size) if _is_plain(forces) else _coherence_op(forces, size)


def votes(forces: Tensor, sizes: list[int]) -> Tensor:
    """Return the library's bits of the dense contribution, (B, H, W)."""
    return _coherence.votes(forces, sizes) if _is_plain(forces) else _votes_op(forces, sizes)


def gradient_torque(image: Tensor, sides: list[int], value_range: list[float]) -> Tensor:
    """Return the library's bits of the gradient torque, (B, S, H, W)."""
    if _is_plain(image):
        return _gradient.volume(image, sides, value_range)
    return _gradient_op(image, sides, value_range)


def _is_plain(tensor: Tensor) -> bool:
    """Whether nobody is to learn what is done to a tensor: no gradient, torch.compile or vmap."""
    if torch.compiler.is_compiling() or torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return False
    return not (torch.is_grad_enabled() and tensor.requires_grad) and type(tensor) in (Tensor, torch.nn.Parameter)


def _result(forces: Tensor, exact: bool) -> torch.dtype:
    return torch.float64 if forces.dtype == torch.float64 and not exact else torch.float32


def _run_volume(forces: Tensor, sides: Sequence[int], alpha: float, exact: bool) -> Tensor:
    fields = _host.edges_of(forces, exact=exact)
    return _torque.volume(forces, list(sides), alpha, exact) if fields is None else _host.volume(fields, sides, alpha)


def _run_maps(forces: Tensor, sides: Sequence[int], alpha: float, exact: bool) -> tuple[Tensor, Tensor]:
    fields = _host.edges_of(forces, exact=exact)
    return _torque.maps(forces, list(sides), alpha, exact) if fields is None else _host.maps(fields, sides, alpha)


def _run_adjoint(grad: Tensor, sides: Sequence[int], alpha: float) -> Tensor:
    boxes = boxes_for(sides, alpha, *grad.shape[2:])
    return _tables.volume_adjoint(grad, boxes, _torque.table_type(grad.device)).to(grad.dtype)


def _run_chosen_adjoint(grad: Tensor, scale: Tensor, sides: Sequence[int], alpha: float) -> Tensor:
    boxes = boxes_for(sides, alpha, *grad.shape[1:])
    out = grad.new_empty(grad.shape[0], 2, *grad.shape[1:])
    if _launch.serves(grad.device) and grad.dtype == torch.float32:
        _cuda_far.chosen_adjoint(grad.contiguous(), scale.contiguous(), boxes, out)
    else:
        _tables.chosen_adjoint(grad, scale, boxes, _torque.table_type(grad.device), out)
    return out


def _run_extrema(
    forces: Tensor,
    sides: Sequence[int],
    alpha: float,
    sign: int,
    count: int,
    end_scales: bool,
    cross: bool,
    inside: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    request, fields = _extrema.Request(sign, count, end_scales, cross, inside), _host.edges_of(forces, exact=True)
    if fields is not None:
        return _host.extrema(fields, sides, alpha, request)
    k, y, x, bits = _extrema.extrema(_torque.Field(forces, list(sides), alpha, exact=True), request).unbind(0)
    return k, y, x, bits.int().view(torch.float32)


def _own_extrema(
    forces: Tensor,
    sides: Sequence[int],
    alpha: float,
    sign: int,
    count: int,
    end_scales: bool,
    cross: bool,
    inside: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    k, y, x, value = _run_extrema(forces, sides, alpha, sign, count, end_scales, cross, inside)
    return k.clone(), y.clone(), x.clone(), value.clone()  # an operator's results share no memory


def _run_canny(
    image: Tensor, sigma: float, low: float, high: float, kind: int, value_range: Sequence[float], unit: bool
) -> Tensor:
    if unit and (found := _host.canny(image, sigma, low, high, kind, value_range)) is not None:
        return found
    if image.dtype == torch.uint8 and not value_range and _launch.serves(image.device):
        grey, units = _images.grey_by_brightest(image), [1.0] * len(image)
    else:
        ranges, units = _images.levelled(image, (value_range[0], value_range[1]) if value_range else None)
        grey = _images.grey(image, ranges)
    smoothed = _canny.smooth(grey, _canny.gaussian(sigma))
    if kind == 2:
        thresholds = _canny.automatic_thresholds(smoothed)
    elif kind == 1:
        thresholds = _canny.quantile_thresholds(smoothed, low, high)
    else:
        pairs = torch.tensor([(low / part, high / part) for part in units], dtype=torch.float64)
        thresholds = pairs.float().to(image.device)
    return _canny.canny(smoothed, thresholds, unit)


def _run_coherence(forces: Tensor, size: int) -> Tensor:
    return _coherence.coherence(forces, size)


def _run_votes(forces: Tensor, sizes: Sequence[int]) -> Tensor:
    return _coherence.votes(forces, list(sizes))


def _run_gradient(image: Tensor, sides: Sequence[int], value_range: Sequence[float]) -> Tensor:
    return _gradient.volume(image, list(sides), list(value_range))


def _define(
    name: str, function: Callable[..., Any], shapes: Callable[..., list[tuple[Any, ...]]], tensors: int = 1
) -> Any:
    """Make an operator known to torch; shapes(...): what of the shape follows the batch, and the type, of each result.

    The rule for vmap: the mapped axis joins the batch, which all operators have.
    """

    def fake(first: Tensor, *others: Any) -> Any:
        made = [first.new_empty(first.shape[0], *shape, dtype=dtype) for *shape, dtype in shapes(first, *others)]
        return made[0] if len(made) == 1 else tuple(made)

    def mapped(info: Any, in_dims: tuple[Any, ...], *arguments: Any) -> tuple[Any, Any]:
        joined = []
        for tensor, dim in zip(arguments[:tensors], in_dims[:tensors], strict=True):
            first = tensor.expand(info.batch_size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
            joined.append(first.reshape(-1, *first.shape[2:]))
        result = operator(*joined, *arguments[tensors:])
        if isinstance(result, Tensor):
            return result.unflatten(0, (info.batch_size, -1)), 0
        return tuple(part.unflatten(0, (info.batch_size, -1)) for part in result), (0,) * len(result)

    operator = torch.library.custom_op(f"imtorque::{name}", function, mutates_args=())
    operator.register_fake(fake)
    if hasattr(torch.library, "register_vmap"):  # torch 2.5
        torch.library.register_vmap(operator, mapped)
    return operator


_volume = _define(
    "torque_volume",
    _run_volume,
    lambda forces, sides, _, exact: [(len(sides) // 2, *forces.shape[2:], _result(forces, exact))],
)
_maps = _define(
    "value_and_scale",
    _run_maps,
    lambda forces, _, __, exact: [(*forces.shape[2:], _result(forces, exact)), (*forces.shape[2:], torch.int32)],
)
_adjoint = _define("torque_adjoint", _run_adjoint, lambda grad, *_: [(2, *grad.shape[2:], grad.dtype)])
_chosen_adjoint = _define(
    "chosen_adjoint", _run_chosen_adjoint, lambda grad, *_: [(2, *grad.shape[1:], grad.dtype)], tensors=2
)
_find = _define(
    "find_extrema",
    _own_extrema,
    lambda _, __, ___, ____, count, *_____: [*[(count, torch.int64)] * 3, (count, torch.float32)],
)
_canny_op = _define("canny", _run_canny, lambda image, *_: [(2, *image.shape[2:], torch.float32)])
_coherence_op = _define("torque_coherence", _run_coherence, lambda forces, _: [(*forces.shape[2:], torch.float32)])
_votes_op = _define("dense_contribution", _run_votes, lambda forces, _: [(*forces.shape[2:], torch.float64)])
_gradient_op = _define(
    "gradient_torque", _run_gradient, lambda image, sides, _: [(len(sides) // 2, *image.shape[2:], torch.float32)]
)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG001  # torch gives it by name
    ctx.sides, ctx.alpha, ctx.type = inputs[1], inputs[2], inputs[0].dtype


def _volume_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    return _adjoint(grad.contiguous(), ctx.sides, ctx.alpha).to(ctx.type), None, None, None


def _adjoint_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    return _volume(grad.contiguous(), ctx.sides, ctx.alpha, False).to(ctx.type), None, None


def _keep_scale(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    _keep(ctx, inputs, output)
    ctx.save_for_backward(output[1])
    ctx.mark_non_differentiable(output[1])


def _maps_backward(ctx: Any, grad: Tensor, _: Any) -> tuple[Any, ...]:
    return _chosen_adjoint(grad.contiguous(), ctx.saved_tensors[0], ctx.sides, ctx.alpha).to(ctx.type), None, None, None


_volume.register_autograd(_volume_backward, setup_context=_keep)
_adjoint.register_autograd(_adjoint_backward, setup_context=_keep)
_maps.register_autograd(_maps_backward, setup_context=_keep_scale)
