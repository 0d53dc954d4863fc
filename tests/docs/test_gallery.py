"""Every example of the gallery runs and draws; the site shows them all."""

import runpy

import pytest
from matplotlib.figure import Figure

from docs.pages import DOCS

EXAMPLES = sorted((DOCS / "gallery").glob("*.py"))


@pytest.mark.unchecked
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_prints_and_draws(example, capsys):
    names = runpy.run_path(str(example))
    assert capsys.readouterr().out.strip()
    assert isinstance(names["figure"], Figure)


def test_the_page_shows_every_example():
    text = (DOCS / "generate" / "gallery.py").read_text(encoding="utf-8")
    assert all(f'"{example.stem}"' in text for example in EXAMPLES)
