import pytest
import sklearn.metrics
import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak.metrics.functional import confusion_matrix


@given(pairs=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.floats(0.1, 5)), min_size=1, max_size=30))
def test_scikit_learn_agrees_with_weights_and_absent_classes(pairs):
    predicted, labels, weights = zip(*pairs, strict=True)
    table = confusion_matrix(
        torch.tensor(predicted),
        torch.tensor(labels),
        num_classes=6,
        sample_weight=torch.tensor(weights, dtype=torch.float64),
    )
    theirs = sklearn.metrics.confusion_matrix(labels, predicted, labels=range(6), sample_weight=weights)
    torch.testing.assert_close(table, torch.from_numpy(theirs))


@pytest.mark.bad_input
def test_labels_outside_the_classes_are_refused_rather_than_counted_elsewhere():
    with pytest.raises(ValueError, match="`labels` must be integers from 0 to 2, got -1"):
        confusion_matrix(torch.tensor([2]), torch.tensor([-1]), num_classes=3)
    with pytest.raises(ValueError, match="`num_classes` must be an integer >= 2, got 1"):
        confusion_matrix(torch.tensor([0]), torch.tensor([0]), num_classes=1)
