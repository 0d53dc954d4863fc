import shutil

import numpy as np
import pandas as pd
import pytest
import torch

from onepeak.data.datasets.biopsies import bayes_error, biopsies
from onepeak.experiment.results import read_results
from onepeak.posterior import reliability, temper
from onepeak.posterior.predictions import Predictions
from onepeak.report.run_data import (
    FIGURES,
    MOST_SUSPECTS,
    CalibrationSummary,
    PredictionSummary,
    Suspect,
    choose_suspects,
    gather,
)
from onepeak.report.source import Source
from onepeak.report.summary import summary
from onepeak.training.predictions_file import part_predictions, read_predictions
from report.whole_runs import write_whole_comparison, write_whole_run
from run_folders import write_predictions
from trained_models import image_run, table_run


def part_of(probs, labels, predicted=None, items=None):
    log_probs = np.log(np.asarray(probs, dtype=np.float32))
    labels = np.asarray(labels)
    return Predictions(
        items=np.arange(len(labels)) if items is None else np.asarray(items),
        truth=torch.tensor(labels),
        predicted_index=torch.tensor(log_probs.argmax(axis=1) if predicted is None else predicted),
        log_probs=torch.tensor(log_probs),
    )


ORDERED, TWO_PEAKS, APART = [0.1, 0.6, 0.2, 0.1], [0.1, 0.5, 0.05, 0.35], [0.45, 0.1, 0.05, 0.4]


def tally_of(*parts, examples_per_run=10, most_examples=10):
    summary = PredictionSummary(num_classes=4, examples_per_run=examples_per_run, most_examples=most_examples)
    for split, part in enumerate(parts):
        summary.add(part, split=split, fold=0)
    return summary


def test_everything_is_counted_over_the_runs():
    tally = tally_of(part_of([ORDERED, TWO_PEAKS], [1, 2]), part_of([APART], [0]))
    assert tally.num_predictions == 3
    assert tally.confusion.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert tally.paradoxical == pytest.approx(2 / 3)
    slight = tally_of(part_of([APART, [0.96, 0.01, 0.02, 0.01]], [0, 0]))
    assert (slight.paradoxical, slight.noticeably_paradoxical) == (1, 0.5)


def test_the_strongest_suspects_are_far_apart_and_meant_and_only_so_many_are_kept():
    suspects = tally_of(part_of([ORDERED, TWO_PEAKS, APART], [1, 1, 0], items=[7, 8, 9])).suspects
    # three steps times 0.4 is more than two steps times 0.35
    assert [(each.item, each.strength) for each in suspects] == [(9, pytest.approx(1.2)), (8, pytest.approx(0.7))]
    suspects = tally_of(*[part_of([APART, TWO_PEAKS] * 10, [0] * 20) for _ in range(3)]).suspects
    assert [each.strength for each in suspects] == [pytest.approx(1.2)] * MOST_SUSPECTS


def test_the_posteriors_shown_come_from_several_runs_and_are_no_more_than_asked_for():
    runs = [part_of([ORDERED] * 5, [1] * 5), part_of([TWO_PEAKS] * 5, [1] * 5), part_of([APART] * 5, [0] * 5)]
    examples = tally_of(*runs, examples_per_run=2, most_examples=3).posteriors
    assert sorted(examples) == [0, 1]
    assert np.allclose(examples[1], [ORDERED, ORDERED, TWO_PEAKS])
    assert len(examples[0]) == 2


def sharpened(seed, *, sharpness, rows=4000):
    """Posteriors that are so many times too sharp, and labels drawn from the true ones."""
    generator = torch.Generator().manual_seed(seed)
    truth = (2 * torch.randn(rows, 5, generator=generator)).log_softmax(-1)
    labels = truth.exp().multinomial(1, generator=generator).squeeze(-1)
    log_probs = (sharpness * truth).log_softmax(-1)
    return Predictions(truth=labels, predicted_index=log_probs.argmax(dim=1), log_probs=log_probs)


def test_the_right_temperature_brings_the_line_onto_the_diagonal():
    calibration = CalibrationSummary()
    for seed in range(2):
        calibration.add(sharpened(seed, sharpness=3.0), temperature=3.0)
    before, after = calibration.trained.reliability, calibration.calibrated.reliability
    assert after.confidence_error < 0.02 < 0.1 < before.confidence_error
    gaps = [max(abs(each.stated - each.happened) for each in found.cumulative) for found in (before, after)]
    assert gaps[1] < gaps[0] / 2
    assert all(calibration.calibrated.mean(name) < calibration.trained.mean(name) for name in FIGURES)


