import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak.data.datasets.biopsies import grade_log_probs
from onepeak.errors import InputError
from onepeak.metrics.functional import (
    expected_calibration_error,
    negative_log_likelihood,
    quadratic_weighted_kappa,
    ranked_probability_score,
)
from onepeak.posterior import ContiguousSets, covers, fit_temperature, median, mode, sizes, temper
from onepeak.posterior.calibrate import COLDEST
from onepeak.posterior.conformal import conformal_rank, scores_at
from onepeak.posterior.predictions import Predictions
from onepeak.training.calibration import (
    ALPHA,
    FEWEST,
    Calibration,
    calibrated_figures,
    calibration_of,
    few_samples_note,
    figures_of,
    frequency_gap,
    frequency_note,
)


def said(seed, count, *, temperature=1.0, noise=0.0):
    """The true posteriors of `biopsies` at some temperature, and grades drawn from them."""
    rng = np.random.default_rng(seed)
    true = torch.from_numpy(grade_log_probs(rng.uniform(0, 8, count)))
    labels = (true.exp().cumsum(-1) < torch.from_numpy(rng.uniform(size=(count, 1)))).sum(-1).clamp(max=7)
    noisy = true + noise * torch.from_numpy(rng.standard_normal(true.shape))
    log_probs = (noisy / temperature).log_softmax(-1).float()
    return Predictions(items=np.arange(count), truth=labels, predicted_index=mode(log_probs), log_probs=log_probs)


def test_the_temperature_is_that_of_the_validation_part():
    valid = said(0, 2000, temperature=0.05)
    found = calibration_of(valid)
    assert found.temperature == fit_temperature(valid.log_probs, valid.truth)
    assert found.temperature == pytest.approx(20, rel=0.15)
    assert found.note is None
    assert torch.equal(found.temper(valid.log_probs), temper(valid.log_probs, found.temperature))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda part: {"truth": part.truth[: FEWEST - 1], "log_probs": part.log_probs[: FEWEST - 1]}, "9 validation"),
        (lambda part: {"truth": torch.zeros_like(part.truth)}, "all validation samples are of one class"),
        (lambda part: {"truth": mode(part.log_probs)}, "every validation sample is predicted correctly"),
        (
            lambda part: {"log_probs": torch.full_like(part.log_probs, -torch.inf).index_fill(1, torch.tensor(3), 0.0)},
            "no probability at their true label",
        ),
    ],
)
def test_where_no_temperature_can_be_had_it_is_one_and_says_why(change, reason):
    valid = said(1, 60)
    valid = replace(valid, **change(valid))
    found = calibration_of(valid)
    assert found.temperature == 1
    assert found.note.startswith("posteriors are not calibrated: ")
    assert reason in found.note
    assert found.num_samples == len(valid.truth)


def test_very_flat_posteriors_that_are_now_and_then_wrong_get_the_coldest_temperature():
    valid = said(1, 60, temperature=1000)
    assert (valid.predicted_index != valid.truth).any()
    found = calibration_of(valid)
    assert (found.temperature, found.note) == (COLDEST, None)


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.25, 0.5])
def test_intervals_are_those_of_sets_calibrated_on_the_validation_part(alpha):
    valid, test = said(2, 400, noise=1.0), said(3, 3000, noise=1.0)
    found = calibration_of(valid)
    sets = ContiguousSets(alpha=alpha).calibrate(found.temper(valid.log_probs), valid.truth)
    expected = sets.predict(found.temper(test.log_probs))
    assert torch.equal(found.intervals(test.log_probs, test.predicted_index, alpha), expected)


def test_the_label_decided_on_is_within_wherever_it_lies():
    valid, test = said(2, 400), said(3, 100)
    found = calibration_of(valid)
    without = found.intervals(test.log_probs, test.predicted_index, 0.1)
    for label in (0, 7):
        intervals = found.intervals(test.log_probs, torch.full((100,), label), 0.1)
        assert covers(intervals, torch.full((100,), label)).all()
        assert (sizes(intervals) >= sizes(without)).all()
        assert torch.equal(intervals[:, 1 if label == 0 else 0], without[:, 1 if label == 0 else 0])


