import pytest

from onepeak.training import progress_lines
from onepeak.training.progress_lines import ProgressLines


@pytest.fixture
def clock(monkeypatch):
    """A clock that is moved by hand."""

    class Clock:
        now = 100.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(progress_lines, "time", clock)
    return clock


def row_of(epoch):
    return {"epoch": epoch, "valid_mae": 1.25 / (epoch + 1), "valid_soi_predicted": 0.875}


def train(lines, clock, epochs, *, first=0, seconds_a_step):
    for epoch in range(first, first + epochs):
        for step in range(4):
            clock.now += seconds_a_step
            lines.step(epoch, step + 1, 4)
        lines.epoch(row_of(epoch))


def test_a_line_comes_about_every_ten_seconds_with_the_last_figures_and_the_time_left(clock, capsys):
    train(ProgressLines("elb", 100), clock, 5, seconds_a_step=1)
    output, shown = capsys.readouterr()
    assert output == ""  # which is for results
    assert shown.splitlines() == [
        "elb: epoch 3/100, MAE 0.625, SOI 87.5%, about 6 min 30 s left",  # 97.5 epochs of 4 s
        "elb: epoch 5/100, MAE 0.312, SOI 87.5%, about 6 min 20 s left",
    ]


def test_where_patience_may_end_it_the_time_left_is_the_most(clock, capsys):
    train(ProgressLines("elb", 100, at_most=True), clock, 3, seconds_a_step=1)
    assert capsys.readouterr().err == "elb: epoch 3/100, MAE 0.625, SOI 87.5%, at most 6 min 30 s left\n"


def test_an_epoch_that_takes_long_is_not_silent(clock, capsys):
    train(ProgressLines("elb", 1), clock, 1, seconds_a_step=15)
    assert capsys.readouterr().err.splitlines() == [
        "elb: epoch 1/1",  # of one step alone nothing can be said
        "elb: epoch 1/1, about 30 s left",
        "elb: epoch 1/1, about 15 s left",
        "elb: epoch 1/1, about 0 s left",
    ]


def test_time_left_is_reckoned_from_where_training_went_on(clock, capsys):
    train(ProgressLines("elb", 100), clock, 1, first=90, seconds_a_step=900)
    assert "elb: epoch 91/100, about 9 h 30 min left" in capsys.readouterr().err  # 9.5 epochs of an hour


def test_what_comes_before_the_first_step_is_not_taken_for_training(clock, capsys):
    lines = ProgressLines("elb", 2)
    clock.now += 300  # reading the data
    train(lines, clock, 2, seconds_a_step=4)
    assert capsys.readouterr().err.splitlines()[:2] == ["elb: epoch 1/2", "elb: epoch 1/2, about 16 s left"]


def test_a_short_training_prints_nothing(clock, capsys):
    train(ProgressLines("elb", 5), clock, 5, seconds_a_step=0.1)
    assert capsys.readouterr() == ("", "")
