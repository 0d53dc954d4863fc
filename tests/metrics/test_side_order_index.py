import pytest
import torch

from onepeak.metrics import NumViolations, SideOrderIndex, UnimodalRate, ViolationSize


def test_the_reference_is_the_decision_or_the_truth():
    log_probs = torch.tensor([[0.1, 0.2, 0.4, 0.3]]).log()
    labels, decided = torch.tensor([3]), torch.tensor([0])
    for reference, expected in (("true", 2 / 3), ("predicted", 1 / 3)):
        soi = SideOrderIndex(num_classes=4, reference=reference)
        soi.update(log_probs, labels, decided)
        assert soi.compute().item() == pytest.approx(expected)
        number = NumViolations(num_classes=4, reference=reference)
        number.update(log_probs, labels, decided)
        assert number.compute().item() == pytest.approx(3 * (1 - expected))
    climb = ViolationSize(num_classes=4, reference="true")
    climb.update(log_probs, labels, decided)
    assert climb.compute().item() == pytest.approx(0.1)


def test_the_index_may_be_had_from_raw_scores():
    soi = SideOrderIndex(num_classes=70)
    soi.update(-2.0 * (torch.arange(70) - 30).abs().float().unsqueeze(0), torch.tensor([30]))
    assert soi.compute().item() == 1.0


def test_chance_depends_on_the_reference():
    assert SideOrderIndex(num_classes=4).chance == 0.75
    assert SideOrderIndex(num_classes=4, reference="true").chance == 0.5


def two_bumps_at_70_classes():
    """A peak at 20 and a bump at 50 that two decimals of probability do not show."""
    classes = torch.arange(70.0)
    bumps = (-0.5 * ((classes - 20) / 5) ** 2).exp() + 0.04 * (-0.5 * ((classes - 50) / 5) ** 2).exp()
    return (bumps / bumps.sum()).log().unsqueeze(0)


def test_a_small_second_bump_at_70_classes_is_caught_but_by_two_definitions():
    log_probs, label = two_bumps_at_70_classes(), torch.tensor([20])
    for definition, share in (("strict", 0.0), ("weak", 0.0), ("quasi", 1.0), ("rounded_to_two_decimals", 1.0)):
        rate = UnimodalRate(num_classes=70, definition=definition)
        rate.update(log_probs, label)
        assert rate.compute().item() == share


def test_tolerance_is_in_log_probability():
    log_probs, label = two_bumps_at_70_classes(), torch.tensor([20])
    worst = log_probs.diff()[..., 20:].max().item()
    for tolerance, expected in ((worst * 0.99, 0.0), (worst * 1.01, 1.0)):
        rate = UnimodalRate(num_classes=70, tolerance=tolerance)
        rate.update(log_probs, label)
        assert rate.compute().item() == expected


@pytest.mark.parametrize("metric", [SideOrderIndex, NumViolations, ViolationSize])
@pytest.mark.bad_input
def test_an_unknown_reference_is_answered_with_the_nearest(metric):
    with pytest.raises(
        ValueError, match=r"Unknown `reference` 'truth'\. Did you mean 'true'[?] Known: predicted, true"
    ):
        metric(num_classes=4, reference="truth")


@pytest.mark.bad_input
def test_a_negative_tolerance_is_refused():
    with pytest.raises(ValueError, match=r"`tolerance` must be a finite number >= 0, got -0\.1"):
        UnimodalRate(num_classes=4, tolerance=-0.1)


@pytest.mark.bad_input
def test_a_definition_that_is_not_known_or_takes_no_tolerance_is_refused_at_once():
    with pytest.raises(ValueError, match=r"Unknown `definition` 'week'\. Did you mean 'weak'"):
        UnimodalRate(num_classes=4, definition="week")
    with pytest.raises(ValueError, match="`tolerance` must be 0 if `definition` is 'rounded_to_two_decimals'"):
        UnimodalRate(num_classes=4, tolerance=0.1, definition="rounded_to_two_decimals")


def test_a_metric_shows_its_settings():
    assert repr(SideOrderIndex(num_classes=70)) == "SideOrderIndex(num_classes=70, reference='predicted')"
    shown = "UnimodalRate(num_classes=3, tolerance=0.5, definition='weak')"
    assert repr(UnimodalRate(num_classes=3, tolerance=0.5, definition="weak")) == shown
