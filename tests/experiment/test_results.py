import json
import math
import re
import time

import numpy as np
import pytest

from onepeak.errors import InputError
from onepeak.experiment.results import read_history, read_predictions, read_results
from onepeak.experiment.run_files import failed_runs, none_done
from run_folders import write_comparison, write_predictions, write_result, write_run
from trained_models import table_run


def test_a_folder_that_training_wrote_is_read(tmp_path):
    run = table_run()
    [row] = read_results(run.folder).to_dict("records")
    assert row["test_mae"] == run.result["metrics"]["test"]["mae"]
    assert (row["num_train"], row["num_valid"], row["num_test"]) == tuple(run.split.sizes.values())
    assert (row["num_valid_groups"], row["off_by_class"]) == (row["num_valid"], False)
    assert row["num_classes"] == run.manifest.num_classes
    assert row["temperature"] == run.result["calibration"]["temperature"]
    assert row["constant_mae"] == run.result["constant"]["valid_mae"] > row["valid_mae"]
    assert row["test_rps_calibrated"] == run.result["calibration"]["test"]["rps"]
    assert len(read_history(run.folder)) == run.result["epochs"]
    found = read_predictions(run.folder, columns=["label", "predicted", "log_probs"], part="test")
    assert list(found) == ["label", "predicted", "log_probs"]
    assert found["log_probs"].shape == (len(run.split.test), run.manifest.num_classes)
    assert np.abs(found["label"] - found["predicted"]).mean() == pytest.approx(row["test_mae"])


def test_runs_are_sorted_by_method_split_and_fold_whenever_they_finished(tmp_path):
    methods = [("mine", None), ("smooth-mv", None), ("elb", None), ("ld", "ld-as_published"), ("ld", None)]
    for method, label in [*methods, ("mv+elb", None)]:
        for split, fold in [(10, 0), (2, 1), (2, 0)]:
            write_run(tmp_path, method=method, label=label, split=split, fold=fold)
    found = read_results(tmp_path)
    assert list(dict.fromkeys(found["label"])) == ["ld", "ld-as_published", "mv+elb", "smooth-mv", "elb", "mine"]
    assert list(zip(found["split"], found["fold"], strict=True))[:3] == [(2, 0), (2, 1), (10, 0)]


def test_runs_under_way_and_failed_ones_are_passed_over(tmp_path):
    write_run(tmp_path, method="ce")
    (tmp_path / "runs/ce/split1-fold0").mkdir()
    (tmp_path / "runs/ce/split1-fold0/checkpoint.pt").write_bytes(b"half")
    failed = tmp_path / "runs/elb/split0-fold1"
    failed.mkdir(parents=True)
    (failed / "error.json").write_text(json.dumps({"message": "the loss is NaN", "traceback": "..."}))
    mended = write_run(tmp_path, method="elb")
    (mended / "error.json").write_text(json.dumps({"message": "the disk was full"}))
    assert len(read_results(tmp_path)) == 2
    [only] = failed_runs(tmp_path)
    assert (only.label, only.name, only.message, only.folder) == ("elb", "split0-fold1", "the loss is NaN", failed)


def test_several_folders_become_one_table_in_their_order(tmp_path):
    for name in ("second", "first"):
        write_run(tmp_path / name, method="ce", dataset=name)
    found = read_results(tmp_path / "second", tmp_path / "first")
    assert list(found["dataset"]) == ["second", "first"]
    assert list(found["experiment"]) == [str(tmp_path / "second"), str(tmp_path / "first")]


def test_a_metric_that_was_not_defined_is_nan(tmp_path):
    write_run(tmp_path, method="ce", tau=None)
    assert math.isnan(read_results(tmp_path)["test_tau"][0])
    assert math.isnan(read_results(tmp_path)["temperature"][0])
    assert read_results(tmp_path)[["constant_mae", "constant_test_mae"]].isna().all(axis=None)


def test_figures_of_calibrated_posteriors_and_of_intervals_are_columns_where_runs_have_them(tmp_path):
    figures = {"rps": 0.25, "nll": None, "ece": 0.1, "alpha": 0.1, "coverage": 0.9, "interval_size": 2.5}
    write_run(tmp_path, method="ce", calibration={"temperature": 2.0, "test": figures})
    write_run(tmp_path, method="elb")  # as earlier versions wrote it
    found = read_results(tmp_path)
    for name, value in (("rps_calibrated", 0.25), ("interval_coverage", 0.9), ("interval_size", 2.5)):
        assert list(found[f"test_{name}"]) == pytest.approx([value, math.nan], nan_ok=True)
    assert found["test_nll_calibrated"].isna().all()
    assert not {"test_ece_calibrated", "test_coverage_calibrated"} & set(found.columns)
    assert list(found["test_rps"]) == [0.5, 0.5]
    write_run(tmp_path / "old", method="ce", calibration={"temperature": 2.0})
    assert not [name for name in read_results(tmp_path / "old") if name.endswith("calibrated") or "interval" in name]


