"""The models that several tests ask."""

import pytest

from onepeak.serving import load
from trained_models import picture_run, table_run


@pytest.fixture
def model():
    return load(picture_run().folder)


@pytest.fixture
def table_model():
    return load(table_run().folder)
