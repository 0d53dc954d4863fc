import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

import onepeak
from onepeak.data.source import DataSource
from onepeak.errors import InputError
from onepeak.experiment import fit as fitting
from onepeak.experiment.executors.here import HereExecutor
from onepeak.experiment.fit import FitPlan, _rungs, begin_fit, check_same, fit, leaderboard, make_plan, plan_text
from onepeak.experiment.plan import Experiment, entries_from_text
from onepeak.training.recipe import Recipe

PLAN = FitPlan(
    preset="good",
    minutes=1,
    methods=["elb", "ce"],
    folds=3,
    epochs=[3, 6],
    candidates=[4, 2],
    seconds=30,
    backbone="mlp",
    frozen=False,
    parallel=False,
    data="planted",
    seed=0,
    lines=["data: planted"],
)


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A table of 120 rows, and a file that says which 24 of them are the test part."""
    folder, rng = tmp_path_factory.mktemp("planted"), np.random.default_rng(0)
    grades = rng.integers(0, 4, 120)
    columns = {"size": grades + rng.normal(size=120), "tone": rng.normal(size=120) - grades}
    pd.DataFrame({**columns, "grade": grades}).to_csv(folder / "planted.csv", index=False)
    parts = np.repeat(["train", "valid", "test"], [72, 24, 24])
    pd.DataFrame({"item": np.arange(120), "label": grades, "part": parts}).to_csv(folder / "parts.csv", index=False)
    return folder


def experiment_in(folder, methods="elb,ce"):
    source = DataSource(str(folder / "planted.csv"), label="grade")
    return Experiment(
        name="planted", source=source, methods=entries_from_text(methods), protocol=str(folder / "parts.csv"), splits=1
    )


@pytest.fixture
def fitted(planted, tmp_path, fabric):
    def run(name="out", folder=planted, plan=PLAN, report=lambda _: None):
        return fit(
            experiment_in(folder),
            tmp_path / name,
            plan,
            executor=HereExecutor(fabric),
            fabric=fabric,
            quiet=True,
            report=report,
        )

    return run


def test_the_best_of_the_last_rung_is_the_model_and_all_candidates_are_on_the_board(fitted, tmp_path):
    result = fitted()
    board = result["fit"]["board"]
    assert [row["epochs"] for row in board] == [6, 6, 3, 3, 3, 3]
    assert board[0]["score"] <= board[1]["score"]
    assert board[2]["score"] <= board[3]["score"] <= board[4]["score"]
    assert {row["lr"] for row in board[:2]} == {row["lr"] for row in board[2:4]}  # the better ones went on
    assert (result["method"], result["fit"]["members"]) == (board[0]["method"], 3)
    assert result["sizes"] == {"train": 96, "valid": 57, "test": 24}
    text = (tmp_path / "out" / "leaderboard.md").read_text()
    assert f"MAE {result['metrics']['test']['mae']:.3f}" in text
    assert text.count("\n| ") == 7
    assert not (tmp_path / "out" / "search").exists()
    assert fitted() == json.loads((tmp_path / "out" / "result.json").read_text())  # done is done


def test_the_model_is_the_mean_of_the_folds_and_predicts_as_it_was_measured(fitted, planted, tmp_path):
    fitted()
    model = onepeak.load(tmp_path / "out")
    rows = pd.read_csv(planted / "planted.csv").tail(24)
    kept = pd.read_parquet(tmp_path / "out" / "predictions.parquet")
    found = model.predict(rows.drop(columns="grade"), raw=True)
    np.testing.assert_allclose(found.log_probs, np.stack(kept.query("part == 'test'")["log_probs"]), atol=1e-5)
    out_of_fold = kept.query("part == 'valid'")["item"]
    assert len(out_of_fold) == out_of_fold.nunique() == 57  # in three folds of five
    encoded = torch.from_numpy(model.description.table.encode(model.description.table and _rows(model, rows)))
    members = [each.method.log_probs(each(encoded)) for each in model.network.head.members]
    assert len(members) == 3
    mean = torch.stack(members).mean(dim=0).log_softmax(dim=-1)
    one_peaked = onepeak.posterior.is_unimodal(mean)
    torch.testing.assert_close(found.log_probs[one_peaked], mean[one_peaked].detach(), atol=1e-4, rtol=1e-4)
    if model.description.one_peak:
        assert found.unimodal.all()


def _rows(model, frame):
    from onepeak.serving.table_rows import rows_of

    return rows_of(frame.drop(columns="grade"), model.description.table).rows


def test_a_fit_that_is_killed_ten_times_gives_the_same_model(fitted, tmp_path):
    fitted("whole")
    kills = []
    for after in (1, 4, 5, 9, 3, 17, 2, 30, 8, 21):
        events = []

        def report(event, events=events, after=after):
            events.append(event)
            if len(events) == after:
                raise KeyboardInterrupt

        try:
            fitted("killed", report=report)
        except KeyboardInterrupt:
            kills.append(after)
    fitted("killed")
    assert len(kills) >= 8
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for name in ("model.safetensors", "predictions.parquet"):
        assert (whole / name).read_bytes() == (killed / name).read_bytes()
    boards = [json.loads((each / "result.json").read_text())["fit"]["board"] for each in (whole, killed)]
    assert [{**row, "seconds": 0} for row in boards[0]] == [{**row, "seconds": 0} for row in boards[1]]


def test_nothing_of_the_test_part_reaches_a_choice(fitted, planted, tmp_path):
    """A test part that says the opposite of all the rest gives the same choices and the same weights."""
    other = tmp_path / "other"
    other.mkdir()
    for name, column in (("planted.csv", "grade"), ("parts.csv", "label")):
        table = pd.read_csv(planted / name)
        table.loc[96:, column] = 3 - table.loc[96:, column]
        table.to_csv(other / name, index=False)
    first, second = fitted("first"), fitted("second", folder=other)
    boards = [[{**row, "seconds": 0} for row in each["fit"]["board"]] for each in (first, second)]
    assert boards[0] == boards[1]
    assert (tmp_path / "first" / "model.safetensors").read_bytes() == (
        tmp_path / "second" / "model.safetensors"
    ).read_bytes()
    assert first["calibration"]["temperature"] == second["calibration"]["temperature"]
    assert first["metrics"]["test"]["mae"] != second["metrics"]["test"]["mae"]


def test_on_one_fold_the_model_is_a_single_network(fitted, tmp_path):
    result = fitted(plan=replace(PLAN, folds=1, preset="fast", epochs=[4], candidates=[1]))
    assert result["fit"]["members"] == 1
    assert onepeak.load(tmp_path / "out").description.members == 1
    assert result["sizes"] == {"train": 72, "valid": 24, "test": 24}


@pytest.mark.parametrize(("minutes", "preset"), [(0.2, "fast"), (1, "good"), (10, "best"), (100, "good")])
def test_a_plan_fills_its_budget_and_does_not_exceed_it(planted, fabric, monkeypatch, minutes, preset):
    monkeypatch.setattr(fitting, "probe", lambda *_, **__: ("mlp", 1e-4, 3.0))
    plan = make_plan(experiment_in(planted), preset=preset, minutes=minutes, speedup=1.0, fabric=fabric)
    assert plan.seconds <= 0.8 * 60 * minutes
    assert plan.candidates == sorted(plan.candidates, reverse=True)
    assert plan.epochs == sorted(plan.epochs)
    most = {"fast": 3, "good": 27, "best": 81}[preset]
    assert plan.candidates[0] == most or plan.seconds > 0.5 * 0.8 * 60 * minutes - 3
    assert "the test part is opened once, at the end" in plan_text(plan)


def test_the_search_covers_each_setting_evenly_and_leaves_what_was_given(planted):
    names = fitting.searched(experiment_in(planted))
    found = pd.DataFrame(fitting.spread(Recipe(lr=1e-3), names, 16, seed=1))
    for name, low, high in (("lr", 1e-4, 1e-2), ("weight_decay", 1e-5, 0.3)):
        place = np.log(found[name] / low) / np.log(high / low)
        assert np.bincount((16 * place).astype(int), minlength=16).tolist() == [1] * 16
    given = replace(experiment_in(planted), recipe={"lr": 0.01, "weight_decay": 0.1})
    assert fitting.searched(given) == fitting.spread(Recipe(), [], 16, seed=1) == []


def test_a_rung_has_a_third_of_the_candidates_and_three_times_the_epochs():
    assert _rungs(90, 9, 3) == ([10, 30, 90], [9, 3, 1])
    assert _rungs(90, 2, 3) == ([30, 90], [2, 1]) or _rungs(90, 2, 3) == ([10, 30, 90], [2, 1, 1])
    assert _rungs(90, 1, 3) == ([90], [1])


@pytest.mark.bad_input
def test_a_plan_is_kept_and_other_settings_are_refused(tmp_path):
    assert begin_fit(tmp_path, None) is None
    assert begin_fit(tmp_path, PLAN) == begin_fit(tmp_path, None) == PLAN
    assert (tmp_path / "plan.md").read_text() == "# Plan\n\n- data: planted\n"
    asked = {"preset": "good", "minutes": 1, "methods": ["elb", "ce"], "seed": 0, "frozen": False}
    check_same(PLAN, **asked)
    with pytest.raises(InputError, match="holds another fit, with minutes = 1, not 2"):
        check_same(PLAN, **{**asked, "minutes": 2})


def test_a_failed_candidate_is_last_on_the_board(fitted, planted, fabric, tmp_path):
    experiment = replace(experiment_in(planted), recipe={"lr": 1e28, "optimizer": "sgd", "schedule": "constant"})
    plan = replace(PLAN, folds=1, epochs=[3], candidates=[2], methods=["elb", "ce"])
    with pytest.raises(fitting.UnfinishedError, match="No candidate could be trained"):
        fit(experiment, tmp_path / "wild", plan, executor=HereExecutor(fabric), fabric=fabric, quiet=True)
    rows = {"fit": {"board": [{"method": "ce", "epochs": 3, "score": None, "seconds": 0.0}]}, "selected_by": "mae"}
    shown = {"mae": 1.0, "accuracy": 0.5, "unimodal": 1.0}
    text = leaderboard({**rows, "metrics": {"test": shown}, "constant": {"label": "a", "test_mae": 2.0}})
    assert "| ce | default | 3 | failed | 0.0 |" in text
