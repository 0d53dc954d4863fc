"""Figures quoted in README and pages are those of the records in `results`; images have a script that makes them."""

import csv
import json
import re
from statistics import fmean

import numpy as np
import pandas as pd
import pytest

import onepeak
from docs.pages import ROOT

FGNET = ROOT / "results" / "fgnet-posteriors"
TEN_SPLITS = ROOT / "results" / "fgnet-beyond" / "runs"


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def measured():
    """Means over the ten splits of FG-NET, by method and metric."""
    figures = {}
    for folder in TEN_SPLITS.iterdir():
        runs = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*/result.json")]
        assert len(runs) == 10
        tested = [run["metrics"]["test"] | run["calibration"]["test"] for run in runs]
        known = set.intersection(*(set(each) for each in tested))  # later runs have further metrics
        figures[folder.name] = {name: fmean(each[name] for each in tested) for name in known}
    return figures


def rows_of(text):
    """The rows of all tables in a text, as lists of cells."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]


def found(column, *start):
    """The cell of the results on FG-NET in a column of the table that has it, in the row that starts so."""
    text = (FGNET / "README.md").read_text(encoding="utf-8")
    header = next(row for row in rows_of(text) if column in row)
    table = text[text.index(f"| {' | '.join(header)} |") :].partition("\n\n")[0]
    (row,) = [row for row in rows_of(table) if row[: len(start)] == list(start)]
    return float(row[header.index(column)])


STEEP = "`smooth-rps+elb:cross_entropy_weight=1:t=3:decision=mode`"
README_ROWS = {
    "cross-entropy": ("ce-slow", "ce"),
    "ELB, the log-barrier of Belharbi et al. 2019": ("elb-slow", "elb"),
    "`peak`, the default": ("smooth-rps+elb-mode-t3-slow", "peak"),
}


def in_percent(share):
    """With one digit; never rounded up to what is not quite all."""
    return f"{np.floor(1000 * share) / 10 if share > 0.999 else 100 * share:.1f} %"


@pytest.mark.parametrize("title", README_ROWS)
def test_the_table_of_the_readme_is_what_was_measured(title, measured):
    (row,) = [row for row in rows_of(text_of("README.md")) if row[0] == title]
    faces, biopsies = README_ROWS[title]
    own, runs = measured[faces], pd.read_csv(ROOT / "results" / "catalog" / "since-2020.csv")
    runs = runs[(runs["dataset"] == "biopsies") & (runs["method"] == biopsies)]
    assert len(runs) == 5
    years = [f"{own['mae']:.2f}", in_percent(own["soi_predicted"]), in_percent(own["unimodal"])]
    assert row[1:] == [*years, f"{runs['mae'].mean():.2f}", in_percent(runs["unimodal"].mean())]


IMBALANCE = pd.read_csv(ROOT / "results" / "catalog" / "fgnet-imbalance.csv")
WEIGHTINGS = {
    "": "none",
    "balanced": '`class_weight = "balanced"`',
    "lds": '`class_weight = "lds"`',
    "logit": "`logit_adjustment = 1.0`",
}


@pytest.mark.parametrize("label", sorted(set(IMBALANCE["method"])))
def test_what_weights_do_for_rare_ages_is_what_was_measured(label):
    method, _, weighting = label.partition("-")
    text = text_of("results/catalog/README.md").partition("70 ages of FG-NET are")[2]
    (row,) = [row for row in rows_of(text) if row[:2] == [WEIGHTINGS[weighting], f"`{method}`"] and len(row) == 6]
    own = IMBALANCE[IMBALANCE["method"] == label]
    assert len(own) == 5
    errors = [f"{own['mae'].mean():.2f}", f"{own['amae'].mean():.2f}", f"{own['mmae'].mean():.1f}"]
    assert row[2:] == [*errors, f"{100 * own['soi_predicted'].mean():.1f} %"]


CHOOSE_ROWS = {
    "`ce`": "ce-slow",
    "`ren`": "ren-slow",
    "`elb`": "elb-slow",
    "`smooth-elb:t=5`": "smooth-elb-t5-slow",
    "`peak`": "smooth-rps+elb-mode-t3-slow",
    "`smooth-slopes`": "smooth-slopes-slow",
}


def test_the_table_one_chooses_by_is_what_was_measured(measured):
    rows = {row[0]: row[1:] for row in rows_of(text_of("docs/choose.md")) if row[0] in CHOOSE_ROWS}
    assert rows == {
        title: [f"{own['mae']:.2f}", f"{100 * own['soi_predicted']:.2f} %", f"{100 * own['unimodal']:.1f} %"]
        for title, own in ((title, measured[name]) for title, name in CHOOSE_ROWS.items())
    }


SLOPES_ROWS = {
    "`elb`": "elb",
    "`slopes`": "slopes",
    "`smooth-slopes`": "smooth-slopes",
    "`smooth-slopes`, averaged weights (`ema`)": "smooth-slopes-averaged",
    "`smooth-elb`": "smooth-elb",
    "`elb`, smaller steps": "elb-slow",
    f"{STEEP}, smaller steps": "smooth-rps+elb-mode-t3-slow",
}


def test_the_table_of_what_came_of_slopes_is_what_was_measured(measured):
    """RPS and NLL after the temperature, which `measured` takes where there are both."""
    rows = {row[0]: row[1:] for row in rows_of(text_of("docs/slopes.md")) if row[0] in SLOPES_ROWS}
    assert rows == {
        title: [
            f"{own['mae']:.2f}",
            f"{100 * own['soi_predicted']:.2f} %",
            f"{100 * own['unimodal']:.1f} %",
            f"{own['rps']:.2f}",
            f"{own['nll']:.2f}",
        ]
        for title, own in ((title, measured[name]) for title, name in SLOPES_ROWS.items())
    }


def test_what_is_said_of_projection_is_what_was_measured():
    kinds = ("raw", "projected")
    median = {(name, kind): f"{found('MAE, median', name, kind):.2f}" for name in ("ce", "elb") for kind in kinds}
    before, after, trained = median["ce", "raw"], median["ce", "projected"], median["elb", "raw"]
    assert f"falls from {before} to {after} by projection, and that of a network trained with ELB is {trained}" in (
        text_of("docs/trust.md")
    )


@pytest.mark.parametrize("path", ["README.md", "docs/design.md"])
def test_there_are_more_methods_than_is_said(path):
    (count,) = re.findall(r"[Mm]ore than (\d+) (?:ordinal methods|methods share)", text_of(path))
    assert len(onepeak.methods()) > int(count)


@pytest.mark.parametrize("path", ["README.md", "docs/choose.md", "results/catalog/README.md"])
def test_the_number_of_methods_compared_on_five_sets_is_that_of_the_records(path):
    with (ROOT / "results" / "catalog" / "runs.csv").open(encoding="utf-8") as file:
        compared = {row["method"] for row in csv.DictReader(file)}
    counts = re.findall(
        r"(\d+) methods(?: on (?:four tables|five data sets)|, one network)|of (\d+) by mean", text_of(path)
    )
    assert {int(one or other) for one, other in counts} == {len(compared)}
    combined = {name for name in compared if "+" in name} | {"smooth-elb"}
    assert combined < compared
    (told,) = re.findall(r"(\d+) of the catalog, and three combinations", text_of("README.md"))
    assert (int(told), len(combined)) == (len(compared - combined), 3)


def test_smooth_slopes_is_first_where_it_is_said_to_be():
    runs = pd.read_csv(ROOT / "results" / "catalog" / "runs.csv")
    means = runs.groupby(["dataset", "method"])[["mae", "rps_tempered"]].mean()
    ranks = means.groupby("dataset").rank().groupby("method").mean()
    first = "first of 50 by mean rank in MAE (though no two methods differ significantly) and by calibrated RPS"
    assert first in text_of("docs/choose.md")
    assert "`ren` and `corn`** are second and fifth by mean rank in MAE" in text_of("docs/choose.md")
    assert ranks["mae"].rank()[["ren", "corn"]].tolist() == [2, 5]
    assert ranks.idxmin().to_dict() == {"mae": "smooth-slopes", "rps_tempered": "smooth-slopes"}


def test_what_is_said_of_smooth_slopes_from_3_labels_to_100_is_what_was_measured():
    runs = pd.read_csv(ROOT / "results" / "peak" / "labels.csv")
    errors = runs.groupby(["data", "labels", "method"])[["mae", "rps_tempered"]].mean()
    over = errors / errors.groupby(["data", "labels"]).min() - 1
    mean, most = (100 * np.expm1(np.log1p(over).groupby("method").mean()), 100 * over.groupby("method").max())
    own = {name: (mean.loc["smooth-slopes", name], most.loc["smooth-slopes", name]) for name in errors.columns}
    derived = text_of("docs/slopes.md")
    above = "on average {:.1f} % above the lowest of thirteen methods and never more than {:.1f} %"
    assert above.format(*own["mae"]) in derived
    assert (
        "RPS it is {:.1f} % above the lowest on average and {:.1f} % at most".format(*own["rps_tempered"]).replace(
            " 0.", " ."
        )
        in derived
    )
    assert f"never more than {own['mae'][1]:.1f} % above" in text_of("docs/choose.md")
    assert most["mae"].drop("smooth-slopes").min() > own["mae"][1]
    assert over.index.get_level_values("method").nunique() == 13


def test_every_committed_image_is_named_by_the_script_that_makes_it():
    scripts = [*(ROOT / "docs" / "pictures").glob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    texts = "\n".join(
        f"{script.stem}.png {script.stem}.svg\n{script.read_text(encoding='utf-8')}" for script in scripts
    )
    images = [*(ROOT / "docs" / "pictures").glob("*.[ps][nv]g"), *(ROOT / "results").rglob("*.png")]
    assert len(images) > 10
    assert [image.name for image in images if image.name not in texts] == []
