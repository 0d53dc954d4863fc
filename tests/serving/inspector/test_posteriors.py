import csv
import io
import math
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from onepeak.data.datasets.biopsies import biopsies
from onepeak.errors import InputError
from onepeak.experiment.results import read_predictions
from onepeak.posterior.predictions import Predictions
from onepeak.report.source import Source
from onepeak.serving.inspector import open_inspection
from onepeak.serving.inspector.inspection import Filter
from onepeak.serving.inspector.posteriors import PAGE_SIZE, answer, label_view
from onepeak.serving.inspector.samples import RunPredictions
from onepeak.training.calibration import Calibration
from report.whole_runs import write_whole_comparison
from serving.inspector.tiny_comparison import EVIDENCE_RANGE, write_tiny_comparison


def read(*probs, predicted, calibration=None, calibrated=False):
    """The record of one posterior."""
    found = Predictions(predicted_index=torch.tensor([predicted]), log_probs=torch.tensor([probs]).log())
    return answer(RunPredictions(predictions=found, calibrated=calibrated), 0, calibration)


def test_a_posterior_worked_by_hand():
    found = read(0.125, 0.0, 0.5, 0.125, 0.25, predicted=2)
    assert found.log_probs == pytest.approx([math.log(0.125), None, math.log(0.5), math.log(0.125), math.log(0.25)])
    assert (found.soi, found.unimodal, found.paradoxical, found.interval) == (0.5, False, True, None)


def test_the_action_is_that_of_the_interval_or_to_ask_as_was_chosen():
    probs, actions = torch.tensor([[0.1, 0.5, 0.4], [0.1, 0.5, 0.4], [0.1, 0.5, 0.4]]), ("wait", "look", "operate")
    found = Predictions(
        predicted_index=torch.tensor([1, 1, 1]),
        log_probs=probs.log(),
        distance=torch.tensor([0.4, 1.2, 0.4]),
        refer=(None, None, "may be high"),
    )
    calibration = Calibration(temperature=1.0, num_samples=20, scores=(0.9,) * 20)
    runs = RunPredictions(predictions=found, calibrated=True)
    usual, far, referred = (answer(runs, place, calibration, actions) for place in range(3))
    assert (usual.interval, usual.action, usual.unlike) == ((1, 2), "operate", None)
    assert (far.action, far.unlike) == ("ask a person", ("features",))
    assert (referred.action, referred.refer) == ("ask a person", "may be high")
    assert answer(runs, 0, calibration, actions, "lowest").action == "look"
    assert answer(runs, 0, calibration, actions, "ask").action == "ask a person"


def test_the_nearest_posterior_has_one_peak_and_is_the_same_where_there_was_one():
    bumpy = read(0.3, 0.1, 0.4, 0.2, predicted=2)
    assert all(np.diff(bumpy.projected)[:2] >= 0)
    assert bumpy.projected[3] < bumpy.projected[2]
    assert sum(bumpy.projected) == pytest.approx(1, abs=1e-4)
    assert read(0.1, 0.2, 0.4, 0.3, predicted=2).projected == pytest.approx([0.1, 0.2, 0.4, 0.3], abs=1e-5)


def test_the_interval_is_that_of_the_calibration():
    calibration = Calibration(temperature=1.0, num_samples=9, scores=(0.0,) * 5 + (1.0,) * 4)
    found = read(0.1, 0.6, 0.2, 0.1, predicted=1, calibration=calibration)
    assert (found.interval, found.raw) == ((1, 2), False)
    few = Calibration(temperature=1.0, num_samples=3, scores=(0.0, 0.1, 0.2))
    assert read(0.1, 0.6, 0.2, 0.1, predicted=1, calibration=few).interval is None


def test_a_posterior_that_is_calibrated_already_keeps_its_interval_and_is_not_raw():
    calibration = Calibration(temperature=2.0, num_samples=9, scores=(0.0,) * 5 + (0.3,) * 4)
    probs = (0.1, 0.6, 0.2, 0.1)
    tempered = calibration.temper(torch.tensor([probs]).log())[0].exp().tolist()
    raw = read(*probs, predicted=1, calibration=calibration)
    shown = read(*tempered, predicted=1, calibration=calibration, calibrated=True)
    assert shown.interval == raw.interval
    assert (raw.raw, shown.raw, read(*probs, predicted=1).raw) == (True, False, False)


