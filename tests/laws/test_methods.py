"""Laws that every method of the catalog keeps, alone, under a constraint, and as the published code has it.

Long because every law goes over the same list of methods, and none is long itself.
"""

import copy
import itertools
import math
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor

import reference.methods as reference
import without_float64
from laws.brought import Brought
from laws.kinds import (
    BATCHWISE,
    CATALOG,
    CONSTRAINABLE,
    CORRECTED,
    KINDS,
    MIRRORED,
    PUBLISHED,
    UNIMODAL,
    Kind,
    firm_outputs,
    mirror,
    over,
    own_parameters,
)
from onepeak.constraints import order_gaps
from onepeak.errors import InputError
from onepeak.methods.catalog import CONSTRAINTS
from onepeak.posterior import DECISIONS, is_unimodal

SEVERAL = [2, 3, 8, 70]

every_method = over(KINDS)
every_corrected_method = over(CORRECTED)  # some published ones break what is meant


@dataclass(frozen=True)
class Batch:
    num_classes: int
    scores: Tensor  # as many as classes; a method with fewer outputs takes the first ones
    labels: Tensor

    def outputs(self, method):
        return self.scores[..., : method.num_outputs]


def seeded(num_classes, *shape, scale=2.0, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    scores = scale * torch.randn(*shape, num_classes, generator=generator, dtype=torch.float64)
    return Batch(num_classes, scores.to(dtype), torch.randint(num_classes, shape, generator=generator))


BATCHES = [  # flat to sharp; labels that need not all occur
    seeded(num_classes, size, scale=scale, seed=num_classes) for num_classes, size, scale in ((2, 5, 1.0), (7, 9, 4.0))
]


def close(got, expected, **tolerance):
    torch.testing.assert_close(got, expected, **{"rtol": 1e-9, "atol": 1e-9, **tolerance})


# Against the definition


@over([kind for kind in [*CATALOG, *PUBLISHED] if kind.name not in BATCHWISE])
def test_loss_posterior_and_prediction_agree_with_the_slow_reference(kind):
    for num_classes in SEVERAL:
        rows = 9 if num_classes < 20 else 2  # the reference is slow
        batch = seeded(num_classes, rows, scale=3.0, seed=num_classes)
        method = kind.build(num_classes).double()
        parameters = own_parameters(method)
        outputs = batch.outputs(method)
        expected = [
            reference.answers(
                kind.name, row, label, num_classes=num_classes, variant=kind.variant, parameters=parameters
            )
            for row, label in zip(outputs.tolist(), batch.labels.tolist(), strict=True)
        ]
        losses = torch.tensor([each.loss for each in expected], dtype=torch.float64)
        close(method.loss(outputs, batch.labels, reduction="none"), losses)
        close(method.loss(outputs, batch.labels), losses.mean())
        close(method.log_probs(outputs), torch.tensor(np.array([each.log_probs for each in expected])))
        assert method.predict(outputs).tolist() == [each.predicted for each in expected]


@pytest.mark.parametrize("base", ["ce", "ld", "mv", "po", "slopes", "rps"])
def test_under_a_constraint_the_loss_agrees_with_the_slow_reference(base):
    for num_classes, constraint in itertools.product(SEVERAL, [record.name for record in CONSTRAINTS]):
        batch = seeded(num_classes, 6, scale=3.0, seed=num_classes)
        method = Kind(f"{base}+{constraint}").build(num_classes).double()
        parameters = own_parameters(method.base)
        outputs = batch.outputs(method)
        expected = [
            reference.answers(f"{base}+{constraint}", row, label, num_classes=num_classes, parameters=parameters).loss
            for row, label in zip(outputs.tolist(), batch.labels.tolist(), strict=True)
        ]
        losses = torch.tensor(expected, dtype=torch.float64)
        close(method.loss(outputs, batch.labels, reduction="none"), losses)
        close(method.loss(outputs, batch.labels), losses.mean())


@over(CONSTRAINABLE)
def test_under_a_constraint_a_method_costs_more_and_answers_the_same(kind):
    names = [record.name for record in CONSTRAINTS]
    for constraint in {"elb", names[CONSTRAINABLE.index(kind) % len(names)]}:  # each constraint on every fourth method
        batch = seeded(6, 9)
        plain, bound = kind.build(6), Kind(f"{kind.name}+{constraint}", settings=kind.settings).build(6)
        outputs = batch.outputs(plain)
        cost = bound.constraint(plain.class_scores(outputs), batch.labels)
        weights = torch.linspace(0.5, 2, 9, dtype=torch.float64)
        close(bound.loss(outputs, batch.labels), plain.loss(outputs, batch.labels) + cost.mean())
        close(
            bound.loss(outputs, batch.labels, sample_weight=weights, reduction="sum"),
            plain.loss(outputs, batch.labels, sample_weight=weights, reduction="sum") + (weights * cost).sum(),
        )
        assert torch.equal(bound.log_probs(outputs), plain.log_probs(outputs))
        assert torch.equal(bound.predict(outputs), plain.predict(outputs))


# The four answers


@every_method
def test_num_outputs_is_what_the_catalog_says_and_what_the_answers_take(kind):
    for num_classes in (2, 5, 70):
        method = kind.build(num_classes)
        assert method.num_outputs == {"c": num_classes, "c-1": num_classes - 1, "1": 1, "2": 2}[kind.base.num_outputs]
        batch = seeded(num_classes, 4, dtype=torch.float32)
        outputs = batch.outputs(method)
        assert method.loss(outputs, batch.labels, reduction="none").shape == (4,)
        assert method.log_probs(outputs).shape == (4, num_classes)
        assert method.predict(outputs).shape == (4,)
        assert method.predict(outputs).dtype == torch.int64


@every_method
def test_log_probs_sum_to_one_and_predict_makes_the_decision_the_method_states_on_them(kind):
    for batch in BATCHES:
        method = kind.build(batch.num_classes)
        outputs = batch.outputs(method)
        log_probs = method.log_probs(outputs)
        assert log_probs.isfinite().all()
        close(log_probs.logsumexp(dim=-1), torch.zeros(len(batch.labels), dtype=torch.float64))
        if kind == Kind("ren", "as_published"):  # its levels are no posterior: the rule is tested with the method
            expected = ((outputs.cummin(dim=-1).values >= 0).sum(dim=-1) - 1).clamp(min=0)
        else:
            expected = DECISIONS[method.decision](log_probs)
        assert torch.equal(method.predict(outputs), expected)
        assert ((method.predict(outputs) >= 0) & (method.predict(outputs) < batch.num_classes)).all()


@every_method
@pytest.mark.bad_input
def test_what_is_not_a_number_has_no_label(kind):
    method = kind.build(5)
    with pytest.raises(InputError, match="must not be NaN, got NaN in 3 samples: has the training diverged"):
        method.predict(torch.full((3, method.num_outputs), torch.nan))


@over(UNIMODAL)
def test_a_method_that_says_so_is_one_peaked_whatever_the_outputs(kind):
    for num_classes in SEVERAL:
        method = kind.build(num_classes)
        for scale in (0.1, 3.0, 30.0, 300.0):
            batch = seeded(num_classes, 200, scale=scale, dtype=torch.float32)
            log_probs = method.log_probs(batch.outputs(method))
            assert is_unimodal(log_probs).all()
            assert (order_gaps(log_probs, log_probs.argmax(dim=-1)) < 0).all()  # an order index of 1


@over([kind for kind in CATALOG if not kind.base.unimodal])
def test_a_method_that_does_not_say_so_can_have_two_peaks(kind):
    method = kind.build(8)
    outputs = seeded(8, 200, scale=3.0).outputs(method)
    found = []
    for seed in range(4):
        generator = torch.Generator().manual_seed(seed)
        for parameter in method.parameters():  # thresholds at equal distances would leave one peak
            parameter.data.copy_(torch.randn(parameter.shape, generator=generator))
        found.append(is_unimodal(method.log_probs(outputs)))
    assert not torch.cat(found).all()


# Order, weights and reduction


@every_method
def test_mean_and_sum_are_those_of_the_losses_of_the_samples_whatever_their_order(kind):
    for batch in BATCHES:
        method = kind.build(batch.num_classes)
        order = torch.arange(len(batch.labels)).roll(2)
        outputs, labels = batch.outputs(method), batch.labels
        losses = method.loss(outputs, labels, reduction="none")
        close(method.loss(outputs[order], labels[order], reduction="none"), losses[order])
        for reduction in ("mean", "sum"):
            expected = getattr(losses, reduction)()
            close(method.loss(outputs, labels, reduction=reduction), expected)
            close(method.loss(outputs[order], labels[order], reduction=reduction), expected)


@every_method
def test_a_weight_counts_a_sample_so_many_times_and_zero_leaves_it_out(kind):
    for batch in BATCHES:
        size = len(batch.labels)
        counts = (torch.arange(size) + 1) % 4
        method = kind.build(batch.num_classes)
        outputs, labels = batch.outputs(method), batch.labels
        repeated = torch.arange(size).repeat_interleave(counts)
        for reduction in ("mean", "sum"):
            got = method.loss(outputs, labels, sample_weight=counts.double(), reduction=reduction)
            close(got, method.loss(outputs[repeated], labels[repeated], reduction=reduction))
        if not method.batchwise:  # a weight changes the batch that its losses look at
            losses = method.loss(outputs, labels, reduction="none")
            got = method.loss(outputs, labels, sample_weight=counts.double(), reduction="none")
            close(got, losses * counts)


@every_method
def test_a_class_weighted_two_counts_as_if_its_samples_were_seen_twice(kind):
    for batch in BATCHES:
        doubled = batch.labels[0]
        class_weight = torch.ones(batch.num_classes, dtype=torch.float64)
        class_weight[doubled] = 2
        weighted, plain = kind.build(batch.num_classes, class_weight=class_weight), kind.build(batch.num_classes)
        outputs, labels = batch.outputs(plain), batch.labels
        repeated = torch.arange(len(labels)).repeat_interleave(torch.where(labels == doubled, 2, 1))
        for reduction in ("mean", "sum"):
            got = weighted.loss(outputs, labels, reduction=reduction)
            close(got, plain.loss(outputs[repeated], labels[repeated], reduction=reduction))


@every_method
def test_class_and_sample_weights_multiply(kind):
    batch = seeded(5, 20)
    class_weight = torch.tensor([1.0, 0.5, 3.0, 0.0, 2.0], dtype=torch.float64)
    sample_weight = torch.linspace(0, 1, 20, dtype=torch.float64)
    method = kind.build(5, class_weight=class_weight)
    outputs = batch.outputs(method)
    got = method.loss(outputs, batch.labels, sample_weight=sample_weight)
    weights = class_weight[batch.labels] * sample_weight
    if method.batchwise:
        close(got, kind.build(5).loss(outputs, batch.labels, sample_weight=weights))
    else:
        losses = kind.build(5).loss(outputs, batch.labels, reduction="none")
        close(got, (weights * losses).sum() / weights.sum())


@every_method
def test_weights_of_any_type_count_with_all_their_digits_and_leave_the_type_of_the_loss(kind):
    for weight_type in (torch.float16, torch.float64):
        batch = seeded(5, 301, dtype=torch.float32)
        class_weight = torch.tensor([300.0, 0.37, 120.0, 256.0, 0.25]).to(
            weight_type
        )  # which add up to too much for half
        sample_weight = torch.linspace(0.1, 3, 301).to(weight_type)
        given, plain = (kind.build(5, class_weight=each) for each in (class_weight, class_weight.float()))
        outputs = batch.outputs(plain)
        got = given.loss(outputs, batch.labels, sample_weight=sample_weight)
        assert got.dtype == torch.float32
        close(got, plain.loss(outputs, batch.labels, sample_weight=sample_weight.float()), rtol=1e-5, atol=1e-6)


@every_method
def test_a_distribution_over_labels_costs_the_expected_loss(kind):
    batch = seeded(5, 9)
    class_weight = torch.tensor([1.0, 0.5, 3.0, 0.0, 2.0], dtype=torch.float64)
    sample_weight = torch.linspace(0.5, 2, 9, dtype=torch.float64)
    method, weighted = kind.build(5), kind.build(5, class_weight=class_weight)
    outputs, labels, others = batch.outputs(method), batch.labels, batch.labels.roll(1)
    sure, unsure = (torch.nn.functional.one_hot(each, 5).double() for each in (labels, others))
    if method.counts_samples:
        with pytest.raises(InputError, match="whose schedule counts samples"):
            method.loss(outputs, sure)
        return
    for reduction, weight in itertools.product(("none", "mean", "sum"), (None, sample_weight)):
        for each in (method, weighted):
            expected = each.loss(outputs, labels, weight, reduction=reduction)
            close(each.loss(outputs, sure, weight, reduction=reduction), expected)
    if not method.batchwise:
        first, second = (weighted.loss(outputs, each, reduction="none") for each in (labels, others))
        close(weighted.loss(outputs, 0.3 * sure + 0.7 * unsure, reduction="none"), 0.3 * first + 0.7 * second)


# Shapes and types


@every_method
def test_a_batch_of_any_leading_shape_works(kind):
    batch = seeded(4, 2, 3)
    method = kind.build(4)
    outputs, labels = batch.outputs(method), batch.labels
    flat, flat_labels = outputs.reshape(6, -1), labels.reshape(6)
    losses = method.loss(flat, flat_labels, reduction="none")
    close(method.loss(outputs, labels, reduction="none"), losses.reshape(2, 3))
    close(method.loss(outputs, labels), losses.mean())
    close(method.log_probs(outputs), method.log_probs(flat).reshape(2, 3, 4))
    assert torch.equal(method.predict(outputs), method.predict(flat).reshape(2, 3))
    alone = method.loss(flat[0], flat_labels[0])  # one sample, no batch axis
    close(alone, torch.ones_like(alone) if method.batchwise else losses[0])
    close(method.log_probs(flat[0]), method.log_probs(flat)[0])
    assert method.predict(flat[0]) == method.predict(flat)[0]


@every_method
def test_an_empty_batch_has_no_losses_and_a_sum_of_zero(kind):
    method = kind.build(4)
    outputs, labels = torch.empty(0, method.num_outputs), torch.empty(0, dtype=torch.int64)
    assert method.loss(outputs, labels, reduction="none").shape == (0,)
    assert method.loss(outputs, labels, reduction="sum") == 0
    assert method.log_probs(outputs).shape == (0, 4)
    assert method.predict(outputs).shape == (0,)


@every_method
def test_labels_of_every_integer_type_and_outputs_in_any_layout_mean_the_same(kind):
    batch = seeded(5, 30)
    for more in ({}, {"class_weight": torch.tensor([1.0, 0.5, 3.0, 0.0, 2.0])}):
        method = kind.build(5, **more)
        outputs = batch.outputs(method)
        expected = method.loss(outputs, batch.labels)
        for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32):
            close(method.loss(outputs, batch.labels.to(dtype)), expected)
        for view in (outputs.mT.contiguous().mT, outputs.repeat_interleave(2, dim=0)[::2]):
            close(method.loss(view, batch.labels), expected)
            close(method.log_probs(view), method.log_probs(outputs))


