"""Messages that point to a page of the documentation point to one that is there, and that says what they are about."""

import pickle
import re
from pathlib import Path
from typing import get_args

import pytest

from onepeak._core.imports import require
from onepeak.data.source import DataSource
from onepeak.errors import InputError, MissingExtraError, Note, OnepeakError, Page, in_documentation, together
from onepeak.methods.catalog import method
from onepeak.networks.weights import read_weights
from onepeak.training.devices import find_device

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
pytestmark = pytest.mark.bad_input


def test_a_message_calls_a_page_by_the_title_it_has():
    for page in get_args(Page):
        title = (DOCS / f"{page}.md").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        assert str(OnepeakError("No.", page=page)) == f'No. (See "{title}" in the documentation)'


def test_no_message_sends_anybody_to_a_file_that_only_the_repository_has():
    only_there = re.compile(r"\b(?:docs|experiments|examples|benchmarks)/[\w/-]+\.\w+")
    sources = {file: file.read_text(encoding="utf-8") for file in (ROOT / "src").rglob("*.py")}
    assert {str(file): only_there.findall(text) for file, text in sources.items() if only_there.search(text)} == {}


def test_the_page_is_named_once_in_another_process_too():
    error = InputError("No images.", page="images")
    assert str(pickle.loads(pickle.dumps(error))) == str(error) == 'No images. (See "Your images" in the documentation)'


@pytest.fixture
def flat(tmp_path):
    """Images with no folder a class."""
    (tmp_path / "1.png").touch()
    return tmp_path


@pytest.fixture
def unlabelled(tmp_path):
    """A table none of whose columns is called label."""
    path = tmp_path / "patients.csv"
    path.write_text("age,stage\n40,1\n50,2\n")
    return path


def test_a_newcomer_is_led_to_the_page_that_helps(flat, unlabelled):
    first_contacts = {
        "images": [
            lambda: DataSource(flat).open(),
            lambda: DataSource("photoes").open(),
            lambda: read_weights(flat / "resnet18.safetensors"),
        ],
        "table": [lambda: DataSource(unlabelled).open()],
        "choose": [lambda: method("ebl", num_classes=5)],
        "paper": [lambda: DataSource("fgnet").open()],
        "scale": [lambda: find_device("cuda:99")],
    }
    for page, calls in first_contacts.items():
        see = f"(See {in_documentation(page)})"
        for call in calls:
            with pytest.raises(InputError, match=rf"[.?] {re.escape(see)}$"):
                call()


def test_a_missing_extra_leads_to_how_to_install():
    with pytest.raises(MissingExtraError, match=r"pip install 'onepeak\[report\]' \(See \"Start\" in"):
        require("a_package_nobody_has", extra="report", purpose="This report")


def test_an_argument_is_named_as_the_surface_has_it_and_its_place_in_a_file_only_where_it_came_from_there():
    def text(problem, used=()):
        return problem.worded({"lr": "--lr", "skip_bad": "--skip-bad"}, used=used)

    error = InputError("`lr` must be above 0, got -1.", argument="lr", fix="Leave `lr` out, or give skip_bad=True.")
    assert str(error) == "`lr` must be above 0, got -1. Leave `lr` out, or give skip_bad=True."
    assert text(error) == "`--lr` must be above 0, got -1. Leave `--lr` out, or give --skip-bad."
    in_file = InputError("`lr` must be above 0.", argument="lr").at("recipe.lr", file="my.toml")
    assert text(in_file) == str(in_file) == "my.toml: recipe.lr: `lr` must be above 0."
    assert text(in_file, used={"lr"}) == "`--lr` must be above 0."
    of_method = in_file.at("methods.elb.recipe.lr")
    assert text(of_method, used={"lr"}) == str(of_method)
    both = together([in_file, of_method])
    assert text(pickle.loads(pickle.dumps(both)), used={"lr"}).splitlines() == [
        "`--lr` must be above 0.",
        str(of_method),
    ]


def test_a_note_is_its_text_with_a_code_in_another_process_too():
    note = pickle.loads(pickle.dumps(Note("few", "only 5 samples")))
    assert (note, str(note), note.code) == ("only 5 samples", "only 5 samples", "few")
