"""Pairs of a predicted and a true label, for metrics of labels."""

import torch
from hypothesis import strategies as st


def pairs_of_labels(*, min_size):
    """Lists of pairs among seven classes, of which some may not occur."""
    return st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=min_size, max_size=40)


def tensors(pairs):
    """The predicted labels and the true ones."""
    predicted, labels = zip(*pairs, strict=True)
    return torch.tensor(predicted), torch.tensor(labels)
