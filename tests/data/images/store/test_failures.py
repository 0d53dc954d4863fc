import errno
import os
from pathlib import Path

import pytest

from onepeak.data.images.store.failures import BadImage, described, write_failed


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


def test_every_bad_image_is_listed_however_many_there_are():
    bad = [BadImage(number, f"{number}.png", "empty") for number in range(1000)]
    lines = described(bad, 2000).splitlines()
    assert lines[0] == "1000 of 2000 images cannot be read:"
    assert lines[1:] == [f"  {number}.png: empty" for number in range(1000)]
