import json
from functools import partial

import pytest

from report.whole_runs import write_failure
from run_folders import write_run


@pytest.fixture
def run(run):
    """Runs `onepeak report`; gives the exit status and what was printed."""
    return partial(run, "report")


@pytest.fixture
def folder(tmp_path):
    for method, soi in (("ce", 0.53), ("elb", 0.99)):
        for split in range(2):
            write_run(tmp_path / "mine", method=method, split=split, mae=1.5 + split, soi_predicted=soi)
    return tmp_path / "mine"


def test_the_table_the_findings_and_the_page_are_shown(run, folder):
    status, output, errors = run(folder)
    assert (status, errors) == (0, "")
    assert "2.000 ± 0.707" in output
    text = " ".join(output.split())
    assert "with ELB, 99.0 % of adjacent classes fall away from the prediction, with CE only 53.0 %." in text
    assert text.endswith(f"report: {folder / 'report.html'} Next: onepeak inspect {folder} --open")
    assert (folder / "report.html").is_file()


def test_quiet_prints_the_table_alone(run, folder):
    status, output, errors = run(folder, "--quiet", "--out", folder.parent / "elsewhere")
    assert (status, errors) == (0, "")
    assert [line.split("\t")[:4] for line in output.splitlines()] == [
        ["dataset", "method", "runs", "error (MAE) ↓"],
        ["mine", "ce", "2", "2.000 ± 0.707"],
        ["mine", "elb", "2", "2.000 ± 0.707"],
    ]
    assert (folder.parent / "elsewhere" / "report.html").is_file()
    assert not (folder / "report.html").exists()


def test_json_holds_findings_figures_and_failures(run, folder):
    write_failure(folder, label="mv", message="Too hot.")
    status, output, errors = run(folder, "--json")
    record = json.loads(output)
    assert (status, errors) == (0, "")
    assert record["page"] == str(folder / "report.html")
    assert any(each.startswith("Adjacent pairs in order: ELB 99.0 %") for each in record["findings"]["mine"])
    mae = next(row for row in record["summary"] if (row["method"], row["metric"]) == ("ce", "mae"))
    assert (mae["mean"], mae["n"]) == (2.0, 2)
    assert [(each["label"], each["message"]) for each in record["failed"]] == [("mv", "Too hot.")]


def test_differences_can_be_to_a_row_of_ones_choice(run, folder):
    write_run(folder, method="elb", split=0, mae=0.5, soi_predicted=0.99)
    status, output, errors = run(folder, "--against", "ce", "--json")
    assert (status, errors) == (0, "")
    rows = {row["method"]: row for row in json.loads(output)["summary"] if row["metric"] == "mae"}
    assert [(rows[name]["against"], rows[name]["difference"]) for name in ("ce", "elb")] == [("ce", 0.0), ("ce", -0.5)]
    assert "too few runs to name a winner (at least 3 needed)" in (folder / "report.html").read_text()
    assert "ce,-0.5,2," in (folder / "table.csv").read_text()


def test_a_pair_that_is_named_is_compared_alone(run, folder):
    for split in range(2):
        write_run(folder, method="mv", split=split, mae=0.5, soi_predicted=0.7)
    for flags, pair in (((), "ELB"), (("--alone", "mv"), "MV"), (("--alone", "mv", "--against", "elb"), "MV")):
        _, output, _ = run(folder, "--json", *flags)
        told = [each for each in json.loads(output)["findings"]["mine"] if "chosen in advance" in each]
        assert len(told) == 1
        assert told[0].startswith(f"{pair} vs {'ELB' if 'elb' in flags else 'CE'} ")


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "`{0}/nowhere` must be a folder that onepeak compare or train wrote, got no folder."),
        (["empty"], "`{0}/empty` must be a folder of runs, with runs/ or result.json in it, got one without either"),
        (["begun"], "`{0}/begun` must hold at least one finished run, got none: none is done."),
        (["file"], "`{0}/file` must be a folder that onepeak compare or train wrote, got no folder."),
        (["mine", "mine"], "`--out` must be given for a report of 2 folders."),
        (["mine", "--against=ec"], "Unknown row of mine for `--against` 'ec'. Known: ce, elb."),
        (
            ["mine", "--alone=ebl"],
            "Unknown row of mine for `--alone` 'ebl'. Did you mean 'elb'? Known: ce, elb.",
        ),
        (["mine", "--alone=ce"], "`--alone` must be another row than the one it is compared with, got 'ce'"),
        (["mine", "--out", "file"], "`--out` must be a folder, got {0}/file"),
    ],
)
def test_what_cannot_be_reported_on_is_one_line(run, folder, arguments, message):
    place = folder.parent
    (place / "empty").mkdir()
    (place / "begun" / "runs").mkdir(parents=True)
    (place / "file").write_text("")
    status, output, errors = run(*(each if each.startswith("--") else place / each for each in arguments))
    assert (status, output) == (2, "")
    assert message.format(place) in errors
    assert errors.count("\n") == 1
