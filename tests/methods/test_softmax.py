import torch

from onepeak.methods.softmax import SoftmaxMethod


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


class Ramp(SoftmaxMethod):
    """Scores made from one output: its multiples."""

    sample_losses = FirstScore.sample_losses

    @property
    def num_outputs(self):
        return 1

    def class_scores(self, outputs):
        return outputs * torch.arange(self.num_classes)


def test_the_posterior_is_the_softmax_of_the_scores_whatever_they_are_made_from():
    rising = torch.tensor([[2.0]]).log()
    torch.testing.assert_close(Ramp(num_classes=3).log_probs(rising).exp(), torch.tensor([[1.0, 2.0, 4.0]]) / 7)
