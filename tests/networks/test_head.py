import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from onepeak.errors import InputError
from onepeak.networks.head import AveragePooling, MapHead, MaxPooling, RowHead, WildcatPooling, wildcat


def test_the_evidence_is_the_mean_of_the_maps_of_each_output(noise):
    head, features = MapHead(6, 3, pooling=WildcatPooling(), maps_per_output=5), noise(2, 6, 4, 7)
    every = F.conv2d(features, head.classifier.weight, head.classifier.bias)
    expected = torch.stack([every[:, 5 * output : 5 * output + 5].mean(dim=1) for output in range(3)], dim=1)
    torch.testing.assert_close(head.evidence(features), expected)


def test_every_map_learns_its_fifth_of_the_gradient(noise):
    head, features = MapHead(6, 3, pooling=WildcatPooling(), maps_per_output=5), noise(2, 6, 4, 4)
    head(features).sum().backward()
    found = head.classifier.weight.grad.clone()
    head.zero_grad()
    every = head.classifier(features).unflatten(1, (3, 5)).mean(dim=2)
    head.pooling(every).sum().backward()
    torch.testing.assert_close(found, head.classifier.weight.grad)


def test_averaged_maps_are_a_linear_layer_on_averaged_features(noise):
    head, features = MapHead(6, 3, pooling=AveragePooling()), noise(2, 6, 4, 5)
    weight = head.classifier.weight.flatten(1)
    torch.testing.assert_close(head(features), F.linear(features.mean(dim=(2, 3)), weight, head.classifier.bias))


def test_memory_in_channels_last_changes_nothing(noise):
    head, features = MapHead(6, 3, pooling=WildcatPooling()), noise(2, 6, 4, 5)
    torch.testing.assert_close(head(features.to(memory_format=torch.channels_last)), head(features))


def test_rows_are_answered_in_float32():
    assert RowHead(5, 2).bfloat16()(torch.zeros(3, 5, dtype=torch.bfloat16)).dtype == torch.float32


def by_sorting(maps, kmax, kmin, alpha):
    """The definition, one map at a time, in float64."""
    batch, channels, height, width = maps.shape
    answer = np.empty((batch, channels))
    for sample in range(batch):
        for channel in range(channels):
            values = sorted(float(value) for value in maps[sample, channel].flatten())
            top = max(1, round(kmax * height * width))
            low = max(1, round((kmax if kmin is None else kmin) * height * width))
            answer[sample, channel] = math.fsum(values[-top:]) / top + alpha * math.fsum(values[:low]) / low
    return answer


def test_eight_by_eight_takes_the_six_highest():
    maps = torch.arange(64.0).reshape(1, 1, 8, 8)
    assert wildcat(maps).item() == (58 + 59 + 60 + 61 + 62 + 63) / 6
    assert wildcat(torch.arange(25.0).reshape(1, 1, 5, 5)).item() == (23 + 24) / 2  # 2.5 positions, rounded to even


def test_alpha_adds_its_share_of_the_lowest():
    maps = torch.tensor([[[[4.0, -8.0], [2.0, 1.0]]]])
    assert wildcat(maps, kmax=0.25, alpha=0.5).item() == 4 - 4
    assert wildcat(maps, kmax=0.25, kmin=0.5, alpha=0.5).item() == 4 - 0.5 * 3.5


@given(
    shape=st.tuples(*[st.integers(1, 3)] * 2, *[st.integers(1, 9)] * 2),
    kmax=st.floats(0.01, 1),
    kmin=st.none() | st.floats(0.01, 1),
    alpha=st.sampled_from([0.0, 0.3, 1.0, 2.0]),
    seed=st.integers(0, 99),
)
def test_pooling_is_the_definition(shape, kmax, kmin, alpha, seed):
    maps = torch.from_numpy(np.random.default_rng(seed).normal(size=shape))
    found = wildcat(maps, kmax=kmax, kmin=kmin, alpha=alpha)
    np.testing.assert_allclose(found, by_sorting(maps.numpy(), kmax, kmin, alpha), rtol=1e-12, atol=1e-12)


def test_all_positions_are_the_average_and_one_is_the_maximum(noise):
    maps = noise(2, 3, 5, 7)
    torch.testing.assert_close(wildcat(maps, kmax=1.0), AveragePooling()(maps))
    torch.testing.assert_close(wildcat(maps, kmax=1e-6), MaxPooling()(maps))


@pytest.mark.parametrize("alpha", [0.0, 0.7])
def test_the_gradient_is_that_of_the_definition(noise, alpha):
    maps = noise(2, 2, 4, 5).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda maps: wildcat(maps, kmax=0.2, alpha=alpha), maps)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("pooling", [WildcatPooling(alpha=0.5), AveragePooling(), MaxPooling()], ids=repr)
def test_half_precision_is_averaged_in_float32(noise, dtype, pooling):
    maps = (60_000 * noise(1, 2, 16, 16).sigmoid()).to(dtype)  # a sum of two would overflow float16
    found = pooling(maps)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, pooling(maps.double()).float(), rtol=1e-6, atol=0)


def test_the_module_says_its_settings():
    assert repr(WildcatPooling()) == "WildcatPooling(kmax=0.1, alpha=0.0)"
    assert repr(WildcatPooling(kmax=0.2, alpha=0.5)) == "WildcatPooling(kmax=0.2, kmin=0.2, alpha=0.5)"


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kmax": 0}, "`kmax` must be a finite number > 0 and <= 1, got 0"),
        ({"kmax": 6}, "`kmax` must be a finite number > 0 and <= 1, got 6"),
        ({"kmin": 1.5, "alpha": 1}, "`kmin` must be a finite number > 0 and <= 1, got 1.5"),
        ({"alpha": -0.1}, "`alpha` must be a finite number >= 0, got -0.1"),
        ({"kmin": 0.1}, "`kmin` does nothing when `alpha` is 0, got 0.1: give an alpha or leave it out"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        WildcatPooling(**settings)
    with pytest.raises(InputError, match="`maps_per_output` must be an integer >= 1, got 0"):
        MapHead(6, 3, pooling=WildcatPooling(), maps_per_output=0)
