"""What the page says about the published code is so; figures of runs are checked in tests/benchmarks/test_paper.py."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import poisson

import onepeak
from docs.pages import DOCS
from onepeak.experiment.published import published_figure
from onepeak.metrics.functional import side_order_chance, side_order_index

PAGE = (DOCS / "reproduce.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("num_classes", "dataset", "lowest"), [(22, "afad-lite", 0.81), (5, "hci", 0.50), (4, "iciar", 0.33)]
)
def test_a_poisson_posterior_read_by_its_mean_is_more_in_order_than_the_printed_po(num_classes, dataset, lowest):
    rates = np.linspace(0.01, 3 * num_classes, 5000)
    log_probs = torch.tensor(poisson.logpmf(np.arange(num_classes), rates[:, None])).log_softmax(-1)
    means = log_probs.exp() @ torch.arange(num_classes, dtype=torch.float64)
    found = side_order_index(log_probs, means.floor().long()).min().item()
    assert found == pytest.approx(lowest, abs=0.005)
    printed = published_figure(dataset, "po", "soi_predicted").mean
    assert (printed < found) == (num_classes > 4)  # of 4 classes it need not be
    assert f"{lowest:.0%}".replace("%", " %") in PAGE
    assert f"{100 * printed:.1f}" in PAGE


def test_the_factorial_of_35_is_the_first_that_overflows():
    factorials = torch.tensor([math.lgamma(k + 1) for k in (34, 35)], dtype=torch.float32).exp()
    assert factorials.isfinite().tolist() == [True, False]
    po = onepeak.method("po", num_classes=70)
    assert po.log_probs(torch.randn(4, po.num_outputs)).isfinite().all()


def test_targets_of_ld_are_as_even_as_the_page_says():
    for variant, figures in (("as_published", (0.0209, 0.0141)), ("corrected", (0.399,))):
        target = (
            onepeak.method("ld", num_classes=70, variant=variant).log_targets(torch.tensor([35]), torch.float64).exp()
        )
        for figure, found in zip(figures, (target.max().item(), target.min().item()), strict=False):
            assert found == pytest.approx(figure, rel=0.01)
            assert f"{figure:g}".removeprefix("0") in PAGE


def test_chance_is_as_the_page_says():
    assert f"{100 * side_order_chance(4):.0f} % for 4 classes, {100 * side_order_chance(70):.1f} % for 70" in PAGE
