from pathlib import Path

import pytest

from onepeak.errors import InputError
from onepeak.serving import load
from onepeak.serving.choose_model import model_folder


def comparison(root, *runs):
    for run in runs:
        (root / "runs" / run).mkdir(parents=True)
        (root / "runs" / run / "onepeak.json").write_text("{}")
    return root


def test_a_models_folder_is_itself(tmp_path):
    (tmp_path / "onepeak.json").write_text("{}")
    assert model_folder(tmp_path) == tmp_path


def test_a_comparison_with_one_run_means_its_model(tmp_path):
    assert model_folder(comparison(tmp_path, "elb/split0-fold0")) == tmp_path / "runs/elb/split0-fold0"


@pytest.mark.bad_input
def test_a_comparison_with_several_asks_for_one(tmp_path):
    with pytest.raises(InputError, match=r"got a comparison with 2: name one of them, .*runs/ce/split0-fold0, "):
        model_folder(comparison(tmp_path, "elb/split0-fold0", "ce/split0-fold0"))


def test_what_holds_no_model_is_left_to_the_loader(tmp_path):
    assert model_folder(tmp_path / "nothing") == tmp_path / "nothing"
    assert model_folder(Path("~/nothing")) == Path.home() / "nothing"


@pytest.mark.bad_input
def test_whoever_loads_a_comparison_is_told_its_models(tmp_path):
    with pytest.raises(InputError, match=r"must hold one model, got a comparison with 2: name one of them"):
        load(comparison(tmp_path, "elb/split0-fold0", "ce/split0-fold0"))
