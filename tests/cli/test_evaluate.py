import json

import pytest
from PIL import Image

from cli.one_command import invoked
from onepeak.cli.evaluate import evaluate
from onepeak.errors import InputError
from onepeak.metrics.catalog import METRICS, NAMES
from trained_models import image_run, table_run, write_table


@pytest.fixture
def run():
    """Runs `onepeak evaluate`; gives what was printed."""

    def call(*arguments):
        result = invoked(evaluate, *arguments, "--device", "cpu")
        assert result.exit_code == 0, result.output
        return result.stdout if "--json" in arguments else result.output

    return call


@pytest.fixture
def listed(tmp_path):
    """A list of the images of the test part, whose labels are text."""
    part = image_run().manifest.take(image_run().split.test)
    lines = ["path,grade"]
    for number, (image, label) in enumerate(zip(part.items.pixels, part.labels, strict=True)):
        Image.fromarray(image).save(tmp_path / f"{number}.png")
        lines.append(f"{number}.png,{part.classes[label]}")
    (tmp_path / "scans.csv").write_text("\n".join(lines))
    return tmp_path / "scans.csv"


def test_json_has_every_metric_the_chance_level_and_the_counts(run, listed):
    record = json.loads(run(image_run().folder, listed, "--label", "grade", "--json"))
    expected = image_run().result["metrics"]["test"]
    assert record["metrics"].keys() == set(NAMES)
    assert {name: record["metrics"][name] for name in expected} == {
        name: None if value != value else pytest.approx(value, abs=1e-6)  # NaN is not itself
        for name, value in expected.items()
    }
    assert record["chance"] == {"soi_predicted": 0.625, "soi_true": 0.5}
    assert [sum(row) for row in record["confusion"]] == list(record["classes"].values())
    right = sum(row[place] for place, row in enumerate(record["confusion"]))
    assert right / record["items"] == pytest.approx(record["metrics"]["accuracy"])
    assert record["items"] == sum(record["classes"].values()) == len(image_run().split.test)
    assert (record["dataset"], record["method"], record["failed"]) == ("scans", "elb", [])


@pytest.fixture
def tables(listed):
    """The tables that are printed, as rows of cells."""
    flags = ("--alpha", 0.3, "--device", "cpu")
    printed = invoked(evaluate, image_run().folder, listed, "--label", "grade", *flags).stdout
    return [[line.split("\t") for line in part.split("\n")] for part in printed.rstrip().split("\n\n")]


HEADLINES = ("mae", "accuracy", "accuracy_within_1", "soi_predicted", "unimodal", "qwk", "rps", "nll", "ece")


def test_the_tables_have_the_figures_of_json_with_their_confidence(run, listed, tables):
    record = json.loads(run(image_run().folder, listed, "--label", "grade", "--alpha", 0.3, "--json"))
    sure, (measured, predicted, classes) = record["confidence"], tables
    assert measured[0] == ["metric", "value", "95 % confidence", "better", "chance", "what it is"]
    assert [row[0] for row in measured[1:]] == list(HEADLINES)
    for name, value, confidence, better, chance, title in measured[1:]:
        ends = sure["metrics"][name]
        assert value == f"{record['metrics'][name]:.4f}"
        assert confidence == ("" if ends is None else "{:.4f} to {:.4f}".format(*ends))
        assert better == ("higher" if METRICS[name].higher_is_better else "lower")
        assert chance == ("0.6250" if name == "soi_predicted" else "")
        assert title == METRICS[name].title + (", before calibration" if name in ("rps", "nll", "ece") else "")
    assert (sure["metrics"]["mae"] is None, sure["metrics"]["ece"] is None) == (False, True)
    paradoxes = ["paradoxical", "noticeably_paradoxical"]
    assert [row[0] for row in predicted[1:]] == ["coverage", "interval_size", "rps", "nll", "ece", *paradoxes]
    figures = {**record["calibrated"], **{name: record[name] for name in paradoxes}}
    assert all(row[1] == f"{figures[row[0]]:.4f}" for row in predicted[1:])
    assert "target 0.7000" in predicted[1][3]
    assert classes[0][:6] == ["class", "samples", "correct", "covered", "interval", "predicted g1"]
    assert len(classes) == 1 + 8
    about = {name: sure[name] for name in ("level", "resampled", "count", "resamples")}
    assert about == {"level": 0.95, "resampled": "items", "count": 15, "resamples": 1000}
    assert sure["calibrated"].keys() == record["calibrated"].keys() - {"alpha", "ece"}


