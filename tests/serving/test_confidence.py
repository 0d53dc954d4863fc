from dataclasses import replace

import numpy as np
import pytest
import torch

from onepeak.metrics.catalog import NAMES
from onepeak.serving import Prediction, confidence, evaluate
from onepeak.serving.confidence import WITHOUT_INTERVAL, confidence_of
from onepeak.training.evaluate import Predictions, measure
from trained_models import table_run


def answers(count, *, num_classes=3, seed=0):
    """What a model said of some items: as measured, and as predicted."""
    random = torch.Generator().manual_seed(seed)
    labels = torch.randint(num_classes, (count,), generator=random)
    scores = 2 * torch.randn(count, num_classes, generator=random)
    scores[torch.arange(count), labels] += 2
    log_probs, intervals = scores.log_softmax(-1), torch.stack([labels.clamp(max=1), labels.clamp(min=1)], dim=1)
    intervals[::4] = 0
    said = scores.argmax(-1)
    measured = Predictions(indices=np.arange(count), labels=labels, predicted=said, log_probs=log_probs)
    shown = Prediction(
        classes=tuple(map(str, range(num_classes))),
        labels=said,
        log_probs=log_probs,
        intervals=intervals,
        sources=tuple(range(count)),
    )
    return measured, shown


def test_every_figure_lies_in_its_interval(table_model):
    part, costs = table_run().manifest, np.array([[0, 1, 1], [5, 0, 1], [10, 5, 0]])
    found = evaluate(table_model, part, decide="cost", cost=costs, confidence=True)
    sure = found.confidence
    assert (sure.unit, sure.num_units, sure.num_resamples) == ("item", 90, 1000)
    assert found.notes[-1] == sure.note == "95 % confidence intervals: 1,000 resamples of 90 items"
    assert sure.metrics.keys() == found.metrics.keys() == set(NAMES)
    assert sure.calibrated.keys() == {"nll", "rps", "coverage", "interval_size"}
    pairs = [(found.metrics[name], each) for name, each in sure.metrics.items()]
    pairs += [(found.calibrated[name], each) for name, each in sure.calibrated.items()]
    pairs += [(found.cost, sure.cost), (found.paradoxical, sure.paradoxical)]
    inside = [low < value < high for value, (low, high) in (pair for pair in pairs if pair[1] is not None)]
    assert len(inside) > 20
    assert all(inside)
    assert evaluate(table_model, part).confidence is None


def test_metrics_whose_resamples_mislead_have_none():
    sure = confidence_of(*answers(80), costs=None, groups=None)
    assert {name for name, each in sure.metrics.items() if each is None} == set(WITHOUT_INTERVAL)
    assert sure.cost is None


def test_shares_and_means_have_the_spread_of_their_standard_errors():
    measured, shown = answers(400)
    costs = (measured.labels - measured.predicted).abs().double() ** 2
    sure = confidence_of(measured, shown, costs=costs, groups=None)
    covered = ((shown.intervals[:, 0] <= measured.labels) & (measured.labels <= shown.intervals[:, 1])).double()
    nll = -measured.log_probs.gather(1, measured.labels.unsqueeze(1)).squeeze(1).double()
    found = {"cost": sure.cost, "paradoxical": sure.paradoxical, **sure.calibrated}
    for name, values in {
        "cost": costs,
        "paradoxical": shown.paradoxical.double(),
        "coverage": covered,
        "interval_size": (shown.intervals[:, 1] - shown.intervals[:, 0] + 1).double(),
        "nll": nll,
    }.items():
        low, high = found[name]
        assert (low + high) / 2 == pytest.approx(values.mean().item(), abs=0.2 * (high - low))
        assert high - low == pytest.approx(2 * 1.96 * values.std().item() / 20, rel=0.15)


