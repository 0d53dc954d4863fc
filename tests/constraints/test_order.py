import pytest
import torch

from onepeak import LogBarrier, QuadraticPenalty
from onepeak.errors import InputError

CONSTRAINTS = [LogBarrier, QuadraticPenalty]


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_cost_has_the_shape_of_the_labels(constraint):
    for shape in [(), (3,), (2, 3), (0,)]:
        scores, labels = torch.randn(*shape, 5), torch.randint(5, shape)
        assert constraint(num_classes=5)(scores, labels).shape == labels.shape


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_half_precision_is_answered_in_float32(constraint):
    for dtype in [torch.float32, torch.bfloat16, torch.float16, torch.float64]:
        scores = torch.randn(4, 5).to(dtype)
        cost = constraint(num_classes=5)(scores, torch.tensor([0, 1, 4, 2]))
        assert cost.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        exact = constraint(num_classes=5)(scores.double(), torch.tensor([0, 1, 4, 2]))
        torch.testing.assert_close(cost.double(), exact, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_labels_of_any_integer_type_will_do(constraint):
    for dtype in [torch.int32, torch.uint8, torch.int64]:
        scores, labels = torch.randn(4, 5), torch.tensor([0, 1, 4, 2])
        module = constraint(num_classes=5)
        assert torch.equal(module(scores, labels.to(dtype)), module(scores, labels))


@pytest.mark.bad_input
def test_the_wrong_number_of_scores_is_named():
    with pytest.raises(InputError, match=r"`scores` must have 5 numbers on its last axis, got shape \(4, 6\)\."):
        LogBarrier(num_classes=5)(torch.zeros(4, 6), torch.zeros(4, dtype=torch.long))
