"""What a node does, in this process; `test_ray_cluster.py` has it done by real nodes."""

import json
import os
import pickle
import re
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

import onepeak
from experiment.tiny import tiny
from onepeak._core.files import NotWrittenError
from onepeak.data import DataSource
from onepeak.data.images.store.build import pieces_of
from onepeak.errors import InputError
from onepeak.experiment.compare import train_task
from onepeak.experiment.events import EpochDone, Failed, Finished, Started
from onepeak.experiment.executors.ray import (
    Fleet,
    Mailbox,
    pack,
    read_run_files,
    scratch_folder,
    train_on_node,
    write_run_files,
)
from onepeak.experiment.plan import Experiment, MethodEntry, grid
from onepeak.experiment.prepared import open_experiment
from onepeak.training.run import versions
from tiny_encoder import write_encoder, write_reviews
from training.killing import KILLED, run_in_child

RUN = "runs/ce/split0-fold0"


@pytest.fixture
def on_node(tmp_path, monkeypatch):
    """Trains the first run of an experiment as a node does; gives its answer and what the mailbox got."""
    (tmp_path / "node").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "node"))
    monkeypatch.setenv("ONEPEAK_CACHE", str(tmp_path / "there"))

    def train(prepared_experiment, pieces=None):
        mailbox = Mailbox()
        actor = SimpleNamespace(post=SimpleNamespace(remote=mailbox.post))
        run = grid(prepared_experiment.experiment.methods, prepared_experiment.splits)[0]
        answer = train_on_node(run, pack(prepared_experiment), pieces, actor, device="cpu", threads=1)
        return answer, [pickle.loads(message) for message in mailbox.take()]

    return train


def test_the_answer_holds_the_files_of_the_run_and_the_node_keeps_none(on_node, tmp_path, fabric):
    prepared_experiment = tiny(tmp_path / "cache", "ce", num_splits=1, epochs=2)
    answer, events = on_node(prepared_experiment)
    assert isinstance(answer.outcome, Finished)
    assert [type(event) for event in events] == [Started, EpochDone, EpochDone]
    train_task(events[0].run, prepared_experiment, tmp_path / "home", fabric=fabric, report=events.append)
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


def test_a_node_that_slurm_started_still_trains_alone(on_node, tmp_path, monkeypatch):
    for name in ("SLURM_PROCID", "SLURM_NTASKS", "WORLD_SIZE", "LOCAL_WORLD_SIZE"):
        monkeypatch.setenv(name, "4")
    answer, _ = on_node(tiny(tmp_path / "cache", "ce", num_splits=1, epochs=1))
    assert isinstance(answer.outcome, Finished)
    assert not [name for name in os.environ if name.startswith("SLURM_")]


def test_a_node_needs_no_encoder_of_texts_and_the_model_at_home_has_it(on_node, tmp_path):
    pytest.importorskip("transformers")
    plan = Experiment(
        name="texts",
        source=DataSource(write_reviews(tmp_path / "reviews.csv"), text="review", label="stars"),
        methods=(MethodEntry(name="ce"),),
        recipe={"epochs": 1},
        splits=1,
        folds=1,
        network={"backbone": str(write_encoder(tmp_path / "encoder"))},
    )
    prepared_experiment = open_experiment(plan, cache=tmp_path / "cache", quiet=True)
    (tmp_path / "encoder").rename(tmp_path / "elsewhere")
    answer, _ = on_node(prepared_experiment)
    assert isinstance(answer.outcome, Finished)
    (tmp_path / "elsewhere").rename(tmp_path / "encoder")
    ray = SimpleNamespace(get=lambda _: answer, exceptions=SimpleNamespace(RayTaskError=(), RayError=()))
    at_home = SimpleNamespace(ray=ray, folder=tmp_path / "home", prepared_experiment=prepared_experiment)
    assert Fleet.end_of(at_home, None, answer.outcome.run) == answer.outcome
    (tmp_path / "encoder").rename(tmp_path / "elsewhere")
    assert onepeak.load(tmp_path / "home" / RUN).predict({"review": ["bad film"]}).predicted_index.shape == (1,)


FILES = {"history.csv": b"epoch\n0\n", "model.safetensors": bytes(range(256)), "result.json": b"{}"}


def test_what_a_run_leaves_is_taken_along_and_what_served_its_training_is_not(tmp_path):
    node, home = tmp_path / "node", tmp_path / "home"
    node.mkdir()
    for name in (*FILES, "checkpoint.pt", ".claim", ".result.json.7.part"):
        (node / name).write_bytes(FILES.get(name, b"x"))
    assert read_run_files(node) == FILES
    home.mkdir()
    (home / "checkpoint.pt").touch()
    write_run_files({"error.json": b"{}"}, home)
    assert {path.name for path in home.iterdir()} == {"checkpoint.pt", "error.json"}
    write_run_files(FILES, home)  # with a result, the checkpoint of an earlier start goes
    assert {path.name: path.read_bytes() for path in home.iterdir()} == FILES | {"error.json": b"{}"}


def test_there_is_no_result_before_all_else_is_there(tmp_path):
    (tmp_path / "zz.csv").mkdir()  # so that the last file by name cannot be written
    with pytest.raises(NotWrittenError, match=r"zz\.csv could not be written"):
        write_run_files(FILES | {"zz.csv": b""}, tmp_path)
    assert not (tmp_path / "result.json").exists()


