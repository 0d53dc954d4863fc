import re
from dataclasses import fields, replace
from importlib.resources import files

import pytest
import torch
from starlette.testclient import TestClient

from onepeak.posterior import is_unimodal, median, mode
from onepeak.serving.http import create_app
from onepeak.serving.inspector import open_inspection
from onepeak.serving.inspector.pages import (
    CHOICES,
    ChoicePage,
    OverviewPage,
    SamplePage,
    Shell,
    TryPage,
    model_card,
    model_columns,
    overview_page,
    render,
)
from onepeak.serving.inspector.router import try_router
from onepeak.serving.posterior_options import PosteriorOptions
from run_folders import write_comparison
from table_models import table_model

SHELL = Shell(title="<mine>", subtitle="8 classes", version="1.2", places={"Overview": "/", "Try it": "/try"})
PAGES = [
    OverviewPage(
        shell=SHELL, measured="On the test part.", one_run=False, failed=("mv, split0: <b>hot</b>",),
        notes=("A note.",), warnings=("<b>No</b> measure.",),
    ),
    *(
        ChoicePage(
            template=f"{name}.html", shell=SHELL, rows=("ce", "<i>"), parts={"0-0": "split 0", "1-0": "split 1"},
            classes=("a", "b"), measured="all test samples", warnings=("<b>No</b> measure.",),
        )
        for name in CHOICES
    ),
    SamplePage(shell=SHELL, part="0-0", item=3, has_actions=True),
    TryPage(shell=SHELL, columns={"age": (), "tone": ("pale", "dark"), "review": None}, card=""),
    TryPage(shell=SHELL, columns={}, card="<p>A card.</p>"),
]  # fmt: skip
TEMPLATES = files("onepeak.serving.inspector") / "templates"


def used(name, owner):
    return set(re.findall(rf"\b{owner}\.(\w+)", (TEMPLATES / name).read_text()))


@pytest.mark.parametrize("kind", dict.fromkeys(map(type, PAGES)), ids=lambda kind: kind.__name__)
def test_a_page_uses_all_that_it_is_given_and_nothing_else(kind):
    templates = {page.template for page in PAGES if isinstance(page, kind)}
    found = set().union(*(used(template, "page") for template in templates))
    assert found | {"shell"} == {field.name for field in fields(kind)} - ({"template"} if kind is ChoicePage else set())


def test_the_frame_uses_all_of_the_shell():
    assert used("base.html", r"page\.shell") == {field.name for field in fields(Shell)}


def test_every_template_belongs_to_a_page():
    names = {each.name for each in TEMPLATES.iterdir()}
    assert names == {page.template for page in PAGES} | {"base.html"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: type(page).__name__)
def test_text_is_never_read_as_html_and_nothing_is_inline(page):
    text = render(page)
    assert "&lt;mine&gt;" in text
    assert not re.search(r"<b>|<i>|<mine>", text)
    assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|<style|\son\w+=", text)


@pytest.mark.parametrize(
    ("splits", "sentence"),
    [(1, "On the test part of one run each."), (2, "Mean ± standard deviation over runs, on the test parts.")],
)
def test_the_first_page_says_what_its_figures_are(tmp_path, splits, sentence):
    shown = open_inspection(write_comparison(tmp_path, {"ce": [1.0] * splits}))
    page = overview_page(shown, SHELL)
    assert page.measured == sentence
    text = render(replace(page, notes=("generated from seed 0", "")))
    assert ("Error against consistency" in text) == (splits > 1)
    assert '<p class="note">Generated from seed 0</p>' in text
    assert '<a href="/" aria-current="page">Overview</a>' in text


def test_the_page_of_labels_says_no_more_of_the_median_than_is_true():
    """A posterior may have one peak, and its median lie two classes beside it."""
    log_probs = torch.tensor([[0.30, 0.13, 0.125, 0.12, 0.115, 0.11, 0.10]]).log()
    assert (mode(log_probs).item(), median(log_probs).item(), is_unimodal(log_probs).item()) == (0, 2, True)
    page = next(page for page in PAGES if page.template == "labels.html")
    assert "decides by the median or the mean may predict a class other than the peak." in render(page)


def test_a_table_model_has_a_field_a_column():
    model = table_model("elb")
    assert model_columns(model) == {"age": (), "tone": ("pale", "2", "dark"), "dose": ()}
    with TestClient(create_app(model, extra_routers=[try_router(model)]), base_url="http://localhost") as client:
        page = client.get("/").text
        assert '<input name="age" type="number"' in page
        assert "<option>dark</option>" in page
        assert '<a href="/docs">Interface</a>' in page
        assert client.get("/static/try.js").status_code == 200


def test_how_the_server_answers_is_told():
    model = table_model("elb")
    for options, told in (
        ({}, "6 classes, elb"),
        ({"decide": "mean", "raw": True}, "6 classes, elb, decide mean, raw"),
    ):
        app = create_app(model, extra_routers=[try_router(model, posterior_options=PosteriorOptions(**options))])
        page = TestClient(app, base_url="http://localhost").get("/").text
        assert f'<p class="quiet">{told}</p>' in page


def test_the_card_of_the_model_is_shown_and_its_html_is_text(tmp_path):
    assert model_card(tmp_path) == ""
    (tmp_path / "README.md").write_text(
        "---\nlicense: mit\n---\n# Grades\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<script>x</script>\n"
    )
    card = model_card(tmp_path)
    assert "<h1>Grades</h1>" in card
    assert "<td>1</td>" in card
    assert "license" not in card
    assert "&lt;script&gt;" in card
    model = table_model("elb")
    with TestClient(
        create_app(model, extra_routers=[try_router(model, folder=tmp_path)]), base_url="http://localhost"
    ) as client:
        assert card in client.get("/").text
