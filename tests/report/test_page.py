import json
import re
from dataclasses import replace
from html import unescape

import pytest

from onepeak.experiment.results import read_results
from onepeak.experiment.run_files import read_config
from onepeak.report.figures.canvas import interactive, printed
from onepeak.report.method_tables import WideTable
from onepeak.report.page import BlockText, Provenance, page_html, read_provenance, subtitle
from onepeak.report.run_data import gather
from onepeak.report.sections import Card, Chart, Section
from onepeak.report.source import Source
from onepeak.report.summary import summary
from run_folders import write_run


@pytest.fixture(scope="module")
def html():
    """A page of two blocks that are alike, with names that would end a script element."""
    chart = Chart(name="</script><b>", figure=interactive(x="</script>", height=200), caption="2 bins <left out>")
    card = Card(text="ce says so", name="item 3", image=None, features="", chart=chart)
    section = Section(
        name="confusion", title="Confusion", text="", charts=(chart, chart), printed=printed()[0], cards=(card,)
    )
    block = BlockText(
        id="one",
        title="Mine",
        subtitle="",
        findings=(),
        tables=(WideTable(title="", header=(), rows=(), caption=""),),
        paper=(),
        looks={},
        failed=(),
        notes=(),
        sections=((section, "figures/confusion.png"),),
        provenance=Provenance(commands=(), config=""),
    )
    return page_html([block, replace(block, id="two")], metrics=())


def attributes(html, name):
    return [unescape(value) for value in re.findall(f' {name}="([^"]*)"', html)]


def test_a_chart_cannot_end_the_script_it_is_kept_in(html):
    kept = re.findall('<script type="application/json" id="[^"]*">(.*?)</script>', html)
    assert len(kept) == 6
    assert {json.loads(text)["layout"]["xaxis"]["title"]["text"] for text in kept} == {"</script>"}
    assert attributes(html, "style").count("min-height:200px") == 6


def test_ids_are_unique_on_the_page_and_every_chart_has_its_own(html):
    ids = attributes(html, "id")
    assert len(set(ids)) == len(ids)
    own = ["confusion-case0", "confusion-0", "confusion-1"]
    assert attributes(html, "data-figure") == [f"{block}-{name}" for block in ("one", "two") for name in own]
    assert set(attributes(html, "data-figure")) <= set(ids)


def test_a_chart_has_its_caption_below(html):
    assert '</script>\n<figcaption class="caption">2 bins &lt;left out&gt;</figcaption></figure>' in html


def test_a_chart_says_what_it_is_to_those_who_do_not_see_it(html):
    case, first, _ = attributes(html, 'role="img" aria-label')[:3]
    assert first == "Confusion: </script><b>"
    assert case == "Confusion: ce says so: </script><b>"


def test_the_line_below_the_title_counts_classes_methods_splits_and_runs(tmp_path):
    for method in ("ce", "elb"):
        for fold in range(3):
            write_run(tmp_path, method=method, fold=fold)
    runs = read_results(tmp_path)
    data = gather("mine", runs, summary(runs), Source(manifest=None))
    assert subtitle(data) == "4 classes, 2 methods on 3 folds, 6 runs"


@pytest.fixture
def folder(tmp_path):
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


def test_what_the_first_run_recorded_is_told(folder):
    provenance = read_provenance(folder, None, read_results(folder))
    assert provenance.facts == {
        "runs": "3, seeds 0",
        "protocol": "random",
        "samples": "60 train, 20 validation, 20 test (first run)",
        "epoch": "chosen by validation mae, of 3",
        "time": "2 min 30 s of training, 50 s per run",
        "machine": "cpu, precision 32-true",
        "versions": "torch 2.15.0",
    }
    assert (provenance.commands, provenance.config) == ((), "")


def test_runs_that_patience_ended_are_counted(tmp_path):
    for split, epochs in enumerate((23, 60, 31)):
        write_run(tmp_path, method="elb", split=split, epochs=epochs, selected_by="mae", recipe={"epochs": 60})
    facts = read_provenance(tmp_path, None, read_results(tmp_path)).facts
    assert facts["epoch"] == "chosen by validation mae, of at most 60; 2 of 3 runs stopped early"


def test_the_commands_and_the_settings_are_told_where_they_are_written_down(folder):
    typed = ["onepeak compare mine", "onepeak compare mine --splits 3"]
    (folder / "config.toml").write_text(f"data = 'mine'\n[record]\ncommands = {typed}\n")
    provenance = read_provenance(folder, read_config(folder), read_results(folder))
    assert provenance.commands == tuple(typed)
    assert provenance.config.startswith("data = 'mine'")


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
    assert read_provenance(tmp_path, None, read_results(tmp_path)).facts["data"] == text


@pytest.mark.parametrize(("dataset", "facts"), [("mine", {"data": "1,002 samples"}), ("other", {})])
def test_of_earlier_runs_the_settings_know_the_items(folder, dataset, facts):
    (folder / "config.toml").write_text(f"[record]\ndataset = '{dataset}'\nitems = 1002\n")
    found = read_provenance(folder, read_config(folder), read_results(folder)).facts
    assert {name: text for name, text in found.items() if name == "data"} == facts


def test_what_was_not_recorded_is_said_not_to_be(tmp_path):
    write_run(tmp_path, method="elb")
    facts = read_provenance(tmp_path, None, read_results(tmp_path)).facts
    assert facts["machine"] == "not recorded, precision not recorded"
    assert "versions" not in facts