def test_a_folder_is_there_while_it_is_worked_in_and_gone_afterwards_and_after_an_error(tmp_path):
    with suppress(KeyboardInterrupt), scratch_folder(tmp_path) as one, scratch_folder(tmp_path) as other:
        assert one != other
        (one / "checkpoint.pt").write_text("large")
        assert sorted(path for path in tmp_path.iterdir() if path.is_dir()) == sorted([one, other])
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_goes_with_the_next_and_nothing_else(tmp_path):
    (tmp_path / "mine").mkdir()

    def work():
        with scratch_folder(tmp_path) as folder:
            (folder / "checkpoint.pt").write_text("large")
            os.kill(os.getpid(), signal.SIGKILL)

    assert run_in_child(work) == KILLED
    (left,) = [path for path in tmp_path.iterdir() if path.is_dir() and path.name != "mine"]
    assert (left / "checkpoint.pt").exists()
    with scratch_folder(tmp_path) as folder:
        assert {path for path in tmp_path.iterdir() if path.is_dir()} == {tmp_path / "mine", folder}
    assert list(tmp_path.iterdir()) == [tmp_path / "mine"]


@pytest.fixture
def prepared_experiment(tmp_path):
    return tiny(tmp_path / "cache", num_splits=1)


@pytest.fixture(autouse=True)
def _cache_there(tmp_path, monkeypatch):
    monkeypatch.setenv("ONEPEAK_CACHE", str(tmp_path / "there"))


def sent(prepared_experiment):
    """As it is on another machine, where nothing can be written to in place."""
    return pickle.loads(pickle.dumps(pack(prepared_experiment)))


def test_where_the_images_are_seen_they_are_not_sent(prepared_experiment, tmp_path):
    assert (
        prepared_experiment.prepared.store.num_bytes > len(sent(prepared_experiment).prepared_experiment) / 4
    )  # the pixels are in the manifest only
    arrived = sent(prepared_experiment).unpack(tmp_path, pieces=None)
    assert arrived.prepared.store.folder == prepared_experiment.prepared.store.folder
    assert arrived.digest == prepared_experiment.digest
    assert arrived.experiment == prepared_experiment.experiment
    assert arrived.settings(prepared_experiment.experiment.methods[0]) == prepared_experiment.settings(
        prepared_experiment.experiment.methods[0]
    )
    assert arrived.prepared.manifest.labels.flags.writeable


def test_where_they_are_not_seen_they_are_asked_for_once_and_kept(prepared_experiment, tmp_path):
    prepared_experiment.prepared.store.folder.rename(tmp_path / "hidden")
    shipment = sent(prepared_experiment)
    assert shipment.unpack(tmp_path, pieces=None) is None
    arrived = shipment.unpack(tmp_path, pieces=lambda: pieces_of(prepared_experiment.prepared.store))
    assert torch.equal(arrived.prepared.store.pixels, prepared_experiment.prepared.store.pixels)
    assert arrived.prepared.store.folder.parent == tmp_path / "there"
    again = shipment.unpack(tmp_path, pieces=None)
    assert again.prepared.store.folder == arrived.prepared.store.folder


def test_weights_travel_by_their_content_and_keep_their_name(prepared_experiment, tmp_path):
    file = tmp_path / "first.safetensors"
    file.write_bytes(b"content")
    shipment = sent(replace(prepared_experiment, experiment=replace(prepared_experiment.experiment, weights=str(file))))
    file.write_bytes(b"changed since")
    folder = tmp_path / "node"
    folder.mkdir()
    weights = shipment.unpack(folder, pieces=None).experiment.weights_file
    assert (weights, weights.read_bytes()) == (folder / "first.safetensors", b"content")
    assert sent(prepared_experiment).unpack(folder, pieces=None).experiment.weights_file is None


@pytest.mark.bad_input
def test_other_versions_are_refused_and_named(prepared_experiment, tmp_path):
    shipment = replace(sent(prepared_experiment), versions=versions() | {"torch": "1.0", "mystery": "2.0"})
    with pytest.raises(InputError, match=r"torch .* where 1\.0 is needed, mystery is missing where 2\.0 is needed"):
        shipment.unpack(tmp_path, pieces=None)
    builds = {name: f"{version.partition('+')[0]}+cu999" for name, version in versions().items()}  # builds are alike
    assert replace(shipment, versions=builds).unpack(tmp_path, pieces=None) is not None


@pytest.mark.bad_input
def test_every_machine_must_have_the_same_file_of_the_users_own_backbone(prepared_experiment, tmp_path, monkeypatch):
    nets = tmp_path / "nets_to_send.py"
    monkeypatch.syspath_prepend(str(tmp_path))
    nets.write_text("def maps():\n    from torch.nn import Identity\n\n    return Identity()\n")
    shipment = sent(
        replace(prepared_experiment, network=replace(prepared_experiment.network, backbone="nets_to_send:maps"))
    )
    assert shipment.unpack(tmp_path, pieces=None).network.backbone == "nets_to_send:maps"
    here = re.escape(socket.gethostname())
    nets.write_text(nets.read_text() + "# changed\n")
    with pytest.raises(
        InputError, match=f"the same source file for the backbone nets_to_send:maps, but {here} has another"
    ):
        shipment.unpack(tmp_path, pieces=None)
    monkeypatch.delitem(sys.modules, "nets_to_send")
    nets.unlink()
    with pytest.raises(InputError, match=f"On {here}: `backbone` must name a module that can be imported"):
        shipment.unpack(tmp_path, pieces=None)
