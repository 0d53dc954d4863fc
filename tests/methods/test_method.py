import pytest
import torch

import onepeak
from onepeak.constraints import LogBarrier
from onepeak.errors import InputError
from onepeak.methods import Constrained, Method
from onepeak.methods.cross_entropy import CrossEntropy
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.precision import ExactTable


class HalfSquaredError(Method):
    """A method of a user's own, in the least that must be said: one number, its distance from the label."""

    decision = "median"

    @property
    def num_outputs(self):
        return 1

    def sample_losses(self, outputs, labels):
        return 0.5 * (outputs.squeeze(-1) - labels).square()

    def posterior_of(self, outputs):
        return (-0.5 * (outputs - torch.arange(self.num_classes)).square()).log_softmax(dim=-1)


def test_a_method_of_ones_own_gets_weights_reductions_and_decisions():
    own = HalfSquaredError(num_classes=4, class_weight=torch.tensor([1.0, 1.0, 3.0, 1.0]))
    outputs, labels = torch.tensor([[0.0], [4.0]]), torch.tensor([1, 2])
    assert own.loss(outputs, labels, reduction="none").tolist() == [0.5, 6.0]
    assert own.loss(outputs, labels).item() == pytest.approx(6.5 / 4)
    assert own.loss(outputs, labels, sample_weight=torch.tensor([0.0, 2.0]), reduction="sum").item() == 12.0
    assert own.loss(outputs.bfloat16(), labels).dtype == torch.float32
    assert own.predict(outputs).tolist() == [0, 3]
    own.tighten()  # nothing to do, and no error
    assert own.loss(outputs, labels).item() == pytest.approx(6.5 / 4)


def test_a_constraint_acts_on_the_log_probabilities_of_a_method_that_has_no_other_scores():
    own, barrier = HalfSquaredError(num_classes=4), LogBarrier(num_classes=4)
    outputs, labels = torch.tensor([[0.0], [4.0]]), torch.tensor([1, 2])
    expected = own.loss(outputs, labels) + barrier(own.log_probs(outputs), labels).mean()
    torch.testing.assert_close(Constrained(own, barrier).loss(outputs, labels), expected)


def test_outputs_are_left_as_they_were():
    for record in onepeak.methods():
        method = onepeak.method(record.name, num_classes=5)
        outputs = torch.randn(6, method.num_outputs, generator=torch.Generator().manual_seed(0))
        labels, kept = torch.arange(6) % 5, outputs.clone()
        method.loss(outputs, labels)
        method.loss(outputs, labels, reduction="none")
        method.log_probs(outputs)
        method.predict(outputs)
        assert torch.equal(outputs, kept)


def check_compiled(name):
    torch._dynamo.reset()  # so many graphs of one function are more than it keeps
    outputs, labels = torch.randn(16, 8, generator=torch.Generator().manual_seed(0)), torch.arange(16) % 8
    method = onepeak.method(name, num_classes=8, **({"growth": 2.0} if "elb" in name else {}))
    x = outputs[:, : method.num_outputs].clone().requires_grad_()
    compiled = torch.compile(method.loss, backend="aot_eager", fullgraph=True)
    posterior = torch.compile(method.log_probs, backend="aot_eager", fullgraph=True)
    for _ in range(2):
        torch.testing.assert_close(compiled(x, labels), method.loss(x, labels))
        (plain,) = torch.autograd.grad(method.loss(x, labels), x)
        (traced,) = torch.autograd.grad(compiled(x, labels), x)
        torch.testing.assert_close(traced, plain)
        torch.testing.assert_close(posterior(x), method.log_probs(x))
        method.tighten()  # a compiled loss must see the new t


@pytest.mark.traced
def test_a_compiled_loss_is_one_graph_with_the_same_loss_and_gradient():
    for name in ("mv+elb", "ren"):  # ELB itself is compiled with the losses
        check_compiled(name)


