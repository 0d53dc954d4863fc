import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from onepeak.data.open import open_data
from onepeak.errors import InputError
from onepeak.metrics.catalog import DEFAULT_NAMES, NAMES
from onepeak.serving import evaluate
from onepeak.serving.opening import open_for
from trained_models import TABLE_CLASSES, picture_run, table_run


@pytest.fixture
def folder(tmp_path):
    """The test part of the biopsies as files, a folder a class."""
    part = picture_run().manifest.take(picture_run().split.test)
    for number, (picture, label) in enumerate(zip(part.items.pixels, part.labels, strict=True)):
        place = tmp_path / "scans" / part.classes[label]
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(place / f"{number:02}.png")
    return tmp_path / "scans"


def same(found, expected):
    assert set(found) == set(NAMES)
    assert set(expected) == set(DEFAULT_NAMES)  # what training measures
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-6, nan_ok=True)


def test_the_test_part_has_the_metrics_that_training_wrote_down(model):
    run = picture_run()
    part = run.manifest.take(run.split.test)
    found = evaluate(model, part, batch_size=run.recipe.evaluation_batch_size)
    same(found.metrics, run.result["metrics"]["test"])
    assert found.class_counts == tuple(np.bincount(part.labels, minlength=8))
    assert found.failed == ()


def test_a_table_has_the_metrics_that_training_wrote_down(table_model):
    run = table_run()
    found = evaluate(table_model, run.manifest.take(run.split.test))
    same(found.metrics, run.result["metrics"]["test"])


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


def test_a_folder_needs_no_order_for_the_model_has_it(model, folder):
    data = open_for(model, folder)
    found = evaluate(model, data, batch_size=picture_run().recipe.evaluation_batch_size)
    assert data.classes == model.classes
    same(found.metrics, picture_run().result["metrics"]["test"])
    assert found.prediction.source_name == "path"


def test_items_that_were_trained_on_are_counted(model, table_model):
    for known, run in ((model, picture_run()), (table_model, table_run())):
        for part in (run.split.train, run.split.valid, run.split.test):
            digests = [run.prepared.digests[item] for item in part]
            trained = {run.prepared.digests[item] for item in run.split.train}
            expected = [digest in trained for digest in digests]  # rows of a table may be alike by chance
            found = evaluate(known, run.manifest.take(part))
            assert found.trained_on.tolist() == expected
            assert found.num_trained_on == sum(expected)
    assert sum(expected) < len(part)


def test_a_model_that_does_not_know_its_items_counts_none(model):
    model.trained_items = frozenset()
    assert not evaluate(model, picture_run().manifest).trained_on.any()


def test_pictures_that_cannot_be_read_are_left_out_and_named(model, folder):
    whole = evaluate(model, open_for(model, folder))
    (folder / "g1" / "bad.png").write_bytes(b"")
    with pytest.raises(InputError, match=r"1 of 16 images cannot be read:\n .*bad\.png: the file is empty"):
        evaluate(model, open_for(model, folder))
    found = evaluate(model, open_for(model, folder), skip_bad=True)
    assert [row.source for row in found.failed] == [str(folder / "g1" / "bad.png")]
    assert len(found.labels) == len(found.prediction) == len(whole.labels)
    assert math.isclose(found.metrics["mae"], whole.metrics["mae"])


def test_integer_classes_may_be_fewer_than_the_models(table_model, tmp_path):
    """The rest of the labels keep the positions that the model gives them."""
    numbered = replace(table_model.description, classes=("1", "2", "3"))
    table_model.description = numbered
    (tmp_path / "some.csv").write_text("size,tone,label\n0.1,1,2\n2.0,dark,3\n1.0,2,3\n")
    found = evaluate(table_model, open_for(table_model, tmp_path / "some.csv"))
    assert found.class_counts == (0, 1, 2)
    assert "1 class of the order without an item: 1" in found.notes
    declared = evaluate(table_model, open_for(table_model, tmp_path / "some.csv", order="2,3"))
    assert declared.class_counts == (0, 1, 2)
    assert "the data has 2 of the model's 3 classes" in declared.notes


