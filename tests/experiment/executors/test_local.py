"""Comparisons in processes of their own; `compare_in_processes.py` makes them, once."""

import errno
import json
import signal
from dataclasses import replace
from multiprocessing import Pipe
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from experiment.tiny import assert_same_runs, process_is_alive, tiny
from onepeak._core.files import NotWrittenError
from onepeak.errors import InputError
from onepeak.experiment.compare import compare
from onepeak.experiment.executors import worker
from onepeak.experiment.executors.local import LocalExecutor, devices_of, least_busy
from onepeak.networks.build import NetworkSettings
from onepeak.report.tables import write_tables
from onepeak.training.pack import MOST_LANES, PACKING_GAIN

RUNS = ["ce/split0-fold0", "elb/split0-fold0", "ce/split1-fold0", "elb/split1-fold0"]


def table_of(folder):
    return write_tables(folder).csv.read_bytes()


def test_killed_at_random_moments_it_ends_in_the_same_table_and_bits(compared):
    place, facts = compared
    kills = facts["kills"]
    assert len(kills) >= 10
    assert sum(kill["unfinished"] > 0 for kill in kills) >= 5  # else no run was caught at work
    for folder in {kill["folder"] for kill in kills}:
        assert_same_runs(place / folder, place / "whole")
    assert table_of(place / kills[-1]["folder"]) == table_of(place / "whole")


@pytest.mark.parametrize("way", ["one-worker", "packed"])
def test_one_worker_two_and_lanes_of_two_give_the_same_bits(compared, way):
    place, facts = compared
    assert_same_runs(place / way, place / "whole")
    assert facts["packed"]["at once"] == 3  # no more than were asked for, in two processes of two lanes


def test_packed_runs_that_stop_early_leave_their_place_to_others(compared):
    place, facts = compared
    assert facts["packed patient"]["at once"] == 2  # of four runs, in one process of two lanes
    results = [json.loads(path.read_text()) for path in (place / "packed-patient").rglob("result.json")]
    assert len(results) == 4
    assert all(result["stopped_early"] and result["epochs"] == result["best_epoch"] + 2 for result in results)
    assert_same_runs(place / "packed-patient", place / "patient")


def test_two_comparisons_of_one_folder_share_the_work_and_do_no_run_twice(compared):
    place, facts = compared
    assert facts["two"]["statuses"] == [0, 0]
    first, second = facts["two"]["began"]
    assert sorted(first + second) == sorted(RUNS)
    assert first
    assert second
    assert_same_runs(place / "shared", place / "whole")


@pytest.mark.parametrize("way", ["failing", "packed failing"])
def test_a_run_that_fails_is_written_down_and_when_started_again_only_that_is_tried_again(compared, way):
    place, facts = compared
    first, second = facts[way]
    assert first["finished"] == second["finished"] == ["elb/split0-fold0"]
    assert first["failed"].keys() == second["failed"].keys() == {"wild/split0-fold0"}
    assert second["lives"] == ["Started wild"]
    error = json.loads((place / way.replace(" ", "-") / "runs/wild/split0-fold0/error.json").read_text())
    assert error["message"] == second["failed"]["wild/split0-fold0"]
    assert "loss is not a number at epoch 0" in error["message"]
    assert (error["label"], error["method"], error["split"], error["kind"]) == ("wild", "ce", 0, "DivergedError")
    assert "Traceback" in error["traceback"]


def test_a_worker_that_dies_fails_its_run_and_is_replaced(compared):
    place, facts = compared
    dying = facts["dying"]
    assert dying["finished"] == ["ce/split0-fold0", "ld/split0-fold0"]
    assert dying["failed"].keys() == {"elb/split0-fold0"}
    error = json.loads((place / "dying" / "runs/elb/split0-fold0/error.json").read_text())
    assert "was ended by SIGKILL" in error["message"]
    assert "memory" in error["message"]


def test_of_runs_whose_packed_worker_dies_each_is_tried_again_alone(compared):
    _, facts = compared
    dying = facts["packed dying"]
    assert (dying["finished"], dying["failed"]) == (["ce/split0-fold0", "elb/split0-fold0", "ld/split0-fold0"], {})
    first, rest = dying["lives"][:4], dying["lives"][4:]
    assert sorted(first) == ["Lost ce", "Lost elb", "Started ce", "Started elb"]
    assert rest == ["Started ld", "Started ce", "Started elb"]


