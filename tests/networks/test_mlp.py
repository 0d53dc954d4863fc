import pytest
import torch

from onepeak.errors import InputError
from onepeak.networks.mlp import Mlp


def test_the_last_width_is_what_it_gives():
    mlp = Mlp(5, hidden=(7, 3))
    assert mlp(torch.zeros(2, 5)).shape == (2, mlp.num_channels) == (2, 3)


def test_without_hidden_layers_the_rows_go_through(noise):
    rows = noise(4, 5)
    assert Mlp(5, hidden=())(rows) is rows


def test_a_batch_of_one_row_trains_and_no_row_sees_another(noise):
    mlp, rows = Mlp(5).train(), noise(6, 5)
    torch.testing.assert_close(mlp(rows[:1]), mlp(rows)[:1])


def test_dropout_works_in_training_only(noise):
    mlp, rows = Mlp(5, hidden=(64,), dropout=0.5), noise(50, 5)
    kept = (mlp.eval()(rows) > 0).float().mean().item()
    assert (mlp.train()(rows) > 0).float().mean().item() == pytest.approx(kept / 2, abs=0.05)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden": (4, 0)}, "`hidden` must be an integer >= 1, got 0"),
        ({"dropout": 1.0}, "`dropout` must be a finite number >= 0 and < 1, got 1.0"),
        ({"hidden": (), "dropout": 0.1}, "`dropout` does nothing without hidden layers, got 0.1"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        Mlp(3, **settings)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (torch.zeros(2, 4), r"`rows` must have shape \(batch, 3\), got \(2, 4\)"),
        (torch.zeros(2, 3, dtype=torch.int64), r"`rows` must be a floating-point tensor, got torch\.int64"),
    ],
)
def test_rows_that_do_not_fit_are_refused(rows, message):
    with pytest.raises(InputError, match=message):
        Mlp(3)(rows)
