import io

import pytest
from rich.console import Console

from onepeak.cli.compare.progress import Lines, live_table, watching
from onepeak.experiment.events import Elsewhere, EpochDone, Failed, Finished, Lost, Progress, Started
from onepeak.experiment.plan import MethodEntry, Run

RUNS = [Run(entry=MethodEntry(name=name), split=split, fold=0) for split in range(2) for name in ("ce", "elb")]
RESULT = {"seconds": 10.0, "epochs": 5, "metrics": {"test": {"mae": 0.5, "soi_predicted": 0.975}}}


class Clock:
    """Says the time it was told."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def progress(clock):
    return Progress(RUNS, {"ce": 5, "elb": 5}, clock=clock)


def printed(renderable):
    console = Console(file=io.StringIO(), width=120)
    console.print(renderable)
    return console.file.getvalue()


def test_the_table_shows_what_is_done_at_work_failed_and_found(progress, clock):
    progress.note(Finished(run=RUNS[0], result=RESULT))
    progress.note(Started(run=RUNS[1]))
    clock.now = 2.0
    progress.note(EpochDone(run=RUNS[1], row={"epoch": 2, "seconds": 2.0}))
    progress.note(Elsewhere(run=RUNS[2]))
    progress.note(Failed(run=RUNS[3], message="no luck"))
    lines = printed(live_table(progress, elapsed=65)).splitlines()
    (ce,) = [line for line in lines if " ce " in line]
    (elb,) = [line for line in lines if " elb " in line]
    for words in ("1/2", "split1-fold0 elsewhere", "0.500", "97.5%"):
        assert words in ce
    for words in ("0/2", "1", "split0-fold0 epoch 3/5"):
        assert words in elb
    # CE has 5 epochs left and ELB 2; one took 2 s
    assert lines[-1].strip() == "1 of 4 runs done, 1 min 5 s so far, about 14 s left"


def test_without_a_terminal_ends_are_told_at_once_and_the_rest_now_and_then(progress, clock, capsys):
    lines = Lines(progress)
    lines.tell(Started(run=RUNS[0]))
    lines.tell(EpochDone(run=RUNS[0], row={"epoch": 0, "seconds": 2.0}))
    clock.now = 11.0
    for epoch in (1, 2):
        lines.tell(EpochDone(run=RUNS[0], row={"epoch": epoch, "seconds": 2.0}))
    lines.tell(Finished(run=RUNS[0], result=RESULT))
    lines.tell(Lost(run=RUNS[1], message="gone"))
    lines.tell(Failed(run=RUNS[1], message="no luck"))
    assert capsys.readouterr().err.splitlines() == [
        "ce/split0-fold0 epoch 2/5 (0 of 4 runs done; about 1 min 39 s left)",
        "ce/split0-fold0: MAE 0.500, SOI 97.5% (1 of 4 runs done)",
        "elb/split0-fold0 starts again: gone (1 of 4 runs done)",
        "elb/split0-fold0 failed: no luck (1 of 4 runs done)",
    ]


def test_runs_that_were_finished_before_are_one_line(progress, capsys):
    lines = Lines(progress)
    lines.tell(Finished(run=RUNS[0], result=RESULT))
    lines.tell(Finished(run=RUNS[1], result=RESULT))
    lines.tell(Elsewhere(run=RUNS[2]))
    lines.tell(Finished(run=RUNS[2], result=RESULT))
    assert capsys.readouterr().err.splitlines() == [
        "2 runs were finished before (2 of 4 runs done)",
        "ce/split1-fold0: MAE 0.500, SOI 97.5% (3 of 4 runs done)",
    ]


def test_where_all_was_finished_before_that_is_said_at_the_end(progress, capsys):
    with watching(progress, quiet=False) as report:
        for run in RUNS:
            report(Finished(run=run, result=RESULT))
    assert capsys.readouterr().err == "4 runs were finished before (4 of 4 runs done)\n"
    with watching(progress, quiet=True) as report:
        report(Started(run=RUNS[0]))
    assert capsys.readouterr() == ("", "")
    assert progress.methods["ce"].running


def test_on_a_terminal_the_table_is_live_and_failures_stay_on_the_screen(progress):
    console = Console(file=io.StringIO(), force_terminal=True, width=120, highlight=False)
    with watching(progress, quiet=False, console=console) as report:
        report(Lost(run=RUNS[2], message="gone"))
        report(Failed(run=RUNS[1], message="no luck [of all]"))
        report(Finished(run=RUNS[0], result=RESULT))
    shown = console.file.getvalue()
    assert "ce/split1-fold0 starts again: gone" in shown
    assert "elb/split0-fold0 failed: no luck [of all]" in shown
    assert "1 of 4 runs done" in shown
