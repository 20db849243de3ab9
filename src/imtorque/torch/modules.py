"""Torque as layers of a network."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from imtorque.core.contribution import BOUNDARY_SIZES
from imtorque.core.types import Sizes
from imtorque.torch._checks import check_alpha, flat_sides, squares_only
from imtorque.torch.contribution import size_contribution
from imtorque.torch.torque import torque_volume, value_and_scale_maps


class _Sized(nn.Module):
    """A layer whose sizes are part of its state: a state of other sizes is refused."""

    sizes: Tensor

    def _load_from_state_dict(self, state_dict: dict[str, Tensor], prefix: str, *args: object) -> None:
        stored = state_dict.get(f"{prefix}sizes")
        if stored is not None and stored.tolist() != self.sizes.tolist():
            raise ValueError(f"sizes of the state must be those of the layer, got {stored.tolist()}")
        super()._load_from_state_dict(state_dict, prefix, *args)


class Torque(_Sized):
    """Torque of forces, as a layer: the volume, or value and scale maps. It has no parameters to learn.

    Parameters
    ----------
    sizes
        Odd, increasing side lengths, or (height, width) pairs.
    alpha
        As for `imtorque.torch.torque_volume`.
    maps
        False: forward returns the volume (B, S, H, W). True: value and signed size as two channels, (B, 2, H, W).
    exact
        As for `imtorque.torch.torque_volume`.

    Examples
    --------
    >>> Torque([3, 5, 9])(torch.zeros(4, 2, 20, 30)).shape
    torch.Size([4, 3, 20, 30])
    """

    def __init__(self, sizes: Sizes, *, alpha: float = 2.0, maps: bool = False, exact: bool = False) -> None:
        """Check the sizes and keep them as a buffer of the state."""
        super().__init__()
        sides, squares = flat_sides(sizes)
        pairs = torch.tensor(sides).view(-1, 2)
        self.register_buffer("sizes", pairs[:, 0].clone() if squares else pairs)
        self.alpha = check_alpha(alpha)
        self.maps, self.exact = maps, exact
        self._sizes = tuple(int(pair[0]) if squares else (int(pair[0]), int(pair[1])) for pair in pairs)

    def forward(self, forces: Tensor) -> Tensor:
        """Return the torque of forces (B, 2, H, W)."""
        sizes: Sizes = self._sizes  # type: ignore[assignment]
        if not self.maps:
            return torque_volume(forces, sizes, alpha=self.alpha, exact=self.exact)
        value, scale = value_and_scale_maps(forces, sizes, alpha=self.alpha, exact=self.exact)
        scale = scale if scale.ndim == 3 else scale.prod(-1) * value.sign().int()
        return torch.stack([value, scale.to(value.dtype)], 1)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"sizes={self._sizes}, alpha={self.alpha:g}, maps={self.maps}, exact={self.exact}"


class BoundaryVotes(_Sized):
    """Coherence and dense contribution at each size, as features for telling boundaries from texture.

    Parameters
    ----------
    sizes
        Odd, increasing side lengths.

    Examples
    --------
    >>> BoundaryVotes([5, 9])(torch.zeros(1, 2, 20, 30)).shape
    torch.Size([1, 4, 20, 30])
    """

    def __init__(self, sizes: Sizes = BOUNDARY_SIZES) -> None:
        """Check the sizes and keep them as a buffer of the state."""
        super().__init__()
        self._sizes = squares_only(sizes)
        self.register_buffer("sizes", torch.tensor(self._sizes))

    def forward(self, forces: Tensor) -> Tensor:
        """Return (B, 2 S, H, W): the coherence at each size, then what each size adds to the dense contribution."""
        pairs = [size_contribution(forces, size) for size in self._sizes]
        return torch.stack([*(coherence for _, coherence in pairs), *(votes for votes, _ in pairs)], 1)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"sizes={self._sizes}"