@pytest.mark.parametrize("trained", [image_run, table_run])
def test_the_figures_are_those_that_training_wrote_down(trained):
    run = trained()
    calibration = CalibrationSummary()
    calibration.add(part_predictions(run.folder, "test"), temperature=run.result["calibration"]["temperature"])
    for name in FIGURES:
        assert calibration.trained.mean(name) == pytest.approx(run.result["metrics"]["test"][name], rel=1e-4)
        assert calibration.calibrated.mean(name) == pytest.approx(run.result["calibration"]["test"][name], rel=1e-4)


NO_DATA = Source(manifest=None, reason="They are gone.")


def gathered(folder, source=NO_DATA, **settings):
    runs = read_results(folder)
    return gather("mine", runs, summary(runs), source, **settings)


@pytest.fixture
def folder(tmp_path):
    return write_whole_comparison(tmp_path / "compared", {"ce": 2.0, "elb": 0.0})


def test_the_figures_of_the_runs_are_those_of_the_results(folder):
    data = gathered(folder)
    runs = read_results(folder)
    assert list(data.looks) == ["ce", "elb"]
    for row, own in runs.groupby("label"):
        assert data.scores[row].mae.tolist() == own["test_mae"].tolist()
        assert data.scores[row].soi.tolist() == own["test_soi_predicted"].tolist()
        distance = np.abs(np.arange(5) - np.arange(5)[:, None])
        assert (data.predictions[row].confusion * distance).sum() / 40 == pytest.approx(own["test_mae"].mean())
    assert data.chance == 0.5 + 1 / 5
    assert data.classes == ("0", "1", "2", "3", "4")


def test_curves_are_the_means_of_the_histories(folder):
    data = gathered(folder)
    histories = [pd.read_csv(folder / "runs" / "ce" / f"split{split}-fold0" / "history.csv") for split in (0, 1)]
    expected = (histories[0]["valid_mae"] + histories[1]["valid_mae"]) / 2
    assert data.curves["mae"]["ce"].mean.tolist() == pytest.approx(expected.tolist())


def test_a_history_of_which_some_epochs_were_kept_is_drawn_where_those_epochs_were(tmp_path):
    place = write_whole_run(tmp_path, method="ce", epochs=31)
    history = pd.read_csv(place / "history.csv")
    whole = gathered(tmp_path).curves["mae"]["ce"]
    history[history["epoch"] % 10 == 0].to_csv(place / "history.csv", index=False)
    kept = gathered(tmp_path).curves["mae"]["ce"]
    assert kept.epochs.tolist() == list(range(1, 32))
    assert kept.mean.tolist() == pytest.approx(whole.mean.tolist())  # its course is a straight line


def test_posteriors_are_measured_at_the_temperature_of_each_run(folder):
    place = write_whole_run(folder, method="elb", split=2, calibration={"temperature": 2.0})
    data = gathered(folder)
    assert set(data.calibration) == {"elb"}  # the others were made before there were temperatures
    assert data.calibration["elb"].temperatures == [2.0]
    part = read_predictions(place, columns=["label", "log_probs"])
    expected = reliability(temper(torch.tensor(part["log_probs"]), 2.0), torch.tensor(part["label"]))
    assert data.calibration["elb"].calibrated.reliability == expected


def test_every_run_is_told_of(folder):
    told = []
    gathered(folder, on_run=lambda: told.append(None))
    assert len(told) == 4


def test_runs_without_predictions_or_histories_are_left_out_and_told_of(folder):
    (folder / "runs" / "ce" / "split0-fold0" / "predictions.parquet").unlink()
    (folder / "runs" / "ce" / "split1-fold0" / "predictions.parquet").write_bytes(b"no parquet")
    for split in (0, 1):
        (folder / "runs" / "elb" / f"split{split}-fold0" / "history.csv").unlink()
    data = gathered(folder)
    assert set(data.predictions) == {"elb"}
    assert set(data.curves["mae"]) == {"ce"}
    assert data.notes[0].startswith("The predictions of 2 runs of 4 are left out of the figures, the first because:")
    assert data.notes[1] == "They are gone. Images and true posteriors are left out."


