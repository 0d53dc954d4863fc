"""One run from start to end: long because there are many files it writes and ways it can end."""

import gc
import json
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from forked import output_of
from image_files import write_images
from onepeak.data.images.store.build import build_store
from onepeak.data.splits import Split
from onepeak.metrics.catalog import DEFAULT_NAMES
from onepeak.networks.build import NetworkSettings
from onepeak.posterior.predictions import Predictions
from onepeak.training.calibration import calibrated_figures, calibration_of
from onepeak.training.devices import make_fabric
from onepeak.training.evaluate import measure, predict
from onepeak.training.familiarity import ImageRange
from onepeak.training.loop import DivergedError
from onepeak.training.model_files import load_description, load_network
from onepeak.training.prepare import Prepared, prepare
from onepeak.training.run import RunSettings, fingerprint, make_network, train_run
from run_folders import RUN_FILES
from trained_models import image_run
from training.planted import CLASSES, RECIPE, WEIGHTS, planted_images, settings_of, split_of


class Stop:
    """Somebody who presses Ctrl-C."""

    def __init__(self, epoch, step):
        self.when = epoch, step

    def step(self, epoch, step, _):
        if (epoch, step) == self.when:
            raise KeyboardInterrupt

    def epoch(self, row):
        pass


KEYS = {"method", "variant", "dataset", "split", "fold", "seed", "epochs", "best_epoch", "seconds", "metrics"}


def bits_of(folder):
    """All that must not change between two runs that are the same."""
    history = pd.read_csv(folder / "history.csv").drop(columns="seconds").to_csv()
    predictions = pd.read_parquet(folder / "predictions.parquet").to_json()
    return (folder / "model.safetensors").read_bytes(), history, predictions


def test_a_run_leaves_the_files_and_the_record_that_others_rely_on(finished):
    folder, result = finished
    assert {path.name for path in folder.iterdir()} == RUN_FILES
    assert json.loads((folder / "result.json").read_text()) == result
    assert result.keys() >= KEYS
    assert (result["method"], result["dataset"], result["epochs"], result["seed"]) == ("elb", "planted", 3, 0)
    assert result["sizes"] == {"train": 60, "valid": 20, "test": 21}
    assert result["data"] == {"items": 101, "groups": None, "group_column": None, "left_out": 0}
    assert (result["decision"], result["weights"]) == ("mode", None)
    assert result["network"] == {"backbone": "mlp", "pooling": NetworkSettings().pooling}
    assert result["seconds"] > 0
    for part in ("valid", "test"):
        assert result["metrics"][part].keys() == set(DEFAULT_NAMES)
    history = pd.read_csv(folder / "history.csv")
    assert history["epoch"].tolist() == [0, 1, 2]
    assert {"lr", "train_loss", "valid_loss", "valid_mae", "valid_soi_predicted"} <= set(history.columns)
    assert history["seconds"].sum() == pytest.approx(result["seconds"], abs=1e-3)


def test_a_run_ends_with_the_figures_and_the_calibration_of_the_posteriors_it_kept(finished, split, table):
    folder, result = finished
    parts, labels_of = {}, table.manifest.labels
    for name, frame in pd.read_parquet(folder / "predictions.parquet").groupby("part"):
        log_probs = torch.from_numpy(np.stack(frame["log_probs"]))
        labels, predicted = (torch.tensor(frame[column].tolist()) for column in ("label", "predicted"))
        assert frame["item"].tolist() == split.parts[name].tolist()
        assert labels.tolist() == labels_of[split.parts[name]].tolist()
        parts[name] = Predictions(
            items=frame["item"].to_numpy(), truth=labels, predicted_index=predicted, log_probs=log_probs
        )
    calibration = calibration_of(parts["valid"])
    assert load_description(folder).calibration == calibration
    assert result["calibration"] == {
        "temperature": calibration.temperature,
        **({} if calibration.note is None else {"note": calibration.note}),
        "test": calibrated_figures(calibration, parts["test"]),
    }
    for name, part in parts.items():
        assert result["metrics"][name] == measure(part)  # of posteriors as they come
        assert torch.allclose(part.log_probs.exp().sum(dim=-1), torch.ones(len(part)))
    errors = [np.abs(labels_of[split.valid] - answer).mean() for answer in range(4)]
    assert result["constant"] == {
        "label": CLASSES[np.argmin(errors)],
        "valid_mae": pytest.approx(min(errors)),
        "test_mae": pytest.approx(np.abs(labels_of[split.test] - np.argmin(errors)).mean()),
    }


