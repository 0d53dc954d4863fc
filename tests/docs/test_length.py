"""Pages can be read in one sitting."""

import re

import pytest

from docs.pages import DOCS, ROOT

PAGES = [*sorted(DOCS.glob("*.md")), *sorted((ROOT / "results").glob("*/README.md"))]
MOST = {DOCS / "reproduce.md": 1200}


def words_of(page):
    """All words of a page of docs; on a page of results tables do not count, nor does what is made from records."""
    text = page.read_text(encoding="utf-8")
    if page.is_relative_to(ROOT / "results"):
        text = re.sub(r"^\|.*$|^<!--.*$", "", text, flags=re.MULTILINE)
    return len(re.sub(r"^<!--.*$", "", text, flags=re.MULTILINE).split())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_a_page_has_at_most_1500_words(page):
    assert words_of(page) <= MOST.get(page, 1500)


def test_the_readme_has_at_most_130_lines():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 130
