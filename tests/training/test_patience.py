"""A training that gets no better stops, and its record says so."""

from dataclasses import replace

import pandas as pd
import pytest

from onepeak.training.patience import epochs_in_words, has_stalled
from onepeak.training.schedule import learning_rate
from training.planted import RECIPE

PATIENT = {"epochs": 60, "patience": 3}


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


def test_one_epoch_is_told_in_the_singular():
    assert epochs_in_words(replace(RECIPE, epochs=1, patience=1)) == "at most 1 epoch"


def test_the_record_says_that_a_run_stopped_and_when(trained):
    folder, result = trained(**PATIENT)
    assert result["stopped_early"]
    assert result["epochs"] == result["best_epoch"] + 1 + 3 < 60
    assert (result["recipe"]["epochs"], result["recipe"]["patience"]) == (60, 3)
    history = pd.read_csv(folder / "history.csv")
    assert len(history) == result["epochs"]
    recipe = replace(RECIPE, **PATIENT)  # of all epochs is the schedule, however few are run
    assert history["lr"].tolist() == pytest.approx([learning_rate(recipe, epoch) for epoch in history["epoch"]])


def test_until_it_stops_a_run_is_the_one_without_patience(trained):
    _, stopped = trained("stopped", **PATIENT)
    folder, whole = trained("whole", epochs=60)
    assert (whole["epochs"], whole["stopped_early"]) == (60, False)
    columns = ["epoch", "lr", "train_loss", "valid_mae"]
    own, all_of_it = (pd.read_csv(each / "history.csv")[columns] for each in (folder.parent / "stopped", folder))
    assert own.equals(all_of_it.head(stopped["epochs"]))


def test_a_run_that_ends_with_its_last_epoch_has_not_stopped_early(trained):
    _, result = trained(epochs=3, patience=3)
    assert (result["epochs"], result["stopped_early"]) == (3, False)


def test_going_on_after_a_stop_does_not_begin_to_count_anew(trained):
    folder, whole = trained("whole", **PATIENT)
    last = whole["epochs"] - 1  # all but one of the epochs without a better one are behind
    with pytest.raises(KeyboardInterrupt):
        trained("stopped", **PATIENT, watches=(Stop(last),))
    other, result = trained("stopped", **PATIENT)
    assert (result["epochs"], result["best_epoch"]) == (whole["epochs"], whole["best_epoch"])
    assert (other / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
