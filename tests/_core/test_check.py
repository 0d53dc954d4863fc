import numpy as np
import pytest
import torch

from onepeak import ELBLoss, posterior
from onepeak._core.check import (
    check_class_weight,
    check_integer,
    check_log_probs,
    check_number,
    check_weights,
)
from onepeak.errors import InputError
from onepeak.metrics.functional import mean_absolute_error, side_order_index

pytestmark = pytest.mark.bad_input


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int8", "uint8", "int64"])
def test_numpy_numbers_are_numbers_and_become_pythons(kind):
    found = check_number("x", getattr(np, kind)(2), above=1, below=3)
    assert (found, type(found)) == (2.0, float)
    if "int" in kind:
        assert check_integer("n", getattr(np, kind)(3), minimum=2) == 3


@pytest.mark.parametrize(
    "value",
    [True, False, "2", 2j, None, float("nan"), torch.tensor(2.0), np.True_, np.float32("inf"), np.array([1.0])],
    ids=repr,
)
def test_what_is_no_number_is_refused(value):
    with pytest.raises(InputError, match="`x` must be a finite number, got "):
        check_number("x", value)


@pytest.mark.parametrize("value", [1, 2.0, "3", None, True])
def test_what_is_no_integer_above_the_minimum_is_refused(value):
    with pytest.raises(InputError, match=r"`n` must be an integer >= 2, got "):
        check_integer("n", value, minimum=2)


def test_an_array_of_numpy_is_told_how_it_becomes_a_tensor():
    probs, labels = np.full((2, 3), 1 / 3), np.array([0, 1])
    with pytest.raises(InputError, match=r"`log_probs` must .* got ndarray: convert it with torch\.from_numpy\."):
        posterior.project(probs)
    with pytest.raises(InputError, match=r"`scores` must .* got ndarray: convert it with torch\.from_numpy"):
        side_order_index(probs, torch.tensor([0, 1]))
    with pytest.raises(
        InputError, match=r"`labels` must be a tensor of integers, got ndarray: convert it with torch\.from_numpy"
    ):
        mean_absolute_error(torch.tensor([0, 1]), labels)
    with pytest.raises(InputError, match=r"`w` must .* got ndarray: convert it with torch\.from_numpy"):
        check_weights(probs[0], (3,), name="w")


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64])
def test_unsigned_integers_are_told_how_they_become_labels(dtype):
    scores, labels = torch.eye(3), torch.tensor([0, 1, 2]).to(dtype)
    with pytest.raises(InputError, match=rf"`labels` must be int64, .* or uint8, got {dtype}: pass labels\.long\(\)\."):
        ELBLoss(3)(scores, labels)
    with pytest.raises(InputError, match=r"`reference_labels` must be int64, .* pass reference_labels\.long\(\)\."):
        side_order_index(scores, labels)


def test_a_number_in_place_of_class_weights_is_told_what_they_are():
    with pytest.raises(InputError, match=r"`weight` must be class weights, .* 3 numbers, one per class, got float\."):
        check_class_weight(0.1, 3, name="weight")
    with pytest.raises(InputError, match=r"`class_weight` must have shape \(3,\), got \(4,\)\."):
        check_class_weight(torch.ones(4), 3)
    with pytest.raises(InputError, match="`w` must be finite and >= 0"):
        check_weights(torch.tensor([1.0, float("nan")]), (2,), name="w")


def test_posteriors_of_any_precision_pass_from_flat_to_certain():
    for dtype in [torch.bfloat16, torch.float16, torch.float32, torch.float64]:
        for num_classes in [2, 70, 1000]:
            generator = torch.Generator().manual_seed(0)
            sharpness = torch.linspace(0, 100, 200).unsqueeze(-1)
            log_probs = (sharpness * torch.randn(200, num_classes, generator=generator)).log_softmax(dim=-1)
            check_log_probs(log_probs.to(dtype), num_classes)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.bad_input
def test_a_posterior_that_lost_a_fifth_of_its_mass_does_not_pass(dtype):
    log_probs = torch.tensor([[0.5, 0.3]]).log().to(dtype)
    with pytest.raises(ValueError, match=r"`log_probs` must be log-probabilities.*off by 0\.22"):
        check_log_probs(log_probs)