@every_method
def test_half_precision_is_answered_in_float32_with_all_its_digits(kind):
    for given_type in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
        answer_type, tolerance = (torch.float64, 1e-9) if given_type == torch.float64 else (torch.float32, 1e-5)
        batch = seeded(8, 20, dtype=given_type)
        method = kind.build(8)
        outputs = batch.outputs(method)
        loss, log_probs = method.loss(outputs, batch.labels), method.log_probs(outputs)
        assert loss.dtype == log_probs.dtype == answer_type
        close(loss.double(), method.loss(outputs.double(), batch.labels), rtol=tolerance, atol=tolerance)
        close(log_probs.double(), method.log_probs(outputs.double()), rtol=tolerance, atol=tolerance)


@every_method
def test_loss_and_gradient_of_float16_outputs_are_those_of_float64(kind):
    for num_classes in (5, 70):
        batch = seeded(num_classes, 20, scale=1.0, dtype=torch.float16)  # about as training begins
        method = kind.build(num_classes)
        outputs = batch.outputs(method).requires_grad_()
        exact = outputs.detach().double().requires_grad_()
        expected = method.loss(exact, batch.labels)
        (wanted,) = torch.autograd.grad(expected, exact)
        loss = method.loss(outputs, batch.labels)
        close(loss.double(), expected, rtol=1e-4, atol=1e-5)  # WU projects in float32
        # float16 holds numbers from 6e-8 to 65,504: the loss is scaled first, as torch's scaler does.
        largest = wanted.abs().max().item()
        scale = 2.0 ** (15 - math.frexp(largest)[1])
        assert (scale < 1) == (kind.name == "cdw-ce" and num_classes > 5)
        (gradient,) = torch.autograd.grad(loss * scale, outputs)
        close(gradient.double() / scale, wanted, rtol=2e-3, atol=1e-4 * largest)  # float16 has 11 bits


