import pytest
import torch

from onepeak.posterior.unimodal_fit import unimodal_fit

FORMS = pytest.mark.parametrize("by_pairs", [False, True])


def noise(*shape):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(*shape, dtype=torch.float64, generator=generator).log_softmax(-1)


@pytest.mark.parametrize("distance", ["squared", "kl"])
@pytest.mark.parametrize("num_classes", [2, 3, 8, 33])
def test_both_forms_fit_alike(num_classes, distance):
    log_probs = noise(40, num_classes)
    for mode in (None, torch.arange(40) % num_classes):
        along, starts = unimodal_fit(log_probs, mode, distance, by_pairs=False)
        by_pairs, their_starts = unimodal_fit(log_probs, mode, distance, by_pairs=True)
        torch.testing.assert_close(along, by_pairs, rtol=1e-13, atol=1e-13)
        assert torch.equal(starts, their_starts)


@FORMS
def test_blocks_start_where_the_fit_changes(by_pairs):
    log_probs = torch.tensor([[0.4, 0.15, 0.3, 0.15], [0.1, 0.2, 0.3, 0.4]], dtype=torch.float64).log()
    _, starts = unimodal_fit(log_probs, None, "squared", by_pairs=by_pairs)
    assert starts.tolist() == [[True, True, False, True], [True, True, True, True]]


@FORMS
def test_a_low_mode_takes_in_the_highest_classes_of_both_sides_until_it_is_the_peak(by_pairs):
    log_probs = torch.tensor([0.1, 0.25, 0.05, 0.4, 0.2], dtype=torch.float64).log()
    fit, starts = unimodal_fit(log_probs, torch.tensor(2), "squared", by_pairs=by_pairs)
    height = (0.05 + 0.4 + 0.25) / 3  # 0.4 alone lifts it to 0.225, below 0.25, and 0.2 stays below all three
    assert fit.exp().tolist() == pytest.approx([0.1, height, height, height, 0.2])
    assert starts.tolist() == [True, True, False, False, True]