CE = Filter(method="ce")


@pytest.fixture(scope="module")
def posteriors(compared):
    return open_inspection(compared).posteriors


def test_a_page_holds_what_the_runs_said(posteriors, compared):
    page = posteriors.page(CE, 1)
    kept = read_predictions(compared / "runs" / "ce" / "split0-fold0", part="test")
    assert (page.kind, page.total, page.num_pages, len(page.entries)) == ("pictures", 50, 1, 50)
    for entry, item, path, label, log_probs in zip(
        page.entries, kept["item"], kept["path"], kept["label"], kept["log_probs"], strict=False
    ):
        assert (entry.part, entry.item, entry.name, entry.truth) == ("0-0", item, path, label)
        assert entry.log_probs == log_probs.tolist()  # to the last bit, so that ties stay ties


def test_pages_follow_each_other_without_a_gap_and_end(tmp_path):
    write_whole_comparison(tmp_path, {"ce": 1.0}, splits=1, num_test=PAGE_SIZE + 5)
    posteriors = open_inspection(tmp_path).posteriors
    first, second, beyond = (posteriors.page(CE, number) for number in (1, 2, 99))
    assert [entry.item for entry in first.entries + second.entries] == list(range(PAGE_SIZE + 5))
    assert beyond == second
    assert (first.kind, first.num_pages) == ("nothing", 2)
    assert "config.toml" in first.reason


def test_one_sample_has_the_answer_of_every_method_and_all_its_parts(posteriors):
    sample = posteriors.sample("0-0", 40, CE)
    assert [each.row for each in sample.answers] == ["ce", "elb"]
    assert [each.no_evidence for each in sample.answers] == ["", ""]
    assert [each.evidence_range for each in sample.answers] == [EVIDENCE_RANGE, EVIDENCE_RANGE]
    assert sample.parts == ("0-0", "1-0")
    assert sample.truth == biopsies(60, size=32).labels[40]
    assert sample.name.endswith("040.png")
    assert sample.answers[0].answer.interval is not None


def test_neighbours_are_those_of_the_list_the_user_came_from(posteriors):
    wanted = Filter(method="elb", sort="sure")
    order = [(entry.part, entry.item) for entry in posteriors.page(wanted, 1).entries]
    for place, (part, item) in enumerate(order):
        around = posteriors.sample(part, item, wanted).surroundings
        assert (around.position, around.total) == (place + 1, 50)
        before, after = (None if each is None else tuple(each.values()) for each in (around.previous, around.next))
        assert before == (order[place - 1] if place else None)
        assert after == (order[place + 1] if place + 1 < len(order) else None)
    around = posteriors.sample("0-0", 20, Filter(method="ce", search="nothing")).surroundings
    assert (around.position, around.total, around.previous, around.next) == (None, 0, None, None)


def test_the_predictions_of_another_method_stand_beside(posteriors):
    entries = {(each.part, each.item): each for each in posteriors.page(Filter(method="elb"), 1).entries}
    for entry in posteriors.page(Filter(method="ce", other="elb"), 1).entries:
        beside = entries[entry.part, entry.item]
        assert entry.other == beside.predicted
        assert entry.other_probs == pytest.approx(np.exp(beside.log_probs), abs=1e-5)
    assert posteriors.page(CE, 1).entries[0].other is None
    beaten = posteriors.page(Filter(method="ce", other="elb", beaten=True), 1).entries
    assert all(entry.predicted != entry.truth == entry.other for entry in beaten)


def test_intervals_have_the_width_that_each_sample_shows(posteriors):
    wide = posteriors.page(Filter(method="ce", min_width=5), 1).entries
    shown = {(each.part, each.item) for each in wide}
    for entry in posteriors.page(CE, 1).entries:
        low, high = posteriors.sample(entry.part, entry.item, CE).answers[0].answer.interval
        assert ((entry.part, entry.item) in shown) == (high - low + 1 >= 5)


