"""What a node does, in this process; `test_ray_cluster.py` has it done by real nodes."""

import json
import os
import pickle
from types import SimpleNamespace

import pytest

from experiment.tiny import tiny
from onepeak._one_step import NotWrittenError
from onepeak.experiment.entries import MethodEntry
from onepeak.experiment.events import EpochDone, Failed, Finished, Started
from onepeak.experiment.grid import grid
from onepeak.experiment.mailbox import Mailbox
from onepeak.experiment.ray_task import read_run_files, train_on_node, write_run_files
from onepeak.experiment.shipment import pack
from onepeak.experiment.task import train_task

RUN = "runs/ce/split0-fold0"


@pytest.fixture
def on_node(tmp_path, monkeypatch):
    """Trains the first run of an experiment as a node does; gives its answer and what the mailbox got."""
    (tmp_path / "node").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "node"))
    monkeypatch.setenv("ONEPEAK_CACHE", str(tmp_path / "there"))

    def train(opened, pieces=None):
        mailbox = Mailbox()
        actor = SimpleNamespace(post=SimpleNamespace(remote=mailbox.post))
        run = grid(opened.experiment.methods, opened.splits)[0]
        answer = train_on_node(run, pack(opened), pieces, actor, device="cpu", threads=1)
        return answer, [pickle.loads(message) for message in mailbox.take()]

    return train


def test_the_answer_holds_the_files_of_the_run_and_the_node_keeps_none(on_node, tmp_path, fabric):
    opened = tiny(tmp_path / "cache", "ce", num_splits=1, epochs=2)
    answer, events = on_node(opened)
    assert isinstance(answer.outcome, Finished)
    assert [type(event) for event in events] == [Started, EpochDone, EpochDone]
    train_task(events[0].run, opened, tmp_path / "home", fabric=fabric, report=events.append)
    here = {path.name: path for path in (tmp_path / "home" / RUN).iterdir() if not path.name.startswith(".")}
    assert answer.files.keys() == here.keys()
    for name in ("model.safetensors", "predictions.parquet"):
        assert answer.files[name] == here[name].read_bytes()
    assert list((tmp_path / "node").iterdir()) == []


def test_a_run_that_fails_answers_with_its_error(on_node, tmp_path):
    wild = MethodEntry(name="ce", recipe={"lr": 1e30}, label="wild")
    answer, _ = on_node(tiny(tmp_path / "cache", wild, num_splits=1, epochs=1))
    assert isinstance(answer.outcome, Failed)
    assert json.loads(answer.files["error.json"])["message"] == answer.outcome.message
    assert "result.json" not in answer.files


def test_without_the_pictures_it_asks_for_them(on_node, tmp_path):
    opened = tiny(tmp_path / "cache", "ce", num_splits=1, epochs=1)
    opened.prepared.store.folder.rename(tmp_path / "hidden")
    assert on_node(opened) == (None, [])


def test_a_node_that_slurm_started_still_trains_alone(on_node, tmp_path, monkeypatch):
    for name in ("SLURM_PROCID", "SLURM_NTASKS", "WORLD_SIZE", "LOCAL_WORLD_SIZE"):
        monkeypatch.setenv(name, "4")
    answer, _ = on_node(tiny(tmp_path / "cache", "ce", num_splits=1, epochs=1))
    assert isinstance(answer.outcome, Finished)
    assert not [name for name in os.environ if name.startswith("SLURM_")]


FILES = {"history.csv": b"epoch\n0\n", "model.safetensors": bytes(range(256)), "result.json": b"{}"}


def test_what_a_run_leaves_is_taken_along_and_what_served_its_training_is_not(tmp_path):
    for name in (*FILES, "checkpoint.pt", ".claim", ".result.json.7.part"):
        (tmp_path / name).write_bytes(FILES.get(name, b"x"))
    assert read_run_files(tmp_path) == FILES


def test_at_home_the_bytes_are_the_same_and_a_checkpoint_of_an_earlier_start_is_gone(tmp_path):
    (tmp_path / "checkpoint.pt").touch()
    write_run_files(FILES, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == FILES


def test_a_run_without_a_result_keeps_the_checkpoint_that_is_there(tmp_path):
    (tmp_path / "checkpoint.pt").touch()
    write_run_files({"error.json": b"{}"}, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"checkpoint.pt", "error.json"}


def test_there_is_no_result_before_all_else_is_there(tmp_path):
    (tmp_path / "zz.csv").mkdir()  # so that the last file by name cannot be written
    with pytest.raises(NotWrittenError, match=r"zz\.csv could not be written"):
        write_run_files(FILES | {"zz.csv": b""}, tmp_path)
    assert not (tmp_path / "result.json").exists()
