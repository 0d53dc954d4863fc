import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import timm
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

import onepeak
from onepeak.data.source import DataSource
from onepeak.errors import InputError
from onepeak.experiment import fit as fitting
from onepeak.experiment import search as searching
from onepeak.experiment.compare import HereExecutor
from onepeak.experiment.estimate import Probe, probe
from onepeak.experiment.fit import FitPlan, Stage, begin_fit, check_same, fit, leaderboard, make_plan, plan_text
from onepeak.experiment.plan import Experiment, entries_from_text
from onepeak.experiment.prepared import check_with, open_manifest, prepare_experiment, splits_of
from onepeak.experiment.search import Cost, Step, UnfinishedError, next_step, searched, spread
from onepeak.training.recipe import Recipe

PLAN = FitPlan(
    preset="good",
    minutes=1,
    settings={},
    stages=[
        Stage(
            frozen=False,
            cost=Cost(epoch=0.01, start=0, folds=3),
            parallel=False,
            steps=[
                Step(round=0, candidates=4, epochs=3, ahead=[6]),
                Step(round=0, candidates=2, epochs=6),
                Step(round=1, candidates=0, epochs=6, reason="that is enough"),
            ],
        )
    ],
    look=0,
    backbone="mlp",
    lines=["data: planted"],
)
"""Of a search that was decided before, so that nothing depends on the time."""


def undecided(*, folds=3, stages=(False,), **changes):
    """A plan without decisions."""
    cost = Cost(epoch=0.01, start=0, folds=folds)
    return replace(PLAN, stages=[Stage(frozen=each, cost=cost, parallel=False) for each in stages], **changes)


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
        name="planted",
        source=source,
        methods=entries_from_text(methods),
        protocol=str(folder / "parts.csv"),
        splits=1,
        recipe={"epochs": 3},
    )


@pytest.fixture
def here(fabric):
    """How a fit trains: in this process."""
    return {"executor": lambda _: HereExecutor(fabric), "fabric": fabric, "quiet": True, "clock": time.monotonic}


@pytest.fixture
def fitted(planted, tmp_path, here):
    def run(name="out", folder=planted, plan=PLAN, report=lambda _: None):
        out = tmp_path / name
        return fit(experiment_in(folder), out, begin_fit(out, plan), report=report, **here)

    return run


def test_the_best_of_the_last_rung_is_the_model_and_all_candidates_are_on_the_board(fitted, tmp_path):
    result = fitted()
    board = result["fit"]["board"]
    assert sorted(row["epochs"] for row in board) == [3, 3, 3, 3, 6, 6]
    assert [row["score"] for row in board] == sorted(row["score"] for row in board)
    better, longer = ([row for row in board if row["epochs"] == epochs] for epochs in (3, 6))
    assert {row["lr"] for row in longer} == {row["lr"] for row in better[:2]}  # the better ones went on
    assert (result["method"], result["fit"]["members"]) == (board[0]["method"], 3)
    assert result["sizes"] == {"train": 96, "valid": 57, "test": 24}
    text = (tmp_path / "out" / "leaderboard.md").read_text()
    assert f"MAE {result['metrics']['test']['mae']:.3f}" in text
    assert text.count("\n| ") == 8
    assert f"| always {result['constant']['label']!r} | | | {result['constant']['valid_mae']:.4f} | 0 | 0 |" in text
    assert all(row["predict_ms"] > 0 for row in board)
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


def settled(result):
    """The board of a fit without the times in it."""
    return [{**row, "seconds": 0, "predict_ms": 0} for row in result["fit"]["board"]]


def test_a_fit_that_is_killed_ten_times_repeats_its_decisions_and_gives_the_same_model(fitted, tmp_path, monkeypatch):
    monkeypatch.setattr(searching, "_MOST", 2)
    monkeypatch.setattr(searching, "_VAIN_ROUNDS", 1)
    plan = undecided(minutes=1000)
    results, decided = [fitted("whole", plan=plan)], []
    for after in (1, 4, 5, 9, 3, 7, 2, 8, 6, 5):
        events = []

        def report(event, events=events, after=after):
            events.append(event)
            if len(events) == after:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fitted("killed", plan=plan, report=report)
        steps = json.loads((tmp_path / "killed" / "fit.json").read_text())["stages"][0]["steps"]
        assert steps[: len(decided)] == decided  # the seconds too: nothing is decided twice
        decided = steps
    results.append(fitted("killed", plan=plan))
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for name in ("model.safetensors", "predictions.parquet"):
        assert (whole / name).read_bytes() == (killed / name).read_bytes()
    assert settled(results[0]) == settled(results[1])