@pytest.mark.parametrize("way", ["", "packed "])
@pytest.mark.parametrize(
    ("name", "message"),
    [("unforeseen", "RuntimeError: the device is gone"), ("forbidden", "PermissionError: not yours")],
)
def test_after_an_error_that_was_not_foreseen_a_fresh_worker_does_the_other_runs(compared, way, name, message):
    _, facts = compared
    found = facts[f"{way}{name}"]
    assert found["finished"] == ["elb/split0-fold0", "ld/split0-fold0"]
    assert found["failed"] == {"ce/split0-fold0": message}


def test_runs_that_an_error_of_another_has_brought_down_go_on_in_a_fresh_worker(compared):
    _, facts = compared
    spoilt = facts["packed spoilt"]
    assert (spoilt["finished"], spoilt["failed"]) == (["ce/split0-fold0", "elb/split0-fold0", "ld/split0-fold0"], {})
    assert {"Lost ce", "Lost elb"} <= set(spoilt["lives"])
    assert spoilt["lives"].count("Started ce") == spoilt["lives"].count("Started elb") == 2


def test_a_run_without_memory_beside_others_is_tried_with_fewer_and_fails_only_alone(compared):
    place, facts = compared
    full = facts["packed full"]
    assert full["finished"] == ["ce/split0-fold0", "elb/split0-fold0"]
    assert full["failed"] == {"ld/split0-fold0": "OutOfMemoryError: out of memory"}
    first, rest = full["lives"][:5], full["lives"][5:]
    assert sorted(first) == ["Lost elb", "Lost ld", "Started ce", "Started elb", "Started ld"]  # `ce` is left at work
    assert sorted(rest) == ["Started elb", "Started ld"]
    assert not (place / "packed-full" / "runs" / "elb" / "split0-fold0" / "error.json").exists()
    assert (place / "packed-full" / "runs" / "ld" / "split0-fold0" / "error.json").exists()


@pytest.mark.parametrize("way", ["killing", "packed killing"])
def test_a_run_that_ends_its_worker_before_it_is_heard_of_is_tried_once_more_alone_and_fails(compared, way):
    place, facts = compared
    killing = facts[way]
    assert killing["finished"] == ["elb/split0-fold0", "ld/split0-fold0"]
    assert killing["failed"].keys() == {"ce/split0-fold0"}
    assert killing["lives"].count("Lost ce") == 1
    error = json.loads((place / way.replace(" ", "-") / "runs" / "ce" / "split0-fold0" / "error.json").read_text())
    assert error["message"] == killing["failed"]["ce/split0-fold0"]
    assert "was ended by SIGKILL" in error["message"]


def test_where_no_worker_starts_that_is_said_and_no_run_is_blamed(compared):
    place, facts = compared
    assert facts["no start"].startswith("No worker could be started: the last ended with status 7.")
    assert not list((place / "no-start").rglob("error.json"))


def test_control_c_ends_all_workers_and_leaves_no_halves_of_files(compared):
    place, facts = compared
    interrupt = facts["interrupt"]
    assert interrupt["status"] == 3  # the interruption was passed on
    assert interrupt["free"]
    assert len(interrupt["workers"]) == 2
    assert not any(process_is_alive(worker) for worker in interrupt["workers"])
    assert not list((place / "interrupted").rglob("*.part"))
    assert not list((place / "interrupted").rglob("*.json"))


def test_workers_whose_parent_is_killed_end_and_free_their_runs(compared):
    _, facts = compared
    assert facts["orphans"]["status"] == -signal.SIGKILL
    assert len(facts["orphans"]["workers"]) == 2
    assert facts["orphans"]["free"]


def test_a_worker_on_a_cpu_has_one_thread_and_runs_share_as_many_processes_as_are_needed_for_them():
    assert [LocalExecutor(device="cpu", workers=workers).threads for workers in (1, 3)] == [1, 1]
    assert LocalExecutor(device="cpu", workers=1, threads=4).threads == 4
    assert devices_of("cpu") == ("cpu",)
    packed, alone = LocalExecutor(device="cpu", workers=5, pack=2), LocalExecutor(device="cpu", workers=5)
    assert (packed.processes, packed.lanes, packed.workers) == (3, 2, 5)
    assert (alone.processes, alone.lanes) == (5, 1)


