from dataclasses import replace

import numpy as np
import pytest
import torch

from onepeak.metrics.catalog import NAMES
from onepeak.posterior.predictions import Predictions
from onepeak.serving import confidence, evaluate
from onepeak.serving.confidence import WITHOUT_INTERVAL, confidence_of
from onepeak.training.evaluate import measure
from trained_models import table_run


def answers(count, *, num_classes=3, seed=0):
    """What a model said of some items."""
    random = torch.Generator().manual_seed(seed)
    labels = torch.randint(num_classes, (count,), generator=random)
    scores = 2 * torch.randn(count, num_classes, generator=random)
    scores[torch.arange(count), labels] += 2
    intervals = torch.stack([labels.clamp(max=1), labels.clamp(min=1)], dim=1)
    intervals[::4] = 0
    return Predictions(
        truth=labels, predicted_index=scores.argmax(-1), log_probs=scores.log_softmax(-1), intervals=intervals
    )


def sure_of(found, *, costs=None, groups=None):
    return confidence_of(found, found, costs=costs, groups=groups)


def test_every_figure_lies_in_its_interval(table_model):
    part, costs = table_run().manifest, np.array([[0, 1, 1], [5, 0, 1], [10, 5, 0]])
    found = evaluate(table_model, part, decide="cost", cost=costs, confidence=True)
    sure = found.confidence
    assert (sure.unit, sure.num_units, sure.num_resamples) == ("item", 90, 1000)
    assert found.notes[-1] == sure.note == "95 % confidence intervals: 1,000 resamples of 90 samples"
    assert sure.metrics.keys() == found.metrics.keys() == set(NAMES)
    assert sure.calibrated.keys() == {"nll", "rps", "coverage", "interval_size"}
    pairs = [(found.metrics[name], each) for name, each in sure.metrics.items()]
    pairs += [(found.calibrated[name], each) for name, each in sure.calibrated.items()]
    pairs += [(found.cost, sure.cost), (found.paradoxical, sure.paradoxical)]
    inside = [low < value < high for value, (low, high) in (pair for pair in pairs if pair[1] is not None)]
    assert len(inside) > 20
    assert all(inside)
    assert evaluate(table_model, part).confidence is None
    always_one = {"accuracy_within_3", "accuracy_within_5"}  # there are few classes
    others = sure_of(answers(80)).metrics
    assert {name for name, each in others.items() if each is None} == set(WITHOUT_INTERVAL) | always_one


def test_the_groups_of_the_data_are_those_resampled_and_ten_are_needed(table_model):
    part = table_run().manifest
    table_model.description = replace(table_model.description, group="patient")
    alone = evaluate(table_model, part, confidence=True).notes[-1]
    assert alone.endswith(
        "of 90 samples; too short if several are of one patient: name groups with --group ('patient' in training)"
    )
    grouped = replace(part, groups=tuple(str(place % 12) for place in range(len(part))))
    sure = evaluate(table_model, grouped, confidence=True).confidence
    assert (sure.unit, sure.num_units, sure.note[-10:]) == ("group", 12, " 12 groups")
    assert sure.metrics["mae"] is not None
    few = replace(part, groups=tuple(str(place % 3) for place in range(len(part))))
    found = evaluate(table_model, few, confidence=True)
    assert "no 95 % confidence intervals: 3 groups, and 10 are needed" in found.notes
    assert found.confidence.num_resamples == 0
    assert not any([*found.confidence.metrics.values(), *found.confidence.calibrated.values()])


def test_shares_and_means_have_the_spread_of_their_standard_errors():
    said = answers(400)
    low, high = said.intervals.unbind(dim=1)
    costs = (said.truth - said.predicted_index).abs().double() ** 2
    sure = sure_of(said, costs=costs)
    found = {"cost": sure.cost, "paradoxical": sure.paradoxical, **sure.calibrated}
    for name, values in {
        "cost": costs,
        "paradoxical": said.paradoxical.double(),
        "coverage": ((low <= said.truth) & (said.truth <= high)).double(),
        "interval_size": (high - low + 1).double(),
        "nll": -said.log_probs.gather(1, said.truth.unsqueeze(1)).squeeze(1).double(),
    }.items():
        lowest, highest = found[name]
        assert (lowest + highest) / 2 == pytest.approx(values.mean().item(), abs=0.2 * (highest - lowest))
        assert highest - lowest == pytest.approx(2 * 1.96 * values.std().item() / 20, rel=0.15)


