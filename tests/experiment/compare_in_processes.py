"""Comparisons in real processes that are killed, interrupted, or at work at once: run by `test_local.py`.

Long because it is one process, from which all others are forked.
"""

import contextlib
import json
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

import torch

from experiment.tiny import tiny
from onepeak.experiment import compare as comparing
from onepeak.experiment.compare import compare
from onepeak.experiment.events import EpochDone, Finished, Lost, Started
from onepeak.experiment.executors import worker
from onepeak.experiment.executors.local import LocalExecutor, WorkerError
from onepeak.experiment.folder import claim
from onepeak.experiment.plan import MethodEntry, grid

KILLED = -signal.SIGKILL


def train(prepared_experiment, folder, *, workers=2, pack=1, act=lambda _: None):
    """How the runs ended by name, which began and were lost in turn, and the most that were at work at once."""
    executor = LocalExecutor(device="cpu", workers=workers, pack=pack, start="fork")
    lives, at_once = [], [0]

    def report(event):
        if isinstance(event, Started | Lost):
            lives.append(f"{type(event).__name__} {event.run.entry.label}")
        at_once.append(at_once[-1] + isinstance(event, Started) - isinstance(event, Finished))
        act(event)

    outcome = compare(prepared_experiment, folder, executor=executor, report=report)
    return {
        "finished": [run.name for run in outcome.finished],
        "failed": {event.run.name: event.message for event in outcome.failed},
        "lives": lives,
        "at once": max(at_once),
    }


def started(work):
    """A child that is the leader of a group of processes, as a command in a shell is."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.setsid()
        work()
        status = 0
    except KeyboardInterrupt:
        status = 3
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def status_of(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def ended_within(child, seconds):
    """Whether a child ended by itself by then."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return True
        time.sleep(0.01)
    return False


def killed_at_random(prepared_experiment, folder, *, fewest=10):
    """Kills of the whole group until a comparison is done; the folders, and the finished runs at every kill."""
    chance = random.Random(0)
    start = time.perf_counter()
    if status_of(started(lambda: train(prepared_experiment, folder / "whole"))):
        sys.exit("the uninterrupted comparison failed")
    duration = time.perf_counter() - start
    kills = []
    while len(kills) < fewest:
        name = f"killed{len(kills)}"
        status, patience = KILLED, duration
        while status == KILLED:
            start = time.perf_counter()
            child = started(lambda name=name: train(prepared_experiment, folder / name))
            if ended_within(child, chance.uniform(0.1, 0.55) * patience):
                duration = min(duration, time.perf_counter() - start)  # else none is killed on a less busy machine
            patience *= 1.1  # on a machine that has become busy too, it comes to an end
            with contextlib.suppress(ProcessLookupError):  # it is done already
                os.killpg(child, signal.SIGKILL)
            status = status_of(child)
            if status == KILLED:
                unfinished = list((folder / name).rglob("checkpoint.pt"))
                finished = list((folder / name).rglob("result.json"))
                kills.append({"folder": name, "finished": len(finished), "unfinished": len(unfinished)})
        if status:
            sys.exit(f"{name} failed after a kill")
    return kills


def two_at_once(prepared_experiment, folder):
    """Two comparisons of one folder: what each began, and how each ended."""

    def work(name):
        began = []

        def note(event):
            if isinstance(event, Started):
                began.append(event.run.name)

        train(prepared_experiment, folder, workers=1, act=note)
        (folder.parent / f"{name}.json").write_text(json.dumps(began))

    names = ("first", "second")
    children = [started(lambda name=name: work(name)) for name in names]
    statuses = [status_of(child) for child in children]
    return {"statuses": statuses, "began": [json.loads((folder.parent / f"{name}.json").read_text()) for name in names]}


def killing_the_worker():
    """Kills the only worker when its second run begins."""
    began = []

    def act(event):
        if isinstance(event, Started):
            began.append(event.run.name)
            if len(began) == 2:
                (child,) = multiprocessing.active_children()
                os.kill(child.pid, signal.SIGKILL)

    return act


@contextlib.contextmanager
def training_is(broken):
    """In workers that are started within, runs are trained by a function of the run and how it is done otherwise."""
    original = comparing._train
    comparing._train = lambda run, *rest, alone: broken(run, lambda: original(run, *rest, alone=alone))
    try:
        yield
    finally:
        comparing._train = original


@contextlib.contextmanager
def claiming_is(broken):
    """In workers that are started within, something happens before a run of `ce` is claimed."""
    original = comparing.claim

    def claim_it(place):
        if "ce" in place.parts:
            broken()
        return original(place)

    comparing.claim = claim_it
    try:
        yield
    finally:
        comparing.claim = original


def an_error_that_was_not_foreseen():
    """The first run meets an error that is not onepeak's own."""

    def broken(run, train_it):
        if run.entry.label == "ce":
            raise RuntimeError("the device is gone")
        return train_it()

    return training_is(broken)


