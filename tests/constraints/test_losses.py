"""The losses, one ladder for all of them: long because each rung goes over the same three losses."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from onepeak import ELBLoss, LogBarrier, PenaltyLoss, QuadraticPenalty, UnimodalLoss
from onepeak.constraints import AugmentedLagrangian
from onepeak.constraints.gaps import order_cost
from onepeak.errors import InputError
from reference import constraints as reference


def batch(size, num_classes, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(size, num_classes, dtype=dtype, generator=generator)
    return scores, torch.randint(num_classes, (size,), generator=generator)


@given(st.integers(2, 40), st.integers(1, 9), st.floats(0.5, 5), st.integers(0, 2**31))
def test_elb_is_the_papers_loss(num_classes, size, t, seed):
    scores, labels = batch(size, num_classes, seed=seed)
    expected = torch.from_numpy(reference.elb(scores.tolist(), labels.tolist(), t))
    loss = ELBLoss(num_classes, t=t, t_max=5, reduction="none")
    torch.testing.assert_close(loss(scores, labels), expected)
    torch.testing.assert_close(ELBLoss(num_classes, t=t)(scores, labels), expected.mean())


@given(st.integers(2, 40), st.integers(1, 9), st.floats(0, 1), st.floats(0, 1), st.integers(0, 2**31))
def test_pn_is_the_papers_loss(num_classes, size, weight, slack, seed):
    scores, labels = batch(size, num_classes, seed=seed)
    expected = torch.from_numpy(reference.pn(scores.tolist(), labels.tolist(), weight, slack))
    torch.testing.assert_close(PenaltyLoss(num_classes, weight, slack, reduction="none")(scores, labels), expected)
    torch.testing.assert_close(PenaltyLoss(num_classes, weight, slack)(scores, labels), expected.mean())


def one_minus_probability(scores, labels):
    """A base loss of somebody's own."""
    return 1 - scores.softmax(-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)


LOSSES = {
    "elb": lambda c, **more: ELBLoss(c, **more),
    "pn": lambda c, **more: PenaltyLoss(c, 0.3, **more),
    "own + barrier": lambda c, **more: UnimodalLoss(one_minus_probability, LogBarrier(c), **more),
}


def test_reductions_agree():
    for name in LOSSES:
        scores, labels = batch(6, 5)
        each = LOSSES[name](5, reduction="none")(scores, labels)
        assert each.shape == (6,)
        torch.testing.assert_close(LOSSES[name](5)(scores, labels), each.mean())
        torch.testing.assert_close(LOSSES[name](5, reduction="sum")(scores, labels), each.sum())


def test_a_sample_of_weight_two_is_a_sample_seen_twice():
    for name in LOSSES:
        scores, labels = batch(4, 5)
        weights = torch.tensor([1.0, 2.0, 0.0, 1.0], dtype=torch.float64)
        rows = [0, 1, 1, 3]
        weighted = LOSSES[name](5)(scores, labels, weights)
        torch.testing.assert_close(weighted, LOSSES[name](5)(scores[rows], labels[rows]))


def test_a_distribution_over_labels_costs_the_expected_loss():
    for name in LOSSES:
        scores, labels = batch(6, 5)
        weights, others = torch.linspace(0.5, 2, 6, dtype=torch.float64), labels.roll(1)
        sure, unsure = F.one_hot(labels, 5).double(), F.one_hot(others, 5).double()
        for reduction in ("none", "mean", "sum"):
            loss = LOSSES[name](5, reduction=reduction)
            torch.testing.assert_close(loss(scores, sure), loss(scores, labels))
            torch.testing.assert_close(loss(scores, sure, weights), loss(scores, labels, weights))
        each = LOSSES[name](5, reduction="none")
        mixed = 0.3 * each(scores, labels) + 0.7 * each(scores, others)
        torch.testing.assert_close(each(scores, 0.3 * sure + 0.7 * unsure), mixed)
    class_weight = torch.tensor([1.0, 2.0, 0.0, 3.0, 1.0], dtype=torch.float64)
    loss = ELBLoss(5, weight=class_weight, label_smoothing=0.1)
    torch.testing.assert_close(loss(scores, sure), loss(scores, labels))


