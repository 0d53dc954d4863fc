import pickle
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from onepeak.errors import InputError
from onepeak.networks import SmallConvNet
from onepeak.networks.weights import load_weights, read_weights, reset_weights, seeded


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


def test_old_files_without_counts_of_batches_and_in_half_precision_load(trained, tmp_path):
    tensors = {key: value.half() for key, value in trained.state_dict().items() if not key.endswith("batches_tracked")}
    network = SmallConvNet()
    assert load_weights(network, saved(tensors, tmp_path / "w.safetensors")) == ()
    assert network.blocks[0][0].weight.equal(trained.blocks[0][0].weight)
    assert network.blocks[0][0].weight.dtype == torch.float32


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


WEIGHTS = {"fc.weight": torch.arange(6.0).reshape(2, 3), "fc.bias": torch.ones(2)}


def saved_by_torch(content, path, **options):
    torch.save(content, path, **options)
    return path


def assert_same(found):
    assert found.keys() == WEIGHTS.keys()
    assert all(found[key].equal(value) for key, value in WEIGHTS.items())


def test_safetensors_and_both_forms_of_torch_are_read_whatever_the_file_is_called(tmp_path):
    save_file(WEIGHTS, tmp_path / "weights.bin")
    assert_same(read_weights(tmp_path / "weights.bin"))
    for zipped in (True, False):
        assert_same(read_weights(saved_by_torch(WEIGHTS, tmp_path / "w", _use_new_zipfile_serialization=zipped)))


@pytest.mark.parametrize("wrapper", ["state_dict", "model_state_dict", "model"])
def test_the_weights_of_a_training_checkpoint_are_found(tmp_path, wrapper):
    checkpoint = {"epoch": 3, wrapper: WEIGHTS, "optimizer": {"lr": 0.1}}
    assert_same(read_weights(saved_by_torch(checkpoint, tmp_path / "checkpoint.pth")))


class RunsCode:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


@pytest.mark.bad_input
@pytest.mark.parametrize("form", ["torch", "pickle"])
def test_a_pickle_with_code_is_refused_and_the_code_not_run(tmp_path, form):
    file, content = tmp_path / "weights.pt", {"fc.bias": RunsCode(tmp_path / "mark")}
    if form == "torch":
        torch.save(content, file)
    else:
        file.write_bytes(pickle.dumps(content))
    with pytest.raises(InputError, match=r"`weights` must hold only tensors, .*could run code and is not opened"):
        read_weights(file)
    assert not (tmp_path / "mark").exists()
    with pytest.raises(InputError, match="`weights` must hold only tensors"):
        read_weights(saved_by_torch(nn.Linear(2, 1), tmp_path / "model.pt"))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("content", "holds"),
    [({}, "a dict"), ({"epoch": 3, "lr": 0.1}, "only 'epoch', 'lr'"), (torch.zeros(2), "a Tensor")],
)
def test_a_file_without_named_tensors_is_refused(tmp_path, content, holds):
    with pytest.raises(InputError, match=f"must hold tensors by name, .*weights.pt' holds {holds}"):
        read_weights(saved_by_torch(content, tmp_path / "weights.pt"))


@pytest.mark.bad_input
def test_a_file_cut_short_is_refused(tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    save_file(WEIGHTS, whole)
    cut.write_bytes(whole.read_bytes()[:-4])
    with pytest.raises(InputError, match=r"must be a whole safetensors file, .*cut' is damaged"):
        read_weights(cut)
    torch.save(WEIGHTS, whole)
    cut.write_bytes(whole.read_bytes()[:200])
    with pytest.raises(InputError, match=r"must be a safetensors or torch\.save file, .*cut' is neither"):
        read_weights(cut)


@pytest.mark.bad_input
@pytest.mark.parametrize("content", [b"", b"accuracy,epoch\n0.5,1\n", bytes(range(200))])
def test_what_is_no_weight_file_is_refused(tmp_path, content):
    file = tmp_path / "notes.csv"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"`weights` must (hold only tensors|be a safetensors or torch\.save file)"):
        read_weights(file)


@pytest.mark.bad_input
def test_a_path_that_is_no_file_is_refused(tmp_path):
    with pytest.raises(InputError, match=f"`weights` must be a file, '{re.escape(str(tmp_path))}' is a folder"):
        read_weights(tmp_path)
    with pytest.raises(InputError, match=r"`weights` must be a file, '.*gone' is not there"):
        read_weights(tmp_path / "gone")


def drawn(seed, part):
    with seeded(seed, part):
        return torch.rand(4)


def test_a_seed_and_a_part_decide_the_numbers():
    assert drawn(1, "head").equal(drawn(1, "head"))
    assert not drawn(1, "head").equal(drawn(2, "head"))
    assert not drawn(1, "head").equal(drawn(1, "backbone"))
    with pytest.raises(InputError, match="`seed` must be an integer >= 0, got -1"):
        drawn(-1, "head")


def test_without_a_seed_the_global_numbers_are_used_which_a_seed_leaves_alone():
    torch.manual_seed(5)
    expected = torch.rand(4)
    torch.manual_seed(5)
    drawn(0, "head")
    assert drawn(None, "head").equal(expected)


def test_every_layer_is_drawn_anew():
    layers = nn.Sequential(nn.Linear(3, 2), nn.Sequential(nn.ReLU(), nn.Linear(2, 2)))
    before = [parameter.clone() for parameter in layers.parameters()]
    reset_weights(layers)
    assert not any(old.equal(new) for old, new in zip(before, layers.parameters(), strict=True))
