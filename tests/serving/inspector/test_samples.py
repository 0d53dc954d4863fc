import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak.data.tables.frame import from_frame
from onepeak.errors import InputError
from onepeak.posterior.predictions import Predictions
from onepeak.report.source import Source
from onepeak.serving.inspector.inspection import SORTS, Filter, find_runs
from onepeak.serving.inspector.samples import (
    Archive,
    BoundedCache,
    RunPredictions,
    chosen,
    read_calibration,
    read_run_predictions,
    samples_of,
)
from onepeak.training.model_files import load_description
from report.whole_runs import posteriors, write_whole_comparison, write_whole_run

NUM_CLASSES = 6


def predictions(seed, count=40):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, NUM_CLASSES, count)
    log_probs = posteriors(labels, NUM_CLASSES, disorder=1.0, seed=seed).astype(np.float32)
    found = Predictions(
        items=rng.permutation(count),
        truth=torch.tensor(labels),
        predicted_index=torch.tensor(log_probs.argmax(axis=1)),
        log_probs=torch.tensor(log_probs),
    )
    return RunPredictions(predictions=found)


SAID = {"0-0": predictions(0), "1-0": predictions(1)}
SAMPLES = samples_of(SAID)
NAMES = {part: [f"Sample {item}" for item in each.predictions.items] for part, each in SAID.items()}
EVERYTHING = Filter(method="ce")


def in_order(probs, predicted):
    """The share of pairs that fall away from the prediction, one by one."""
    right = [probs[k] < probs[k + 1] if k < predicted else probs[k] > probs[k + 1] for k in range(NUM_CLASSES - 1)]
    return sum(right) / len(right)


def rows():
    """Every sample as a plain record."""
    for part, run in SAID.items():
        each = run.predictions
        truth, predicted = each.truth.tolist(), each.predicted_index.tolist()
        for place in range(len(each)):
            probs = each.log_probs[place].double().exp().numpy()
            second = np.argsort(-probs)[1]
            yield {
                "part": part,
                "item": int(each.items[place]),
                "truth": truth[place],
                "predicted": predicted[place],
                "error": abs(truth[place] - predicted[place]),
                "soi": in_order(probs, predicted[place]),
                "paradoxical": abs(int(second) - int(np.argmax(probs))) > 1,
                "sure": probs[predicted[place]],
            }


ROWS = list(rows())


def keys(places):
    return [(SAMPLES.parts[SAMPLES.part[place]], int(SAMPLES.item[place])) for place in places]


def test_columns_are_those_of_the_definitions():
    assert SAMPLES.soi == pytest.approx([row["soi"] for row in ROWS], abs=1e-6)
    assert SAMPLES.paradoxical.tolist() == [row["paradoxical"] for row in ROWS]
    assert SAMPLES.sure == pytest.approx([row["sure"] for row in ROWS], abs=1e-6)


@given(
    part=st.sampled_from([None, "0-0", "1-0"]),
    truth=st.sampled_from([None, *range(NUM_CLASSES)]),
    predicted=st.sampled_from([None, *range(NUM_CLASSES)]),
    min_error=st.integers(0, 3),
    soi_below=st.sampled_from([None, 0.0, 0.5, 0.9, 1.0]),
    paradoxical=st.booleans(),
    search=st.sampled_from(["", " ", "1", "ITEM 3", "nothing"]),
    beaten=st.booleans(),
    differ=st.integers(0, 3),
    min_width=st.integers(0, 4),
    min_distance=st.sampled_from([0.0, 0.5, 1.5]),
    marked=st.booleans(),
    seed=st.integers(0, 3),
)
def test_a_filter_keeps_what_it_says(marked, seed, **choices):
    rng = np.random.default_rng(seed)
    others, widths = rng.integers(-1, NUM_CLASSES, len(ROWS)), rng.integers(0, 5, len(ROWS))
    distances, marks = rng.uniform(0, 2, len(ROWS)).astype(np.float32), rng.uniform(size=len(ROWS)) < 0.3
    wanted = Filter(method="ce", other="elb", **choices)
    expected = {
        (row["part"], row["item"])
        for row, other, width, distance, mark in zip(ROWS, others, widths, distances, marks, strict=True)
        if wanted.part in (None, row["part"])
        and wanted.truth in (None, row["truth"])
        and wanted.predicted in (None, row["predicted"])
        and row["error"] >= wanted.min_error
        and (wanted.soi_below is None or row["soi"] < wanted.soi_below - 1e-9)
        and (row["paradoxical"] or not wanted.paradoxical)
        and wanted.search.strip().lower() in f"sample {row['item']}"
        and (not (wanted.beaten or wanted.differ) or other >= 0)
        and (not wanted.beaten or (row["error"] > 0 and other == row["truth"]))
        and (not wanted.differ or abs(row["predicted"] - other) >= wanted.differ)
        and width >= wanted.min_width
        and distance >= wanted.min_distance
        and (mark or not marked)
    }
    samples = replace(SAMPLES, distance=distances)
    found = keys(chosen(samples, wanted, NAMES, others=others, widths=widths, marked=[marks] if marked else []))
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_a_group_is_named_whole():
    names = {part: [f"Sample {item} · p{item % 12}" for item in each.predictions.items] for part, each in SAID.items()}
    found = keys(chosen(SAMPLES, replace(EVERYTHING, group="P1"), names))
    assert {item % 12 for _, item in found} == {1}  # not p10 and p11