def test_groups_are_resampled_whole():
    """Each item ten times: as copies say nothing new, the groups must give what the items alone give, nearly."""
    measured, shown = answers(40)
    alone = confidence_of(measured, shown, costs=None, groups=None)
    ten = np.repeat(np.arange(40), 10)
    copies = replace(
        measured, labels=measured.labels[ten], predicted=measured.predicted[ten], log_probs=measured.log_probs[ten]
    )
    said = replace(
        shown,
        labels=shown.labels[ten],
        log_probs=shown.log_probs[ten],
        intervals=shown.intervals[ten],
        sources=tuple(range(400)),
    )
    grouped = confidence_of(copies, said, costs=None, groups=[f"patient {number:02}" for number in ten])
    assert grouped.note == "95 % confidence intervals: 1,000 resamples of 40 groups"
    for name in ("mae", "accuracy", "qwk", "rps", "amae"):
        assert grouped.metrics[name] == pytest.approx(alone.metrics[name])
    narrow = confidence_of(copies, said, costs=None, groups=None).metrics["mae"]
    assert narrow[1] - narrow[0] < 0.5 * (grouped.metrics["mae"][1] - grouped.metrics["mae"][0])


def test_the_groups_of_the_data_are_those_resampled(table_model):
    part = table_run().manifest
    grouped = replace(part, groups=tuple(str(place % 12) for place in range(len(part))))
    sure = evaluate(table_model, grouped, confidence=True).confidence
    assert (sure.unit, sure.num_units) == ("group", 12)
    assert sure.metrics["mae"] is not None
    few = replace(part, groups=tuple(str(place % 3) for place in range(len(part))))
    found = evaluate(table_model, few, confidence=True)
    assert "no 95 % confidence intervals: 3 groups, and 10 are needed" in found.notes
    assert found.confidence.num_resamples == 0
    assert not any([*found.confidence.metrics.values(), *found.confidence.calibrated.values()])


def test_many_items_or_classes_are_resampled_less_often(monkeypatch):
    monkeypatch.setattr(confidence, "_MOST_NUMBERS", 40_000)
    assert confidence_of(*answers(20), costs=None, groups=None).num_resamples == 1000
    assert confidence_of(*answers(80), costs=None, groups=None).num_resamples == 500
    assert confidence_of(*answers(80, num_classes=10), costs=None, groups=None).num_resamples == 400
    assert confidence_of(*answers(4000), costs=None, groups=None).num_resamples == 100


def planted(random, *, count, num_groups):
    """What a model says of patients whose images are misread alike: labels, posteriors and groups."""
    groups = np.arange(count) % num_groups
    labels = random.choice(5, size=count, p=[0.35, 0.3, 0.2, 0.1, 0.05])
    seen = labels + random.normal(scale=0.6, size=num_groups)[groups] + random.normal(scale=0.8, size=count)
    scores = -((np.arange(5) - seen[:, None]) ** 2) / 1.2 + random.normal(scale=0.15, size=(count, 5))
    log_probs = torch.from_numpy(scores).log_softmax(-1)
    said, truth = log_probs.argmax(-1), torch.from_numpy(labels)
    measured = Predictions(indices=np.arange(count), labels=truth, predicted=said, log_probs=log_probs)
    shown = Prediction(
        classes=tuple("abcde"), labels=said, log_probs=log_probs, sources=tuple(range(count)), source_name="item"
    )
    return measured, shown, [str(group) for group in groups]


@pytest.mark.slow
def test_how_often_intervals_hold_the_true_figure_with_many_groups_and_with_few(monkeypatch):
    """Of what the documentation says, and of why some metrics have no intervals."""
    names = ("mae", "accuracy", "qwk", "spearman", "rps", "min_sensitivity", "mmae")
    monkeypatch.setattr(confidence, "WITHOUT_INTERVAL", tuple(set(NAMES) - set(names)))
    random = np.random.default_rng(6)
    true = measure(planted(random, count=400_000, num_groups=100_000)[0], names=names)
    for num_groups, lowest, highest in ((12, 0.85, 0.95), (60, 0.90, 0.98)):
        held = dict.fromkeys(names, 0)
        for _ in range(400):
            measured, shown, groups = planted(random, count=10 * num_groups, num_groups=num_groups)
            for name, each in confidence_of(measured, shown, costs=None, groups=groups).metrics.items():
                if each is not None:
                    held[name] += each[0] <= true[name] <= each[1]
        shares = {name: held[name] / 400 for name in names}
        assert all(lowest <= shares[name] <= highest for name in names[:5]), shares
        assert shares["min_sensitivity"] < 0.8, shares
        assert num_groups > 12 or shares["mmae"] < 0.85, shares
