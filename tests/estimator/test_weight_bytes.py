import torch
from torch import nn

from onepeak.estimator.weight_bytes import from_bytes, to_bytes


def trained(module):
    """A module after two steps of AdamW, and the optimiser."""
    optimizer = torch.optim.AdamW(module.parameters())
    for _ in range(2):
        module(torch.ones(1, 3, dtype=torch.float64)).sum().backward()
        optimizer.step()
    return module, optimizer


def test_weights_and_optimiser_come_back_to_the_last_bit():
    module, optimizer = trained(nn.Linear(3, 2).double())
    copy, other = trained(nn.Linear(3, 2).double())
    from_bytes(to_bytes(module, optimizer), copy, other)
    assert torch.equal(copy.weight, module.weight)
    for found, expected in zip(other.state.values(), optimizer.state.values(), strict=True):
        assert found.keys() == expected.keys()
        assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_layers_that_share_their_weights_are_written():
    layer = nn.Linear(3, 3).double()
    module, copy = nn.Sequential(layer, layer), nn.Sequential(*[nn.Linear(3, 3).double()] * 2)
    from_bytes(to_bytes(module, None), copy, None)
    assert torch.equal(copy[1].weight, layer.weight)