KEYS = {
    "item": lambda row: (row["part"], row["item"]),
    "error": lambda row: (-row["error"], row["item"]),
    "disorder": lambda row: (round(row["soi"], 6), row["item"]),
    "order": lambda row: (-round(row["soi"], 6), row["item"]),
    "unsure": lambda row: (row["sure"], row["item"]),
    "sure": lambda row: (-row["sure"], row["item"]),
    "distance": lambda row: row["item"],  # of runs that did not record it
}


@pytest.mark.parametrize("sort", SORTS)
def test_an_order_is_the_one_it_is_called(sort):
    found = keys(chosen(SAMPLES, replace(EVERYTHING, sort=sort), NAMES))
    by_key = {(row["part"], row["item"]): KEYS[sort](row) for row in ROWS}
    assert len(found) == len(ROWS)
    assert [by_key[key] for key in found] == sorted(by_key.values())


def test_a_sample_is_found_by_its_item_and_other_classes_are_refused(tmp_path):
    write_whole_run(tmp_path, method="ce", num_test=7, num_classes=4)
    run = find_runs(tmp_path).runs[0]
    predictions = read_run_predictions(run, 4)
    assert (predictions.place(3), predictions.place(7)) == (3, None)
    assert predictions.num_bytes >= predictions.predictions.log_probs.nbytes
    assert read_calibration(run) is None  # there is no validation part
    with pytest.raises(InputError, match="must hold posteriors over 5 classes, got some over 4"):
        read_run_predictions(run, 5)


def names(paths, source):
    count = len(paths)
    found = Predictions(
        items=np.arange(count),
        sources=() if paths[0] is None else tuple(paths),
        truth=torch.zeros(count, dtype=torch.int64),
        predicted_index=torch.zeros(count, dtype=torch.int64),
        log_probs=torch.zeros(count, 2),
    )
    return [RunPredictions(predictions=found).name(place, source) for place in range(count)]


def test_a_sample_is_called_by_its_path_its_line_or_its_number_and_whose_it_is():
    """The second of the data has another label now: it is another sample, and nobody's."""
    assert names(["a/1.png", "b.png"], Source(manifest=None)) == ["a/1.png", "b.png"]
    assert names([None, None], Source(manifest=None)) == ["sample 0", "sample 1"]
    table = from_frame(pd.DataFrame({"x": [1.0, 2.0], "label": [0, 1]}, index=[2, 4]))
    assert names([None, None], Source(manifest=table)) == ["row 2", "sample 1"]
    owned = replace(table, rows=None, groups=("anna", "ben"))
    assert names([None, None], Source(manifest=owned)) == ["sample 0 · anna", "sample 1"]


@pytest.fixture
def archive(tmp_path):
    write_whole_comparison(tmp_path, {"ce": 1.0, "elb": 0.0}, splits=3, num_test=10)
    for broken in ("ce/split1-fold0", "elb/split0-fold0", "elb/split1-fold0", "elb/split2-fold0"):
        (tmp_path / "runs" / broken / "predictions.parquet").write_bytes(b"cut off")
    return Archive(find_runs(tmp_path).runs, 5, {})


def test_runs_that_cannot_be_read_are_left_out(archive):
    assert list(archive.of_row("ce")) == ["0-0", "2-0"]
    assert archive.of_row("ce", "1-0") == {}
    assert archive.samples("ce").parts == ("0-0", "2-0")
    assert archive.parts_with(3) == ("0-0", "2-0")
    assert [(run.row, place) for run, _, place in archive.of_part("2-0", 3)] == [("ce", 3)]
    assert list(archive.of_part("2-0", 10)) == []


def test_what_was_read_once_is_not_read_again(archive):
    run = archive.runs["ce", "0-0"]
    first = archive.predictions(run)
    (run.folder / "predictions.parquet").unlink()
    assert archive.predictions(run) is first


def test_to_find_a_sample_no_more_is_read_than_one_run_of_each_part(tmp_path):
    write_whole_comparison(tmp_path, {"ce": 1.0, "elb": 0.0}, splits=2, num_test=10)
    archive = Archive(find_runs(tmp_path).runs, 5, {})
    assert next(archive.of_part("1-0", 3))[0].row == "ce"
    assert list(archive._predictions._values) == [("ce", "1-0")]
    assert archive.parts_with(3) == ("0-0", "1-0")
    assert sorted(archive._predictions._values) == [("ce", "0-0"), ("ce", "1-0")]


def test_the_models_own_calibration_is_taken_and_learnt_again_where_no_model_was_kept(compared, tmp_path):
    run = find_runs(compared).runs[0]
    own = load_description(run.folder).calibration
    assert own is not None
    assert read_calibration(run) == own
    copy = tmp_path / "run"
    shutil.copytree(run.folder, copy, ignore=shutil.ignore_patterns("onepeak.json", "model.safetensors"))
    assert read_calibration(find_runs(copy).runs[0]) == own


def test_a_cache_keeps_to_its_bound_drops_the_longest_unused_and_is_shared_by_threads():
    cache = BoundedCache(most=2, size=lambda _: 1)
    for key in ("a", "b", "a", "c"):
        cache.get(key, lambda key=key: key)
    assert [cache.get(key, lambda: "made again") for key in ("a", "c", "b")] == ["a", "c", "made again"]
    cache = BoundedCache(most=50, size=len)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: cache.get(number % 20, lambda: str(number % 20) * 5), range(2000)))
    assert found == [str(number % 20) * 5 for number in range(2000)]
    assert cache.total <= 50
    assert len(cache.get("large", lambda: "x" * 500)) == cache.total == 500
