import torch

from onepeak.methods.steps import below_the_peak, widened


def test_half_and_single_precision_are_widened():
    assert widened(torch.zeros(2)).dtype == torch.float64
    assert widened(torch.zeros(2, dtype=torch.float64)).dtype == torch.float64


def test_scores_near_the_peak_keep_their_digits_in_float32():
    scores = torch.tensor([1e9, 1e9 + 0.01, 1e9 + 0.02], dtype=torch.float64)
    got = below_the_peak(scores, torch.float32)
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, torch.tensor([-0.02, -0.01, 0.0]), rtol=1e-4, atol=1e-7)
