import pytest

from onepeak.experiment.entries import MethodEntry
from onepeak.experiment.events import Elsewhere, EpochDone, Failed, Finished, Lost, Started
from onepeak.experiment.grid import Run
from onepeak.experiment.tally import Tally

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
def tally(clock):
    return Tally(RUNS, {"ce": 5, "elb": 5}, clock=clock)


def test_before_anything_is_known_no_time_is_told(tally):
    assert tally.seconds_left() is None
    assert [tally.count(what) for what in ("total", "finished", "failed")] == [4, 0, 0]


def test_an_epoch_of_a_run_whose_beginning_was_missed_tells_no_time(tally, clock):
    tally.note(epoch(RUNS[0], 0))
    assert tally.seconds_left() is None
    clock.now += 2.0
    tally.note(epoch(RUNS[0], 1))
    assert tally.seconds_left() > 0


@pytest.mark.parametrize(("at_most", "words"), [(False, "about 19 s left"), (True, "at most 19 s left")])
def test_where_patience_may_end_runs_the_time_left_is_the_most(clock, at_most, words):
    """One of twenty epochs is done in a second, and how many the others will be is not known."""
    tally = Tally(RUNS, {"ce": 5, "elb": 5}, at_most=at_most, clock=clock)
    assert tally.left_in_words() is None
    tally.note(Started(run=RUNS[0]))
    clock.now += 1.0
    tally.note(EpochDone(run=RUNS[0], row={"epoch": 0, "seconds": 1.0}))
    assert tally.left_in_words() == words


def test_runs_are_counted_and_their_figures_averaged(tally):
    for run, mae in ((RUNS[0], 1.0), (RUNS[2], 2.0)):
        tally.note(Started(run=run))
        tally.note(Finished(run=run, result=result(mae)))
    tally.note(Started(run=RUNS[1]))
    tally.note(epoch(RUNS[1], 0))
    tally.note(epoch(RUNS[1], 1))
    ce, elb = tally.methods["ce"], tally.methods["elb"]
    assert (ce.finished, ce.total, ce.running, ce.mean("mae")) == (2, 2, {}, 1.5)
    assert (elb.finished, elb.running, elb.mean("mae")) == (0, {"elb/split0-fold0": 2}, None)


def test_the_time_left_is_by_the_epochs_that_all_runs_together_do_in_a_second(tally, clock):
    """Eight epochs of each of two runs at once, each of which takes 3 s beside the other, and 5 s for both to begin."""
    runs = [Run(entry=CE, split=split, fold=0) for split in range(20)]
    tally = Tally(runs, {"ce": 10}, clock=clock)
    for run in runs[:2]:
        tally.note(Started(run=run))
    clock.now += 5
    for number in range(8):
        clock.now += 3
        for run in runs[:2]:
            tally.note(epoch(run, number, seconds=3.0))
    # 16 of 200 epochs in 29 s
    assert tally.seconds_left() == pytest.approx(184 * 29 / 16)


def test_what_was_measured_when_fewer_runs_were_at_work_is_forgotten(clock):
    runs = [Run(entry=CE, split=split, fold=0) for split in range(8)]
    tally = Tally(runs, {"ce": 1000}, clock=clock)
    tally.note(Started(run=runs[0]))
    for number in range(300):  # alone: one a second
        clock.now += 1
        tally.note(epoch(runs[0], number, seconds=1.0))
    assert tally.seconds_left() == pytest.approx(7700)
    for run in runs[1:5]:
        tally.note(Started(run=run))
    for number in range(100):  # four at once: two a second
        clock.now += 2
        for run in runs[1:5]:
            tally.note(epoch(run, number, seconds=2.0))
    assert tally.seconds_left() == pytest.approx((8000 - 700) / 2, rel=0.02)


def test_epochs_of_slower_methods_count_for_more(tally, clock):
    tally.note(Started(run=RUNS[0]))
    for number in range(5):
        clock.now += 1
        tally.note(epoch(RUNS[0], number, seconds=1.0))
    tally.note(Finished(run=RUNS[0], result=result(1.0)))
    tally.note(Started(run=RUNS[1]))
    clock.now += 3
    tally.note(epoch(RUNS[1], 0, seconds=3.0))
    # CE has 5 epochs of 1 s left and ELB 9 of 3 s, one after another.
    assert tally.seconds_left() == pytest.approx(5 + 9 * 3)


def test_a_method_without_epochs_is_taken_to_be_as_fast_as_the_others(tally, clock):
    tally.note(Started(run=RUNS[0]))
    clock.now += 2
    tally.note(epoch(RUNS[0], 0))
    assert tally.seconds_left() == pytest.approx(19 * 2)


def test_the_last_run_is_no_faster_for_those_that_were_beside_it(tally, clock):
    for run in RUNS:
        tally.note(Started(run=run))
    clock.now += 2
    for run in RUNS:
        tally.note(epoch(run, 0))
    assert tally.seconds_left() == pytest.approx(4 * 2)  # all four at once
    for run in RUNS[:3]:
        tally.note(Finished(run=run, result=result(1.0)))
    assert tally.seconds_left() == pytest.approx(4 * 2)


def test_runs_that_were_finished_before_tell_nothing_of_the_time(tally):
    tally.note(Finished(run=RUNS[0], result=result(1.0)))
    assert tally.seconds_left() is None


def test_a_failed_run_has_nothing_left_and_one_elsewhere_is_named_until_it_ends(tally):
    tally.note(Elsewhere(run=RUNS[0]))
    assert tally.methods["ce"].elsewhere == {"ce/split0-fold0"}
    tally.note(Finished(run=RUNS[0], result=result(1.0)))
    assert tally.methods["ce"].elsewhere == set()
    tally.note(Started(run=RUNS[1]))
    tally.note(Failed(run=RUNS[1], message="no luck"))
    assert (tally.methods["elb"].failed, tally.methods["elb"].epochs_left) == (1, 5)


def test_a_lost_run_has_all_its_epochs_before_it_again(tally):
    tally.note(Started(run=RUNS[1]))
    tally.note(epoch(RUNS[1], 2))
    assert tally.methods["elb"].epochs_left == 7
    tally.note(Lost(run=RUNS[1], message="gone"))
    assert (tally.methods["elb"].epochs_left, tally.methods["elb"].running) == (10, {})


def test_a_figure_that_is_not_defined_is_left_out_of_the_mean(tally):
    tally.note(Finished(run=RUNS[0], result=result(1.0, tau=None)))
    tally.note(Finished(run=RUNS[2], result=result(1.0, tau=0.5)))
    assert tally.methods["ce"].mean("tau") == 0.5
    assert tally.methods["elb"].mean("tau") is None
