import pytest
import torch
from torch import nn

from onepeak.errors import InputError
from onepeak.networks.seeds import reset_weights, seeded


def drawn(seed, part):
    with seeded(seed, part):
        return torch.rand(4)


def test_a_seed_and_a_part_decide_the_numbers():
    assert drawn(1, "head").equal(drawn(1, "head"))
    assert not drawn(1, "head").equal(drawn(2, "head"))
    assert not drawn(1, "head").equal(drawn(1, "backbone"))


def test_numbers_outside_go_on_as_if_nothing_had_been_drawn():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    drawn(0, "head")
    assert torch.rand(3).equal(expected)


def test_without_a_seed_the_global_numbers_are_used():
    torch.manual_seed(5)
    expected = torch.rand(4)
    torch.manual_seed(5)
    assert drawn(None, "head").equal(expected)


def test_every_layer_is_drawn_anew():
    layers = nn.Sequential(nn.Linear(3, 2), nn.Sequential(nn.ReLU(), nn.Linear(2, 2)))
    before = [parameter.clone() for parameter in layers.parameters()]
    reset_weights(layers)
    assert not any(old.equal(new) for old, new in zip(before, layers.parameters(), strict=True))


@pytest.mark.bad_input
def test_a_seed_is_not_negative():
    with pytest.raises(InputError, match="`seed` must be an integer >= 0, got -1"):
        drawn(-1, "head")
