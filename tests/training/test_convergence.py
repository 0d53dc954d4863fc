import math

import numpy as np
import pandas as pd
import pytest
import torch

from onepeak.training.convergence import (
    SHARE,
    best_constant,
    hardly_trained,
    has_stalled,
    never_predicted,
    no_better_than_constant,
    ran_out,
    values_to_lower,
)
from onepeak.training.out_folder import write_history


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


def exponential(rate, epochs=100):
    """A loss that falls by a rate in steps whose length falls along a cosine, as learning rates do."""
    gone, values = 0.0, [1.0]
    for epoch in range(epochs):
        gone += 0.5 * (1 + math.cos(math.pi * epoch / epochs))
        values.append(math.exp(-rate * gone))
    return values


def test_a_training_on_its_way_has_run_out_and_one_that_has_arrived_has_not():
    arrived = exponential(0.2)
    assert arrived[-1] == min(arrived) < arrived[-2]
    assert not ran_out(arrived)
    assert ran_out(exponential(0.005))


UNDEFINED = [math.inf] * 6


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.0] + [1.0 + 0.9 * SHARE] * 3 + [1.0], False),  # the second half brought little
        ([2.0] + [1.0 + 1.1 * SHARE] * 3 + [1.0], True),
        ([2.0, 1.01, 1.9, 1.005, 1.0], False),  # one bad epoch at half time is no late gain
        ([2.0, 1.8, 1.7, 1.6, 1.0, 1.1, 1.1, 1.1, 1.1], False),  # the best came before the last quarter
        ([1.0, 1.0, 1.0, 1.0], False),
        ([1.0, 1.2, 1.1], False),
        ([-1.0, -2.0, -3.0, -4.0, -5.0], True),  # losses below zero are losses
        ([1.0, 0.5], True),
        ([math.inf, -0.1, -0.2, -0.3, -0.4, -0.5, -0.6], True),  # a first value that is not defined is no gain
        ([math.inf, -0.1, -0.58, -0.59, -0.6, -0.6, -0.6], False),
        ([math.inf, math.inf], False),
        ([*UNDEFINED, -0.5, -0.5], False),  # the gain begins with the first value that is defined
        ([*UNDEFINED, -0.5, -0.9], True),
    ],
)
def test_the_late_share_of_the_gain_decides(values, expected):
    assert ran_out(values) is expected


def test_what_chose_the_epoch_is_read_with_the_best_lowest(tmp_path):
    first, second = {"valid_mae": 2.0, "valid_qwk": math.nan}, {"valid_mae": 1.0, "valid_qwk": 0.5}
    write_history([{"epoch": 0, **first}, {"epoch": 1, **second}], tmp_path)
    assert values_to_lower(tmp_path, "mae") == [2.0, 1.0]
    assert values_to_lower(tmp_path, "qwk") == [math.inf, -0.5]
    assert values_to_lower(tmp_path, "last") == []


PATIENT = {"epochs": 20, "patience": 2}


class Stop:
    """Somebody who presses Ctrl-C at the beginning of an epoch."""

    def __init__(self, epoch):
        self.when = epoch

    def step(self, epoch, *_):
        if epoch == self.when:
            raise KeyboardInterrupt

    def epoch(self, row):
        pass


def test_it_stops_so_many_epochs_after_the_best_and_never_without_patience():
    assert [has_stalled(epoch, best_epoch=2, patience=3) for epoch in range(2, 7)] == [False] * 3 + [True] * 2
    assert not has_stalled(999, best_epoch=0, patience=None)


def test_a_run_that_stopped_says_when_and_is_until_then_the_one_without_patience(trained):
    folder, result = trained("stopped", **PATIENT)
    assert result["stopped_early"]
    assert result["epochs"] == result["best_epoch"] + 1 + 2 < 20
    assert (result["recipe"]["epochs"], result["recipe"]["patience"]) == (20, 2)
    whole, other = trained("whole", epochs=20)
    assert (other["epochs"], other["stopped_early"]) == (20, False)
    columns = ["epoch", "lr", "train_loss", "valid_mae"]  # the schedule is that of all epochs
    own, all_of_it = (pd.read_csv(each / "history.csv")[columns] for each in (folder, whole))
    assert own.equals(all_of_it.head(result["epochs"]))


def test_going_on_after_a_stop_does_not_begin_to_count_anew(trained):
    folder, whole = trained("whole", **PATIENT)
    last = whole["epochs"] - 1  # all but one of the epochs without a better one are behind
    with pytest.raises(KeyboardInterrupt):
        trained("stopped", **PATIENT, watches=(Stop(last),))
    other, result = trained("stopped", **PATIENT)
    assert (result["epochs"], result["best_epoch"]) == (whole["epochs"], whole["best_epoch"])
    assert (other / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
