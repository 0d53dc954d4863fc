import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak.errors import InputError
from onepeak.posterior import KappaRule, mean, median, minimum_cost, mode


def posteriors(seed, num_classes, rows=20):
    generator = torch.Generator().manual_seed(seed)
    return (3 * torch.randn(rows, num_classes, dtype=torch.float64, generator=generator)).log_softmax(-1)


def expected_costs(log_probs, power):
    """The expected cost |label - truth| ** power of deciding for each label, by the definition."""
    labels = torch.arange(log_probs.shape[-1])
    costs = (labels[:, None] - labels[None, :]).abs().double() ** power
    return log_probs.exp() @ costs


@given(st.integers(0, 2**31), st.integers(2, 15))
def test_each_decision_is_the_best_for_its_cost(seed, num_classes):
    log_probs = posteriors(seed, num_classes)
    for decide, cost in (
        (median, expected_costs(log_probs, 1)),
        (mean, expected_costs(log_probs, 2)),
        (mode, 1 - log_probs.exp()),
    ):
        chosen = cost.gather(-1, decide(log_probs)[:, None]).squeeze(-1)
        torch.testing.assert_close(chosen, cost.min(-1).values, rtol=1e-9, atol=1e-9)


def distances(num_classes):
    labels = torch.arange(num_classes)
    return (labels[:, None] - labels).abs()


@given(st.integers(0, 2**31), st.integers(2, 15))
def test_the_least_cost_is_that_of_every_label_tried(seed, num_classes):
    log_probs = posteriors(seed, num_classes)
    generator = torch.Generator().manual_seed(seed)
    costs = torch.rand(num_classes, num_classes, dtype=torch.float64, generator=generator)
    for row, decided in zip(log_probs.exp().tolist(), minimum_cost(log_probs, costs).tolist(), strict=True):
        expected = [
            sum(row[truth] * costs[truth, label].item() for truth in range(num_classes)) for label in range(num_classes)
        ]
        assert expected[decided] == pytest.approx(min(expected), rel=1e-12)


@given(st.integers(0, 2**31), st.integers(2, 15))
def test_tables_of_costs_have_the_named_decisions_as_special_cases(seed, num_classes):
    log_probs = posteriors(seed, num_classes)
    far = distances(num_classes)
    assert torch.equal(minimum_cost(log_probs, far), median(log_probs))
    assert torch.equal(minimum_cost(log_probs, far**2), mean(log_probs))
    assert torch.equal(minimum_cost(log_probs, (far > 0).double()), mode(log_probs))


def test_autocast_does_not_round_expected_costs():
    log_probs = posteriors(0, 70, rows=500).float()
    expected = minimum_cost(log_probs, distances(70))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(minimum_cost(log_probs, distances(70)), expected)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (
            torch.zeros(3, 2),
            r"`cost_matrix` must be a tensor of shape \(3, 3\), one row per true label .*, got \(3, 2\)\.",
        ),
        ([[0, 1, 2]] * 3, r"`cost_matrix` must be a tensor of shape \(3, 3\), .*, got list\."),
        (torch.full((3, 3), torch.nan), r"`cost_matrix` must be finite, got 9 NaN or infinite values\."),
    ],
)
def test_a_table_of_costs_that_does_not_fit_is_refused(costs, message):
    with pytest.raises(InputError, match=message):
        minimum_cost(torch.zeros(2, 3).log_softmax(-1), costs)


def expected_kappa(probs, decided):
    """QWK of labels drawn from these posteriors, each of its sums at its mean."""
    labels = np.arange(probs.shape[1])
    true, squared = probs @ labels, probs @ labels**2
    apart = (decided**2 - 2 * decided * true + squared).sum()
    by_chance = (decided**2 - 2 * decided * true.mean() + squared).sum()
    return 1 - apart / by_chance


@pytest.mark.parametrize("seed", range(20))
def test_the_rule_for_kappa_is_better_than_every_other_choice_of_labels(seed):
    rng = np.random.default_rng(seed)
    log_probs = torch.from_numpy(rng.dirichlet([0.7] * 3, 6)).log()
    decided = KappaRule.learn(log_probs)(log_probs).numpy()
    probs = log_probs.exp().numpy()
    others = (np.array(each) for each in itertools.product(range(3), repeat=6))
    assert expected_kappa(probs, decided) == pytest.approx(max(expected_kappa(probs, each) for each in others))


def test_the_rule_for_kappa_is_the_rounded_mean_where_the_posterior_is_sure():
    sure = torch.full((30, 4), -20.0).scatter(1, torch.arange(30).remainder(4)[:, None], 0.0).log_softmax(-1)
    rule = KappaRule.learn(sure)
    assert rule.scale == pytest.approx(1, abs=1e-6)
    assert torch.equal(rule(sure), mean(sure))
    assert torch.equal(KappaRule.learn(sure[:1])(sure[:1]), mean(sure[:1]))  # one class alone: kappa is not defined
