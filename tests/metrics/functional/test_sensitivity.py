import numpy as np
import pytest
import sklearn.metrics
import torch
from dlordinal import metrics as dlordinal
from hypothesis import given
from hypothesis import strategies as st

from metrics.label_pairs import pairs_of_labels, tensors
from onepeak.metrics.functional import (
    balanced_accuracy,
    extreme_sensitivity,
    geometric_mean_sensitivity,
    index_of_balanced_accuracy,
    minimum_sensitivity,
)

PAIRS = pairs_of_labels(min_size=1)


@given(pairs=PAIRS)
def test_scikit_learn_agrees(pairs):
    predicted, labels = tensors(pairs)
    occurring = sorted(set(labels.tolist()))
    recalls = sklearn.metrics.recall_score(labels, predicted, labels=occurring, average=None)
    assert balanced_accuracy(predicted, labels, num_classes=7).item() == pytest.approx(recalls.mean())
    assert minimum_sensitivity(predicted, labels, num_classes=7).item() == pytest.approx(recalls.min())
    geometric = geometric_mean_sensitivity(predicted, labels, num_classes=7).item()
    assert geometric == pytest.approx(recalls.prod() ** (1 / len(recalls)))


@given(pairs=PAIRS)
def test_dlordinal_agrees_once_every_class_occurs(pairs):
    predicted, labels = tensors(pairs + [(k, k) for k in range(7)])
    theirs = labels.numpy(), predicted.numpy()
    assert minimum_sensitivity(predicted, labels, num_classes=7).item() == pytest.approx(
        dlordinal.minimum_sensitivity(*theirs)
    )
    assert extreme_sensitivity(predicted, labels, num_classes=7).item() == pytest.approx(dlordinal.mes(*theirs))
    geometric = extreme_sensitivity(predicted, labels, num_classes=7, average="geometric").item()
    assert geometric == pytest.approx(dlordinal.gmes(*theirs))
    assert geometric == pytest.approx(dlordinal.gmsec(*theirs))


def test_the_extremes_are_those_of_the_scale_and_not_those_that_occur():
    # of grades 0 to 4 nobody has grade 4: how well that is found is not known
    labels = torch.tensor([0, 0, 3])
    assert extreme_sensitivity(labels, labels, num_classes=5).isnan()
    # dlordinal takes grade 3 for the last one
    assert dlordinal.mes(labels.numpy(), labels.numpy()) == 1


def test_dlordinal_takes_perfect_probabilities_for_wrong_ones():
    labels = torch.tensor([0, 1, 2])
    probs = torch.tensor([[0.9, 0.1, 0.0], [0.1, 0.8, 0.1], [0.0, 0.1, 0.9]])
    predicted = probs.argmax(dim=-1)
    for average, theirs in (("arithmetic", dlordinal.mes), ("geometric", dlordinal.gmes)):
        assert extreme_sensitivity(predicted, labels, num_classes=3, average=average).item() == 1
        # it makes integers of them before it looks for the highest: all zero, so all of the first class
        assert theirs(labels.numpy(), probs.numpy()) == (0.5 if average == "arithmetic" else 0)


def test_a_class_that_is_never_true_but_predicted_counts_against_the_others_only():
    labels, predicted = torch.tensor([0, 0, 1]), torch.tensor([0, 2, 1])
    assert minimum_sensitivity(predicted, labels, num_classes=3).item() == 0.5
    # dlordinal counts the class that is only predicted as one that is never found
    with pytest.warns(sklearn.exceptions.UndefinedMetricWarning):
        assert dlordinal.minimum_sensitivity(labels.numpy(), predicted.numpy()) == 0


@given(pairs=PAIRS, alpha=st.floats(0, 1))
def test_the_index_of_two_classes_is_that_of_its_authors_from_both_sides(pairs, alpha):
    predicted, labels = tensors([(p % 2, y % 2) for p, y in pairs] + [(0, 0), (1, 1)])
    (tn, fp), (fn, tp) = sklearn.metrics.confusion_matrix(labels, predicted)
    positive, negative = tp / (tp + fn), tn / (tn + fp)
    both = [(1 + alpha * (a - b)) * a * b for a, b in ((positive, negative), (negative, positive))]
    got = index_of_balanced_accuracy(predicted, labels, num_classes=2, alpha=alpha).item()
    assert got == pytest.approx(np.mean(both))


def test_seventy_rarely_found_classes_do_not_underflow():
    # every class is found once in 100 000 times: the product of seventy is 1e-350
    labels = torch.arange(70).repeat(2)
    predicted = torch.cat([torch.arange(70), (torch.arange(70) + 1) % 70])
    weight = torch.cat([torch.ones(70), torch.full((70,), 99_999.0)]).double()
    got = geometric_mean_sensitivity(predicted, labels, num_classes=70, sample_weight=weight).item()
    assert got == pytest.approx(1e-5)
