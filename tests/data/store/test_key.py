from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from onepeak.data.manifest import ImageArrays, ImageFiles
from onepeak.data.resize import Resize
from onepeak.data.store.key import FileState, arrays_key, file_states, files_key

FILES = ImageFiles(root=Path("/data"), paths=("a.png", "b.png"))
STATES = [FileState(10, 1), FileState(20, 2)]
names = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), min_size=1, max_size=3)


def key(items=FILES, states=STATES, resize=Resize(), bits=None):  # noqa: B008 (a frozen record)
    return files_key(items, states, resize, bits)


def test_everything_that_changes_the_pixels_changes_the_key():
    others = [
        key(replace(FILES, root=Path("/other"))),
        key(replace(FILES, paths=("a.png", "c.png"))),
        key(FILES.take([1, 0]), STATES[::-1]),
        key(states=[FileState(11, 1), STATES[1]]),
        key(states=[FileState(10, 3), STATES[1]]),
        key(resize=Resize(scale=0.5)),
        key(resize=Resize(short_side=5)),
        key(resize=Resize(short_side=5, only_enlarge=True)),
        key(bits=12),
        key(bits=10),
    ]
    assert len({key(), *others}) == 1 + len(others)
    assert key() == key()


@given(names, names)
def test_different_lists_of_names_have_different_keys(one, other):
    def of(paths):
        return key(ImageFiles(root=Path("/data"), paths=tuple(paths)), [FileState(1, 1)] * len(paths))

    assert (of(one) == of(other)) == (one == other)


def test_a_file_that_comes_goes_or_changes_has_another_state(tmp_path):
    items = ImageFiles(root=tmp_path, paths=("a",))
    seen = [file_states(items)]
    for content in (b"", b"1", b"12"):
        (tmp_path / "a").write_bytes(content)
        seen.append(file_states(items))
    assert len({states[0] for states in seen}) == 4


def test_pictures_in_memory_are_known_by_their_values_and_shape():
    pixels = np.arange(2 * 4 * 6 * 3, dtype=np.uint8).reshape(2, 4, 6, 3)
    first = arrays_key(ImageArrays(pixels=pixels), Resize())
    assert first == arrays_key(ImageArrays(pixels=np.asfortranarray(pixels)), Resize())
    assert first != arrays_key(ImageArrays(pixels=pixels.reshape(2, 6, 4, 3)), Resize())
    assert first != arrays_key(ImageArrays(pixels=pixels + 1), Resize())
    assert first != arrays_key(ImageArrays(pixels=pixels), Resize(scale=0.5))
