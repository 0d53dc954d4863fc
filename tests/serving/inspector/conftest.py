"""One tiny comparison, and one server that shows it, for all tests of the inspector in a process."""

import pytest

from http_server import running
from onepeak.serving import load
from onepeak.serving.http import create_app
from onepeak.serving.inspector import inspector_router, open_inspection
from onepeak.serving.inspector.pages import model_columns
from serving.inspector.tiny_comparison import write_tiny_comparison


@pytest.fixture(scope="session")
def compared(tmp_path_factory):
    """The folder of the comparison."""
    return write_tiny_comparison(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def actions(tmp_path_factory):
    path = tmp_path_factory.mktemp("actions") / "actions.csv"
    path.write_text("label,action\n" + "".join(f"g{grade},treatment {grade}\n" for grade in range(1, 9)))
    return path


@pytest.fixture(scope="session")
def make_app(compared, actions):
    """Makes an app with all pages and a model to try; who runs it closes it, so each has its own."""
    model = load(compared / "runs" / "elb" / "split0-fold0")
    inspection = open_inspection(compared, actions=actions)
    return lambda: create_app(
        model,
        actions=inspection.actions,
        extra_routers=[inspector_router(inspection, columns=model_columns(model))],
    )


@pytest.fixture(scope="session")
def address(make_app):
    """Where the pages are served; without a slash at the end."""
    with running(make_app()) as found:
        yield found
