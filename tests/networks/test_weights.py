import re

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from onepeak.errors import InputError
from onepeak.networks import SmallConvNet
from onepeak.networks.weights import load_weights


@pytest.fixture
def trained():
    """A network whose weights are not those of a fresh one."""
    network = SmallConvNet()
    for tensor in network.state_dict().values():
        tensor.copy_(torch.arange(tensor.numel()).reshape(tensor.shape) % 7)
    return network


def saved(tensors, path):
    save_file({key: value.contiguous() for key, value in tensors.items()}, path)
    return path


def assert_equal(network, other):
    theirs = other.state_dict()
    assert all(tensor.equal(theirs[key]) for key, tensor in network.state_dict().items())


@pytest.mark.parametrize("prefix", ["", "module.", "backbone.", "model.", "_orig_mod.module.backbone."])
def test_weights_load_from_behind_any_prefix(trained, tmp_path, prefix):
    file = saved({prefix + key: value for key, value in trained.state_dict().items()}, tmp_path / "w.safetensors")
    network = SmallConvNet()
    assert load_weights(network, file) == ()
    assert_equal(network, trained)


def test_other_parts_of_a_model_are_left_with_a_note(trained, tmp_path):
    tensors = {f"backbone.{key}": value for key, value in trained.state_dict().items()} | {"head.bias": torch.ones(1)}
    network = SmallConvNet()
    notes = load_weights(network, saved(tensors, tmp_path / "w.safetensors"))
    assert notes == ("1 of 31 tensors in w.safetensors were not used: head.bias.",)
    assert_equal(network, trained)


def test_half_precision_becomes_that_of_the_network(trained, tmp_path):
    file = saved({key: value.half() for key, value in trained.state_dict().items()}, tmp_path / "w.safetensors")
    network = SmallConvNet()
    load_weights(network, file)
    assert_equal(network, trained)
    assert network.blocks[0][0].weight.dtype == torch.float32


def test_old_files_without_counts_of_batches_load(trained, tmp_path):
    tensors = {key: value for key, value in trained.state_dict().items() if not key.endswith("num_batches_tracked")}
    network = SmallConvNet()
    assert load_weights(network, saved(tensors, tmp_path / "w.safetensors")) == ()
    assert network.blocks[0][0].weight.equal(trained.blocks[0][0].weight)


@pytest.mark.bad_input
def test_what_does_not_fit_is_named_and_nothing_is_loaded(trained, tmp_path):
    tensors = trained.state_dict()
    del tensors["blocks.4.0.weight"]
    tensors["blocks.1.0.weight"] = torch.zeros(64, 32, 5, 5)
    tensors |= {f"extra.{number}": torch.zeros(1) for number in range(7)}
    network = SmallConvNet()
    before = {key: tensor.clone() for key, tensor in network.state_dict().items()}
    message = (
        "`weights` must fit the backbone's 30 tensors, w.safetensors does not: 1 missing (blocks.4.0.weight); "
        "7 unexpected (extra.0, extra.1, extra.2, extra.3, extra.4 and 2 more); "
        "1 of another shape (blocks.1.0.weight (64, 32, 5, 5) for (64, 32, 3, 3)). Choose the backbone"
    )
    with pytest.raises(InputError, match=re.escape(message)):
        load_weights(network, saved(tensors, tmp_path / "w.safetensors"))
    assert all(tensor.equal(before[key]) for key, tensor in network.state_dict().items())


@pytest.mark.bad_input
def test_weights_of_another_network_are_refused(tmp_path):
    file = saved(nn.Linear(2, 1).state_dict(), tmp_path / "w.safetensors")
    with pytest.raises(InputError, match=r"25 missing \(blocks\.0\.0\.weight, .* and 20 more\); 2 unexpected"):
        load_weights(SmallConvNet(), file)


def test_the_real_file_fits_a_resnet_whole(imagenet_resnet18):
    timm = pytest.importorskip("timm")
    network = timm.create_model("resnet18", num_classes=0)
    assert load_weights(network, imagenet_resnet18) == ()
    real = load_file(imagenet_resnet18)
    assert all(tensor.equal(real[key].to(tensor.dtype)) for key, tensor in network.state_dict().items())
    assert real.keys() == network.state_dict().keys()
