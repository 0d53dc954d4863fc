import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from onepeak.data.manifest import ImageFiles
from onepeak.data.source import DataSource
from onepeak.data.splits.copies import item_digests
from onepeak.errors import InputError
from onepeak.experiment.results import read_predictions
from onepeak.metrics.catalog import DEFAULT_NAMES, NAMES
from onepeak.posterior.predictions import Predictions
from onepeak.serving import evaluate, load
from onepeak.serving.evaluation import _constant_notes, _coverage_notes
from onepeak.serving.evaluation_data import held_out, open_for
from onepeak.training.model_files import save_held_out_items
from trained_models import TABLE_CLASSES, changeable, image_run, table_run


@pytest.fixture
def folder(tmp_path):
    """The test part of the biopsies as files, a folder a class."""
    part = image_run().manifest.take(image_run().split.test)
    for number, (image, label) in enumerate(zip(part.items.pixels, part.labels, strict=True)):
        place = tmp_path / "scans" / part.classes[label]
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(place / f"{number:02}.png")
    return tmp_path / "scans"


def same(found, expected):
    assert set(found) == set(NAMES)
    assert set(expected) == set(DEFAULT_NAMES)  # what training measures
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-6, nan_ok=True)


def test_intervals_are_measured_class_by_class(table_model):
    run = table_run()
    found = evaluate(table_model, run.manifest.take(run.split.test))
    low, high = found.prediction.intervals.unbind(-1)
    for label, (coverage, size) in enumerate(found.intervals_by_class):
        mine = (found.labels == label).nonzero().flatten().tolist()
        inside = [low[item] <= label <= high[item] for item in mine]
        assert coverage == pytest.approx(sum(map(bool, inside)) / len(mine))
        assert size == pytest.approx(sum(int(high[item] - low[item]) + 1 for item in mine) / len(mine))
    by_items = np.average([coverage for coverage, _ in found.intervals_by_class], weights=found.class_counts)
    assert by_items == pytest.approx(found.calibrated["coverage"])
    only_low = run.manifest.take(run.split.test[run.manifest.labels[run.split.test] == 0])
    assert all(map(math.isnan, evaluate(table_model, only_low).intervals_by_class[2]))
    uncalibrated = replace(table_model.description, calibration=None)
    table_model.description = uncalibrated
    assert evaluate(table_model, only_low).intervals_by_class is None


def test_posteriors_that_are_off_by_class_are_told_with_the_likely_reason(table_model):
    run = table_run()
    told = "the mean probability of '"
    assert not any(note.startswith(told) for note in evaluate(table_model, run.manifest).notes)
    high = run.manifest.take(np.resize(np.flatnonzero(run.manifest.labels > 0), 200))
    (other,) = [note for note in evaluate(table_model, high).notes if note.startswith(told)]
    assert "these data may have other class frequencies than the training data" in other
    grouped = replace(high, groups=tuple(str(place % 20) for place in range(200)))
    assert not any(note.startswith(told) for note in evaluate(table_model, grouped).notes)
    balanced = replace(table_model.description, balanced=True)
    table_model.description = balanced
    (weighted,) = [note for note in evaluate(table_model, high).notes if note.startswith(told)]
    assert "after class weights or balanced sampling" in weighted


def test_items_that_were_trained_on_are_counted(model, table_model):
    for known, run in ((model, image_run()), (table_model, table_run())):
        for part in (run.split.train, run.split.valid, run.split.test):
            digests = [run.prepared.digests[item] for item in part]
            trained = {run.prepared.digests[item] for item in run.split.train}
            expected = [digest in trained for digest in digests]  # rows of a table may be alike by chance
            found = evaluate(known, run.manifest.take(part))
            assert found.trained_on.tolist() == expected
            assert found.num_trained_on == sum(expected)
    assert sum(expected) < len(part)


def test_images_that_cannot_be_read_are_left_out_and_named(model, folder):
    size = image_run().recipe.evaluation_batch_size
    whole = evaluate(model, open_for(model, DataSource(folder)), batch_size=size)
    same(whole.metrics, image_run().result["metrics"]["test"])
    assert whole.prediction.source_name == "path"
    (folder / "g1" / "bad.png").write_bytes(b"")
    with pytest.raises(InputError, match=r"1 of 16 images cannot be read:\n .*bad\.png: the file is empty"):
        evaluate(model, open_for(model, DataSource(folder)))
    found = evaluate(model, open_for(model, DataSource(folder)), skip_bad=True)
    assert [row.source for row in found.failed] == [str(folder / "g1" / "bad.png")]
    assert len(found.labels) == len(found.prediction) == len(whole.labels)
    assert math.isclose(found.metrics["mae"], whole.metrics["mae"])
    for path in folder.rglob("*.png"):
        path.write_bytes(b"")
    with pytest.raises(InputError, match=r"16 of 16 images cannot be read:\n"):
        evaluate(model, open_for(model, DataSource(folder)), skip_bad=True)