@pytest.mark.bad_input
def test_what_is_no_distribution_over_labels_is_named():
    for loss in [LOSSES["elb"](3), LOSSES["own + barrier"](3)]:
        for labels, message in [
            (torch.ones(2, 3), r"probabilities that sum to 1 over the classes, got sums from 3 to 3: divide ratings"),
            (torch.tensor([[1.5, -0.5, 0.0]] * 2), "or probabilities that sum to 1"),
            (torch.ones(2, 4) / 4, r"or probabilities of shape \(2, 3\), got torch.float32 of shape \(2, 4\)"),
        ]:
            with pytest.raises(InputError, match=message):
                loss(torch.zeros(2, 3), labels)
    with pytest.raises(InputError, match=r"for sample weights and for any reduction but 'mean', got shape \(\)"):
        UnimodalLoss(F.cross_entropy, LogBarrier(3))(torch.zeros(2, 3), torch.ones(2, 3) / 3)
    with pytest.raises(InputError, match="whose schedule counts samples"):
        UnimodalLoss(one_minus_probability, AugmentedLagrangian(3))(torch.zeros(2, 3), torch.ones(2, 3) / 3)


def test_without_constraint_it_is_pytorchs_cross_entropy():
    for reduction in ["none", "mean", "sum"]:
        scores, labels = batch(8, 5)
        weight = torch.rand(5, dtype=torch.float64)
        ours = PenaltyLoss(5, weight=0.0, class_weight=weight, label_smoothing=0.1, reduction=reduction)
        theirs = nn.CrossEntropyLoss(weight=weight, label_smoothing=0.1, reduction=reduction)
        torch.testing.assert_close(ours(scores, labels), theirs(scores, labels))


def test_a_base_that_gives_a_scalar_is_added_as_it_is():
    scores, labels = batch(6, 5)
    loss = UnimodalLoss(base=nn.CrossEntropyLoss(), constraint=QuadraticPenalty(5, weight=0.2))
    torch.testing.assert_close(loss(scores, labels), PenaltyLoss(5, 0.2)(scores, labels))


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("reduction", ["none", "mean"])
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # by PyTorch's own forward mode
def test_first_and_second_derivatives_are_right(name, reduction):
    scores, labels = batch(3, 5)
    loss = LOSSES[name](5, reduction=reduction)
    scores.requires_grad_()
    assert torch.autograd.gradcheck(lambda s: loss(s, labels), scores, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda s: loss(s, labels), scores)


@pytest.mark.parametrize("samples", [3, 3000])  # few, and more than a few
@pytest.mark.parametrize("reduction", ["none", "mean"])
def test_derivatives_are_those_at_the_t_of_the_forward_pass(samples, reduction):
    scores, labels = batch(samples, 5)
    scores.requires_grad_()

    def derivatives(after_forward):
        loss = ELBLoss(5, t=1.0, growth=2.0, t_max=8.0, reduction=reduction)
        total = loss(scores, labels).sum()
        after_forward(loss)
        (slope,) = torch.autograd.grad(total, scores, create_graph=True)
        after_forward(loss)
        (curvature,) = torch.autograd.grad(slope.square().sum(), scores)
        return slope.detach(), curvature

    torch.testing.assert_close(derivatives(ELBLoss.tighten), derivatives(lambda _: None))


@pytest.mark.parametrize("name", ["elb", "pn"])
def test_value_and_gradient_are_finite_for_huge_scores(name):
    for dtype in [torch.float32, torch.bfloat16]:
        for reduction in ["none", "mean"]:
            for magnitude in [30.0, 100.0, 1e4]:
                scores = (
                    torch.tensor([[1.0, -1, 1, 1], [-1, -1, -1, 1], [0, 0, 0, 0]])
                    .mul(magnitude)
                    .to(dtype)
                    .requires_grad_()
                )
                loss = LOSSES[name](4, reduction=reduction)(scores, torch.tensor([0, 0, 3]))
                loss.sum().backward()
                assert loss.isfinite().all()
                assert scores.grad.isfinite().all()
                assert scores.grad.dtype == dtype