def an_error_that_spoils_the_process(folder):
    """One of three runs meets an error that every other run in the same process meets from then on."""
    together, gone = threading.Barrier(2), threading.Event()

    def broken(run, train_it):
        if run.entry.label == "ce" and not (folder / "gone").exists():
            together.wait(20)
            (folder / "gone").touch()
            gone.set()
            raise RuntimeError("the device is gone")
        if run.entry.label == "elb" and not (folder / "gone").exists():
            together.wait(20)
            gone.wait(20)
        if gone.is_set():
            raise RuntimeError("the device is gone")
        return train_it()

    return training_is(broken)


def too_little_memory(folder):
    """Of three runs in a process `elb` has memory only without another beside it, and `ld` never."""
    together, at_work = threading.Barrier(3), set()

    def broken(run, train_it):
        label = run.entry.label
        at_work.add(label)
        try:
            begun = folder / f"{label}-has-begun"  # which the next process knows of too
            if first := not begun.exists():
                begun.touch()
                together.wait(20)
            if label == "ld" or (label == "elb" and (first or len(at_work) > 1)):
                raise torch.OutOfMemoryError("out of memory")
            return train_it()
        finally:
            at_work.discard(label)

    return training_is(broken)


def a_folder_that_cannot_be_used():
    """Not even an error can be written down beside the first run."""

    def refuse():
        raise PermissionError("not yours")

    return claiming_is(refuse)


def a_run_that_kills_its_process():
    """The first run takes its worker down before a word is heard of it."""
    return claiming_is(lambda: os.kill(os.getpid(), signal.SIGKILL))


def workers_that_do_not_start(prepared_experiment, folder):
    """What is said where every worker ends before it has begun."""
    original = worker._behave
    worker._behave = lambda *_, **__: os._exit(7)
    try:
        train(prepared_experiment, folder, workers=2)
    except WorkerError as error:
        return str(error)
    finally:
        worker._behave = original


def interrupted(prepared_experiment, folder, number):
    """A signal for the leader of the group, after the first epoch; who of the workers is there afterwards."""
    workers = folder.parent / f"workers-{folder.name}"

    def work():
        def act(event):
            if isinstance(event, EpochDone) and not workers.exists():
                workers.write_text(" ".join(str(child.pid) for child in multiprocessing.active_children()))
                if number == signal.SIGINT:
                    os.killpg(0, number)  # as a terminal does for Ctrl-C
                else:
                    os.kill(os.getpid(), number)

        train(prepared_experiment, folder, act=act)

    status = status_of(started(work))
    free = []
    end = time.monotonic() + 20
    for run in grid(prepared_experiment.experiment.methods, prepared_experiment.splits):
        ours = False
        while not ours and time.monotonic() < end:
            with claim(run.folder(folder)) as ours:
                pass
            time.sleep(0 if ours else 0.05)
        free.append(ours)
    return {"status": status, "workers": [int(each) for each in workers.read_text().split()], "free": all(free)}


def main(place):
    cache, packed = place / "cache", {"workers": 2, "pack": 2}
    prepared_experiment = tiny(cache)
    wild = MethodEntry(name="ce", recipe={"lr": 1e30}, label="wild")
    facts = {"kills": killed_at_random(prepared_experiment, place)}
    train(prepared_experiment, place / "one-worker", workers=1)
    facts["two"] = two_at_once(prepared_experiment, place / "shared")
    facts["packed"] = train(prepared_experiment, place / "packed", workers=3, pack=2)
    patient = tiny(cache, epochs=60, patience=1)
    train(patient, place / "patient", workers=1)
    facts["packed patient"] = train(patient, place / "packed-patient", **packed)
    failing = tiny(cache, wild, "elb", num_splits=1)
    facts["failing"] = [train(failing, place / "failing") for _ in range(2)]
    facts["packed failing"] = [train(failing, place / "packed-failing", **packed) for _ in range(2)]
    three = tiny(cache, "ce", "elb", "ld", num_splits=1)
    facts["dying"] = train(three, place / "dying", workers=1, act=killing_the_worker())
    facts["packed dying"] = train(three, place / "packed-dying", **packed, act=killing_the_worker())
    short = tiny(cache, "ce", "elb", "ld", num_splits=1, epochs=1)
    for name, broken in (
        ("unforeseen", an_error_that_was_not_foreseen),
        ("forbidden", a_folder_that_cannot_be_used),
        ("killing", a_run_that_kills_its_process),
    ):
        with broken():
            facts[name] = train(short, place / name, workers=1)
            facts[f"packed {name}"] = train(short, place / f"packed-{name}", **packed)
    with an_error_that_spoils_the_process(place / "packed-spoilt"):
        facts["packed spoilt"] = train(short, place / "packed-spoilt", **packed)
    with too_little_memory(place / "packed-full"):
        facts["packed full"] = train(short, place / "packed-full", workers=3, pack=3)
    facts["no start"] = workers_that_do_not_start(short, place / "no-start")
    long = tiny(cache, epochs=500)
    facts["interrupt"] = interrupted(long, place / "interrupted", signal.SIGINT)
    facts["orphans"] = interrupted(long, place / "orphaned", signal.SIGKILL)
    sys.stdout.write(json.dumps(facts))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]))
