"""Several raters on the whole way: trained, resumed, compared, evaluated."""

import json

import numpy as np
import pandas as pd
import pytest

from onepeak.data.source import DataSource
from onepeak.serving import load
from onepeak.serving.evaluation_data import open_for


@pytest.fixture
def rated(tmp_path):
    """A table whose two raters see the same quantity through noise; the second leaves rows out."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 2))
    seen = x[:, :1] * 1.3 + 0.5 * rng.normal(size=(120, 2)) + 1.5
    ratings = pd.DataFrame(np.clip(seen.round(), 0, 3).astype(int), columns=["ann", "bob"]).astype("Int64")
    ratings.loc[rng.random(120) < 0.3, "bob"] = pd.NA
    pd.concat([pd.DataFrame(x, columns=["u", "v"]), ratings], axis=1).to_csv(tmp_path / "rated.csv", index=False)
    return tmp_path / "rated.csv"


@pytest.mark.usefixtures("here", "no_pages")
def test_a_model_of_several_raters_is_trained_resumed_and_evaluated(rated, run, tmp_path):
    words = ("train", rated, "--raters=ann,bob", "--epochs=3", "--logger=none", "--out", tmp_path / "model")
    status, _, errors = run(*words)
    assert (status, "labels of 2 raters (ann, bob), of whom two agree on" in errors) == (0, True), errors
    result = json.loads((tmp_path / "model" / "result.json").read_text())
    assert result["selected_by"] == "expected_mae"
    result = result["label_distribution"]
    assert result["test"]["raters"].keys() == {"ann", "bob"}
    assert run(*words, "--resume")[0] == 0
    status, _, errors = run("train", rated, "--label=ann", "--drop=bob", *words[3:], "--resume")
    assert (status, "with raters = ann,bob, not label = ann" in errors) == (2, True), errors

    status, printed, errors = run("evaluate", tmp_path / "model", rated, "--part", "test", "--json")
    assert status == 0, errors
    measured = json.loads(printed)["label_distribution"]
    assert {key: measured[key] for key in ("expected_mae", "rps")} == pytest.approx(
        {key: result["test"][key] for key in ("expected_mae", "rps")}
    )
    assert measured["raters"]["bob"] == pytest.approx(result["test"]["raters"]["bob"])
    status, printed, _ = run("evaluate", tmp_path / "model", rated)
    assert (status, "rater\tsamples\tQWK of the model\tQWK of other raters" in printed) == (0, True)

    model = load(tmp_path / "model")
    assert open_for(model, DataSource(rated)).label_as == "raters"
    assert open_for(model, DataSource(rated, label="ann")).label_as == "label"


@pytest.mark.usefixtures("here", "no_pages")
def test_methods_are_compared_on_label_probabilities(rated, run, tmp_path):
    table = pd.read_csv(rated)
    votes = {f"p_{k}": (table["ann"] == k).astype(int) + (table["bob"] == k) for k in range(4)}
    table[["u", "v"]].assign(**votes).to_csv(tmp_path / "votes.csv", index=False)
    words = ("compare", tmp_path / "votes.csv", "--label-probs=p_*", "--splits=1", "--folds=1", "--epochs=1", "--quiet")
    status, _, errors = run(*words, "--methods=ce,peak", "--out", tmp_path / "out")
    assert status == 0, errors
    results = [json.loads(each.read_text()) for each in (tmp_path / "out").glob("runs/*/*/result.json")]
    assert [each["label_distribution"]["test"].keys() for each in results] == [{"expected_mae", "rps"}] * 2
    status, _, errors = run(*words, "--methods=ce+lagrangian", "--dry-run", "--out", tmp_path / "dry")
    assert (status, "counts samples" in errors) == (2, True), errors
