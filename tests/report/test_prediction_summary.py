import numpy as np
import pytest
import torch

from onepeak.posterior import reliability
from onepeak.posterior.predictions import Predictions
from onepeak.report.prediction_summary import FIGURES, MOST_SUSPECTS, CalibrationSummary, PredictionSummary
from onepeak.training.predictions_file import part_predictions
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
    prediction_summary = PredictionSummary(
        num_classes=4, examples_per_run=examples_per_run, most_examples=most_examples
    )
    for split, part in enumerate(parts):
        prediction_summary.add(part, split=split, fold=0)
    return prediction_summary


def test_everything_is_counted_over_the_runs():
    prediction_summary = tally_of(part_of([ORDERED, TWO_PEAKS], [1, 2]), part_of([APART], [0]))
    assert prediction_summary.num_predictions == 3
    assert prediction_summary.confusion.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    # in order; one pair (third to fourth) climbs; the same pair climbs again
    assert prediction_summary.violations.tolist() == [1, 2, 0, 0]
    assert prediction_summary.paradoxical == pytest.approx(2 / 3)


def test_violations_are_counted_to_the_label_decided_on():
    assert tally_of(part_of([ORDERED], [1], predicted=[0])).violations.tolist() == [0, 1, 0, 0]


def test_the_strongest_suspects_are_far_apart_and_meant():
    prediction_summary = tally_of(part_of([ORDERED, TWO_PEAKS, APART], [1, 1, 0], items=[7, 8, 9]))
    # three steps times 0.4 is more than two steps times 0.35
    assert [(each.item, each.strength) for each in prediction_summary.suspects] == [
        (9, pytest.approx(1.2)),
        (8, pytest.approx(0.7)),
    ]


def test_only_so_many_suspects_are_kept_of_many_runs():
    runs = [part_of([APART, TWO_PEAKS] * 10, [0] * 20) for _ in range(3)]
    suspects = tally_of(*runs).suspects
    assert len(suspects) == MOST_SUSPECTS
    assert all(each.strength == pytest.approx(1.2) for each in suspects)


def test_the_posteriors_shown_come_from_several_runs_and_are_no_more_than_asked_for():
    runs = [part_of([ORDERED] * 5, [1] * 5), part_of([TWO_PEAKS] * 5, [1] * 5), part_of([APART] * 5, [0] * 5)]
    examples = tally_of(*runs, examples_per_run=2, most_examples=3).posteriors
    assert sorted(examples) == [0, 1]
    assert np.allclose(examples[1], [ORDERED, ORDERED, TWO_PEAKS])
    assert len(examples[0]) == 2


def test_a_tally_of_nothing_has_no_share():
    assert tally_of().paradoxical == 0


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


def test_runs_are_pooled_in_the_bins_and_averaged_in_the_figures():
    small, large = sharpened(0, sharpness=1.0, rows=50), sharpened(1, sharpness=4.0, rows=200)
    calibration = CalibrationSummary()
    calibration.add(small, temperature=1.0)
    calibration.add(large, temperature=2.0)
    alone = [reliability(part.log_probs, part.truth) for part in (small, large)]
    assert sum(each.count for each in calibration.trained.reliability.confidence) == 250
    assert calibration.trained.mean("ece") == pytest.approx(sum(each.confidence_error for each in alone) / 2)
    assert calibration.temperatures == [1.0, 2.0]


@pytest.mark.parametrize("trained", [image_run, table_run])
def test_the_figures_are_those_that_training_wrote_down(trained):
    run = trained()
    calibration = CalibrationSummary()
    calibration.add(part_predictions(run.folder, "test"), temperature=run.result["calibration"]["temperature"])
    for name in FIGURES:
        assert calibration.trained.mean(name) == pytest.approx(run.result["metrics"]["test"][name], rel=1e-4)
        assert calibration.calibrated.mean(name) == pytest.approx(run.result["calibration"]["test"][name], rel=1e-4)
