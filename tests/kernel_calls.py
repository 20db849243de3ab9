"""Which kernels are called, in order, and what shall happen just before one of them."""

import threading

from imtorque import _native

SETTINGS = ("num_threads", "set_num_threads", "use_all_threads", "watch_nothing")
KERNELS = [
    name
    for name in dir(_native)
    if type(getattr(_native, name)) is type(_native.canny)
    and name not in SETTINGS
    and not name.startswith(("uses_", "allow_"))
]


def noted_calls(monkeypatch, before=lambda _number: None):
    """Note the name of each kernel that is called from now on, on whichever thread, after `before(its number)`."""
    names, lock = [], threading.Lock()

    def noting(name, kernel):
        def call(*arguments, **options):
            with lock:
                before(len(names))
                names.append(name)
            return kernel(*arguments, **options)

        return call

    for name in KERNELS:
        monkeypatch.setattr(_native, name, noting(name, getattr(_native, name)))
    return names