@given(st.integers(9, 5000), st.sampled_from([0.01, 0.02, 0.05, 0.1, 0.3, 0.6]), st.integers(0, 2**31))
def test_scores_that_are_left_out_and_rounded_never_lower_the_threshold(count, alpha, seed):
    valid = said(seed % 20, count)
    found = calibration_of(valid)
    if not found.allows(alpha):
        return
    scores = scores_at(found.temper(valid.log_probs), valid.truth).sort().values
    rank, step = conformal_rank(count, alpha), math.ceil(count / 1000)
    assert len(found.scores) == min(count, 1000)
    assert scores[rank - 1] <= found.threshold(alpha) <= scores[min(rank - 1 + step, count) - 1] + 1.001e-6


def test_scores_without_end_are_kept():
    found = Calibration(num_samples=9, scores=(0.0,) * 8 + (math.inf,))
    assert found.threshold(0.1) == math.inf
    assert found.intervals(said(0, 5).log_probs, torch.zeros(5, dtype=torch.int64), 0.1).unique(dim=0).tolist() == [
        [0, 7]
    ]


def test_the_figures_are_those_of_the_calibrated_posterior():
    valid, test = said(4, 300, temperature=0.1), said(5, 500, temperature=0.1)
    found = calibration_of(valid)
    figures = calibrated_figures(found, test)
    calibrated = temper(test.log_probs, found.temperature)
    intervals = found.intervals(test.log_probs, test.predicted_index, ALPHA)
    assert figures == pytest.approx(
        {
            "nll": negative_log_likelihood(calibrated, test.truth).mean().item(),
            "rps": ranked_probability_score(calibrated, test.truth).mean().item(),
            "ece": expected_calibration_error(calibrated, test.truth).item(),
            "alpha": 0.1,
            "coverage": covers(intervals, test.truth).double().mean().item(),
            "interval_size": sizes(intervals).double().mean().item(),
        },
        rel=1e-6,
    )
    raw = figures_of(test.log_probs, test.truth, None, None)
    assert set(raw) == {"nll", "rps", "ece"} == set(calibrated_figures(calibration_of(said(0, 8)), test))
    assert figures["nll"] < 0.5 * raw["nll"]
    assert figures["ece"] < 0.5 * raw["ece"]


@pytest.mark.parametrize(
    ("samples", "groups", "code", "told"),
    [
        (8, None, "no-intervals", "no 90 % intervals: 8 validation samples, and 9 are needed"),
        (8, 3, "no-intervals", "8 validation samples, and 9 are needed"),
        (9, None, "few-samples", "on 9 validation samples: real coverage is likely between 72 and 99 %"),
        (16, None, "few-samples", "between 83 and 100 %"),  # roots of 0.05 and 0.95
        (60, 60, "few-samples", "on 60 validation samples: "),
        (60, 30, "few-samples", "on 60 validation samples of 30 groups: real coverage is likely between "),
        (60, 8, "few-samples", "on 60 validation samples of 8 groups: too few groups"),
    ],
)
def test_how_far_off_intervals_may_be_is_told_of_few_samples_and_of_fewer_groups(samples, groups, code, told):
    note = few_samples_note(samples, groups)
    assert note.code == code
    assert told in note


def test_of_many_samples_in_many_groups_nothing_is_told():
    assert few_samples_note(100) is few_samples_note(600, 100) is None
    assert few_samples_note(99) is not None


@pytest.mark.bad_input
def test_an_alpha_too_small_for_the_validation_part_is_refused():
    found = calibration_of(said(0, 30))
    message = (
        r"`alpha` must be >= 0\.033 for a model whose validation part had 30 samples, got 0\.01: "
        r"that needs 99 samples\."
    )
    with pytest.raises(InputError, match=message):
        found.threshold(0.01)
    assert not found.allows(0.03)
    assert found.allows(0.033)


