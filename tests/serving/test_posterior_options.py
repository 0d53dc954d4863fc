from dataclasses import replace

import numpy as np
import pytest
import torch

from onepeak.errors import InputError
from onepeak.metrics.functional import side_order_index
from onepeak.posterior import KappaRule, is_unimodal, mean, median, project, temper
from onepeak.serving.actions import read_actions
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.training.calibration import Calibration

CALIBRATION = Calibration(temperature=4.0, num_samples=19, scores=tuple(0.1 * rank for rank in range(19)))


@pytest.fixture
def posteriors():
    """Sharp ones with several peaks, and a label that is not their mode."""
    log_probs = (5 * torch.randn(40, 6, generator=torch.Generator().manual_seed(0))).log_softmax(-1)
    return log_probs, torch.arange(40) % 6


def of(posteriors, calibration=CALIBRATION, **options):
    return PosteriorOptions(**options).read(*posteriors, calibration)


def test_a_decision_is_taken_on_the_calibrated_posterior_and_the_methods_own_label_stays_without(posteriors):
    log_probs, labels = posteriors
    calm = temper(log_probs, 4.0)
    own = of(posteriors)
    assert torch.equal(own.log_probs, calm)
    assert torch.equal(own.labels, labels)
    assert torch.equal(own.intervals, CALIBRATION.intervals(log_probs, labels, 0.1))
    assert torch.equal(of(posteriors, decide="mean").labels, mean(calm))
    assert not torch.equal(mean(calm), mean(log_probs))
    assert torch.equal(of(posteriors, decide="mean", raw=True).labels, mean(log_probs))
    earlier = of(posteriors, None, decide="median")
    assert (earlier.log_probs is log_probs, earlier.intervals) == (True, None)
    assert torch.equal(earlier.labels, median(log_probs))


def test_the_rule_for_kappa_is_taken_where_it_was_learnt(posteriors):
    log_probs, labels = posteriors
    calm = temper(log_probs, 4.0)
    learnt = replace(CALIBRATION, qwk=KappaRule.learn(calm))
    rule = of(posteriors, learnt, decide="qwk")
    assert torch.equal(rule.labels, learnt.qwk(calm))
    assert not torch.equal(rule.labels, mean(calm))
    assert torch.equal(of(posteriors, decide="qwk").labels, labels)
    for calibration in (CALIBRATION, None):  # None in a model of an earlier version
        assert any("no rule for QWK" in note for note in PosteriorOptions(decide="qwk").notes(calibration))


def test_projected_posteriors_have_one_peak_at_any_temperature_and_the_same_interval(posteriors):
    """The length of intervals was learnt on calibrated posteriors that were not projected."""
    log_probs, _ = posteriors
    read = of(posteriors, project=True, decide="mode")
    assert torch.equal(read.log_probs, temper(project(log_probs), 4.0))
    assert is_unimodal(read.log_probs).all()
    assert (side_order_index(read.log_probs, read.labels) == 1).all()
    expected = of(posteriors, alpha=0.2).intervals
    for change in ({"project": True}, {"raw": True}):
        assert torch.equal(of(posteriors, alpha=0.2, **change).intervals, expected)


def test_without_a_decision_the_peak_is_where_the_methods_own_label_is(posteriors):
    """Whoever asks for one peak is given a label and sees all fall away from it."""
    log_probs, labels = posteriors
    assert (labels != project(log_probs).argmax(-1)).any()  # the best peak would be elsewhere
    own = (PosteriorOptions(project=True, **more) for more in ({}, {"raw": True}, {"decide": "qwk"}))  # without a rule
    for posterior_options in own:
        read = posterior_options.read(log_probs, labels, CALIBRATION)
        assert torch.equal(read.labels, labels)
        assert (side_order_index(read.log_probs, labels) == 1).all()
        temperature = 1.0 if posterior_options.raw else 4.0
        assert torch.equal(read.log_probs, temper(project(log_probs, labels), temperature))


