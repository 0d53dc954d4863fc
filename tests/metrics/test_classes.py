"""The metric classes: values worked by hand over two batches, with the settings of each."""

import math
import pickle

import pytest
import torch

from onepeak import metrics

LABEL_PAIRS = {  # of predicted and true labels
    "errors": ([0, 2, 4, 1], [0, 0, 1, 1]),  # distances 0, 2, 3, 0
    "ranks": ([0, 1, 2, 2], [0, 1, 1, 2]),
    # sensitivities 3/4, none, 1/2, 1; specificities 1, -, 1, 5/6
    "sensitivity": ([0, 0, 0, 1, 2, 3, 3], [0, 0, 0, 0, 2, 2, 3]),
    "path": ([0, 1, 1, 2], [0, 0, 1, 2]),  # one of the two of class 0 is one class too high; all lie on one path
}
ONLY_TWO_AS_ONE = torch.tensor([[0.0, 0, 0], [0, 0, 9.0], [0, 0, 0]])
BY_HAND = [
    ("errors", "MeanAbsoluteError", 5, {}, 1.25),
    ("errors", "RootMeanSquaredError", 5, {}, 3.25**0.5),
    ("errors", "Accuracy", 5, {}, 0.5),
    ("errors", "AccuracyWithin", 5, {}, 0.5),
    ("errors", "AccuracyWithin", 5, {"k": 2}, 0.75),
    ("errors", "AccuracyWithin", 5, {"k": 4}, 1.0),
    ("errors", "AverageMeanAbsoluteError", 5, {}, 1.25),
    ("errors", "MaximumMeanAbsoluteError", 5, {}, 1.5),
    ("ranks", "KendallTau", 9, {}, 0.8),
    ("ranks", "SpearmanCorrelation", 9, {}, 3.75 / 4.5),
    ("ranks", "QuadraticWeightedKappa", 9, {}, 0.8),
    ("ranks", "WeightedKappa", 9, {"weighting": "quadratic"}, 0.8),
    ("ranks", "WeightedKappa", 9, {"weighting": "linear"}, 1 - 4 / 14),
    ("ranks", "WeightedKappa", 9, {"weighting": "none"}, 1 - 4 / 11),
    ("ranks", "WeightedKappa", 9, {"weighting": 3}, 1 - 4 / 32),
    ("ranks", "WeightedKappa", 3, {"weighting": ONLY_TWO_AS_ONE}, 0.0),
    ("sensitivity", "BalancedAccuracy", 4, {}, 0.75),
    ("sensitivity", "GeometricMeanSensitivity", 4, {}, 0.375 ** (1 / 3)),
    ("sensitivity", "MinimumSensitivity", 4, {}, 0.5),
    ("sensitivity", "ExtremeSensitivity", 4, {}, 0.875),
    ("sensitivity", "ExtremeSensitivity", 4, {"average": "geometric"}, math.sqrt(0.75)),
    ("sensitivity", "ExtremeSensitivity", 5, {}, math.nan),
    ("sensitivity", "IndexOfBalancedAccuracy", 4, {"alpha": 0}, (0.75 + 0.5 + 5 / 6) / 3),
    ("sensitivity", "IndexOfBalancedAccuracy", 4, {"alpha": 1}, (0.75**2 + 0.5**2 + 7 / 6 * 5 / 6) / 3),
    ("path", "OrdinalClassificationIndex", 3, {}, 1 - 4 / 5 + 0.75 / 8),
    ("path", "OrdinalClassificationIndex", 3, {"beta": 0.25, "gamma": 2}, 1 - 4 / 5 + 0.25 / 16),
    ("path", "OrdinalClassificationIndex", 3, {"beta": 3}, 1 - 3 / 5),  # the path does better without it
    ("path", "UniformOrdinalClassificationIndex", 3, {"beta": 0.25}, 1 - 3 / 3.5 + 0.25 * 0.5 / 3),
    # both lines cross at beta = 6/7; the mean is that of the first up to there and of the second from there on
    ("path", "UniformOrdinalClassificationIndex", 3, {}, (6 / 7) * (1 / 7 + 1 / 14) + (1 / 7) * (1 - 2.5 / 3.5)),
]
LOG_PROBS = torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.375, 0.5]], dtype=torch.float64).log()
LABELS = torch.tensor([0, 0])


def value(metric, *batches):
    for batch in batches:
        metric.update(*batch)
    return metric.compute().item()


