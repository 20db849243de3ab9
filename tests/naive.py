"""The definitions as slow, plain loops: what every fast function must equal. Imports numpy only."""

import math

import numpy as np


def holds(patch, size, dy, dx):
    """Whether a patch of this kind and size holds the pixel (dy, dx) from its centre."""
    height, width = (size, size) if np.ndim(size) == 0 else size
    if patch == "disk":
        return dy * dy + dx * dx <= (height // 2) ** 2
    return abs(dy) <= height // 2 and abs(dx) <= width // 2


def area(patch, size, alpha=2.0):
    """The normalisation Z of a patch."""
    height, width = (size, size) if np.ndim(size) == 0 else size
    if patch == "disk":
        return math.pi * ((height - 1) / 2) ** alpha
    return height * width * (math.sqrt(height * width) / 2) ** (alpha - 2)


def moment(fx, fy, y, x, size, patch="square"):
    """Sum of (q - p) x F(q) over one patch, one edge at a time."""
    total = 0.0
    for v in range(fx.shape[0]):
        for u in range(fx.shape[1]):
            if (fx[v, u] or fy[v, u]) and holds(patch, size, v - y, u - x):
                total += (u - x) * float(fy[v, u]) - (v - y) * float(fx[v, u])
    return total


def torque(fx, fy, y, x, size, patch="square", alpha=2.0):
    """Torque of one patch: eq. (4)."""
    total = moment(fx, fy, y, x, size, patch)
    return total / (2 * area(patch, size, alpha)) if total else 0.0


def torque_map(fx, fy, size, patch="square", alpha=2.0):
    height, width = fx.shape
    return np.array([[torque(fx, fy, y, x, size, patch, alpha) for x in range(width)] for y in range(height)])


def moments(fx, fy, y, x, size, patch="square"):
    """Sums of dx Fx, dx Fy, dy Fx and dy Fy over one patch, one edge at a time."""
    total = np.zeros(4)
    for v in range(fx.shape[0]):
        for u in range(fx.shape[1]):
            if (fx[v, u] or fy[v, u]) and holds(patch, size, v - y, u - x):
                dx, dy, force_x, force_y = u - x, v - y, float(fx[v, u]), float(fy[v, u])
                total += [dx * force_x, dx * force_y, dy * force_x, dy * force_y]
    return total


def patch_moments(fx, fy, size, patch="square"):
    """The four sums at every pixel, shape (4, H, W)."""
    height, width = fx.shape
    rows = [[moments(fx, fy, y, x, size, patch) for x in range(width)] for y in range(height)]
    return np.array(rows).transpose(2, 0, 1)


def openness(fx, fy, y, x, height, width):
    """How far the forces in a box are from a closed contour: what is left of them, or their saddle, over the torque."""
    force, moment = np.zeros(2), np.zeros((2, 2))
    for v in range(fx.shape[0]):
        for u in range(fx.shape[1]):
            if abs(v - y) <= height // 2 and abs(u - x) <= width // 2:
                own = np.array([fx[v, u], fy[v, u]], float)
                force += own
                moment += np.outer([u - x, v - y], own)
    turning = abs(moment[0, 1] - moment[1, 0])
    left = math.hypot(*force) * math.sqrt(height * width) / 2
    saddle = math.hypot(moment[0, 1] + moment[1, 0], moment[0, 0] - moment[1, 1])
    return max(left, saddle) / turning if turning > 1e-6 else math.inf


def pattern_map(fx, fy, size, pattern, patch="square", alpha=2.0):
    """What a pattern sums of the four moments, normalised as torque is."""
    xx, xy, yx, yy = patch_moments(fx, fy, size, patch)
    sums = {"circle": xy - yx, "star": xx + yy, "saddle": xx - yy, "saddle-diagonal": xy + yx}
    if pattern not in sums:
        angle = math.pi / 4 if pattern == "spiral" else pattern
        sums[pattern] = math.cos(angle) * sums["circle"] + math.sin(angle) * sums["star"]
    if not sums[pattern].any():
        return sums[pattern]
    return sums[pattern] / (2 * area(patch, size, alpha))


def closure(fx, fy, y, x, size, patch="square", alpha=2.0):
    """Squared moments less squared radial parts of one patch, over 2 pi r^(1 + alpha); in ellipses for rectangles."""
    height, width = (size, size) if np.ndim(size) == 0 else size
    aspect, total = height / width, 0.0
    for v in range(fx.shape[0]):
        for u in range(fx.shape[1]):
            if (fx[v, u] or fy[v, u]) and holds(patch, size, v - y, u - x):
                across = (u - x) * float(fy[v, u]) - (v - y) * float(fx[v, u])
                along = aspect * (u - x) * float(fx[v, u]) + (v - y) * float(fy[v, u]) / aspect
                total += across**2 - along**2
    radius = (height - 1) / 2 if patch == "disk" else math.sqrt(height * width) / 2
    return total / (2 * math.pi * radius ** (1 + alpha)) if total else 0.0


def closure_volume(fx, fy, sizes, patch="square", alpha=2.0):
    height, width = fx.shape
    return np.array(
        [[[closure(fx, fy, y, x, size, patch, alpha) for x in range(width)] for y in range(height)] for size in sizes]
    )


def closure_coherence(fx, fy, size):
    """Closure over the sum of squared levers times squared forces, and the least mass there is."""
    height, width = fx.shape
    out = np.zeros(fx.shape)
    for y in range(height):
        for x in range(width):
            mass = 0.0
            for v in range(height):
                for u in range(width):
                    if holds("square", size, v - y, u - x):
                        mass += ((v - y) ** 2 + (u - x) ** 2) * (float(fx[v, u]) ** 2 + float(fy[v, u]) ** 2)
            out[y, x] = closure(fx, fy, y, x, size) / (mass / (2 * math.pi * (size / 2) ** 3) + 1e-3)
    return out


def torque_volume(fx, fy, sizes, patch="square", alpha=2.0):
    return np.array([torque_map(fx, fy, size, patch, alpha) for size in sizes])


def value_and_scale_maps(tau, sizes):
    """Eqs. (5) to (7): the first size of largest |tau|; 0 where all are 0."""
    value, scale = np.zeros(tau.shape[1:], tau.dtype), np.zeros((*tau.shape[1:], *np.shape(sizes)[1:]), int)
    for k, size in enumerate(sizes):
        for y in range(tau.shape[1]):
            for x in range(tau.shape[2]):
                if abs(tau[k, y, x]) > abs(value[y, x]):
                    value[y, x] = tau[k, y, x]
                    scale[y, x] = np.sign(tau[k, y, x]) * np.asarray(size)
    return value, scale


def neighbours(shape, k, y, x):
    for dk in (-1, 0, 1):
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                at = (k + dk, y + dy, x + dx)
                if (dk or dy or dx) and all(0 <= i < n for i, n in zip(at, shape, strict=True)):
                    yield at


def cross_neighbours(shape, k, y, x):
    away = [(0, d, 0) for d in (-3, -2, -1, 1, 2, 3)]
    for dk, dy, dx in [*away, *[(0, 0, d) for _, d, _ in away], (-1, 0, 0), (1, 0, 0)]:
        at = (k + dk, y + dy, x + dx)
        if all(0 <= i < n for i, n in zip(at, shape, strict=True)):
            yield at


def lies_inside(shape, half_y, half_x, y, x):
    """Whether a patch, with a pixel around it, lies in the image."""
    _, height, width = shape
    return half_y + 1 <= y < height - half_y - 1 and half_x + 1 <= x < width - half_x - 1


def find_cross_extrema(tau, count=None, sign=None, end_scales=True, halves=None):
    """(k, y, x, value) of those strictly above all neighbours of a cross, strongest first."""
    found = []
    for k, y, x in np.ndindex(tau.shape):
        value = tau[k, y, x]
        if value == 0 or (sign is not None and np.sign(value) != sign):
            continue
        if not end_scales and k in (0, len(tau) - 1):
            continue
        if halves is not None and not lies_inside(tau.shape, *halves[k], y, x):
            continue
        if all((value - tau[at]) * np.sign(value) > 0 for at in cross_neighbours(tau.shape, k, y, x)):
            found.append((k, y, x, value))
    found.sort(key=lambda e: -abs(e[3]))  # stable: equal strengths stay in index order
    return found if count is None else found[:count]


def find_extrema(tau, count=None, sign=None, end_scales=True, halves=None):
    """(k, y, x, value) of the extrema, strongest first; of adjacent ones the lowest index.

    With halves, (half height, half width) for each size, patches with a pixel around them must lie in the image.
    """
    shape = tau.shape
    candidates = []
    for k, y, x in np.ndindex(shape):
        value = tau[k, y, x]
        if value == 0 or (sign is not None and np.sign(value) != sign):
            continue
        if not end_scales and k in (0, shape[0] - 1):
            continue
        if halves is not None and not lies_inside(shape, *halves[k], y, x):
            continue
        around = np.array([tau[at] for at in neighbours(shape, k, y, x)])
        if not around.size:
            continue
        rise = (value - around) * np.sign(value)
        if np.all(rise >= 0) and np.any(rise > 0):
            candidates.append((k, y, x))
    kept, seen = [], set()
    chosen = set(candidates)
    for start in candidates:  # in index order, so the first of a plateau is its lowest
        if start in seen:
            continue
        kept.append(start)
        stack = [start]
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            stack += [n for n in neighbours(shape, *at) if n in chosen and tau[n] == tau[at]]
    found = [(*at, tau[at]) for at in kept]
    found.sort(key=lambda e: -abs(e[3]))  # stable: equal strengths stay in index order
    return found if count is None else found[:count]


def suppress_overlaps(y, x, height, width, value, overlap):
    """Indices of the kept boxes, in the given order."""

    def span(a, size_a, b, size_b):
        return max(0, min(a + size_a // 2, b + size_b // 2) - max(a - size_a // 2, b - size_b // 2) + 1)

    kept = []
    for i in range(len(y)):
        for j in kept:
            shared = span(y[i], height[i], y[j], height[j]) * span(x[i], width[i], x[j], width[j])
            smaller = min(height[i] * width[i], height[j] * width[j])
            if (value[i] > 0) == (value[j] > 0) and shared / smaller > overlap:
                break
        else:
            kept.append(i)
    return kept


def contribution_map(fx, fy, extrema, weights, patch="square", absolute=False):
    """Sum of weight * (q - p) x F(q) over the patches (y, x, size) that hold q (eq. 21)."""
    total = np.zeros(fx.shape)
    for (y, x, size), weight in zip(extrema, weights, strict=True):
        for v in range(fx.shape[0]):
            for u in range(fx.shape[1]):
                if holds(patch, size, v - y, u - x):
                    vote = (u - x) * float(fy[v, u]) - (v - y) * float(fx[v, u])
                    total[v, u] += weight * (abs(vote) if absolute else vote)
    return total


def gradient_torque(image, size):
    """Torque of half-pixel differences, at their places, over one box around every pixel.

    The difference of two neighbours sits between them. A box of height s_y and width s_x holds those between the pixels
    |dx| <= h_x + 1 of its rows, and of its columns likewise.
    """
    height, width = image.shape
    sy, sx = (size, size) if np.ndim(size) == 0 else size
    hy, hx = sy // 2, sx // 2

    def pixel(y, x):
        return image[min(max(y, 0), height - 1), min(max(x, 0), width - 1)]

    out = np.zeros(image.shape)
    for y in range(height):
        for x in range(width):
            total = 0.0
            for dy in range(-hy, hy + 1):
                for dx in range(-hx - 1, hx + 1):
                    total -= (dx + 0.5) * (pixel(y + dy, x + dx + 1) - pixel(y + dy, x + dx))
            for dx in range(-hx, hx + 1):
                for dy in range(-hy - 1, hy + 1):
                    total -= (dy + 0.5) * (pixel(y + dy + 1, x + dx) - pixel(y + dy, x + dx))
            out[y, x] = total / (2 * sy * sx)
    return out


def disk_slopes(radius):
    """(dy, dx, axis, lever): the differences I[q + axis] - I[q] of rows and columns, and their levers' integrals.

    Between two pixels of a row the slope is their difference; the part of it that lies in the disk turns by its lever.
    """
    slopes = []
    for d in range(-radius, radius + 1):
        s = np.sqrt(radius**2 - d**2)
        for a in range(-radius - 1, radius + 1):
            low, high = max(a, -s), min(a + 1, s)
            if low < high:
                lever = (high**2 - low**2) / 2
                slopes += [(d, a, (0, 1), lever), (a, d, (1, 0), lever)]
    return slopes


def gradient_disk(image, size):
    """Torque of an image that is linear between pixels over one disk around every pixel, its rows and its columns.

    Divided so that the torque of y^2 + x^2 is -radius^2 / 2: its mean over the disk minus its mean over the circle.
    """
    height, width = image.shape
    radius = size // 2
    out = np.zeros(image.shape)
    if radius == 0:
        return out

    def pixel(y, x):
        return image[min(max(y, 0), height - 1), min(max(x, 0), width - 1)]

    slopes = disk_slopes(radius)
    parabola = sum(lever * ((dy + b) ** 2 + (dx + a) ** 2 - dy**2 - dx**2) for dy, dx, (b, a), lever in slopes)
    for y in range(height):
        for x in range(width):
            turned = sum(
                lever * (pixel(y + dy + b, x + dx + a) - pixel(y + dy, x + dx)) for dy, dx, (b, a), lever in slopes
            )
            out[y, x] = -turned / parabola * radius**2 / 2
    return out


def smoothed(image, sigma):
    """Gaussian of radius ceil(4 sigma), border pixels repeated."""
    radius = max(1, math.ceil(4 * sigma))
    kernel = np.array([math.exp(-0.5 * (i / sigma) ** 2) for i in range(-radius, radius + 1)])
    kernel /= kernel.sum()
    height, width = image.shape
    across, out = np.zeros(image.shape), np.zeros(image.shape)
    for y in range(height):
        for x in range(width):
            across[y, x] = sum(w * image[y, min(max(x + i - radius, 0), width - 1)] for i, w in enumerate(kernel))
    for y in range(height):
        for x in range(width):
            out[y, x] = sum(w * across[min(max(y + i - radius, 0), height - 1), x] for i, w in enumerate(kernel))
    return out


def gradient(image):
    """Central differences, border pixels repeated: (g_x, g_y)."""
    height, width = image.shape
    gx, gy = np.zeros(image.shape), np.zeros(image.shape)
    for y in range(height):
        for x in range(width):
            gx[y, x] = (image[y, min(x + 1, width - 1)] - image[y, max(x - 1, 0)]) / 2
            gy[y, x] = (image[min(y + 1, height - 1), x] - image[max(y - 1, 0), x]) / 2
    return gx, gy


def canny(image, sigma, low, high):
    """Edge mask, and the margin by which the nearest decision was taken (small: too close to call in float32)."""
    gx, gy = gradient(smoothed(image, sigma))
    magnitude = np.hypot(gx, gy)
    height, width = image.shape
    strong, weak, margin = set(), set(), math.inf
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            m = magnitude[y, x]
            margin = min(margin, abs(m - low), abs(m - high))
            if m <= low:
                continue
            step_x, step_y = gx[y, x] / m, gy[y, x] / m  # one pixel along the gradient
            bright = _between(magnitude, y + step_y, x + step_x)
            dark = _between(magnitude, y - step_y, x - step_x)
            margin = min(margin, abs(m - bright) / m, abs(m - dark) / m)
            if m > bright and m >= dark:
                weak.add((y, x))
                if m > high:
                    strong.add((y, x))
    edges, stack = set(), list(strong)
    while stack:
        y, x = stack.pop()
        if (y, x) in edges:
            continue
        edges.add((y, x))
        stack += [(y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (y + dy, x + dx) in weak]
    mask = np.zeros(image.shape, bool)
    for at in edges:
        mask[at] = True
    return without_stairs(mask, magnitude), gx, gy, margin


def is_spare_corner(mask, y, x):
    """Has an edge beside and one above or below it, and its edge neighbours form one 8-connected piece."""
    ring = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
    on = [(dy, dx) for dy, dx in ring if mask[y + dy, x + dx]]
    if not ({(0, 1), (0, -1)} & set(on) and {(1, 0), (-1, 0)} & set(on)):
        return False
    if all(mask[y + dy, x + dx] for dy, dx in ((-1, 0), (1, 0), (0, 1), (0, -1))):
        return False  # inside: removing it would make a hole
    reached, stack = set(), [on[0]]
    while stack:
        at = stack.pop()
        if at not in reached:
            reached.add(at)
            stack += [n for n in on if max(abs(n[0] - at[0]), abs(n[1] - at[1])) == 1]
    return len(reached) == len(on)


def without_stairs(mask, magnitude):
    """Remove spare corners, of adjacent ones the weakest first."""
    mask = mask.copy()
    while True:
        spare = {(y, x) for y, x in np.argwhere(mask).tolist() if is_spare_corner(mask, y, x)}
        going = [
            (y, x)
            for y, x in spare
            if all(
                magnitude[y, x] < magnitude[n] for n in ((y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)) if n in spare
            )
        ]
        if not going:
            return mask
        for at in going:
            mask[at] = False


def _between(field, y, x):
    """Bilinear interpolation."""
    y0, x0 = math.floor(y), math.floor(x)
    y1, x1 = math.ceil(y), math.ceil(x)
    top = field[y0, x0] * (1 - (x - x0)) + field[y0, x1] * (x - x0)
    bottom = field[y1, x0] * (1 - (x - x0)) + field[y1, x1] * (x - x0)
    return top * (1 - (y - y0)) + bottom * (y - y0)


# Evaluation


def thin(image):
    """Guo & Hall's thinning, one pixel and one condition at a time."""
    image = np.pad(np.asarray(image, dtype=int), 1)
    while True:
        before = image.copy()
        for first in (True, False):
            snapshot = image.copy()
            for y, x in zip(*np.nonzero(snapshot), strict=True):
                if _deletable(snapshot[y - 1 : y + 2, x - 1 : x + 2], first):
                    image[y, x] = 0
        if (image == before).all():
            return image[1:-1, 1:-1].astype(bool)


def _deletable(n, first):
    x = [
        None,
        n[1, 2],
        n[0, 2],
        n[0, 1],
        n[0, 0],
        n[1, 0],
        n[2, 0],
        n[2, 1],
        n[2, 2],
        n[1, 2],
    ]  # x[1] east ... x[9] = x[1]
    crossings = sum(x[2 * i - 1] == 0 and (x[2 * i] == 1 or x[2 * i + 1] == 1) for i in range(1, 5))
    n1 = sum(x[2 * k - 1] | x[2 * k] for k in range(1, 5))
    n2 = sum(x[2 * k] | x[2 * k + 1] for k in range(1, 5))
    third = (x[2] | x[3] | (1 - x[8])) & x[1] if first else (x[6] | x[7] | (1 - x[4])) & x[5]
    return crossings == 1 and 2 <= min(n1, n2) <= 3 and third == 0


def match_cost(prediction, truth, radius):
    """The least cost of a matching, in hundredths of a pixel, by trying every choice for every predicted pixel."""
    left, right = np.argwhere(prediction), np.argwhere(truth)
    outlier = int(np.ceil(100 * 100 * radius))
    best = {0: outlier * (len(left) + len(right))}  # from the set of right pixels taken, as bits, to its least cost
    for pixel in left:
        for taken, cost in list(best.items()):
            for j, other in enumerate(right):
                distance = np.hypot(*(pixel - other))
                if distance <= radius and not taken >> j & 1:
                    with_pair = cost + round(100 * distance) - outlier
                    best[taken | 1 << j] = min(with_pair, best.get(taken | 1 << j, with_pair))
    return min(best.values())


def match_count(prediction, truth, radius):
    """The largest number of pairs, by augmenting paths from each predicted pixel in turn."""
    left, right = np.argwhere(prediction), np.argwhere(truth)
    owner = {}

    def augment(i, seen):
        for j, other in enumerate(right):
            if j not in seen and np.hypot(*(left[i] - other)) <= radius:
                seen.add(j)
                if j not in owner or augment(owner[j], seen):
                    owner[j] = i
                    return True
        return False

    return sum(augment(i, set()) for i in range(len(left)))


def covering(segmentation, truth):
    total = 0
    for region in np.unique(truth):
        inside = truth == region
        overlaps = []
        for label in np.unique(segmentation):
            other = segmentation == label
            overlaps.append((inside & other).sum() / (inside | other).sum())
        total += inside.sum() * max(overlaps)
    return total / truth.size


def rand_index(segmentation, truth):
    """The share of pairs of pixels that are together, or apart, in both."""
    s, t = np.ravel(segmentation), np.ravel(truth)
    pairs = [(i, j) for i in range(len(s)) for j in range(i)]
    return sum((s[i] == s[j]) == (t[i] == t[j]) for i, j in pairs) / len(pairs)


def probability_above(positives, negatives):
    """P(positive > negative) + P(equal) / 2."""
    return np.mean([(p > n) + 0.5 * (p == n) for p in positives for n in negatives])


# Coherence


def torque_coherence(fx, fy, size):
    """Torque over edge mass: c = tau / (mass + 0.001)."""
    result = np.zeros(fx.shape)
    for y, x in np.ndindex(fx.shape):
        forces = 0.0
        for v, u in np.ndindex(fx.shape):
            if holds("square", size, v - y, u - x):
                forces += math.hypot(fx[v, u], fy[v, u])
        mass = 0.38 * size / (2 * size**2) * forces
        result[y, x] = torque(fx, fy, y, x, size) / (mass + 0.001)
    return result


def dense_contribution(fx, fy, sizes):
    """Every patch votes, with its coherence, for the direction of each edge it holds."""
    result = np.zeros(fx.shape)
    for size in sizes:
        coherence = torque_coherence(fx, fy, size)
        for v, u in np.ndindex(fx.shape):
            force = math.hypot(fx[v, u], fy[v, u])
            for y, x in np.ndindex(fx.shape):
                if force and holds("square", size, v - y, u - x):
                    turn = ((u - x) * fy[v, u] - (v - y) * fx[v, u]) / force
                    result[v, u] += coherence[y, x] * turn / size**3
    return result


def resized(values, shape):
    """Cubic interpolation, pixel by pixel; kernels that leave the map are scaled up to sum 1."""

    def weights(old, new, i):
        stretch = max(old / new, 1)
        centre = (i + 0.5) * old / new - 0.5
        line = []
        for j in range(old):
            t = abs(j - centre) / stretch
            line.append(1.5 * t**3 - 2.5 * t**2 + 1 if t <= 1 else max(2 - t, 0) and -0.5 * (t - 1) * (t - 2) ** 2)
        return np.array(line) / sum(line)

    rows = [weights(values.shape[0], shape[0], i) for i in range(shape[0])]
    columns = [weights(values.shape[1], shape[1], j) for j in range(shape[1])]
    return np.array([[row @ values @ column for column in columns] for row in rows])


def halved(plane):
    """Binomial low-pass and every second pixel, from the six pixels around each pair along both axes."""
    taps = [1, 5, 10, 10, 5, 1]
    height, width = plane.shape
    result = np.zeros((height // 2, width // 2))
    for i in range(height // 2):
        for j in range(width // 2):
            for a, down in enumerate(taps):
                for b, across in enumerate(taps):
                    y, x = min(max(2 * i - 2 + a, 0), height - 1), min(max(2 * j - 2 + b, 0), width - 1)
                    result[i, j] += down * across / 1024 * plane[y, x]
    return result


def to_unit(values):
    spread = values.max() - values.min()
    return (values - values.min()) / spread if spread > 1e-9 * abs(values).max() else np.zeros(values.shape)


def fading(values, width):
    """Border attenuation: pixel k from a border keeps (k + 1) / (w + 1), w at most half the side."""
    result = values.copy()
    for axis, side in enumerate(values.shape):
        w = min(width, side // 2)
        for k in range(w):
            for place in (k, side - 1 - k):
                result[(slice(None),) * axis + (place,)] *= (k + 1) / (w + 1)
    return result


def gabor_energy(plane, degrees):
    """|even| + |odd| of a Gabor filter of period pi, sigma 2 across and 4 along its bars, at every pixel."""
    reach, turn = 13, math.radians(degrees)
    padded = np.pad(plane, reach, mode="edge")
    energy = np.zeros(plane.shape)
    for phase in (0, math.pi / 2):
        kernel = np.zeros((2 * reach + 1, 2 * reach + 1))
        for y in range(-reach, reach + 1):
            for x in range(-reach, reach + 1):
                u, v = x * math.cos(turn) - y * math.sin(turn), x * math.sin(turn) + y * math.cos(turn)
                kernel[y + reach, x + reach] = math.cos(2 * u + phase) * math.exp(-(u * u) / 8 - v * v / 32)
        kernel -= kernel.mean()
        kernel /= math.sqrt((kernel**2).sum())
        for y in range(plane.shape[0]):
            for x in range(plane.shape[1]):
                energy[y, x] += abs((padded[y : y + 2 * reach + 1, x : x + 2 * reach + 1] * kernel).sum())
    return fading(np.where(energy < 1e-10, 0, energy), reach)


def dkl_pixel(red, green, blue):
    """Luminance, red-green and blue-yellow contrast of one pixel."""
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue))
    long0, medium0, short0 = 34.918539, 19.314797, 0.585611
    long = 18.32535 * r + 44.60077 * g + 7.46216 * b - long0
    medium = 4.09544 * r + 28.20135 * g + 6.66066 * b - medium0
    short = 0.02114 * r + 0.10325 * g + 1.05258 * b - short0
    grey = long0 + medium0
    return (
        0.5774 * math.sqrt(3) / grey * (long + medium),
        2.7525 * math.sqrt(long0**2 + medium0**2) / grey * (long / long0 - medium / medium0),
        0.4526 / grey * (grey / short0 * short - long - medium),
    )


def walk(activity):
    """Where a random walk with weights |A_i - A_j| exp(-d^2 / 2 sigma^2) ends up, by taking its steps."""
    height, width = activity.shape
    sigma = 0.15 * (height + width) / 2
    places = [(y, x) for y in range(height) for x in range(width)]
    weight = np.array(
        [
            [
                abs(activity[a] - activity[b]) * math.exp(-((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) / (2 * sigma**2))
                for a in places
            ]
            for b in places
        ]
    )
    share = np.full(len(places), 1 / len(places))
    if weight.max() == 0:
        return share.reshape(height, width)
    # Resting every second time on average leads to the same end, surely; squared forty times, 2^40 steps.
    steps = (weight / weight.sum(axis=0) + np.eye(len(places))) / 2
    for _ in range(40):
        before, steps = steps, steps @ steps
        steps /= steps.sum(axis=0)
        if np.abs(steps - before).max() < 1e-14:
            break
    return (steps @ share).reshape(height, width)


def levels_of(rgb, count, smallest):
    built, level = [], rgb
    while len(built) < count and (not built or min(level.shape[1:]) > smallest):
        level = np.array([halved(plane) for plane in level])
        built.append(level)
    return built


def gbvs(rgb):
    """GBVS, step by step, of an image (3, H, W) in [0, 1]."""
    height, width = rgb.shape[1:]
    grid = round(height * 32 / max(height, width)), round(width * 32 / max(height, width))
    total = np.zeros(grid)
    for level in levels_of(rgb, 4, 10)[1:]:
        contrasts = np.array(
            [[dkl_pixel(*level[:, y, x]) for x in range(level.shape[2])] for y in range(level.shape[1])]
        )
        brightest = level.max(axis=0)
        energies = [gabor_energy(brightest, angle) for angle in (0, 45, 90, 135)]
        for feature in [*np.moveaxis(contrasts, 2, 0), brightest, *energies]:
            total += walk(to_unit(resized(feature, grid))) ** 1.5
    faded = to_unit(fading(total, 4))
    sigma = 0.02 * max(grid)
    reach = int(2 * sigma + 0.5)
    kernel = np.array([math.exp(-(k * k) / (2 * sigma**2)) for k in range(-reach, reach + 1)])
    kernel = np.outer(kernel, kernel) / kernel.sum() ** 2
    padded = np.pad(faded, reach, mode="edge")
    soft = np.array(
        [
            [(padded[y : y + 2 * reach + 1, x : x + 2 * reach + 1] * kernel).sum() for x in range(grid[1])]
            for y in range(grid[0])
        ]
    )
    return to_unit(resized(to_unit(soft), (height, width)))


def surrounded(mask):
    """The pixels of a mask, opened by a square of 3, from which no walk over eight neighbours leads to the border."""
    height, width = mask.shape

    def square(y, x):
        return [(v, u) for v in range(y - 1, y + 2) for u in range(x - 1, x + 2) if 0 <= v < height and 0 <= u < width]

    pixels = [(y, x) for y in range(height) for x in range(width)]
    thick = {at for at in pixels if all(mask[near] for near in square(*at))}
    kept = {at for at in pixels if any(near in thick for near in square(*at))}
    outer = [at for at in kept if at[0] in (0, height - 1) or at[1] in (0, width - 1)]
    reached = set(outer)
    while outer:
        for near in square(*outer.pop()):
            if near in kept and near not in reached:
                reached.add(near)
                outer.append(near)
    return np.array([[(y, x) in kept - reached for x in range(width)] for y in range(height)])


def boolean_map(planes, sigma):
    """Boolean map saliency of planes from 0 to 1: the sum over thresholds of what is surrounded, grown, of length 1."""
    height, width = planes.shape[1:]
    total = np.zeros((height, width))
    for plane in planes:
        for k in range(1, 32):
            for mask in (plane > k * 8 / 255, plane <= k * 8 / 255):
                inner = surrounded(mask)
                grown = np.array(
                    [
                        [inner[max(0, y - 4) : y + 5, max(0, x - 4) : x + 5].any() for x in range(width)]
                        for y in range(height)
                    ]
                )
                if grown.any():
                    total += grown / math.sqrt(grown.sum())
    soft = np.zeros_like(total)
    for y in range(height):
        for x in range(width):
            soft += total[y, x] * np.exp(
                -np.add.outer((np.arange(height) - y) ** 2, (np.arange(width) - x) ** 2) / (2 * sigma**2)
            )
    return to_unit(soft)


def signature(plane):
    """The square of the plane whose cosine transform is the signs of this one's: by the sums that define it."""
    bases = []
    for side in plane.shape:
        steps = np.arange(side)
        basis = np.array([np.cos(math.pi * (2 * steps + 1) * k / (2 * side)) for k in range(side)])
        bases.append(basis * np.where(steps == 0, math.sqrt(1 / side), math.sqrt(2 / side))[:, None])
    rows, columns = bases
    found = np.zeros(plane.shape)
    for k in range(plane.shape[0]):
        for m in range(plane.shape[1]):
            wave = np.outer(rows[k], columns[m])
            size = (wave * plane).sum()
            found += (abs(size) > 1e-9) * np.sign(size) * wave
    return found**2


def lone_peaks(values):
    """The normalisation N of Itti's model, as released: by the mean of the local maxima."""
    scaled = 10 * to_unit(values)
    peaks = []
    for y in range(1, scaled.shape[0] - 1):
        for x in range(1, scaled.shape[1] - 1):
            v = scaled[y, x]
            around = (scaled[y - 1, x], scaled[y + 1, x], scaled[y, x - 1], scaled[y, x + 1])
            if v >= 1 and all(v >= other for other in around):
                peaks.append(v)
    if not peaks:
        return scaled
    return scaled * (100 if len(peaks) == 1 else (10 - sum(peaks) / len(peaks)) ** 2)


def itti(rgb):
    """Itti's saliency map, step by step, of an image (3, H, W) in [0, 1]; centres 2 and 3, surrounds 2 coarser."""
    height, width = rgb.shape[1:]
    grid = round(height / 8), round(width / 8)
    built = levels_of(rgb, 5, 4)
    total = np.zeros(grid)
    features = []
    for red, green, blue in built:
        bright = np.maximum(np.maximum(red, green), blue)
        safe = np.where(bright > 0, bright, 1)
        colour = [abs(blue - np.minimum(red, green)) / safe * (bright > 0), abs(red - green) / safe * (bright > 0)]
        features.append((colour, [bright], [gabor_energy(bright, angle) for angle in (0, 45, 90, 135)]))
    for channel in range(3):
        summed = np.zeros(grid)
        for centre in (2, 3):
            if centre + 2 <= len(built):
                for fine, coarse in zip(features[centre - 1][channel], features[centre + 1][channel], strict=True):
                    summed += lone_peaks(resized((fine - resized(coarse, fine.shape)) ** 2, grid))
        total += lone_peaks(summed)
    return to_unit(resized(to_unit(fading(total, 4)), (height, width)))


def torque_saliency(y, x, weight, shape, sigma):
    """Sum of Gaussians around points, pixel by pixel."""
    total = np.zeros(shape)
    for v in range(shape[0]):
        for u in range(shape[1]):
            for a, b, w in zip(y, x, weight, strict=True):
                total[v, u] += w * math.exp(-((v - a) ** 2 + (u - b) ** 2) / (2 * sigma**2))
    return to_unit(total)


def polar_edges(strength, dx, dy, fixation, threshold, columns):
    """Every edge pixel as a Gaussian about its place, cell by cell: row i is i degrees, column j the distance j."""
    polar = np.zeros((360, columns))
    for y, x in np.argwhere(strength > threshold):
        px, py = x - fixation[1], y - fixation[0]
        d = math.hypot(px, py)
        if d == 0 or d > columns - 1 - 5:
            continue
        ex, ey = float(dx[y, x]), float(dy[y, x])
        length = math.hypot(ex, ey)
        ex, ey = (ex / length, ey / length) if length else (-py / d, px / d)
        reach = int(max(4, 90 / d**0.7))
        row, column = round(math.degrees(math.atan2(-py, px))), round(d)
        for i in range(row - reach, row + reach + 1):
            sight = math.cos(math.radians(i)), -math.sin(math.radians(i))
            sine = min(1.0, abs(sight[0] * ey - sight[1] * ex))
            v = (1 + math.degrees(math.asin(sine))) / d ** (0.7 * sine)
            for j in range(max(0, column - reach), min(columns, column + reach + 1)):
                ox, oy = j * sight[0] - px, j * sight[1] - py
                a, b = ox * ex + oy * ey, ox * ey - oy * ex
                polar[i % 360, j] += float(strength[y, x]) * math.exp(-a * a / (2 * v * v) - b * b / 4)
    return polar


def seed_distances(cost, seeds):
    """The cheapest way from each pixel to each of the seeds' labels: lower every distance until none can be."""
    height, width = cost.shape
    distances = {}
    for label in sorted(set(seeds[seeds != 0].tolist())):
        distance = np.where(seeds == label, 0.0, np.inf)
        changed = True
        while changed:
            changed = False
            for y, x in np.ndindex(height, width):
                for v in range(max(0, y - 1), min(height, y + 2)):
                    for u in range(max(0, x - 1), min(width, x + 2)):
                        step = math.hypot(v - y, u - x) * (cost[y, x] + cost[v, u]) / 2
                        if distance[v, u] + step < distance[y, x] - 1e-12:
                            distance[y, x] = distance[v, u] + step
                            changed = True
        distances[label] = distance
    return distances


def nearest_words(descriptors, words, neighbours):
    """Indices of the nearest words of each descriptor, nearest first; of equally near ones the first."""
    found = []
    for x in np.asarray(descriptors, float):
        away = [float(np.sum((x - w) ** 2)) for w in np.asarray(words, float)]
        found.append(sorted(range(len(words)), key=lambda j: away[j])[:neighbours])
    return np.array(found, int).reshape(-1, neighbours)


def linear_code(x, words, beta):
    """Weights, adding up to 1, with which a few words make x best (Wang et al. 2010)."""
    z = np.asarray(words, float) - np.asarray(x, float)
    c = z @ z.T
    c = c + (beta * np.trace(c) if np.trace(c) > 0 else 1.0) * np.eye(len(z))
    weights = np.linalg.solve(c, np.ones(len(z)))
    return weights / weights.sum()


def max_pool(index, weight, cell, words, cells):
    pooled = np.zeros((cells, words))
    for i in range(len(index)):
        for c in cell[i]:
            for word, w in zip(index[i], weight[i], strict=True):
                pooled[c, word] = max(pooled[c, word], w)
    return pooled


def round_away(value):
    """Round to the nearest whole number, halves away from zero."""
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def multiscale_torque(fx, fy, y, x, size, regions, distances, align):
    """The descriptor of one patch: torque of regions around its centre and around points along eight directions."""
    tall, wide = (size, size) if np.ndim(size) == 0 else size
    turn = nearest_direction(fx, fy, y, x, size) if align else 0
    values = []
    for region in regions:
        sides = tuple(2 * max(1, round_away((region * side - 1) / 2)) + 1 for side in (tall, wide))
        values.append(torque(fx, fy, y, x, sides))
        for direction in range(8):
            angle = (direction + turn) % 8 * math.pi / 4
            for distance in distances:
                dy = round_away(round(distance * tall * math.sin(angle), 9))
                dx = round_away(round(distance * wide * math.cos(angle), 9))
                values.append(torque(fx, fy, y + dy, x + dx, sides))
    return np.array(values)


def nearest_direction(fx, fy, y, x, size):
    """The first of eight directions, in steps of 45 degrees, that points nearest to the centroid of a patch's edges."""
    to_x = to_y = 0.0
    for v in range(fx.shape[0]):
        for u in range(fx.shape[1]):
            if holds("square", size, v - y, u - x):
                mass = math.hypot(float(fx[v, u]), float(fy[v, u]))
                to_x, to_y = to_x + mass * (u - x), to_y + mass * (v - y)
    along = [round(to_x * math.cos(d * math.pi / 4) + to_y * math.sin(d * math.pi / 4), 6) for d in range(8)]
    return along.index(max(along))


def direction_histogram(gx, gy, top, left, size):
    """4 x 4 cells of 8 directions of gradient over one patch, each pixel weighted by its distance to the cell."""
    cell = size // 4
    histogram = np.zeros((4, 4, 8))
    for row in range(4):
        for column in range(4):
            middle_y, middle_x = top + row * cell + (cell - 1) / 2, left + column * cell + (cell - 1) / 2
            for v in range(gx.shape[0]):
                for u in range(gx.shape[1]):
                    weight = max(0.0, 1 - abs(v - middle_y) / cell) * max(0.0, 1 - abs(u - middle_x) / cell)
                    if weight > 0:
                        histogram[row, column] += weight * direction_shares(float(gx[v, u]), float(gy[v, u]))
    return histogram.ravel()


def direction_shares(gx, gy):
    """Write a gradient as a d_k + b d_(k+1), a and b not negative, of the eight directions it lies between two of."""
    shares = np.zeros(8)
    if gx == gy == 0:
        return shares
    k = int(math.atan2(gy, gx) // (math.pi / 4)) % 8
    pair = [k, (k + 1) % 8]
    directions = np.array([[math.cos(d * math.pi / 4), math.sin(d * math.pi / 4)] for d in pair])
    shares[pair] = np.linalg.solve(directions.T, [gx, gy])
    return shares


def train_machine(products, signs, cost, steps=20000):
    """Coefficients of one machine: the dual of |w|^2 / 2 + cost * sum max(0, 1 - y w.x)^2, one example at a time."""
    alpha = np.zeros(len(signs))
    q = products * np.outer(signs, signs) + np.eye(len(signs)) / (2 * cost)
    for step in range(steps):
        i = step % len(signs)
        alpha[i] = max(0.0, alpha[i] - (q[i] @ alpha - 1) / q[i, i])
    return alpha * signs


def grid_links(shape, right, down, down_right=None, down_left=None, wrap=None):
    """The links of a grid as a list of ((y, x), (v, u), capacity)."""
    height, width = shape
    links = []
    families = (
        (right, (0, 0), (0, 1)),
        (down, (0, 0), (1, 0)),
        (down_right, (0, 0), (1, 1)),
        (down_left, (0, 1), (1, 0)),
    )
    for plane, (a, b), (c, d) in families:
        if plane is not None:
            for y in range(len(plane)):
                for x in range(len(plane[y])):
                    p, q = ((y + a) % height, (x + b) % width), ((y + c) % height, (x + d) % width)
                    assert wrap == 0 or y + max(a, c) < height
                    assert wrap == 1 or x + max(b, d) < width
                    if p != q:
                        links.append((p, q, plane[y][x]))
    return links


NEVER = 2**4000  # more than any number of doubles make, in units of 2^-1074


def in_units(value):
    """A double, exactly, as a whole number of units of 2^-1074; infinite is NEVER."""
    if math.isinf(value):
        return NEVER
    above, below = float(value).as_integer_ratio()
    return above * (2**1074 // below)


def cut_cost(mask, source, sink, links):
    """What a cut costs, from the definition."""
    total = 0
    for y in range(len(source)):
        for x in range(len(source[0])):
            total += sink[y][x] if mask[y][x] else source[y][x]
    return total + sum(capacity for p, q, capacity in links if mask[p[0]][p[1]] != mask[q[0]][q[1]])


def minimum_cut(source, sink, links):
    """Ford & Fulkerson with shortest paths: the smallest source side of the minimum cuts, and the flow."""
    residual = {}
    for y in range(len(source)):
        for x in range(len(source[0])):
            residual.setdefault("source", {})[y, x] = source[y][x]
            residual.setdefault((y, x), {}).update({"sink": sink[y][x], "source": 0})
            residual.setdefault("sink", {})[y, x] = 0
    for p, q, capacity in links:
        residual[p][q] = residual[p].get(q, 0) + capacity
        residual[q][p] = residual[q].get(p, 0) + capacity
    flow = 0
    while True:
        came_from, queue = {"source": None}, ["source"]
        for node in queue:
            for other, capacity in residual[node].items():
                if capacity > 0 and other not in came_from:
                    came_from[other] = node
                    queue.append(other)
        if "sink" not in came_from:
            return np.array([[(y, x) in came_from for x in range(len(source[0]))] for y in range(len(source))]), flow
        path = ["sink"]
        while came_from[path[-1]] is not None:
            path.append(came_from[path[-1]])
        path.reverse()
        steps = [(path[i], path[i + 1]) for i in range(len(path) - 1)]
        amount = min(residual[a][b] for a, b in steps)
        for a, b in steps:
            residual[a][b] -= amount
            residual[b][a] = residual[b].get(a, 0) + amount
        flow += amount


def count_words(words, top, left, figure, on, off, count):
    """How often each word occurs in a figure and what is on it for sure, less what is off it; a window's masks."""
    counts = np.zeros(count)
    for y, x in np.ndindex(figure.shape):
        if (figure[y, x] or on[y, x]) and not off[y, x]:
            counts[words[top + y, left + x]] += 1
    return counts


def cut_words(words, right, down, top, left, log_odds, cost, on, off):
    """The cheapest figure in a window by the log_odds of its words, of which the parts stay that hold a pixel for sure.

    On the whole image: outside of the window all is ground.
    """
    source, sink = np.zeros(words.shape), np.full(words.shape, math.inf)
    for y, x in np.ndindex(on.shape):
        own = log_odds[words[top + y, left + x]]
        give, take = (math.inf, 0) if on[y, x] else (0, math.inf) if off[y, x] else (max(own, 0), max(-own, 0))
        source[top + y, left + x], sink[top + y, left + x] = give, take
    links = [((y, x), (y, x + 1), cost * right[y, x]) for y, x in np.ndindex(right.shape)]
    links += [((y, x), (y + 1, x), cost * down[y, x]) for y, x in np.ndindex(down.shape)]
    cut = minimum_cut(source, sink, links)[0][top : top + on.shape[0], left : left + on.shape[1]]
    found, waiting = np.zeros(on.shape, bool), [(y, x) for y, x in np.ndindex(on.shape) if on[y, x]]
    while waiting:
        y, x = waiting.pop()
        if 0 <= y < on.shape[0] and 0 <= x < on.shape[1] and cut[y, x] and not found[y, x]:
            found[y, x] = True
            waiting += [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]
    return found


def labelling_energy(labels, unary, links, metric):
    """What a labelling costs, from the definition."""
    total = 0
    for y in range(labels.shape[0]):
        for x in range(labels.shape[1]):
            total += unary[labels[y, x]][y][x]
    return total + sum(weight * metric[labels[p]][labels[q]] for p, q, weight in links)


def expansion_move(labels, alpha, unary, links, metric):
    """The cheapest of all labellings in which some pixels changed to alpha; of equals, one that changes fewest."""
    others = [(y, x) for y in range(labels.shape[0]) for x in range(labels.shape[1]) if labels[y, x] != alpha]
    best, cost = labels, (labelling_energy(labels, unary, links, metric), 0)
    for chosen in range(2 ** len(others)):
        moved = labels.copy()
        for bit, pixel in enumerate(others):
            if chosen >> bit & 1:
                moved[pixel] = alpha
        candidate = labelling_energy(moved, unary, links, metric), bin(chosen).count("1")
        if candidate < cost:
            best, cost = moved, candidate
    return best


def alpha_expansion(unary, links, metric):
    """Expansion moves from the cheapest label at each pixel, until no label gains."""
    labels = np.argmin(unary, axis=0)
    while True:
        before = labels
        for alpha in range(len(unary)):
            labels = expansion_move(labels, alpha, unary, links, metric)
        if (labels == before).all():
            return labels


def line_mean(plane, at, start, end, axis):
    """Mean of plane[at, start:end], or of plane[start:end, at] along axis 0; beyond the border the border repeats."""
    lines = plane if axis == 1 else plane.T
    return float(np.mean(lines[min(max(at, 0), lines.shape[0] - 1), start:end]))


def half_up(value):
    """The nearest integer, halves away from zero."""
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def box_scores(planes, box, inside, outside):
    """|gradient torque| of a box, and the contrast across its top, bottom, left and right side, summed over planes."""
    y0, x0, y1, x1 = box
    torque, sides = 0.0, np.zeros(4)
    cy, cx, hy, hx = (y0 + y1 - 1) / 2, (x0 + x1 - 1) / 2, (y1 - y0) / 2, (x1 - x0) / 2
    for plane in planes:
        rows = [line_mean(plane, y, x0, x1, 1) for y in (y0 - 1, y1)]
        columns = [line_mean(plane, x, y0, y1, 0) for x in (x0 - 1, x1)]
        torque += abs(plane[y0:y1, x0:x1].mean() - sum(rows) / 4 - sum(columns) / 4)
        for k, sign in enumerate((-1, 1)):
            out, near = (line_mean(plane, half_up(cy + sign * part * hy), x0, x1, 1) for part in (outside, inside))
            sides[k] += abs(out - near)
            out, near = (line_mean(plane, half_up(cx + sign * part * hx), y0, y1, 0) for part in (outside, inside))
            sides[2 + k] += abs(out - near)
    return torque, sides


def distinct_boxes(boxes, overlap, most):
    """Places of the boxes that overlap none before them too much; overlaps counted pixel by pixel."""
    kept = []
    for i, box in enumerate(boxes):
        pixels = {(y, x) for y in range(box[0], box[2]) for x in range(box[1], box[3])}
        others = [{(y, x) for y in range(b[0], b[2]) for x in range(b[1], b[3])} for b in (boxes[k] for k in kept)]
        if len(kept) < most and all(len(pixels & other) / len(pixels | other) <= overlap for other in others):
            kept.append(i)
    return kept


def closed_contour(gx, gy, seed, angles, radii, nearest, farthest, slope):
    """Indices of the radii of the best contour around one seed, and its evidence: every path, one step at a time."""
    y, x, radius, turn, aspect, sign = seed
    a, b = math.sqrt(aspect), 1 / math.sqrt(aspect)
    c, s = math.cos(turn), math.sin(turn)
    lengths = [radius * nearest * (farthest / nearest) ** (r / (radii - 1)) for r in range(radii)]
    evidence = np.empty((angles, radii))
    for i in range(angles):
        u, v = math.cos(2 * math.pi * i / angles), math.sin(2 * math.pi * i / angles)
        normal = np.array([s * b * u + c * a * v, c * b * u - s * a * v])
        normal /= np.hypot(*normal)
        for r, length in enumerate(lengths):
            at = y + length * (s * a * u + c * b * v), x + length * (c * a * u - s * b * v)
            inside = all(-0.5 <= p <= n - 0.5 for p, n in zip(at, gx.shape, strict=True))
            across = bilinear(gy, *at) * normal[0] + bilinear(gx, *at) * normal[1]
            evidence[i, r] = -sign * across if inside else 0.3
    order = [(i - angles // 2) % angles for i in range(angles + 2 * (angles // 2))]
    best, back = evidence[order[0]].copy(), []
    for i in order[1:]:
        steps = [
            [best[q] - slope * abs(q - r) if abs(q - r) <= 2 else -np.inf for q in range(radii)] for r in range(radii)
        ]
        back.append([int(np.argmax(row)) for row in steps])
        best = np.array([max(row) for row in steps]) + evidence[i]
    path = [int(np.argmax(best))]
    for row in reversed(back):
        path.append(row[path[-1]])
    middle = path[::-1][angles // 2 : angles // 2 + angles]
    return middle, evidence


def bilinear(plane, y, x):
    """Value between four pixels; at the rim, of the nearest place inside."""
    y, x = min(max(y, 0), plane.shape[0] - 1), min(max(x, 0), plane.shape[1] - 1)
    y0, x0 = int(y), int(x)
    y1, x1 = min(y0 + 1, plane.shape[0] - 1), min(x0 + 1, plane.shape[1] - 1)
    v, u = y - y0, x - x0
    upper, lower = ((1 - u) * plane[row, x0] + u * plane[row, x1] for row in (y0, y1))
    return (1 - v) * upper + v * lower


def inside_polygon(y, x, shape):
    """Which pixel centres lie inside a polygon: how often a ray to the right crosses its sides."""
    inside = np.zeros(shape, bool)
    for row in range(shape[0]):
        for column in range(shape[1]):
            for i in range(len(y)):
                j = i - 1
                if (y[i] > row) != (y[j] > row):
                    inside[row, column] ^= column < x[i] + (row - y[i]) / (y[j] - y[i]) * (x[j] - x[i])
    return inside


def outline_corners(y, x, radii):
    """Return the corners (y, x) of an outline, in order."""
    count = len(radii)
    turns = [2 * math.pi * k / count for k in range(count)]
    return [(y + r * math.sin(t), x + r * math.cos(t)) for r, t in zip(radii, turns, strict=True)]


def label_outline(inside, y, x, angles, reach):
    """For each direction from a point: half a pixel beyond the last half step inside; rays end at the border."""
    radii = np.full(angles, 0.5)
    for k in range(angles):
        for r in np.arange(0, reach + 0.25, 0.5):
            v = math.floor(y + r * math.sin(2 * math.pi * k / angles) + 0.5)
            u = math.floor(x + r * math.cos(2 * math.pi * k / angles) + 0.5)
            if not (0 <= v < inside.shape[0] and 0 <= u < inside.shape[1]):
                break
            if inside[v, u]:
                radii[k] = max(r + 0.5, 0.5)
    return radii


def outline_pixels(y, x, radii, shape):
    """Return the pixels whose centres lie in an outline, by the number of its sides to their left."""
    corners = outline_corners(y, x, radii)
    inside = np.zeros(shape, bool)
    for row in range(shape[0]):
        for column in range(shape[1]):
            crossings = 0
            for (ya, xa), (yb, xb) in zip(corners, corners[1:] + corners[:1], strict=True):
                if (ya <= row) != (yb <= row) and xa + (row - ya) * (xb - xa) / (yb - ya) <= column:
                    crossings += 1
            inside[row, column] = crossings % 2 == 1
    return inside


def extremal_regions(image, smallest, largest):
    """Return every distinct 4-connected component of {image >= level}, as sets of pixels, within the areas."""
    found = set()
    for level in np.unique(image):
        seen = np.zeros(image.shape, bool)
        for start in np.argwhere(image >= level).tolist():
            start = tuple(start)
            if seen[start]:
                continue
            region, todo = [], [start]
            seen[start] = True
            while todo:
                y, x = todo.pop()
                region.append((int(y), int(x)))
                for q in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                    within = 0 <= q[0] < image.shape[0] and 0 <= q[1] < image.shape[1]
                    if within and image[q] >= level and not seen[q]:
                        seen[q] = True
                        todo.append(q)
            if smallest <= len(region) <= largest:
                found.add(frozenset(region))
    return found


def max_weight_set(weight, pairs):
    """Return the largest sum of positive weights of a set without any of the pairs, over all subsets."""
    best = 0.0
    for number in range(2 ** len(weight)):
        chosen = [i for i in range(len(weight)) if number >> i & 1 and weight[i] > 0]
        if not any(a in chosen and b in chosen and a != b for a, b in pairs):
            best = max(best, sum(weight[i] for i in chosen))
    return best


def summits(plane, inside):
    """Return for each pixel inside the summit (y, x) that steps to the highest of eight neighbours lead to."""
    summits = {}
    for start in np.argwhere(inside).tolist():
        here = tuple(start)
        while True:
            y, x = here
            near = [(b, a) for b in (y - 1, y, y + 1) for a in (x - 1, x, x + 1)]
            near = [q for q in near if 0 <= q[0] < plane.shape[0] and 0 <= q[1] < plane.shape[1] and inside[q]]
            top = max(near, key=lambda q: plane[q])
            if plane[top] <= plane[here]:
                break
            here = top
        summits[tuple(start)] = here
    return summits


def distance_transform(inside):
    """Return each pixel's distance to the nearest pixel that is not inside."""
    ground = np.argwhere(~inside)
    distance = np.zeros(inside.shape)
    for p in np.argwhere(inside):
        distance[tuple(p)] = min(math.dist(p, q) for q in ground)
    return distance


def smooth_plane(plane, weights):
    """Return a plane correlated with a symmetric kernel along columns, then rows, mirrored beyond its border."""
    for _ in range(2):
        n, out = len(plane), np.empty_like(plane)
        mirror = [*range(n), *reversed(range(n))]
        for i, j in np.ndindex(plane.shape):
            total = float(plane[i, j]) * weights[0]
            for k in range(len(weights) - 1, 0, -1):
                total += (
                    float(plane[mirror[(i - k) % (2 * n)], j]) + float(plane[mirror[(i + k) % (2 * n)], j])
                ) * weights[k]
            out[i, j] = total
        plane = out.T
    return plane


def box_mean(plane, size):
    """Return the mean of size columns around each pixel, then rows, mirrored beyond the border."""
    for _ in range(2):
        n = len(plane)
        mirror = [*range(n), *reversed(range(n))]
        rows = [[mirror[(i - size // 2 + k) % (2 * n)] for k in range(size)] for i in range(n)]
        plane = np.array([plane[own].astype(np.float64).mean(axis=0) for own in rows], np.float32).T
    return plane


def best_outline_gain(gain, stiffness):
    """Return the largest sum of gains of a closed path over directions, less stiffness times the squared steps of it.

    Steps between neighbouring directions are at most 2; all starts are tried.
    """
    angles, steps = gain.shape
    best = -math.inf
    for start in range(steps):
        reach = np.full(steps, -math.inf)
        reach[start] = gain[0, start]
        for k in range(1, angles):
            following = np.full(steps, -math.inf)
            for s in range(steps):
                for t in range(max(0, s - 2), min(steps, s + 3)):
                    following[s] = max(following[s], reach[t] - stiffness * (s - t) ** 2 + gain[k, s])
            reach = following
        for s in range(max(0, start - 2), min(steps, start + 3)):
            best = max(best, reach[s] - stiffness * (s - start) ** 2)
    return best


def forest_values(feature, threshold, left, right, value, root, rows):
    """Return the mean over trees of the leaf each row falls into."""
    out = []
    for row in rows:
        leaves = []
        for node in root:
            while feature[node] >= 0:
                node = left[node] if row[feature[node]] <= threshold[node] else right[node]
            leaves.append(value[node])
        out.append(sum(leaves) / len(leaves))
    return np.array(out)


def outline_samples(plane, y, x, radii, part):
    """Return (direction, value) of a plane at this part of an outline's radii, where that lies in the image."""
    samples = []
    for k, radius in enumerate(radii):
        angle = 2 * math.pi * k / len(radii)
        at = y + part * radius * math.sin(angle), x + part * radius * math.cos(angle)
        if 0 <= at[0] <= plane.shape[0] - 1 and 0 <= at[1] <= plane.shape[1] - 1:
            samples.append((k, bilinear(plane, *at)))
    return samples


def outline_profile(plane, y, x, radii, part):
    """Return mean and standard deviation over directions of a plane at this part of the radius; 0 where none."""
    values = [value for _, value in outline_samples(plane, y, x, radii, part)]
    return (float(np.mean(values)), float(np.std(values))) if values else (0.0, 0.0)


def outline_diameters(plane, y, x, radii):
    """Return lowest and highest mean along a diameter less the mean of all, and the first two waves at 0.6."""
    half = len(radii) // 2
    along = {}
    for part in (0.1, 0.35, 0.6, 0.85):
        for k, value in outline_samples(plane, y, x, radii, part):
            along.setdefault(k % half, []).append(value)
    if not along:
        return [0.0] * 4
    means = [np.mean(values) for values in along.values()]
    around = outline_samples(plane, y, x, radii, 0.6)
    waves = [
        2 * abs(sum(v * np.exp(2j * math.pi * n * k / len(radii)) for k, v in around)) / len(around) if around else 0.0
        for n in (1, 2)
    ]
    return [min(means) - np.mean(means), max(means) - np.mean(means), *waves]


def outline_contrast(gx, gy, y, x, radii):
    """Return of the field inwards across an outline: mean, deviation, weakest quarter, lower quartile, part seen.

    Weakest and lower are counted in the direction of the mean.
    """
    count = len(radii)
    across, down = (dict(outline_samples(plane, y, x, radii, 1.0)) for plane in (gx, gy))
    inwards = {
        k: -(math.cos(2 * math.pi * k / count) * across[k] + math.sin(2 * math.pi * k / count) * down[k])
        for k in across
    }
    if not inwards:
        return [0.0] * 5
    quarters = {}
    for k, value in inwards.items():
        quarters.setdefault(4 * k // count, []).append(value)
    values = list(inwards.values())
    side = -1 if sum(values) < 0 else 1
    weakest = min(side * np.mean(part) for part in quarters.values())
    lower = sorted(side * value for value in values)[len(values) // 4]
    return [np.mean(values), np.std(values), weakest, lower, len(values) / count]


def strongest_of_four(values):
    """Of each 2 x 2 pixels of (C, H, W) the first of the strongest, by the sum of magnitudes over the planes."""
    planes, height, width = values.shape
    out = np.zeros((planes, (height + 1) // 2, (width + 1) // 2), values.dtype)
    for v in range(out.shape[1]):
        for u in range(out.shape[2]):
            block = values[:, 2 * v : 2 * v + 2, 2 * u : 2 * u + 2]
            flat = block.reshape(planes, -1)
            out[:, v, u] = flat[:, np.argmax(np.abs(flat).sum(axis=0))]
    return out


def force_statistics(fx, fy):
    """Extent, largest component, grain, units off the Pell grid, octaves, force by force, as in `ForceStatistics`."""
    ys, xs = np.nonzero((fx != 0) | (fy != 0))
    if not len(ys):
        return (0, 0, 0, 0), 0.0, 0, (), ()
    components = np.abs(np.concatenate([fx[ys, xs], fy[ys, xs]]).astype(np.float32))
    largest = float(components.max())
    mantissa, exponent = math.frexp(largest * (1 - 1e-6))
    unit = max(exponent - (mantissa == 0.5), -100)
    grain = min(math.frexp(c)[1] - 24 + _trailing_zeros(int(math.ldexp(math.frexp(c)[0], 24))) for c in components if c)
    not_pell = []
    for i in range(22):
        steps = components * np.float32(math.ldexp(3363, -unit - i))
        if (np.abs(steps - np.rint(steps)) > np.float32(1e-3)).any():
            not_pell.append(unit + i)
    larger = np.maximum(np.abs(fx[ys, xs]), np.abs(fy[ys, xs]))
    octaves, counts = np.unique([math.frexp(c)[1] - 1 for c in larger], return_counts=True)
    extent = (ys.min(), xs.min(), ys.max() + 1, xs.max() + 1)
    return extent, largest, grain, tuple(not_pell), tuple(zip(octaves, counts, strict=True))


def _trailing_zeros(number):
    return (number & -number).bit_length() - 1


def field_steps(statistics):
    """Steps per unit of force, and the most at which sums are exact, as imtorque.core.quantisation describes them."""
    height, width = (statistics.area[i + 2] - statistics.area[i] for i in (0, 1))
    counts = dict(statistics.octaves)
    if not counts:
        return 1.0, 2.0**112
    mantissa, exponent = math.frexp(statistics.largest * (1 - 1e-6))
    exponent = max(exponent - (mantissa == 0.5), -100)
    unit = 2.0**exponent
    mass = math.fsum(math.ldexp(count, octave + 2) for octave, count in counts.items())
    lever = max(height, width, 2048)
    worst = 2.0 * height * width * max(math.hypot(height, width), 2048)
    finest = min(max((2.0**62 / (2.02 * lever) - height * width) / mass, 2.0**62 / worst / unit), 2.0**112)
    whole = 2.0 ** math.floor(math.log2(finest) + 1e-12)
    if math.ldexp(4096 / unit, statistics.grain) >= 1:
        return min(4096 / unit, whole), finest
    top, left, bottom, right = statistics.extent
    per_unit = 2.0**21 if 2.5 * sum(counts.values()) >= (bottom - top) * (right - left) else 4096.0
    octaves = np.repeat(*(np.array(column) for column in zip(*sorted(counts.items()), strict=True)))
    octaves = octaves[octaves >= exponent - 40]

    def octave(share):
        return int(octaves[max(math.ceil(share * len(octaves)), 1) - 1])

    steps = (per_unit if exponent in statistics.not_pell else 3363.0) / unit
    if math.ldexp(steps, octave(0.5)) < 8 or math.ldexp(steps, octave(0.95)) < 256:
        steps = min(math.ldexp(per_unit, -octave(0.5) - 1), 2.0**112)
    return min(steps, whole), finest
