import pytest

from http_server import asking, encoded
from onepeak.serving import load
from onepeak.serving.http import create_app
from trained_models import picture_run, table_run


@pytest.fixture(scope="session")
def model():
    return load(picture_run().folder)


@pytest.fixture(scope="session")
def table():
    return load(table_run().folder)


@pytest.fixture(scope="session")
def arrays():
    return list(picture_run().manifest.items.pixels)


@pytest.fixture(scope="session")
def pictures(arrays):
    """Files of ten pictures."""
    return [encoded(pixels) for pixels in arrays[:10]]


@pytest.fixture(scope="session")
def pictures_app(model):
    return create_app(model)


@pytest.fixture(scope="session")
def ask(pictures_app):
    """Asks a server of pictures."""
    with asking(pictures_app) as client:  # all in one event loop, as in a server
        yield client


@pytest.fixture(scope="session")
def ask_table(table):
    """Asks a server of rows."""
    with asking(create_app(table)) as client:
        yield client
