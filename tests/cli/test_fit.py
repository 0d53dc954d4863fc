import json

import numpy as np
import pytest
import timm
import torch
from PIL import Image
from safetensors.torch import save_file

import onepeak
from onepeak.experiment.finish import choice_of


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Forty-five images in three classes, told apart by their brightness, and the weights of a small network."""
    folder, rng = tmp_path_factory.mktemp("photos"), np.random.default_rng(0)
    for grade in range(3):
        (folder / "scans" / str(grade)).mkdir(parents=True)
        for number in range(15):
            pixels = rng.integers(0, 90, (40, 40 + number, 3)) + 80 * grade
            Image.fromarray(pixels.astype(np.uint8)).save(folder / "scans" / str(grade) / f"{number}.png")
    torch.manual_seed(0)
    save_file(timm.create_model("resnet10t", num_classes=0).state_dict(), folder / "resnet10t.safetensors")
    return folder


def flags(photos, *more):
    weights = ("--backbone", "resnet10t", "--weights", photos / "resnet10t.safetensors", "--cache", photos / "cache")
    return (photos / "scans", *weights, "--device", "cpu", *more)


def test_a_dry_run_prints_the_plan_and_leaves_nothing(run, table, tmp_path):
    flags = ("--label", "grade", "--dry-run", "--device", "cpu", "--out", tmp_path / "o")
    status, output, errors = run("fit", table, *flags)
    assert (status, output) == (0, "")
    assert errors.splitlines()[0].startswith("data: grades, 80 samples, no groups, 4 classes (0 25%")
    assert "the test part is opened once, at the end" in errors
    assert not (tmp_path / "o").exists()


def test_photographs_become_one_model_of_frozen_networks(run, photos, tmp_path):
    out = tmp_path / "model"
    fit = ("fit", *flags(photos, "--out", out, "--minutes", 0.2, "--epochs", 4, "--preset", "best", "--quiet"))
    status, output, errors = run(*fit)
    assert (status, errors) == (0, "")
    assert "MAE" in output
    assert (out / "plan.md").read_text().startswith("# Plan\n")
    model = onepeak.load(out)
    assert model.description.members == 5
    assert model.network.has_maps
    assert model.description.network.mean == timm.get_pretrained_cfg("resnet10t").mean  # as its weights were trained
    image = np.full((40, 50, 3), 120, np.uint8)
    assert model.evidence([image], torch.tensor([1])).shape == (1, 2, 2)
    result = json.loads((out / "result.json").read_text())
    assert (result["frozen"], result["fit"]["members"]) == (True, 5)
    status, output, _ = run("evaluate", out, photos / "scans", "--json", "--device", "cpu")
    assert status == 0
    assert json.loads(output)["metrics"]["mae"] >= 0
    assert run(*fit)[0] == 0  # it is done
    status, _, errors = run(*fit[:-3], "--preset", "good")
    assert "holds another fit, with preset = best, not good" in errors


def test_a_comparison_is_finished_as_the_mean_of_the_best_methods_folds(run, photos, tmp_path, here, no_pages):
    folder = tmp_path / "comparison"
    compare = flags(photos, "--methods", "ce,elb", "--folds", 3, "--epochs", 3, "--freeze", "--out", folder, "--quiet")
    assert run("compare", *compare)[0] == 0
    choice = choice_of(folder)
    status, output, errors = run("finish", folder)
    assert (status, output) == (0, f"model: {folder / 'model'}\n")
    assert errors.startswith(f"{choice.label}: validation mae {choice.value:.3f}, 3 networks")
    assert f"Next: onepeak predict {folder / 'model'} FILES" in errors
    model, members = onepeak.load(folder / "model"), [onepeak.load(each) for each in choice.runs]
    images = [np.full((40, 44, 3), shade, np.uint8) for shade in (20, 120, 220)]
    each = [member.predict(images, raw=True).log_probs for member in members]
    mean = torch.stack(each).mean(dim=0).log_softmax(dim=-1)
    found = model.predict(images, raw=True).log_probs
    one_peaked = onepeak.posterior.is_unimodal(mean)
    torch.testing.assert_close(found[one_peaked], mean[one_peaked], atol=1e-4, rtol=1e-4)
    assert model.description.calibration.num_samples == sum(
        member.description.calibration.num_samples for member in members
    )


@pytest.mark.bad_input
def test_runs_that_encode_rows_differently_are_not_finished_as_one(run, table, tmp_path, here, no_pages):
    compare = ("--methods", "ce", "--folds", 2, "--epochs", 1, "--device", "cpu", "--out", tmp_path / "out", "--quiet")
    assert run("compare", table, "--label", "grade", *compare)[0] == 0
    status, _, errors = run("finish", tmp_path / "out")
    assert status == 2
    assert "every fold has its own encoder: use onepeak fit" in errors
