import pytest
import torch
from torch import nn

import onepeak
from onepeak.networks.network import Network
from onepeak.training.average import RunningAverage


@pytest.fixture
def network():
    torch.manual_seed(0)
    return Network(
        nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)), nn.Linear(4, 5), onepeak.method("elb", num_classes=5)
    )


def test_weights_and_statistics_are_those_of_torchs_own_average(network):
    average = RunningAverage(network, 0.9)
    own = torch.optim.swa_utils.AveragedModel(
        network, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9), use_buffers=True
    )
    own.update_parameters(network)  # its first step copies: the weights to begin with
    optimizer = torch.optim.SGD(network.parameters(), lr=0.5)
    for _ in range(4):
        network.method.loss(network(torch.randn(8, 3)), torch.arange(8) % 5).backward()
        optimizer.step()
        optimizer.zero_grad()
        average.follow()
        own.update_parameters(network)
    for name, expected in own.module.state_dict().items():
        if expected.is_floating_point():
            torch.testing.assert_close(average.network.state_dict()[name], expected, msg=name)
    assert average.network.backbone[1].num_batches_tracked == network.backbone[1].num_batches_tracked == 4


def test_following_leaves_the_network_and_needs_no_gradient(network):
    average = RunningAverage(network, 0.5)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    average.follow()
    assert all(torch.equal(before[name], tensor) for name, tensor in network.state_dict().items())
    assert not any(weight.requires_grad for weight in average.network.parameters())


def test_a_network_loaded_later_is_still_followed(network):
    average = RunningAverage(network, 0.0)
    network.load_state_dict({name: tensor + 1 for name, tensor in network.state_dict().items()})
    average.follow()
    for own, averaged in zip(network.parameters(), average.network.parameters(), strict=True):
        torch.testing.assert_close(averaged, own)


def test_weights_that_two_layers_share_are_followed_once(network):
    network.backbone.append(nn.Linear(4, 4, bias=False))
    network.backbone.append(nn.Linear(4, 4, bias=False))
    network.backbone[3].weight = network.backbone[2].weight
    average = RunningAverage(network, 0.5)
    before = network.backbone[2].weight.detach().clone()
    with torch.no_grad():
        network.backbone[2].weight.add_(8.0)
    average.follow()
    torch.testing.assert_close(average.network.backbone[3].weight, before + 4.0)
