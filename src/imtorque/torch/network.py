"""A small network that finds boundaries, with torque inside, and its training from nothing.

A residual U-Net over five resolutions. At a quarter of the resolution its features make fields of forces, and a
layer hands back what large patches see in these: torque and divergence at many sizes, or plain box means.
`imtorque.edges.network` gives the same answers without torch.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own habit

from imtorque.edges.network import FIELDS, LEVEL, MIDDLE, SIZES, SPREAD, STEP, BoundaryNetwork, layer_shapes

SIDE_WEIGHT = 0.3  # of their losses; untuned
CONTEXTS = ("none", "box", "torque", "own")
RIDGE = 3.0  # pixels: an annotator's contour fades over this distance; untuned
NEAR = 1.0  # pixels within which annotators draw the same; untuned
AGREED = 0.5  # share of annotators that makes a pixel a boundary for the loss "hard"; convention: half of them
AVERAGE_EVERY = 5  # steps; bound: time
LONGEST_AVERAGE = 100  # of these; untuned
# How crops differ from their images, and the dropout: all chosen together on halves of Berkeley's training images.
SCALED = (0.5, 2.0)  # times their size; chosen on halves of Berkeley's training images
STRETCHED = 0.25  # log of one axis over the other, at most; chosen on halves of Berkeley's training images
LIT = 0.3  # of the range; chosen on halves of Berkeley's training images
CONTRASTED = (-0.5, 0.4)  # log of the gain; chosen on halves of Berkeley's training images
TINTED = 0.25  # log of the gain of one colour over another's; chosen on halves of Berkeley's training images
NOISE = 0.15  # of the range, the largest sigma; chosen on halves of Berkeley's training images
WARM_STEPS = 5  # before a graph is recorded; convention


@dataclass(frozen=True)
class NetworkSettings:
    """How a network is built and trained.

    Parameters
    ----------
    widths, depths
        Channels and residual blocks of the five levels.
    decoder
        Channels of the decoder's four levels.
    context
        "none", "box" means or "torque" of a free field, or "own": torque of the network's own edges.
    loss
        "soft": cross-entropy against how many annotators draw a contour, by distance; "dice": that, and Dice's
        coefficient; "hard": balanced cross-entropy where annotators agree, and Dice's.
    steps, batch, crop, rate
        Steps of the optimiser, crops in a step, pixels of their sides, the largest rate of learning.
    dropout
        Share of a block's features left out in training.
    seed
        Of all that is random.
    """

    widths: tuple[int, ...] = (16, 32, 48, 56, 56)
    depths: tuple[int, ...] = (1, 2, 2, 2, 1)
    decoder: tuple[int, ...] = (16, 24, 40, 40)
    context: str = "torque"
    loss: str = "dice"
    steps: int = 12000
    batch: int = 16
    crop: int = 256
    rate: float = 3e-3
    decay: float = 0.01
    dropout: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        """Check what has a range."""
        if self.context not in CONTEXTS:
            raise ValueError(f"context must be one of {', '.join(CONTEXTS)}, got {self.context!r}")
        if self.crop % STEP:
            raise ValueError(f"crop must be a multiple of {STEP}, got {self.crop}")

    def about(self) -> dict[str, Any]:
        """Return what a file says of them."""
        return {"settings": json.loads(json.dumps(asdict(self)))}


class Residual(nn.Module):
    """x + conv(dropout(relu(conv(x)))), and relu."""

    def __init__(self, channels: int, dropout: float) -> None:
        """Make it the identity at first."""
        super().__init__()
        self.dropout = dropout
        self.first, self.second = normed(channels, channels), normed(channels, channels)
        nn.init.zeros_(self.second[1].weight)

    def forward(self, x: Tensor) -> Tensor:
        """Return features of the same shape."""
        inner = F.dropout2d(F.relu(self.first(x)), self.dropout, self.training)
        return F.relu(x + self.second(inner))


class Context(nn.Module):
    """Adds to features what large patches see, or for "none" a layer of as many weights."""

    def __init__(self, channels: int, kind: str) -> None:
        """Make a layer of 52 weights a channel, whatever the kind."""
        super().__init__()
        self.kind = kind
        maps = 2 * FIELDS * len(SIZES)
        inner = maps if kind != "none" else maps // 2 + FIELDS
        self.field = nn.Conv2d(channels, inner if kind == "none" else 2 * FIELDS, 1)
        self.scale, self.mix = nn.BatchNorm2d(inner), normed(inner, channels, 1)
        nn.init.zeros_(self.mix[1].weight)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        """Return features of the same shape; `edges` are logits of a boundary here, (B, 1, H, W)."""
        field = self.field(x)
        if self.kind == "none":
            return F.relu(x + self.mix(self.scale(F.relu(field))))
        with torch.autocast(x.device.type, enabled=False):
            field = field.float()
            if self.kind == "own":
                pairs = field.unflatten(1, (FIELDS, 2))
                pairs = pairs / (pairs.square().sum(2, keepdim=True) + 1e-6).sqrt()  # of length 1
                field = pairs.flatten(1, 2) * edges.float().sigmoid()
            maps = box_means(field, SIZES) if self.kind == "box" else turning(field, SIZES)
        return F.relu(x + self.mix(self.scale(maps)))


class BoundaryNet(nn.Module):
    """Maps images (B, 3, H, W) to logits of a boundary, (B, 1, H, W), with H and W multiples of 16."""

    def __init__(self, settings: NetworkSettings) -> None:
        """Build the layers."""
        super().__init__()
        self.settings = settings
        w, d = settings.widths, settings.decoder
        self.down = nn.ModuleList(normed(a, b) for a, b in zip((3, *w), w, strict=False))
        self.blocks = nn.ModuleList(
            nn.Sequential(*(Residual(c, settings.dropout) for _ in range(n)))
            for c, n in zip(w, settings.depths, strict=True)
        )
        self.skip = nn.ModuleList(normed(a, b, 1) for a, b in zip(w, d, strict=False))
        self.up = nn.ModuleList(normed(a, b, 1) for a, b in zip((*d[1:], w[-1]), d, strict=True))
        self.merge = nn.ModuleList(Residual(c, settings.dropout) for c in d)
        self.head = nn.ModuleList(nn.Conv2d(c, 1, 1) for c in d)
        self.context = Context(d[LEVEL], settings.context)
        for head in self.head:
            nn.init.constant_(head.bias, -2.0)  # boundaries are rare

    def forward(self, x: Tensor) -> list[Tensor]:
        """Return the logits of each level of the decoder, the finest first."""
        skips = []
        for level, (down, blocks) in enumerate(zip(self.down, self.blocks, strict=True)):
            x = blocks(F.relu(down(F.max_pool2d(x, 2) if level else x)))
            skips.append(x)
        answers = []
        for level in range(len(self.merge) - 1, -1, -1):
            wide = F.interpolate(self.up[level](x), scale_factor=2, mode="nearest")
            x = F.relu(wide + self.skip[level](skips[level]))
            if level == LEVEL:
                x = self.context(x, self.head[level](x))
            x = self.merge[level](x)
            answers.append(self.head[level](x))
        return answers[::-1]


def normed(inputs: int, outputs: int, side: int = 3) -> nn.Sequential:
    """Return a convolution with batch normalisation."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, side, padding=side // 2, bias=False), nn.BatchNorm2d(outputs))