def test_codes_of_the_data_are_turned_into_those_of_the_model(table_model, tmp_path):
    """In this file there are other names, in another order, and by themselves they are numbers."""
    (tmp_path / "some.csv").write_text("tone,size,label\n2,0.1,low\n1,2.0,high\n2,1.0,middle\n")
    found = evaluate(table_model, open_for(table_model, tmp_path / "some.csv"))
    expected = table_model.predict({"size": [0.1, 2.0, 1.0], "tone": ["2", "1", "2"]})
    assert (found.prediction.log_probs == expected.log_probs).all()
    (tmp_path / "some.csv").write_text("tone,size,label\npale,0.1,low\ndark,2.0,high\n,1.0,middle\n")
    found = evaluate(table_model, open_for(table_model, tmp_path / "some.csv"))
    expected = table_model.predict({"size": [0.1, 2.0, 1.0], "tone": [None, "dark", None]})
    assert (found.prediction.log_probs == expected.log_probs).all()
    assert "1 name of the column 'tone' not seen in training, taken as missing: pale" in found.notes


@pytest.mark.bad_input
def test_classes_of_another_name_or_order_are_refused(model, folder, tmp_path):
    (folder / "classes.txt").write_text("\n".join(reversed(model.classes)))
    with pytest.raises(InputError, match=r"the model has g1 < g2 .* < g8, the data g8 < g7 .* < g1\."):
        evaluate(model, open_for(model, folder))
    (folder / "classes.txt").unlink()
    min(folder.iterdir()).rename(folder / "g0")
    with pytest.raises(InputError, match=r"^`order` \(the model's, as none was given\) must name every label .*'g0'"):
        open_for(model, folder)
    with pytest.raises(InputError, match="There is no file or folder"):
        open_for(model, tmp_path / "nothing")
    numbers = replace(picture_run().manifest, classes=tuple("12345678"))
    with pytest.raises(InputError, match="the data 1 < 2 < 3 < 4 < 5 < 6 < 7 < 8"):
        evaluate(model, numbers)


@pytest.mark.bad_input
def test_pictures_for_a_table_model_and_rows_for_a_picture_model_are_refused(model, table_model):
    pictures = replace(picture_run().manifest, classes=tuple("abcdefgh"))
    table_model.description = replace(table_model.description, classes=tuple("abcdefgh"))
    with pytest.raises(InputError, match="must be rows of a table, as the model was trained on, got images"):
        evaluate(table_model, pictures)
    model.description = replace(model.description, classes=TABLE_CLASSES)
    with pytest.raises(InputError, match="must be images, as the model was trained on, got rows of a table"):
        evaluate(model, table_run().manifest)


@pytest.mark.bad_input
def test_columns_that_are_missing_or_of_another_kind_are_refused(table_model, tmp_path):
    (tmp_path / "some.csv").write_text("size,label\n0.1,low\n2.0,high\n")
    with pytest.raises(InputError, match="must have the columns size, tone, it lacks tone"):
        evaluate(table_model, open_for(table_model, tmp_path / "some.csv"))
    (tmp_path / "some.csv").write_text("size,tone,label\nbig,1,low\nsmall,2,high\n")
    with pytest.raises(
        InputError, match=r"column 'size' must be finite numbers .*: 'big' \(row 2\), 'small' \(row 3\)"
    ):
        evaluate(table_model, open_for(table_model, tmp_path / "some.csv"))


@pytest.mark.bad_input
def test_rows_that_were_not_read_for_the_model_are_refused(table_model, tmp_path):
    """By themselves these tones are numbers: they would be taken for codes."""
    (tmp_path / "some.csv").write_text("size,tone,label\n0.1,2,low\n2.0,1,high\n")
    data = open_data(tmp_path / "some.csv", order=TABLE_CLASSES)
    with pytest.raises(InputError, match=r"must have the columns and codes .* got others: .*open_for\(model, file\)"):
        evaluate(table_model, data)


