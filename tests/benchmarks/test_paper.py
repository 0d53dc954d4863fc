"""The pages on the paper are what the committed records say."""

import csv
import random
import shutil
import sys
from pathlib import Path
from statistics import fmean, median

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import save_file
from scipy import stats

import deep_stem
import keep_records
import paper
from onepeak.errors import InputError
from onepeak.experiment.plan import PAPER_METHODS
from onepeak.networks.weights import load_weights
from onepeak.posterior import is_paradoxical, is_unimodal
from reproduction import figures, tables
from reproduction.differences import differences, explanation, read_explanations
from reproduction.records import SETS, read_runs, read_sets
from reproduction.text import MISSING, number, p_value
from run_folders import write_result

ROOT = Path(__file__).parents[2]


def cells_of(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]


@pytest.fixture(scope="module")
def files():
    return paper.Records(ROOT).files()


def test_the_committed_pages_are_what_the_committed_records_say(files):
    for path, text in files.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is old: run python benchmarks/paper.py"


def test_the_authors_splits_are_those_of_their_seed_and_as_hard_as_the_page_says():
    with (ROOT / "results/paper/fgnet-authors-splits.csv").open(encoding="utf-8") as file:
        samples = list(csv.DictReader(file))
    random.seed(0)
    persons = sorted({sample["group"] for sample in samples})
    errors = []
    for split in range(10):
        for _ in range(1000):
            random.shuffle(persons)
        part = {
            person: "train" if place < 53 else "valid" if place < 66 else "test" for place, person in enumerate(persons)
        }
        assert [sample[f"split{split}-fold0"] for sample in samples] == [part[sample["group"]] for sample in samples]
        ages = {name: [int(s["label"]) for s in samples if part[s["group"]] == name] for name in ("train", "test")}
        errors.append(fmean(abs(age - median(ages["train"])) for age in ages["test"]))
    assert f"of {fmean(errors):.2f} there" in (ROOT / "results/paper/README.md").read_text(encoding="utf-8")


@pytest.fixture
def checkout(tmp_path, records, write_fgnet_run):
    """What the command needs of a checkout: FG-NET in one form here, in the other on splits of its own."""
    root = tmp_path / "checkout"
    for name in ("results/paper/fgnet", "results/paper/fgnet-code", "results/paper/fgnet-1000"):
        shutil.copytree(records / "runs", root / name / "runs")
    for split in range(2):
        for place, method in enumerate(("ce", "ren", "pn", "elb")):
            more = {"variant": "as_published", "mae": 6.0 - place, "soi_predicted": 0.6 + place / 10}
            write_fgnet_run(root / "results/paper/fgnet", method, split, **more)
            write_fgnet_run(root / "results/paper/fgnet-code", method, split, **more)
            write_fgnet_run(root / "results/paper/iciar", method, split, dataset="iciar", num_classes=4, **more)
    for weight in (0.1, 0.01):
        changes = {"label": f"pn-{weight}", "method_settings": {"weight": weight}, "mae": 5.0 + weight}
        write_fgnet_run(root / "results/paper/fgnet-lambda", "pn", **changes)
    shutil.copytree(ROOT / "experiments", root / "experiments")
    (root / "results/paper/explanations.toml").write_text("")
    for name in paper.PAGES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("mine\n<!-- made: conditions -->\nold\n<!-- end of made -->\n")
    return root


def test_one_command_fills_the_pages_and_draws_the_figures(checkout, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["paper.py", "--root", str(checkout), "--check"])
    with pytest.raises(SystemExit, match=r"Not what the records say: results/paper/README\.md, docs/reproduce"):
        paper.main()
    assert "old" in (checkout / "docs/paper.md").read_text()
    monkeypatch.setattr(sys, "argv", ["paper.py", "--root", str(checkout)])
    paper.main()
    assert "changed: results/paper/README.md" in capsys.readouterr().out
    page = (checkout / "docs/paper.md").read_text()
    assert page.startswith("mine\n")
    assert "splits 0 to 2, 300 epochs, float32. Runs: 9 as published, 12 corrected, 0 of rows of our own." in page
    assert {path.stem for path in checkout.rglob("*.png")} == {"figure-1", "figure-2", "gains"}
    monkeypatch.setattr(sys, "argv", ["paper.py", "--root", str(checkout), "--check"])
    with pytest.raises(SystemExit) as stopped:
        paper.main()
    assert stopped.value.code == 0


def test_the_tables_have_the_papers_rows_and_columns_and_say_what_is_missing(checkout):
    sets = read_sets(checkout / "results/paper")
    sets["fgnet"] = pd.concat([sets["fgnet"], sets["fgnet"][:1].assign(label="peak")])
    first, second = (tables.printed_table(sets, which) for which in (1, 2))
    assert first.header == ("method", "ICIAR MAE", "ICIAR SOI (%)", "HCI MAE", "HCI SOI (%)")
    assert [name.partition(" ")[0] for name in second.header[1::2]] == ["AFAD-Lite", "AFAD-Full", "FG-NET"]
    methods = [method.upper() for method in PAPER_METHODS]
    rows = [row[0].text for row in second.rows]
    assert rows == ["Paper", *methods, "As published", *methods, "Corrected", *methods, "Ours", "peak"]
    published = {row[0].text: row[1:] for row in first.rows[9:16]}
    assert [cell.text for cell in published["ELB"]] == ["3.00 ± 0.00 (2)", "90.00 ± 0.00", "no images", "no images"]
    assert [cell.bold for cell in published["ELB"]] == [True, True, False, False]
    assert [cell.text for cell in published["LD"]] == ["not run", "not run", "no images", "no images"]
    paper_elb = {row[0].text: row[1:] for row in second.rows[1:8]}["ELB"]
    assert [cell.text for cell in paper_elb[-2:]] == ["4.27 ± 0.47", "98.96 ± 0.83"]
    assert [cell.bold for cell in paper_elb] == [False, True, False, True, True, True]  # as printed
    assert {row[0].text: row[-1].text for row in second.rows[9:16]}["PO"] == "--"