def test_nothing_of_the_test_part_reaches_a_choice(fitted, planted, tmp_path):
    """A test part that says the opposite of all the rest gives the same choices and the same weights."""
    other = tmp_path / "other"
    other.mkdir()
    for name, column in (("planted.csv", "grade"), ("parts.csv", "label")):
        table = pd.read_csv(planted / name)
        table.loc[96:, column] = 3 - table.loc[96:, column]
        table.to_csv(other / name, index=False)
    first, second = fitted("first"), fitted("second", folder=other)
    assert settled(first) == settled(second)
    assert (tmp_path / "first" / "model.safetensors").read_bytes() == (
        tmp_path / "second" / "model.safetensors"
    ).read_bytes()
    assert first["calibration"]["temperature"] == second["calibration"]["temperature"]
    assert first["metrics"]["test"]["mae"] != second["metrics"]["test"]["mae"]


def test_a_second_search_may_find_nothing_and_the_best_of_both_is_the_model(fitted, tmp_path):
    result = fitted(plan=undecided(folds=1, preset="fast", stages=(False, False), minutes=1000))
    assert [row["frozen"] for row in result["fit"]["board"]] == [False] * 6
    assert result["fit"]["members"] == onepeak.load(tmp_path / "out").description.members == 1
    assert result["sizes"] == {"train": 72, "valid": 24, "test": 24}
    late = undecided(folds=1, preset="fast", stages=(False, False), minutes=0.001)
    assert len(fitted("late", plan=late)["fit"]["board"]) == 1


def test_a_method_that_had_no_time_in_the_first_round_is_tried_in_the_next(fitted):
    alone = [Step(round=number, candidates=1, epochs=3) for number in range(2)]
    plan = undecided(folds=1)
    stage = replace(plan.stages[0], steps=[*alone, Step(round=2, candidates=0, epochs=3, reason="enough")])
    board = fitted(plan=replace(plan, stages=[stage]))["fit"]["board"]
    assert {row["method"] for row in board} == {"elb", "ce"}


@pytest.fixture
def planned(fabric, monkeypatch):
    """Makes a plan from times that are told and not measured."""

    def plan(experiment, minutes, *, flips=None, may_thaw=False, **found):
        monkeypatch.setattr(fitting, "probe", lambda *_, **__: Probe(backbone="mlp", pace=1e-3, **found))
        how = {"preset": "good", "speedup": 1.0, "fabric": fabric, "flips": flips, "may_thaw": may_thaw}
        return make_plan(experiment, minutes=minutes, clock=lambda: 7.0, **how)

    return plan


def test_a_plan_says_what_is_tried_and_what_a_training_takes(planted, planned):
    plan = planned(experiment_in(planted), 1, decoding=100.0)
    assert (plan.stages[0].cost.epoch, plan.folds) == (pytest.approx(0.096), 3)
    text = plan_text(plan)
    assert "search: learning rate, weight decay, method, in rounds of successive halving" in text
    assert (
        "time: 1 minute; one candidate of 3 epochs takes about 4 s, after 1 min 40 s to read the images the first time"
        in text
    )
    assert (
        "not enough for reading the images and one whole training, which take 1 min 44 s: give --minutes 2 or more"
        in text
    )
    assert "not enough" not in plan_text(planned(experiment_in(planted), 2, decoding=100.0))


@pytest.fixture(scope="module")
def frozen(tmp_path_factory):
    """An experiment on thirty images in three classes with a frozen backbone, which is said to see mirror images."""
    folder, rng = tmp_path_factory.mktemp("photos"), np.random.default_rng(0)
    for number in range(30):
        path = folder / "scans" / str(number % 3) / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (24, 20, 3), np.uint8)).save(path)
    torch.manual_seed(0)
    save_file(timm.create_model("resnet10t", num_classes=0).state_dict(), folder / "resnet10t.safetensors")
    return Experiment(
        name="scans",
        source=DataSource(str(folder / "scans")),
        methods=entries_from_text("ce"),
        protocol="holdout",
        splits=1,
        recipe={"epochs": 3},
        network={"backbone": "resnet10t"},
        weights=str(folder / "resnet10t.safetensors"),
        freeze=True,
    )


def test_the_first_pass_is_timed_on_a_few_images_and_none_is_left_when_it_is_done(frozen, fabric, tmp_path):
    manifest = open_manifest(frozen)
    recipe, (split,) = check_with(manifest, frozen), splits_of(frozen, manifest)
    before = probe(frozen, manifest, split, recipe, fabric=fabric, cache=tmp_path)
    assert before.first_pass == before.decoding + before.features > before.decoding > 0
    prepare_experiment(frozen, manifest, recipe, cache=tmp_path, quiet=True)
    after = probe(frozen, manifest, split, recipe, fabric=fabric, cache=tmp_path)
    assert (after.has_features, after.first_pass) == (True, 0)
    assert after.features > 0