@pytest.mark.slow
def test_choosing_the_epoch_on_the_same_part_costs_a_point_of_coverage_at_most():
    """The best of 60 epochs whose errors are half shared; 150 draws give the mean coverage to 0.003."""
    shares = []
    for draw in range(150):
        rng = np.random.default_rng(draw)
        severity, chance = rng.uniform(0, 8, 2100), torch.from_numpy(rng.uniform(size=(2100, 1)))
        true = torch.from_numpy(grade_log_probs(severity))
        labels = (true.exp().cumsum(-1) < chance).sum(-1).clamp(max=7)
        shared, best = torch.from_numpy(rng.standard_normal(true.shape)), None
        for _ in range(60):
            noise = (torch.from_numpy(rng.standard_normal(true.shape)) + shared) / math.sqrt(2)
            log_probs = ((true + noise) / 0.2).log_softmax(-1)
            predicted = mode(log_probs)
            error = (predicted - labels)[:100].abs().double().mean()
            if best is None or error < best[0]:
                best = error, log_probs, predicted
        _, log_probs, predicted = best
        valid, test = (
            Predictions(truth=labels[part], predicted_index=predicted[part], log_probs=log_probs[part].float())
            for part in (slice(100), slice(100, None))
        )
        shares.append(calibrated_figures(calibration_of(valid), test)["coverage"])
    assert 0.885 < np.mean(shares) < 0.905


def drawn(count, seed, *, wrong=0.0):
    """Posteriors of four classes and labels drawn from them; `wrong` moves probability from the first to the last."""
    random = torch.Generator().manual_seed(seed)
    probs = torch.softmax(2 * torch.randn(count, 4, generator=random) + torch.tensor([2.0, 1.0, 0.0, -1.0]), dim=-1)
    labels = torch.multinomial(probs, 1, generator=random).squeeze(1)
    moved = wrong * probs[:, :1]
    return torch.cat([probs[:, :1] - moved, probs[:, 1:3], probs[:, 3:] + moved], dim=1).log(), labels


def test_the_gap_is_that_of_the_class_that_differs_most_beyond_chance():
    log_probs, labels = drawn(600, 0, wrong=0.4)
    label, probability, share = frequency_gap(log_probs, labels)
    gaps = [sum(row[k].exp().item() for row in log_probs) / 600 - labels.tolist().count(k) / 600 for k in range(4)]
    assert label == max(range(4), key=lambda k: abs(gaps[k]))
    assert probability - share == pytest.approx(gaps[label], abs=1e-6)
    assert share == labels.tolist().count(label) / 600


@pytest.mark.parametrize("count", [30, 100, 1000])
def test_right_posteriors_are_hardly_ever_doubted(count):
    assert sum(frequency_gap(*drawn(count, seed)) is not None for seed in range(300)) <= 3


def test_more_than_three_standard_errors_and_five_points_are_needed():
    half = torch.tensor([[0.5, 0.25, 0.25]]).double().log()
    assert frequency_gap(half.expand(100, 3), torch.tensor([0] * 64 + [1, 2] * 18)) is None  # one error is 0.05
    assert frequency_gap(half.expand(100, 3), torch.tensor([0] * 66 + [1, 2] * 17)) == (0, pytest.approx(0.5), 0.66)
    many = half.expand(100_000, 3)
    assert frequency_gap(many, torch.tensor([0] * 54_900 + [1, 2] * 22_550)) is None
    assert frequency_gap(many, torch.tensor([0] * 55_100 + [1, 2] * 22_450)) == (0, pytest.approx(0.5), 0.551)


def test_few_samples_and_few_groups_are_no_evidence():
    log_probs, labels = drawn(600, 0, wrong=0.4)
    assert frequency_gap(log_probs[:29], torch.full((29,), 3)) is None
    assert frequency_gap(log_probs, labels, num_groups=600) == frequency_gap(log_probs, labels)
    assert frequency_gap(log_probs, labels, num_groups=29) is None