def test_integer_classes_may_be_fewer_than_the_models(table_model, tmp_path):
    """The rest of the labels keep the positions that the model gives them."""
    numbered = replace(table_model.description, classes=("1", "2", "3"))
    table_model.description = numbered
    (tmp_path / "some.csv").write_text("size,tone,label\n0.1,1,2\n2.0,dark,3\n1.0,2,3\n")
    found = evaluate(table_model, open_for(table_model, DataSource(tmp_path / "some.csv")))
    assert found.class_counts == (0, 1, 2)
    assert "1 class of the order without a sample: 1" in found.notes
    declared = evaluate(table_model, open_for(table_model, DataSource(tmp_path / "some.csv", order="2,3")))
    assert declared.class_counts == (0, 1, 2)
    assert "the data has 2 of the model's 3 classes" in declared.notes


@pytest.mark.bad_input
def test_classes_of_another_name_or_order_are_refused(model, folder, tmp_path):
    (folder / "classes.txt").write_text("\n".join(reversed(model.classes)))
    with pytest.raises(InputError, match=r"the model has g1 < g2 .* < g8, the data g8 < g7 .* < g1\."):
        evaluate(model, open_for(model, DataSource(folder)))
    (folder / "classes.txt").unlink()
    min(folder.iterdir()).rename(folder / "g0")
    with pytest.raises(InputError, match=r"^`order` must name every label .*'g0'.* is the model's"):
        open_for(model, DataSource(folder))
    with pytest.raises(InputError, match="There is no file or folder"):
        open_for(model, DataSource(tmp_path / "nothing"))
    numbers = replace(image_run().manifest, classes=tuple("12345678"))
    with pytest.raises(InputError, match="the data 1 < 2 < 3 < 4 < 5 < 6 < 7 < 8"):
        evaluate(model, numbers)


def test_another_decision_changes_the_labels_and_projection_the_posteriors(model):
    run = image_run()
    part = run.manifest.take(run.split.test)
    plain = evaluate(model, part, batch_size=run.recipe.evaluation_batch_size)
    assert plain.calibrated == pytest.approx(run.result["calibration"]["test"], abs=1e-6)
    assert plain.paradoxical == plain.prediction.paradoxical.double().mean()
    assert (plain.prediction.log_probs == model.predict(part.items.pixels).log_probs).all()
    other = evaluate(model, part, decide="mean", project=True, alpha=0.4)
    expected = model.predict(part.items.pixels, decide="mean", project=True)
    assert (other.prediction.predicted_index == expected.predicted_index).all()
    error = (expected.predicted_index - torch.from_numpy(part.labels)).abs().double().mean().item()
    assert other.metrics["mae"] == pytest.approx(error)
    assert other.metrics["unimodal"] == 1
    assert other.paradoxical == 0
    assert plain.metrics["unimodal"] < 1
    assert other.metrics["nll"] != other.calibrated["nll"]
    assert other.calibrated["alpha"] == 0.4
    costs = np.abs(np.subtract.outer(np.arange(8), np.arange(8))) ** 2
    least = evaluate(model, part, decide="cost", cost=costs)
    assert least.cost == pytest.approx(costs[part.labels, least.prediction.predicted_index].mean())
    assert plain.cost is None


def test_images_and_rows_unlike_the_training_are_told(model, table_model, folder, tmp_path):
    assert not any("unlike" in note for note in evaluate(model, open_for(model, DataSource(folder))).notes)
    black = folder / image_run().manifest.classes[0] / "black.png"
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(black)
    found = evaluate(model, open_for(model, DataSource(folder)))
    (note,) = [note for note in found.notes if note.startswith("unlike the training")]
    assert note.endswith(f": {black}")
    assert [row.source for row in found.prediction if row.unlike] == [str(black)]
    (tmp_path / "rows.csv").write_text("size,tone,grade\n0,1,low\n1,2,middle\n999,dark,high\n")
    data = open_for(table_model, DataSource(tmp_path / "rows.csv", order=TABLE_CLASSES, label="grade"))
    notes = evaluate(table_model, data).notes
    assert "unlike the training data, do not rely on such predictions: 1 of 3 rows, by size (1): row 4" in notes
    assert len(set(notes)) == len(notes)


