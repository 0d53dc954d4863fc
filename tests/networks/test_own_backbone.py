import re
import sys

import pytest
import torch
from torch import nn

import onepeak
from onepeak.errors import InputError
from onepeak.networks import MapHead, NetworkSettings, build_network
from onepeak.networks.head import RowHead
from onepeak.networks.own_backbone import OwnBackbone, check_trusted, features_of, maker, source_digest

CODE = """
from torch import nn


class Maps(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(3, 6, 3, stride=4), nn.BatchNorm2d(6))


def features():
    return nn.Sequential(Maps(), nn.AdaptiveAvgPool2d(1), nn.Flatten())


def rows(num_features):
    return nn.Linear(num_features, 5)


def text():
    return "no module"


def broken():
    raise ZeroDivisionError("of no layers")


class Mistyped(nn.Module):
    def forward(self, images):
        return self.layers(images)


def small_only():
    return nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 7))


def late():
    import beside_nets_of_a_test

    return beside_nets_of_a_test.Maps()
"""


@pytest.fixture
def nets(tmp_path, monkeypatch):
    """The name of a module in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nets_of_a_test.py").write_text(CODE)
    yield "nets_of_a_test"
    sys.modules.pop("nets_of_a_test", None)


def built(backbone, *, seed=0, **settings):
    elb = onepeak.method("elb", num_classes=4)
    return build_network(elb, NetworkSettings(backbone=backbone, **settings), seed=seed)


def test_maps_are_pooled_and_shown_as_evidence(nets):
    network = built(f"{nets}:Maps", pooling="average")
    assert isinstance(network.head, MapHead)
    assert network(torch.randn(2, 3, 33, 21)).shape == (2, 4)
    assert network.evidence(torch.randn(2, 3, 33, 21)).shape == (2, 4, 8, 5)


@pytest.mark.parametrize(
    ("name", "settings", "inputs"), [("features", {}, (2, 3, 32, 32)), ("rows", {"num_features": 7}, (2, 7))]
)
def test_features_go_straight_into_a_linear_head(nets, name, settings, inputs):
    network = built(f"{nets}:{name}", **settings)
    assert isinstance(network.head, RowHead)
    assert network(torch.randn(inputs)).shape == (2, 4)


def test_a_seed_decides_the_first_weights_and_looking_teaches_no_batch_norm(nets):
    first, second, other = (built(f"{nets}:Maps", seed=seed).state_dict() for seed in (3, 3, 4))
    assert all(torch.equal(first[key], second[key]) for key in first)
    assert any(not torch.equal(first[key], other[key]) for key in first)
    assert first["backbone.model.1.num_batches_tracked"] == 0


def test_a_file_of_weights_names_the_users_own_layers(nets, tmp_path):
    trained = maker(f"{nets}:Maps")()
    torch.save(trained.state_dict(), tmp_path / "trained.pt")
    elb = onepeak.method("elb", num_classes=4)
    settings = NetworkSettings(backbone=f"{nets}:Maps")
    network = build_network(elb, settings, weights=tmp_path / "trained.pt")
    assert torch.equal(network.backbone.model[0].weight, trained[0].weight)


def test_another_text_of_the_file_has_another_digest(nets, tmp_path):
    before = source_digest(f"{nets}:Maps")
    assert before == source_digest(f"{nets}:features")
    (tmp_path / f"{nets}.py").write_text(CODE + "# another\n")
    assert source_digest(f"{nets}:Maps") != before
    assert source_digest("resnet18") is None
    assert source_digest("math:sqrt") is None  # not written in Python


@pytest.mark.parametrize("among", [False, True])
def test_installed_modules_come_before_those_of_the_current_folder(nets, tmp_path, monkeypatch, among):
    if among:
        monkeypatch.syspath_prepend(str(tmp_path))
    else:
        (tmp_path / "fractions.py").write_text("Fraction = None")
    before = list(sys.path)
    assert maker("fractions:Fraction").__module__ == "fractions"
    assert maker(f"{nets}:Maps").__module__ == nets
    assert sys.path == before


def test_imports_from_the_current_folder_and_images_of_one_size_are_taken(nets, tmp_path):
    (tmp_path / "beside_nets_of_a_test.py").write_text(CODE)
    assert OwnBackbone(f"{nets}:late").num_channels == 6
    del sys.modules["beside_nets_of_a_test"]
    assert built(f"{nets}:small_only")(torch.zeros(2, 3, 32, 32)).shape == (2, 4)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nets_of_a_test:", "name a class or function as package.module:name (no path, no .py), got 'nets_of_a_test:'"),
        ("C:\\nets\\small.pt", "(no path, no .py), got 'C:"),
        ("./nets.py:Maps", "(no path, no .py), got './nets.py:Maps'"),
        ("nets_of_a_test:Mistyped", "but failed with AttributeError: 'Mistyped' object has no attribute 'layers'"),
        ("nets_of_none:Maps", "got 'nets_of_none:Maps': ModuleNotFoundError: No module named 'nets_of_none'"),
        ("nets_of_a_test:Mapz", "must name a class or function of nets_of_a_test, which has no 'Mapz'"),
        ("nets_of_a_test:text", "'nets_of_a_test:text' must return a torch module, got str"),
        ("nets_of_a_test:broken", "failed with ZeroDivisionError: of no layers"),
        ("nets_of_a_test:rows", "failed with TypeError: rows() missing 1 required positional argument"),
        ("torch.nn:Flatten", "does nothing with a backbone that returns features"),
    ],
)
def test_what_is_no_backbone_is_told(nets, name, message):
    with pytest.raises(InputError, match=re.escape(message)):
        built(name, pooling="max")


@pytest.mark.bad_input
def test_a_model_runs_no_code_that_the_user_did_not_name(monkeypatch):
    monkeypatch.setenv("ONEPEAK_TRUST", "nets, other.nets")
    check_trusted("other.nets:Wide")
    check_trusted("resnet18")
    for name in ("os:abort", "other:Wide", ":Wide"):
        with pytest.raises(InputError, match="ONEPEAK_TRUST"):
            check_trusted(name)


@pytest.mark.bad_input
def test_settings_that_do_nothing_are_refused(nets):
    with pytest.raises(InputError, match="`hidden` does nothing with backbone='nets_of_a_test:Maps'"):
        built(f"{nets}:Maps", hidden=(3,))
    with pytest.raises(InputError, match="`pooling` does nothing with rows of a table, got 'max'"):
        built(f"{nets}:rows", num_features=3, pooling="max")


@pytest.mark.bad_input
def test_a_module_that_cannot_take_images_is_told(monkeypatch):
    monkeypatch.setattr(nn, "LinearOfNine", lambda: nn.Linear(9, 2), raising=False)
    with pytest.raises(InputError, match=r"accept a batch of shape \(2, 3, 224, 224\), but failed with RuntimeError"):
        OwnBackbone("torch.nn:LinearOfNine")


def test_parts_that_are_frozen_stay_so_when_a_module_is_looked_at():
    module = nn.Sequential(nn.Conv2d(3, 2, 1), nn.BatchNorm2d(2))
    module[1].eval()
    features_of(module, torch.zeros(1, 3, 4, 4))
    assert (module.training, module[1].training) == (True, False)
