import pytest

from onepeak.training.kept_epoch import hardly_trained


@pytest.mark.parametrize(
    ("best_epoch", "epochs", "selected_by", "early"),
    [(0, 60, "mae", True), (1, 8, "rps", True), (2, 60, "mae", False), (1, 7, "mae", False), (0, 60, "last", False)],
)
def test_one_of_the_first_two_of_many_epochs_is_early(best_epoch, epochs, selected_by, early):
    assert hardly_trained(best_epoch, epochs, selected_by) is early