@every_method
def test_autocast_around_a_method_changes_no_digit_of_its_answers(kind):
    batch = seeded(70, 8, dtype=torch.float32)
    method = kind.build(70)
    outputs = batch.outputs(method)
    loss, log_probs, predicted = method.loss(outputs, batch.labels), method.log_probs(outputs), method.predict(outputs)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(method.loss(outputs, batch.labels), loss)
        assert torch.equal(method.log_probs(outputs), log_probs)
        assert torch.equal(method.predict(outputs), predicted)


# Far out


@every_method
def test_loss_posterior_and_gradients_are_finite_up_to_ten_thousand(kind):
    for num_classes, dtype in itertools.product((2, 70), (torch.float32, torch.bfloat16)):
        method = kind.build(num_classes)
        size = method.num_outputs
        generator = torch.Generator().manual_seed(0)
        spikes = torch.tensor([-1e4, -100.0, -30.0, 0.0, 30.0, 100.0, 1e4])
        rows = [
            spikes[torch.randint(len(spikes), (40, size), generator=generator)],
            torch.linspace(-1e4, 1e4, size).expand(1, size),
            torch.linspace(1e4, -1e4, size).expand(1, size),
            spikes.unsqueeze(-1).expand(-1, size),  # all alike: ties everywhere
        ]
        outputs = torch.cat(rows).to(dtype).requires_grad_()
        labels = torch.randint(num_classes, (len(outputs),), generator=generator)
        labels[-9:] = torch.arange(9) % num_classes
        for reduction in ("mean", "none"):
            loss = method.loss(outputs, labels, reduction=reduction)
            assert loss.dtype == torch.float32
            assert loss.isfinite().all()
            for gradient in torch.autograd.grad(loss.sum(), [outputs, *method.parameters()]):
                assert gradient.isfinite().all()
        log_probs = method.log_probs(outputs)
        assert log_probs.isfinite().all()
        for gradient in torch.autograd.grad(log_probs.gather(-1, labels.unsqueeze(-1)).sum(), [outputs]):
            assert gradient.isfinite().all()


