import numpy as np
import pytest
import torch
from scipy import stats

from onepeak.errors import InputError
from onepeak.metrics.bootstrap import FEWEST, confidence_intervals
from onepeak.metrics.catalog import NAMES, collection


def mean_of(values):
    """The weighted mean of some values, as a figure."""
    values = torch.as_tensor(np.asarray(values, dtype=float))
    return lambda weights: {"mean": (weights * values).sum() / weights.sum()}


def metrics_of(log_probs, labels, names):
    """Metrics of the catalog, as figures."""

    def figures(weights):
        metrics = collection(log_probs.shape[-1], names=names)
        metrics.update(log_probs, labels, sample_weight=weights)
        return metrics.compute()

    return figures


def posteriors(count, *, seed=0, num_classes=4):
    """Labels, and posteriors that know something of them."""
    random = np.random.default_rng(seed)
    labels = random.integers(num_classes, size=count)
    scores = -np.abs(np.arange(num_classes) - (labels + random.normal(size=count))[:, None])
    scores += random.normal(scale=0.3, size=scores.shape)
    return torch.from_numpy(scores).log_softmax(-1), torch.from_numpy(labels)


def test_the_interval_of_one_case_in_ten():
    """The cases in a resample follow Binomial(10, 0.1): P(X <= 2) = 0.930, P(X <= 3) = 0.987, P(X = 0) = 0.349."""
    found = confidence_intervals(mean_of([1] + [0] * 9), np.arange(10))
    assert found == {"mean": (0.0, pytest.approx(0.3))}


def test_the_mean_of_a_few_groups_by_hand():
    """Groups of 1 and of 3 samples: drawn k times, the ten with value 1 weigh 3 k of 3 k + (20 - k)."""
    values, units = [1] * 30 + [0] * 10, [*np.repeat(np.arange(10), 3), *range(10, 20)]
    low, high = confidence_intervals(mean_of(values), np.array(units), num_resamples=4000)["mean"]
    fewest, most = stats.binom(20, 0.5).ppf([0.025, 0.975])
    assert (low, high) == pytest.approx((3 * fewest / (2 * fewest + 20), 3 * most / (2 * most + 20)))


def test_a_mean_has_the_interval_of_scipy_and_of_its_standard_error():
    values = np.random.default_rng(5).exponential(size=400)
    low, high = confidence_intervals(mean_of(values), np.arange(400), num_resamples=4000)["mean"]
    theirs = stats.bootstrap((values,), np.mean, n_resamples=4000, method="percentile", rng=0).confidence_interval
    error = values.std() / np.sqrt(400)
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=0.1 * error)
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.06)


def test_every_metric_of_weighted_samples_is_that_of_repeated_ones():
    """Under `torch.func.vmap`, as resamples are measured."""
    log_probs, labels = posteriors(60)
    counts = np.random.default_rng(2).multinomial(60, np.full(60, 1 / 60), size=3)
    found = torch.func.vmap(metrics_of(log_probs, labels, NAMES))(torch.from_numpy(counts).double())
    for place, count in enumerate(counts):
        chosen = np.repeat(np.arange(60), count)
        metrics = collection(4, names=NAMES)
        metrics.update(log_probs[chosen], labels[chosen])
        expected = {name: value.item() for name, value in metrics.compute().items()}
        assert {name: found[name][place].item() for name in NAMES} == pytest.approx(expected, rel=1e-9, nan_ok=True)


def test_a_seed_gives_its_intervals_again_however_many_resamples_are_computed_together():
    figures, units = mean_of(np.random.default_rng(4).normal(size=50)), np.arange(50)
    first = confidence_intervals(figures, units, seed=7)
    assert confidence_intervals(figures, units, seed=7) == first
    assert confidence_intervals(figures, units, seed=7, at_once=33) == first
    assert confidence_intervals(figures, units, seed=8) != first


def test_too_few_units_give_no_interval():
    assert confidence_intervals(mean_of(range(9)), np.arange(FEWEST - 1)) == {"mean": None}
    assert confidence_intervals(mean_of(range(100)), np.arange(100) % 9) == {"mean": None}
    assert confidence_intervals(mean_of([]), np.arange(0)) == {"mean": None}


def test_what_never_varies_has_no_interval_instead_of_one_without_length():
    assert confidence_intervals(mean_of([0.1] * 40), np.arange(40)) == {"mean": None}


def test_resamples_where_a_figure_is_not_defined_are_left_out_if_they_are_few():
    rare, common = torch.arange(40) < 2, torch.arange(40) < 5  # absent from 13 % and from 0.5 % of resamples
    figures = {"rare": rare.double(), "common": common.double()}

    def one_over_share(weights):
        return {name: weights.sum() / (weights * values).sum() for name, values in figures.items()}

    found = confidence_intervals(one_over_share, np.arange(40))
    assert found["rare"] is None
    assert found["common"][0] < 8 < found["common"][1] < 41


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("units", "told"),
    [
        (np.arange(20) - 3, "`units` must be integers >= 0, got -3"),
        (np.arange(20.0), r"`units` must be a NumPy array of integers, one per sample, got float64 of shape \(20,\)"),
        (np.arange(20).reshape(4, 5), r"one per sample, got int64 of shape \(4, 5\)"),
        (list(range(20)), "one per sample, got list"),
        (np.arange(19), "`figures` must take 19 weights, one for each of `units`.*got: .*20"),
        (np.zeros(19, dtype=int), "`figures` must take 19 weights, one for each of `units`.*got: .*20"),
    ],
)
def test_units_must_be_integers_one_per_sample(units, told):
    with pytest.raises(InputError, match=told):
        confidence_intervals(mean_of(range(20)), units)


@pytest.mark.bad_input
def test_settings_without_a_meaning_are_refused():
    with pytest.raises(InputError, match="`num_resamples` must be an integer >= 1, got 0"):
        confidence_intervals(mean_of(range(20)), np.arange(20), num_resamples=0)
    with pytest.raises(InputError, match="`level` must be"):
        confidence_intervals(mean_of(range(20)), np.arange(20), level=95)
