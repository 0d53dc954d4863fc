import dataclasses
import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

import onepeak
from onepeak.errors import InputError
from onepeak.networks import NetworkSettings, build_network, network_around

SMALL = NetworkSettings(backbone="small")
TABLE = NetworkSettings(backbone="mlp", num_features=5)


def method(name, num_classes=4):
    return onepeak.method(name, num_classes=num_classes)


def same(module, other):
    theirs = other.state_dict()
    return all(tensor.equal(theirs[key]) for key, tensor in module.state_dict().items())


@pytest.mark.parametrize("settings", [SMALL, TABLE], ids=lambda settings: settings.backbone)
def test_every_method_has_networks_that_give_what_it_reads(settings, noise):
    for record in onepeak.methods():
        network = build_network(method(record.name), settings)
        outputs = network(noise(2, 3, 32, 32) if settings is SMALL else noise(2, 5))
        assert network.method.log_probs(outputs).shape == (2, 4)
        assert network.method.loss(outputs, torch.tensor([0, 3])).isfinite()


@pytest.mark.parametrize("settings", [SMALL, TABLE, NetworkSettings()], ids=lambda settings: settings.backbone)
def test_the_same_seed_gives_the_same_first_weights(settings):
    first, again, other = (build_network(method("po"), settings, seed=seed) for seed in (3, 3, 4))
    assert same(first, again)
    assert not same(first.backbone, other.backbone)
    assert not same(first.head, other.head)
    assert not same(first.method, other.method)


def test_methods_share_the_first_weights_of_what_they_share():
    ce, po, slopes = (build_network(method(name), SMALL, seed=0) for name in ("ce", "po", "slopes"))
    assert same(ce.backbone, po.backbone)
    assert same(ce.backbone, slopes.backbone)
    assert same(ce.head, po.head)
    wildcat = build_network(method("ce"), NetworkSettings(backbone="small", kmax=0.5, alpha=1.0), seed=0)
    assert same(ce.head, wildcat.head)


def test_a_seed_leaves_the_global_random_numbers_alone():
    torch.manual_seed(1)
    expected = torch.rand(2)
    torch.manual_seed(1)
    build_network(method("ce"), SMALL, seed=0)
    assert torch.rand(2).equal(expected)


@pytest.mark.parametrize("settings", [{"alpha": 1.0}, {"kmax": 0.5}, {"alpha": 1.0, "kmin": 0.9}, {"pooling": "max"}])
def test_pooling_settings_reach_the_outputs(noise, settings):
    plain, changed = (
        build_network(method("ce"), NetworkSettings(backbone="small", **each), seed=0) for each in ({}, settings)
    )
    images = noise(2, 3, 64, 64)
    assert (plain(images) - changed(images)).abs().max() > 1e-3


def test_the_real_weights_go_into_the_backbone_and_the_head_starts_fresh(imagenet_resnet18):
    network = build_network(method("elb"), NetworkSettings(), weights=imagenet_resnet18, seed=0)
    real = load_file(imagenet_resnet18)
    assert all(tensor.equal(real[key].to(tensor.dtype)) for key, tensor in network.backbone.model.state_dict().items())
    assert same(network.head, build_network(method("elb"), NetworkSettings(), seed=0).head)
    assert network.notes == ()


def test_the_classifier_of_a_weight_file_is_left_with_a_note(tmp_path):
    tensors = build_network(method("ce"), NetworkSettings(), seed=1).backbone.model.state_dict()
    save_file(tensors | {"fc.weight": torch.zeros(9, 512), "fc.bias": torch.zeros(9)}, tmp_path / "resnet.safetensors")
    network = build_network(method("ce"), NetworkSettings(), weights=tmp_path / "resnet.safetensors")
    assert network.notes == ("2 of 122 tensors in resnet.safetensors were not used: fc.bias, fc.weight.",)


@pytest.mark.parametrize("settings", [NetworkSettings(), SMALL, TABLE], ids=lambda settings: settings.backbone)
def test_a_whole_network_saved_is_a_weight_file_for_the_next(tmp_path, settings):
    first = build_network(method("ce"), settings, seed=1)
    save_file(first.state_dict(), tmp_path / "model.safetensors")
    second = build_network(method("slopes", 9), settings, weights=tmp_path / "model.safetensors")
    assert same(first.backbone, second.backbone)
    assert "head.classifier.weight" in second.notes[0]