@pytest.mark.bad_input
def test_data_without_one_good_picture_is_refused(model, tmp_path):
    for name in ("g1/a.png", "g2/b.png"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=r"2 of 2 images cannot be read:\n .*a.png: the file is empty"):
        evaluate(model, open_for(model, tmp_path), skip_bad=True)


def test_what_predict_shows_is_measured_too(model):
    run = picture_run()
    part = run.manifest.take(run.split.test)
    found = evaluate(model, part, batch_size=run.recipe.evaluation_batch_size)
    assert found.calibrated == pytest.approx(run.result["calibration"]["test"], abs=1e-6)
    assert found.paradoxical == found.prediction.paradoxical.double().mean()
    assert (found.prediction.log_probs == model.predict(part.items.pixels).log_probs).all()


def test_another_decision_changes_the_labels_and_projection_the_posteriors(model):
    run = picture_run()
    part = run.manifest.take(run.split.test)
    plain, other = evaluate(model, part), evaluate(model, part, decide="mean", project=True, alpha=0.4)
    expected = model.predict(part.items.pixels, decide="mean", project=True)
    assert (other.prediction.labels == expected.labels).all()
    error = (expected.labels - torch.from_numpy(part.labels)).abs().double().mean().item()
    assert other.metrics["mae"] == pytest.approx(error)
    assert other.metrics["unimodal"] == 1
    assert other.paradoxical == 0
    assert plain.metrics["unimodal"] < 1
    assert other.metrics["nll"] != other.calibrated["nll"]
    assert other.calibrated["alpha"] == 0.4


def test_projected_at_the_methods_own_labels_every_pair_is_in_order(model):
    part = picture_run().manifest.take(picture_run().split.test)
    plain, found = evaluate(model, part), evaluate(model, part, project=True)
    assert found.metrics["soi_predicted"] == found.metrics["unimodal"] == 1
    assert found.metrics["mae"] == plain.metrics["mae"]
    assert (found.prediction.soi == 1).all()


def test_with_costs_the_mean_cost_is_measured(table_model):
    part, costs = table_run().manifest.take(table_run().split.test), np.array([[0, 1, 1], [5, 0, 1], [10, 5, 0]])
    found = evaluate(table_model, part, decide="cost", cost=costs)
    expected = np.mean([costs[true, said] for true, said in zip(part.labels, found.prediction.labels, strict=True)])
    assert found.cost == pytest.approx(expected)
    assert evaluate(table_model, part).cost is None


@pytest.mark.bad_input
def test_a_decision_nobody_knows_is_refused_before_the_work(model):
    with pytest.raises(InputError, match="Unknown `decide` 'maximum'"):
        evaluate(model, picture_run().manifest, decide="maximum")


def test_pictures_and_rows_unlike_the_training_are_told(model, table_model, folder, tmp_path):
    assert not any("unlike" in note for note in evaluate(model, open_for(model, folder)).notes)
    black = folder / picture_run().manifest.classes[0] / "black.png"
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(black)
    found = evaluate(model, open_for(model, folder))
    (note,) = [note for note in found.notes if note.startswith("unlike the training")]
    assert note.endswith(f": {black}")
    assert [row.source for row in found.prediction if row.unlike] == [str(black)]
    (tmp_path / "rows.csv").write_text("size,tone,grade\n0,1,low\n1,2,middle\n999,dark,high\n")
    data = open_for(table_model, tmp_path / "rows.csv", order=TABLE_CLASSES, label="grade")
    notes = evaluate(table_model, data).notes
    assert "unlike the training, so that answers may mean nothing: 1 of 3 rows, by size (1): row 4" in notes
    assert len(set(notes)) == len(notes)
