"""What `onepeak compare` prints: the plan before, the findings after."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import typer

from onepeak._core.formats import json_text
from onepeak._core.wording import counted, duration, listed
from onepeak.cli.output import print_note, print_results, print_table
from onepeak.cli.report import findings_record, print_findings, write_with_progress
from onepeak.errors import MissingExtraError
from onepeak.experiment.compare import Outcome
from onepeak.experiment.estimate import PlannedRun
from onepeak.experiment.events import Executor
from onepeak.experiment.results import read_results
from onepeak.experiment.tuning import tuned_note
from onepeak.report.planned_comparison import BASELINE

_MOST_LISTED = 40
"""Runs that a plan lists one by one: about as many as fit on a screen, so that what they are together is seen."""


def print_plan(planned: Sequence[PlannedRun], *, executor: Executor, as_json: bool) -> None:
    """Lists every run with its work and estimated time, or of many every method, and what they are together."""
    todo = [each for each in planned if each.state != "finished"]
    seconds = sum(each.seconds for each in todo)
    at_once = max(1, min(executor.workers, len(todo)))
    alone = sum(each.seconds for each in todo if not each.in_company)
    together = alone / executor.speedup(at_once) + (seconds - alone) / at_once
    if as_json:
        content = {
            "runs": [
                {
                    "run": each.run.name,
                    "state": each.state,
                    **asdict(each.work),
                    "seconds": each.seconds,
                    "at_most": each.at_most,
                }
                for each in planned
            ],
            "open": len(todo),
            "seconds": seconds,
            "workers": executor.workers,
            "seconds_with_workers": together,
        }
        typer.echo(json_text(content))
        return
    if len(planned) <= _MOST_LISTED:
        _list_runs(planned)
    else:
        _list_methods(planned)
    steps, at_most = sum(each.work.steps for each in todo), any(each.at_most for each in todo)
    print_note(
        f"{counted(len(planned), 'run')}, {len(todo)} to train: {'at most ' if at_most else ''}"
        f"{counted(steps, 'step')}, about {duration(seconds)} of training, {duration(together)} with "
        f"{counted(at_once, 'parallel run')}"
        + ("; runs without improvement stop early (patience)." if at_most else ".")
        + (" --json lists every run." if len(planned) > _MOST_LISTED else "")
    )


def _list_runs(planned: Sequence[PlannedRun]) -> None:
    print_table(
        ["run", "state", "epochs", "steps", "samples", _about(planned)],
        [
            [
                each.run.name,
                each.state,
                f"{each.work.epochs:,}",
                f"{each.work.steps:,}",
                f"{each.work.trained:,}",
                duration(each.seconds),
            ]
            for each in planned
        ],
    )


def _list_methods(planned: Sequence[PlannedRun]) -> None:
    """One line per method; steps, samples and time are those of its runs that are still to be trained."""
    rows = []
    for label in dict.fromkeys(each.run.entry.label for each in planned):
        runs = [each for each in planned if each.run.entry.label == label]
        todo = [each for each in runs if each.state != "finished"]
        rows.append(
            [
                label,
                f"{len(runs):,}",
                f"{len(todo):,}",
                f"{sum(each.work.steps for each in todo):,}",
                f"{sum(each.work.trained for each in todo):,}",
                duration(sum(each.seconds for each in todo)),
            ]
        )
    print_table(["method", "runs", "to train", "steps", "samples", _about(planned)], rows)


def _about(planned: Sequence[PlannedRun]) -> str:
    return "at most" if any(each.at_most for each in planned) else "about"


def print_comparison(
    outcome: Outcome,
    folder: Path,
    *,
    against: str | None = None,
    alone: str | None = None,
    as_json: bool,
    quiet: bool,
) -> Path | None:
    """Writes the report and prints what was found; where all runs failed, only JSON has something to say.

    Rows to compare with that have no finished run are left aside, and a note says so.

    Returns:
        The report's page; None where none was written.
    """
    if not outcome.finished:
        if as_json:
            typer.echo(json_text(findings_record([folder], None, None)))
        return None
    results = read_results(folder)
    named = [against] if alone is None else [alone, against or BASELINE]
    gone = [row for row in named if row is not None and row not in set(results["label"])]
    if gone:
        print_note(f"Note: no run of {listed(gone)} is finished, so --against and --alone are ignored.")
        against = alone = None
    try:
        written = write_with_progress(folder, against=against, alone=alone, quiet=quiet)
    except MissingExtraError as error:
        if as_json:
            raise
        print_note(f"Note: {error}; then `onepeak report {folder}` writes tables and figures.")
        return None
    if as_json:
        typer.echo(json_text(findings_record([folder], results, written, against=against)))
    else:
        print_results(results, against=against)
        if note := tuned_note(results):
            print_note(f"Note: {note}")
        if not quiet:
            print_findings(written, folder, stderr=True)
    return written.page
