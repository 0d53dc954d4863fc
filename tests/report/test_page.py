import json
import re
import resource
import shutil
import time
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from onepeak.experiment.results import read_results
from onepeak.report import write_report
from onepeak.report.page import read_provenance, subtitle
from onepeak.report.run_data import gather
from onepeak.report.source import Source
from onepeak.report.summary import summary
from report.whole_runs import write_failure, write_whole_comparison, write_whole_run
from run_folders import write_run


def test_the_line_below_the_title_counts_classes_methods_splits_and_runs(tmp_path):
    for method in ("ce", "elb"):
        for fold in range(3):
            write_run(tmp_path, method=method, fold=fold)
    runs = read_results(tmp_path)
    data = gather("mine", runs, summary(runs), Source(manifest=None))
    assert subtitle(data) == "4 classes, 2 methods on 3 folds, 6 runs"


@pytest.fixture
def recorded(tmp_path):
    for split in range(3):
        write_run(
            tmp_path,
            method="elb",
            split=split,
            seconds=50.0,
            device="cpu",
            precision="32-true",
            selected_by="mae",
            versions={"torch": "2.15.0"},
        )
    return tmp_path


def test_what_the_first_run_recorded_is_told(recorded):
    provenance = read_provenance(recorded, read_results(recorded))
    assert provenance["facts"] == {
        "runs": "3, seeds 0",
        "protocol": "random",
        "samples": "60 train, 20 validation, 20 test (first run)",
        "epoch": "chosen by validation mae, of 3",
        "time": "2 min 30 s of training, 50 s per run",
        "machine": "cpu, precision 32-true",
        "versions": "torch 2.15.0",
    }
    assert (provenance["commands"], provenance["config"]) == ((), "")


def test_runs_that_patience_ended_are_counted(tmp_path):
    for split, epochs in enumerate((23, 60, 31)):
        write_run(tmp_path, method="elb", split=split, epochs=epochs, selected_by="mae", recipe={"epochs": 60})
    facts = read_provenance(tmp_path, read_results(tmp_path))["facts"]
    assert facts["epoch"] == "chosen by validation mae, of at most 60; 2 of 3 runs stopped early"


def test_the_commands_and_the_settings_are_told_where_they_are_written_down(recorded):
    typed = ["onepeak compare mine", "onepeak compare mine --splits 3"]
    (recorded / "config.toml").write_text(f"data = 'mine'\n[record]\ncommands = {typed}\n")
    provenance = read_provenance(recorded, read_results(recorded))
    assert provenance["commands"] == tuple(typed)
    assert provenance["config"].startswith("data = 'mine'")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"items": 1002, "groups": None, "group_column": None, "left_out": 0}, "1,002 samples"),
        ({"items": 1, "groups": 1, "group_column": None, "left_out": 0}, "1 sample of 1 group"),
        (
            {"items": 1002, "groups": 82, "group_column": "patient", "left_out": 3},
            "1,002 samples of 82 groups (column patient); 3 samples left out by --skip-bad",
        ),
    ],
)
def test_items_groups_and_what_was_left_out_are_told(tmp_path, data, text):
    write_run(tmp_path, method="elb", data=data)
    assert read_provenance(tmp_path, read_results(tmp_path))["facts"]["data"] == text


def test_of_earlier_runs_less_is_told(tmp_path):
    write_run(tmp_path, method="elb")
    (tmp_path / "config.toml").write_text("[record]\ndataset = 'mine'\nitems = 1002\n")
    facts = read_provenance(tmp_path, read_results(tmp_path))["facts"]
    assert (facts["data"], facts["machine"]) == ("1,002 samples", "not recorded, precision not recorded")
    assert "versions" not in facts


VOID = {"meta", "img", "input", "br", "link"}


