import copy
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import onepeak
import without_float64
from onepeak import ELBLoss, LogBarrier
from onepeak.constraints import log_barrier
from onepeak.constraints.gaps import order_cost
from onepeak.errors import InputError
from reference import constraints as reference


@given(st.floats(-1e4, 1e4), st.floats(0.1, 20))
def test_barrier_is_the_definition(gap, t):
    expected = torch.tensor([reference.barrier(gap, t)], dtype=torch.float64)
    torch.testing.assert_close(log_barrier(torch.tensor([gap], dtype=torch.float64), t), expected, rtol=1e-9, atol=1e-9)


def test_barrier_and_its_slope_are_continuous_where_the_branches_meet():
    t = 1.7
    at = torch.tensor([-1 / t**2 - 1e-9, -1 / t**2 + 1e-9], dtype=torch.float64, requires_grad=True)
    values = log_barrier(at, t)
    (slopes,) = torch.autograd.grad(values.sum(), at)
    assert abs(values[0] - values[1]) < 1e-8
    assert abs(slopes[0] - slopes[1]) < 1e-8
    torch.testing.assert_close(slopes, torch.full_like(slopes, t))


def test_tighten_grows_t_to_its_maximum():
    barrier = LogBarrier(num_classes=4, t=1.0, growth=1.5, t_max=2.0)
    seen = []
    for _ in range(3):
        barrier.tighten()
        seen.append(barrier.t.item())
    assert seen == [1.5, 2.0, 2.0]


def test_a_first_t_above_a_limit_that_nobody_set_is_the_limit():
    steep = onepeak.method("sord+elb", num_classes=5, t=10.0).constraint
    steep.tighten()
    assert (steep.t.item(), ELBLoss(5, t=7.0).constraint.t_max) == (10.0, 7.0)


def test_a_device_without_float64_takes_the_barrier_and_the_losses_with_it():
    barrier = LogBarrier(num_classes=4)
    barrier.tighten()
    barrier._apply(without_float64.moved)
    assert barrier.t.item() == 1.001  # the stand-in is the CPU, where t keeps its digits
    ELBLoss(num_classes=4)._apply(without_float64.moved)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_classes": 1}, r"`num_classes` must be an integer >= 2, got 1\."),
        ({"num_classes": True}, r"`num_classes` must be an integer >= 2, got True\."),
        ({"num_classes": 3, "t": math.nan}, r"`t` must be a finite number > 0, got nan\."),
        ({"num_classes": 3, "t": 2.0, "t_max": 1.0}, r"`t_max` must be a finite number >= 2, got 1\.0\."),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        LogBarrier(**settings)


def test_the_defined_cost_keeps_its_t_until_the_backward_pass():
    barrier = LogBarrier(num_classes=3, t=1.0, growth=2.0, t_max=8.0)
    scores = torch.tensor([[0.0, 3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    cost = order_cost(barrier, scores, torch.tensor([1]))
    barrier.tighten()
    cost.sum().backward()  # gaps -3 and 1 at t = 1: slopes 1 / 3 and 1
    torch.testing.assert_close(scores.grad, torch.tensor([[1 / 3, -1 / 3 - 1, 1]], dtype=torch.float64))


def test_the_cost_follows_t_however_it_is_written():
    scores, labels = torch.tensor([[0.0, 3.0, 1.0]]), torch.tensor([1])
    barrier = LogBarrier(num_classes=3)

    def expected():
        return order_cost(barrier, scores, labels)

    torch.testing.assert_close(barrier(scores, labels), expected())
    barrier.t.fill_(2.0)
    torch.testing.assert_close(barrier(scores, labels), expected())
    barrier.t = torch.tensor(3.0, dtype=torch.float64)
    torch.testing.assert_close(barrier(scores, labels), expected())
    barrier.load_state_dict({"t": torch.tensor(4.0, dtype=torch.float64)})
    torch.testing.assert_close(barrier(scores, labels), expected())
    copied = copy.deepcopy(barrier)
    copied.t.fill_(1.0)
    assert copied(scores, labels) != barrier(scores, labels)
