import subprocess
import sys

import pytest

import onepeak
from onepeak.cli import main
from onepeak.errors import InputError

WRONG = ("datasets", "--root", "somewhere")
"""A command that is refused at once: whose root is this?"""


def test_a_command_that_succeeds_exits_with_0(run):
    status, output, errors = run("methods", "--json")
    assert (status, errors) == (0, "")
    assert '"name": "elb"' in output


@pytest.mark.bad_input
def test_what_the_user_got_wrong_is_one_line_on_stderr_and_exit_2(run):
    assert run(*WRONG) == (
        2,
        "",
        "onepeak: `--root` needs the name of a data set: onepeak datasets NAME --root FOLDER.\n",
    )


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
    told = "onepeak: [Errno 28] No space left on device: 'model.safetensors' (--debug shows where).\n"
    assert run("methods") == (1, "", told)
    monkeypatch.setattr(sys, "argv", ["onepeak", "methods", "--debug"])
    with pytest.raises(OSError, match="No space left"):
        main()


def test_an_unknown_command_or_flag_is_named_and_exits_with_2(run):
    for arguments, named in (
        (["trian"], "trian"),
        (["methods", "--jsn"], "--jsn"),
        (["train", "biopsies"], "--method"),
    ):
        status, output, errors = run(*arguments)
        assert (status, output) == (2, "")
        assert named in errors


@pytest.mark.bad_input
def test_debug_lets_the_error_through(monkeypatch):
    for place in (1, 2, 4):  # wherever it stands among the arguments
        arguments = ["onepeak", *WRONG]
        arguments.insert(place, "--debug")
        monkeypatch.setattr(sys, "argv", arguments)
        with pytest.raises(InputError, match="`--root` needs the name of a data set"):
            main()


def test_debug_shows_a_traceback_that_ends_in_the_message():
    command = [sys.executable, "-m", "onepeak", *WRONG, "--debug"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode != 0
    assert process.stderr.startswith("Traceback (most recent call last)")
    assert "InputError: `--root` needs the name of a data set" in process.stderr.splitlines()[-1]


def test_the_version_is_told(run):
    assert run("--version") == (0, f"onepeak {onepeak.__version__}\n", "")
