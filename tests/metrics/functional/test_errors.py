import pytest
import sklearn.metrics
import torch
from dlordinal import metrics as dlordinal
from hypothesis import given

from metrics.label_pairs import pairs_of_labels, tensors
from onepeak.metrics.functional import (
    absolute_error_of_median,
    accuracy,
    accuracy_within,
    average_mean_absolute_error,
    maximum_mean_absolute_error,
    mean_absolute_error,
    root_mean_squared_error,
)

PAIRS = pairs_of_labels(min_size=1)


def test_the_error_of_the_median_is_worked_by_hand_and_no_other_answer_is_expected_to_be_nearer():
    probs = torch.tensor([[0.4, 0.1, 0.2, 0.3], [0.0, 0.1, 0.2, 0.7]], dtype=torch.float64)  # medians 1 and 3
    labels = torch.arange(4)
    errors = torch.stack([absolute_error_of_median(probs.log(), label.expand(2)) for label in labels], dim=-1)
    assert errors.tolist() == [[1, 0, 1, 2], [3, 2, 1, 0]]
    expected = (probs.unsqueeze(-1) * (labels.unsqueeze(-1) - labels).abs()).sum(dim=-2)  # of every constant answer
    torch.testing.assert_close((probs * errors).sum(dim=-1), expected.min(dim=-1).values)


def test_distances_are_in_classes_not_in_classes_that_occur():
    swapped = torch.tensor([0, 69]), torch.tensor([69, 0])
    assert average_mean_absolute_error(*swapped, num_classes=70).item() == 69
    assert maximum_mean_absolute_error(*swapped, num_classes=70).item() == 69
    far = torch.tensor([4, 4, 0]), torch.tensor([0, 0, 4])
    assert accuracy_within(*far, k=1).item() == 0
    # dlordinal takes the classes from the data, which makes neighbours of what is far apart
    assert dlordinal.amae(swapped[1].numpy(), swapped[0].numpy()) == 1
    assert dlordinal.accuracy_off1(far[1].numpy(), far[0].numpy()) == 1


@given(pairs=PAIRS)
def test_scikit_learn_agrees(pairs):
    predicted, labels = tensors(pairs)
    assert mean_absolute_error(predicted, labels).item() == pytest.approx(
        sklearn.metrics.mean_absolute_error(labels, predicted)
    )
    assert accuracy(predicted, labels).item() == pytest.approx(sklearn.metrics.accuracy_score(labels, predicted))
    assert root_mean_squared_error(predicted, labels).item() == pytest.approx(
        sklearn.metrics.root_mean_squared_error(labels, predicted)
    )


@given(pairs=PAIRS)
def test_dlordinal_agrees_once_every_class_occurs(pairs):
    every = [(k, k) for k in range(7)]
    predicted, labels = tensors(pairs + every)
    theirs = labels.numpy(), predicted.numpy()
    assert accuracy_within(predicted, labels, k=1).item() == pytest.approx(dlordinal.accuracy_off1(*theirs))
    assert average_mean_absolute_error(predicted, labels, num_classes=7).item() == pytest.approx(
        dlordinal.amae(*theirs)
    )
    assert maximum_mean_absolute_error(predicted, labels, num_classes=7).item() == pytest.approx(
        dlordinal.mmae(*theirs)
    )


def test_labels_of_one_byte_do_not_overflow():
    predicted, labels = torch.tensor([0, 200], dtype=torch.uint8), torch.tensor([200, 0], dtype=torch.uint8)
    assert mean_absolute_error(predicted, labels).item() == 200
    assert average_mean_absolute_error(predicted, labels, num_classes=201).item() == 200


@pytest.mark.bad_input
def test_wrong_labels_are_named():
    right = torch.tensor([0, 1])
    with pytest.raises(ValueError, match="`labels` must be a tensor of integers, got list"):
        mean_absolute_error(right, [0, 1])
    with pytest.raises(ValueError, match=r"`predicted` must have shape \(2,\), one per sample, got \(3,\)"):
        mean_absolute_error(torch.tensor([0, 1, 2]), right)
    with pytest.raises(ValueError, match="`labels` must be integers >= 0, got -1"):
        accuracy(right, torch.tensor([0, -1]))
    with pytest.raises(ValueError, match="`k` must be an integer >= 0, got -1"):
        accuracy_within(right, right, k=-1)
    with pytest.raises(ValueError, match=r"`sample_weight` must have shape \(2,\), got \(1,\)"):
        accuracy(right, right, sample_weight=torch.tensor([1.0]))
