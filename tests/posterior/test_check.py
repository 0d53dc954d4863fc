import pytest
import torch

from onepeak.posterior._check import check_class_scores, check_log_probs


def test_posteriors_of_any_precision_pass_from_flat_to_certain():
    for dtype in [torch.bfloat16, torch.float16, torch.float32, torch.float64]:
        for num_classes in [2, 70, 1000]:
            generator = torch.Generator().manual_seed(0)
            sharpness = torch.linspace(0, 100, 200).unsqueeze(-1)
            log_probs = (sharpness * torch.randn(200, num_classes, generator=generator)).log_softmax(dim=-1)
            check_log_probs(log_probs.to(dtype), num_classes)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.bad_input
def test_a_posterior_that_lost_a_fifth_of_its_mass_does_not_pass(dtype):
    log_probs = torch.tensor([[0.5, 0.3]]).log().to(dtype)
    with pytest.raises(ValueError, match=r"`log_probs` must be log-probabilities.*off by 0\.22"):
        check_log_probs(log_probs)


def test_minus_infinity_is_a_score_like_any_other():
    check_class_scores(torch.tensor([[0.0, -torch.inf]]), 2)
    check_log_probs(torch.tensor([[0.0, -torch.inf]]))
