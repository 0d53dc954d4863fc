"""Every test runs with the shapes in the signatures checked, unless it passes wrong ones on purpose."""

import importlib.util
import os

import pytest

if importlib.util.find_spec("beartype") and importlib.util.find_spec("jaxtyping"):
    from jaxtyping import config, install_import_hook

    install_import_hook("onepeak", "beartype.beartype")
else:  # the shapes are then only names
    config = None

from hypothesis import settings

settings.register_profile("default", deadline=None, max_examples=50, derandomize=True)
settings.load_profile("default")
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


@pytest.fixture(autouse=True)
def _shape_checks_off_for_bad_input(request):
    """A test marked `bad_input` meets onepeak's own messages, not the type checker's."""
    if config is None or request.node.get_closest_marker("bad_input") is None:
        yield
        return
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)
