"""The kernel of the volume with its work shaped in several ways: which is the fastest on this card, are all exact.

    python benchmarks/torch_volumes.py

Times are those of the kernel alone, median of 20 (4K, 45 sizes), beside what its bytes take at the copy's bandwidth.
"""

from __future__ import annotations

from torch_exact import SIZES, load_torch_part, random_field
from torch_gpu import copy_bandwidth, milliseconds

SHAPES = (
    (14, 2, 1, 1, 1),
    (6, 3, 4, 4, 3),
    (6, 4, 4, 4, 4),
    (6, 4, 4, 4, 8),
    (6, 4, 4, 4, 12),
    (4, 4, 4, 6, 4),
    (4, 4, 4, 5, 4),
)


def main():
    import torch

    part = load_torch_part()
    from imtorque.torch import _layouts

    device = torch.device("cuda:0")
    bandwidth = copy_bandwidth(device)
    forces = torch.from_numpy(random_field(2160, 3840)).to(device)[None]
    small = torch.from_numpy(random_field(301, 533)).to(device)[None].repeat(2, 1, 1, 1)
    some = [3, 5, 9, *range(31, 52, 2), 91]
    volume = torch.empty(1, 45, 2160, 3840, device=device)
    given = _layouts.TILES
    wanted = part.torque_volume(small.cpu(), some, exact=True).to(device)
    for shape in SHAPES:
        _layouts.TILES = (_layouts.Shape(*shape),)
        try:
            same = torch.equal(part.torque_volume(small, some, exact=True), wanted)
            ms = milliseconds(lambda: part.torque_volume(forces, SIZES, out=volume, exact=True), 20)["ms"]
        except (AssertionError, RuntimeError) as error:
            print(shape, type(error).__name__, error, flush=True)
            continue
        share = volume.numel() * 4 / (ms / 1e3) / bandwidth
        print(f"{shape!s:22s} {ms:7.3f} ms  {100 * share:4.1f} % of the copy's bandwidth  exact {same}", flush=True)
    _layouts.TILES = given
    found = part.value_and_scale_maps(forces, [3, 31, 91], exact=True)
    wanted = part.value_and_scale_maps(forces.cpu(), [3, 31, 91], exact=True)
    print("4K maps exact", all(torch.equal(a.cpu(), b) for a, b in zip(found, wanted, strict=True)))
    part.torque_volume(forces, SIZES, out=volume, exact=True)
    wanted = part.torque_volume(forces.cpu(), [3, 31, 91], exact=True)
    print("4K volume exact", torch.equal(volume[:, [0, 14, 44]].cpu(), wanted))


if __name__ == "__main__":
    main()