def box_sums(planes: Tensor, sizes: Sequence[int]) -> Iterator[Tensor]:
    """Yield sums over squares around each pixel of (B, C, H, W); outside there is nothing."""
    height, width = planes.shape[2:]
    far = max(sizes) // 2
    table = F.pad(planes, (far + 1, far, far + 1, far)).cumsum(2).cumsum(3)
    for size in sizes:
        low, high = far - size // 2, far + size // 2 + 1
        rows = table[:, :, high : high + height] - table[:, :, low : low + height]
        yield rows[..., high : high + width] - rows[..., low : low + width]


def box_means(field: Tensor, sizes: Sequence[int]) -> Tensor:
    """Return means of the planes over squares, (B, C sizes, H, W)."""
    return torch.cat([sums / size**2 for size, sums in zip(sizes, box_sums(field, sizes), strict=True)], 1)


def turning(field: Tensor, sizes: Sequence[int]) -> Tensor:
    """Return torque and divergence of fields (B, 2 F, H, W) over squares: for each size F of one and of the other.

    Both are as `torque_volume` defines torque: the divergence is the torque of the field turned by a quarter.
    """
    height, width = field.shape[2:]
    v = torch.arange(height, device=field.device, dtype=field.dtype)[:, None] - height // 2
    u = torch.arange(width, device=field.device, dtype=field.dtype) - width // 2
    x, y = field[:, 0::2], field[:, 1::2]
    planes = torch.cat([u * y - v * x, u * x + v * y, x, y], 1)
    found = []
    for size, sums in zip(sizes, box_sums(planes, sizes), strict=True):
        turn, spread, sx, sy = sums.chunk(4, 1)
        found += [(turn - u * sy + v * sx) / (2 * size**2), (spread - u * sx - v * sy) / (2 * size**2)]
    return torch.cat(found, 1)


