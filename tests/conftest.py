"""Every test runs with the shapes in the signatures checked, unless it passes wrong ones on purpose."""

import gc
import importlib.util
import os
import signal

import pytest
import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is first imported: kernels then run on a CPU, slowly

if importlib.util.find_spec("beartype") and importlib.util.find_spec("jaxtyping"):
    from jaxtyping import config, install_import_hook

    install_import_hook("onepeak", "typechecker.checked")
else:  # the shapes are then only names
    config = None

from hypothesis import settings

settings.register_profile("default", deadline=None, max_examples=50, derandomize=True)
settings.load_profile("default")
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
# Small networks are trained faster by one thread, other tests want their share, and the processes that tests start have
# one too: so a run has the same bits here and there.
torch.set_num_threads(1)
# A shell starts what it puts in the background with Ctrl-C ignored, and so would be the processes that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection():
    gc.disable()  # what is collected stays to the end, and looking through it again and again takes seconds


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _shape_checks_off_where_marked(request):
    """`bad_input` meets onepeak's own messages, `traced` is compiled without checks, `unchecked` is faster so."""
    if config is None or not any(
        request.node.get_closest_marker(name) for name in ("bad_input", "traced", "unchecked")
    ):
        yield
        return
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)