@pytest.mark.traced
@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("name", LOSSES)
def test_it_compiles_to_one_graph_with_the_same_value_and_gradient(name, dynamic):
    torch._dynamo.reset()  # so many graphs of one function are more than it keeps
    scores, labels = batch(6, 5, torch.float32)
    loss = LOSSES[name](5)
    compiled = torch.compile(loss, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    eager, traced = scores.clone().requires_grad_(), scores.clone().requires_grad_()
    value, expected = compiled(traced, labels), loss(eager, labels)
    (value + expected).backward()
    torch.testing.assert_close(value, expected)
    torch.testing.assert_close(traced.grad, eager.grad)


@pytest.mark.parametrize("name", LOSSES)
def test_vmap_and_grad_transforms_work(name):
    scores, labels = batch(6, 5)
    each, mean = LOSSES[name](5, reduction="none"), LOSSES[name](5)
    torch.testing.assert_close(torch.func.vmap(mean)(scores[:, None], labels[:, None]), each(scores, labels))
    by_transform = torch.func.grad(lambda s: mean(s, labels))(scores)
    (by_tape,) = torch.autograd.grad(mean(scores.requires_grad_(), labels), scores)
    torch.testing.assert_close(by_transform, by_tape)


@pytest.mark.parametrize("num_classes", [2, 513, 100_000])
def test_any_number_of_classes_will_do(num_classes):
    scores, labels = batch(3, num_classes, torch.float32)
    scores.requires_grad_()
    value = ELBLoss(num_classes)(scores, labels)
    value.backward()
    plain = scores.detach().double().requires_grad_()
    barrier = LogBarrier(num_classes)
    expected = F.cross_entropy(plain, labels) + order_cost(barrier, plain, labels).mean()
    expected.backward()
    assert value.item() == pytest.approx(expected.item(), rel=1e-5)
    torch.testing.assert_close(scores.grad.double(), plain.grad, rtol=1e-4, atol=1e-6)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        (torch.zeros(2, 4), torch.tensor([0, 1]), r"`scores` must have 3 numbers on its last axis, got shape \(2, 4\)"),
        (torch.zeros(2, 3), torch.tensor([0, 3]), r"`labels` must be integers from 0 to 2, got 3\."),
        (torch.zeros(2, 3), torch.tensor([0, -900]), r"`labels` must be integers from 0 to 2, got -900\."),
        (torch.zeros(2, 3), torch.tensor([0, 1, 2]), r"`labels` must have shape \(2,\), one per sample, got \(3,\)\."),
        (torch.zeros(2, 3), torch.zeros(2), r"`labels` must be a tensor of integers, got torch\.float32\."),
        ([[0.0, 1.0, 2.0]], torch.tensor([0]), r"`scores` must be a floating-point tensor, got list\."),
    ],
)
def test_bad_input_is_named(scores, labels, message):
    for name in LOSSES:
        for reduction in ["none", "mean"]:
            with pytest.raises(InputError, match=message):
                LOSSES[name](3, reduction=reduction)(scores, labels)


@pytest.mark.bad_input
def test_scores_that_are_not_finite_are_named():
    for name in ["elb", "pn"]:
        for reduction in ["none", "mean", "sum"]:
            for value in [math.nan, math.inf, -math.inf]:
                scores = torch.tensor([[0.0, 1.0, 2.0], [0.0, value, 0.0]])
                with pytest.raises(InputError, match=r"`scores` must be finite, got 1 NaN or infinite values\."):
                    LOSSES[name](3, reduction=reduction)(scores, torch.tensor([1, 2]))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ELBLoss(1), r"`num_classes` must be an integer >= 2, got 1\."),
        (lambda: ELBLoss(3, reduction="avg"), r"Unknown `reduction` 'avg'\. Known: none, mean, sum\."),
        (lambda: ELBLoss(3, label_smoothing=2), r"`label_smoothing` must be a finite number >= 0 and <= 1, got 2\."),
        (
            lambda: ELBLoss(3, weight=0.1),
            r"`weight` must be class weights, a floating-point tensor of 3 numbers, one per class, got float\.",
        ),
        (lambda: PenaltyLoss(3, class_weight=torch.ones(4)), r"`class_weight` must have shape \(3,\), got \(4,\)\."),
        (lambda: UnimodalLoss(base="ce", constraint=LogBarrier(3)), r"`base` must be a loss of \(scores, labels\)"),
        (
            lambda: UnimodalLoss(base=F.cross_entropy, constraint="elb"),
            r"`constraint` must be a LogBarrier or the like",
        ),
        (
            lambda: UnimodalLoss(F.cross_entropy, LogBarrier(3), reduction="none")(
                torch.zeros(2, 3), torch.zeros(2).long()
            ),
            r"`base` must return one loss per sample, of shape \(2,\), .*: set its reduction='none'\.",
        ),
        (
            lambda: UnimodalLoss(nn.CrossEntropyLoss(reduction="sum"), LogBarrier(3)),
            r"`base` must have reduction='none' or 'mean', got 'sum': it would be treated as a mean\.",
        ),
        (
            lambda: UnimodalLoss(lambda s, y: 1.0, LogBarrier(3))(torch.zeros(2, 3), torch.zeros(2).long()),  # noqa: ARG005
            r"`base` must return a tensor, got float\.",
        ),
        (
            lambda: ELBLoss(3)(torch.zeros(2, 3), torch.zeros(2).long(), -torch.ones(2)),
            r"`sample_weight` must be finite and >= 0, got -1\.",
        ),
        (
            lambda: ELBLoss(3)(torch.zeros(2, 3), torch.zeros(2).long(), torch.zeros(2)),
            r"The weights of a batch must not all be zero: their mean loss is undefined\.",
        ),
    ],
)
def test_bad_settings_are_named(build, message):
    with pytest.raises(InputError, match=message):
        build()
