import torch

from onepeak.methods.precision import below_the_peak
from onepeak.methods.steps import UnimodalNet, positive
from onepeak.posterior import is_unimodal


def test_the_scores_are_the_values_worked_by_hand():
    # steps 1.01, 2.01, 1.01, 4.01 -> rising 1.01 3.02 4.03 8.04, falling 8.04 7.03 5.02 4.01
    outputs = torch.tensor([[0.0, 1.5, 0.0, 3.75]])
    torch.testing.assert_close(
        UnimodalNet(num_classes=4).class_scores(outputs), torch.tensor([[1.01, 3.02, 4.03, 4.01]]) - 4.03
    )


def test_positive_steps_are_a_smooth_relu_that_never_reaches_zero():
    x = torch.tensor([-1e4, -100.0, 0.0, 1.5, 100.0, 1e4])
    torch.testing.assert_close(positive(x), torch.tensor([1e-4, 0.0099990, 1.0, 2.0, 100.01, 1e4]))


def test_outputs_far_below_zero_still_have_one_peak():
    outputs = -1000 * torch.rand(200, 8, generator=torch.Generator().manual_seed(0))
    assert is_unimodal(UnimodalNet(num_classes=8).log_probs(outputs)).all()


def test_scores_near_the_peak_keep_their_digits_in_float32():
    scores = torch.tensor([1e9, 1e9 + 0.01, 1e9 + 0.02], dtype=torch.float64)
    got = below_the_peak(scores, torch.float32)
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, torch.tensor([-0.02, -0.01, 0.0]), rtol=1e-4, atol=1e-7)