RUNS = pytest.mark.parametrize("trained", [image_run, table_run])


@RUNS
@pytest.mark.parametrize("part", ["valid", "test"])
def test_the_part_has_the_metrics_that_training_wrote_down_in_any_order_and_among_copies(trained, part):
    run = trained()
    model = load(run.folder)
    held = held_out(run.manifest, model, run.folder, part)
    found = evaluate(model, held, batch_size=run.recipe.evaluation_batch_size)
    same(found.metrics, run.result["metrics"][part])
    assert found.class_counts == tuple(np.bincount(found.labels, minlength=len(model.classes)))
    assert found.failed == ()
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(len(run.manifest)), 2))
    again = held_out(run.manifest.take(order), model, run.folder, part)
    assert sorted(again.labels.tolist()) == sorted(held.labels.tolist())
    assert len(again) == len(run.split.parts[part])


def test_groups_of_the_part_that_were_trained_on_too_are_told_or_refused():
    run = image_run()
    model = load(run.folder)
    groups = np.array(["own"] * 60, dtype=object)
    groups[run.split.test[:3]] = groups[run.split.train[:3]] = ["a", "b", "c"]
    groups[run.split.test[3:]] = "new"
    grouped = replace(run.manifest, groups=tuple(groups))
    leak = "3 of the 4 groups of the test part also have samples in the training"
    assert any(leak in note for note in held_out(grouped, model, run.folder, "test").notes)
    with pytest.raises(InputError, match=leak):
        held_out(grouped, model, run.folder, "test", allow_leak=False)
    groups[run.split.train[:3]] = "own"
    assert not any(
        "also" in note for note in held_out(replace(grouped, groups=tuple(groups)), model, run.folder, "test").notes
    )


def test_what_is_done_is_in_the_notes():
    run = image_run()
    model = load(run.folder)
    some = run.manifest.take(np.setdiff1d(np.arange(60), run.split.test[:2]))
    whole, less = (held_out(data, model, run.folder, "test").notes for data in (run.manifest, some))
    assert "only the test part of the model's training: 15 of 60 samples" in whole
    assert "2 of the 15 samples of the test part are no longer in the data" in less
    assert not any("no longer" in note for note in whole)
    assert any("figures flatter it" in note for note in held_out(run.manifest, model, run.folder, "valid").notes)


def test_files_are_read_once_to_be_known_again(tmp_path):
    run = image_run()
    folder = changeable(run.folder, tmp_path / "model")
    names = tuple(f"{place}.png" for place in range(len(run.manifest)))
    for name, image in zip(names, run.manifest.items.pixels, strict=True):
        Image.fromarray(image).save(tmp_path / name)
    files = ImageFiles(root=tmp_path, paths=names)
    digests = item_digests(files)
    save_held_out_items(folder, [digests[item] for item in read_predictions(folder, columns=["item"])["item"]])
    found = held_out(replace(run.manifest, items=files), load(folder), folder, "test").items
    assert found == files.take(run.split.test)
    for name in names:  # nobody can read them again
        (tmp_path / name).unlink()
    assert item_digests(found) == tuple(digests[item] for item in run.split.test)


@pytest.mark.bad_input
def test_other_data_and_other_labels_have_nothing_of_the_part(tmp_path):
    run = table_run()
    model = load(run.folder)
    (tmp_path / "new.csv").write_text("size,tone,grade\n100,dark,low\n200,1,high\n")
    with pytest.raises(InputError, match=r"got data with none of the \d+ samples of its test part"):
        held_out(open_for(model, DataSource(tmp_path / "new.csv")), model, run.folder, "test")
    alone = DataSource(tmp_path / "new.csv", label="grade", order=run.manifest.classes).open()
    with pytest.raises(InputError, match="must have the columns and codes that the model was trained with, got others"):
        held_out(alone, model, run.folder, "test")
    turned = replace(run.manifest, labels=(run.manifest.labels + 1) % 3)
    with pytest.raises(InputError, match="got data with none of"):
        held_out(turned, model, run.folder, "test")


