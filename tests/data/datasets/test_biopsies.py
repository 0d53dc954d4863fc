import zlib

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from onepeak.data.datasets.biopsies import (
    GRADES,
    IMAGES_PER_PATIENT,
    NOISE,
    bayes_error,
    biopsies,
    grade_log_probs,
    grades_given,
    hidden_severity,
)
from onepeak.data.manifest import ImageArrays, Manifest
from onepeak.posterior import is_unimodal


@pytest.fixture(scope="module")
def data():
    return biopsies(400)


@pytest.fixture(scope="module")
def many():
    """Severities and labels of many items, without their images."""
    ids = np.arange(20_000)
    severity = hidden_severity(3, ids, ids // IMAGES_PER_PATIENT)
    return severity, grades_given(3, ids, severity)


def severity_of(data):
    ids = np.arange(len(data))
    return hidden_severity(0, ids, ids // IMAGES_PER_PATIENT)


def test_the_images_and_labels_are_the_same_on_every_machine():
    data = biopsies(20)
    # A change of these numbers changes the data set under everybody's figures: it must be meant, and be told.
    assert data.labels.tolist() == [4, 2, 5, 4, 5, 3, 1, 3, 3, 3, 0, 2, 0, 0, 2, 0, 0, 0, 0, 0]
    assert zlib.crc32(data.items.pixels.tobytes()) == 632448637


def test_a_smaller_data_set_is_the_beginning_of_a_larger_one(data):
    few = biopsies(33)  # ends within a patient and within a batch of images drawn at once
    np.testing.assert_array_equal(few.items.pixels, data.items.pixels[:33])
    np.testing.assert_array_equal(few.labels, data.labels[:33])
    np.testing.assert_array_equal(few.true_log_probs, data.true_log_probs[:33])
    assert few.groups == data.groups[:33]


def test_the_same_tissue_is_drawn_at_any_size():
    small, usual, large = (biopsies(24, size=size) for size in (32, 64, 128))
    np.testing.assert_array_equal(small.labels, large.labels)
    for coarse, fine in [(small, usual), (usual, large)]:
        size = coarse.items.pixels.shape[1]
        shrunk = fine.items.pixels.reshape(24, size, 2, size, 2, 3).mean(axis=(2, 4))
        for a, b in zip(shrunk, coarse.items.pixels, strict=True):
            assert np.corrcoef(a.ravel(), b.ravel())[0, 1] > 0.9


def test_images_of_one_patient_share_stain_and_severity_more_than_those_of_two(data):
    colour = data.items.pixels.mean(axis=(1, 2))
    red_over_blue = (colour[:, 0] / colour[:, 2]).reshape(-1, IMAGES_PER_PATIENT)
    severity = severity_of(data).reshape(-1, IMAGES_PER_PATIENT)
    for values in (red_over_blue, severity):
        within = values.var(axis=1, ddof=1).mean()
        assert within < 0.5 * values.var(ddof=1)


def test_every_true_posterior_is_normalised_and_strictly_one_peaked(data, many):
    for log_probs in (data.true_log_probs, grade_log_probs(many[0])):
        assert is_unimodal(torch.from_numpy(log_probs)).all()
        np.testing.assert_allclose(np.exp(log_probs).sum(axis=1), 1, rtol=1e-12)


@given(st.floats(0, 8))
def test_the_true_posterior_is_the_difference_of_two_logistic_distribution_functions(severity):
    cuts = stats.logistic.cdf([-np.inf, *range(1, 8), np.inf], loc=severity, scale=NOISE)
    np.testing.assert_allclose(np.exp(grade_log_probs(np.array([severity])))[0], np.diff(cuts), atol=1e-12)


def test_far_grades_keep_the_right_log_probability():
    # Far below, F(b) - F(a) is nearly e^b - e^a: the ratio of neighbours is e^(1 / noise).
    log_probs = grade_log_probs(np.array([7.9]))[0]
    np.testing.assert_allclose(np.diff(log_probs[1:4]), 1 / NOISE, rtol=1e-4)
    assert log_probs[0] < -20


def test_the_severity_is_uniform(many):
    # One image a patient: those of one patient are not independent.
    assert stats.kstest(many[0][::IMAGES_PER_PATIENT] / len(GRADES), "uniform").pvalue > 0.01


def test_the_labels_follow_the_true_posterior(many):
    severity, labels = many
    probs = np.exp(grade_log_probs(severity))
    for part in np.array_split(np.argsort(severity), 16):
        expected = probs[part].sum(axis=0)
        likely = expected > 5
        observed = np.bincount(labels[part], minlength=8)
        grouped = np.append(observed[likely], observed[~likely].sum())
        assert stats.chisquare(grouped, np.append(expected[likely], expected[~likely].sum())).pvalue > 1e-4


def test_the_bayes_error_is_the_expected_one_of_median_and_mode():
    probs = np.array([[0.4, 0.1, 0.2, 0.3], [0.0, 0.1, 0.9, 0.0]])
    with np.errstate(divide="ignore"):
        log_probs = np.log(probs)
    data = Manifest(
        name="hand",
        items=ImageArrays(pixels=np.zeros((2, 1, 1, 3), dtype=np.uint8)),
        labels=np.array([0, 2]),
        classes=("a", "b", "c", "d"),
        true_log_probs=log_probs,
    )
    best = bayes_error(data)
    # First item: median b, error .4 + .2 + .6; second: median c, error .1.
    assert best.mae == pytest.approx((1.2 + 0.1) / 2)
    assert best.accuracy == pytest.approx((0.4 + 0.9) / 2)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_items": 2.5}, "`num_items` must be an integer >= 1, got 2.5"),
        ({"seed": -1}, "`seed` must be an integer >= 0, got -1"),
        ({"size": 15}, "`size` must be an integer >= 16, got 15"),
    ],
)
def test_wrong_settings_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        biopsies(**arguments)


@pytest.mark.bad_input
def test_a_data_set_without_true_posteriors_has_no_bayes_error(data):
    unknown = Manifest(name="photos", items=data.items, labels=data.labels, classes=data.classes)
    with pytest.raises(ValueError, match=r"`manifest` must have samples with `true_log_probs`.*'photos' without them"):
        bayes_error(unknown)
    with pytest.raises(ValueError, match="got no samples"):
        bayes_error(data.take([]))
