"""Where torch is not installed, what needs it is not collected: make test-torch tests it."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["src/imtorque/torch", "tests/tensors"]