def test_a_map_places_every_sample_of_a_part_and_marks_what_the_filters_find(posteriors):
    found = posteriors.map(CE)
    assert (found.part, found.total) == ("0-0", 25)
    entries = {(each.part, each.item): each for each in posteriors.page(CE, 1).entries}
    for mark, name in (("doubtful", "doubtful"), ("twin", "twins")):
        shown = posteriors.page(replace(CE, part="0-0", **{name: True}), 1).entries
        marked = [item for item, here in zip(found.columns["item"], found.columns[mark], strict=True) if here]
        assert marked == [each.item for each in shown]
    assert [each.item for each in shown] == [30, 31]  # whose coordinates coincide
    assert found.columns["distance"] == [
        pytest.approx(entries["0-0", item].distance, abs=0.01) for item in range(20, 45)
    ]
    far = posteriors.page(replace(CE, min_distance=1.0, sort="distance"), 1).entries
    assert [each.distance for each in far] == sorted((each.distance for each in far), reverse=True)
    assert 0 < len(far) == sum(each.distance >= 1 for each in entries.values())


def test_a_method_without_a_run_on_a_part_or_coordinates_has_no_map_of_it(tmp_path):
    folder = write_tiny_comparison(tmp_path)
    shutil.rmtree(folder / "runs" / "elb" / "split1-fold0")  # it failed
    found = open_inspection(folder).posteriors.map(Filter(method="elb", part="1-0"))
    assert (found.part, found.total, found.columns) == ("1-0", 0, {})
    write_whole_comparison(tmp_path / "earlier", {"ce": 1.0}, splits=1)
    posteriors = open_inspection(tmp_path / "earlier").posteriors
    assert posteriors.map(CE).columns == {}
    assert posteriors.page(replace(CE, min_distance=0.1), 1).total == 0


def test_the_confusion_matrix_counts_every_prediction_once(posteriors):
    counts = np.array(posteriors.confusion("ce", None))
    entries = posteriors.page(CE, 1).entries
    assert counts.sum() == len(entries)
    assert counts[3, 4] == sum((entry.truth, entry.predicted) == (3, 4) for entry in entries)
    assert np.array_equal(counts, sum(np.array(posteriors.confusion("ce", part)) for part in ("0-0", "1-0")))
    assert [posteriors.label(label, None).rows[0].count for label in range(8)] == counts.sum(axis=0).tolist()


def test_what_is_filtered_is_exported_with_notes(tmp_path):
    write_whole_comparison(tmp_path, {"ce": 2.0}, splits=1)
    posteriors = open_inspection(tmp_path).posteriors
    wanted = Filter(method="ce", min_error=1, sort="error")
    first = posteriors.page(wanted, 1).entries[0]
    posteriors.put_note(first.part, first.item, flag=True, note='odd, "blurred"')
    lines = list(csv.DictReader(io.StringIO(posteriors.csv(wanted, "abcde"))))
    assert [int(line["item"]) for line in lines] == [entry.item for entry in posteriors.page(wanted, 1).entries]
    assert (lines[0]["flag"], lines[0]["note"]) == ("yes", 'odd, "blurred"')
    assert lines[0]["true_class"] == "abcde"[first.truth]
    assert [entry.item for entry in posteriors.page(Filter(method="ce", flagged=True), 1).entries] == [first.item]
    assert open_inspection(tmp_path).posteriors.page(wanted, 1).entries[0].note == 'odd, "blurred"'  # kept on disk


@pytest.mark.bad_input
def test_an_item_that_nobody_tested_on_is_told(posteriors):
    with pytest.raises(InputError, match="Sample 3 is not in the test set of split 1-0"):
        posteriors.put_note("1-0", 3, flag=True, note="")
    with pytest.raises(InputError, match="Sample 3 is not in the test set of split 1-0"):
        posteriors.sample("1-0", 3, CE)


