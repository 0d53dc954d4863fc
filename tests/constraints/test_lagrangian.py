import torch

from onepeak.constraints import AugmentedLagrangian, order_gaps
from reference.methods import lagrangian_cost

SCORES = torch.randn(12, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(12) % 6


def costs(duals):
    expected = [
        lagrangian_cost(row, label, weight=0.5, duals=duals)
        for row, label in zip(SCORES.tolist(), LABELS.tolist(), strict=True)
    ]
    return torch.tensor(expected, dtype=torch.float64)


def test_the_cost_agrees_with_the_definition_before_and_after_an_update():
    constraint = AugmentedLagrangian(num_classes=6, weight=0.5)
    torch.testing.assert_close(constraint(SCORES, LABELS), costs([0.0] * 5))
    constraint.tighten()
    asked = (0.5 * order_gaps(SCORES, LABELS)).relu().mean(dim=0)
    torch.testing.assert_close(constraint.duals.double(), asked)
    torch.testing.assert_close(constraint(SCORES, LABELS), costs(constraint.duals.tolist()))


def test_the_update_is_the_mean_over_batches_of_any_size():
    whole, parts = AugmentedLagrangian(num_classes=6), AugmentedLagrangian(num_classes=6)
    whole(SCORES, LABELS)
    for start, end in ((0, 1), (1, 7), (7, 12)):
        parts(SCORES[start:end], LABELS[start:end])
    whole.tighten()
    parts.tighten()
    torch.testing.assert_close(parts.duals, whole.duals)


def test_what_is_seen_in_evaluation_and_nothing_at_all_move_no_multiplier():
    constraint = AugmentedLagrangian(num_classes=6)
    constraint(SCORES, LABELS)
    constraint.tighten()
    before = constraint.duals.clone()
    assert before.max() > 0
    constraint.eval()
    constraint(SCORES, LABELS)
    constraint.tighten()
    assert torch.equal(constraint.duals, before)


def test_what_a_process_has_seen_is_no_buffer_which_the_first_process_would_overwrite():
    assert [name for name, _ in AugmentedLagrangian(num_classes=6).named_buffers()] == ["duals"]


def test_counts_keep_their_digits_when_the_module_is_cast():
    constraint = AugmentedLagrangian(num_classes=6)
    constraint(SCORES, LABELS)
    asked = constraint.asked.clone()
    assert torch.equal(constraint.bfloat16().asked, asked)
    constraint.to("meta")
    assert {each.device.type for each in (constraint.duals, constraint.asked, constraint.seen)} == {"meta"}
