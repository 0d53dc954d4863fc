import json

import numpy as np
import pandas as pd
import pytest
import timm
import torch
from PIL import Image
from safetensors.torch import save_file

import onepeak
from onepeak.experiment.finish import choice_of
from onepeak.posterior.predictions import Predictions
from onepeak.training.ensemble import _is_better


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
    assert errors.splitlines()[2] == "timing one training ..."  # which may take a while
    assert errors.count("\ndata: ") == 0
    assert "the test part is opened once, at the end" in errors
    assert not (tmp_path / "o").exists()


def test_photographs_become_one_model_of_frozen_networks(run, photos, tmp_path, monkeypatch):
    out = tmp_path / "model"
    monkeypatch.setattr("onepeak.training.ensemble._is_better", lambda *_: True)  # the flips
    how = ("--licence", "data: ours; weights: theirs", "--methods", "peak", "--epochs", 4, "--minutes", 0.2, "--flips")
    fit = ("fit", *flags(photos, *how, "--out", out, "--preset", "best", "--quiet"))
    status, output, errors = run(*fit)
    assert (status, errors) == (0, "")
    assert "MAE" in output
    assert (out / "plan.md").read_text().startswith("# Plan\n")
    model = onepeak.load(out)
    assert model.description.members == 5
    assert model.network.has_maps
    assert model.description.network.mean == timm.get_pretrained_cfg("resnet10t").mean  # as its weights were trained
    image = np.full((40, 50, 3), 120, np.uint8)
    shaded = np.linspace(0, 250, 40 * 50 * 3).astype(np.uint8).reshape(40, 50, 3)
    assert model.evidence([image], torch.tensor([1])).shape == (1, 2, 2)
    mirrored = [model.predict([each], raw=True).log_probs for each in (shaded, shaded[:, ::-1])]
    torch.testing.assert_close(*mirrored)  # the mean over both
    kept = pd.read_parquet(out / "predictions.parquet").query("part == 'test'")
    said = model.predict([photos / "scans" / each for each in kept["path"]], raw=True).log_probs
    np.testing.assert_allclose(said, np.stack(kept["log_probs"]), atol=1e-4)
    card = (out / "README.md").read_text()
    assert "- licence: data: ours; weights: theirs" in card
    assert "- prediction: the mean for each image and its mirror image" in card
    result = json.loads((out / "result.json").read_text())
    assert (result["frozen"], result["fit"]["members"]) == (True, 5)
    status, output, _ = run("evaluate", out, photos / "scans", "--json", "--device", "cpu")
    assert status == 0
    assert json.loads(output)["metrics"]["mae"] >= 0
    assert run(*fit)[0] == 0  # it is done
    status, _, errors = run(*fit[:-3], "--preset", "good", "--no-flips")
    assert "holds another fit: preset is 'best' there and 'good' here; flips is True there and False here" in errors


def test_a_comparison_is_finished_as_the_mean_of_the_best_methods_folds(run, photos, tmp_path, here, no_pages):
    folder = tmp_path / "comparison"
    how = ("--methods", "ce,elb", "--folds", 3, "--epochs", 3, "--freeze", "--licence", "ours")
    assert run("compare", *flags(photos, *how, "--out", folder, "--quiet"))[0] == 0
    choice = choice_of(folder)
    status, output, errors = run("finish", folder)
    assert (status, output) == (0, f"model: {folder / 'model'}\n")
    assert errors.startswith(f"{choice.label}: validation mae {choice.value:.3f}, 3 networks")
    assert f"Next: onepeak predict {folder / 'model'} FILES, or onepeak evaluate" in errors
    card = (folder / "model" / "README.md").read_text()
    assert "the mean of 3 networks, resnet10t, weights resnet10t.safetensors, frozen\n" in card
    assert "- licence: ours\n" in card
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
def test_a_table_is_finished_by_one_training_on_all_samples(run, table, tmp_path, here, no_pages):
    folder = tmp_path / "out"
    compare = ("--methods", "ce", "--folds", 2, "--epochs", 3, "--device", "cpu", "--out", folder, "--quiet")
    assert run("compare", table, "--label", "grade", *compare)[0] == 0
    status, _, errors = run("finish", folder, "--no-refit")
    assert status == 2
    assert "every run has its own encoder of rows" in errors
    status, _, errors = run("finish", folder, "--device", "cpu")
    assert status == 0
    assert "one network of all samples" in errors
    assert f"Next: onepeak predict {folder / 'model'} new.csv, or" in errors
    model, choice = onepeak.load(folder / "model"), choice_of(folder)
    members = [onepeak.load(each).description for each in choice.runs]
    assert len(model.trained_items) == 80
    assert model.description.calibration.num_samples == sum(each.calibration.num_samples for each in members)
    assert model.description.metrics["test"]["mae"] == np.mean([each.metrics["test"]["mae"] for each in members])
    assert not (folder / "model" / "checkpoint.pt").exists()
    assert len(model.predict(table).predicted_index) == 80


def test_a_fit_tells_how_far_it_is_and_that_a_constant_is_as_good(run, table, tmp_path, monkeypatch):
    monkeypatch.setattr("onepeak.cli.fit._EVERY", 0.0)
    how = ("--label", "grade", "--preset", "fast", "--lr", 1e-9, "--epochs", 2)
    fit = ("fit", table, *how, "--minutes", 1, "--device", "cpu", "--out", tmp_path / "o")
    status, _, errors = run(*fit)
    assert status == 0, errors
    assert "\npeak: epoch 2/2, MAE " in errors
    assert " of 1 minute\n" in errors
    assert "MAE, " in errors
    assert "is no better than always predicting" in errors
    assert f"Next: onepeak predict {tmp_path / 'o'} new.csv, or" in errors
    assert run(*fit, "--quiet")[2] == ""


@pytest.mark.bad_input
def test_flips_need_images(run, table, tmp_path):
    status, _, errors = run("fit", table, "--label", "grade", "--flips", "--device", "cpu", "--out", tmp_path / "o")
    assert status == 2
    assert "`--flips` needs several networks (--preset good or best) of images that training mirrors" in errors


def test_flips_are_kept_where_they_are_better_and_never_for_a_metric_without_a_value():
    labels = torch.tensor([0, 1, 1])

    def predictions(probs, predicted):
        log_probs = torch.tensor([[1 - each, each] for each in probs]).log()
        return Predictions(
            items=labels.numpy(), truth=labels, predicted_index=torch.tensor(predicted), log_probs=log_probs
        )

    right, sure = predictions((0.1, 0.6, 0.6), (0, 1, 1)), predictions((0.1, 0.9, 0.9), (0, 1, 1))
    wrong = predictions((0.1, 0.4, 0.6), (0, 0, 1))
    for metric in ("mae", "accuracy"):
        assert _is_better(right, wrong, metric)
        assert not _is_better(wrong, right, metric)
        assert _is_better(sure, right, metric)  # by the ranked probability score
    one_class = predictions((0.9, 0.9, 0.9), (1, 1, 1))  # no rank correlation with it
    assert not _is_better(one_class, right, "tau")