def test_where_time_is_short_a_frozen_backbone_sees_no_mirror_images_and_the_plan_says_so(
    frozen, planned, here, tmp_path
):
    times = {"decoding": 20.0, "features": 80.0}
    plan = planned(frozen, 1, **times)
    assert (plan.one_view, plan.look) == (True, 40)
    assert "give --minutes 2 or more; mirror images are left out, which saves 40 s" in plan_text(plan)
    for minutes, changes in ((2, {}), (1, {"flips": True}), (1, {"has_features": True})):
        assert not planned(frozen, minutes, **times | changes).one_view
    for minutes, stages in ((1, [True]), (4, [True, False])):  # whole networks follow if there is time
        assert [stage.frozen for stage in planned(frozen, minutes, may_thaw=True, **times).stages] == stages
    steps = [Step(round=0, candidates=1, epochs=3), Step(round=1, candidates=0, epochs=3, reason="enough")]
    plan = replace(plan, stages=[replace(plan.stages[0], steps=steps)])
    result = fit(frozen, tmp_path / "out", begin_fit(tmp_path / "out", plan), cache=tmp_path / "cache", **here)
    assert not result["recipe"]["augment"]["horizontal_flip"]
    (features,) = (tmp_path / "cache" / "features").glob("*.features.safetensors")
    assert load_file(features)["values"].shape[:2] == (30, 1)


def carried_out(minutes, *, estimated, true, folds=3, epochs=90, rungs=3, start=0.2):
    """The steps and the seconds of a search whose trainings take other times than was estimated."""
    steps, cost, seconds = [], Cost(epoch=estimated, start=start, folds=folds), 0.0
    for number in range(1000):
        slow = true(number) if callable(true) else true
        step = next_step(
            steps, cost, 60 * minutes - seconds, epochs=epochs, fewest=3, rungs=rungs, most=27 if steps else 3
        )
        steps.append(step)
        if not step.candidates:
            return steps, seconds
        real = Cost(epoch=slow, start=start, folds=folds)
        took = real.of([step.candidates], [step.epochs])
        trainings = step.candidates * folds
        cost = cost.measured([{"seconds": slow * step.epochs}] * trainings, step.epochs, took)
        seconds += took
    raise AssertionError("a search without an end")


@pytest.mark.parametrize("wrong", [0.25, 1, 4])
@pytest.mark.parametrize("minutes", [2, 10, 60])
def test_a_search_keeps_its_budget_though_trainings_take_other_times_than_estimated(minutes, wrong):
    steps, seconds = carried_out(minutes, estimated=0.05, true=0.05 * wrong)
    whole = Cost(epoch=0.05 * wrong, start=0.2, folds=3).of([1], [90])
    assert 60 * minutes - 0.4 * whole <= seconds <= 1.01 * 60 * minutes
    assert steps[-1].reason == "no time is left for another training"


def test_a_machine_that_becomes_busy_costs_candidates_and_no_time():
    calm, seconds = carried_out(10, estimated=0.05, true=0.05)
    assert seconds <= 606
    busy, seconds = carried_out(10, estimated=0.05, true=lambda number: 0.05 if number < 3 else 0.1)
    assert seconds <= 606
    assert sum(each.candidates for each in busy) < sum(each.candidates for each in calm)


def test_epochs_follow_from_the_time_there_is():
    cost = Cost(epoch=0.1, start=0, folds=1)
    for epochs, first, ahead in ((40, 30, [40]), (4, 4, [])):  # steps of a round differ in their epochs
        step = next_step([], cost, 600, epochs=epochs, fewest=30, rungs=3, most=9)
        assert (step.candidates, step.epochs, step.ahead) == (9, first, ahead)
    steps, seconds = carried_out(1, estimated=1, true=1)  # short of time, the first training has fewer
    assert [(each.candidates, each.epochs) for each in steps] == [(1, 19), (0, 90)]
    assert seconds <= 60
    steps, seconds = carried_out(10, estimated=2, true=3, folds=1, epochs=200)  # a short one tells the time
    assert [(each.candidates, each.epochs) for each in steps[:2]] == [(1, 67), (1, 132)]
    assert 0.9 * 600 <= seconds <= 606


def test_methods_that_are_chosen_from_by_default_had_one_peak_on_every_set_of_the_catalog():
    catalog = pd.read_csv(Path(__file__).parents[2] / "results/catalog/methods.csv", index_col="method")
    for names in fitting.METHODS.values():
        first, *others = names.split(",")
        assert first == "peak"
        assert (catalog.loc[others, "unimodal, worst set"] == 100).all()