def test_patients_are_resampled_if_the_data_name_them_and_too_few_are_told(run, listed):
    lines = listed.read_text().splitlines()
    for count, told in ((12, "1,000 resamples of 12 groups"), (4, "4 groups, and 10 are needed")):
        rows = [f"{line},{place % count}" for place, line in enumerate(lines[1:])]
        listed.write_text("\n".join([f"{lines[0]},patient", *rows]))
        flags = (image_run().folder, listed, "--label", "grade", "--group", "patient")
        assert told in run(*flags)
        record = json.loads(run(*flags, "--json"))
        assert (record["confidence"]["resampled"], record["confidence"]["count"]) == ("groups", count)
        assert (record["confidence"]["metrics"]["mae"] is None) == (count < 10)
        assert any(told in note for note in record["notes"])


def test_what_was_measured_and_what_to_know_of_it_stand_before_the_figures(run, listed):
    lines = run(image_run().folder, listed, "--label", "grade").splitlines()
    table = lines.index("metric\tvalue\t95 % confidence\tbetter\tchance\twhat it is")
    assert "scans: 15 samples, 8 classes; method elb" in lines[:table]
    assert [line for line in lines if line.startswith("Note: ")] == [
        line for line in lines[:table] if line.startswith("Note: ")
    ]
    assert any(line.startswith("Note: order: g1 < g2") for line in lines[:table])
    assert lines[-1].startswith(f"--json prints all {len(NAMES)} metrics. Next: onepeak inspect ")
    assert not any("Warning" in line for line in lines)  # of items that were trained on
    path = table_run().folder.parent / "grades.csv"
    trained = run(table_run().folder, path)
    assert trained.index("Warning: the model was trained on") < trained.index("metric\tvalue")


def test_images_left_out_are_shown(run, listed):
    (listed.parent / "0.png").write_bytes(b"")
    with pytest.raises(InputError, match=r"1 of 15 images cannot be read:\n .*0\.png: the file is empty"):
        run(image_run().folder, listed, "--label", "grade")
    output = run(image_run().folder, listed, "--label", "grade", "--skip-bad")
    left_out = f"Left out: {listed.parent / '0.png'}: the file is empty (0 bytes)"
    assert left_out in output[: output.index("metric\tvalue")]
    assert "14 samples" in output
    assert "1,000 resamples of 14 samples" in output
    (listed.parent / "0.png").unlink()
    output = run(image_run().folder, listed, "--label", "grade", "--skip-bad")
    assert "left out 1 of 15 rows: no such image, 0.png" in output
    assert "14 samples" in output


def test_a_table_is_measured(run):
    path = table_run().folder.parent / "grades.csv"
    record = json.loads(run(table_run().folder, path, "--json"))  # the model remembers the column of labels
    assert record["classes"] == {"low": 30, "middle": 30, "high": 30}
    trained = len(table_run().split.train)
    assert trained <= record["trained_on"] < 90
    output = run(table_run().folder, path)
    assert f"Warning: the model was trained on {record['trained_on']} of these 90 samples" in output
    assert record["metrics"]["mae"] < 1


def test_the_test_part_of_the_data_that_a_model_was_trained_on(run):
    folder, path = table_run().folder, table_run().folder.parent / "grades.csv"
    record = json.loads(run(folder, path, "--part", "test", "--json"))
    assert (record["part"], record["items"]) == ("test", len(table_run().split.test))
    assert record["metrics"]["mae"] == pytest.approx(table_run().result["metrics"]["test"]["mae"], abs=1e-6)
    output = run(folder, path, "--part", "test")
    assert f"only the test part of the model's training: {record['items']} of 90 samples" in output
    assert "Warning" not in output
    if record["trained_on"]:  # rows that are alike by chance
        assert "trained on copies of" in output
    whole = run(folder, path)
    assert "--part test uses only samples held out of training" in whole


def test_figures_are_given_by_subgroup(run, listed):
    lines = listed.read_text().split("\n")
    listed.write_text("\n".join([f"{lines[0]},site", *(f"{line},{'ab'[n % 2]}" for n, line in enumerate(lines[1:]))]))
    flags = ("--label", "grade", "--subgroup", "site")
    sites = json.loads(run(image_run().folder, listed, *flags, "--json"))["subgroups"]["site"]
    assert sum(each["samples"] for each in sites.values()) == len(image_run().split.test)
    one = [lines[0], *lines[1::2]]
    listed.write_text("\n".join(one))
    of_one = json.loads(run(image_run().folder, listed, "--label", "grade", "--json"))["metrics"]
    assert sites["a"]["mae"] == pytest.approx(of_one["mae"])
    assert sites["a"]["accuracy"] == pytest.approx(of_one["accuracy"])


def test_what_a_table_rests_on_is_shown_column_by_column(run, tmp_path):
    arguments = (table_run().folder, write_table(tmp_path / "new.csv", 60), "--importance")
    columns = json.loads(run(*arguments, "--json"))["importance"]
    assert {each["column"] for each in columns} == {"size", "tone"}
    assert [each["rise"] for each in columns] == sorted((each["rise"] for each in columns), reverse=True)
    assert f"{columns[0]['column']}\t{columns[0]['rise']:.4f} +- " in run(*arguments)
