import math

import pytest
import torch
from torchmetrics import Metric

from onepeak import metrics
from onepeak.errors import InputError
from onepeak.metrics import classes
from onepeak.metrics.catalog import DEFAULT_NAMES, METRICS, NAMES, collection
from onepeak.metrics.functional import side_order_chance


def test_every_public_class_is_in_the_catalog():
    defined = {name for name, each in vars(classes).items() if getattr(each, "__module__", "") == classes.__name__}
    public = {name for name in metrics.__all__ if isinstance(getattr(metrics, name), type)}
    assert {type(record.make(4)).__name__ for record in METRICS} == public == {n for n in defined if n[0] != "_"}


def test_the_direction_is_that_of_the_class():
    for record in METRICS:
        metric = record.make(4)
        assert isinstance(metric, Metric)
        assert metric.higher_is_better is record.higher_is_better


def test_needs_says_whether_labels_are_enough():
    for record in METRICS:
        metric = record.make(4)
        assert metric.takes_labels == (record.needs == "labels")


def test_ranges_grow_with_the_scale_where_the_unit_is_a_class():
    assert METRICS["mae"].range(70) == (0.0, 69.0)
    assert METRICS["accuracy"].range(70) == (0.0, 1.0)
    assert METRICS["qwk"].range(70) == (-1.0, 1.0)
    assert METRICS["nll"].range(70) == (0.0, math.inf)


def test_chance_is_given_for_the_side_order_index():
    assert METRICS["soi_predicted"].chance(5, "mode") == side_order_chance(5) == pytest.approx(0.7)
    assert METRICS["soi_predicted"].chance(5, "median") == side_order_chance(5, decision="median") < 0.65
    assert METRICS["soi_true"].chance(5, "mode") == METRICS["soi_true"].chance(5, "mean") == 0.5


def test_metrics_on_labels_share_one_table_in_a_collection_and_those_of_pairs_their_counts():
    all_metrics = collection(5, names=NAMES)
    groups = {frozenset(group) for group in all_metrics.compute_groups.values() if len(group) > 1}
    on_labels = {record.name for record in METRICS if record.needs == "labels"} - {"mae"}  # a mean, fast alone
    assert groups == {frozenset(on_labels), frozenset({"soi_predicted", "soi_true", "violations"})}


def test_what_training_measures_is_short_and_stays_as_run_folders_have_it():
    assert set(collection(5)) == set(DEFAULT_NAMES) == {record.name for record in METRICS if record.default}
    assert " ".join(DEFAULT_NAMES) == (
        "mae mae_median soi_predicted soi_true accuracy accuracy_within_1 amae mmae qwk tau spearman "
        "rps nll ece unimodal violations violation_size"
    )


def test_a_perfect_one_hot_posterior_is_the_best_but_for_its_ties():
    labels = torch.tensor([0, 2, 4, 1, 3])
    perfect = collection(5, names=NAMES)
    perfect.update(torch.eye(5)[labels].log(), labels)
    values = {name: value.item() for name, value in perfect.compute().items()}
    # classes of probability zero are ties, and ties are violations: the strict metrics say so
    strict = {"soi_predicted", "soi_true", "unimodal", "violations"}
    best = {record.name: record.best(5) for record in METRICS if record.name not in strict}
    assert {name: values[name] for name in best} == pytest.approx(best, abs=1e-12)
    assert values["violations"] == pytest.approx((3 + 2 + 2 + 2 + 3) / 5)


@pytest.mark.bad_input
@pytest.mark.parametrize("names", [NAMES, DEFAULT_NAMES])
def test_of_a_batch_that_is_refused_nothing_is_counted(names):
    metrics = collection(3, names=names)
    log_probs, labels = torch.tensor([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3]]).log(), torch.tensor([1, 0])
    for wrong in ((log_probs.exp(), 2 - labels), (log_probs, labels + 2)):  # counted, they would be errors
        with pytest.raises(InputError):
            metrics.update(*wrong)  # before any other batch, and after
        metrics.update(log_probs, labels)
        with pytest.raises(InputError):
            metrics.update(*wrong)
        assert metrics.compute()["mae"] == 0


@pytest.mark.bad_input
def test_an_unknown_metric_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"Unknown metric 'soi_predict'\. Did you mean 'soi_predicted'"):
        collection(3, names=["soi_predict"])
    with pytest.raises(ValueError, match="`num_classes` must be an integer >= 2, got 1"):
        collection(1)
