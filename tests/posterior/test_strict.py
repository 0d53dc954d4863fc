import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from onepeak.constraints import order_gaps
from onepeak.posterior.strict import break_ties

FORMS = pytest.mark.parametrize("traced", [False, True])
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def weakly_one_peaked(scores, peak, dtype):
    """The scores made to fall, or stay, away from the peak."""
    log_probs = torch.tensor(scores, dtype=torch.float64).log_softmax(-1)
    left, right = log_probs[: peak + 1], log_probs[peak:]
    left = left.clamp(max=float(log_probs[peak])).flip(0).cummin(0).values.flip(0)
    right = right.clamp(max=float(log_probs[peak])).cummin(0).values
    return torch.cat([left, right[1:]]).log_softmax(-1).to(dtype)


@FORMS
@DTYPES
@settings(max_examples=100)
@given(
    scores=st.one_of(
        st.lists(st.floats(-1e4, 0, width=32), min_size=2, max_size=30),
        st.lists(st.floats(-4, 0, width=16), min_size=2, max_size=30),
        st.lists(st.integers(0, 2).map(float), min_size=2, max_size=30),
    ),
    data=st.data(),
)
def test_rows_fall_strictly_and_keep_their_sum(traced, dtype, scores, data):
    peak = data.draw(st.integers(0, len(scores) - 1))
    weak = weakly_one_peaked(scores, peak, dtype)
    strict = break_ties(weak, torch.tensor(peak), traced=traced)
    assert (order_gaps(strict, torch.tensor(peak)) < 0).all()
    eps = torch.finfo(dtype).eps
    torch.testing.assert_close(strict, weak, rtol=4 * len(scores) * eps, atol=4 * eps)
    assert strict.exp().sum().item() == pytest.approx(weak.exp().sum().item(), abs=10 * eps)


@FORMS
@DTYPES
@pytest.mark.parametrize("value", [-1.9999998, -2.0, -3.9999998, -4.0, -0.99999994])
def test_plateaus_at_a_power_of_two_where_numbers_grow_sparser(traced, dtype, value):
    weak = torch.full((9,), value, dtype=dtype)
    for peak in range(9):
        strict = break_ties(weak, torch.tensor(peak), traced=traced)
        assert (order_gaps(strict, torch.tensor(peak)) < 0).all()


@FORMS
def test_a_row_without_ties_keeps_its_bits(traced):
    rows = torch.tensor([[-3.0, -1.0, -0.5, -2.0], [-9e3, -1e-9, -30.0, -1e4]])
    assert torch.equal(break_ties(rows, torch.tensor([2, 1]), traced=traced), rows)


@DTYPES
def test_neighbours_are_the_next_numbers_below(dtype):
    strict = break_ties(torch.full((100,), -4.6, dtype=dtype), torch.tensor(40))
    below = strict.nextafter(torch.tensor(-torch.inf, dtype=dtype))
    assert torch.equal(strict[41:], below[40:-1])
    assert torch.equal(strict[:40], below[1:41])
