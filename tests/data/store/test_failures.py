import errno
import os
from pathlib import Path

import pytest

from onepeak.data.decode import UnreadablePictureError, decode_picture
from onepeak.data.store.failures import BadPicture, UnreadablePicturesError, described, write_failed


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_no_room_is_said_with_the_place_and_the_fix(number):
    message = str(write_failed(OSError(number, os.strerror(number)), Path("/cache")))
    assert message.startswith(f"No room for the image store in /cache ({os.strerror(number)})")
    assert "give another `cache_dir`" in message


def test_any_other_failure_keeps_its_own_words():
    message = str(write_failed(OSError(errno.EROFS, "Read-only file system"), Path("/cache")))
    assert message == (
        "The image store could not be written in /cache: [Errno 30] Read-only file system. Give another `cache_dir`."
    )


def test_every_bad_picture_is_listed_however_many_there_are():
    bad = [BadPicture(number, f"{number}.png", "empty") for number in range(1000)]
    lines = described(bad, 2000).splitlines()
    assert lines[0] == "1000 of 2000 pictures cannot be read:"
    assert lines[1:] == [f"  {number}.png: empty" for number in range(1000)]


def test_where_bits_were_wrong_for_all_the_pictures_are_not_to_be_repaired():
    bad = [BadPicture(0, "a.png", "a value of 5,000 is more than `bits` 12 allows, which is 4,095")]
    assert str(UnreadablePicturesError(bad, 1)).endswith("Then give another number of `bits`, or none.")
    assert "Repair or remove them" in str(UnreadablePicturesError([*bad, BadPicture(1, "b.png", "empty")], 2))


def test_16_bit_colours_are_not_said_to_hold_more_bits(tmp_path):
    file = tmp_path / "a.ppm"
    file.write_bytes(b"P6 1 1 65535\n" + bytes(6))
    with pytest.raises(UnreadablePictureError) as refused:
        decode_picture(file.read_bytes(), bits=12)
    told = str(UnreadablePicturesError([BadPicture(0, "a.ppm", str(refused.value))], 1))
    assert "save it with 8 bits, 4,095 as 255" in told
    assert "another number of `bits`" not in told
