"""`onepeak report`: tables, figures and a page of runs that are finished."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onepeak.cli import options
from onepeak.cli.output import print_json, print_results

if TYPE_CHECKING:  # the packages behind it are loaded when the command runs, so that --help is fast
    from onepeak._core.imports import Frame
    from onepeak.report import Report


@options.with_flags()
def report(
    folders: Annotated[list[Path], typer.Argument(help="One or more folders of onepeak compare or train.")],
    out: Annotated[
        Path | None, options.flag("Output", "--out", "Folder for the report (default: the folder itself).")
    ] = None,
    against: str | None = None,
    alone: str | None = None,
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    """Writes tables (table.csv, .md, .tex), figures for print and report.html, which opens offline.

    Several folders give one report with mean ranks over their data sets.

    Example: onepeak report comparison
    """
    from onepeak.experiment.results import read_results

    written = write_with_progress(*folders, out=out, against=against, alone=alone, quiet=quiet or as_json)
    results = read_results(*folders)
    if as_json:
        print_json(findings_record(folders, results, written, against=against))
        return
    print_results(results, against=against)
    if not quiet:
        print_findings(written, folders[0])


def print_findings(written: "Report", folder: Path, *, stderr: bool = False) -> None:
    """What was found, in words, where all of it stands, and what to type next."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    for title, found in written.findings.items():
        heading = f"{title}:\n" if len(written.findings) > 1 else ""
        console.print(f"\n{heading}" + "\n".join(f"- {finding.text}" for finding in found), markup=False)
    console.print(f"\nreport: {written.page}", markup=False, soft_wrap=True)
    console.print(f"Next: onepeak inspect {shlex.quote(str(folder))} --open", markup=False, soft_wrap=True)


def write_with_progress(*folders: Path, quiet: bool, **choices: Any) -> "Report":
    """Writes the report; a terminal shows how far it is."""
    from rich.console import Console

    from onepeak.report import write_report

    with Console(stderr=True, quiet=quiet).status("Reading runs") as status:

        def show(done: int, total: int) -> None:
            status.update(f"Reading runs: {done:,} of {total:,}" if done < total else "Drawing figures")

        return write_report(*folders, **choices, on_run=show)


def findings_record(
    folders: Sequence[Path], results: "Frame | None", written: "Report | None", *, against: str | None = None
) -> dict[str, object]:
    """All that the page says, for a program."""
    from onepeak.experiment.run_files import failed_runs
    from onepeak.report.summary import summary

    failed = [
        {"label": run.label, "run": run.name, "message": run.message, "folder": str(run.folder)}
        for run in failed_runs(*folders)
    ]
    if written is None or results is None:
        return {"page": None, "tables": [], "figures": [], "findings": {}, "summary": [], "failed": failed}
    return {
        "page": str(written.page),
        "tables": [str(path) for path in written.tables],
        "figures": [str(path) for path in written.figures],
        "findings": {
            title: [text for each in found for text in (each.text, *each.details)]
            for title, found in written.findings.items()
        },
        "summary": summary(results, against=against).to_dict("records"),
        "failed": failed,
    }