def test_groups_are_resampled_whole():
    """Each item ten times: as copies say nothing new, the groups must give what the items alone give, nearly."""
    ten = np.repeat(np.arange(40), 10).tolist()
    alone, copies = sure_of(answers(40)), answers(40).take(ten)
    grouped = sure_of(copies, groups=[f"patient {number:02}" for number in ten])
    assert grouped.note == "95 % confidence intervals: 1,000 resamples of 40 groups"
    for name in ("mae", "accuracy", "qwk", "rps", "amae"):
        assert grouped.metrics[name] == pytest.approx(alone.metrics[name])
    narrow = sure_of(copies).metrics["mae"]
    assert narrow[1] - narrow[0] < 0.5 * (grouped.metrics["mae"][1] - grouped.metrics["mae"][0])


def test_many_items_or_classes_are_resampled_less_often_or_not_at_all(monkeypatch):
    """40,000 numbers: 80 items and 9 pairs of classes are 89 a resample, and 240 more for all of them together."""
    monkeypatch.setattr(confidence, "_MOST_NUMBERS", 40_000)
    assert confidence._resamples(20, 3)[0] == 1000
    assert confidence._resamples(80, 3)[0] == 40_000 // 89
    assert confidence._resamples(80, 10)[0] == 40_000 // 180
    said = answers(4000)
    sure = sure_of(said, costs=said.truth)
    assert sure.note.startswith("no 95 % confidence intervals: 4,000 samples of 3 classes take too long to resample")
    assert (sure.num_resamples, sure.metrics, sure.cost, sure.paradoxical) == (0, dict.fromkeys(NAMES), None, None)
    monkeypatch.setattr(confidence, "_NUMBERS_AT_ONCE", 160)
    assert confidence._resamples(80, 3) == (40_000 // (89 + 240 // 2), 2)


@pytest.mark.parametrize(("count", "num_classes"), [(300_000, 5), (100_000, 70), (5_000, 480)])
def test_the_most_items_and_classes_are_those_that_the_note_tells(count, num_classes):
    assert confidence._resamples(count, num_classes)[0] >= 100
    assert confidence._resamples(3 * count // 2, num_classes)[0] == 0


def planted(random, *, count, num_groups):
    """What a model says of patients whose images are misread alike: labels, posteriors and groups."""
    groups = np.arange(count) % num_groups
    labels = random.choice(5, size=count, p=[0.35, 0.3, 0.2, 0.1, 0.05])
    seen = labels + random.normal(scale=0.6, size=num_groups)[groups] + random.normal(scale=0.8, size=count)
    scores = -((np.arange(5) - seen[:, None]) ** 2) / 1.2 + random.normal(scale=0.15, size=(count, 5))
    log_probs = torch.from_numpy(scores).log_softmax(-1)
    found = Predictions(truth=torch.from_numpy(labels), predicted_index=log_probs.argmax(-1), log_probs=log_probs)
    return found, [str(group) for group in groups]


def shares_held(random, names, *, num_groups, size, times):
    """How often intervals hold the true figure, of those that there are."""
    true = measure(planted(random, count=400_000, num_groups=400_000 // size)[0], names=names)
    held = {name: [] for name in names}
    for _ in range(times):
        said, groups = planted(random, count=size * num_groups, num_groups=num_groups)
        for name, each in sure_of(said, groups=groups).metrics.items():
            if each is not None:
                held[name].append(each[0] <= true[name] <= each[1])
    return {name: np.mean(each) for name, each in held.items()}


USUAL = ("mae", "accuracy", "qwk", "spearman", "rps")


@pytest.mark.slow
@pytest.mark.parametrize(("num_groups", "lowest", "highest"), [(12, 0.86, 0.93), (60, 0.91, 0.98)])
def test_how_often_intervals_hold_the_true_figure_with_many_groups_and_with_few(
    monkeypatch, num_groups, lowest, highest
):
    """Of what the documentation says."""
    monkeypatch.setattr(confidence, "WITHOUT_INTERVAL", tuple(set(NAMES) - set(USUAL)))
    shares = shares_held(np.random.default_rng(6), USUAL, num_groups=num_groups, size=10, times=400)
    assert all(lowest <= share <= highest for share in shares.values()), shares


@pytest.mark.slow
def test_why_some_metrics_have_no_intervals(monkeypatch):
    """Those of 48 items, each alone; with the bounds that `WITHOUT_INTERVAL` tells."""
    names = (*USUAL, *(name for name in WITHOUT_INTERVAL if name != "uoc"))
    monkeypatch.setattr(confidence, "WITHOUT_INTERVAL", tuple(set(NAMES) - set(names)))
    shares = shares_held(np.random.default_rng(6), names, num_groups=48, size=1, times=800)
    assert all(shares[name] > 0.92 for name in USUAL), shares
    below = dict(zip(names[len(USUAL) :], (0.45, 0.80, 0.75, 0.90, 0.92), strict=True))
    assert all(shares[name] < most for name, most in below.items()), shares