def test_it_is_known_by_which_rule_a_method_of_the_catalog_decides(tmp_path):
    write_run(tmp_path, method="ce")
    write_run(tmp_path, method="mv", label="mv-as_published", variant="as_published")
    write_run(tmp_path, method="ren")
    write_run(tmp_path, method="ren", label="ren-slopes", method_settings={"posterior": "slopes"})
    write_run(tmp_path, method="smooth-rps+elb")
    write_run(tmp_path, method="mine")
    write_run(tmp_path, method="mine", label="mine-recorded", decision="median")
    found = read_results(tmp_path).set_index("label")["decision"].to_dict()
    assert found == {
        "ce": "mode", "mv-as_published": "floor_of_mean", "ren": "median", "ren-slopes": "mode",
        "smooth-rps+elb": "median", "mine": "", "mine-recorded": "median",
    }  # fmt: skip


def test_network_weights_recipe_and_precision_are_those_of_the_record_and_unknown_in_older_ones(tmp_path):
    network = {"backbone": "resnet18", "pooling": "wildcat"}
    recorded = {"network": network, "recipe": {"epochs": 9, "ema": 0.99}, "precision": "bf16-mixed"}
    write_run(tmp_path, method="ce", **recorded, weights="resnet18.safetensors")
    write_run(tmp_path, method="mv", **recorded, weights=None)
    write_run(tmp_path, method="elb", epochs=3)
    found = read_results(tmp_path).set_index("label")
    assert found["weights"].to_dict() == {"ce": "resnet18.safetensors", "mv": "", "elb": "unknown"}
    assert found["network"].to_dict() == {"ce": network, "mv": network, "elb": {}}
    assert list(found.loc[["elb", "ce"], "recipe"]) == [{"epochs": 3}, {"epochs": 9, "ema": 0.99}]
    assert list(found.loc[["elb", "ce"], "precision"]) == ["32-true", "bf16-mixed"]


def test_the_number_of_classes_comes_from_the_model_or_the_data_set_where_the_result_has_none(tmp_path):
    for name, dataset in (("known", "fgnet"), ("unknown", "mine"), ("model", "mine")):
        folder = write_result(tmp_path / name, method="ce", dataset=dataset)
        record = json.loads((folder / "result.json").read_text())
        del record["num_classes"]
        (folder / "result.json").write_text(json.dumps(record))
    (tmp_path / "model/onepeak.json").write_text(json.dumps({"classes": ["low", "middle", "high"]}))
    found = [read_results(tmp_path / name)["num_classes"][0] for name in ("known", "unknown", "model")]
    assert found == pytest.approx([70, math.nan, 3], nan_ok=True)


def test_only_the_samples_of_one_part_are_given(tmp_path):
    log_probs = np.log(np.array([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]]))
    write_predictions(tmp_path, log_probs, [0, 2], part="valid")
    everything = read_predictions(tmp_path)
    assert everything["log_probs"].dtype == np.float32
    assert everything["log_probs"] == pytest.approx(log_probs)
    assert everything["label"].tolist() == [0, 2]
    assert read_predictions(tmp_path, part="test")["label"].tolist() == []


@pytest.mark.slow
def test_a_thousand_runs_are_read_in_seconds(tmp_path):
    write_comparison(tmp_path, {name: [0.5] * 100 for name in "abcdefghij"})
    start = time.process_time()
    assert len(read_results(tmp_path)) == 1000
    assert time.process_time() - start < 5


@pytest.mark.bad_input
def test_what_is_no_folder_of_runs_is_refused(tmp_path):
    with pytest.raises(InputError, match="must be a folder that onepeak compare or train wrote, got no folder"):
        read_results(tmp_path / "nothing")
    with pytest.raises(
        InputError, match=r"with runs/ or result.json in it, got one without either: give the --out folder"
    ):
        read_results(tmp_path)
    with pytest.raises(InputError, match="`folders` must name one or more different folders, got \\[\\]"):
        read_results()
    write_run(tmp_path, method="ce")
    with pytest.raises(InputError, match="must name one or more different folders"):
        read_results(tmp_path, tmp_path / "runs" / "..")


@pytest.mark.bad_input
def test_a_folder_without_a_finished_run_says_why(tmp_path):
    run = tmp_path / "runs/ce/split0-fold0"
    run.mkdir(parents=True)
    with pytest.raises(InputError, match=r"must hold at least one finished run, got none: none is done\.$"):
        read_results(tmp_path)
    (tmp_path / "config.toml").write_text("")
    with pytest.raises(InputError, match=f"got none: {re.escape(none_done(tmp_path))}$"):
        read_results(tmp_path)
    (run / "error.json").write_text(json.dumps({"message": "out of memory"}))
    with pytest.raises(InputError, match="got none: 1 run failed, the first with: out of memory"):
        read_results(tmp_path)


@pytest.mark.bad_input
def test_histories_and_predictions_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(InputError, match=r"must be the folder of a finished run, got one without history\.csv"):
        read_history(tmp_path)
    (tmp_path / "history.csv").write_text("")
    with pytest.raises(InputError, match=r"history\.csv must be a history that onepeak wrote"):
        read_history(tmp_path)
    (tmp_path / "predictions.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"predictions\.parquet must be predictions that onepeak wrote"):
        read_predictions(tmp_path)
    write_predictions(tmp_path, np.zeros((1, 2)), [0])
    with pytest.raises(InputError, match=r"`columns` must be some of part, item, .*, got 'logprobs'"):
        read_predictions(tmp_path, columns=["logprobs"])
