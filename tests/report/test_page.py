import json

import pytest

from onepeak.experiment.records import read_results
from onepeak.report.evidence import gather
from onepeak.report.figures.canvas import interactive, printed
from onepeak.report.page import section_text, subtitle
from onepeak.report.section import Card, Chart, Section
from onepeak.report.source import Source
from onepeak.report.summary import summary
from run_folders import write_run


@pytest.fixture
def section():
    chart = Chart(name="</script><b>", figure=interactive(x="</script>", height=200))
    card = Card(text="ce says so", name="item 3", picture=None, features="", chart=chart)
    return Section(
        name="confusion", title="Confusion", text="", charts=(chart, chart), printed=printed()[0], cards=(card,)
    )


def test_a_chart_cannot_end_the_script_it_is_kept_in(section):
    text = section_text(section, block="one", address="figures/confusion.png").charts[0]
    assert "<" not in text.json
    assert json.loads(text.json)["layout"]["xaxis"]["title"]["text"] == "</script>"
    assert text.height == 200


def test_ids_are_unique_on_the_page(section):
    found = [section_text(section, block=block, address="") for block in ("one", "two")]
    ids = [chart.id for each in found for chart in (*each.charts, *(card.chart for card in each.cards))]
    assert len(set(ids)) == len(ids) == 6


def test_a_chart_says_what_it_is_to_those_who_do_not_see_it(section):
    text = section_text(section, block="one", address="")
    assert text.charts[0].says == "Confusion: </script><b>"
    assert text.cards[0].chart.says.startswith("Confusion: ce says so")


def test_the_line_below_the_title_counts_classes_methods_splits_and_runs(tmp_path):
    for method in ("ce", "elb"):
        for fold in range(3):
            write_run(tmp_path, method=method, fold=fold)
    runs = read_results(tmp_path)
    evidence = gather("mine", runs, summary(runs), Source(manifest=None))
    assert subtitle(evidence) == "4 classes, 2 methods on 3 splits, 6 runs"
