from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from onepeak.data.manifest import ImageFiles
from onepeak.data.resize import Resize
from onepeak.errors import InputError
from onepeak.training.feed import PictureFeed, RowFeed
from onepeak.training.prepare import prepare
from picture_files import write_pictures
from training.planted import RECIPE, planted_pictures, planted_table, split_of


def test_a_table_is_encoded_by_its_training_part_alone():
    manifest, split = planted_table(50), split_of(50)
    feed, encoder = prepare(manifest, RECIPE).feed(split, RECIPE, torch.device("cpu"))
    assert isinstance(feed, RowFeed)
    assert encoder is not None
    train = feed.rows[torch.tensor(split.train)].numpy()
    np.testing.assert_allclose(train.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(train.std(axis=0), 1, rtol=1e-4)
    values = manifest.items.values.copy()
    values[split.test] += 100  # what is tested on teaches nothing
    other = replace(manifest, items=replace(manifest.items, values=values))
    assert prepare(other, RECIPE).feed(split, RECIPE, torch.device("cpu"))[1] == encoder


def test_pictures_are_resized_and_fed_from_a_store():
    prepared = prepare(planted_pictures(20), replace(RECIPE, resize=Resize(scale=0.5)), quiet=True)
    feed, encoder = prepared.feed(split_of(20), RECIPE, torch.device("cpu"))
    assert isinstance(feed, PictureFeed)
    assert encoder is None
    assert prepared.store is not None
    assert (prepared.store.sizes == 8).all()
    assert len(prepared.digests) == 20
    assert prepared.notes == ()


def test_a_network_is_proposed_that_suits_the_data():
    table = prepare(planted_table(10), RECIPE).suits()
    assert (table.backbone, table.num_features) == ("mlp", 6)
    assert prepare(planted_pictures(4, size=96), RECIPE, quiet=True).suits().backbone == "small"
    assert prepare(planted_pictures(4, size=97), RECIPE, quiet=True).suits().backbone == "resnet18"


def test_bad_pictures_are_left_out_with_their_labels_where_that_is_allowed(tmp_path):
    items, _ = write_pictures(tmp_path / "pictures", [(8, 8)] * 6)
    (items.root / "4.png").write_bytes(b"")
    manifest = replace(planted_pictures(6), items=items)
    prepared = prepare(manifest, RECIPE, cache_dir=tmp_path / "cache", skip_bad=True, quiet=True)
    assert prepared.notes == ("left out 1 image that cannot be read: 4.png: the file is empty (0 bytes)",)
    assert prepared.manifest.items.paths == ("0.png", "1.png", "2.png", "3.png", "5.png")
    assert prepared.manifest.labels.tolist() == [0, 1, 2, 3, 1]
    assert len(prepared.digests) == 5
    grouped = replace(manifest, groups=tuple("aabbcc"), group_column="patient", num_left_out=2)
    again = prepare(grouped, RECIPE, cache_dir=tmp_path / "cache", skip_bad=True, quiet=True)
    assert again.counts == {"items": 5, "groups": 3, "group_column": "patient", "left_out": 3}


@pytest.mark.bad_input
def test_bad_pictures_that_are_all_of_a_class_are_not_left_out(tmp_path):
    items, _ = write_pictures(tmp_path / "pictures", [(8, 8)] * 6)
    for name in ("2.png", "3.png"):
        (items.root / name).write_bytes(b"")
    manifest = replace(planted_pictures(6), items=items)
    flags = {"cache_dir": tmp_path / "cache", "skip_bad": True, "quiet": True}
    message = (
        r"^Every class must keep an item, none is left of 'good', 'high': left out 2 images that cannot be read: "
        r"2\.png: .*, 3\.png: .* bytes\)\. Correct or delete them\.$"
    )
    with pytest.raises(InputError, match=message):
        prepare(manifest, RECIPE, **flags)
    assert len(prepare(manifest, RECIPE, keep_classes=False, **flags).manifest) == 4


def test_pictures_that_are_nearly_black_are_told_of(tmp_path):
    names = tuple(f"{number}.png" for number in range(4))
    for name in names:
        Image.fromarray(np.full((8, 8), 4000, np.uint16)).save(tmp_path / name)
    manifest = replace(planted_pictures(4), items=ImageFiles(root=tmp_path, paths=names))
    (note,) = prepare(manifest, RECIPE, cache_dir=tmp_path / "cache", quiet=True).notes
    assert "no value above 4,000 of 65,535" in note
    prepared = prepare(manifest, replace(RECIPE, bits=12), cache_dir=tmp_path / "cache", quiet=True)
    assert prepared.notes == ()
    assert (prepared.store[0] == 249).all()  # 4000 / 4095 of 255
