"""Laws that every metric of the catalog keeps."""

import math
from dataclasses import dataclass, replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import reference.metrics as reference
from onepeak.metrics.catalog import METRICS, collection

RECORDS = [pytest.param(record, id=record.name) for record in METRICS]


@dataclass(frozen=True)
class Case:
    num_classes: int
    log_probs: Tensor
    labels: Tensor
    predicted: Tensor
    weight: Tensor | None = None

    def take(self, indices):
        return replace(
            self, log_probs=self.log_probs[indices], labels=self.labels[indices], predicted=self.predicted[indices]
        )

    def __len__(self):
        return len(self.labels)


@st.composite
def cases(draw, *, min_size=1, min_labels=1):
    """Posteriors flat to sharp, predictions that need not be their mode, classes that need not occur."""
    num_classes = draw(st.integers(2, 9))
    size = draw(st.integers(min_size, 25))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    occurring = torch.randperm(num_classes, generator=generator)[: draw(st.integers(min_labels, num_classes))]
    labels = occurring[torch.randint(len(occurring), (size,), generator=generator)]
    labels[: len(occurring)] = occurring[:size]
    scores = torch.randn(size, num_classes, generator=generator, dtype=torch.float64) * draw(st.floats(0.1, 8.0))
    scores -= draw(st.floats(0.0, 3.0)) * (torch.arange(num_classes) - labels.unsqueeze(-1)).abs()
    log_probs = scores.log_softmax(dim=-1)
    predicted = log_probs.argmax(dim=-1)
    if draw(st.booleans()):
        predicted = torch.randint(num_classes, (size,), generator=generator)
    return Case(num_classes, log_probs, labels, predicted)


def value(record, *batches):
    metric = record.make(batches[0].num_classes)
    for batch in batches:
        metric.update(batch.log_probs, batch.labels, batch.predicted, sample_weight=batch.weight)
    return metric.compute().item()


def close(number):
    return pytest.approx(number, rel=1e-9, abs=1e-9, nan_ok=True)


@given(case=cases())
def test_the_catalog_agrees_with_the_slow_reference(case):
    metrics = collection(case.num_classes)
    metrics.update(case.log_probs, case.labels, case.predicted)
    got = {name: number.item() for name, number in metrics.compute().items()}
    assert got == close(reference.values(case.log_probs, case.labels, case.predicted, case.num_classes))


@given(case=cases())
def test_without_a_decision_the_mode_is_taken(case):
    metrics = collection(case.num_classes)
    metrics.update(case.log_probs, case.labels)
    got = {name: number.item() for name, number in metrics.compute().items()}
    modes = case.log_probs.argmax(dim=-1)
    assert got == close(reference.values(case.log_probs, case.labels, modes, case.num_classes))


@pytest.mark.parametrize("record", RECORDS)
@settings(max_examples=20)
@given(case=cases(), data=st.data())
def test_the_order_of_samples_does_not_matter(record, case, data):
    order = data.draw(st.permutations(range(len(case))))
    assert value(record, case.take(order)) == close(value(record, case))


@pytest.mark.parametrize("record", RECORDS)
@settings(max_examples=20)
@given(case=cases(), data=st.data())
def test_splitting_into_batches_does_not_matter(record, case, data):
    cut = data.draw(st.integers(0, len(case)))
    assert value(record, case.take(slice(0, cut)), case.take(slice(cut, None))) == close(value(record, case))


@pytest.mark.parametrize("record", RECORDS)
@settings(max_examples=20)
@given(case=cases())
def test_reversing_the_scale_keeps_the_value(record, case):
    last = case.num_classes - 1
    mirrored = replace(
        case, log_probs=case.log_probs.flip(-1), labels=last - case.labels, predicted=last - case.predicted
    )
    assert value(record, mirrored) == close(value(record, case))


@pytest.mark.parametrize("record", RECORDS)
@settings(max_examples=20)
@given(case=cases())
def test_a_class_that_never_occurs_changes_nothing(record, case):
    # one more class at the upper end, so improbable that it is below all others and weighs nothing
    last = torch.full((len(case), 1), -1000.0, dtype=torch.float64)
    wider = replace(case, num_classes=case.num_classes + 1, log_probs=torch.cat([case.log_probs, last], dim=-1))
    expected = value(record, case)
    if record.name.startswith("soi"):  # a share of pairs, of which there is one more, in order
        expected = (expected * (case.num_classes - 1) + 1) / case.num_classes
    assert value(record, wider) == close(expected)


@pytest.mark.parametrize("record", RECORDS)
@settings(max_examples=20)
@given(case=cases(min_size=9, min_labels=2))
def test_perfect_prediction_is_the_best_value(record, case):
    distance = (torch.arange(case.num_classes) - case.labels.unsqueeze(-1)).abs()
    log_probs = (-50.0 * distance).log_softmax(dim=-1)
    perfect = replace(case, log_probs=log_probs, predicted=case.labels)
    assert value(record, perfect) == close(record.best(case.num_classes))


@pytest.mark.parametrize("record", RECORDS)
@settings(max_examples=20)
@given(case=cases())
def test_the_value_lies_in_the_range_of_the_record_or_is_undefined(record, case):
    low, high = record.range(case.num_classes)
    got = value(record, case)
    assert low - 1e-12 <= got <= high + 1e-12 or (math.isnan(got) and record.name in {"qwk", "tau", "spearman"})


@pytest.mark.parametrize("record", RECORDS)
@settings(max_examples=20)
@given(case=cases(), data=st.data())
def test_a_weight_counts_a_sample_so_many_times(record, case, data):
    counts = torch.tensor(data.draw(st.lists(st.integers(0, 3), min_size=len(case), max_size=len(case))))
    repeated = case.take(torch.arange(len(case)).repeat_interleave(counts))
    assert value(record, replace(case, weight=counts.double())) == close(value(record, repeated))


@pytest.mark.parametrize("record", RECORDS)
def test_the_value_is_nan_without_samples(record):
    metric = record.make(5)
    assert metric.compute().isnan()  # before any update; warnings are errors, so there is none either
    metric.update(torch.empty(0, 5), torch.empty(0, dtype=torch.int64))
    assert metric.compute().isnan()


@pytest.mark.parametrize("record", RECORDS)
@settings(max_examples=10)
@given(case=cases(min_size=2))
def test_the_shape_of_the_batch_does_not_matter(record, case):
    single = [case.take(i) for i in range(len(case.labels))]  # no batch axis at all
    doubled = Case(
        case.num_classes,
        torch.stack([case.log_probs] * 2),
        torch.stack([case.labels] * 2),
        torch.stack([case.predicted] * 2),
    )
    assert value(record, *single) == close(value(record, case))
    assert value(record, doubled) == close(value(record, case, case))


@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 3e-2)])
def test_lower_precision_moves_the_value_by_its_rounding_only(record, dtype, tolerance):
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(10, (400,), generator=generator)
    # sharp enough for bfloat16 to keep the order of the classes
    scores = -1.5 * (torch.arange(10) - labels.unsqueeze(-1) + 0.3).abs().double()
    scores[::4] = scores[::4].flip(-1)
    exact = scores.log_softmax(dim=-1)
    rounded = exact.to(dtype)
    predicted = exact.argmax(dim=-1)
    got = value(record, Case(10, rounded, labels, predicted))
    assert got == pytest.approx(value(record, Case(10, exact, labels, predicted)), rel=tolerance, abs=tolerance)
