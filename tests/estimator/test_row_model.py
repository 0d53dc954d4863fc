import numpy as np
import pytest
import torch

from onepeak.estimator import row_model
from onepeak.estimator.plan import NetworkPlan
from onepeak.estimator.row_model import RowModel
from onepeak.estimator.samples import Samples
from onepeak.training.recipe import Recipe


def make_model(**settings):
    plan = NetworkPlan(
        method="ce",
        variant="corrected",
        method_settings={},
        num_classes=3,
        num_features=2,
        hidden=(4,),
        dropout=0.0,
        backbone=None,
    )
    settings = {"standardize": True, "dtype": torch.float64, "device": torch.device("cpu"), "seed": 0} | settings
    return RowModel(plan, Recipe(epochs=2), **settings)


@pytest.fixture
def samples():
    rows = np.random.default_rng(0).normal(size=(12, 2)) * 100
    return Samples(rows=rows, labels=np.arange(12) % 3, weights=np.arange(12.0) + 1)


def test_the_scale_of_the_columns_is_that_of_the_weighted_training_samples(samples):
    model = make_model()
    model.fit(samples, None, verbose=False)
    mean = np.average(samples.rows, axis=0, weights=samples.weights)
    deviation = np.sqrt(np.average((samples.rows - mean) ** 2, axis=0, weights=samples.weights))
    expected = model.network(torch.tensor((samples.rows - mean) / deviation)).log_softmax(dim=-1)
    torch.testing.assert_close(model.answers(samples.rows)[0], expected.detach())


def test_parts_of_a_table_teach_the_scale_of_the_whole(samples):
    model = make_model()
    for epoch, places in enumerate((np.arange(5), np.arange(5, 12))):
        model.go_on(samples.take(places), Recipe(), epoch=epoch)
    mean = np.average(samples.rows, axis=0, weights=samples.weights)
    np.testing.assert_allclose(model.scaler.mean_, mean)


def test_answers_in_several_batches_are_those_of_one(samples, monkeypatch):
    model = make_model()
    model.fit(samples, None, verbose=False)
    log_probs, labels = model.answers(samples.rows)
    monkeypatch.setattr(row_model, "ROWS_A_BATCH", 5)
    parts, part_labels = model.answers(samples.rows)
    torch.testing.assert_close(parts, log_probs, rtol=1e-12, atol=1e-12)
    assert torch.equal(part_labels, labels)


def test_a_model_without_standard_scores_takes_the_rows_as_they_are(samples):
    model = make_model(standardize=False)
    expected = model.network(torch.tensor(samples.rows)).log_softmax(dim=-1)
    torch.testing.assert_close(model.answers(samples.rows)[0], expected.detach())