def test_the_least_cost_is_that_of_the_posterior_that_is_shown(posteriors):
    log_probs, labels = posteriors
    rng = np.random.default_rng(0)
    costs = tuple(map(tuple, rng.uniform(0, 9, (6, 6)).tolist()))
    read = PosteriorOptions(decide="cost", cost=costs).read(log_probs, labels, CALIBRATION)
    probs = temper(log_probs, 4.0).double().exp().numpy()
    expected = [min(range(6), key=lambda d: sum(p[k] * costs[k][d] for k in range(6))) for p in probs]
    assert read.labels.tolist() == expected
    distance = tuple(tuple(float(abs(true - decided)) for decided in range(6)) for true in range(6))
    assert torch.equal(
        PosteriorOptions(decide="cost", cost=distance).read(log_probs, labels, CALIBRATION).labels,
        median(temper(log_probs, 4.0)),
    )


SMALL = Calibration(num_samples=5, scores=(0.0,) * 5, note="posteriors are not calibrated: few")


@pytest.mark.parametrize(
    ("options", "calibration", "told"),
    [
        ({}, None, ("posteriors are not calibrated and have no intervals",)),
        ({}, CALIBRATION, ()),
        ({}, SMALL, ("posteriors are not calibrated: few", "no intervals: the model had 5 validation samples, and 9")),
        ({"raw": True, "alpha": 0.2}, SMALL, ()),
    ],
)
def test_notes_tell_what_is_missing_and_nothing_else(options, calibration, told):
    notes = PosteriorOptions(**options).notes(calibration)
    assert len(notes) == len(told)
    assert all(map(str.startswith, notes, told))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("posterior_options", "calibration", "message"),
    [
        (PosteriorOptions(decide="medain"), CALIBRATION, r"Unknown `decide` 'medain'\. Did you mean 'median'\?"),
        (PosteriorOptions(decide="cost"), CALIBRATION, r"must be given together, got `decide` 'cost' without `cost`\."),
        (
            PosteriorOptions(cost=((0.0, 1.0), (1.0, 0.0))),
            CALIBRATION,
            r"`cost` and `decide` 'cost' must be given together, got `decide` None with `cost`\.",
        ),
        (PosteriorOptions(alpha=1.5), CALIBRATION, r"`alpha` must be a finite number > 0 and < 1, got 1\.5\."),
        (
            PosteriorOptions(alpha=0.01),
            CALIBRATION,
            r"`alpha` must be >= 0\.05 for a model whose validation part had 19 samples",
        ),
        (
            PosteriorOptions(alpha=0.1),
            None,
            r"`alpha` needs a calibrated model, got one from an earlier version: train it again\.",
        ),
    ],
)
def test_what_the_model_cannot_do_is_refused_at_once(posterior_options, calibration, message):
    with pytest.raises(InputError, match=message):
        posterior_options.check(calibration)


@pytest.mark.parametrize(
    "text",
    [
        '\ufeffaction,label\n"wait, then look",low\ncut,high\n',
        "label;action\n\nlow;wait, then look\nhigh;cut\n",
        "label\taction\nlow\twait, then look\nhigh\tcut\n",
    ],
)
def test_actions_come_in_the_order_of_the_classes(tmp_path, text):
    (tmp_path / "actions.csv").write_text(text)
    assert read_actions(tmp_path / "actions.csv", ("low", "high")) == ("wait, then look", "cut")
    assert read_actions(None, ("low", "high")) == ()


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"actions.csv cannot be read: No such file"),
        ("", "actions.csv is empty"),
        ("label,action\nlow,wait, then look\nhigh,cut\n", "line 2 must have 2 fields, like the header, got 3"),
        ("label,what\nlow,a\n", "must have the columns label, action, got label, what"),
        ("label,action\nlow,a\nmiddle,b\n", "line 3: .* got 'middle' which is not a class"),
        ("label,action\nlow,a\nlow,b\n", "got 'low' twice"),
        ("label,action\nlow,a\nhigh,\n", "an action for every class, got none for high"),
    ],
)
def test_a_file_of_actions_that_does_not_fit_is_told_what_is_wrong(tmp_path, text, message):
    if text is not None:
        (tmp_path / "actions.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_actions(tmp_path / "actions.csv", ("low", "high"))
