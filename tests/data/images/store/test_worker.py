import zlib
from hashlib import blake2b

import pytest

from onepeak.data.images.resize import Resize
from onepeak.data.images.store.worker import DecodedImage, ImageFile, write_part


def source(path):
    status = path.stat()
    return ImageFile(str(path), status.st_size, status.st_mtime_ns)


@pytest.fixture
def decode(tmp_path):
    """Gives the answers for some sources, and what was written."""

    def run(sources, resize=None):
        with (tmp_path / "part").open("wb") as part:
            answers = list(write_part(part, sources, resize or Resize()))
        return answers, (tmp_path / "part").read_bytes()

    return run


def test_one_answer_a_image_and_only_the_good_ones_in_the_part(images, decode):
    items, pixels = images((4, 6), (5, 5), (2, 2))
    paths = [items.root / path for path in items.paths]
    sources = [source(path) for path in paths]
    paths[1].write_bytes(b"no image")
    sources[1] = source(paths[1])
    answers, part = decode(sources)
    assert [answer.outcome for answer in answers] == ["kept", "bad", "kept"]
    assert part == pixels[0].tobytes() + pixels[2].tobytes()
    digest = blake2b(paths[0].read_bytes(), digest_size=16).hexdigest()
    assert answers[0] == DecodedImage("kept", "", 4, 6, digest, zlib.crc32(pixels[0].tobytes()))


def test_a_file_that_is_not_the_one_that_was_asked_for_is_not_read(images, decode):
    items, _ = images((4, 6))
    asked = source(items.root / "0.png")
    for other in (asked._replace(num_bytes=1), asked._replace(changed_ns=1)):
        assert decode([other]) == ([DecodedImage("changed")], b"")


def test_the_recipe_is_obeyed(images, decode):
    items, _ = images((4, 6))
    ((kept,), _) = decode([source(items.root / "0.png")], Resize(short_side=8, only_enlarge=True, scale=0.5))
    assert (kept.height, kept.width) == (4, 6)
