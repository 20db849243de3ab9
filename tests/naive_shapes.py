"""The response of a shape as slow, plain loops. Imports numpy only."""

import math


def response(first, second, down, across, weights, floor, y, x):
    """Response around one pixel: the sum of weights times cell sums, over their length."""
    total = power = 0.0
    for i in range(len(down) - 1):
        for j in range(len(across) - 1):
            sums = [0, 0]
            for v in range(max(0, y + down[i]), min(first.shape[0], y + down[i + 1])):
                for u in range(max(0, x + across[j]), min(first.shape[1], x + across[j + 1])):
                    sums[0] += int(first[v, u])
                    sums[1] += int(second[v, u])
            total += weights[0, i, j] * sums[0] + weights[1, i, j] * sums[1]
            power += sums[0] ** 2 + sums[1] ** 2
    return total / math.sqrt(power + floor**2)