class Page(HTMLParser):
    """What a page is made of; fails where tags do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.charts, self.texts = [], [], {}, []
        self._json = None
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append((tag, given))
        if tag not in VOID:
            self.open.append(tag)
        self._json = given["id"] if given.get("type") == "application/json" else None

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self._json = None

    def handle_data(self, data):
        if self._json is not None:
            self.charts[self._json] = json.loads(data)
        elif self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.texts))

    def all(self, tag):
        return [given for name, given in self.tags if name == tag]


def page_of(report):
    return Page(report.page.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_whole_comparison(tmp_path_factory.mktemp("report") / "compared", {"ce": 2.0, "elb": 0.0})


@pytest.fixture(scope="module")
def report(folder):
    return write_report(folder)


@pytest.fixture(scope="module")
def page(report):
    return page_of(report)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs a browser: install Debian's package chromium")
def test_charts_are_printed_as_wide_as_paper_in_dark_ink_and_then_shown_as_before(report):
    sync_api = pytest.importorskip("playwright.sync_api")
    look = """() => [...document.querySelectorAll(".chart")].map(chart => {
        const widths = [...chart.querySelectorAll(".main-svg")].map(each => each.clientWidth);
        return [Math.max(...widths), chart.layout.font.color];
    })"""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="dark")
        page.goto(report.page.as_uri())
        page.wait_for_selector(".chart .main-svg")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.wait_for_function(
            "[...document.querySelectorAll('.chart')].every(each => each.querySelector('.main-svg'))"
        )
        on_paper = page.evaluate(look)
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.wait_for_function("document.querySelector('.main-svg').clientWidth > 1000")
        on_screen = page.evaluate(look)
        browser.close()
    assert max(width for width, _ in on_paper) <= 673  # 178 mm
    assert {colour for _, colour in on_paper} == {"#1d2126"}
    assert {colour for _, colour in on_screen} == {"#e6e8ea"}


def test_the_report_is_beside_the_runs_and_names_what_it_wrote(folder, report):
    assert report.page == folder / "report.html"
    assert [path.name for path in report.tables] == ["table.csv", "table.md", "table.tex"]
    stems = ["tradeoff", "curves", "posteriors", "paradoxes", "class-errors", "confusion"]
    assert [path.name for path in report.figures] == [f"{stem}.{end}" for stem in stems for end in ("png", "pdf")]
    assert all(path.stat().st_size > 1000 for path in (report.page, *report.figures))
    assert {path.name for path in folder.iterdir()} == {
        "runs", "figures", "report.html", "table.csv", "table.md", "table.tex"
    }  # fmt: skip


def test_the_page_loads_nothing_from_anywhere(report, page):
    text = report.page.read_text(encoding="utf-8")
    assert {tag for tag, given in page.tags if "src" in given} <= {"img"}
    for given in page.all("img"):
        assert given["src"].startswith(("data:image/", "figures/"))
    assert not page.all("link")
    assert "@import" not in text.partition("</style>")[0]
    policy = next(given["content"] for given in page.all("meta") if given.get("http-equiv"))
    assert "default-src 'none'" in policy
    assert text.count("plotly.js v") == 1  # its code is there, once


def test_the_page_says_what_was_found_and_shows_the_table(folder, report, page):
    assert all(text in page.text for each in report.findings["mine"] for text in (each.text, *each.details))
    assert "in order: ELB 100.0 %" in page.text
    table = pd.read_csv(folder / "table.csv").query("metric == 'mae' and method == 'ce'").iloc[0]
    assert f"{table['mean']:.3f} ± {table['std']:.3f}" in page.text
    assert "random guessing: consistency (SOI) 0.700" in page.text
    assert "All differences and p-values are in table.csv , columns difference and p_value ." in page.text
    assert {"difference", "p_value"} <= set(pd.read_csv(folder / "table.csv").columns)
    assert any(given.get("href") == "table.csv" for given in page.all("a"))
    assert "The folder has no config.toml that says where the data lie." in page.text


def test_every_chart_has_a_place_and_every_place_a_chart(page):
    places = [given["data-figure"] for given in page.all("div") if "data-figure" in given]
    assert len(places) == len(set(places))
    assert set(places) == set(page.charts)


def test_every_link_leads_somewhere(folder, page):
    names = {given.get("id") for _, given in page.tags}
    for given in page.all("a"):
        place, _, name = given["href"].partition("#")
        local = place.startswith("http://127.0.0.1:8000/samples")  # of `onepeak inspect`
        assert name in names if name else local or (folder / place).is_file()
    assert sum("figures/" in given["href"] for given in page.all("a")) == 12


def test_a_folder_that_was_reported_on_before_its_last_run_ends_in_the_same_report(folder, report, tmp_path):
    resumed = tmp_path / "elsewhere"
    last = resumed / "runs" / "elb" / "split1-fold0"
    shutil.copytree(folder, resumed, ignore=shutil.ignore_patterns("report.html", "table.*", "figures"))
    shutil.move(last, tmp_path / "later")
    assert write_report(resumed).page.read_bytes() != report.page.read_bytes()
    shutil.move(tmp_path / "later", last)
    again = write_report(resumed)
    for one, other in zip(
        (report.page, *report.tables, *report.figures), (again.page, *again.tables, *again.figures), strict=True
    ):
        assert one.read_bytes() == other.read_bytes(), one.name


def test_names_and_messages_that_look_like_markup_are_text_and_failed_runs_are_named(tmp_path):
    name = "a<b>&\"c'</script>"
    for split in (0, 1):
        write_whole_run(tmp_path, method="ce", split=split, disorder=2.0, num_classes=3, dataset=name)
    (tmp_path / "config.toml").write_text("data = 'gone.csv'\n[record]\nclasses = ['low', '</script>', '<b>']\n")
    write_failure(tmp_path, label="mv", message="The loss is <b>not</b> a number.")
    page = page_of(write_report(tmp_path))
    assert name in page.text
    assert "1 failed, not shown." in page.text
    assert "mv, split0-fold0: The loss is <b>not</b> a number." in page.text
    assert not page.all("b")
    (confusion,) = (chart for name, chart in page.charts.items() if name.endswith("-confusion-0"))
    assert list(confusion["layout"]["xaxis"]["ticktext"]) == ["low", "</script>", "<b>"]
    words = [given["aria-label"] for given in page.all("div") if given.get("role") == "img"]
    assert any(each.startswith("Paradoxical predictions: ce predicts ") for each in words)
    assert "Confusion matrices: ce" in words


@pytest.mark.parametrize("num_classes", [2, 70])
def test_one_run_of_one_method_is_a_report(tmp_path, num_classes):
    run = write_whole_run(tmp_path / "compared", method="elb", num_classes=num_classes, epochs=1)
    report = write_report(run)  # as `onepeak train` leaves it: no folder of runs around it
    assert report.page.parent == run
    assert report.findings["mine"][0].text.startswith("ELB: MAE 0.050 over 1 run, 100.0 % of adjacent pairs in order")
    names = {path.name for path in report.figures}
    assert "confusion.pdf" in names
    assert "tradeoff.png" not in names


def test_images_of_paradoxical_predictions_are_found_again_and_the_command_is_told(tmp_path):
    run = write_whole_run(tmp_path / "compared", method="ce", disorder=2.0)
    path = run / "predictions.parquet"
    frame = pd.read_parquet(path)
    frame["path"] = [f"{item}.png" for item in frame["item"]]
    frame.to_parquet(path, index=False)
    data = tmp_path / "data"
    data.mkdir()
    for name in frame["path"]:
        Image.fromarray(np.full((20, 20, 3), 200, dtype=np.uint8)).save(data / name)
    frame[["path", "label"]].to_csv(data / "list.csv", index=False)
    (tmp_path / "compared" / "config.toml").write_text(
        f"data = '{data / 'list.csv'}'\n[record]\ncommand = 'onepeak compare list.csv --methods ce'\n"
    )
    page = page_of(write_report(tmp_path / "compared"))
    assert sum(given["src"].startswith("data:image/jpeg") for given in page.all("img")) == 6
    assert "onepeak compare list.csv --methods ce" in page.text


def test_several_folders_are_one_report_with_a_block_each_and_their_ranks(tmp_path):
    for name in ("one", "two"):
        for method, mae in (("ce", 0.9), ("elb", 0.5)):
            write_run(tmp_path / name, method=method, dataset=name, mae=mae)
    report = write_report(tmp_path / "one", tmp_path / "two", out=tmp_path / "report")
    page = page_of(report)
    assert list(report.findings) == ["one", "two"]
    ids = [given["id"] for given in page.all("section")]
    assert ids == ["one", "one-tradeoff", "two", "two-tradeoff"]
    assert "ranks-mae.png" in [given["src"] for given in page.all("img")]
    assert (tmp_path / "report" / "ranks-mae.png").is_file()
    assert (tmp_path / "report" / "figures" / "two-tradeoff.pdf").is_file()
    assert not (tmp_path / "one" / "report.html").exists()


@pytest.mark.parametrize("names", [("short", "long"), ("o/a", "o_a")])
def test_two_folders_of_the_same_data_keep_their_figures_apart(tmp_path, names):
    for name in names:
        for split in (0, 1):
            write_run(tmp_path / name, method="elb", split=split)
    report = write_report(*(tmp_path / name for name in names), out=tmp_path / "report")
    assert len({path.name for path in report.figures}) == len(report.figures) == 4
    ids = [given["id"] for _, given in page_of(report).tags if "id" in given]
    assert (len(report.findings), len(set(ids))) == (2, len(ids))


@pytest.mark.slow
def test_a_thousand_runs_take_less_than_half_a_minute_and_a_page_that_can_be_sent(tmp_path):
    disorders = {name: 0.1 * place for place, name in enumerate(("ce", "ren", "ld", "mv", "po", "pn", "elb", "slopes"))}
    sizes = {"splits": 125, "num_classes": 70, "num_test": 100, "epochs": 100}
    write_whole_comparison(tmp_path, disorders, **sizes, calibration={"temperature": 2.0})
    start = time.process_time()
    report = write_report(tmp_path)
    assert time.process_time() - start < 30
    assert report.page.stat().st_size < 15e6
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2e6  # kilobytes, of this process with all it has loaded
