from types import SimpleNamespace

import pytest

from onepeak._core.registry import Registry
from onepeak.errors import InputError


def test_a_name_that_was_added_before_is_replaced_only_where_that_is_said():
    registry, first, second = Registry("thing"), SimpleNamespace(name="a"), SimpleNamespace(name="a")
    registry.add(first)
    with pytest.raises(
        InputError, match=r"The thing 'a' is already in the catalog: .* pass replace=True to replace it"
    ):
        registry.add(second)
    assert registry["a"] is first
    registry.add(second, replace=True)
    assert registry["a"] is second


@pytest.mark.parametrize("replace", [False, True])
def test_what_the_catalog_began_with_is_never_replaced(replace):
    first = SimpleNamespace(name="a")
    registry = Registry("thing", [first])
    with pytest.raises(InputError, match=r"The thing 'a' comes with onepeak: give yours another name\."):
        registry.add(SimpleNamespace(name="a"), replace=replace)
    assert registry["a"] is first