def agreement(drawings: Sequence[NDArray[np.bool_]]) -> NDArray[np.uint8]:
    """Return, of 255, how annotators agree on each pixel, (2, H, W): by distance, and within a pixel."""
    reach = math.ceil(RIDGE) - 1
    offsets = [(y, x, math.hypot(y, x)) for y in range(-reach, reach + 1) for x in range(-reach, reach + 1)]
    total = np.zeros((2, *drawings[0].shape), np.float32)
    for drawn in drawings:
        wide, (height, width) = np.pad(drawn, reach), drawn.shape
        own = np.zeros_like(total)
        for y, x, distance in offsets:
            if distance < RIDGE:
                there = wide[reach + y : reach + y + height, reach + x : reach + x + width]
                np.maximum(own[0], (1 - distance / RIDGE) * there, out=own[0])
                if distance <= NEAR:
                    own[1] = np.maximum(own[1], there)
        total += own
    return np.round(255 * total / len(drawings)).astype(np.uint8)


def landscape(image: NDArray[Any]) -> NDArray[Any]:
    """Return an image, (..., H, W, channels) or (H, W), with H at most W: turned over its diagonal where it must be."""
    return image if image.shape[0] <= image.shape[1] else image.swapaxes(0, 1)


def stacked(planes: Sequence[NDArray[np.uint8]]) -> Tensor:
    """Return (C, H, W) planes, H at most W, in one tensor, (N, C, H, W); what is smaller is repeated at its border."""
    height, width = (max(p.shape[axis] for p in planes) for axis in (1, 2))
    grown = [np.pad(p, ((0, 0), (0, height - p.shape[1]), (0, width - p.shape[2])), "symmetric") for p in planes]
    return torch.from_numpy(np.stack(grown))


