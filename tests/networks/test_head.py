import pytest
import torch
from torch.nn import functional as F

from onepeak.errors import InputError
from onepeak.networks.head import MapHead, RowHead
from onepeak.networks.pooling import AveragePooling, WildcatPooling


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


@pytest.mark.bad_input
def test_a_head_has_at_least_one_map_an_output():
    with pytest.raises(InputError, match="`maps_per_output` must be an integer >= 1, got 0"):
        MapHead(6, 3, pooling=WildcatPooling(), maps_per_output=0)
