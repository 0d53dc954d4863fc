import pytest

from onepeak.training.kept_epoch import hardly_trained


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
