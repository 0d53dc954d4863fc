import pytest
import torch

from onepeak.errors import InputError
from onepeak.posterior import is_unimodal


def test_one_peak_anywhere_is_unimodal():
    rows = torch.tensor([[0.1, 0.3, 0.6], [0.6, 0.3, 0.1], [0.2, 0.5, 0.3]]).log()
    assert is_unimodal(rows).tolist() == [True, True, True]


def test_two_peaks_and_ties_are_not_unimodal():
    rows = torch.tensor([[0.4, 0.2, 0.4], [0.25, 0.25, 0.5], [0.5, 0.25, 0.25], [0.4, 0.4, 0.2]]).log()
    assert is_unimodal(rows).tolist() == [False, False, False, False]


def test_a_second_bump_too_small_for_two_decimals_is_seen():
    distances = (torch.arange(70) - 30).abs().double()
    log_probs = (-0.3 * distances).log_softmax(-1)
    assert is_unimodal(log_probs)
    bump = log_probs.clone()
    bump[60] += 0.5
    assert bump.exp().max() > 0.1
    assert bump[60].exp() < 0.005
    assert not is_unimodal(bump)


def test_the_tolerance_is_in_log_probability():
    bump = torch.tensor([0.0, -1.0, -0.8])
    assert [bool(is_unimodal(bump, tolerance)) for tolerance in (0.0, 0.1, 0.3)] == [False, False, True]


def test_a_class_without_probability_ties_with_its_like():
    assert not is_unimodal(torch.tensor([0.0, -torch.inf, -torch.inf]))


@pytest.mark.bad_input
def test_a_negative_tolerance_is_refused():
    with pytest.raises(InputError, match=r"`tolerance` must be a finite number >= 0, got -0\.1\."):
        is_unimodal(torch.zeros(3), -0.1)
