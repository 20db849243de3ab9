"""The statistics of forces on a CUDA device, by plans that are kept: what a call of a known shape needs is there."""

from __future__ import annotations

import ctypes
import functools
import threading
from typing import NamedTuple

import torch
from torch import Tensor

from imtorque.torch._launch import kernel_of, processors
from imtorque.torch._nvrtc import Launch

# As in statistics.cu; format: of a record.
LARGEST, EXTENT, GRAIN, NOT_PELL, STEPS, WINDOWS, OCTAVES, RECORD = (0, 1, 5, 6, 7, 8, 16, 272)
BLOCK = 32  # pixels a side, of which a mass is kept; as in statistics.cu; convention
MOST = 0x3FFFFFFF  # least values are kept as what is left to this; as in statistics.cu; convention
MOST_PLANS = 16  # not in use; each holds 1 KB for each image and 4 bytes for each 32 x 32 pixels; bound: memory
MOST_FOLLOWERS = 8  # of a plan; bound: memory


class Image(ctypes.Structure):
    """Forces as kernels take them."""

    _fields_ = (
        ("forces", ctypes.c_void_p),
        ("steps", ctypes.c_void_p),
        ("height", ctypes.c_int),
        ("width", ctypes.c_int),
        ("stride", ctypes.c_int),
    )


class Follower(NamedTuple):
    """A prepared launch of a kernel that takes the steps guessed from statistics; the addresses in it change."""

    launch: Launch
    image: Image
    outputs: tuple[ctypes.c_void_p, ...]


class Plan:
    """Memory and prepared launches for forces of one shape, on one stream; in use by one call at a time."""

    def __init__(self, forces: Tensor) -> None:
        """Prepare for float32 forces like these (B, 2, H, W)."""
        batch, _, height, width = forces.shape
        device = forces.device
        down, across = -(-height // BLOCK), -(-width // BLOCK)
        self.stream = torch.cuda.current_stream(device)
        self.made = torch.empty(batch * (RECORD + down * across), dtype=torch.int32, device=device)
        self.followers: dict[object, Follower] = {}
        self.host = torch.empty(batch, RECORD, dtype=torch.int32, pin_memory=True)
        self._records, masses = self.made[: batch * RECORD].view(batch, RECORD), self.made[batch * RECORD :]
        self._ready = torch.cuda.Event()
        self._forces = ctypes.c_void_p()
        run = functools.partial(kernel_of, ("statistics.cu",), (), device)
        pixels, windows = ctypes.c_longlong(height * width), -(-down * across // 256)
        blocks = min(2 * processors(device), -(-height * width // 2048)) + windows
        grid = (-(-across // 4), down, batch)
        rest = (self._forces, pixels, masses, down, across, windows, self.made)
        self._launches = (
            run("force_statistics").prepared(grid, (256, 1, 1), self._forces, height, width, self.made, masses),
            run("survey_rest").prepared((blocks, batch, 1), (256, 1, 1), *rest),
            run("guess_steps").prepared((batch, 1, 1), (32, 1, 1), self.made),
        )

    def start(self, forces: Tensor) -> None:
        """Look at these forces; do not wait."""
        self._forces.value = forces.data_ptr()
        self.made.zero_()
        for launch in self._launches:
            launch()
        self.host.copy_(self._records, non_blocking=True)
        self._ready.record(self.stream)

    def wait(self) -> None:
        """Wait until `host` has the records."""
        self._ready.synchronize()


class DeviceStatistics:
    """The records of statistics.cu for float32 forces (B, 2, H, W), while they are made and afterwards."""

    def __init__(self, forces: Tensor) -> None:
        """Start looking at the forces; do not wait."""
        stream = torch._C._cuda_getCurrentRawStream(forces.device.index)
        self._key = (forces.device, forces.shape, stream)
        self.plan: Plan | None = _take(self._key) or Plan(forces)
        self.plan.start(forces)

    def records(self) -> list[list[int]]:
        """Wait for the records and return them, smallest values as such; nothing may follow with guessed steps."""
        assert self.plan, "records are returned once"
        self.plan.wait()
        records: list[list[int]] = self.plan.host.tolist()
        _give_back(self._key, self.plan)
        self.plan = None
        for record in records:
            for place in (EXTENT, EXTENT + 1, GRAIN):
                record[place] = MOST - record[place]
        return records


_Key = tuple[torch.device, torch.Size, int]
_lock = threading.Lock()
_spare: list[tuple[_Key, Plan]] = []  # not in use, the last used last


def _take(key: _Key) -> Plan | None:
    with _lock:
        place = next((i for i in reversed(range(len(_spare))) if _spare[i][0] == key), None)
        return None if place is None else _spare.pop(place)[1]


def _give_back(key: _Key, plan: Plan) -> None:
    with _lock:
        _spare.append((key, plan))
        del _spare[:-MOST_PLANS]