def test_a_large_difference_is_explained_or_called_unexplained(checkout):
    found = differences(read_runs(checkout / "results/paper/fgnet"), "fgnet")
    by_cell = {(each.method, each.metric, each.form): each for each in found}
    ce = by_cell["ce", "mae", "corrected"]  # 5, 6 and 7 here, 7.79 with a deviation of .79 there
    assert (ce.value, ce.standard_error) == (pytest.approx(-1.79), pytest.approx(np.sqrt(0.79**2 / 10 + 1 / 3)))
    assert ce.large
    assert by_cell["ld", "mae", "corrected"].large is None  # one run
    assert explanation(ce, {}) == "**unexplained**"
    assert explanation(ce, {"corrected": {"mae": {"ce": "the moon"}}}) == "the moon"
    known = {"corrected": {"mae": {"ce": "the moon"}}, "fgnet": {"corrected": {"mae": {"ce": "the sun"}}}}
    assert explanation(ce, known) == "the sun"
    titles = dict.fromkeys(SETS, "here")
    rows = cells_of(tables.large_differences([ce], known, titles))
    assert rows[2][:4] == ["here", "CE, MAE", "corrected (3)", "\N{MINUS SIGN}1.79"]


@pytest.mark.bad_input
@pytest.mark.parametrize("key", ["correct.mae.ce", "corrected.rps.ce", "corrected.mae.CE", "fgnt.corrected.mae.ce"])
def test_an_explanation_of_nothing_is_an_error(tmp_path, key):
    table, _, method = key.rpartition(".")
    (tmp_path / "explanations.toml").write_text(f'[{table}]\n{method} = "why"\n')
    with pytest.raises(InputError, match=r"must have tables such as \[corrected\.mae\]"):
        read_explanations(tmp_path / "explanations.toml")


def test_methods_are_paired_with_elb_split_by_split_and_corrected_after_holm(runs):
    rows = {row[0]: row[1:] for row in cells_of(tables.against_table(runs))[2:]}
    assert list(rows) == ["CE", "LD", "MV", "PN"]  # and no line for the published form, which has no ELB
    differences = np.array([5 - 4, 6 - 4.5])
    t = differences.mean() / np.sqrt((1 / 2 + 208 / 649) * differences.var(ddof=1))
    p = 2 * stats.t.sf(t, df=1)
    assert rows["CE"][:4] == ["corrected", "2", number(1.25, 2, signed=True), p_value(3 * p)]  # three tests in all
    assert rows["LD"][1:4] == ["1", "+0.00", MISSING]  # one pair is no test


def test_figure_1_is_two_orders_of_the_same_probabilities():
    d1, d2 = figures.two_posteriors()
    assert torch.equal(d1.sort().values, d2.sort().values)  # so equal cross-entropy, whatever the label's place
    assert d1.exp().sum().item() == pytest.approx(1)
    assert d1.argmax() == d2.argmax() == figures.GRADE
    assert d1.argsort(descending=True)[:3].tolist() == [4, 0, 7]  # g5, g1, g8
    assert (is_paradoxical(d1), is_unimodal(d1), is_unimodal(d2)) == (True, False, True)
    assert len(figures.figure_1().axes) == 2


def test_records_keep_one_in_ten_epochs_the_best_and_whole_histories_where_asked(tmp_path, monkeypatch):
    for label in ("ce", "elb"):
        for split in range(2):
            run = write_result(
                tmp_path / f"D/runs/{label}/split{split}-fold0", method=label, split=split, best_epoch=13
            )
            pd.DataFrame({"epoch": range(36), "valid_mae": 0.1}).to_csv(run / "history.csv", index=False)
    (tmp_path / "D/config.toml").write_text(
        'name = "mine"\nroot = "/secret/data"\ncommands = ["onepeak /a/b"]\n[recipe]\n'
    )
    monkeypatch.setattr(sys, "argv", ["keep_records.py", str(tmp_path / "D"), str(tmp_path / "T"), "--whole", "elb"])
    keep_records.main()
    lengths = {
        f"{path.parts[-3]}{path.parts[-2][5]}": pd.read_csv(path)["epoch"].tolist()
        for path in (tmp_path / "T").rglob("*.csv")
    }
    few = [0, 10, 13, 20, 30, 35]
    assert lengths == {"ce0": few, "ce1": few, "elb0": list(range(36)), "elb1": few}
    assert "/" not in (tmp_path / "T/config.toml").read_text()


def test_the_deep_stem_is_random_and_all_other_weights_are_those_of_the_file(tmp_path):
    given = {
        name: torch.full_like(value, 0.5)
        for name, value in deep_stem.resnet18().state_dict().items()
        if not name.startswith(deep_stem.STEM)
    }
    save_file({**given, "conv1.weight": torch.zeros(64, 3, 7, 7), "fc.bias": torch.zeros(9)}, tmp_path / "usual")
    save_file(deep_stem.with_random_stem(tmp_path / "usual"), tmp_path / "deep")
    network = deep_stem.resnet18()
    assert load_weights(network, tmp_path / "deep") == ()
    assert network.layer4[1].conv2.weight.unique().tolist() == [0.5]
    stem = [module for module in network.conv1 if isinstance(module, torch.nn.Conv2d)]
    assert [tuple(each.weight.shape) for each in stem] == [(32, 3, 3, 3), (32, 32, 3, 3), (64, 32, 3, 3)]
    assert all(each.weight.std() > 0 for each in stem)
