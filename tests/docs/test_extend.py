"""The page that shows how to add a method is followed to the letter: what it adds keeps the laws of the others."""

import pytest
import torch

import onepeak
from docs.pages import DOCS, blocks
from onepeak.methods.catalog import METHODS

NAME = "expected-distance"


@pytest.fixture
def code(_as_before):
    """The method's file as the page has it, run."""
    first = next(block for block in blocks(DOCS / "extend.md") if block.language == "python")
    exec(compile(first.text, "expected_distance.py", "exec"), {"__name__": "expected_distance"})
    return first.text


def test_it_takes_one_file_of_thirty_lines_of_code_with_one_record(code):
    assert len([line for line in code.splitlines() if line.strip()]) <= 30
    assert code.count("MethodRecord(") == 1


def test_it_is_in_the_catalog_for_every_part(code):
    assert NAME in [record.name for record in onepeak.methods()]
    assert METHODS[NAME].settings == ()
    features = torch.randn(60, 3, generator=torch.Generator().manual_seed(0)).numpy()
    grades = (features[:, 0] > 0).astype(int) + (features[:, 0] > 1)
    model = onepeak.OrdinalClassifier(NAME, epochs=3, random_state=0).fit(features, grades)
    assert model.predict_proba(features).shape == (60, 3)


def test_its_loss_is_that_of_the_definition_with_weights_and_under_a_constraint(code):
    scores = torch.tensor([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]], dtype=torch.float64).log()
    labels, weights = torch.tensor([0, 1]), torch.tensor([1.0, 3.0], dtype=torch.float64)
    method = onepeak.method(NAME, num_classes=3)
    expected = torch.tensor([0.5 + 2 * 0.3, 0.1 + 0.8], dtype=torch.float64)
    torch.testing.assert_close(method.loss(scores, labels, reduction="none"), expected)
    weighted = (expected * weights).sum() / weights.sum()
    torch.testing.assert_close(method.loss(scores, labels, sample_weight=weights), weighted)
    bound = onepeak.method(f"{NAME}+elb", num_classes=3, t=2.0)
    barrier = onepeak.LogBarrier(num_classes=3, t=2.0)(scores, labels)
    torch.testing.assert_close(bound.loss(scores, labels), expected.mean() + barrier.mean())


def test_it_keeps_the_laws(code):
    method = onepeak.method(NAME, num_classes=5)
    scores = torch.randn(7, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    labels = torch.arange(7) % 5
    assert torch.autograd.gradcheck(lambda x: method.loss(x, labels), scores)
    torch.testing.assert_close(method.log_probs(scores).logsumexp(-1), torch.zeros(7, dtype=torch.float64))
    assert torch.equal(method.predict(scores), onepeak.posterior.median(method.log_probs(scores)))
    mirrored = method.loss(scores.flip(-1), 4 - labels)
    torch.testing.assert_close(mirrored, method.loss(scores, labels))
    far = (1e4 * torch.eye(5)).requires_grad_()
    method.loss(far, torch.arange(5).flip(0)).backward()
    assert far.grad.isfinite().all()


def test_a_setting_and_a_buffer_of_the_second_method_arrive(code):
    second = next(block for block in blocks(DOCS / "extend.md") if "NearSmoothing" in block.text)
    header = code[: code.index("class ")]
    before = {"__name__": "near_smoothing", "outputs": torch.zeros(8, 5), "labels": torch.arange(8) % 5}
    exec(compile("import onepeak\n" + header + second.text, "near_smoothing.py", "exec"), before)
    assert METHODS["near-smoothing"].settings == ("share",)
    method = onepeak.method("near-smoothing", num_classes=3, share=0.4, class_weight=torch.tensor([1.0, 3.0, 1.0]))
    assert list(method.state_dict()) == ["class_weight", "targets"]
    probs, labels = torch.tensor([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]]), torch.tensor([0, 1])
    halves, quarters = -torch.tensor(0.5).log(), -torch.tensor(0.25).log()
    first, other = 0.6 * halves + 0.4 * quarters, 0.2 * halves + 0.8 * quarters
    torch.testing.assert_close(method.loss(probs.log(), labels), (first + 3 * other) / 4)


def test_a_constraint_is_known_by_name_costs_what_its_definition_says_and_tightens(code):
    block = next(block for block in blocks(DOCS / "extend.md") if "RoundHinge" in block.text)
    alone = block.text.partition("method = ")[0]
    exec(compile(code[: code.index("class ")] + alone, "round_hinge.py", "exec"), {"__name__": "round_hinge"})
    assert len(alone[alone.index("class ") : alone.index("CONSTRAINTS.add")].split("\n    def ")) == 4
    method = onepeak.method("ce+round", num_classes=3, sharpness=2, growth=1.5)  # as `sharpness=2` is read
    scores, labels = torch.tensor([[0.0, 2.0, 1.5], [1.0, 0.0, 3.0]]), torch.tensor([1, 0])
    gaps = torch.tensor([[-2.0, -0.5], [-1.0, 3.0]])
    for sharpness in (2.0, 3.0):
        costs = (1 + (sharpness * gaps).exp()).log().sum(-1) / sharpness
        expected = torch.nn.functional.cross_entropy(scores, labels, reduction="none") + costs
        torch.testing.assert_close(method.loss(scores, labels, reduction="none"), expected)
        method.tighten()


def test_t_can_be_set_by_hand():
    scores, labels = torch.tensor([[0.0, 2.0, 1.5]]), torch.tensor([2])
    loss, elb = onepeak.ELBLoss(num_classes=3), onepeak.method("smooth-elb", num_classes=3)
    loss.constraint.t.fill_(2.0)
    elb.base.constraint.t.fill_(2.0)
    assert torch.equal(loss(scores, labels), onepeak.ELBLoss(num_classes=3, t=2.0)(scores, labels))
    steep = onepeak.method("smooth-elb", num_classes=3, t=2.0)
    assert torch.equal(elb.loss(scores, labels), steep.loss(scores, labels))
