"""The kernels' numbers, by Triton's interpreter on the CPU; `test_fused_gpu.py` runs them as they are meant to run."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

import onepeak
from onepeak import LogBarrier, QuadraticPenalty, metrics
from onepeak.constraints.cost import defined_cost, fused_terms
from onepeak.constraints.gaps import order_counts, pairs_in_order
from onepeak.kernels import fused, launch
from onepeak.kernels import launch as one_pass
from onepeak.kernels.fused import RowTerms
from reference import constraints as reference
from reference.methods import answers
from reference.metrics import side_order_index

pytest.importorskip("triton", reason="Triton is not installed")
pytestmark = [
    pytest.mark.skipif(torch.cuda.is_available(), reason="where there is a GPU the kernels run on it"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning:triton"),  # inf - inf in lanes that are masked out
]

CONSTRAINTS = {"barrier": lambda c: LogBarrier(c, t=1.7), "penalty": lambda c: QuadraticPenalty(c, 0.3, 0.2)}


def in_double(scores, labels, constraint):
    """Value and gradient by autograd, in float64."""
    leaf = scores.double().requires_grad_()
    loss = F.cross_entropy(leaf, labels) + defined_cost(constraint, leaf, labels).mean()
    return loss.detach(), torch.autograd.grad(loss, leaf)[0]


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize(("batch", "num_classes"), [(1, 2), (3, 2), (8, 70), (65, 58), (5, 1000)])
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
@pytest.mark.parametrize("num_classes", [4097, 20_001])
def test_long_rows_have_the_value_and_gradient_of_double_precision(name, num_classes):
    constraint = CONSTRAINTS[name](num_classes)
    scores, labels = 3 * torch.randn(2, num_classes), torch.tensor([0, num_classes - 1])
    loss, gradient = fused_terms(constraint).loss_and_gradient(scores, labels)
    expected_loss, expected = in_double(scores, labels, constraint)
    torch.testing.assert_close(loss.double(), expected_loss, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(gradient.double(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("long_rows")
@pytest.mark.parametrize("num_classes", [9, 20_000])
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
@pytest.mark.parametrize("num_classes", [7, 20_000])
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


pytest.importorskip("triton", reason="Triton is not installed")


def check(scores, labels, predicted=None):
    """Every count is that of the plain form, exactly."""
    found = fused.order_counts(scores, labels, predicted)
    expected = order_counts(scores, labels, predicted)
    assert torch.equal(found[0], expected.predicted)
    assert torch.equal(found[1], expected.to_predicted)
    assert torch.equal(found[2], expected.to_label)


@pytest.mark.parametrize("given_predicted", [False, True])
@pytest.mark.parametrize(("batch", "num_classes"), [(1, 2), (3, 2), (65, 7), (8, 70), (3, 1000), (2, 5000)])
def test_counts_and_modes_are_those_of_the_plain_form(given_predicted, batch, num_classes):
    labels, predicted = torch.randint(num_classes, (2, batch))
    check(torch.randn(batch, num_classes), labels, predicted if given_predicted else None)


@settings(max_examples=15)
@given(st.integers(1, 5), st.integers(2, 20), st.integers(1, 4), st.integers(0, 2**31))
def test_ties_infinities_and_rows_in_parts_change_nothing(batch, num_classes, parts, seed):
    random = torch.Generator().manual_seed(seed)
    values = torch.tensor([-torch.inf, -1.0, 0.0, 1.0])
    scores = values[torch.randint(4, (batch, num_classes), generator=random)]
    labels = torch.randint(num_classes, (batch,), generator=random)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "LONGEST_ROW", 4)
        patch.setattr(launch, "PROGRAMS", parts * batch)
        check(scores, labels)


def test_the_counts_are_those_of_the_definition():
    scores, labels = torch.randint(6, (5, 9)).float(), torch.randint(9, (5,))
    _, _, to_label = fused.order_counts(scores, labels, None)
    by_hand = [8 * side_order_index(row, label) for row, label in zip(scores.tolist(), labels.tolist(), strict=True)]
    assert to_label.tolist() == pytest.approx(by_hand)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_keeps_its_ties(dtype):
    check(torch.randn(4, 300).to(dtype), torch.randint(300, (4,)))


def test_nan_is_the_mode_and_in_no_order():
    scores = torch.tensor([[0.0, 1.0, torch.nan, 2.0]])
    mode, to_mode, to_label = fused.order_counts(scores, torch.tensor([1]), None)
    assert (mode.item(), to_mode.item(), to_label.item()) == (2, 1, 1)


def test_a_metric_counts_through_the_kernel(monkeypatch):
    monkeypatch.setattr(launch, "takes", lambda scores: scores.dtype != torch.float64)
    log_probs, labels = torch.randn(2, 3, 7).log_softmax(-1), torch.randint(7, (2, 3))
    for about in ("predicted", "true"):
        fused_metric, plain_metric = (metrics.SideOrderIndex(num_classes=7, reference=about) for _ in range(2))
        fused_metric.update(log_probs, labels)
        plain_metric.update(log_probs.double(), labels)
        assert fused_metric.compute() == plain_metric.compute()
    assert torch.equal(pairs_in_order(log_probs, labels), pairs_in_order(log_probs.double(), labels))


pytest.importorskip("triton", reason="Triton is not installed")

METHODS = {
    "mv": {"mean_weight": 0.7, "variance_weight": 0.3},
    "ld": {"variance": 1.7},
    "ld as published": {"variance": 0.4, "variant": "as_published"},
    "rps": {"weight": 0.6},
    "rps beside cross-entropy": {"weight": 0.6, "cross_entropy_weight": 0.3},
    "mv+elb": {"t": 1.7},
    "ld+pn": {"weight": 0.3, "slack": 0.2},
    "rps+elb": {"t": 1.7, "cross_entropy_weight": 1.0},
}


def build(name, num_classes):
    return onepeak.method(name.partition(" ")[0], num_classes=num_classes, **METHODS[name])


def in_double_fused_rows(method, scores, labels):
    """Value and gradient by autograd, in float64."""
    leaf = scores.double().requires_grad_()
    loss = method.sample_losses(leaf, labels).mean()
    return loss.detach(), torch.autograd.grad(loss, leaf)[0]


def check_fused_rows(method, scores, labels, *, gradient_error=1e-5):
    loss, gradient = method.fused_terms().loss_and_gradient(scores, labels)
    expected_loss, expected = in_double_fused_rows(method, scores, labels)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss.double(), expected_loss, rtol=1e-5, atol=1e-6)
    assert_near(gradient, expected, rtol=gradient_error)


def assert_near(gradient, expected, *, rtol=1e-5):
    """To 1e-5 of the number itself or, where large terms cancel each other, of the largest."""
    largest = max(1 / len(expected), expected.abs().max().item())
    torch.testing.assert_close(gradient.double(), expected, rtol=rtol, atol=1e-5 * largest)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("batch", "num_classes"), [(1, 2), (3, 2), (5, 3), (65, 7), (8, 70), (3, 1000)])
def test_value_and_gradient_are_those_of_autograd_in_double_precision_fused_rows(name, batch, num_classes):
    scores, labels = 3 * torch.randn(batch, num_classes), torch.randint(num_classes, (batch,))
    check_fused_rows(build(name, num_classes), scores, labels)


@settings(max_examples=25)
@given(st.sampled_from(list(METHODS)), st.integers(1, 9), st.integers(2, 9), st.integers(0, 2**31))
def test_any_small_batch_is_worked_out_as_by_autograd(name, batch, num_classes, seed):
    random = torch.Generator().manual_seed(seed)
    scores = 5 * torch.randn(batch, num_classes, generator=random)
    check_fused_rows(build(name, num_classes), scores, torch.randint(num_classes, (batch,), generator=random))


@pytest.mark.parametrize(
    ("name", "variant"), [("mv", "corrected"), ("ld", "corrected"), ("ld", "as_published"), ("rps+elb", "corrected")]
)
def test_the_value_is_that_of_the_definition_fused_rows(name, variant):
    scores, labels = torch.randn(4, 6), torch.tensor([0, 5, 2, 3])
    method = onepeak.method(name, num_classes=6, variant=variant)
    loss, _ = method.fused_terms().loss_and_gradient(scores, labels)
    by_hand = [
        answers(name, row.tolist(), int(label), num_classes=6, variant=variant).loss
        for row, label in zip(scores.double(), labels, strict=True)
    ]
    assert loss.item() == pytest.approx(sum(by_hand) / 4, rel=1e-5)


@pytest.mark.parametrize("name", METHODS)
def test_scores_of_plus_and_minus_ten_thousand_give_finite_numbers_fused_rows(name):
    scores = 1e4 * torch.sign(torch.randn(3, 9))
    loss, gradient = build(name, 9).fused_terms().loss_and_gradient(scores, torch.tensor([0, 5, 8]))
    assert loss.isfinite()
    assert gradient.isfinite().all()


@pytest.mark.parametrize("name", ["mv", "ld", "rps+elb"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_worked_out_in_float32_fused_rows(name, dtype):
    scores, labels = torch.randn(4, 300).to(dtype), torch.randint(300, (4,))
    check_fused_rows(build(name, 300), scores, labels, gradient_error=1e-2 if dtype == torch.bfloat16 else 1e-5)


@pytest.mark.bad_input
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("label", [-1, 7])
def test_a_label_outside_the_classes_makes_the_loss_nan_fused_rows(name, label):
    loss, _ = build(name, 7).fused_terms().loss_and_gradient(torch.randn(2, 7), torch.tensor([0, label]))
    assert loss.isnan()


@pytest.fixture
def taken(monkeypatch):
    """Scores on the CPU are taken for scores on a GPU."""
    monkeypatch.setattr(launch, "takes", lambda scores: scores.dtype != torch.float64)


@pytest.mark.usefixtures("taken")
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("large", [False, True])
def test_a_method_trains_through_the_kernel(monkeypatch, name, large):
    monkeypatch.setattr(one_pass, "LARGE", 0 if large else 1 << 30)
    launches = []
    worked_out = RowTerms.loss_and_gradient
    monkeypatch.setattr(RowTerms, "loss_and_gradient", lambda *args: launches.append(1) or worked_out(*args))
    method, labels = build(name, 5), torch.randint(5, (2, 3))
    scores = torch.randn(2, 3, 5, requires_grad=True)
    loss = method.loss(scores, labels)
    assert len(launches) == 1
    expected_loss, expected = in_double_fused_rows(method, scores.detach(), labels)
    torch.testing.assert_close(loss.double(), expected_loss, rtol=1e-5, atol=1e-6)
    for factor in (1, -3, 1):  # backward more than once through a kept graph, and of a scaled loss
        (gradient,) = torch.autograd.grad(factor * loss, scores, retain_graph=True)
        assert_near(gradient, factor * expected)
        method.tighten()  # which must not reach back to the loss above


@pytest.mark.usefixtures("taken")
@pytest.mark.parametrize("name", METHODS)
def test_derivatives_of_derivatives_fall_back_to_autograd(name):
    method, labels = build(name, 5), torch.randint(5, (3,))

    def curvature(scores):
        (slope,) = torch.autograd.grad(method.loss(scores, labels), scores, create_graph=True)
        return torch.autograd.grad(slope.square().sum(), scores)[0]

    scores = torch.randn(3, 5)
    found = curvature(scores.clone().requires_grad_())
    torch.testing.assert_close(found, curvature(scores.double().requires_grad_()).float(), rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("taken")
def test_rows_too_long_other_reductions_and_weights_go_without(monkeypatch):
    monkeypatch.setattr(launch, "LONGEST_ROW", 8)
    monkeypatch.setattr(RowTerms, "loss_and_gradient", None)
    labels = torch.tensor([0, 4])
    onepeak.method("mv", num_classes=9).loss(torch.randn(2, 9), labels)
    method = onepeak.method("mv", num_classes=5)
    method.loss(torch.randn(2, 5), labels, reduction="sum")
    method.loss(torch.randn(2, 5), labels, sample_weight=torch.ones(2))
    with pytest.raises(TypeError):
        method.loss(torch.randn(2, 5), labels)


def test_two_constraints_one_on_the_other_are_not_known_to_the_kernels():
    once = build("mv+elb", 5)
    assert once.fused_terms().order.t is once.constraint.t
    assert onepeak.Constrained(once, onepeak.QuadraticPenalty(5)).fused_terms() is None
    assert onepeak.method("mv+hinge", num_classes=5).fused_terms() is None
    assert onepeak.method("sord+elb", num_classes=5).fused_terms() is None