@pytest.mark.bad_input
def test_a_folder_that_does_not_say_what_was_held_out_is_told(tmp_path):
    run = table_run()
    folder = changeable(run.folder, tmp_path / "copy")
    model = load(folder)
    with pytest.raises(InputError, match=r"Unknown `part` 'train'\. Known: valid, test"):
        held_out(run.manifest, model, folder, "train")
    for name, message in (
        ("held_out_items.txt", r"without its own held_out_items\.txt: copy .* whole, or train again"),
        ("predictions.parquet", r"does not say without predictions\.parquet"),
    ):
        (folder / name).unlink()
        with pytest.raises(InputError, match=message):
            held_out(run.manifest, model, folder, "test")


def test_what_is_no_better_than_a_constant_answer_or_covers_too_little_is_told():
    labels = torch.tensor([0] * 60 + [1] * 40)
    log_probs = torch.tensor([[0.2, 0.7, 0.1]]).log().expand(100, 3)
    found = Predictions(
        predicted_index=torch.ones(100).long(),
        log_probs=log_probs,
        intervals=torch.tensor([[1, 2]]).expand(100, 2),
        alpha=0.1,
    )
    assert _constant_notes(found, labels, ("a", "b", "c")) == (
        "accuracy 0.400 is no better than always giving 'a', 0.600",
        "MAE 0.600 is no better than always giving 'a', 0.400",
    )
    for source_name, units in (("item", "samples"), ("group", "groups")):
        (note,) = _coverage_notes(replace(found, source_name=source_name), labels, None)
        assert note.startswith(f"intervals hold the true class in 40.0% of {units}, where 90.0% was asked")
    right = replace(found, predicted_index=labels, intervals=torch.stack([labels, labels], dim=-1))
    assert _constant_notes(right, labels, ("a", "b", "c")) == _coverage_notes(right, labels, None) == ()
    few = replace(found, intervals=torch.where(torch.arange(100)[:, None] < 14, found.intervals, right.intervals))
    assert _coverage_notes(few, labels, None) == ()
    assert _coverage_notes(replace(few, intervals=None), labels, None) == ()


@pytest.mark.parametrize("how", ["worst", "mean", "median"])
def test_figures_of_groups_are_those_of_one_prediction_each(table_model, how):
    run = table_run()
    groups = tuple(f"p{place // 4}" for place in range(len(run.manifest)))
    data = replace(run.manifest, groups=groups)
    found, samples = evaluate(table_model, data, combine=how, confidence=True), evaluate(table_model, data)
    expected = samples.prediction.combined(groups, how)
    assert found.prediction.sources == tuple(dict.fromkeys(groups)) == expected.sources
    assert torch.equal(found.prediction.predicted_index, expected.predicted_index)
    assert torch.equal(found.labels, expected.truth)
    error = (expected.predicted_index - expected.truth).abs().double().mean()
    assert found.metrics["mae"] == pytest.approx(float(error))
    assert len(found.trained_on) == sum(found.class_counts) == len(set(groups))
    assert (found.confidence.unit, found.confidence.num_units) == ("group", len(set(groups)))
    assert f"the {how} of 90 samples in 23 groups, figures are of groups" in found.notes
    assert any("intervals of groups join those of their samples" in note for note in found.notes)


def test_intervals_of_groups_are_calibrated_where_the_training_had_groups(table_model):
    run = table_run()
    groups = tuple(f"p{place // 2}" for place in range(len(run.manifest)))
    raw = evaluate(table_model, replace(run.manifest, groups=groups), combine="worst").prediction
    scores = tuple(np.linspace(0, 1, 45).tolist())
    own = replace(table_model.description.calibration, num_groups=45, group_scores={"worst": scores})
    table_model.description = replace(table_model.description, calibration=own)
    found = evaluate(table_model, replace(run.manifest, groups=groups), combine="worst")
    expected = own.group_intervals(found.prediction.log_probs, found.prediction.predicted_index, 0.1, "worst")
    assert torch.equal(found.prediction.intervals, expected)
    assert not torch.equal(found.prediction.intervals, raw.intervals)
    assert not any("join" in note for note in found.notes)


@pytest.mark.bad_input
def test_groups_that_cannot_be_measured_are_refused(table_model):
    manifest = table_run().manifest
    with pytest.raises(InputError, match="`combine` needs the group of every sample, got data without"):
        evaluate(table_model, manifest, combine="mean")
    with pytest.raises(InputError, match=r"Unknown `combine` 'best'\. Known: worst, mean, median"):
        evaluate(table_model, manifest, combine="best")
    with pytest.raises(InputError, match="`decide` has no effect if `combine` is 'mean'"):
        evaluate(table_model, manifest, combine="mean", decide="median")
