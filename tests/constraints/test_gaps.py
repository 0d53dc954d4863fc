import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak import order_gaps
from onepeak.constraints.gaps import pairs_in_order
from onepeak.errors import InputError
from reference import constraints as reference
from reference.constraints import gaps


@given(st.integers(2, 12), st.integers(0, 2**31))
def test_gaps_are_the_definition(num_classes, seed):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(5, num_classes, dtype=torch.float64, generator=generator)
    labels = torch.randint(num_classes, (5,), generator=generator)
    expected = [reference.gaps(s, y) for s, y in zip(scores.tolist(), labels.tolist(), strict=True)]
    assert torch.equal(order_gaps(scores, labels), torch.from_numpy(np.stack(expected)))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        (torch.zeros(2, 1), torch.tensor([0, 0]), r"`scores` must have at least 2 numbers on its last axis, got shape"),
        (torch.zeros(2, 3), torch.tensor([-1, 0]), r"`labels` must be integers from 0 to 2, got -1\."),
    ],
)
def test_bad_input_is_named(scores, labels, message):
    with pytest.raises(InputError, match=message):
        order_gaps(scores, labels)


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=2, max_size=8), st.data())
def test_counts_are_the_gaps_below_zero_of_the_definition(row, data):
    label = data.draw(st.integers(0, len(row) - 1))
    assert pairs_in_order(torch.tensor([row]), torch.tensor([label])).item() == int((gaps(row, label) < 0).sum())


def test_two_minus_infinities_are_a_tie_and_no_samples_no_counts():
    scores = torch.tensor([[-torch.inf, -torch.inf, 0.0]])
    assert pairs_in_order(scores, torch.tensor([2])).tolist() == [1]
    assert pairs_in_order(torch.empty(0, 3), torch.empty(0, dtype=torch.int64)).tolist() == []