# Gradients


@every_method
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # by PyTorch's own forward mode
def test_the_gradient_is_that_of_finite_differences(kind):
    batch = seeded(4, 2, seed=3)  # no ties: PN jumps there
    method = kind.build(4).double()
    outputs = batch.outputs(method).clone().requires_grad_()
    weights = torch.tensor([0.5, 2.0], dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda x: method.loss(x, batch.labels, weights), outputs, fast_mode=True, check_forward_ad=True
    )
    assert torch.autograd.gradcheck(method.log_probs, outputs, fast_mode=True)


@every_method
def test_the_gradient_has_a_gradient(kind):
    batch = seeded(3, 2, seed=3)
    method = kind.build(3).double()
    outputs = batch.outputs(method).clone().requires_grad_()
    assert torch.autograd.gradgradcheck(lambda x: method.loss(x, batch.labels), outputs, fast_mode=True)


@every_method
def test_function_transforms_give_the_gradients_of_autograd(kind):
    batch = seeded(5, 6)
    method = kind.build(5).double()
    outputs = batch.outputs(method).clone().requires_grad_()
    if method.batchwise:  # one sample alone says nothing
        (expected,) = torch.autograd.grad(method.loss(outputs, batch.labels), outputs)
        close(torch.func.grad(method.loss)(outputs.detach(), batch.labels), expected)
        return
    (expected,) = torch.autograd.grad(method.loss(outputs, batch.labels, reduction="sum"), outputs)
    per_sample = torch.func.vmap(torch.func.grad(method.loss))(outputs.detach(), batch.labels)
    close(per_sample, expected)


