import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak.constraints.order_counts import order_counts, pairs_in_order
from reference.constraints import gaps


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=2, max_size=8), st.data())
def test_counts_are_the_gaps_below_zero_of_the_definition(row, data):
    label, predicted = (data.draw(st.integers(0, len(row) - 1)) for _ in range(2))
    scores, labels = torch.tensor([row]), torch.tensor([label])
    counts = order_counts(scores, labels, torch.tensor([predicted]))
    assert counts.to_label.item() == pairs_in_order(scores, labels).item() == int((gaps(row, label) < 0).sum())
    assert counts.to_predicted.item() == int((gaps(row, predicted) < 0).sum())
    found = order_counts(scores, labels)
    assert found.predicted.item() == row.index(max(row))
    assert found.to_predicted.item() == int((gaps(row, row.index(max(row))) < 0).sum())


def test_two_minus_infinities_are_a_tie_and_no_samples_no_counts():
    scores = torch.tensor([[-torch.inf, -torch.inf, 0.0]])
    assert pairs_in_order(scores, torch.tensor([2])).tolist() == [1]
    assert order_counts(torch.empty(0, 3), torch.empty(0, dtype=torch.int64)).to_predicted.tolist() == []
