import pickle
import re
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from experiment.tiny import tiny
from onepeak.data.store.transfer import pieces_of
from onepeak.errors import InputError
from onepeak.experiment.shipment import pack
from onepeak.training.run import versions


@pytest.fixture
def opened(tmp_path):
    return tiny(tmp_path / "cache", num_splits=1)


@pytest.fixture(autouse=True)
def _cache_there(tmp_path, monkeypatch):
    monkeypatch.setenv("ONEPEAK_CACHE", str(tmp_path / "there"))


def sent(opened):
    """As it is on another machine, where nothing can be written to in place."""
    return pickle.loads(pickle.dumps(pack(opened)))


def test_where_the_pictures_are_seen_they_are_not_sent(opened, tmp_path):
    assert opened.prepared.store.num_bytes > len(sent(opened).opened) / 4  # the pixels are in the manifest only
    arrived = sent(opened).unpack(tmp_path, pieces=None)
    assert arrived.prepared.store.folder == opened.prepared.store.folder
    assert arrived.digest == opened.digest
    assert arrived.experiment == opened.experiment
    assert arrived.settings(opened.experiment.methods[0]) == opened.settings(opened.experiment.methods[0])
    assert arrived.prepared.manifest.labels.flags.writeable


def test_where_they_are_not_seen_they_are_asked_for_once_and_kept(opened, tmp_path):
    opened.prepared.store.folder.rename(tmp_path / "hidden")
    shipment = sent(opened)
    assert shipment.unpack(tmp_path, pieces=None) is None
    arrived = shipment.unpack(tmp_path, pieces=lambda: pieces_of(opened.prepared.store))
    assert torch.equal(arrived.prepared.store.pixels, opened.prepared.store.pixels)
    assert arrived.prepared.store.folder.parent == tmp_path / "there"
    again = shipment.unpack(tmp_path, pieces=None)
    assert again.prepared.store.folder == arrived.prepared.store.folder


def test_weights_travel_by_their_content_and_keep_their_name(opened, tmp_path):
    file = tmp_path / "first.safetensors"
    file.write_bytes(b"content")
    shipment = sent(replace(opened, experiment=replace(opened.experiment, weights=str(file))))
    file.write_bytes(b"changed since")
    folder = tmp_path / "node"
    folder.mkdir()
    weights = shipment.unpack(folder, pieces=None).experiment.weights_file
    assert (weights, weights.read_bytes()) == (folder / "first.safetensors", b"content")
    assert sent(opened).unpack(folder, pieces=None).experiment.weights_file is None


@pytest.mark.bad_input
def test_other_versions_are_refused_and_named(opened, tmp_path):
    shipment = replace(sent(opened), versions=versions() | {"torch": "1.0", "mystery": "2.0"})
    with pytest.raises(InputError, match=r"torch .* where 1\.0 is needed, mystery is missing where 2\.0 is needed"):
        shipment.unpack(tmp_path, pieces=None)


def test_builds_of_one_version_are_alike(opened, tmp_path):
    shipment = sent(opened)
    builds = {name: f"{version.partition('+')[0]}+cu999" for name, version in shipment.versions.items()}
    assert replace(shipment, versions=builds).unpack(Path(tmp_path), pieces=None) is not None


@pytest.mark.bad_input
def test_every_machine_must_have_the_same_file_of_the_users_own_backbone(opened, tmp_path, monkeypatch):
    nets = tmp_path / "nets_to_send.py"
    monkeypatch.syspath_prepend(str(tmp_path))
    nets.write_text("def maps():\n    from torch.nn import Identity\n\n    return Identity()\n")
    shipment = sent(replace(opened, network=replace(opened.network, backbone="nets_to_send:maps")))
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
