"""Laws that every metric of the catalog keeps."""

import functools
import math
from dataclasses import dataclass, replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import reference.metrics as reference
from onepeak.metrics.catalog import METRICS, NAMES, collection

MAY_BE_UNDEFINED = {
    "qwk",
    "lwk",
    "kappa",
    "tau",
    "spearman",
    "iba",
    "extreme_sensitivity",
    "extreme_geometric_sensitivity",
}
"""Their docstrings say where they are nan though there are samples."""


@dataclass(frozen=True)
class Case:
    num_classes: int
    log_probs: Tensor
    labels: Tensor
    predicted: Tensor | None
    weight: Tensor | None = None

    def take(self, indices):
        return replace(
            self, log_probs=self.log_probs[indices], labels=self.labels[indices], predicted=self.predicted[indices]
        )

    def __len__(self):
        return len(self.labels)


@st.composite
def cases(draw, *, min_size=1, every_class=False):
    """Posteriors flat to sharp, predictions that need not be their mode, classes that need not occur."""
    num_classes = draw(st.sampled_from((2, 3, 5, 8)))  # few, so that all metrics are made few times
    size = draw(st.integers(min_size, 25))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    occurring = torch.randperm(num_classes, generator=generator)[
        : draw(st.integers(num_classes if every_class else 1, num_classes))
    ]
    labels = occurring[torch.randint(len(occurring), (size,), generator=generator)]
    labels[: len(occurring)] = occurring[:size]
    scores = torch.randn(size, num_classes, generator=generator, dtype=torch.float64) * draw(st.floats(0.1, 8.0))
    scores -= draw(st.floats(0.0, 3.0)) * (torch.arange(num_classes) - labels.unsqueeze(-1)).abs()
    log_probs = scores.log_softmax(dim=-1)
    predicted = log_probs.argmax(dim=-1)
    if draw(st.booleans()):
        predicted = torch.randint(num_classes, (size,), generator=generator)
    return Case(num_classes, log_probs, labels, predicted)


@functools.cache  # making thirty metrics takes longer than asking them
def all_metrics(num_classes):
    return collection(num_classes, names=NAMES)


def values(*batches):
    """All metrics of the catalog over some batches."""
    metrics = all_metrics(batches[0].num_classes)
    metrics.reset()
    for batch in batches:
        metrics.update(batch.log_probs, batch.labels, batch.predicted, sample_weight=batch.weight)
    return {name: number.item() for name, number in metrics.compute().items()}


def close(numbers):
    return pytest.approx(numbers, rel=1e-9, abs=1e-9, nan_ok=True)


@settings(max_examples=12)
@given(case=cases())
def test_the_catalog_agrees_with_the_slow_reference(case):
    assert values(case) == close(reference.values(case.log_probs, case.labels, case.predicted, case.num_classes))


@settings(max_examples=5)
@given(case=cases())
def test_without_a_decision_the_mode_is_taken(case):
    decided = replace(case, predicted=case.log_probs.argmax(dim=-1))
    assert values(replace(case, predicted=None)) == close(values(decided))


@settings(max_examples=5)
@given(case=cases(), data=st.data())
def test_the_order_of_samples_does_not_matter(case, data):
    order = data.draw(st.permutations(range(len(case))))
    assert values(case.take(order)) == close(values(case))


@settings(max_examples=5)
@given(case=cases(), data=st.data())
def test_splitting_into_batches_does_not_matter(case, data):
    cut = data.draw(st.integers(0, len(case)))
    assert values(case.take(slice(0, cut)), case.take(slice(cut, None))) == close(values(case))


@settings(max_examples=5)
@given(case=cases())
def test_reversing_the_scale_keeps_the_value(case):
    last = case.num_classes - 1
    mirrored = replace(
        case, log_probs=case.log_probs.flip(-1), labels=last - case.labels, predicted=last - case.predicted
    )
    assert values(mirrored) == close(values(case))