def test_on_gpus_runs_that_may_not_share_a_process_have_a_gpu_each_unless_more_are_asked_for(monkeypatch):
    monkeypatch.setattr("onepeak.experiment.executors.local.devices_of", lambda _: ("cuda:0", "cuda:1"))
    free, asked = LocalExecutor(), LocalExecutor(workers=6)
    assert (free.processes, free.lanes, free.alone) == (2, MOST_LANES, 2)
    assert (asked.processes, asked.lanes, asked.alone) == (2, 3, 6)


def test_workers_take_gpus_in_turn_and_one_that_replaces_another_takes_its_gpu():
    gpus, busy = ("cuda:0", "cuda:1"), []
    for _ in range(3):
        busy.append(least_busy(gpus, busy))
    assert busy == ["cuda:0", "cuda:1", "cuda:0"]
    assert least_busy(gpus, ["cuda:0", "cuda:0"]) == "cuda:1"  # of three, the one in the middle has ended


def test_runs_at_once_are_as_much_faster_as_there_are_cores_or_as_packing_makes_them(monkeypatch):
    monkeypatch.setattr("onepeak.experiment.executors.local.num_cores", lambda: 4)
    assert [LocalExecutor(device="cpu").speedup(runs) for runs in (0, 1, 3, 100)] == [1, 1, 3, 4]
    assert [LocalExecutor(device="cpu", workers=workers).speedup(100) for workers in (2, 9)] == [2, 4]
    monkeypatch.setattr("onepeak.experiment.executors.local.devices_of", lambda _: ("cuda:0", "cuda:1"))
    assert [LocalExecutor().speedup(runs) for runs in (1, 2, 3, 100)] == [1, 2, 2 * PACKING_GAIN, 2 * PACKING_GAIN]
    assert LocalExecutor(workers=8, pack=1).speedup(100) == 2  # processes take turns


@pytest.mark.bad_input
def test_networks_that_draw_random_numbers_cannot_be_told_to_be_packed(tmp_path):
    prepared_experiment = replace(tiny(tmp_path), network=NetworkSettings(backbone="mlp", num_features=4, dropout=0.5))
    with pytest.raises(InputError, match=r"`pack` must be 1 for a network with dropout .* got 2"):
        LocalExecutor(device="cpu", workers=2, pack=2).run([], prepared_experiment, tmp_path, report=print)


@pytest.mark.bad_input
@pytest.mark.parametrize("name", ["workers", "threads", "pack"])
def test_none_at_all_is_refused(name):
    with pytest.raises(InputError, match=f"`{name}` must be an integer >= 1, got 0"):
        LocalExecutor(device="cpu", **{name: 0})


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_on_a_gpu_packed_runs_give_the_bits_of_runs_alone(tmp_path):
    prepared_experiment = tiny(tmp_path / "cache", "ce", "elb", "slopes", "mv+elb", num_splits=2)
    for name, pack in (("alone", 1), ("packed", 4), ("auto", "auto")):
        executor = LocalExecutor(device="cuda", workers=1 if pack == 1 else 8, pack=pack)
        outcome = compare(prepared_experiment, tmp_path / name, executor=executor, report=lambda _: None)
        assert not outcome.failed
    for weights in (tmp_path / "alone" / "runs").rglob("model.safetensors"):
        place = weights.relative_to(tmp_path / "alone")
        assert weights.read_bytes() == (tmp_path / "packed" / place).read_bytes()
        assert weights.read_bytes() == (tmp_path / "auto" / place).read_bytes()


@pytest.mark.bad_input
def test_a_full_disk_is_told_even_if_the_log_of_the_worker_is_on_it(monkeypatch):
    def refuse(*_, **__):
        raise NotWrittenError("result.json could not be written (No space left on device)")

    def no_room():
        raise OSError(errno.ENOSPC, "No space left on device")

    def end(status):
        raise SystemExit(status)

    monkeypatch.setattr(worker, "_behave", lambda *_, **__: None)
    monkeypatch.setattr(worker, "train_task", refuse)
    monkeypatch.setattr(worker.traceback, "print_exc", no_room)
    monkeypatch.setattr(worker.os, "_exit", end)
    experiment = SimpleNamespace(experiment=SimpleNamespace(precision="fp32"))
    place = worker.Workplace(
        prepared_experiment=experiment, folder=Path(), device="cpu", threads=1, lanes=1, finds_room=False, since=0.0
    )
    ours, theirs = Pipe()
    ours.send(SimpleNamespace(name="ce/split0-fold0"))
    ours.send(None)
    with pytest.raises(SystemExit, match="0"):
        worker.work(theirs, place)
    events = [ours.recv(), ours.recv()]
    assert "No space left on device" in events[1].message
