import numpy as np
import pandas as pd
import pytest

from onepeak.data.datasets.biopsies import biopsies
from onepeak.experiment.results import read_results
from onepeak.report.run_data import gather
from onepeak.report.sections import never_predicted_sentence, sections
from onepeak.report.source import Source
from onepeak.report.summary import summary
from report.whole_runs import write_whole_comparison, write_whole_run
from run_folders import write_predictions, write_run

NO_DATA = Source(manifest=None)


def sections_of(folder, source=NO_DATA):
    runs = read_results(folder)
    return {each.name: each for each in sections(gather("mine", runs, summary(runs), source))}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Two methods on generated data, one of them in disorder, with the true posteriors known."""
    folder, data = tmp_path_factory.mktemp("runs"), biopsies(20)
    for method, disorder in (("ce", 2.0), ("elb", 0.0)):
        calibration = {"temperature": 1.5}
        place = write_whole_run(folder, method=method, num_classes=8, disorder=disorder, calibration=calibration)
        write_predictions(place, read_log_probs(place), data.labels)
    return sections_of(folder, Source(manifest=data))


def read_log_probs(place):
    from onepeak.experiment.results import read_predictions

    return read_predictions(place, columns=["log_probs"])["log_probs"]


def test_the_sections_come_in_the_order_of_their_weight(found):
    assert list(found) == [
        "tradeoff", "curves", "posteriors", "paradoxes", "reliability", "class-errors", "confusion",
        "truth",
    ]  # fmt: skip
    for name in ("posteriors", "confusion"):
        assert [chart.name for chart in found[name].charts] == ["ce", "elb"]
    assert found["posteriors"].choices[0] == "g1"


def test_the_course_of_what_chose_the_epochs_is_drawn_first(tmp_path):
    place = write_whole_run(tmp_path, method="ce", selected_by="qwk")
    history = pd.read_csv(place / "history.csv")
    history.assign(valid_qwk=0.5).to_csv(place / "history.csv", index=False)
    charts = sections_of(tmp_path)["curves"].charts
    assert [chart.name for chart in charts] == [
        "Quadratic weighted kappa", "Mean absolute error", "Side order index to the prediction",
    ]  # fmt: skip
    assert charts[0].figure.layout.yaxis.title.text == "validation qwk"


def test_a_card_says_what_the_method_says_and_shows_the_image(found):
    card = found["paradoxes"].cards[0]
    assert card.text.startswith("ce predicts g")
    assert card.image.startswith("data:image/jpeg;base64,")
    assert card.name.endswith("split 0, fold 0")
    assert "a second class of at least 5 %): ce " in found["paradoxes"].text
    assert found["paradoxes"].text.startswith("If “g5” is most probable, “g4” or “g6” should come second.")


def test_a_prediction_that_is_not_the_most_probable_class_is_told_apart_from_it(tmp_path):
    place = write_whole_run(tmp_path, method="ren", num_classes=8)
    log_probs = np.log(np.tile([0.02, 0.02, 0.02, 0.02, 0.02, 0.4, 0.2, 0.3], (len(read_log_probs(place)), 1)))
    write_predictions(place, log_probs, np.full(len(log_probs), 5), predicted=np.full(len(log_probs), 6))
    card = sections_of(tmp_path)["paradoxes"].cards[0]
    told = "ren finds 5 (40.0 %) most probable, then 7 (30.0 %), but predicts 6 (20.0 %). The true class is 5."
    assert card.text == told


def test_the_truth_stands_beside_the_bayes_error(found):
    section = found["truth"]
    assert "The best possible model reaches an MAE of 0.3" in section.text
    assert [row[0].text for row in section.table.rows] == ["ce", "elb"]
    assert section.table.caption == "Means over the test parts of 2 runs."


def test_calibration_is_shown_before_and_after_with_its_figures(found):
    section = found["reliability"]
    assert [chart.name for chart in section.charts] == [
        "most probable class, as trained",
        "most probable class, calibrated",
        "class k or below, as trained",
        "class k or below, calibrated",
    ]
    assert section.table.header[2:] == (
        "temperature", "ece ↓ trained", "ece ↓ calibrated", "rps ↓ trained", "rps ↓ calibrated", "nll ↓ trained",
        "nll ↓ calibrated",
    )  # fmt: skip
    assert [[cell.text for cell in row][:3] for row in section.table.rows] == [
        ["ce", "1", "1.50"],
        ["elb", "1", "1.50"],
    ]


def test_intervals_from_few_samples_are_told_of_once(found, tmp_path):
    told = "90 % intervals were set on 20 validation samples: real coverage is likely between"
    assert told in found["reliability"].table.caption
    assert sum(told in f"{each.text}{each.table.caption if each.table else ''}" for each in found.values()) == 1
    many = write_whole_comparison(tmp_path, {"elb": 0.0}, splits=1, num_test=100, calibration={"temperature": 1.5})
    assert "intervals" not in sections_of(many)["reliability"].table.caption


def test_without_temperatures_paradoxes_or_a_known_truth_there_are_no_such_sections(tmp_path):
    found = sections_of(write_whole_comparison(tmp_path, {"elb": 0.0}, splits=1))
    assert found.keys().isdisjoint(("reliability", "paradoxes", "truth"))


def test_results_alone_leave_error_against_order_if_there_are_two(tmp_path):
    write_run(tmp_path, method="elb")
    assert not sections_of(tmp_path)
    write_run(tmp_path, method="elb", split=1)
    assert list(sections_of(tmp_path)) == ["tradeoff"]


def text_of_tradeoff(folder, **figures):
    for method, (mae, soi) in figures.items():
        for split in range(2):
            write_run(folder, method=method, split=split, mae=mae, soi_predicted=soi)
    return sections_of(folder)["tradeoff"].text


def test_who_is_ahead_in_error_and_order_is_named_and_a_front_only_where_there_is_one(tmp_path):
    alone = text_of_tradeoff(tmp_path, ce=(1.0, 0.9))
    assert "front" not in alone
    assert "lowest" not in alone
    both = text_of_tradeoff(tmp_path, elb=(0.5, 0.99))
    assert "better. elb has the lowest error and the best consistency." in both
    assert "front" not in both
    front = text_of_tradeoff(tmp_path, mv=(0.4, 0.8))
    assert "No method beats one on the front in both error and consistency." in front
    assert "lowest" not in front


def test_chance_is_told_where_it_is_not_drawn(tmp_path):
    assert "Random guessing, 75.0 %, is below the axis." in text_of_tradeoff(tmp_path, ce=(1.0, 0.9))
    assert "andom guessing" not in text_of_tradeoff(tmp_path, mv=(1.0, 0.5))
    assert "is above the axis." in text_of_tradeoff(tmp_path / "low", ren=(1.0, 0.5))


def test_groups_count_for_intervals_and_rows_that_are_off_by_class_are_named(tmp_path):
    groups, gap = {"train": 90, "valid": 30, "test": 30}, {"label": "1", "probability": 0.2, "share": 0.1}
    known = {"calibration": {"temperature": 1.5}, "num_test": 100, "splits": 2}
    write_whole_comparison(tmp_path, {"elb": 0.0}, num_groups=groups, frequency_gap=gap, **known)
    write_whole_comparison(tmp_path, {"ce": 0.0}, **known)
    caption = sections_of(tmp_path)["reliability"].table.caption
    assert (
        "differs from its share of the validation part: ELB (2 runs). 90 % intervals were set on 100 validation "
        in caption
    )
    assert "samples of 30 groups: real coverage" in caption


def test_classes_that_samples_have_and_no_answer_is_are_named_with_their_number():
    confusion = np.zeros((8, 8), dtype=np.int64)
    confusion[:7, 0] = [9, 1, 2, 3, 4, 5, 6]  # of the last class there is no sample
    assert never_predicted_sentence(confusion, "abcdefgh") == (
        "Never predicted: b (1 sample), c (2 samples), d (3 samples), e (4 samples), f (5 samples) and 1 more."
    )
    assert never_predicted_sentence(np.eye(3, dtype=np.int64), "abc") == ""
