import json
import re
from dataclasses import replace
from html import unescape

import pytest

from onepeak.experiment.results import read_results
from onepeak.report.figures.canvas import interactive, printed
from onepeak.report.method_tables import WideTable
from onepeak.report.page import BlockText, page_html, subtitle
from onepeak.report.provenance import Provenance
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
