import numpy as np
import pytest
import torch

from onepeak.experiment.records import read_predictions
from onepeak.posterior import reliability
from onepeak.report.sureness import FIGURES, Sureness
from onepeak.report.tally import TestPart
from trained_models import picture_run, table_run


def part_of(log_probs, labels):
    return TestPart(item=np.arange(len(labels)), label=labels, predicted=log_probs.argmax(axis=1), log_probs=log_probs)


def sharpened(seed, *, sharpness, rows=4000):
    """Posteriors that are so many times too sharp, and labels drawn from the true ones."""
    generator = torch.Generator().manual_seed(seed)
    truth = (2 * torch.randn(rows, 5, generator=generator)).log_softmax(-1)
    labels = truth.exp().multinomial(1, generator=generator).squeeze(-1)
    return part_of((sharpness * truth).log_softmax(-1).numpy(), labels.numpy())


def test_the_right_temperature_brings_the_line_onto_the_diagonal():
    sureness = Sureness()
    for seed in range(2):
        sureness.add(sharpened(seed, sharpness=3.0), temperature=3.0)
    before, after = sureness.trained.reliability, sureness.calibrated.reliability
    assert after.confidence_error < 0.02 < 0.1 < before.confidence_error
    gaps = [max(abs(each.stated - each.happened) for each in found.cumulative) for found in (before, after)]
    assert gaps[1] < gaps[0] / 2
    assert all(sureness.calibrated.mean(name) < sureness.trained.mean(name) for name in FIGURES)


def test_runs_are_pooled_in_the_bins_and_averaged_in_the_figures():
    small, large = sharpened(0, sharpness=1.0, rows=50), sharpened(1, sharpness=4.0, rows=200)
    sureness = Sureness()
    sureness.add(small, temperature=1.0)
    sureness.add(large, temperature=2.0)
    alone = [reliability(torch.tensor(part.log_probs), torch.tensor(part.label)) for part in (small, large)]
    assert sum(each.count for each in sureness.trained.reliability.confidence) == 250
    assert sureness.trained.mean("ece") == pytest.approx(sum(each.confidence_error for each in alone) / 2)
    assert sureness.temperatures == [1.0, 2.0]


@pytest.mark.parametrize("trained", [picture_run, table_run])
def test_the_figures_are_those_that_training_wrote_down(trained):
    run = trained()
    part = read_predictions(run.folder, columns=["item", "label", "predicted", "log_probs"], part="test")
    sureness = Sureness()
    sureness.add(TestPart(**part), temperature=run.result["calibration"]["temperature"])
    for name in FIGURES:
        assert sureness.trained.mean(name) == pytest.approx(run.result["metrics"]["test"][name], rel=1e-4)
        assert sureness.calibrated.mean(name) == pytest.approx(run.result["calibration"]["test"][name], rel=1e-4)
