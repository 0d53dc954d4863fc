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
from onepeak.experiment import task
from onepeak.experiment.compare import compare
from onepeak.experiment.events import EpochDone, Finished, Lost, Started
from onepeak.experiment.executors import worker
from onepeak.experiment.executors.local import LocalExecutor, WorkerError
from onepeak.experiment.folder import claim
from onepeak.experiment.grid import grid
from onepeak.experiment.plan import MethodEntry

KILLED = -signal.SIGKILL


def ignore(event):
    pass


class AtOnce:
    """The most runs that were at work at the same time."""

    def __init__(self):
        self.now = self.most = 0

    def tell(self, event):
        self.now += isinstance(event, Started) - isinstance(event, Finished)
        self.most = max(self.most, self.now)


class Began(list):
    """The names of runs that began."""

    def tell(self, event):
        if isinstance(event, Started):
            self.append(event.run.name)


class Lives(list):
    """Which runs began, and which were lost, in turn."""

    def tell(self, event):
        if isinstance(event, Started | Lost):
            self.append(f"{type(event).__name__} {event.run.entry.label}")


def train(prepared_experiment, folder, *, workers=2, pack=1, report=ignore):
    executor = LocalExecutor(device="cpu", workers=workers, pack=pack, start="fork")
    return compare(prepared_experiment, folder, executor=executor, report=report)


