from pathlib import Path

import pytest

from onepeak._core.wording import did_you_mean, did_you_mean_file
from onepeak.data.costs import costs_of
from onepeak.data.datasets.record import locate
from onepeak.data.order import declared_order
from onepeak.data.source import DataSource
from onepeak.data.tables.read import read_table
from onepeak.errors import InputError
from onepeak.experiment.plan import Experiment, entries_from_text, read_plan, read_recipe
from onepeak.experiment.prepared import open_manifest
from onepeak.experiment.results import read_results
from onepeak.networks.weights import read_weights
from onepeak.serving import load
from onepeak.serving.inspector.inspection import find_runs
from trained_models import table_run


def test_case_does_not_count_and_the_name_is_shown_as_it_is_known():
    assert did_you_mean("AGEE", ["size", "Age"]) == " Did you mean 'Age'?"
    assert did_you_mean("agee", ["size", "tone"]) == ""


def test_a_file_is_shown_as_one_would_write_it(tmp_path, monkeypatch):
    (tmp_path / "biopsies.csv").touch()
    assert did_you_mean_file(tmp_path / "biopsis.csv") == f" Did you mean {str(tmp_path / 'biopsies.csv')!r}?"
    monkeypatch.chdir(tmp_path)
    assert did_you_mean_file(Path("Biopsis.csv")) == " Did you mean 'biopsies.csv'?"


def test_the_first_folder_that_is_not_there_is_asked_about(tmp_path, monkeypatch):
    (tmp_path / "photos" / "may").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert did_you_mean_file(Path("photo", "may", "scans.csv")) == " Did you mean 'photos'?"


def test_a_file_of_the_wrong_kind_is_there(tmp_path):
    for name in ("model", "models"):
        (tmp_path / name).touch()
    assert did_you_mean_file(tmp_path / "model") == ""


def weights_of_an_experiment(path):
    methods = entries_from_text("ce")
    return open_manifest(Experiment(name="some", source=DataSource("biopsies"), methods=methods, weights=str(path)))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("suffix", "given"),
    [
        (".csv", lambda path: DataSource(path).open()),
        ("", lambda path: DataSource(path).open()),
        (".csv", read_table),
        (".csv", lambda path: load(table_run().folder).predict(path)),
        (".csv", lambda path: costs_of(str(path), ("low", "high"))),
        (".txt", lambda path: declared_order(str(path))),
        (".toml", lambda path: read_recipe(str(path))),
        (".toml", read_plan),
        (".safetensors", read_weights),
        (".safetensors", weights_of_an_experiment),
        ("", load),
        ("", read_results),
        ("", find_runs),
        ("", lambda path: locate(path, inside=(), holds=Path.is_dir, layout="pictures")),
    ],
)
def test_every_file_and_folder_that_is_not_there_is_asked_about(tmp_path, suffix, given):
    (tmp_path / f"measured{suffix}").touch()
    with pytest.raises(InputError) as caught:
        given(tmp_path / f"mesured{suffix}")
    assert f" Did you mean {str(tmp_path / f'measured{suffix}')!r}?" in str(caught.value)


def test_a_drive_that_is_not_there_is_not_looked_for_for_ever(monkeypatch):
    monkeypatch.setattr(Path, "exists", lambda _: False)
    monkeypatch.setattr(Path, "is_dir", lambda _: False)
    assert did_you_mean_file(Path("/gone/scans.csv")) == ""
