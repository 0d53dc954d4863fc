"""The table for those who come from skordinal, against the package where it is installed."""

import numpy as np
import pytest
from torch import tensor

import onepeak
from docs.pages import DOCS
from onepeak.metrics import functional

classifiers = pytest.importorskip("skordinal.classifiers")
metrics = pytest.importorskip("skordinal.metrics")

RNG = np.random.default_rng(0)
LABELS = RNG.permutation(np.arange(60) % 5)
PREDICTED = RNG.integers(0, 5, 60)
PROBS = RNG.dirichlet(np.ones(5), 60)
ROWS = RNG.normal(size=(300, 2))
GRADES = np.digitize(ROWS @ [1.0, -0.5] + RNG.logistic(scale=0.3, size=300), [-0.8, 0.3, 1.2])


@pytest.mark.parametrize("package", [classifiers, metrics])
def test_every_public_name_of_skordinal_has_its_place(package):
    page = (DOCS / "coming-from-tables.md").read_text()
    assert [name for name in package.__all__ if not name.startswith("get_") and name not in page] == []


@pytest.mark.parametrize(
    ("theirs", "ours", "settings"),
    [
        ("accuracy_off1_score", functional.accuracy_within, {"k": 1}),
        ("average_mean_absolute_error", functional.average_mean_absolute_error, {"num_classes": 5}),
        ("maximum_mean_absolute_error", functional.maximum_mean_absolute_error, {"num_classes": 5}),
        ("minimum_sensitivity", functional.minimum_sensitivity, {"num_classes": 5}),
        ("geometric_mean", functional.geometric_mean_sensitivity, {"num_classes": 5}),
        ("mean_extreme_sensitivity", functional.extreme_sensitivity, {"num_classes": 5}),
        ("gmsec", functional.extreme_sensitivity, {"num_classes": 5, "average": "geometric"}),
        ("kendalls_tau", functional.kendall_tau, {"num_classes": 5}),
        ("spearmans_rho", functional.spearman_correlation, {"num_classes": 5}),
        ("weighted_kappa", functional.weighted_kappa, {"num_classes": 5, "weighting": "linear"}),
    ],
)
def test_a_metric_is_the_same_where_every_class_occurs(theirs, ours, settings):
    got = ours(tensor(PREDICTED), tensor(LABELS), **settings)
    assert float(got) == pytest.approx(getattr(metrics, theirs)(LABELS, PREDICTED), rel=1e-6)


def test_the_ranked_probability_score_is_the_same():
    got = functional.ranked_probability_score(tensor(PROBS).log(), tensor(LABELS)).mean()
    assert got.item() == pytest.approx(metrics.ranked_probability_score(LABELS, PROBS))


def test_metrics_differ_where_a_class_is_absent_and_theirs_are_not_told_the_classes():
    far, off = (np.array([0, 69]), np.array([69, 0])), (np.array([0, 0, 4]), np.array([4, 4, 0]))
    assert metrics.average_mean_absolute_error(*far) == 1  # they are 69 apart
    assert functional.average_mean_absolute_error(tensor(far[1]), tensor(far[0]), num_classes=70) == 69
    assert metrics.accuracy_off1_score(*off) == 1
    assert metrics.accuracy_off1_score(*off, labels=range(5)) == 0
    assert functional.accuracy_within(tensor(off[1]), tensor(off[0]), k=1) == 0


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "loglog", "cauchit"])
def test_proportional_odds_give_the_same_posterior_under_every_link(link):
    method = "clm" if link == "logit" else f"clm-{link}"
    ours = onepeak.OrdinalClassifier(method, hidden=(), weight_decay=0, validation_fraction=0).fit(ROWS, GRADES)
    theirs = classifiers.POM(link=link).fit(ROWS, GRADES)
    np.testing.assert_allclose(ours.predict_proba(ROWS), theirs.predict_proba(ROWS), atol=5e-3)  # theirs stops early


def test_all_thresholds_with_a_logistic_loss_predict_alike():
    """Theirs has a penalty by default and keeps thresholds in order at every step."""
    ours = onepeak.OrdinalClassifier("coral", hidden=(), weight_decay=0, validation_fraction=0).fit(ROWS, GRADES)
    theirs = classifiers.LogisticAT(alpha=0.0).fit(ROWS, GRADES)
    assert np.mean(ours.predict(ROWS) == theirs.predict(ROWS)) > 0.97
