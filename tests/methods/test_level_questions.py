import pytest
import torch
from coral_pytorch.dataset import levels_from_labelbatch
from coral_pytorch.losses import coral_loss

from onepeak.errors import InputError
from onepeak.methods.level_questions import LevelQuestions, frank_hall, or_cnn

OUTPUTS = torch.randn(9, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(9) % 5


def test_the_loss_is_that_of_coral_pytorch():
    expected = coral_loss(OUTPUTS, levels_from_labelbatch(LABELS, num_classes=5))
    torch.testing.assert_close(or_cnn(5).loss(OUTPUTS, LABELS), expected, rtol=1e-5, atol=1e-5)


def test_levels_that_agree_are_counted_and_their_differences_are_the_posterior():
    outputs = torch.tensor([[0.9, 0.8, 0.3, 0.1]]).logit()
    assert or_cnn(5).predict(outputs).tolist() == [2]
    torch.testing.assert_close(or_cnn(5).log_probs(outputs).exp(), torch.tensor([[0.1, 0.1, 0.5, 0.2, 0.1]]))


def test_levels_that_do_not_agree_are_read_up_to_the_first_answered_no():
    outputs = torch.tensor([[2.0, -1.0, 3.0, 4.0]])
    assert or_cnn(5).predict(outputs).tolist() == [1]


def test_frank_and_hall_choose_the_most_probable_class():
    outputs = torch.tensor([[0.55, 0.52, 0.49, 0.05]]).logit()  # probabilities .45 .03 .03 .44 .05
    assert or_cnn(5).predict(outputs).tolist() == [2]
    assert frank_hall(5).predict(outputs).tolist() == [0]


@pytest.mark.bad_input
def test_a_decision_it_does_not_make_is_refused():
    with pytest.raises(InputError, match=r"Unknown `decision` 'mean'"):
        LevelQuestions(num_classes=5, decision="mean")
