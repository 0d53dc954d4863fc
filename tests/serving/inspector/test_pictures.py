import io

import numpy as np
from PIL import Image

from onepeak.data.manifest import ImageArrays, ImageFiles, Manifest
from onepeak.report.source import Source
from onepeak.serving.inspector.pictures import LARGE_SIDE, Pictures


def source(items):
    return Source(
        manifest=Manifest(name="mine", items=items, labels=np.zeros(len(items), dtype=np.int64), classes=("a", "b"))
    )


def size(content):
    return Image.open(io.BytesIO(content)).size


def test_small_pictures_are_small_and_large_ones_bounded():
    pictures = Pictures(source(ImageArrays(pixels=np.zeros((1, 600, 2000, 3), dtype=np.uint8))))
    assert size(pictures.thumbnail(0)) == (160, 48)
    assert size(pictures.large(0)) == (LARGE_SIDE, 307)


def test_a_thumbnail_is_made_once(tmp_path):
    path = tmp_path / "a.png"
    Image.new("RGB", (20, 10), "red").save(path)
    pictures = Pictures(source(ImageFiles(root=tmp_path, paths=("a.png",))))
    first = pictures.thumbnail(0)
    path.unlink()
    assert pictures.thumbnail(0) == first
    assert pictures.large(0) is None


def test_a_picture_that_has_gone_is_empty(tmp_path):
    pictures = Pictures(source(ImageFiles(root=tmp_path, paths=("gone.png",))))
    assert pictures.thumbnail(0) == b""