def test_posteriors_over_other_classes_are_left_out(folder):
    place = folder / "runs" / "elb" / "split0-fold0"
    write_predictions(place, np.log(np.full((3, 2), 0.5)), [0, 1, 1])
    data = gathered(folder)
    assert data.predictions["elb"].num_predictions == 20
    assert "has posteriors over 2 classes, the data set 5" in data.notes[0]


def test_without_a_number_of_classes_there_are_no_posteriors(tmp_path):
    place = write_whole_run(tmp_path, method="elb", num_classes=5)
    result = place / "result.json"
    result.write_text(result.read_text().replace('"num_classes": 5, ', ""))
    data = gathered(tmp_path)
    assert (data.classes, data.chance, data.predictions) == ((), None, {})


def test_many_classes_and_methods_leave_few_posteriors_to_be_drawn(folder):
    for most, shown in ((10**6, 40), (2 * 25 * 4, 4), (1, 3)):
        predictions = gathered(folder, most_numbers=most).predictions
        assert {each.most_examples for each in predictions.values()} == {shown}


def test_known_posteriors_give_the_distance_and_the_bayes_error(tmp_path):
    data = biopsies(20)
    perfect = write_whole_run(tmp_path, method="elb", num_classes=8)
    write_predictions(perfect, data.true_log_probs, data.labels)
    flat = write_whole_run(tmp_path, method="ce", num_classes=8)
    write_predictions(flat, np.full((20, 8), -np.log(8)), data.labels)
    found = gathered(tmp_path, Source(manifest=data))
    assert found.distances["elb"].variation == pytest.approx([0], abs=1e-6)
    entropy = -(np.exp(data.true_log_probs) * data.true_log_probs).sum(axis=1).mean()
    assert found.distances["ce"].divergence == pytest.approx([np.log(8) - entropy], abs=1e-6)
    assert found.bayes == bayes_error(data)
    assert found.classes == data.classes


def tally_with(*suspects):
    tally = tally_of()
    tally.suspects.extend(Suspect(strength, split=0, fold=0, item=item) for strength, item in suspects)
    return tally


def test_every_method_has_its_strongest_case_before_any_has_its_second_and_no_sample_has_two(monkeypatch):
    predictions = {
        "ce": tally_with((0.9, 1), (0.8, 2), (0.7, 3)),
        "mv": tally_with((0.5, 1), (0.2, 4), (0.1, 5)),
        "elb": tally_with(),
    }
    chosen = [(row, suspect.item) for row, suspect in choose_suspects(predictions)]
    assert chosen == [("ce", 1), ("ce", 2), ("ce", 3), ("mv", 4), ("mv", 5)]
    monkeypatch.setattr("onepeak.report.run_data.MOST_CASES", 3)
    predictions["mv"] = tally_with((0.2, 4), (0.1, 5))
    assert [suspect.item for _, suspect in choose_suspects(predictions)] == [1, 2, 4]


def test_a_case_holds_what_every_method_that_ran_the_split_says_of_the_same_sample(folder):
    cases = gathered(folder).cases
    assert len(cases) == 6
    for case in cases:
        assert case.row == "ce"
        assert set(case.probs) == {"ce", "elb"}
        probs = case.probs["ce"]
        assert case.first == probs.argmax()
        assert abs(case.first - case.second) > 1
        assert (probs > probs[case.second]).sum() == 1
        assert case.probs["elb"].sum() == pytest.approx(1, abs=1e-5)
        assert case.predicted["elb"] == case.probs["elb"].argmax()
        assert (case.place, case.truth) == (None, None)
    shutil.rmtree(folder / "runs" / "elb" / "split1-fold0")
    assert {case.split: set(case.probs) for case in gathered(folder).cases} == {0: {"ce", "elb"}, 1: {"ce"}}


def test_a_sample_whose_truth_is_known_carries_it(tmp_path):
    data = biopsies(20)
    place = write_whole_run(tmp_path, method="ce", num_classes=8, disorder=2.0)
    write_predictions(place, read_predictions(place, columns=["log_probs"])["log_probs"], data.labels)
    case = gathered(tmp_path, Source(manifest=data)).cases[0]
    assert case.place == int(case.name.removeprefix("sample "))
    assert np.array_equal(case.truth, data.true_log_probs[case.place])
