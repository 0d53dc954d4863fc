import json
import sys
from types import SimpleNamespace

import pandas as pd
import pytest

from onepeak.errors import InputError
from onepeak.training import progress
from onepeak.training.progress import LoggerWatch, ProgressBar


def row_of(epoch):
    return {"epoch": epoch, "lr": 0.1, "valid_mae": 1.25 / (epoch + 1), "valid_soi_predicted": 0.875}


def watch_two_epochs(watch):
    for epoch in range(2):
        for step in range(3):
            watch.step(epoch, step + 1, 3)
        watch.epoch(row_of(epoch))


@pytest.fixture
def terminal(monkeypatch):
    """A terminal as far as rich can tell, wide enough for the whole line."""
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "160"}.items():
        monkeypatch.setenv(name, value)
    for name in ("NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def test_a_terminal_shows_the_title_the_epoch_and_the_last_validation(terminal, capsys):
    with ProgressBar("elb", 4) as bar:
        watch_two_epochs(bar)
        assert bar.bar.tasks[0].percentage == 50  # of the steps of all epochs
    output, shown = capsys.readouterr()
    assert output == ""  # which is for results
    for words in ("elb", "epoch 2/4", "MAE 0.625", "SOI 87.5%"):
        assert words in shown
    with ProgressBar("elb", 10) as bar:  # a training that went on starts where it stopped
        bar.step(8, 3, 3)
        assert bar.bar.tasks[0].percentage == 90


def test_quiet_shows_nothing_even_on_a_terminal(terminal, capsys):
    with ProgressBar("elb", 2, quiet=True) as bar:
        watch_two_epochs(bar)
    assert capsys.readouterr() == ("", "")


def test_the_csv_logger_writes_a_row_an_epoch_at_once(tmp_path):
    watch = LoggerWatch("csv", tmp_path)
    for epoch in range(2):
        watch.epoch(row_of(epoch))
        (path,) = tmp_path.rglob("metrics.csv")
        written = pd.read_csv(path)  # a kill after an epoch must not lose it
        assert written["step"].tolist() == list(range(epoch + 1))
    assert written["valid_mae"].tolist() == [1.25, 0.625]


def test_the_tensorboard_logger_writes_events_that_tensorboard_reads(tmp_path):
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    watch = LoggerWatch("tensorboard", tmp_path)
    watch_two_epochs(watch)
    watch.logger.finalize("success")
    (path,) = tmp_path.rglob("events.out.tfevents.*")
    found = events.EventAccumulator(str(path)).Reload()
    assert [(event.step, event.value) for event in found.Scalars("valid_mae")] == [(0, 1.25), (1, 0.625)]


def test_a_dotted_name_loads_anybodys_logger(tmp_path, monkeypatch):
    (tmp_path / "our_loggers.py").write_text(
        "import json, pathlib\n"
        "class Diary:\n"
        "    def __init__(self, save_dir):\n"
        "        self.path = pathlib.Path(save_dir, 'diary.jsonl')\n"
        "    def log_metrics(self, metrics, step):\n"
        "        with self.path.open('a') as diary:\n"
        "            diary.write(json.dumps([step, metrics]) + '\\n')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "our_loggers", raising=False)
    watch_two_epochs(LoggerWatch("our_loggers.Diary", tmp_path))
    written = [json.loads(line) for line in (tmp_path / "diary.jsonl").read_text().splitlines()]
    assert written == [
        [epoch, {"lr": 0.1, "valid_mae": mae, "valid_soi_predicted": 0.875}] for epoch, mae in ((0, 1.25), (1, 0.625))
    ]


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tensorbord", r"logger.*tensorboard, csv.*tensorbord"),
        ("", r"logger.*tensorboard, csv.*''"),
        ("a_package_nobody_has.Logger", r"logger.*not installed: a_package_nobody_has$"),
        ("lightning.fabric.loggers.Nobody", r"logger.*Nobody"),
        ("json.dumps", r"logger.*json\.dumps"),
        (".csv", r"logger.*\.csv"),
    ],
)
def test_a_logger_that_is_none_is_refused(tmp_path, name, message):
    with pytest.raises(InputError, match=message):
        LoggerWatch(name, tmp_path)


@pytest.fixture
def lines(monkeypatch, capsys):
    """What a training shows without a terminal, by a clock that is moved by hand."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    clock = SimpleNamespace(now=100.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(progress, "time", clock)

    def train(total, epochs, *, first=0, seconds_a_step=1, before=0, **how):
        with ProgressBar("elb", total, **how) as bar:
            clock.now += before
            for epoch in range(first, first + epochs):
                for step in range(4):
                    clock.now += seconds_a_step
                    bar.step(epoch, step + 1, 4)
                bar.epoch(row_of(epoch))
        output, shown = capsys.readouterr()
        assert output == ""  # which is for results
        return shown.splitlines()

    return train


@pytest.mark.parametrize(("at_most", "words"), [(False, "about"), (True, "at most")])
def test_without_a_terminal_a_line_comes_about_every_ten_seconds_with_the_last_figures_and_the_time_left(
    lines, at_most, words
):
    assert lines(100, 5, at_most=at_most) == [
        f"elb: epoch 3/100, MAE 0.625, SOI 87.5%, {words} 6 min 30 s left",  # 97.5 epochs of 4 s
        f"elb: epoch 5/100, MAE 0.312, SOI 87.5%, {words} 6 min 20 s left",
    ]
    assert lines(100, 2) == [], "a training of less than ten seconds needs none"
    assert lines(100, 5, quiet=True) == []


def test_an_epoch_that_takes_long_is_not_silent(lines):
    assert lines(1, 1, seconds_a_step=15) == [
        "elb: epoch 1/1",  # of one step alone nothing can be said
        "elb: epoch 1/1, about 30 s left",
        "elb: epoch 1/1, about 15 s left",
        "elb: epoch 1/1, about 0 s left",
    ]


def test_time_left_is_reckoned_from_the_first_step_where_training_went_on(lines):
    assert "elb: epoch 91/100, about 9 h 30 min left" in lines(100, 1, first=90, seconds_a_step=900)
    found = lines(2, 2, seconds_a_step=4, before=300)  # reading the data
    assert found[:2] == ["elb: epoch 1/2", "elb: epoch 1/2, about 16 s left"]


@pytest.mark.bad_input
@pytest.mark.parametrize("name", ["wandb", "mlflow:project/run"])
def test_a_tracker_whose_package_is_missing_is_named(tmp_path, name, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    package = name.partition(":")[0]
    with pytest.raises(InputError, match=f"needs the package {package}, which is not installed: pip install {package}"):
        LoggerWatch(name, tmp_path)


def test_a_tracker_gets_project_and_run_by_its_own_names(tmp_path, monkeypatch):
    import lightning.pytorch.loggers as loggers

    made = []

    class Tracker:
        def __init__(self, *, save_dir, project, name):
            made.append((save_dir, project, name))

        def log_metrics(self, row, step):
            made.append((row, step))

    monkeypatch.setattr(loggers, "WandbLogger", Tracker)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: True)
    LoggerWatch("wandb:leaves/first", tmp_path).epoch({"epoch": 2, "valid_mae": 0.5})
    LoggerWatch("wandb", tmp_path / "elb" / "split0-fold0")
    assert made == [
        (str(tmp_path), "leaves", "first"),
        ({"valid_mae": 0.5}, 2),
        (str(tmp_path / "elb" / "split0-fold0"), "onepeak", "elb-split0-fold0"),
    ]
