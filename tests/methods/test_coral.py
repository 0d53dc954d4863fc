import torch
from coral_pytorch.dataset import levels_from_labelbatch, proba_to_label
from coral_pytorch.layers import CoralLayer
from coral_pytorch.losses import coral_loss

from onepeak.methods.coral import Coral

LABELS = torch.arange(9) % 5


def theirs_and_ours():
    """Their layer on a feature of one, whose weight is set to 1, gives our outputs."""
    layer = CoralLayer(size_in=1, num_classes=5)
    layer.coral_weights.weight.data.fill_(1.0)
    outputs = torch.linspace(-3, 3, 9).unsqueeze(-1)
    return layer(outputs), outputs


def test_biases_loss_and_prediction_are_those_of_coral_pytorch():
    logits, outputs = theirs_and_ours()
    coral = Coral(num_classes=5)
    torch.testing.assert_close(coral.levels(outputs), logits)
    expected = coral_loss(logits, levels_from_labelbatch(LABELS, num_classes=5))
    torch.testing.assert_close(coral.loss(outputs, LABELS), expected, rtol=1e-5, atol=1e-5)
    assert torch.equal(coral.predict(outputs), proba_to_label(logits.sigmoid()))


def test_the_posterior_which_coral_pytorch_has_not_is_the_differences_of_its_levels():
    logits, outputs = theirs_and_ours()
    levels = torch.nn.functional.pad(torch.nn.functional.pad(logits.sigmoid(), (1, 0), value=1.0), (0, 1))
    torch.testing.assert_close(Coral(num_classes=5).log_probs(outputs).exp(), -levels.diff(dim=-1))


def test_biases_out_of_order_still_give_a_posterior():
    coral = Coral(num_classes=4)
    coral.biases.data.copy_(torch.tensor([0.0, 1.0, -1.0]))
    log_probs = coral.log_probs(torch.zeros(1, 1))
    assert log_probs.isfinite().all()
    assert log_probs.exp()[0, 1] < 1e-6  # between two levels of which the second is no lower
    torch.testing.assert_close(log_probs.exp().sum(), torch.tensor(1.0))


def test_training_finds_biases_in_order():
    coral = Coral(num_classes=4)
    coral.biases.data.copy_(torch.tensor([-1.0, 0.0, 1.0]))
    outputs = torch.linspace(-3, 3, 40).unsqueeze(-1)
    labels = ((outputs.squeeze(-1) + 3) / 6.01 * 4).long()
    optimizer = torch.optim.Adam(coral.parameters(), lr=0.1)
    for _ in range(100):
        optimizer.zero_grad()
        coral.loss(outputs, labels).backward()
        optimizer.step()
    assert (coral.biases.diff() < 0).all()
