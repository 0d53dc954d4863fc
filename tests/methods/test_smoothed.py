import pytest
import torch

import onepeak
from onepeak.errors import InputError, UnknownNameError
from onepeak.methods.smoothed import Smoothed, smoothed


def test_it_is_the_mean_over_windows():
    for size in [1, 2, 3, 4, 5, 64, 65, 257]:
        outputs = torch.randn(2, 3, size, dtype=torch.float64)
        scales, reach = [outputs], 1
        while reach < size:
            windows = [outputs[..., max(0, level - reach) : level + reach + 1] for level in range(size)]
            scales.append(torch.stack([window.mean(dim=-1) for window in windows], dim=-1))
            reach *= 2
        expected = sum(scales) / len(scales)
        torch.testing.assert_close(smoothed(outputs), expected)
        torch.testing.assert_close(onepeak.method("smooth-slopes", num_classes=size + 1).smooth(outputs), expected)


def test_many_outputs_need_no_table_which_grows_with_their_square():
    outputs = torch.zeros(20_000)
    outputs[0] = 10.0
    smooth = onepeak.method("smooth-slopes", num_classes=20_001)
    assert smooth.smooth.weights is None
    assert smooth.smooth(outputs)[0] == pytest.approx(10 * (1 + sum(1 / (2**i + 1) for i in range(15))) / 16)


def test_nothing_rounds_the_averages():
    outputs = torch.randn(4, 9)
    smooth = onepeak.method("smooth-ce", num_classes=9)
    expected = smooth.log_probs(outputs)
    assert smooth.log_probs(outputs.double()).sub(expected).abs().max() < 1e-6
    assert torch.equal(smooth.bfloat16().log_probs(outputs), expected)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(smooth.log_probs(outputs), expected)
    assert smooth.state_dict() == {}


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 69, 300])
def test_nothing_is_lost_and_a_level_line_stays(size):
    matrix = smoothed(torch.eye(size, dtype=torch.float64)).T
    torch.testing.assert_close(matrix.sum(dim=1), torch.ones(size, dtype=torch.float64))
    assert torch.linalg.matrix_rank(matrix) == size  # whatever slopes are wanted, some outputs have them


@pytest.mark.parametrize("name", ["ce", "elb", "rps+elb", "slopes", "corn", "or-cnn", "wk", "mv"])
def test_everything_is_that_of_the_base_with_smoothed_outputs_for_any_leading_shape(name):
    weights = torch.linspace(0.5, 2, 9)
    base = onepeak.method(name, num_classes=9, class_weight=weights)
    smooth = onepeak.method(f"smooth-{name}", num_classes=9, class_weight=weights)
    outputs, labels = torch.randn(3, 4, base.num_outputs), torch.randint(9, (3, 4))
    given, sample_weight = smooth.smooth(outputs), torch.rand(3, 4)
    for reduction in ("none", "mean"):
        own = smooth.loss(outputs, labels, sample_weight=sample_weight, reduction=reduction)
        expected = base.loss(given, labels, sample_weight=sample_weight, reduction=reduction)
        torch.testing.assert_close(own, expected)
    torch.testing.assert_close(smooth.log_probs(outputs), base.log_probs(given))
    assert torch.equal(smooth.predict(outputs), base.predict(given))
    assert (smooth.batchwise, smooth.decision) == (base.batchwise, base.decision)


def test_the_fast_mean_of_the_base_is_used(monkeypatch):
    outputs, labels = torch.randn(6, 9), torch.randint(9, (6,))
    smooth = onepeak.method("smooth-elb", num_classes=9)
    monkeypatch.setattr(smooth.base, "mean_loss", lambda given, _: given.sum())
    assert torch.equal(smooth.loss(outputs, labels), smooth.smooth(outputs).sum())


@pytest.mark.gpu
def test_on_a_gpu_nothing_is_rounded_and_the_method_may_be_left_on_the_cpu(monkeypatch):
    monkeypatch.setattr(torch.backends.cuda.matmul, "allow_tf32", True)
    outputs, labels = torch.randn(64, 69), torch.randint(70, (64,))
    smooth = onepeak.method("smooth-slopes", num_classes=70)
    torch.testing.assert_close(smooth.smooth(outputs.cuda()).cpu(), smooth.smooth(outputs))
    torch.testing.assert_close(smooth.loss(outputs.cuda(), labels.cuda()).cpu(), smooth.loss(outputs, labels))


@pytest.mark.bad_input
def test_bad_bases_and_names_are_told():
    with pytest.raises(InputError, match="`base` must be a method, got str"):
        Smoothed("elb")
    with pytest.raises(InputError, match="one output per class or level, got Coral with 1"):
        Smoothed(onepeak.method("coral", num_classes=5))
    for name in ("coral", "gaussian", "po", "copoc+elb"):
        with pytest.raises(InputError, match="'smooth-' must precede a method with one output per class or level"):
            onepeak.method(f"smooth-{name}", num_classes=2)
    with pytest.raises(UnknownNameError, match=r"most also accept the prefix smooth-, as in smooth-elb\."):
        onepeak.method("smoth-elb", num_classes=5)
    for name, meant in (("smooth-ebl", "smooth-elb"), ("smooth-slope", "smooth-slopes"), ("smoth-elb", "smooth-elb")):
        with pytest.raises(UnknownNameError, match=f"Unknown method '{name}'. Did you mean '{meant}'"):
            onepeak.method(name, num_classes=5)
    with pytest.raises(InputError, match="outputs"):
        onepeak.method("smooth-ce", num_classes=5).predict(torch.tensor(1.0))
