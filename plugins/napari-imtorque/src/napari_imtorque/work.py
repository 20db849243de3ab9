"""Work in a thread of its own, plane by plane: with a bar that shows how far it is, and can cancel it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from napari.layers import Image
from napari.qt.threading import GeneratorWorker, thread_worker
from napari.types import LayerDataTuple
from napari.utils import cancelable_progress
from napari.utils.notifications import show_info
from qtpy.QtCore import QTimer

from napari_imtorque.planes import Stack, lie_of, stack_of
from napari_imtorque.results import Steps

Worker = GeneratorWorker[None, None, list[LayerDataTuple]]


def start(image: Image, make: Callable[[Stack], Steps]) -> Worker:
    """Make layers from the pixels of one, in a thread; they lie where it lies. Where there are none, that is said."""
    stack, lie = stack_of(image), lie_of(image)

    @thread_worker  # type: ignore[untyped-decorator]
    def work() -> Any:
        steps = make(stack)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return [(data, {**lie, **arguments}, kind) for data, arguments, kind in end.value]
            if bar.is_canceled:
                worker.quit()
            yield

    worker: Worker = work()
    bar = cancelable_progress(total=max(math.prod(stack.places), 1), desc=image.name)

    def say(layers: list[LayerDataTuple]) -> None:
        if not layers:
            show_info(f"Nothing was found in {image.name}: try a range of diameters, or a lower least score.")

    worker.yielded.connect(lambda _: bar.update(1))
    worker.returned.connect(say)
    worker.finished.connect(bar.close)
    QTimer.singleShot(0, worker.start)  # not at once: napari has yet to connect what becomes of the result
    return worker
