import json
import pickle
import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from forked import output_of
from onepeak.errors import InputError
from onepeak.training.checkpoint import CheckpointError, epochs_done, load_checkpoint, save_checkpoint
from training.write_and_be_killed import made_checkpoint


def test_what_was_saved_is_loaded(tmp_path):
    path = tmp_path / "checkpoint.pt"
    assert load_checkpoint(path, fingerprint={"run": "mine"}) is None
    saved = made_checkpoint(3)
    save_checkpoint(saved, path)
    found = load_checkpoint(path, fingerprint={"run": "mine"})
    assert found is not None
    assert torch.equal(found.network.pop("weight"), saved.network.pop("weight"))
    assert torch.equal(found.best.pop("weight"), saved.best.pop("weight"))
    assert repr(found) == repr(saved)
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint.pt"]


def test_a_writer_that_is_killed_or_finds_a_full_disk_leaves_a_whole_checkpoint(tmp_path):
    told = json.loads(output_of(Path(__file__).with_name("write_and_be_killed.py"), tmp_path, 8))
    assert [each["status"] for each in told["kills"]] == [-9] * 8
    assert all(each["whole"] for each in told["kills"])
    epochs = [each["epoch"] for each in told["kills"]]
    assert epochs == sorted(epochs)  # nothing that was there is ever lost
    assert epochs[-1] > 2  # on a busy machine too, it had written before it was killed
    assert "could not be written" in told["message"]
    assert "its previous content is kept" in told["message"]
    found = load_checkpoint(tmp_path / "full" / "checkpoint.pt", fingerprint={"run": "mine"})
    assert found is not None
    assert found.epoch == 1
    assert [file.name for file in (tmp_path / "full").iterdir()] == ["checkpoint.pt"]


def damaged(whole):
    """Many ways for a file to be no checkpoint."""
    chance = random.Random(0)
    yield from (b"", b"\n", b"not a checkpoint at all", bytes(1000), b"PK\x03\x04")
    yield from (whole[: len(whole) * part // 20] for part in range(1, 20))
    yield from (whole[:start] + chance.randbytes(200) + whole[start + 200 :] for start in (0, 100, 200))
    yield whole[:-200] + chance.randbytes(200)
    yield from (chance.randbytes(chance.randrange(1, 300)) for _ in range(100))
    yield from (pickle.dumps(value) for value in (3, [1], {"epoch": 1}, "text", None))


@pytest.mark.bad_input
def test_a_damaged_checkpoint_is_an_error_that_says_what_to_do(tmp_path):
    path = tmp_path / "checkpoint.pt"
    save_checkpoint(made_checkpoint(1), path)
    for content in damaged(path.read_bytes()):
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match=r"checkpoint\.pt cannot be read .*: delete it to start again"):
            load_checkpoint(path, fingerprint={"run": "mine"})


@pytest.mark.bad_input
def test_every_difference_is_named_and_of_content_only_that_it_differs(tmp_path):
    path = tmp_path / "checkpoint.pt"
    before = {"method": "'elb'", "recipe.lr": "0.1", "data": "hash:1", "split": "hash:1", "old": "1", "weights": "None"}
    save_checkpoint(replace(made_checkpoint(1), fingerprint=before), path)
    now = {"method": "'elb'", "recipe.lr": "0.5", "data": "hash:2", "split": "hash:1", "new": "2", "weights": "hash:3"}
    message = (
        r"other settings \(recipe\.lr was 0\.1, is now 0\.5; other data; old was 1, is now unknown; other weights; "
        r"new was unknown, is now 2\): give the same settings"
    )
    with pytest.raises(InputError, match=message):
        load_checkpoint(path, fingerprint=now)


def test_a_setting_that_an_older_version_did_not_have_and_that_is_not_used_changes_nothing(tmp_path):
    path = tmp_path / "checkpoint.pt"
    save_checkpoint(replace(made_checkpoint(1), fingerprint={"run": "mine", "old": "None"}), path)
    assert load_checkpoint(path, fingerprint={"run": "mine", "recipe.new": "None"}) is not None


def test_how_far_a_run_came_is_read_without_its_settings(tmp_path):
    path = tmp_path / "checkpoint.pt"
    assert epochs_done(path) == 0
    save_checkpoint(made_checkpoint(3), path)
    assert epochs_done(path) == 3
    path.write_bytes(b"not a checkpoint")
    with pytest.raises(CheckpointError, match="delete it to start again"):
        epochs_done(path)


class Bomb:
    """Runs something when it is unpickled without care."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.bad_input
@pytest.mark.parametrize("protocol", [2, 4])
def test_code_in_a_checkpoint_is_refused_and_does_not_run(tmp_path, protocol):
    path, mark = tmp_path / "checkpoint.pt", tmp_path / "it-ran"
    torch.save({"epoch": Bomb(mark)}, path, pickle_protocol=protocol)
    with pytest.raises(CheckpointError, match=r"cannot be read \(UnpicklingError\)"):
        load_checkpoint(path, fingerprint={"run": "mine"})
    assert not mark.exists()
    torch.load(path, weights_only=False)
    assert mark.exists()  # without care it would have run
