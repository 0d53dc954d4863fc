from dataclasses import replace

import pytest
from torch import nn

from experiment.tiny import tiny
from onepeak._registry import Registry
from onepeak.experiment.packable import can_pack
from onepeak.methods import catalog
from onepeak.methods.cross_entropy import CrossEntropy
from onepeak.networks.build import NetworkSettings


def test_networks_that_draw_random_numbers_are_not_packed(tmp_path):
    opened = tiny(tmp_path)
    assert can_pack(opened)
    assert not can_pack(replace(opened, network=NetworkSettings(backbone="mlp", num_features=4, dropout=0.5)))


def build_noisy(num_classes, *, class_weight=None):
    """A method of a user's own with dropout in it."""
    noisy = CrossEntropy(num_classes, class_weight=class_weight)
    noisy.noise = nn.Dropout(0.5)
    return noisy


@pytest.mark.parametrize("entries", [("noisy", "ce"), ("ce", "noisy")])
def test_methods_that_draw_random_numbers_are_not_packed_wherever_they_stand(tmp_path, monkeypatch, entries):
    monkeypatch.setattr(catalog, "METHODS", Registry("method", catalog.METHODS))
    catalog.METHODS.add(replace(catalog.METHODS["ce"], name="noisy", build=build_noisy))
    assert not can_pack(tiny(tmp_path, *entries))
