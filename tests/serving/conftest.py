"""The models that several tests ask."""

import pytest

from onepeak.serving import load
from trained_models import image_run, table_run


@pytest.fixture
def model():
    return load(image_run().folder)


@pytest.fixture
def table_model():
    return load(table_run().folder)