# Meaning


@every_corrected_method
def test_firm_outputs_for_a_label_cost_least_with_that_label_and_more_the_farther_it_is(kind):
    for num_classes in (2, 7):
        method = kind.build(num_classes).double()
        for label in range(num_classes):
            outputs = firm_outputs(kind, method, label).expand(num_classes, -1)
            losses = method.loss(outputs, torch.arange(num_classes), reduction="none")
            others = torch.cat([losses[:label], losses[label + 1 :]])
            assert losses[label] < others.min()
            if kind.name == "clm-cauchit":  # whose tails are so heavy that the end classes, which have no end, get more
                losses = losses[1:-1]
                label -= 1
            assert losses[: max(label, 0)].diff().le(0).all()
            assert losses[label + 1 :].diff().ge(0).all()


@every_corrected_method
def test_firm_outputs_for_a_label_are_predicted_as_it(kind):
    for num_classes in (2, 7):
        method = kind.build(num_classes)
        outputs = torch.stack([firm_outputs(kind, method, label) for label in range(num_classes)])
        log_probs = method.log_probs(outputs)
        # a Poisson is never firm, and its mean over c classes is not its rate: there the mode alone is the label
        predicted = log_probs.argmax(dim=-1) if kind.base.name == "po" else method.predict(outputs)
        assert predicted.tolist() == list(range(num_classes))


