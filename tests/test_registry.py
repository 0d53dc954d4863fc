from types import SimpleNamespace

import pytest

from onepeak._registry import Registry
from onepeak.errors import UnknownNameError


def test_records_come_back_in_the_order_they_were_added():
    registry = Registry("thing", [SimpleNamespace(name=name) for name in "cab"])
    assert [record.name for record in registry] == ["c", "a", "b"]
    assert len(registry) == 3
    assert "a" in registry


def test_a_name_cannot_be_taken_twice():
    registry = Registry("thing", [SimpleNamespace(name="a")])
    with pytest.raises(ValueError, match="The thing 'a' is in the catalog already"):
        registry.add(SimpleNamespace(name="a"))


def test_a_name_far_from_all_gets_no_suggestion():
    with pytest.raises(UnknownNameError, match=r"^Unknown thing 'xyz'\. Known: a\.$"):
        Registry("thing", [SimpleNamespace(name="a")])["xyz"]