def ends_of(outcome):
    """How the runs ended, by name."""
    return {
        "finished": [run.name for run in outcome.finished],
        "failed": {event.run.name: event.message for event in outcome.failed},
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
        began = Began()
        train(prepared_experiment, folder, workers=1, report=began.tell)
        (folder.parent / f"{name}.json").write_text(json.dumps(began))

    names = ("first", "second")
    children = [started(lambda name=name: work(name)) for name in names]
    statuses = [status_of(child) for child in children]
    return {"statuses": statuses, "began": [json.loads((folder.parent / f"{name}.json").read_text()) for name in names]}


def a_run_that_fails(prepared_experiment, folder, **settings):
    """A method that runs away beside one that does not; then the same once more."""
    outcomes = []
    for _ in range(2):
        began = Began()
        outcome = train(prepared_experiment, folder, report=began.tell, **settings)
        outcomes.append(ends_of(outcome) | {"began": began})
    return outcomes


def a_worker_that_dies(prepared_experiment, folder, **settings):
    """The worker is killed when its second run begins."""
    began, lives = Began(), Lives()

    def report(event):
        began.tell(event)
        lives.tell(event)
        if isinstance(event, Started) and len(began) == 2:
            (child,) = multiprocessing.active_children()
            os.kill(child.pid, signal.SIGKILL)

    outcome = train(prepared_experiment, folder, **settings, report=report)
    return ends_of(outcome) | {"killed": began[1], "lives": lives}


@contextlib.contextmanager
def training_is(broken):
    """In workers that are started within, runs are trained by a function of the run and how it is done otherwise."""
    original = task._train
    task._train = lambda run, *rest, alone: broken(run, lambda: original(run, *rest, alone=alone))
    try:
        yield
    finally:
        task._train = original


@contextlib.contextmanager
def claiming_is(broken):
    """In workers that are started within, something happens before a run of `ce` is claimed."""
    original = task.claim

    def claim_it(place):
        if "ce" in place.parts:
            broken()
        return original(place)

    task.claim = claim_it
    try:
        yield
    finally:
        task.claim = original


def an_error_that_was_not_foreseen(prepared_experiment, folder, **settings):
    """The first run of one worker meets an error that is not onepeak's own; what came of all runs."""

    def broken(run, train_it):
        if run.entry.label == "ce":
            raise RuntimeError("the device is gone")
        return train_it()

    with training_is(broken):
        return ends_of(train(prepared_experiment, folder, **settings))


def an_error_that_spoils_the_process(prepared_experiment, folder):
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

    lives = Lives()
    with training_is(broken):
        outcome = train(prepared_experiment, folder, workers=2, pack=2, report=lives.tell)
    return ends_of(outcome) | {"lives": lives}


def too_little_memory(prepared_experiment, folder):
    """Of three runs in a process `elb` has memory only without another beside it, and `ld` never; what came of them."""
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

    lives = Lives()
    with training_is(broken):
        outcome = train(prepared_experiment, folder, workers=3, pack=3, report=lives.tell)
    return ends_of(outcome) | {"lives": lives}


def a_folder_that_cannot_be_used(prepared_experiment, folder, **settings):
    """Not even an error can be written down beside the first run; what came of all runs."""

    def refuse():
        raise PermissionError("not yours")

    with claiming_is(refuse):
        return ends_of(train(prepared_experiment, folder, **settings))


def a_run_that_kills_its_process(prepared_experiment, folder, **settings):
    """The first run takes its worker down before a word is heard of it; what came of all runs, and what was told."""
    lives = Lives()
    with claiming_is(lambda: os.kill(os.getpid(), signal.SIGKILL)):
        outcome = train(prepared_experiment, folder, **settings, report=lives.tell)
    return ends_of(outcome) | {"lives": lives}


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
        def report(event):
            if isinstance(event, EpochDone) and not workers.exists():
                workers.write_text(" ".join(str(child.pid) for child in multiprocessing.active_children()))
                if number == signal.SIGINT:
                    os.killpg(0, number)  # as a terminal does for Ctrl-C
                else:
                    os.kill(os.getpid(), number)

        train(prepared_experiment, folder, report=report)

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
    cache = place / "cache"
    prepared_experiment = tiny(cache)
    wild = MethodEntry(name="ce", recipe={"lr": 1e30}, label="wild")
    facts = {"kills": killed_at_random(prepared_experiment, place)}
    train(prepared_experiment, place / "one-worker", workers=1)
    facts["two"] = two_at_once(prepared_experiment, place / "shared")
    at_once = AtOnce()
    train(prepared_experiment, place / "packed", workers=3, pack=2, report=at_once.tell)
    facts["at once"] = at_once.most
    at_once, patient = AtOnce(), tiny(cache, epochs=60, patience=1)
    train(patient, place / "patient", workers=1)
    train(patient, place / "packed-patient", workers=2, pack=2, report=at_once.tell)
    facts["patient at once"] = at_once.most
    failing = tiny(cache, wild, "elb", num_splits=1)
    facts["failing"] = a_run_that_fails(failing, place / "failing")
    facts["packed failing"] = a_run_that_fails(failing, place / "packed-failing", workers=2, pack=2)
    three = tiny(cache, "ce", "elb", "ld", num_splits=1)
    facts["dying"] = a_worker_that_dies(three, place / "dying", workers=1)
    facts["packed dying"] = a_worker_that_dies(three, place / "packed-dying", workers=2, pack=2)
    short = tiny(cache, "ce", "elb", "ld", num_splits=1, epochs=1)
    facts["unforeseen"] = an_error_that_was_not_foreseen(short, place / "unforeseen", workers=1)
    facts["packed unforeseen"] = an_error_that_was_not_foreseen(short, place / "packed-unforeseen", workers=2, pack=2)
    facts["packed spoilt"] = an_error_that_spoils_the_process(short, place / "packed-spoilt")
    facts["packed full"] = too_little_memory(short, place / "packed-full")
    facts["forbidden"] = a_folder_that_cannot_be_used(short, place / "forbidden", workers=1)
    facts["packed forbidden"] = a_folder_that_cannot_be_used(short, place / "packed-forbidden", workers=2, pack=2)
    facts["killing"] = a_run_that_kills_its_process(short, place / "killing", workers=1)
    facts["packed killing"] = a_run_that_kills_its_process(short, place / "packed-killing", workers=2, pack=2)
    facts["no start"] = workers_that_do_not_start(short, place / "no-start")
    long = tiny(cache, epochs=500)
    facts["interrupt"] = interrupted(long, place / "interrupted", signal.SIGINT)
    facts["orphans"] = interrupted(long, place / "orphaned", signal.SIGKILL)
    sys.stdout.write(json.dumps(facts))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]))
