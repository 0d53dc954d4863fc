import pickle
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from onepeak.errors import InputError
from onepeak.networks.weight_file import read_weights

WEIGHTS = {"fc.weight": torch.arange(6.0).reshape(2, 3), "fc.bias": torch.ones(2)}


def saved_by_torch(content, path, **options):
    torch.save(content, path, **options)
    return path


def assert_same(found):
    assert found.keys() == WEIGHTS.keys()
    assert all(found[key].equal(value) for key, value in WEIGHTS.items())


def test_safetensors_are_read_whatever_the_file_is_called(tmp_path):
    for name in ("weights.safetensors", "weights.bin"):
        save_file(WEIGHTS, tmp_path / name)
        assert_same(read_weights(tmp_path / name))


@pytest.mark.parametrize("zipped", [True, False])
def test_files_of_torch_are_read_in_the_new_form_and_the_old(tmp_path, zipped):
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


@pytest.mark.bad_input
def test_a_whole_module_is_refused(tmp_path):
    with pytest.raises(InputError, match="`weights` must hold only tensors"):
        read_weights(saved_by_torch(nn.Linear(2, 1), tmp_path / "model.pt"))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("content", "holds"),
    [({}, "nothing"), ({"epoch": 3, "lr": 0.1}, "only 'epoch', 'lr'"), (torch.zeros(2), "a Tensor")],
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