@over(MIRRORED)
def test_reversing_the_scale_mirrors_the_result(kind):
    for batch in BATCHES:
        method = kind.build(batch.num_classes)
        outputs, labels = batch.outputs(method), batch.labels
        mirrored = mirror(kind, outputs)
        last = batch.num_classes - 1
        close(
            method.loss(mirrored, last - labels, reduction="none"),
            method.loss(outputs, labels, reduction="none"),
            rtol=1e-6,
        )
        close(method.log_probs(mirrored), method.log_probs(outputs).flip(-1), rtol=1e-6)  # thresholds are float32
        if method.decision != "floor_of_mean":  # which is biased to one side
            assert torch.equal(method.predict(mirrored), last - method.predict(outputs))


# Schedule and state


@every_method
def test_tighten_moves_the_barrier_and_nothing_else(kind):
    batch = seeded(5, 20)
    method = kind.build(5)
    outputs = batch.outputs(method)
    before, posterior = method.loss(outputs, batch.labels), method.log_probs(outputs)
    for _ in range(100):
        method.tighten()
    assert torch.equal(method.log_probs(outputs), posterior)
    schedules = [buffer for name, buffer in method.named_buffers() if name.split(".")[-1] == "t"]
    if "lagrangian" in kind.name:  # its multipliers follow what was seen
        assert method.loss(outputs, batch.labels) > before
        return
    if "elb" not in kind.name:  # no barrier, or one of constant steepness
        assert torch.equal(method.loss(outputs, batch.labels), before)
        return
    for t in schedules:
        assert t.item() == pytest.approx(1.001**100, rel=1e-5)
    assert method.loss(outputs, batch.labels) != before
    for t in schedules:
        t.fill_(1.0)
    assert torch.equal(method.loss(outputs, batch.labels), before)


