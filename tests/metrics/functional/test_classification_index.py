import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import reference.metrics as reference
from onepeak.metrics.functional import (
    closeness_evaluation_measure,
    ordinal_classification_index,
    uniform_ordinal_classification_index,
)

BOTH = [ordinal_classification_index, uniform_ordinal_classification_index]


def index_of(function, table, **settings):
    """The index of a table of true (row) by predicted (column) labels."""
    counts = torch.tensor(table, dtype=torch.float64)
    classes = torch.arange(len(table))
    labels, predicted = torch.meshgrid(classes, classes, indexing="ij")
    return function(predicted, labels, num_classes=len(table), sample_weight=counts, **settings).item()


@pytest.mark.parametrize(
    ("table", "quarter", "three_quarters"),
    [
        ([[4, 0, 0, 0], [0, 6, 0, 0], [0, 0, 0, 0], [0, 0, 0, 3]], 0.00, 0.00),
        ([[0, 4, 0, 0], [0, 0, 6, 0], [0, 0, 0, 0], [0, 0, 0, 3]], 0.50, 0.63),
        ([[0, 0, 4, 0], [0, 0, 6, 0], [0, 0, 0, 0], [0, 0, 0, 3]], 0.61, 0.78),
        ([[0, 4, 0, 0], [6, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 3]], 0.65, 0.72),
    ],
)
def test_the_figures_of_cardoso_and_sousa_are_met(table, quarter, three_quarters):  # their table 1
    assert round(index_of(ordinal_classification_index, table, beta=0.25), 2) == quarter
    assert round(index_of(ordinal_classification_index, table, beta=0.75), 2) == three_quarters


@pytest.mark.parametrize(
    ("table", "quarter", "three_quarters", "area"),
    [
        ([[4, 0, 0, 0], [0, 5, 0, 0], [0, 0, 6, 0], [0, 0, 0, 1]], 0.00, 0.00, 0.00),
        ([[0, 4, 0, 0], [0, 0, 6, 0], [0, 0, 5, 0], [0, 0, 0, 3]], 0.46, 0.67, 0.56),
        ([[0, 0, 4, 0], [0, 0, 6, 0], [0, 0, 5, 0], [0, 0, 0, 3]], 0.62, 0.71, 0.65),
        ([[0, 4, 0, 0], [6, 0, 0, 0], [0, 0, 5, 0], [0, 0, 0, 3]], 0.56, 0.67, 0.61),
        ([[0, 4, 0, 0], [6, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 3]], 0.68, 0.80, 0.74),
        ([[0, 40, 0, 0], [6, 0, 0, 0], [0, 0, 5, 0], [0, 0, 0, 3]], 0.56, 0.67, 0.61),
    ],
)
def test_the_figures_of_silva_pinto_and_cardoso_are_met(table, quarter, three_quarters, area):  # their table 1
    assert round(index_of(uniform_ordinal_classification_index, table, beta=0.25), 2) == quarter
    assert round(index_of(uniform_ordinal_classification_index, table, beta=0.75), 2) == three_quarters
    assert round(index_of(uniform_ordinal_classification_index, table), 2) == area


def paths(size):
    """All paths through a table, one by one."""
    unfinished = [[(0, 0)]]
    while unfinished:
        path = unfinished.pop()
        row, column = path[-1]
        if (row, column) == (size - 1, size - 1):
            yield path
        for cell in ((row + 1, column), (row, column + 1), (row + 1, column + 1)):
            if max(cell) < size:
                unfinished.append([*path, cell])


tables = (
    st.integers(2, 5)
    .flatmap(
        lambda size: st.lists(st.lists(st.integers(0, 9), min_size=size, max_size=size), min_size=size, max_size=size)
    )
    .filter(lambda table: any(map(any, table)))
)


@settings(max_examples=40)
@given(table=tables, beta=st.floats(0, 2), gamma=st.sampled_from([1.0, 2.0]))
def test_no_path_is_cheaper_than_the_one_that_is_found(table, beta, gamma):
    counts, size = np.array(table, dtype=float), len(table)
    away = np.abs(np.subtract.outer(range(size), range(size))) ** gamma
    total, spread = counts.sum(), (counts * away).sum() ** (1 / gamma)
    cheapest = min(
        1
        - sum(counts[cell] for cell in path) / (total + spread)
        + beta * sum(counts[cell] * away[cell] for cell in path) / (total * (size - 1) ** gamma)
        for path in paths(size)
    )
    got = index_of(ordinal_classification_index, table, beta=beta, gamma=gamma)
    assert got == pytest.approx(cheapest, abs=1e-12)


@pytest.mark.parametrize("spread", [0.02, 0.2, 2.0])
@pytest.mark.parametrize("num_classes", [7, 60])
def test_the_area_is_that_of_all_its_betas_one_by_one(num_classes, spread):
    draws = np.random.default_rng(0)
    labels = draws.integers(num_classes, size=500)
    predicted = (labels + draws.normal(size=500) * spread * num_classes).round().clip(0, num_classes - 1)
    got = uniform_ordinal_classification_index(
        torch.tensor(predicted, dtype=torch.int64), torch.tensor(labels), num_classes=num_classes
    )
    every = reference.uniform_ordinal_classification_index(predicted.astype(int).tolist(), labels.tolist(), num_classes)
    assert got.item() == pytest.approx(every, abs=1e-10)


def test_the_closeness_is_that_worked_by_hand():
    # 4, 2 and 2 of 8: bits of 2 / 8, 1 / 8 and 1 / 8 if right; 0 for 2 is half of 4 and all of 2 and 2, of 8
    labels = torch.tensor([0, 0, 0, 0, 1, 1, 2, 2])
    predicted = torch.tensor([0, 0, 0, 1, 1, 1, 2, 0])
    found = [2, 2, 2, -math.log2((1 + 4) / 8), 3, 3, 3, -math.log2((2 + 4) / 8)]
    perfect = 4 * 2 + 4 * 3
    value = closeness_evaluation_measure(predicted, labels, num_classes=3)
    assert value.item() == pytest.approx(sum(found) / perfect)
