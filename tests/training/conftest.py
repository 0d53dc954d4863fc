"""A planted table that is ready to train on, and a way to train on it."""

from dataclasses import replace

import pytest

from onepeak.training import loop
from onepeak.training.devices import make_fabric
from onepeak.training.prepare import prepare
from onepeak.training.run import train_run
from training.planted import RECIPE, planted_table, settings_of, split_of


@pytest.fixture(autouse=True, scope="session")
def _checkpoints_of_every_epoch():
    """However short the epochs are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "_PAUSE", 0.0)
        yield


@pytest.fixture(scope="session")
def fabric():
    return make_fabric(device="cpu")


@pytest.fixture(scope="session")
def table():
    return prepare(planted_table(), RECIPE)


@pytest.fixture(scope="session")
def split():
    return split_of(101)


@pytest.fixture(scope="session")
def finished(tmp_path_factory, table, split, fabric):
    """The folder and the result of one run, for tests that only read them."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    return folder, train_run(settings_of(), table, split, folder, fabric=fabric)


@pytest.fixture
def trained(tmp_path, table, split, fabric):
    """Trains a run over the planted table and gives its folder and result; settings of the recipe by name."""

    def train(name="run", *, method="elb", dropout=0.0, seed=0, watches=(), folder=None, **recipe):
        settings = settings_of(method, replace(RECIPE, **recipe), dropout=dropout, seed=seed)
        folder = folder or tmp_path / name
        return folder, train_run(settings, table, split, folder, fabric=fabric, watches=watches)

    return train