def test_a_run_knows_its_groups_and_whether_its_posteriors_are_off_by_class(tmp_path, fabric):
    manifest = planted_images(300)
    rng = np.random.default_rng(0)
    rare = np.where(rng.random(300) < 0.9, 0, manifest.labels)  # balanced, they are said to be frequent
    manifest = replace(manifest, labels=rare, groups=tuple(str(number // 2) for number in range(300)))
    split = Split(train=np.arange(0, 100), valid=np.arange(100, 200), test=np.arange(200, 300), protocol="mine")
    recipe = replace(RECIPE, class_weight="balanced", epochs=1, lr=1e-6)
    settings = replace(settings_of("ce", recipe), network=NetworkSettings(backbone="small"))
    result = train_run(settings, prepare(manifest, recipe), split, tmp_path / "run", fabric=fabric)
    assert result["num_groups"] == {"train": 50, "valid": 50, "test": 50}
    gap = result["frequency_gap"]
    assert gap["label"] == CLASSES[0]
    assert gap["share"] == np.mean(rare[split.valid] == 0)
    rows = pd.read_parquet(tmp_path / "run" / "predictions.parquet").query("part == 'valid'")
    scores = np.stack(rows["log_probs"]) / result["calibration"]["temperature"]
    assert gap["probability"] == pytest.approx(np.mean(np.exp(scores[:, 0]) / np.exp(scores).sum(axis=1)), abs=1e-5)


@pytest.mark.parametrize("method", ["elb", "po"])  # po has weights of its own
def test_a_finished_folder_loads_and_predicts_as_the_run_did(trained, table, split, fabric, method):
    folder, _ = trained(method=method, class_weight=WEIGHTS)
    description = load_description(folder)
    assert (description.classes, description.method, description.class_weight) == (CLASSES, method, WEIGHTS)
    assert description.table is not None
    feed, _ = table.feed(split, RECIPE, torch.device("cpu"))
    network = load_network(folder, description)
    labels = torch.from_numpy(table.manifest.labels)
    found = predict(network, feed, split.test, labels, fabric=fabric, batch_size=RECIPE.evaluation_batch_size)
    kept = pd.read_parquet(folder / "predictions.parquet").query("part == 'test'")
    assert found.log_probs.tolist() == [row.tolist() for row in kept["log_probs"]]
    assert found.predicted_index.tolist() == kept["predicted"].tolist()


def test_the_same_seed_gives_the_same_bits_and_another_seed_others(trained):
    first = bits_of(trained("first", dropout=0.2, seed=3)[0])
    torch.manual_seed(99)  # what others do with the global generators must not matter
    assert bits_of(trained("second", dropout=0.2, seed=3)[0]) == first
    assert bits_of(trained("third", dropout=0.2, seed=4, epochs=1)[0])[0] != first[0]


def test_a_run_leaves_the_global_generators_and_switches_as_they_were(trained):
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    trained(dropout=0.2, epochs=1)
    assert torch.equal(torch.rand(3), expected)
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_run_that_is_over_frees_its_network_without_the_garbage_collector(trained, monkeypatch):
    networks = []

    def making(*args, **given):
        network = make_network(*args, **given)
        networks.append(weakref.ref(network))
        return network

    monkeypatch.setattr("onepeak.training.run.make_network", making)
    gc.disable()
    try:
        trained("freed", epochs=1)
        assert [each() for each in networks] == [None]
    finally:
        gc.enable()


def test_a_run_that_stopped_goes_on_and_ends_in_the_same_bits(trained, tmp_path):
    whole = bits_of(trained("whole", epochs=6, dropout=0.2, ema=0.9)[0])

    with pytest.raises(KeyboardInterrupt):
        trained("stopped", epochs=6, dropout=0.2, ema=0.9, watches=(Stop(3, 2),))
    assert {path.name for path in (tmp_path / "stopped").iterdir()} == {"checkpoint.pt", "history.csv"}
    assert pd.read_csv(tmp_path / "stopped" / "history.csv")["epoch"].tolist() == [0, 1, 2]
    with pytest.raises(KeyboardInterrupt):  # what is done is not done again
        trained("stopped", epochs=6, dropout=0.2, ema=0.9, watches=(Stop(0, 1), Stop(2, 1), Stop(4, 1)))
    assert bits_of(trained("stopped", epochs=6, dropout=0.2, ema=0.9)[0]) == whole


@pytest.mark.bad_input
@pytest.mark.parametrize(("batch_size", "what", "step"), [(20, "loss", 1), (60, "validation loss", 0)])
def test_training_that_runs_away_names_epoch_step_and_cause_and_writes_nothing(
    trained, tmp_path, batch_size, what, step
):
    message = rf"The {what} is not a number at epoch 0, step {step}\. Probably the learning rate of 1e\+30 is too high"
    with pytest.raises(DivergedError, match=message):  # with one step an epoch there is no later loss to tell
        trained(optimizer="sgd", lr=1e30, schedule="constant", warmup_epochs=0, batch_size=batch_size)
    assert not list((tmp_path / "run").iterdir())


def test_images_train_and_the_number_of_decoding_workers_changes_nothing(tmp_path, fabric):
    items, _ = write_images(tmp_path / "pictures", [(16, 16)] * 30)
    manifest = replace(planted_images(30), items=items)
    settings = RunSettings(method="elb", network=NetworkSettings(backbone="small"), recipe=replace(RECIPE, epochs=2))
    runs = []
    for workers in (1, 2):
        store = build_store(items, cache_dir=tmp_path / f"cache{workers}", workers=workers, progress=False)
        prepared = Prepared(manifest=manifest, store=store, digests=store.digests)
        train_run(settings, prepared, split_of(30), tmp_path / f"run{workers}", fabric=fabric)
        runs.append(bits_of(tmp_path / f"run{workers}"))
    assert runs[0] == runs[1]
    assert pd.read_parquet(tmp_path / "run1" / "predictions.parquet")["path"].iloc[0] == f"{split_of(30).valid[0]}.png"
    assert load_description(tmp_path / "run1").resize == RECIPE.resize


def test_a_run_keeps_what_the_images_of_its_training_part_are_like(finished):
    run = image_run()
    assert load_description(run.folder).image_range == ImageRange.learn(run.prepared.store, run.split.train)
    everything = ImageRange.learn(run.prepared.store, np.arange(60))
    assert load_description(run.folder).image_range.ends != everything.ends
    folder, _ = finished
    assert load_description(folder).image_range is None  # a table


def test_half_precision_trains_on_a_cpu(tmp_path, table, split, trained):
    settings = settings_of(recipe=replace(RECIPE, epochs=8, lr=0.03))
    fabric = make_fabric(device="cpu", precision="bf16")
    result = train_run(settings, table, split, tmp_path / "bf16", fabric=fabric)
    assert result["metrics"]["test"]["mae"] < 0.5
    full, _ = trained("fp32", epochs=8, lr=0.03)
    assert (full / "model.safetensors").read_bytes() != (tmp_path / "bf16" / "model.safetensors").read_bytes()
    network = load_network(tmp_path / "bf16", load_description(tmp_path / "bf16"))
    assert {tensor.dtype for tensor in network.parameters()} == {torch.float32}


def test_balanced_classes_are_those_of_the_training_part_and_are_in_the_records(trained, finished, table, split):
    folder, result = trained(class_weight="balanced")
    counts = np.bincount(table.manifest.labels[split.train])
    assert result["class_weight"] == pytest.approx(len(split.train) / (len(CLASSES) * counts))
    assert json.loads((folder / "result.json").read_text())["class_weight"] == list(result["class_weight"])
    assert load_description(folder).class_weight == result["class_weight"]
    assert bits_of(folder) == bits_of(trained("numbers", class_weight=result["class_weight"])[0])
    assert bits_of(folder) != bits_of(finished[0])


def test_whatever_decides_the_outcome_is_in_the_fingerprint(table, split, fabric, tmp_path):
    settings = settings_of()
    one = fingerprint(settings, table, split, fabric)
    assert fingerprint(settings_of(), table, split_of(101), fabric) == one
    weights = tmp_path / "weights"
    weights.write_bytes(b"first")
    started = replace(settings, weights=weights)
    others = [
        fingerprint(replace(settings, seed=1), table, split, fabric),
        fingerprint(replace(settings, method="ce"), table, split, fabric),
        fingerprint(replace(settings, recipe=replace(RECIPE, class_weight=WEIGHTS)), table, split, fabric),
        fingerprint(replace(settings, recipe=replace(RECIPE, momentum=0.8)), table, split, fabric),
        fingerprint(settings, table, replace(split, test=split.test[:-1]), fabric),
        fingerprint(settings, Prepared(manifest=table.manifest, store=None, digests=("other",)), split, fabric),
        fingerprint(settings, table, split, make_fabric(device="cpu", precision="bf16")),
        fingerprint(started, table, split, fabric),
    ]
    moved = tmp_path / "elsewhere"
    moved.write_bytes(b"first")  # where a file lies decides nothing
    assert fingerprint(replace(settings, weights=moved), table, split, fabric) == others[-1]
    weights.write_bytes(b"second")
    others.append(fingerprint(started, table, split, fabric))
    assert len({tuple(each.items()) for each in (one, *others)}) == 10


@pytest.mark.parametrize("num_kills", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_runs_killed_at_random_moments_end_in_the_same_bits(tmp_path, num_kills):
    kills = json.loads(output_of(Path(__file__).with_name("train_and_be_killed.py"), tmp_path, num_kills))
    # kills before the first checkpoint prove nothing about going on from one
    assert sum(kill["resumable"] for kill in kills) >= num_kills
    whole = tmp_path / "whole"
    metrics = json.loads((whole / "result.json").read_text())["metrics"]
    for run in {kill["run"] for kill in kills}:
        killed = tmp_path / run
        assert bits_of(killed) == bits_of(whole)
        assert json.loads((killed / "result.json").read_text())["metrics"] == metrics
        assert {path.name for path in killed.iterdir()} == RUN_FILES  # no halves of files are left behind
