import pytest
import torch

from onepeak.training.frequency_gap import frequency_gap, frequency_note


def drawn(count, seed, *, wrong=0.0):
    """Posteriors of four classes and labels drawn from them; `wrong` moves probability from the first to the last."""
    random = torch.Generator().manual_seed(seed)
    probs = torch.softmax(2 * torch.randn(count, 4, generator=random) + torch.tensor([2.0, 1.0, 0.0, -1.0]), dim=-1)
    labels = torch.multinomial(probs, 1, generator=random).squeeze(1)
    moved = wrong * probs[:, :1]
    return torch.cat([probs[:, :1] - moved, probs[:, 1:3], probs[:, 3:] + moved], dim=1).log(), labels


def test_the_gap_is_that_of_the_class_that_differs_most_beyond_chance():
    log_probs, labels = drawn(600, 0, wrong=0.4)
    label, probability, share = frequency_gap(log_probs, labels)
    gaps = [sum(row[k].exp().item() for row in log_probs) / 600 - labels.tolist().count(k) / 600 for k in range(4)]
    assert label == max(range(4), key=lambda k: abs(gaps[k]))
    assert probability - share == pytest.approx(gaps[label], abs=1e-6)
    assert share == labels.tolist().count(label) / 600


@pytest.mark.parametrize("count", [30, 100, 1000])
def test_right_posteriors_are_hardly_ever_doubted(count):
    assert sum(frequency_gap(*drawn(count, seed)) is not None for seed in range(300)) <= 3


def test_more_than_three_standard_errors_and_five_points_are_needed():
    half = torch.tensor([[0.5, 0.25, 0.25]]).double().log()
    assert frequency_gap(half.expand(100, 3), torch.tensor([0] * 64 + [1, 2] * 18)) is None  # one error is 0.05
    assert frequency_gap(half.expand(100, 3), torch.tensor([0] * 66 + [1, 2] * 17)) == (0, pytest.approx(0.5), 0.66)
    many = half.expand(100_000, 3)
    assert frequency_gap(many, torch.tensor([0] * 54_900 + [1, 2] * 22_550)) is None
    assert frequency_gap(many, torch.tensor([0] * 55_100 + [1, 2] * 22_450)) == (0, pytest.approx(0.5), 0.551)


def test_few_samples_and_few_groups_are_no_evidence():
    log_probs, labels = drawn(600, 0, wrong=0.4)
    assert frequency_gap(log_probs[:29], torch.full((29,), 3)) is None
    assert frequency_gap(log_probs, labels, num_groups=600) == frequency_gap(log_probs, labels)
    assert frequency_gap(log_probs, labels, num_groups=29) is None


def test_a_class_without_probability_or_without_samples_is_measured_like_any_other():
    sure = torch.tensor([[1.0, 0.0, 0.0]]).log().expand(200, 3)
    assert frequency_gap(sure, torch.zeros(200, dtype=torch.long)) is None
    assert frequency_gap(sure, torch.ones(200, dtype=torch.long)) == (0, 1.0, 0.0)


def test_the_reason_is_the_weights_or_else_what_is_told_and_one_peak_where_there_is_one():
    def note(*, weighted, one_peaked):
        return frequency_note(
            "5", 0.47, 0.6, part="these data", weighted=weighted, one_peaked=one_peaked, reason="the moon"
        )

    start = "the mean probability of '5' is 0.470, its share of these data 0.600: "
    assert note(weighted=True, one_peaked=1.0).startswith(f"{start}after class weights or balanced sampling, ")
    assert note(weighted=False, one_peaked=0.9) == f"{start}the moon"
    assert note(weighted=False, one_peaked=1.0) == (
        f'{start}the moon, or one-peaked posteriors may not fit: see "Which method should I choose" in the '
        'documentation, section "When one peak is wrong"'
    )
