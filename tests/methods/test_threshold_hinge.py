import torch

from onepeak.methods.threshold_hinge import ThresholdHinge

LABELS = torch.arange(4)


def at_thresholds(**settings):
    """Thresholds at -1, 0 and 2."""
    hinge = ThresholdHinge(num_classes=4, **settings).double()
    hinge.line.first.data.fill_(-1.0)
    hinge.line.log_gaps.data.copy_(torch.tensor([1.0, 2.0]).log())
    return hinge


def test_all_thresholds_bound_the_absolute_error_and_the_next_ones_the_error_rate():
    outputs, labels = torch.linspace(-4, 4, 40).double().repeat_interleave(4).unsqueeze(-1), LABELS.repeat(40)
    for thresholds, most in (("all", 3), ("immediate", 1)):
        hinge = at_thresholds(thresholds=thresholds)
        errors = (hinge.predict(outputs) - labels).abs().clamp(max=most)
        assert (hinge.loss(outputs, labels, reduction="none") >= errors).all()
