"""The kernels' numbers, by Triton's interpreter on the CPU; `constraints/test_gpu.py` runs them on a GPU."""

import pytest
import torch
from torch.nn import functional as F

from onepeak import LogBarrier, QuadraticPenalty
from onepeak.constraints import Hinge
from onepeak.constraints.cross_entropy import fused_terms, ordered_cross_entropy
from onepeak.constraints.gaps import order_cost
from onepeak.errors import InputError
from onepeak.kernels import fused

pytest.importorskip("triton", reason="Triton is not installed")
pytestmark = [
    pytest.mark.skipif(torch.cuda.is_available(), reason="where there is a GPU the kernels run on it"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning:triton"),  # inf - inf in lanes that are masked out
]

CONSTRAINTS = {"barrier": lambda c: LogBarrier(c, t=1.7), "penalty": lambda c: QuadraticPenalty(c, 0.3, 0.2)}


def in_double(scores, labels, constraint):
    """Value and gradient by autograd, in float64."""
    leaf = scores.double().requires_grad_()
    loss = F.cross_entropy(leaf, labels) + order_cost(constraint, leaf, labels).mean()
    return loss.detach(), torch.autograd.grad(loss, leaf)[0]


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize(("batch", "num_classes"), [(1, 2), (65, 7), (3, 1000)])
def test_value_and_gradient_are_those_of_autograd_in_double_precision(name, batch, num_classes):
    constraint = CONSTRAINTS[name](num_classes)
    scores, labels = 3 * torch.randn(batch, num_classes), torch.randint(num_classes, (batch,))
    loss, gradient = fused_terms(constraint).loss_and_gradient(scores, labels)
    expected_loss, expected = in_double(scores, labels, constraint)
    torch.testing.assert_close(loss.double(), expected_loss, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(gradient.double(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_scores_of_plus_and_minus_ten_thousand_give_finite_numbers(name):
    scores = 1e4 * torch.sign(torch.randn(2, 9))
    loss, gradient = fused_terms(CONSTRAINTS[name](9)).loss_and_gradient(scores, torch.tensor([0, 5]))
    assert loss.isfinite()
    assert gradient.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_worked_out_in_float32(dtype):
    constraint = LogBarrier(300)
    scores, labels = torch.randn(4, 300).to(dtype), torch.randint(300, (4,))
    loss, gradient = fused_terms(constraint).loss_and_gradient(scores, labels)
    expected_loss, expected = in_double(scores, labels, constraint)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss.double(), expected_loss, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(gradient.double(), expected, rtol=1e-2 if dtype == torch.bfloat16 else 1e-5, atol=1e-5)


@pytest.mark.bad_input
@pytest.mark.parametrize("label", [-1, 7])
def test_a_label_outside_the_classes_makes_the_loss_nan(label):
    loss, _ = fused_terms(LogBarrier(7)).loss_and_gradient(torch.randn(2, 7), torch.tensor([0, label]))
    assert loss.isnan()


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_loss_trains_through_the_kernel(monkeypatch, name):
    monkeypatch.setattr(fused, "takes", lambda scores: scores.dtype != torch.float64)  # as if on a GPU
    launches = []
    in_kernel = fused.FusedTerms.loss_and_gradient
    monkeypatch.setattr(fused.FusedTerms, "loss_and_gradient", lambda *args: launches.append(1) or in_kernel(*args))
    constraint, labels = CONSTRAINTS[name](5), torch.randint(5, (2, 3))
    scores = torch.randn(2, 3, 5, requires_grad=True)
    loss = ordered_cross_entropy(scores, labels, constraint)
    assert len(launches) == 1
    expected_loss, expected = in_double(scores.detach().reshape(6, 5), labels.reshape(6), constraint)
    torch.testing.assert_close(loss.double(), expected_loss, rtol=1e-5, atol=1e-6)
    constraint.tighten()  # which must not reach back to the loss above
    for factor in (1, -3, 1):  # backward more than once through a kept graph, and of a scaled loss
        (gradient,) = torch.autograd.grad(factor * loss, scores, retain_graph=True)
        torch.testing.assert_close(gradient.reshape(6, 5).double(), factor * expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_derivatives_of_derivatives_fall_back_to_autograd(monkeypatch, name):
    monkeypatch.setattr(fused, "takes", lambda scores: scores.dtype != torch.float64)
    constraint, labels = CONSTRAINTS[name](5), torch.randint(5, (3,))

    def curvature(scores):
        loss = ordered_cross_entropy(scores, labels, constraint)
        (slope,) = torch.autograd.grad(loss, scores, create_graph=True)
        return torch.autograd.grad(slope.square().sum(), scores)[0]

    scores = torch.randn(3, 5)
    found = curvature(scores.clone().requires_grad_())
    torch.testing.assert_close(found, curvature(scores.double().requires_grad_()).float(), rtol=1e-4, atol=1e-5)


def test_half_precision_scores_get_a_gradient_of_their_own_dtype(monkeypatch):
    monkeypatch.setattr(fused, "takes", lambda _: True)
    scores = torch.randn(4, 5).half().requires_grad_()
    ordered_cross_entropy(scores, torch.randint(5, (4,)), LogBarrier(5)).backward()
    assert scores.grad.dtype == torch.float16


def test_other_constraints_reductions_and_weights_go_without(monkeypatch):
    monkeypatch.setattr(fused, "takes", lambda _: True)
    monkeypatch.setattr(fused.FusedTerms, "loss_and_gradient", None)
    scores, labels = torch.randn(2, 5), torch.tensor([0, 4])
    assert fused_terms(Hinge(5)) is None
    ordered_cross_entropy(scores, labels, Hinge(5))
    ordered_cross_entropy(scores, labels, LogBarrier(5), reduction="sum")
    ordered_cross_entropy(scores, labels, LogBarrier(5), sample_weight=torch.ones(2))
    with pytest.raises(TypeError):
        ordered_cross_entropy(scores, labels, LogBarrier(5))


@pytest.mark.parametrize(("batch", "classes"), [(1, 2), (8, 70), (64, 64), (64, 65), (4096, 1000), (3, 4096)])
def test_a_tile_is_of_powers_of_two_holds_a_row_and_fits_the_registers(batch, classes):
    rows, columns = fused.tile(batch, classes)
    assert columns.bit_count() == rows.bit_count() == 1
    assert classes <= columns < 2 * classes
    assert rows * columns <= fused.LONGEST_ROW


def test_scores_on_a_cpu_and_in_double_precision_go_without_kernels():
    assert not fused.takes(torch.zeros(2, 3))
    assert not fused.takes(torch.zeros(2, 3, dtype=torch.float64, device="meta"))


def test_other_kinds_of_tensors_go_without_kernels():
    class Kind(torch.Tensor):
        is_cuda = True

    assert not fused.takes(torch.zeros(2, 3).as_subclass(Kind))


@pytest.mark.bad_input
def test_labels_on_another_device_are_refused_before_a_kernel_reads_them():
    scores = torch.zeros(2, 3, device="meta")
    with pytest.raises(InputError, match=r"`labels` must be on the device of the scores, meta, got cpu: move them"):
        fused.ordered_cross_entropy(scores, torch.zeros(2, dtype=torch.int64), fused.FusedTerms(), len)
