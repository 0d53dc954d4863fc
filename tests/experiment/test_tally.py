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


@pytest.fixture
def tally():
    return Tally(RUNS, {"ce": 5, "elb": 5}, workers=2)


def test_before_anything_is_known_no_time_is_told(tally):
    assert tally.seconds_left() is None
    assert [tally.count(what) for what in ("total", "finished", "failed")] == [4, 0, 0]


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


def test_the_time_left_is_that_of_the_epochs_left_shared_by_the_workers(tally):
    tally.note(Finished(run=RUNS[0], result=result(1.0)))  # of before: 2 s an epoch
    tally.note(Started(run=RUNS[1]))
    tally.note(epoch(RUNS[1], 0, seconds=4.0))
    # CE has 5 epochs of 2 s left, ELB 4 and 5 of 4 s: 46 s for two workers.
    assert tally.seconds_left() == pytest.approx((5 * 2 + 9 * 4) / 2)


def test_a_method_without_epochs_is_taken_to_be_as_fast_as_the_others(tally):
    tally.note(Finished(run=RUNS[0], result=result(1.0)))
    assert tally.seconds_left() == pytest.approx((5 + 10) * 2 / 2)


def test_the_last_run_has_one_worker(tally):
    for run in RUNS[:3]:
        tally.note(Finished(run=run, result=result(1.0)))
    assert tally.seconds_left() == pytest.approx(5 * 2)


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
