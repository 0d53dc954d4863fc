import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from onepeak._core.formats import json_text
from onepeak._core.records import Count, NumClasses, Within, read_json, record_of
from onepeak.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Size:
    height: Count
    width: Annotated[int, Within(1, 100)] = 1

    def __post_init__(self):
        if self.height == 13:
            raise InputError("`height` must not be 13, got 13.", argument="height")


@dataclass(frozen=True, kw_only=True)
class Record:
    name: str
    size: Size | None = None
    kind: Literal["a", "b"] = "a"
    num_classes: NumClasses = 2
    figures: dict[str, float] = field(default_factory=dict)
    names: tuple[str | int, ...] = ()
    ends: tuple[float, float] = (0.0, 1.0)
    sizes: list[Size] = field(default_factory=list)
    plain: bool = True
    other: Any = None


def record(**content):
    return record_of(Record, {"name": "x", **content}, file=Path("a.json"))


def test_a_record_comes_back_from_its_json():
    whole = Record(name="x", size=Size(height=3), figures={"mae": math.inf}, names=("a", 1), sizes=[Size(height=0)])
    content = json.loads(json_text({"name": "x", "size": {"height": 3}, "figures": {"mae": math.inf, "n": 1},
                                    "names": ["a", 1], "sizes": [{"height": 0}]}))  # fmt: skip
    found = record_of(Record, content, file=Path("a.json"))
    assert math.isnan(found.figures["mae"]), "JSON has no infinity"
    assert (found.figures["n"], type(found.figures["n"])) == (1.0, float)
    assert (found.size, found.names, found.sizes, found.ends) == (whole.size, whole.names, whole.sizes, whole.ends)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("content", "key"),
    [
        ({"name": 3}, "name"),
        ({"size": []}, "size"),
        ({"size": {}}, "size.height"),
        ({"size": {"height": 13}}, "size.height"),
        ({"size": {"height": True}}, "size.height"),
        ({"size": {"height": 1, "width": 101}}, "size.width"),
        ({"size": {"height": 1, "depth": 1}}, "size.depth"),
        ({"kind": "c"}, "kind"),
        ({"kind": ["a"]}, "kind"),
        ({"num_classes": 10**9}, "num_classes"),
        ({"figures": {"mae": "low"}}, "figures.mae"),
        ({"figures": {"mae": 10**400}}, "figures.mae"),
        ({"figures": {"mae": math.inf}}, "figures.mae"),
        ({"figures": []}, "figures"),
        ({"names": ["a", 1.5]}, "names[1]"),
        ({"names": 5}, "names"),
        ({"ends": [1.0]}, "ends"),
        ({"sizes": [{"height": -1}]}, "sizes[0].height"),
        ({"plain": 1}, "plain"),
    ],
)
def test_what_cannot_be_is_an_error_with_file_and_key(content, key):
    with pytest.raises(InputError, match=r"^a\.json: ") as error:
        record(**content)
    assert error.value.key == key


@pytest.mark.bad_input
def test_a_key_that_is_not_known_is_left_out_only_where_that_is_allowed():
    with pytest.raises(InputError, match="later: is not known here: it needs a newer onepeak"):
        record(later=1)
    assert record_of(Record, {"name": "x", "later": 1}, file=Path("a.json"), extra=True) == Record(name="x")
    with pytest.raises(InputError, match=r"must be a table of keys, got 5\. Delete it\."):
        record_of(Record, 5, file=Path("a.json"), fix="Delete it.")


@pytest.mark.bad_input
def test_an_object_is_read_and_nothing_else(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"a": 1}')
    assert read_json(path) == {"a": 1}
    for content in (b"[" * 100_000, b"\xff", b"{", b"NaN", b"[]"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"a\.json .*Delete it"):
            read_json(path, fix="Delete it.")