@pytest.mark.parametrize(("pairs", "name", "num_classes", "settings", "expected"), BY_HAND)
def test_metrics_of_labels_have_the_values_worked_by_hand(pairs, name, num_classes, settings, expected):
    predicted, labels = (torch.tensor(each) for each in LABEL_PAIRS[pairs])
    metric = getattr(metrics, name)(num_classes=num_classes, **settings)
    got = value(metric, (predicted[:2], labels[:2]), (predicted[2:], labels[2:]))
    assert got == pytest.approx(expected, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("NegativeLogLikelihood", 2 * math.log(2)),
        ("RankedProbabilityScore", (0.3125 + 1.015625) / 2),
        ("EarthMoverDistance", (0.75 + 1.375) / 2),
        ("ExpectedCalibrationError", 0.0),  # of the mode, whatever label was predicted
    ],
)
def test_metrics_of_posteriors_have_the_values_worked_by_hand(name, expected):
    batches = [(LOG_PROBS[i : i + 1], LABELS[i : i + 1], torch.tensor([2])) for i in range(2)]
    assert value(getattr(metrics, name)(num_classes=3), *batches) == pytest.approx(expected, abs=1e-12)


def test_a_table_of_costs_goes_where_the_metric_goes():
    metric = metrics.WeightedKappa(num_classes=3, weighting=ONLY_TWO_AS_ONE)
    metric = pickle.loads(pickle.dumps(metric)).to("meta")
    metric.update(torch.zeros(2, dtype=torch.int64, device="meta"), torch.zeros(2, dtype=torch.int64, device="meta"))
    assert metric.compute().device.type == "meta"


def test_the_reference_is_the_decision_or_the_truth():
    batch = (torch.tensor([[0.1, 0.2, 0.4, 0.3]]).log(), torch.tensor([3]), torch.tensor([0]))
    for reference, expected in (("true", 2 / 3), ("predicted", 1 / 3)):
        soi = metrics.SideOrderIndex(num_classes=4, reference=reference)
        assert value(soi, batch) == pytest.approx(expected)
        number = metrics.NumViolations(num_classes=4, reference=reference)
        assert value(number, batch) == pytest.approx(3 * (1 - expected))
    assert value(metrics.ViolationSize(num_classes=4, reference="true"), batch) == pytest.approx(0.1)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("OrdinalClassificationIndex", {"beta": -1}, "`beta`.*>= 0, got -1"),
        ("OrdinalClassificationIndex", {"gamma": 0}, "`gamma`.*> 0, got 0"),
        ("UniformOrdinalClassificationIndex", {"beta": -1}, "`beta`.*>= 0, got -1"),
        ("WeightedKappa", {"weighting": "quadratc"}, "`weighting`.*Did you mean 'quadratic'"),
        ("WeightedKappa", {"weighting": ONLY_TWO_AS_ONE}, r"`weighting` must have shape \(4, 4\), got \(3, 3\)"),
        ("AccuracyWithin", {"k": -1}, "`k`.*>= 0, got -1"),
        ("ExpectedCalibrationError", {"num_bins": 0}, "`num_bins`.*>= 1, got 0"),
        ("ExtremeSensitivity", {"average": "mean"}, "Unknown `average` 'mean'"),
        ("IndexOfBalancedAccuracy", {"alpha": -0.5}, r"`alpha`.*>= 0 and <= 1, got -0\.5"),
        ("SideOrderIndex", {"reference": "truth"}, "`reference`.*Did you mean 'true'"),
        ("NumViolations", {"reference": "truth"}, "`reference`.*Did you mean 'true'"),
        ("ViolationSize", {"reference": "truth"}, "`reference`.*Did you mean 'true'"),
        ("UnimodalRate", {"tolerance": -0.1}, r"`tolerance`.*>= 0, got -0\.1"),
        ("UnimodalRate", {"definition": "week"}, "`definition`.*Did you mean 'weak'"),
        ("UnimodalRate", {"tolerance": 0.1, "definition": "rounded_to_two_decimals"}, "`tolerance` must be 0"),
    ],
)
def test_wrong_settings_are_refused_when_the_metric_is_made(name, settings, message):
    with pytest.raises(ValueError, match=message):
        getattr(metrics, name)(num_classes=4, **settings)


def test_a_metric_shows_its_settings():
    assert repr(metrics.SideOrderIndex(num_classes=70)) == "SideOrderIndex(num_classes=70, reference='predicted')"
    shown = "UnimodalRate(num_classes=3, tolerance=0.5, definition='weak')"
    assert repr(metrics.UnimodalRate(num_classes=3, tolerance=0.5, definition="weak")) == shown