def test_the_search_covers_each_setting_evenly_and_leaves_what_was_given(planted):
    names = searched(experiment_in(planted))
    found = pd.DataFrame(spread(Recipe(lr=1e-3), names, 16, seed=1))
    for name, low, high in (("lr", 1e-4, 1e-2), ("weight_decay", 1e-5, 0.3)):
        place = np.log(found[name] / low) / np.log(high / low)
        assert np.bincount((16 * place).astype(int), minlength=16).tolist() == [1] * 16
    near = pd.DataFrame(spread(Recipe(lr=1e-3), names, 16, seed=1, around={"lr": 2e-3, "weight_decay": 1e-5}))
    assert near["lr"].between(1e-3, 4e-3).all()
    assert near["weight_decay"].between(1e-5, 1e-4).all()
    assert searched(replace(experiment_in(planted), recipe={"lr": 0.01, "weight_decay": 0.1})) == []


def test_a_search_ends_when_two_rounds_find_nothing_better_and_says_so(planted, here, tmp_path, monkeypatch):
    monkeypatch.setattr(searching, "_MOST", 2)
    said = []
    result = fit(experiment_in(planted), tmp_path, undecided(minutes=1000), tell=said.append, **here)
    board, kept = result["fit"]["board"], json.loads((tmp_path / "fit.json").read_text())["stages"][0]["steps"]
    assert kept[-1]["candidates"] == 0
    assert any("nothing is left to try" in line and "in 2 rounds were no better" in line for line in said)
    assert len(board) == sum(each["candidates"] for each in kept)
    scores = [row["score"] for row in board]
    assert scores == sorted(scores)
    assert {row["epochs"] for row in board} <= {3, 6, 12}  # more if the best was still improving


def test_a_search_that_the_time_cut_short_says_so_and_what_time_it_would_take(planted, here, tmp_path):
    said = []
    experiment = replace(experiment_in(planted), methods=entries_from_text("ce"))
    plan = undecided(folds=1, preset="fast", minutes=0.001)  # of 3 epochs of 0.01 s one fits, and three do not
    result = fit(experiment, tmp_path, plan, tell=said.append, **here | {"clock": lambda: 0.0})
    assert len(result["fit"]["board"]) == 1
    assert any("the time was enough for 1 of 3 candidates (for all, give --minutes 1 or more)" in line for line in said)
    for number, stages in ((0, (True, False)), (1, (True, False)), (0, (False,))):
        plan = undecided(stages=stages)
        enough = plan.minutes_for(number, 300.0)
        limits = [replace(plan, minutes=enough - less).limit(number) for less in (1, 0)]
        assert limits[0] < 300 <= limits[1]


@pytest.mark.bad_input
def test_other_settings_and_other_data_are_another_fit(planted, planned, tmp_path):
    asked, experiment = {"preset": "good", "minutes": 1}, experiment_in(planted)
    assert begin_fit(tmp_path, None) is None
    begin_fit(tmp_path, planned(experiment, 1))
    plan = begin_fit(tmp_path, None)
    assert (tmp_path / "plan.md").read_text() == plan_text(plan)
    check_same(plan, experiment, flips=None, **asked)
    moved = replace(experiment.source, data="elsewhere/planted.csv")
    check_same(plan, replace(experiment, source=moved), flips=None, **asked)
    for change, told in (
        ({"name": "others"}, "name is 'planted' there and 'others' here"),
        ({"recipe": {"epochs": 3, "lr": 1}}, "recipe.lr is not given there and 1 here"),
        ({"seed": 1}, "seed is 0 there and 1 here"),
    ):
        with pytest.raises(InputError, match=f"holds another fit: {told}"):
            check_same(plan, replace(experiment, **change), flips=None, **asked)
    with pytest.raises(InputError, match=r"minutes is 1\.0 there and 2\.0 here; flips is False there and True here"):
        check_same(plan, experiment, preset="good", minutes=2.0, flips=True)


def test_a_failed_candidate_is_last_on_the_board(planted, here, tmp_path):
    experiment = replace(
        experiment_in(planted), recipe={"epochs": 3, "lr": 1e28, "optimizer": "sgd", "schedule": "constant"}
    )
    plan = undecided(folds=1)
    with pytest.raises(UnfinishedError, match="No candidate could be trained"):
        fit(experiment, tmp_path, begin_fit(tmp_path, plan), **here)
    rows = {
        "fit": {"board": [{"method": "ce", "epochs": 3, "score": None, "seconds": 0.0, "predict_ms": 0.0}]},
        "selected_by": "mae",
    }
    shown = {"mae": 1.0, "accuracy": 0.5, "unimodal": 1.0}
    text = leaderboard(
        {**rows, "metrics": {"test": shown}, "constant": {"label": "a", "test_mae": 2.0, "valid_mae": 2.0}}
    )
    assert "| ce | default | 3 | failed | 0.0 | 0 |" in text