@pytest.mark.slow
@pytest.mark.traced
def test_every_method_compiles_to_one_graph():
    for record in onepeak.methods():
        if record.name != "lagrangian":  # compiled, it does not count what it sees
            check_compiled(record.name)


class Reduced(SoftmaxMethod):
    """A loss of PyTorch taken as it is, which is the mean over the batch."""

    def sample_losses(self, outputs, labels):
        return torch.nn.functional.cross_entropy(outputs, labels)


@pytest.mark.bad_input
def test_a_loss_that_is_not_one_number_a_sample_is_refused():
    for reduction in ["none", "mean", "sum"]:
        for weight in [None, torch.tensor([1.0, 3.0])]:
            for bound in [False, True]:
                own = Constrained(Reduced(3), LogBarrier(3)) if bound else Reduced(3)
                with pytest.raises(
                    InputError, match=r"`sample_losses` of Reduced must return .* shape \(2,\), got shape \(\)"
                ):
                    own.loss(torch.zeros(2, 3), torch.tensor([0, 1]), sample_weight=weight, reduction=reduction)


@pytest.mark.bad_input
def test_a_mistyped_decision_is_refused_with_the_class():
    with pytest.raises(InputError, match=r"Unknown `decision` 'mediann'. Did you mean 'median'\? Known: mode, median"):
        type("Own", (HalfSquaredError,), {"decision": "mediann"})


@pytest.mark.bad_input
def test_what_a_method_cannot_take_is_named():
    ce, outputs, labels = CrossEntropy(num_classes=3), torch.zeros(2, 3), torch.tensor([0, 1])
    for call, message in [
        (lambda: CrossEntropy(2.5), r"`num_classes` must be an integer >= 2, got 2\.5"),
        (lambda: CrossEntropy(3, class_weight=torch.ones(4)), r"`class_weight` must have shape \(3,\), got \(4,\)"),
        (lambda: ce.loss(torch.zeros(2, 4), labels), r"`outputs` must have 3 numbers on its last axis"),
        (lambda: ce.log_probs(torch.zeros(2, 4)), r"`outputs` must have 3 numbers on its last axis"),
        (lambda: ce.predict(torch.zeros(2, 4)), r"`outputs` must have 3 numbers on its last axis"),
        (lambda: ce.loss(outputs / 0, labels), r"`outputs` must be finite, got 6 NaN or infinite values"),
        (lambda: ce.loss(outputs, torch.tensor([0, 3])), r"`labels` must be integers from 0 to 2, got 3"),
        (lambda: ce.loss(outputs, labels[:1]), r"`labels` must have shape \(2,\), one per sample, got \(1,\)"),
        (lambda: ce.loss(outputs, labels, -torch.ones(2)), r"`sample_weight` must be finite and >= 0, got -1"),
        (lambda: ce.loss(outputs, labels, reduction="means"), r"Unknown `reduction` 'means'. Did you mean 'mean'"),
    ]:
        with pytest.raises(InputError, match=message):
            call()


class FirstScore(SoftmaxMethod):
    """A loss of one's own on class scores: all that must be said is the loss."""

    def sample_losses(self, outputs, labels):
        return outputs[..., 0] * labels


def test_a_loss_is_all_that_a_method_with_class_scores_must_say():
    own, scores = FirstScore(num_classes=3), torch.tensor([[1.0, 3.0, 2.0]])
    assert own.num_outputs == 3
    assert own.loss(scores, torch.tensor([2])).item() == 2.0
    torch.testing.assert_close(own.log_probs(scores), scores.log_softmax(-1))
    assert own.predict(scores).tolist() == [1]
    assert own.class_scores(scores) is scores


def test_no_other_precision_rounds_it_and_no_file_keeps_it():
    table = ExactTable(torch.tensor([0.1, 0.2], dtype=torch.float64))
    expected = table.values.clone()
    for changed in (table.float(), table.bfloat16(), table.half(), table.to("cpu", torch.bfloat16)):
        assert changed is table
        assert torch.equal(table.values, expected)
    assert table.state_dict() == {}
