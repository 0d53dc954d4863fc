"""The page of every method has its formula."""

import sys

import pytest

import onepeak
from docs.pages import DOCS


@pytest.fixture(scope="module")
def pages():
    """What writes the pages, as the site's configuration imports it."""
    sys.path.insert(0, str(DOCS))
    from generate import methods

    yield methods
    sys.path.remove(str(DOCS))


def test_what_the_page_of_a_method_shows_has_a_formula_and_is_public_by_name(pages):
    for record in onepeak.methods():
        shown = pages.defined_by(record)
        names = [f"{value.__module__}.{value.__qualname__}" for value in shown]
        assert any(".. math::" in (value.__doc__ or "") for value in shown), (
            f"the page of {record.name!r} is made from the docstring of {names[-1]}: "
            "put the formula there, by `.. math::`"
        )
        hidden = [name for name in names if name.rpartition(".")[2].startswith("_")]
        assert not hidden, f"the page of {record.name!r} shows {hidden}: give what builds it a name without underscore"