@every_method
def test_neither_loss_nor_answers_ask_the_device_for_a_number_and_the_loss_brings_it_none(kind):
    # a tensor on "meta" has none to give; on a GPU the question would stop the stream, and break a recorded step
    method = kind.build(5, class_weight=torch.ones(5)).to("meta")
    outputs = torch.empty(4, method.num_outputs, device="meta", requires_grad=True)
    labels = torch.empty(4, dtype=torch.int64, device="meta")
    with Brought() as brought:
        method.loss(outputs, labels).backward()
    assert brought.by == []
    assert outputs.grad.shape == outputs.shape
    assert method.predict(outputs).shape == method.log_probs(outputs).shape[:1] == labels.shape


@every_method
def test_a_device_without_float64_takes_the_method(kind):
    kind.build(5, class_weight=torch.ones(5))._apply(without_float64.moved)


@every_method
def test_saved_state_restores_the_method(kind):
    batch = seeded(5, 20)
    class_weight = torch.tensor([1.0, 0.5, 3.0, 0.0, 2.0])
    method = kind.build(5, class_weight=class_weight)
    for parameter in method.parameters():
        parameter.data.mul_(1.5)
    for _ in range(3):
        method.tighten()
    fresh = kind.build(5, class_weight=torch.ones(5))
    fresh.load_state_dict(method.state_dict())
    outputs = batch.outputs(method)
    assert torch.equal(fresh.loss(outputs, batch.labels), method.loss(outputs, batch.labels))
    assert torch.equal(fresh.log_probs(outputs), method.log_probs(outputs))


@every_method
def test_a_copy_gives_the_same_answers_and_is_on_its_own(kind):
    for copied in (copy.deepcopy, lambda method: pickle.loads(pickle.dumps(method))):
        batch = seeded(5, 20)
        method = kind.build(5)
        method.tighten()
        twin = copied(method)
        outputs = batch.outputs(method)
        before = method.loss(outputs, batch.labels)
        assert torch.equal(twin.loss(outputs, batch.labels), before)
        assert torch.equal(twin.predict(outputs), method.predict(outputs))
        twin.tighten()
        for parameter in twin.parameters():
            parameter.data.zero_()
        assert torch.equal(method.loss(outputs, batch.labels), before)


# Learning


@pytest.mark.slow
@every_corrected_method
def test_it_learns_on_planted_data(kind):
    """Eight ordered classes along a noisy line: far better than any constant answer."""
    num_classes = 8
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(600, 1, generator=generator)
    noise = 0.05 * torch.randn(600, generator=generator)
    labels = ((x.squeeze(-1) + noise) * num_classes).long().clamp(0, num_classes - 1)
    method = kind.build(num_classes)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = torch.nn.Sequential(torch.nn.Linear(1, 64), torch.nn.ReLU(), torch.nn.Linear(64, method.num_outputs))
    optimizer = torch.optim.Adam([*network.parameters(), *method.parameters()], lr=1e-2)
    for step in range(250):
        optimizer.zero_grad()
        method.loss(network(2 * x - 1), labels).backward()
        optimizer.step()
        if step % 40 == 39:
            method.tighten()
    with torch.no_grad():
        outputs = network(2 * x - 1)
    error = (method.predict(outputs) - labels).abs().double().mean()
    constants = (torch.arange(num_classes).unsqueeze(-1) - labels).abs().double().mean(dim=-1)
    assert error < 0.5 * constants.min()