@settings(max_examples=5)
@given(case=cases())
def test_a_class_that_never_occurs_changes_nothing(case):
    # one more class at the upper end, so improbable that it is below all others and weighs nothing
    last = torch.full((len(case), 1), -1000.0, dtype=torch.float64)
    longer = case.num_classes + 1
    wider = replace(case, num_classes=longer, log_probs=torch.cat([case.log_probs, last], dim=-1))
    expected = values(case)
    for name in ("soi_predicted", "soi_true"):  # a share of pairs, of which there is one more, in order
        expected[name] = (expected[name] * (case.num_classes - 1) + 1) / case.num_classes
    for name in (
        "extreme_sensitivity",
        "extreme_geometric_sensitivity",
    ):  # of the last class of the scale, of which nothing is known now
        expected[name] = math.nan
    expected["sce"] *= case.num_classes / longer  # a mean over classes, of which one more is never expected and right
    # distances are a share of the scale's length, which is another now
    predicted, labels = case.predicted.tolist(), case.labels.tolist()
    expected["oci"] = reference.ordinal_classification_index(predicted, labels, longer)
    assert values(wider) == close(expected)


@settings(max_examples=5)
@given(case=cases(min_size=9, every_class=True))
def test_perfect_prediction_is_the_best_value(case):
    distance = (torch.arange(case.num_classes) - case.labels.unsqueeze(-1)).abs()
    log_probs = (-50.0 * distance).log_softmax(dim=-1)
    perfect = values(replace(case, log_probs=log_probs, predicted=case.labels))
    assert perfect == close({record.name: record.best(case.num_classes) for record in METRICS})


@settings(max_examples=12)
@given(case=cases())
def test_the_values_lie_in_the_range_of_their_record_or_are_undefined(case):
    got = values(case)
    for record in METRICS:
        low, high = record.range(case.num_classes)
        undefined = math.isnan(got[record.name]) and record.name in MAY_BE_UNDEFINED
        assert low - 1e-12 <= got[record.name] <= high + 1e-12 or undefined, record.name


@settings(max_examples=5)
@given(case=cases(), data=st.data())
def test_a_weight_counts_a_sample_so_many_times(case, data):
    counts = torch.tensor(data.draw(st.lists(st.integers(0, 3), min_size=len(case), max_size=len(case))))
    repeated = case.take(torch.arange(len(case)).repeat_interleave(counts))
    assert values(replace(case, weight=counts.double())) == close(values(repeated))


def test_the_values_are_nan_without_samples():
    metrics = collection(5, names=NAMES)
    assert all(value.isnan() for value in metrics.compute().values())  # warnings are errors, so there is none either
    metrics.update(torch.empty(0, 5), torch.empty(0, dtype=torch.int64))
    assert all(value.isnan() for value in metrics.compute().values())


@settings(max_examples=5)
@given(case=cases(min_size=2))
def test_the_shape_of_the_batch_does_not_matter(case):
    case = case.take(slice(0, 4))  # each sample is an update of all metrics
    single = [case.take(i) for i in range(len(case.labels))]  # no batch axis at all
    doubled = Case(
        case.num_classes,
        torch.stack([case.log_probs] * 2),
        torch.stack([case.labels] * 2),
        torch.stack([case.predicted] * 2),
    )
    assert values(*single) == close(values(case))
    assert values(doubled) == close(values(case, case))


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 3e-2)])
def test_lower_precision_moves_the_values_by_their_rounding_only(dtype, tolerance):
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(10, (400,), generator=generator)
    # sharp enough for bfloat16 to keep the order of the classes
    scores = -1.5 * (torch.arange(10) - labels.unsqueeze(-1) + 0.3).abs().double()
    scores[::4] = scores[::4].flip(-1)
    exact = scores.log_softmax(dim=-1)
    rounded = exact.to(dtype)
    predicted = exact.argmax(dim=-1)
    got = values(Case(10, rounded, labels, predicted))
    assert got == pytest.approx(values(Case(10, exact, labels, predicted)), rel=tolerance, abs=tolerance)