def test_a_run_that_cannot_be_read_is_left_out_and_a_row_without_any_is_told(tmp_path):
    write_whole_comparison(tmp_path, {"ce": 1.0, "elb": 0.0}, splits=2, num_test=10)
    for broken in ("ce/split1-fold0", "elb/split0-fold0", "elb/split1-fold0"):
        (tmp_path / "runs" / broken / "predictions.parquet").write_bytes(b"cut off")
    posteriors = open_inspection(tmp_path).posteriors
    assert posteriors.page(CE, 1).total == 10
    assert [each.row for each in posteriors.sample("0-0", 0, CE).answers] == ["ce"]
    with pytest.raises(InputError, match="`elb` must have runs whose predictions can be read, got none"):
        posteriors.page(Filter(method="elb"), 1)


def test_evidence_is_there_only_with_a_model_and_a_image(posteriors, compared, tmp_path):
    evidence = np.array(posteriors.evidence("ce", "0-0", 20, 2))
    assert evidence.ndim == 2
    assert np.isfinite(evidence).all()
    assert posteriors.evidence("ce", "0-0", 3, 2) is None
    write_whole_comparison(tmp_path, {"ce": 1.0}, splits=1)
    without = open_inspection(tmp_path).posteriors
    assert without.evidence("ce", "0-0", 0, 2) is None
    assert without.sample("0-0", 0, CE).answers[0].no_evidence == "There are no images."
    assert without.sample("0-0", 0, CE).answers[0].evidence_range is None


def test_the_true_posterior_is_shown_where_it_is_known(tmp_path):
    write_whole_comparison(tmp_path, {"ce": 1.0}, splits=1, num_classes=8, num_test=60)
    data = biopsies(60, size=16)
    inspection = open_inspection(tmp_path)
    inspection._source = Source(manifest=data)
    shown = [inspection.posteriors.sample("0-0", item, CE) for item in range(60)]
    known = [sample for sample in shown if sample.truth == data.labels[sample.item]]
    assert known
    for sample in known:
        assert sample.true_probs == pytest.approx(np.exp(data.true_log_probs[sample.item]), abs=1e-5)
    changed = [sample for sample in shown if sample.truth != data.labels[sample.item]]
    assert all(sample.kind == "nothing" and "no longer hold" in sample.reason for sample in changed)


PROBS = np.array([[0.7, 0.2, 0.1], [0.5, 0.1, 0.4], [0.2, 0.6, 0.2], [0.6, 0.3, 0.1]], dtype=np.float32)


def predictions(probs):
    labels = probs.argmax(axis=1)
    log_probs = torch.tensor(np.log(probs))
    return RunPredictions(
        predictions=Predictions(items=np.arange(len(probs)), predicted_index=torch.tensor(labels), log_probs=log_probs)
    )


def test_all_posteriors_of_the_label_are_laid_over_each_other():
    view = label_view({"ce": [predictions(PROBS[:2]), predictions(PROBS[2:])]}, 0, num_classes=3)
    (row,) = view.rows
    assert row.count == 3
    assert np.array(row.shown) == pytest.approx(PROBS[[0, 1, 3]], abs=1e-5)
    assert row.mean == pytest.approx([0.6, 0.2, 0.2], abs=1e-5)
    assert row.unimodal == pytest.approx(2 / 3)
    assert view.highest == pytest.approx(0.7, abs=1e-5)
    view = label_view({"ce": [predictions(PROBS)], "elb": []}, 2, num_classes=3)
    assert [(row.count, row.unimodal, row.shown) for row in view.rows] == [(0, None, ()), (0, None, ())]


def test_of_too_many_some_are_drawn_in_equal_steps_and_all_are_counted():
    many = np.tile(PROBS[[0]], (100, 1)) + np.linspace(0, 0.1, 100, dtype=np.float32)[:, None] * [1, -1, 0]
    (row,) = label_view({"ce": [predictions(many.astype(np.float32))]}, 0, num_classes=3, most_numbers=15).rows
    assert (row.count, len(row.shown)) == (100, 5)
    assert [posterior[0] for posterior in row.shown] == pytest.approx([0.7, 0.725, 0.75, 0.775, 0.8], abs=1e-3)
