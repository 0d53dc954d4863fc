import pytest

from onepeak.experiment.events import Elsewhere, EpochDone, Failed, Finished, Lost, Progress, Started
from onepeak.experiment.plan import MethodEntry, Run

CE, ELB = MethodEntry(name="ce"), MethodEntry(name="elb")
RUNS = [Run(entry=entry, split=split, fold=0) for split in range(2) for entry in (CE, ELB)]


def result(mae, *, seconds=10.0, epochs=5, **more):
    return {"seconds": seconds, "epochs": epochs, "metrics": {"test": {"mae": mae, "soi_predicted": 0.9, **more}}}


def epoch(run, number, seconds=2.0):
    return EpochDone(run=run, row={"epoch": number, "seconds": seconds})


class Clock:
    """Says the time it was told."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def progress(clock):
    return Progress(RUNS, {"ce": 5, "elb": 5}, clock=clock)


def test_before_anything_is_known_no_time_is_told(progress):
    assert progress.seconds_left() is None
    assert [progress.count(what) for what in ("total", "finished", "failed")] == [4, 0, 0]
    progress.note(Finished(run=RUNS[0], result=result(1.0)))  # a run that was finished before
    assert progress.seconds_left() is None


def test_an_epoch_of_a_run_whose_beginning_was_missed_tells_no_time(progress, clock):
    progress.note(epoch(RUNS[0], 0))
    assert progress.seconds_left() is None
    clock.now += 2.0
    progress.note(epoch(RUNS[0], 1))
    assert progress.seconds_left() > 0


@pytest.mark.parametrize(("at_most", "words"), [(False, "about 19 s left"), (True, "at most 19 s left")])
def test_where_patience_may_end_runs_the_time_left_is_the_most(clock, at_most, words):
    """One of twenty epochs is done in a second, and how many the others will be is not known."""
    progress = Progress(RUNS, {"ce": 5, "elb": 5}, at_most=at_most, clock=clock)
    assert progress.left_in_words() is None
    progress.note(Started(run=RUNS[0]))
    clock.now += 1.0
    progress.note(EpochDone(run=RUNS[0], row={"epoch": 0, "seconds": 1.0}))
    assert progress.left_in_words() == words


def test_runs_are_counted_and_their_figures_averaged(progress):
    for run, mae, tau in ((RUNS[0], 1.0, None), (RUNS[2], 2.0, 0.5)):
        progress.note(Started(run=run))
        progress.note(Finished(run=run, result=result(mae, tau=tau)))
    progress.note(Started(run=RUNS[1]))
    progress.note(epoch(RUNS[1], 0))
    progress.note(epoch(RUNS[1], 1))
    ce, elb = progress.methods["ce"], progress.methods["elb"]
    assert (ce.finished, ce.total, ce.running, ce.mean("mae"), ce.mean("tau")) == (2, 2, {}, 1.5, 0.5)
    assert (elb.finished, elb.running, elb.mean("mae")) == (0, {"elb/split0-fold0": 2}, None)


def test_the_time_left_is_by_the_epochs_that_all_runs_together_do_in_a_second(progress, clock):
    """Eight epochs of each of two runs at once, each of which takes 3 s beside the other, and 5 s for both to begin."""
    runs = [Run(entry=CE, split=split, fold=0) for split in range(20)]
    progress = Progress(runs, {"ce": 10}, clock=clock)
    for run in runs[:2]:
        progress.note(Started(run=run))
    clock.now += 5
    for number in range(8):
        clock.now += 3
        for run in runs[:2]:
            progress.note(epoch(run, number, seconds=3.0))
    # 16 of 200 epochs in 29 s
    assert progress.seconds_left() == pytest.approx(184 * 29 / 16)


def test_what_was_measured_when_fewer_runs_were_at_work_is_forgotten(clock):
    runs = [Run(entry=CE, split=split, fold=0) for split in range(8)]
    progress = Progress(runs, {"ce": 1000}, clock=clock)
    progress.note(Started(run=runs[0]))
    for number in range(300):  # alone: one a second
        clock.now += 1
        progress.note(epoch(runs[0], number, seconds=1.0))
    assert progress.seconds_left() == pytest.approx(7700)
    for run in runs[1:5]:
        progress.note(Started(run=run))
    for number in range(100):  # four at once: two a second
        clock.now += 2
        for run in runs[1:5]:
            progress.note(epoch(run, number, seconds=2.0))
    assert progress.seconds_left() == pytest.approx((8000 - 700) / 2, rel=0.02)


def test_epochs_of_slower_methods_count_for_more(progress, clock):
    progress.note(Started(run=RUNS[0]))
    for number in range(5):
        clock.now += 1
        progress.note(epoch(RUNS[0], number, seconds=1.0))
    progress.note(Finished(run=RUNS[0], result=result(1.0)))
    progress.note(Started(run=RUNS[1]))
    clock.now += 3
    progress.note(epoch(RUNS[1], 0, seconds=3.0))
    # CE has 5 epochs of 1 s left and ELB 9 of 3 s, one after another.
    assert progress.seconds_left() == pytest.approx(5 + 9 * 3)


def test_a_method_without_epochs_is_taken_to_be_as_fast_as_the_others(progress, clock):
    progress.note(Started(run=RUNS[0]))
    clock.now += 2
    progress.note(epoch(RUNS[0], 0))
    assert progress.seconds_left() == pytest.approx(19 * 2)


def test_the_last_run_is_no_faster_for_those_that_were_beside_it(progress, clock):
    for run in RUNS:
        progress.note(Started(run=run))
    clock.now += 2
    for run in RUNS:
        progress.note(epoch(run, 0))
    assert progress.seconds_left() == pytest.approx(4 * 2)  # all four at once
    for run in RUNS[:3]:
        progress.note(Finished(run=run, result=result(1.0)))
    assert progress.seconds_left() == pytest.approx(4 * 2)


def test_a_failed_run_has_nothing_left_and_one_elsewhere_is_named_until_it_ends(progress):
    progress.note(Elsewhere(run=RUNS[0]))
    assert progress.methods["ce"].elsewhere == {"ce/split0-fold0"}
    progress.note(Finished(run=RUNS[0], result=result(1.0)))
    assert progress.methods["ce"].elsewhere == set()
    progress.note(Started(run=RUNS[1]))
    progress.note(Failed(run=RUNS[1], message="no luck"))
    assert (progress.methods["elb"].failed, progress.methods["elb"].epochs_left) == (1, 5)


def test_a_lost_run_has_all_its_epochs_before_it_again(progress):
    progress.note(Started(run=RUNS[1]))
    progress.note(epoch(RUNS[1], 2))
    assert progress.methods["elb"].epochs_left == 7
    progress.note(Lost(run=RUNS[1], message="gone"))
    assert (progress.methods["elb"].epochs_left, progress.methods["elb"].running) == (10, {})
