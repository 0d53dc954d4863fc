import pytest

from onepeak.cli.train.warnings import first_weights_notes, training_warnings
from onepeak.metrics.functional import side_order_chance

SETTLED = [1.0, 0.5, 0.4, 0.4, 0.4, 0.39, 0.39, 0.39, 0.39, 0.389]
FALLING = [1.0, 0.9, 0.8, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4]


def result_of(
    soi,
    *,
    best_epoch,
    epochs=10,
    selected_by="mae",
    num_valid=100,
    num_test=100,
    mae=0.4,
    test_mae=0.4,
    silent=None,
    **changes,
):
    return {
        "metrics": {"valid": {"mae": mae, "unimodal": 1.0}, "test": {"soi_predicted": soi, "mae": test_mae}},
        "constant": {"label": "mild", "valid_mae": 0.75, "test_mae": 0.6},
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


def codes(result, num_classes=5, values=SETTLED):
    return [note.code for note in training_warnings(result, num_classes, values)]


GAP = {"label": "mild", "probability": 0.178, "share": 0.083}
GROUPS = {"train": 90, "valid": 30, "test": 30}


@pytest.mark.parametrize(
    ("result", "code", "words"),
    [
        (result_of(side_order_chance(5), best_epoch=3), "no-order", ("70.0%",)),
        (
            result_of(side_order_chance(5, decision="median"), best_epoch=3, decision="median"),
            "no-order",
            ("62.6%",),
        ),
        (result_of(0.5, best_epoch=1, epochs=60), "hardly-trained", ("epoch 2 of 60", "validation mae")),
        (result_of(0.99, best_epoch=3, num_valid=24), "few-samples", ("24 validation samples", "between 82 and")),
        (
            result_of(0.99, best_epoch=3, num_valid=240, num_groups=GROUPS),
            "few-samples",
            ("240 validation samples of 30 groups",),
        ),
        (
            result_of(0.99, best_epoch=3, frequency_gap=GAP),
            "off-by-class",
            ("'mild' is 0.178", "validation part 0.083", "too short", "one-peaked posteriors may not fit"),
        ),
        (result_of(0.99, best_epoch=3, mae=0.75), "no-better-than-constant", ("0.750", "'mild' (0.750)")),
        (
            result_of(0.99, best_epoch=3, test_mae=0.65),
            "no-better-than-constant",
            ("the test MAE, 0.650", "'mild' (0.600)"),
        ),
        (
            result_of(0.99, best_epoch=3, silent={"severe": 21, "total loss": 3}),
            "never-predicted",
            ("severe (21), total loss (3)", "--class-weight balanced"),
        ),
        (result_of(0.99, best_epoch=3, num_test=1), "few-test-samples", ("only 1 test sample",)),
    ],
)
def test_what_makes_figures_mean_little_is_told_with_its_numbers(result, code, words):
    (note,) = training_warnings(result, 5, SETTLED)
    assert note.code == code
    for each in words:
        assert each in note


@pytest.mark.parametrize(
    ("result", "num_classes"),
    [
        (result_of(side_order_chance(5) + 0.01, best_epoch=3), 5),
        (result_of(side_order_chance(5) - 0.02, best_epoch=3, decision="median"), 5),
        (result_of(1.0, best_epoch=3), 2),  # every order of two classes is the best there is
        (result_of(0.99, best_epoch=1, epochs=60), 5),  # learnt at once
        (result_of(0.99, best_epoch=3, mae=0.74), 5),
        (result_of(0.99, best_epoch=3, silent={"severe": 21}), 70),  # of 70 ages some never are
    ],
)
def test_figures_that_mean_something_are_not_doubted(result, num_classes):
    assert codes(result, num_classes) == []


def test_a_training_that_was_still_getting_better_may_be_too_short():
    result = result_of(0.99, best_epoch=9)
    assert codes(result, values=FALLING) == ["still-improving"]
    assert codes(result, values=FALLING[:8]) == []  # stopped early
    assert codes(result, values=[]) == []  # nothing was chosen


def test_class_weights_are_not_advised_where_they_are_set_or_where_the_class_is_frequent():
    weighted = result_of(0.99, best_epoch=3, silent={"severe": 3}, class_weight=[1.0] * 5)
    frequent = result_of(0.99, best_epoch=3, silent={"mild": 60})
    for result in (weighted, frequent):
        (note,) = training_warnings(result, 5, SETTLED)
        assert (note.code, "--class-weight" in note) == ("never-predicted", False)


@pytest.mark.parametrize(("backbone", "noted"), [("resnet18", True), ("small", False), ("mlp", False)])
def test_a_large_network_without_weights_is_noted_with_the_flag_that_gives_them(backbone, noted):
    notes = first_weights_notes(backbone, None)
    assert [(note.code, "--weights" in note) for note in notes] == [("random-weights", True)] * noted
    assert first_weights_notes(backbone, "resnet18.safetensors") == ()
