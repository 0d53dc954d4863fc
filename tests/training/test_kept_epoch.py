import math

import numpy as np
import pytest
import torch

from onepeak.training.kept_epoch import best_constant, hardly_trained, never_predicted, no_better_than_constant


@pytest.mark.parametrize(
    ("best_epoch", "epochs", "selected_by", "order", "chance", "early"),
    [
        (0, 60, "mae", 0.5, 0.75, True),
        (1, 8, "rps", 0.75, 0.75, True),
        (2, 60, "mae", 0.5, 0.75, False),
        (1, 7, "mae", 0.5, 0.75, False),
        (0, 60, "last", 0.5, 0.75, False),
        (0, 60, "mae", 0.99, 0.75, False),
        (0, 60, "mae", 1.0, 1.0, False),
        (0, 60, "mae", 0.5, float("nan"), False),
    ],
)
def test_one_of_the_first_two_of_many_epochs_that_is_out_of_order_is_early(
    best_epoch, epochs, selected_by, order, chance, early
):
    assert hardly_trained(best_epoch, epochs, selected_by, order=order, chance=chance) is early


@pytest.mark.parametrize("seed", range(5))
def test_the_best_constant_is_a_median_of_the_labels(seed):
    labels = np.random.default_rng(seed).integers(0, 6, 25)
    label, error = best_constant(torch.from_numpy(labels), 8)
    assert label == np.median(labels)
    assert error == pytest.approx(np.mean(np.abs(labels - np.median(labels))), rel=1e-12)


def test_one_answer_to_everything_is_no_better_than_the_best_constant_whatever_it_is():
    labels = torch.tensor([0, 0, 1, 2, 2, 2, 3])
    _, constant = best_constant(labels, 4)
    for answer in range(4):
        error = float((labels - answer).abs().float().mean())  # float32, as metrics are
        assert no_better_than_constant(error, constant)
    one_better = float((labels - torch.tensor([2, 2, 2, 2, 2, 2, 3])).abs().float().mean())
    assert not no_better_than_constant(one_better, constant)


def test_of_one_label_only_and_of_old_records_nothing_is_said():
    assert best_constant(torch.tensor([2, 2]), 4) == (2, 0.0)
    assert not no_better_than_constant(0.5, 0.0)
    assert not no_better_than_constant(0.5, math.nan)


def test_classes_that_are_there_and_never_the_answer_are_counted():
    labels, predicted = torch.tensor([3, 1, 1, 0, 3, 3]), torch.tensor([1, 1, 0, 2, 1, 0])
    assert never_predicted(labels, predicted) == {3: 3}  # 0 and 1 are answers, of 2 there is none
    assert never_predicted(labels, labels) == {}
