import torch
from dlordinal.losses import SORDLoss
from dlordinal.soft_labelling import get_exponential_soft_labels, get_geometric_soft_labels

from onepeak.methods.sord import exponential, geometric, inverse_distance, sord

SIZES = [2, 3, 5, 14]


def close(got, expected):
    torch.testing.assert_close(got, torch.as_tensor(expected, dtype=torch.float64), rtol=1e-5, atol=1e-5)


def test_exponential_targets_are_those_of_dlordinal():
    for num_classes in SIZES:
        for power, temperature in [(1.0, 1.0), (1.5, 2.0), (2.0, 0.7)]:
            got = exponential(num_classes, power=power, temperature=temperature).targets
            close(got, get_exponential_soft_labels(num_classes, p=power, tau=temperature))


def test_geometric_targets_are_those_of_dlordinal():
    for num_classes in SIZES:
        for smoothing in [0.05, 0.1, 0.4]:
            close(
                geometric(num_classes, smoothing=smoothing).targets, get_geometric_soft_labels(num_classes, smoothing)
            )


def test_sord_is_the_loss_of_dlordinal_less_the_entropy_of_the_targets():
    scores = torch.randn(7, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    labels = torch.arange(7) % 5
    ours = sord(5, distance="absolute", sharpness=0.7)
    targets = ours.targets[labels]
    theirs = SORDLoss(alpha=0.7, num_classes=5, train_targets=labels)(scores, labels)
    close(ours.loss(scores, labels), theirs + targets.xlogy(targets).sum(dim=-1).mean())


def test_smoothing_by_inverse_distance_is_the_value_worked_by_hand():
    # label 1 of four: weights 1, 1, 1/2 for the others
    close(inverse_distance(4, smoothing=0.25).targets[1], [0.1, 0.75, 0.1, 0.05])


def test_two_classes_have_no_distance_to_know():
    for smoothed in (geometric(2, smoothing=0.1), inverse_distance(2, smoothing=0.1)):
        close(smoothed.targets, [[0.9, 0.1], [0.1, 0.9]])
