import json
import math
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onepeak._core.formats import json_text, read_toml, toml_text
from onepeak.errors import InputError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PLAIN = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXT
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=8
)


@given(st.dictionaries(TEXT, VALUES, max_size=4))
def test_what_is_written_is_read_back(content):
    assert tomllib.loads(toml_text(content)) == content


def test_what_is_none_is_left_out_and_paths_are_text():
    written = toml_text({"root": None, "weights": Path("a/b"), "methods": [{"name": "ce", "label": None}]})
    assert tomllib.loads(written) == {"weights": "a/b", "methods": [{"name": "ce"}]}


def test_numpys_numbers_are_numbers():
    content = {"t": np.float32(0.5), "k": np.int64(2), "weights": [np.float64(0.25)], "on": True}
    plain = {"t": 0.5, "k": 2, "weights": [0.25], "on": True}
    assert tomllib.loads(toml_text(content)) == json.loads(json_text(content)) == plain
    assert json.loads(json_text(np.float32("nan"))) is None


def test_what_toml_cannot_hold_is_an_error():
    with pytest.raises(TypeError, match="TOML has no complex"):
        toml_text({"a": 1j})


@pytest.mark.bad_input
def test_a_file_that_is_not_there_is_told_with_what_was_wanted(tmp_path):
    with pytest.raises(InputError, match=r"`DATA` must be a file, got .*gone\.toml: No such file"):
        read_toml(tmp_path / "gone.toml", wanted="`DATA` must be a file")


def test_what_json_cannot_write_is_null():
    figures = {"tau": math.nan, "nll": math.inf, "mae": 0.5, "n": 3}
    read = json.loads(json_text({"test": figures, "names": ("a", "b")}), parse_constant=lambda _: 1 / 0)
    assert read == {"test": {"tau": None, "nll": None, "mae": 0.5, "n": 3}, "names": ["a", "b"]}
