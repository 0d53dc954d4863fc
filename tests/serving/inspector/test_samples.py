"""Filters and orders against a plain loop over samples, written from what they promise."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak.data.manifest import ImageArrays, Manifest
from onepeak.data.tables.frame import from_frame
from onepeak.errors import InputError
from onepeak.posterior.predictions import Predictions
from onepeak.report.source import Source
from onepeak.serving.inspector.inspection import SORTS, Filter
from onepeak.serving.inspector.runs import find_runs
from onepeak.serving.inspector.samples import RunPredictions, chosen, read_run_predictions, samples_of
from report.whole_runs import posteriors, write_whole_run

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
NAMES = {part: [f"Item {item}" for item in each.predictions.items] for part, each in SAID.items()}
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
)
def test_a_filter_keeps_what_it_says(part, truth, predicted, min_error, soi_below, paradoxical, search):
    wanted = Filter(
        method="ce",
        part=part,
        truth=truth,
        predicted=predicted,
        min_error=min_error,
        soi_below=soi_below,
        paradoxical=paradoxical,
        search=search,
    )
    expected = {
        (row["part"], row["item"])
        for row in ROWS
        if part in (None, row["part"])
        and truth in (None, row["truth"])
        and predicted in (None, row["predicted"])
        and row["error"] >= min_error
        and (soi_below is None or row["soi"] < soi_below - 1e-9)
        and (row["paradoxical"] or not paradoxical)
        and search.strip().lower() in f"item {row['item']}"
    }
    found = keys(chosen(SAMPLES, wanted, NAMES))
    assert len(found) == len(set(found))
    assert set(found) == expected


@given(
    beaten=st.booleans(),
    differ=st.integers(0, 3),
    min_width=st.integers(0, 4),
    flagged=st.booleans(),
    seed=st.integers(0, 3),
)
def test_a_second_method_intervals_and_flags_filter_as_they_say(beaten, differ, min_width, flagged, seed):
    rng = np.random.default_rng(seed)
    others, widths = rng.integers(-1, NUM_CLASSES, len(ROWS)), rng.integers(0, 5, len(ROWS))
    marked = {(row["part"], row["item"]) for row in ROWS if row["item"] % 3 == 0}
    wanted = Filter(method="ce", beaten=beaten, differ=differ, min_width=min_width, flagged=flagged, other="elb")
    expected = {
        (row["part"], row["item"])
        for row, other, width in zip(ROWS, others, widths, strict=True)
        if (not (beaten or differ) or other >= 0)
        and (not beaten or (row["error"] > 0 and other == row["truth"]))
        and (not differ or abs(row["predicted"] - other) >= differ)
        and width >= min_width
        and (not flagged or (row["part"], row["item"]) in marked)
    }
    found = keys(chosen(SAMPLES, wanted, NAMES, others=others, widths=widths, flagged=marked))
    assert set(found) == expected


def test_a_group_is_named_whole():
    names = {part: [f"Item {item} · p{item % 12}" for item in each.predictions.items] for part, each in SAID.items()}
    found = keys(chosen(SAMPLES, replace(EVERYTHING, group="P1"), names))
    assert {item % 12 for _, item in found} == {1}  # not p10 and p11


KEYS = {
    "item": lambda row: (row["part"], row["item"]),
    "error": lambda row: (-row["error"], row["item"]),
    "disorder": lambda row: (round(row["soi"], 6), row["item"]),
    "order": lambda row: (-round(row["soi"], 6), row["item"]),
    "unsure": lambda row: (row["sure"], row["item"]),
    "sure": lambda row: (-row["sure"], row["item"]),
}


@pytest.mark.parametrize("sort", SORTS)
def test_an_order_is_the_one_it_is_called(sort):
    found = keys(chosen(SAMPLES, replace(EVERYTHING, sort=sort), NAMES))
    by_key = {(row["part"], row["item"]): KEYS[sort](row) for row in ROWS}
    assert len(found) == len(ROWS)
    assert [by_key[key] for key in found] == sorted(by_key.values())


def test_a_sample_is_found_by_its_item(tmp_path):
    write_whole_run(tmp_path, method="ce", num_test=7, num_classes=4)
    predictions = read_run_predictions(find_runs(tmp_path).runs[0], 4)
    assert predictions.place(3) == 3
    assert predictions.place(7) is None
    assert predictions.predictions.probs.sum(dim=1).tolist() == pytest.approx([1] * len(predictions), abs=1e-5)
    assert predictions.num_bytes >= predictions.predictions.log_probs.nbytes


@pytest.mark.bad_input
def test_posteriors_over_other_classes_are_refused(tmp_path):
    write_whole_run(tmp_path, method="ce", num_classes=4)
    with pytest.raises(InputError, match="must hold posteriors over 5 classes, got some over 4"):
        read_run_predictions(find_runs(tmp_path).runs[0], 5)


def names(paths, source):
    count = len(paths)
    zeros = torch.zeros(count, dtype=torch.int64)
    predictions = RunPredictions(
        predictions=Predictions(
            items=np.arange(count),
            sources=() if paths[0] is None else tuple(paths),
            truth=zeros,
            predicted_index=zeros,
            log_probs=torch.zeros(count, 2),
        )
    )
    return [predictions.name(place, source) for place in range(count)]


def test_a_sample_is_called_by_its_path_or_its_number():
    assert names(["a/1.png", "b.png"], Source(manifest=None)) == ["a/1.png", "b.png"]
    assert names([None, None], Source(manifest=None)) == ["item 0", "item 1"]


def test_a_row_of_a_table_is_called_by_its_line():
    manifest = from_frame(pd.DataFrame({"x": [1.0, 2.0], "label": [0, 1]}, index=[2, 4]))
    # the second has another label now: it is another row
    assert names([None, None], Source(manifest=manifest)) == ["row 2", "item 1"]


def test_who_it_belongs_to_is_added_where_that_is_known():
    manifest = Manifest(
        name="mine",
        items=ImageArrays(pixels=np.zeros((2, 4, 4, 3), dtype=np.uint8)),
        labels=np.array([0, 1]),
        classes=("a", "b"),
        groups=("anna", "ben"),
    )
    # the second has another label now: it is another sample, and nobody's
    assert names([None, None], Source(manifest=manifest)) == ["item 0 · anna", "item 1"]