def crops(settings: NetworkSettings, images: int, shape: tuple[int, int]) -> Tensor:
    """Return which crops each step sees, (steps, batch, 12): image, an affine map to it, and changes of colour."""
    rng = np.random.default_rng([settings.seed, 0])
    count = settings.steps * settings.batch
    # Mirrored, turned, stretched along any axis, and turned again; in units of grid_sample, -1 to 1 over the image.
    scale = np.exp(rng.uniform(np.log(SCALED[0]), np.log(SCALED[1]), count))
    half = settings.crop / 2 / scale[:, None] * np.exp(rng.uniform(-STRETCHED, STRETCHED, (count, 2)) / 2)
    turns, axes = rng.uniform(0, 2 * np.pi, (2, count))
    maps = rotations(turns) * half[:, None] @ rotations(axes)
    maps[:, :, 0] *= rng.choice([-1, 1], (count, 1))
    extent = np.array(shape[::-1]) / 2
    centres = rng.uniform(-1, 1, (count, 2)) * np.maximum(0, 1 - half.max(1, keepdims=True) / extent)
    affine = np.concatenate([maps / extent[:, None], centres[:, :, None]], 2)
    # Every image once before any comes again.
    order = np.concatenate([rng.permutation(images) for _ in range(-(-count // images))])[:count]
    light = rng.uniform(-LIT, LIT, (count, 1))
    gains = np.exp(rng.uniform(*CONTRASTED, (count, 1)) + rng.uniform(-TINTED, TINTED, (count, 3)))
    kind, less, more = rng.random((count, 1)), rng.uniform(0, 1, (count, 1)), rng.uniform(0, 0.6, (count, 1))
    grey = np.where(kind < 0.3, -more, np.where(kind < 0.65, less, 0))  # of 0.3 more colour, of 0.35 less
    table = np.concatenate([order[:, None], affine.reshape(count, 6), light, gains, grey], 1).astype(np.float32)
    return torch.from_numpy(table.reshape(settings.steps, settings.batch, -1))


def rotations(angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrices that turn by angles, (N, 2, 2)."""
    c, s = np.cos(angles), np.sin(angles)
    return np.stack([c, -s, s, c], 1).reshape(-1, 2, 2)


def cut(row: Tensor, images: Tensor, labels: Tensor, side: int) -> tuple[Tensor, Tensor]:
    """Return the crops of one step, with noise, and their labels."""
    own, where = row[:, 0].long(), row[:, 1:7, None, None]
    u = (torch.arange(side, device=row.device) * 2 + 1) / side - 1
    v = u[:, None]
    grid = torch.stack([where[:, k] * u + where[:, k + 1] * v + where[:, k + 2] for k in (0, 3)], 3)
    planes = torch.cat([images[own].float(), labels[own].float()], 1)
    seen = F.grid_sample(planes, grid, padding_mode="reflection", align_corners=False) / 255
    x = (seen[:, :3] - MIDDLE) / SPREAD
    light, gains, grey = row[:, 7, None, None, None], row[:, 8:11, None, None], row[:, 11, None, None, None]
    x = x * gains + light / SPREAD
    x = torch.lerp(x, x.mean(1, keepdim=True).expand_as(x), grey)
    sigma = NOISE / SPREAD * torch.rand(len(x), 1, 1, 1, device=x.device).square()
    return x + sigma * torch.randn_like(x), seen[:, 3:]


def loss_of(answers: list[Tensor], labels: Tensor, kind: str) -> Tensor:
    """Return the loss of all levels of the decoder."""
    total = torch.zeros((), device=labels.device)
    for level, logits in enumerate(answers):
        target = labels if level == 0 else F.max_pool2d(labels, 2**level)
        total = total + (SIDE_WEIGHT if level else 1.0) * _level_loss(logits.float(), target, kind)
    return total


def _level_loss(logits: Tensor, target: Tensor, kind: str) -> Tensor:
    soft, near = target[:, :1], target[:, 1:]
    if kind == "hard":
        positive = (near >= AGREED).float()
        counts = positive + (soft < 0.02).float()
        share = (positive.sum((2, 3), keepdim=True) / counts.sum((2, 3), keepdim=True).clamp(min=1)).clamp(0.01, 0.99)
        weight = counts * torch.where(positive > 0, 1 - share, share)
        entropy = F.binary_cross_entropy_with_logits(logits, positive, reduction="none")
        wrong = (weight * entropy).sum() / weight.sum().clamp(min=1)
        return wrong + dice(logits.sigmoid() * counts, positive)
    wrong = 4 * F.binary_cross_entropy_with_logits(logits, soft)
    return wrong + dice(logits.sigmoid(), soft) if kind == "dice" else wrong


def dice(found: Tensor, target: Tensor) -> Tensor:
    """Return 1 less Dice's coefficient, the mean over images."""
    both = (found * target).sum((1, 2, 3))
    each = found.square().sum((1, 2, 3)) + target.square().sum((1, 2, 3))
    return (1 - 2 * both / each.clamp(min=1)).mean()


class Training:
    """A training that can go on step by step: on CUDA devices each step is one replayed graph."""

    def __init__(
        self, settings: NetworkSettings, images: Tensor, labels: Tensor, device: str = "cpu", *, graph: bool = True
    ) -> None:
        """Build the network from the seed; images (N, 3, H, W) and labels (N, 2, H, W) in bytes."""
        torch.manual_seed(settings.seed)
        self.settings, self.device, self.done = settings, device, 0
        self.on_cuda = device.startswith("cuda")
        self.net = BoundaryNet(settings).to(device)
        if self.on_cuda:
            self.net = self.net.to(memory_format=torch.channels_last)
        self.average = {
            name: value.clone() for name, value in self.net.state_dict().items() if value.is_floating_point()
        }
        self._live = [value for value in self.net.state_dict().values() if value.is_floating_point()]
        self.images, self.labels = images.to(device), labels.to(device)
        self._table = crops(settings, len(images), (images.shape[2], images.shape[3])).to(device)
        self._row = self._table[0].clone()
        self._rate = torch.tensor(settings.rate, device=device) if self.on_cuda else settings.rate
        decayed = [p for p in self.net.parameters() if p.ndim > 1]
        others = [p for p in self.net.parameters() if p.ndim == 1]
        groups = [{"params": decayed}, {"params": others, "weight_decay": 0.0}]
        self.optimiser = torch.optim.AdamW(
            groups, lr=self._rate, weight_decay=settings.decay, capturable=self.on_cuda, fused=self.on_cuda or None
        )
        for group in self.optimiser.param_groups:
            group["lr"] = self._rate  # one tensor, that a graph reads
        self.loss = torch.zeros((), device=device)
        self._wants_graph, self._graph = graph and self.on_cuda, None

    def step(self, progress: float | None = None) -> None:
        """Make one step; `progress` of the whole training, from 0 to 1, sets the rate."""
        part = self.done / self.settings.steps if progress is None else progress
        rate = self.settings.rate * min(1.0, (self.done + 1) / 100, 0.5 + 0.5 * math.cos(math.pi * min(part, 1.0)))
        self._row.copy_(self._table[self.done % len(self._table)])
        if isinstance(self._rate, Tensor):
            self._rate.fill_(rate)
        else:
            for group in self.optimiser.param_groups:
                group["lr"] = rate
        if self._graph is not None:
            self._graph.replay()
        elif self._wants_graph and self.done == WARM_STEPS:
            self._capture()
        elif self._wants_graph:
            self._beside()
        else:
            self._work()
        self.done += 1
        if self.done % AVERAGE_EVERY == 0:
            rounds = self.done // AVERAGE_EVERY
            torch._foreach_lerp_(list(self.average.values()), self._live, max(2 / (rounds + 2), 1 / LONGEST_AVERAGE))

    def _work(self) -> None:
        with torch.no_grad():
            x, labels = cut(self._row, self.images, self.labels, self.settings.crop)
            if self.on_cuda:
                x = x.contiguous(memory_format=torch.channels_last)
        with torch.autocast(self.device.split(":")[0], torch.bfloat16, enabled=self.on_cuda, cache_enabled=False):
            answers = self.net(x)
        loss = loss_of(answers, labels, self.settings.loss)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        self.loss.copy_(loss.detach())

    def _beside(self) -> None:
        """Make a step on a stream of its own, as must be before a graph is recorded."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self._work()
        torch.cuda.current_stream().wait_stream(stream)

    def _capture(self) -> None:
        """Record the step as a graph, and make it once."""
        self._wants_graph = False
        self.optimiser.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._work()
        self._graph = graph
        graph.replay()

    def averaged(self) -> BoundaryNet:
        """Return the network of averaged weights, for use."""
        net = BoundaryNet(self.settings).to(self.device)
        net.load_state_dict({**self.net.state_dict(), **self.average})
        return net.eval()  # type: ignore[no-any-return, unused-ignore]


@torch.no_grad()
def probabilities(net: BoundaryNet, images: Tensor, mirror: bool = True) -> Tensor:
    """Return how likely a boundary passes through each pixel of (B, 3, H, W) bytes, (B, H, W)."""
    height, width = images.shape[2:]
    x = (images.float() / 255 - MIDDLE) / SPREAD
    x = F.pad(x, (0, -width % STEP, 0, -height % STEP), mode="replicate")
    found = net(x)[0].sigmoid()
    if mirror:
        found = (found + net(x.flip(3))[0].sigmoid().flip(3)) / 2
    return found[:, 0, :height, :width]


def folded(net: BoundaryNet) -> dict[str, NDArray[np.float32]]:
    """Return the weights of the trained network with its normalisations folded in: name.weight and name.bias."""
    arrays: dict[str, NDArray[np.float32]] = {}
    modules = dict(net.named_modules())
    for name, module in modules.items():
        if not isinstance(module, nn.Conv2d):
            continue
        weight = module.weight.detach().double()
        bias = torch.zeros(len(weight)).double() if module.bias is None else module.bias.detach().double()
        if name == "context.mix.0":
            gain, shift = _affine(net.context.scale)
            bias = bias + weight[:, :, 0, 0] @ shift
            weight = weight * gain[:, None, None]
        parent, _, index = name.rpartition(".")
        after = modules[parent][1] if index == "0" and isinstance(modules[parent], nn.Sequential) else None
        if isinstance(after, nn.BatchNorm2d):
            gain, shift = _affine(after)
            weight, bias = weight * gain[:, None, None, None], bias * gain + shift
            name = parent
        arrays[f"{name}.weight"] = weight.float().cpu().numpy()
        arrays[f"{name}.bias"] = bias.float().cpu().numpy()
    return arrays


def _affine(norm: nn.BatchNorm2d) -> tuple[Tensor, Tensor]:
    """Return what a normalisation multiplies and adds."""
    gain = norm.weight.detach().double() / (norm.running_var.double() + norm.eps).sqrt()
    return gain, norm.bias.detach().double() - norm.running_mean.double() * gain


def seconds_of(training: Training, steps: int = 3) -> float:
    """Return about how many seconds a step takes, from a few on a training that is thrown away."""
    training.step()
    start = time.perf_counter()
    for _ in range(steps):
        training.step()
    float(training.loss)  # waits for the device
    return (time.perf_counter() - start) / steps


def train_network(
    images: Sequence[NDArray[np.uint8]],
    drawings: Sequence[Sequence[NDArray[np.bool_]]],
    settings: NetworkSettings | None = None,
    report: Callable[[str], object] = str,
    device: str | None = None,
) -> BoundaryNetwork:
    """Train on (H, W, 3) images and what people drew over each; a seed gives the same network again on one machine."""
    settings = settings or NetworkSettings()
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cudnn.deterministic = True
    seen = stacked([np.ascontiguousarray(landscape(image).transpose(2, 0, 1)) for image in images])
    labels = stacked([agreement([landscape(one) for one in own]) for own in drawings])
    seconds = seconds_of(Training(settings, seen, labels, device, graph=False))
    report(f"training of {settings.steps} steps takes about {seconds * settings.steps / 60:.0f} minutes on {device}")
    training = Training(settings, seen, labels, device)
    for step in range(settings.steps):
        training.step()
        if (step + 1) % max(1, settings.steps // 20) == 0:
            report(f"step {step + 1} of {settings.steps}: loss {float(training.loss):.3f}")
    return for_use(training.averaged().cpu())


def for_use(net: BoundaryNet) -> BoundaryNetwork:
    """Return the trained network as it is kept and used without torch."""
    arrays, about = folded(net), net.settings.about()
    parts = [
        arrays[f"{name}.{part}"].ravel() for name in layer_shapes(about["settings"]) for part in ("weight", "bias")
    ]
    return BoundaryNetwork(np.concatenate(parts), about)
