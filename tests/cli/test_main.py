import os
import sys

import pytest

from onepeak.cli import COLLECT_AFTER

WRONG = ("datasets", "--root", "somewhere")
"""A command that is refused at once: whose root is this?"""


def test_what_failed_otherwise_is_one_line_on_stderr_and_exit_1(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)  # as on a machine without the extra
    assert run("methods") == (
        1,
        "",
        "onepeak: The command line needs typer: pip install 'onepeak[cli]' (See \"Start\" in the documentation)\n",
    )


def test_what_the_system_refuses_is_one_line_on_stderr_and_exit_1(run, monkeypatch):
    def full():
        raise OSError(28, "No space left on device", "model.safetensors")

    monkeypatch.setattr("onepeak.cli.app.app", full)
    told = "onepeak: [Errno 28] No space left on device: 'model.safetensors' (--debug shows the traceback).\n"
    assert run("methods") == (1, "", told)
    status, _, errors = run("methods", "--debug")
    assert status == 1
    assert errors.splitlines()[-1] == "OSError: [Errno 28] No space left on device: 'model.safetensors'"


def test_an_unknown_command_or_flag_is_named_and_exits_with_2(run):
    for arguments, named in (
        (["trian"], "trian"),
        (["methods", "--jsn"], "--jsn"),
        (["export", "model"], "--onnx"),
    ):
        status, output, errors = run(*arguments)
        assert (status, output) == (2, "")
        assert named in errors


@pytest.mark.bad_input
def test_debug_shows_a_traceback_that_ends_in_the_message_and_keeps_the_exit_status(run):
    for place in (0, 1, 3):  # wherever it stands among the arguments
        arguments = list(WRONG)
        arguments.insert(place, "--debug")
        status, output, errors = run(*arguments)
        assert (status, output) == (2, "")
        assert errors.startswith("Traceback (most recent call last)")
        assert "InputError: `--root` needs the name of a data set" in errors.splitlines()[-1]


def test_what_a_command_imports_is_not_searched_for_garbage_again_and_again(run, monkeypatch):
    thresholds = []
    monkeypatch.setattr("gc.set_threshold", lambda *numbers: thresholds.append(numbers[0]))
    assert run("metrics", "--json")[0] == 0
    assert thresholds == [COLLECT_AFTER]
    assert COLLECT_AFTER > 10 * 700  # Python's own


@pytest.mark.parametrize(
    ("given", "spins"), [({}, "1000"), ({"GOMP_SPINCOUNT": "77"}, "77"), ({"OMP_WAIT_POLICY": "PASSIVE"}, None)]
)
def test_threads_spin_only_briefly_while_they_wait_unless_the_user_says_otherwise(run, monkeypatch, given, spins):
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert run("--version")[0] == 0
    assert os.environ.get("GOMP_SPINCOUNT") == spins
