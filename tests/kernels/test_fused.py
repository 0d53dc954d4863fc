"""The kernels' numbers, by Triton's interpreter on the CPU; `test_fused_gpu.py` runs them as they are meant to run."""

import pytest
import torch
from torch.nn import functional as F

from onepeak import LogBarrier, QuadraticPenalty
from onepeak.constraints import Hinge
from onepeak.constraints.cross_entropy import fused_terms, ordered_cross_entropy
from onepeak.constraints.order import order_cost
from onepeak.kernels import fused, launch
from reference import constraints as reference

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


def test_the_value_is_that_of_the_definition():
    scores, labels = torch.randn(4, 6), torch.tensor([0, 5, 2, 3])
    loss, _ = fused_terms(LogBarrier(6, t=1.3)).loss_and_gradient(scores, labels)
    expected = reference.elb(scores.tolist(), labels.tolist(), 1.3).mean()
    assert loss.item() == pytest.approx(expected, rel=1e-6)


@pytest.fixture(params=["split", "whole"])
def long_rows(request, monkeypatch):
    """Two long rows as they are where rows are few, and as where they are many."""
    if request.param == "whole":
        monkeypatch.setattr(launch, "PROGRAMS", 1)


@pytest.mark.usefixtures("long_rows")
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("num_classes", [4097, 9001])
def test_long_rows_have_the_value_and_gradient_of_double_precision(name, num_classes):
    constraint = CONSTRAINTS[name](num_classes)
    scores, labels = 3 * torch.randn(2, num_classes), torch.tensor([0, num_classes - 1])
    loss, gradient = fused_terms(constraint).loss_and_gradient(scores, labels)
    expected_loss, expected = in_double(scores, labels, constraint)
    torch.testing.assert_close(loss.double(), expected_loss, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(gradient.double(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("long_rows")
@pytest.mark.parametrize("num_classes", [9, 9000])
def test_scores_of_plus_and_minus_ten_thousand_give_finite_numbers(num_classes):
    scores = 1e4 * torch.sign(torch.randn(2, num_classes))
    for make in CONSTRAINTS.values():
        constraint = make(num_classes)
        loss, gradient = fused_terms(constraint).loss_and_gradient(scores, torch.tensor([0, 5]))
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
@pytest.mark.usefixtures("long_rows")
@pytest.mark.parametrize("num_classes", [7, 9000])
@pytest.mark.parametrize("label", [-1, "past the end"])
def test_a_label_outside_the_classes_makes_the_loss_nan(num_classes, label):
    labels = torch.tensor([0, num_classes if label == "past the end" else label])
    loss, _ = fused_terms(LogBarrier(num_classes)).loss_and_gradient(torch.randn(2, num_classes), labels)
    assert loss.isnan()


def test_scaling_by_one_leaves_the_gradient_and_by_another_number_multiplies_it():
    gradient = torch.randn(10_000)
    expected = gradient.clone()
    launch.scale(gradient, torch.tensor(1.0))
    assert torch.equal(gradient, expected)
    launch.scale(gradient, torch.tensor(-0.5))
    assert torch.equal(gradient, -0.5 * expected)


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("large", [False, True])
def test_a_loss_trains_through_the_kernel(monkeypatch, name, large):
    monkeypatch.setattr(launch, "takes", lambda scores: scores.dtype != torch.float64)  # as if on a GPU
    monkeypatch.setattr(fused, "LARGE", 0 if large else 1 << 30)
    launches = []
    in_kernel = fused.FusedTerms.loss_and_gradient
    monkeypatch.setattr(fused.FusedTerms, "loss_and_gradient", lambda *args: launches.append(1) or in_kernel(*args))
    constraint, labels = CONSTRAINTS[name](5), torch.randint(5, (2, 3))
    scores = torch.randn(2, 3, 5, requires_grad=True)
    loss = ordered_cross_entropy(scores, labels, constraint)
    assert len(launches) == 1
    expected_loss, expected = in_double(scores.detach().reshape(6, 5), labels.reshape(6), constraint)
    torch.testing.assert_close(loss.double(), expected_loss, rtol=1e-5, atol=1e-6)
    if large:
        constraint.tighten()  # which must not reach back to the loss above
    for factor in (1, -3, 1):  # backward more than once through a kept graph, and of a scaled loss
        (gradient,) = torch.autograd.grad(factor * loss, scores, retain_graph=True)
        torch.testing.assert_close(gradient.reshape(6, 5).double(), factor * expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_derivatives_of_derivatives_fall_back_to_autograd(monkeypatch, name):
    monkeypatch.setattr(launch, "takes", lambda scores: scores.dtype != torch.float64)
    constraint, labels = CONSTRAINTS[name](5), torch.randint(5, (3,))

    def curvature(scores):
        loss = ordered_cross_entropy(scores, labels, constraint)
        (slope,) = torch.autograd.grad(loss, scores, create_graph=True)
        return torch.autograd.grad(slope.square().sum(), scores)[0]

    scores = torch.randn(3, 5)
    found = curvature(scores.clone().requires_grad_())
    torch.testing.assert_close(found, curvature(scores.double().requires_grad_()).float(), rtol=1e-4, atol=1e-5)


def test_half_precision_scores_get_a_gradient_of_their_own_dtype(monkeypatch):
    monkeypatch.setattr(launch, "takes", lambda _: True)
    scores = torch.randn(4, 5).half().requires_grad_()
    ordered_cross_entropy(scores, torch.randint(5, (4,)), LogBarrier(5)).backward()
    assert scores.grad.dtype == torch.float16


def test_other_constraints_reductions_and_weights_go_without(monkeypatch):
    monkeypatch.setattr(launch, "takes", lambda _: True)
    monkeypatch.setattr(fused.FusedTerms, "loss_and_gradient", None)
    scores, labels = torch.randn(2, 5), torch.tensor([0, 4])
    assert fused_terms(Hinge(5)) is None
    ordered_cross_entropy(scores, labels, Hinge(5))
    ordered_cross_entropy(scores, labels, LogBarrier(5), reduction="sum")
    ordered_cross_entropy(scores, labels, LogBarrier(5), sample_weight=torch.ones(2))
    with pytest.raises(TypeError):
        ordered_cross_entropy(scores, labels, LogBarrier(5))
