import pytest

from http_server import asking, encoded
from onepeak.serving import load
from onepeak.serving.http import create_app
from trained_models import image_run, table_run


@pytest.fixture(scope="session")
def model():
    return load(image_run().folder)


@pytest.fixture(scope="session")
def table():
    return load(table_run().folder)


@pytest.fixture(scope="session")
def arrays():
    return list(image_run().manifest.items.pixels)


@pytest.fixture(scope="session")
def images(arrays):
    """Files of ten images."""
    return [encoded(pixels) for pixels in arrays[:10]]


@pytest.fixture(scope="session")
def images_app(model):
    return create_app(model)


@pytest.fixture(scope="session")
def ask(images_app):
    """Asks a server of images."""
    with asking(images_app) as client:  # all in one event loop, as in a server
        yield client


@pytest.fixture(scope="session")
def ask_table(table):
    """Asks a server of rows."""
    with asking(create_app(table)) as client:
        yield client