@pytest.mark.bad_input
def test_weights_of_another_backbone_are_refused(tmp_path):
    save_file(build_network(method("ce"), SMALL).state_dict(), tmp_path / "small.safetensors")
    with pytest.raises(InputError, match=r"backbone's 120 tensors, small\.safetensors does not: 100 missing"):
        build_network(method("ce"), NetworkSettings(), weights=tmp_path / "small.safetensors")


def test_a_users_module_with_maps_gets_a_head_and_keeps_its_state(noise):
    backbone = nn.Sequential(nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.Dropout())
    backbone[2].eval()
    example = 5 + noise(2, 1, 12, 12)  # one channel: the inputs are the user's matter
    network = network_around(method("slopes"), backbone, example=example, kmax=0.3, seed=0)
    assert backbone[1].running_mean.abs().sum() == 0
    assert (backbone[1].training, backbone[2].training) == (True, False)
    assert network(example).shape == (2, 3)
    assert network.head.pooling.kmax == 0.3


def test_a_users_module_with_features_gets_a_linear_head(noise):
    network = network_around(method("elb"), nn.LazyLinear(7), example=noise(2, 5))
    assert network.head.classifier.weight.shape == (4, 7)
    assert network(noise(3, 5)).shape == (3, 4)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("backbone", "message"),
    [
        (nn.Unflatten(1, (5, 1)), r"`backbone` must return feature maps .*got shape \(2, 5, 1\) for an example"),
        (nn.LSTM(5, 3), "`backbone` must return one tensor, got tuple"),
    ],
)
def test_a_module_that_gives_something_else_is_refused(backbone, message):
    with pytest.raises(InputError, match=message):
        network_around(method("ce"), backbone, example=torch.zeros(2, 5))
    with pytest.raises(InputError, match="`kmax` does nothing with a backbone that returns features, not maps"):
        network_around(method("ce"), nn.Identity(), example=torch.zeros(2, 5), kmax=0.2)


@pytest.mark.bad_input  # a list where a tuple is meant
@pytest.mark.parametrize(
    "settings",
    [
        NetworkSettings(),
        NetworkSettings(backbone="small", kmax=0.2, kmin=0.3, alpha=0.5),
        NetworkSettings(backbone="mlp", num_features=7, hidden=(32, 16, 8), dropout=0.1),
    ],
    ids=lambda settings: settings.backbone,
)
def test_settings_come_back_from_json_as_they_were(settings):
    assert NetworkSettings(**json.loads(json.dumps(dataclasses.asdict(settings)))) == settings


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pooling": "average", "kmax": 0.2}, "`kmax` does nothing with pooling='average', got 0.2: leave it out"),
        ({"pooling": "max", "maps_per_class": 2}, "`maps_per_class` does nothing with pooling='max', got 2"),
        ({"num_features": 3}, "`num_features` does nothing with backbone='resnet18', got 3"),
        ({"backbone": "small", "hidden": (3,)}, r"`hidden` does nothing with backbone='small', got \(3,\)"),
        ({"dropout": 0.1}, "`dropout` does nothing with backbone='resnet18', got 0.1"),
        ({"backbone": "mlp", "num_features": 3, "pooling": "max"}, "`pooling` does nothing with backbone='mlp'"),
        ({"backbone": "mlp"}, "`num_features` must be given with backbone='mlp': the number of table columns"),
        ({"pooling": "maximum"}, "Unknown `pooling` 'maximum'. Did you mean 'max'"),
        ({"kmax": 1.1}, "`kmax` must be a finite number > 0 and <= 1, got 1.1"),
        ({"kmin": 0.1}, "`kmin` does nothing when `alpha` is 0"),
        ({"maps_per_class": 0}, "`maps_per_class` must be an integer >= 1, got 0"),
    ],
)
def test_settings_that_do_nothing_or_cannot_be_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        NetworkSettings(**settings)
