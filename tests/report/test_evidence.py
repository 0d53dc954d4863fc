import shutil

import numpy as np
import pandas as pd
import pytest
import torch

from onepeak.data.biopsies import bayes_error, biopsies
from onepeak.experiment.records import read_predictions, read_results
from onepeak.posterior import reliability, temper
from onepeak.report.evidence import gather
from onepeak.report.source import Source
from onepeak.report.summary import summary
from report.whole_runs import write_whole_comparison, write_whole_run
from run_folders import write_predictions, write_run

NO_DATA = Source(manifest=None, reason="They are gone.")


def gathered(folder, source=NO_DATA, **settings):
    runs = read_results(folder)
    return gather("mine", runs, summary(runs), source, **settings)


@pytest.fixture
def folder(tmp_path):
    return write_whole_comparison(tmp_path / "compared", {"ce": 2.0, "elb": 0.0})


def test_the_figures_of_the_runs_are_those_of_the_results(folder):
    evidence = gathered(folder)
    runs = read_results(folder)
    assert list(evidence.looks) == ["ce", "elb"]
    for row, own in runs.groupby("label"):
        assert evidence.scores[row].mae.tolist() == own["test_mae"].tolist()
        assert evidence.scores[row].soi.tolist() == own["test_soi_predicted"].tolist()
        tally = evidence.tallies[row]
        distance = np.abs(np.arange(5) - np.arange(5)[:, None])
        assert (tally.confusion * distance).sum() / 40 == pytest.approx(own["test_mae"].mean())
        order = 1 - (tally.violations * np.arange(5)).sum() / 40 / 4
        assert order == pytest.approx(own["test_soi_predicted"].mean())
    assert evidence.chance == 0.5 + 1 / 5
    assert evidence.classes == ("0", "1", "2", "3", "4")


def test_curves_are_the_means_of_the_histories(folder):
    evidence = gathered(folder)
    histories = [pd.read_csv(folder / "runs" / "ce" / f"split{split}-fold0" / "history.csv") for split in (0, 1)]
    expected = (histories[0]["valid_mae"] + histories[1]["valid_mae"]) / 2
    assert evidence.curves["mae"]["ce"].mean.tolist() == pytest.approx(expected.tolist())


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
    evidence = gathered(folder)
    assert set(evidence.sureness) == {"elb"}  # the others were made before there were temperatures
    assert evidence.sureness["elb"].temperatures == [2.0]
    part = read_predictions(place, columns=["label", "log_probs"])
    expected = reliability(temper(torch.tensor(part["log_probs"]), 2.0), torch.tensor(part["label"]))
    assert evidence.sureness["elb"].calibrated.reliability == expected


def test_every_run_is_told_of(folder):
    told = []
    gathered(folder, on_run=lambda: told.append(None))
    assert len(told) == 4


def test_runs_without_predictions_or_histories_are_left_out_and_told_of(folder):
    (folder / "runs" / "ce" / "split0-fold0" / "predictions.parquet").unlink()
    (folder / "runs" / "ce" / "split1-fold0" / "predictions.parquet").write_bytes(b"no parquet")
    for split in (0, 1):
        (folder / "runs" / "elb" / f"split{split}-fold0" / "history.csv").unlink()
    evidence = gathered(folder)
    assert set(evidence.tallies) == {"elb"}
    assert set(evidence.curves["mae"]) == {"ce"}
    assert evidence.notes[0].startswith(
        "The predictions of 2 runs of 4 are left out of the figures, the first because:"
    )
    assert evidence.notes[1] == "They are gone. Pictures and true posteriors are left out."


def test_posteriors_over_other_classes_are_left_out(folder):
    place = folder / "runs" / "elb" / "split0-fold0"
    write_predictions(place, np.log(np.full((3, 2), 0.5)), [0, 1, 1])
    evidence = gathered(folder)
    assert evidence.tallies["elb"].num_predictions == 20
    assert "has posteriors over 2 classes, the data set 5" in evidence.notes[0]


def test_results_alone_are_evidence_enough(tmp_path):
    write_run(tmp_path, method="elb", mae=0.5)
    evidence = gathered(tmp_path)
    assert evidence.scores["elb"].mae.tolist() == [0.5]
    assert (evidence.tallies, evidence.cases, evidence.distances) == ({}, (), {})


def test_without_a_number_of_classes_there_are_no_posteriors(tmp_path):
    place = write_whole_run(tmp_path, method="elb", num_classes=5)
    result = place / "result.json"
    result.write_text(result.read_text().replace('"num_classes": 5, ', ""))
    evidence = gathered(tmp_path)
    assert (evidence.classes, evidence.chance, evidence.tallies) == ((), None, {})


def test_many_classes_and_methods_leave_few_posteriors_to_be_drawn(folder):
    counts = {most: _shown(gathered(folder, most_numbers=most)) for most in (10**6, 2 * 25 * 4, 1)}
    assert counts == {10**6: 40, 2 * 25 * 4: 4, 1: 3}


def _shown(evidence):
    """Posteriors that may be kept of a label; all tallies have the same limit."""
    return next(iter(evidence.tallies.values())).most_shown


def test_known_posteriors_give_the_distance_and_the_bayes_error(tmp_path):
    data = biopsies(20)
    perfect = write_whole_run(tmp_path, method="elb", num_classes=8)
    write_predictions(perfect, data.true_log_probs, data.labels)
    flat = write_whole_run(tmp_path, method="ce", num_classes=8)
    write_predictions(flat, np.full((20, 8), -np.log(8)), data.labels)
    evidence = gathered(tmp_path, Source(manifest=data))
    assert evidence.distances["elb"].variation == pytest.approx([0], abs=1e-6)
    entropy = -(np.exp(data.true_log_probs) * data.true_log_probs).sum(axis=1).mean()
    assert evidence.distances["ce"].divergence == pytest.approx([np.log(8) - entropy], abs=1e-6)
    assert evidence.bayes == bayes_error(data)
    assert evidence.classes == data.classes


def test_the_same_runs_are_the_same_evidence_wherever_they_lie(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "elsewhere")
    one, other = gathered(folder), gathered(tmp_path / "elsewhere")
    assert [case.name for case in one.cases] == [case.name for case in other.cases]
    for row, tally in one.tallies.items():
        for label, shown in tally.posteriors.items():
            assert np.array_equal(shown, other.tallies[row].posteriors[label])
