from pathlib import Path

import numpy as np
import pytest

from onepeak.data.biopsies import biopsies
from onepeak.experiment.records import read_predictions, read_results
from onepeak.report.cases import choose_cases, choose_suspects
from onepeak.report.source import Source
from onepeak.report.tally import Suspect, Tally, TestPart
from report.whole_runs import write_whole_comparison

NO_DATA = Source(manifest=None, reason="gone")


def tally_with(*suspects):
    tally = Tally(num_classes=4, shown_per_run=1, most_shown=1)
    tally.suspects.extend(Suspect(strength=strength, split=0, fold=0, item=item) for strength, item in suspects)
    return tally


def test_every_method_has_its_strongest_case_before_any_has_its_second():
    tallies = {
        "ce": tally_with((0.9, 1), (0.8, 2), (0.7, 3)),
        "mv": tally_with((0.2, 4), (0.1, 5)),
        "elb": tally_with(),
    }
    chosen = choose_suspects(tallies, most=3)
    assert [(row, suspect.item) for row, suspect in chosen] == [("ce", 1), ("ce", 2), ("mv", 4)]


def test_no_sample_is_chosen_twice():
    tallies = {"ce": tally_with((0.9, 1), (0.8, 2)), "mv": tally_with((0.5, 1), (0.4, 3))}
    chosen = choose_suspects(tallies)
    assert [(row, suspect.item) for row, suspect in chosen] == [("ce", 1), ("ce", 2), ("mv", 3)]


@pytest.fixture
def compared(tmp_path):
    """Two methods, one of which is in disorder, and their tallies."""
    folder = write_whole_comparison(tmp_path, {"ce": 2.0, "elb": 0.0})
    runs = read_results(folder)
    tallies = {}
    for run in runs.to_dict("records"):
        tally = tallies.setdefault(run["label"], Tally(num_classes=5, shown_per_run=5, most_shown=5))
        columns = ("item", "label", "predicted", "log_probs")
        part = TestPart(**read_predictions(run["folder"], columns=columns, part="test"))
        tally.add(part, split=run["split"], fold=run["fold"])
    return tallies, runs


def test_a_method_whose_predictions_are_gone_says_nothing(compared):
    tallies, runs = compared
    for folder in runs.loc[runs["label"] == "elb", "folder"]:
        Path(folder, "predictions.parquet").unlink()
    cases = choose_cases(tallies, runs, NO_DATA)
    assert len(cases) == 6
    assert all(set(case.probs) == {"ce"} for case in cases)


def test_a_case_holds_what_every_method_says_of_the_same_sample(compared):
    tallies, runs = compared
    cases = choose_cases(tallies, runs, NO_DATA)
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


def test_a_method_that_has_not_run_the_split_is_not_in_the_case(compared):
    tallies, runs = compared
    cases = choose_cases(tallies, runs[(runs["label"] == "ce") | (runs["split"] == 0)], NO_DATA)
    assert {case.split: set(case.probs) for case in cases} == {0: {"ce", "elb"}, 1: {"ce"}}


def test_a_sample_whose_truth_is_known_carries_it(compared):
    tallies, runs = compared
    data = biopsies(20)
    labels = {case.name: case.label for case in choose_cases(tallies, runs, NO_DATA)}
    places = [int(name.removeprefix("item ")) for name in labels]
    data.labels[places] = list(labels.values())
    case = choose_cases(tallies, runs, Source(manifest=data))[0]
    assert case.place == int(case.name.removeprefix("item "))
    assert np.array_equal(case.truth, data.true_log_probs[case.place])
