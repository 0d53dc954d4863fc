from pathlib import Path

import pytest

from onepeak.cli.train.warnings import first_weights_notes, training_warnings
from onepeak.metrics.functional import side_order_chance

SETTLED = [1.0, 0.5, 0.4, 0.4, 0.4, 0.39, 0.39, 0.39, 0.39, 0.389]
FALLING = [1.0, 0.9, 0.8, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4]


def result_of(
    soi, *, best_epoch, epochs=10, selected_by="mae", num_valid=100, num_test=100, mae=0.4, silent=None, **changes
):
    return {
        "metrics": {"valid": {"mae": mae, "unimodal": 1.0}, "test": {"soi_predicted": soi}},
        "constant": {"label": "mild", "valid_mae": 0.75},
        "never_predicted": silent or {},
        "frequency_gap": None,
        "num_groups": None,
        "sizes": {"valid": num_valid, "test": num_test},
        "best_epoch": best_epoch,
        "epochs": epochs,
        "selected_by": selected_by,
        "recipe": {"epochs": 10, "balanced": False, "class_weight": None},
        "class_weight": None,
        "decision": "mode",
        **changes,
    }


def test_an_order_that_is_no_better_than_chance_is_doubted():
    chance = side_order_chance(5)
    (doubt,) = training_warnings(result_of(chance, best_epoch=3), 5, SETTLED)
    assert doubt.startswith("the SOI is no better than that of random posteriors (70.0%)")
    assert training_warnings(result_of(chance + 0.01, best_epoch=3), 5, SETTLED) == []


def test_chance_is_that_of_the_decision():
    below_that_of_the_mode = result_of(side_order_chance(5) - 0.02, best_epoch=3, decision="median")
    assert training_warnings(below_that_of_the_mode, 5, SETTLED) == []
    chance = side_order_chance(5, decision="median")
    (doubt,) = training_warnings(result_of(chance, best_epoch=3, decision="median"), 5, SETTLED)
    assert doubt.startswith("the SOI is no better than that of random posteriors (62.6%)")


def test_of_two_classes_every_order_is_the_best_there_is():
    assert training_warnings(result_of(1.0, best_epoch=3), 2, SETTLED) == []


def test_a_training_that_was_still_getting_better_may_be_too_short():
    result = result_of(0.99, best_epoch=9)
    (doubt,) = training_warnings(result, 5, FALLING)
    assert doubt.startswith("the validation mae was still improving at the last epoch")
    assert "--epochs" in doubt
    assert training_warnings(result, 5, SETTLED) == []
    assert training_warnings(result, 5, FALLING[:8]) == []  # stopped early
    assert training_warnings(result, 5, []) == []  # nothing was chosen


def test_one_of_the_first_epochs_is_told_in_place_of_what_would_follow_from_it():
    (doubt,) = training_warnings(result_of(0.5, best_epoch=1, epochs=60), 5, SETTLED)
    assert doubt.startswith("epoch 2 of 60 was kept, by the validation mae: the network is hardly trained")
    assert training_warnings(result_of(0.99, best_epoch=1, epochs=60), 5, SETTLED) == []  # learnt at once


def test_patience_that_ended_it_soon_does_not_hide_that_an_early_epoch_was_kept():
    (doubt,) = training_warnings(result_of(0.5, best_epoch=0, epochs=4), 5, SETTLED[:4])
    assert doubt.startswith("epoch 1 of 4 was kept, by the validation mae: the network is hardly trained")


def test_intervals_from_few_samples_are_doubted():
    (doubt,) = training_warnings(result_of(0.99, best_epoch=3, num_valid=24), 5, SETTLED)
    assert doubt.startswith("90 % intervals were set on 24 validation samples: real coverage is likely between 82 and")


def test_intervals_from_few_groups_are_doubted_whatever_the_samples():
    result = result_of(0.99, best_epoch=3, num_valid=240, num_groups={"train": 90, "valid": 30, "test": 30})
    (doubt,) = training_warnings(result, 5, SETTLED)
    assert doubt.startswith("90 % intervals were set on 240 validation samples of 30 groups: real coverage is likely")


def test_posteriors_that_are_off_by_class_are_told_with_the_likely_reason():
    result = result_of(0.99, best_epoch=3, frequency_gap={"label": "mild", "probability": 0.178, "share": 0.083})
    (doubt,) = training_warnings(result, 5, SETTLED)
    assert doubt.startswith("the mean probability of 'mild' is 0.178, its share of the validation part 0.083: the tra")
    assert "one-peaked posteriors may not fit" in doubt
    for setting in ({"balanced": True}, {"class_weight": "balanced"}, {"class_weight": [1.0, 2.0]}):
        (doubt,) = training_warnings({**result, "recipe": {**result["recipe"], **setting}}, 5, SETTLED)
        assert "decisions by cost will over-call rare ones" in doubt


def test_an_error_no_better_than_that_of_one_answer_to_everything_is_told_with_that_answer():
    (doubt,) = training_warnings(result_of(0.99, best_epoch=3, mae=0.75), 5, SETTLED)
    assert doubt.startswith("the validation MAE, 0.750, is no better than always predicting 'mild' (0.750). More")
    assert training_warnings(result_of(0.99, best_epoch=3, mae=0.74), 5, SETTLED) == []


def test_rare_classes_that_are_never_the_answer_are_named_with_what_helps():
    result = result_of(0.99, best_epoch=3, silent={"severe": 21, "total loss": 3})
    (doubt,) = training_warnings(result, 5, SETTLED)
    assert doubt.startswith(
        "never predicted, though the validation part has samples of it: severe (21), total loss (3). "
    )
    assert "--class-weight balanced" in doubt
    assert training_warnings(result, 70, SETTLED) == []  # of 70 ages some never are


def test_class_weights_are_not_advised_where_they_are_set_or_where_the_class_is_frequent():
    weighted = result_of(0.99, best_epoch=3, silent={"severe": 3}, class_weight=[1.0] * 5)
    frequent = result_of(0.99, best_epoch=3, silent={"mild": 60})
    for result, name in ((weighted, "severe (3)"), (frequent, "mild (60)")):
        assert training_warnings(result, 5, SETTLED) == [
            f"never predicted, though the validation part has samples of it: {name}"
        ]


def test_a_test_on_next_to_nothing_is_doubted():
    (doubt,) = training_warnings(result_of(0.99, best_epoch=3, num_test=1), 5, SETTLED)
    assert doubt == "only 1 test sample: the test figures are uncertain"


@pytest.mark.parametrize("backbone", ["resnet18", "convnext_tiny"])
def test_a_large_network_without_weights_is_noted_with_the_flag_that_gives_them(backbone):
    (note,) = first_weights_notes(backbone, None)
    assert note.startswith(f"{backbone} starts from random weights")
    assert first_weights_notes(backbone, Path("resnet18.safetensors")) == ()


@pytest.mark.parametrize("backbone", ["small", "mlp"])
def test_networks_that_are_made_to_begin_with_nothing_are_not_noted(backbone):
    assert first_weights_notes(backbone, None) == ()