def test_a_class_without_probability_or_without_samples_is_measured_like_any_other():
    sure = torch.tensor([[1.0, 0.0, 0.0]]).log().expand(200, 3)
    assert frequency_gap(sure, torch.zeros(200, dtype=torch.long)) is None
    assert frequency_gap(sure, torch.ones(200, dtype=torch.long)) == (0, 1.0, 0.0)


def test_the_reason_is_the_weights_or_else_what_is_told_and_one_peak_where_there_is_one():
    def note(*, weighted, one_peaked):
        how = {"part": "these data", "weighted": weighted, "one_peaked": one_peaked, "reason": "the moon"}
        return frequency_note("5", 0.47, 0.6, **how)

    start = "the mean probability of '5' is 0.470, its share of these data 0.600: "
    assert note(weighted=True, one_peaked=1.0).startswith(f"{start}after class weights or balanced sampling, ")
    assert note(weighted=False, one_peaked=0.9) == f"{start}the moon"
    assert note(weighted=False, one_peaked=1.0).startswith(f"{start}the moon, or one-peaked posteriors may not fit: ")


def patients(seed, count):
    """Two to five images of each patient, alike and graded about alike."""
    rng = np.random.default_rng(seed)
    images = rng.integers(2, 6, count)
    groups = np.repeat(np.arange(count), images)
    severity = np.repeat(rng.uniform(0, 8, count), images) + 0.5 * rng.standard_normal(len(groups))
    true = torch.from_numpy(grade_log_probs(severity.clip(0, 8)))
    labels = (true.exp().cumsum(-1) < torch.from_numpy(np.repeat(rng.uniform(size=count), images)[:, None])).sum(-1)
    log_probs = (2 * true).log_softmax(-1).float()
    names = tuple(map(str, groups))
    return Predictions(truth=labels.clamp(max=7), predicted_index=mode(log_probs), log_probs=log_probs, groups=names)


@pytest.mark.parametrize(("how", "longest"), [("worst", 1.02), ("mean", 0.95), ("median", 0.95)])
def test_intervals_of_groups_cover_as_often_as_asked_and_are_no_longer_than_joined_ones(how, longest):
    calibration, test = calibration_of(patients(0, 600)), patients(1, 4000)
    assert calibration.num_groups == 600
    assert calibration.allows_groups(ALPHA, how)
    intervals = calibration.intervals(test.log_probs, test.predicted_index, ALPHA)
    tempered = replace(test, log_probs=calibration.temper(test.log_probs), intervals=intervals)
    found = tempered.combined(test.groups, how)
    own = calibration.group_intervals(found.log_probs, found.predicted_index, ALPHA, how)
    assert covers(own, found.predicted_index).all()
    covered = covers(own, found.truth).double().mean()
    assert 0.87 < covered < 0.95
    assert sizes(own).double().mean() < longest * sizes(found.intervals).double().mean()


def test_groups_of_one_sample_each_need_no_calibration_of_their_own():
    valid = said(0, 50)
    alone = calibration_of(replace(valid, groups=tuple(map(str, range(50)))))
    assert alone == calibration_of(valid)
    assert not alone.allows_groups(ALPHA, "worst")


def test_a_rule_for_kappa_is_kept_only_where_it_is_better_than_the_methods_own():
    valid = said(0, 400)
    rule = calibration_of(replace(valid, predicted_index=median(valid.log_probs))).qwk
    labels = rule(calibration_of(valid).temper(valid.log_probs))
    best = {
        name: quadratic_weighted_kappa(each, valid.truth, num_classes=8)
        for name, each in (("rule", labels), ("median", median(valid.log_probs)))
    }
    assert best["rule"] > best["median"]
    assert calibration_of(replace(valid, predicted_index=valid.truth)).qwk is None
    assert calibration_of(said(0, FEWEST - 1)).qwk is None
