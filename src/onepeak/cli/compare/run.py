"""What `onepeak compare` does, once its flags are read."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from onepeak._core.check import check_choice
from onepeak._core.files import expanded
from onepeak._core.wording import counted, counted_splits, duration, listed
from onepeak.cli.compare.progress import watching
from onepeak.cli.options import changed, command_line, experiment_on, refuse
from onepeak.cli.output import print_json, print_note, print_notes, print_results, print_table
from onepeak.cli.report import findings_record, print_findings, write_with_progress
from onepeak.cli.train.warnings import first_weights_notes
from onepeak.data.datasets import DATASETS
from onepeak.errors import InputError, MissingExtraError, OnepeakError, StoppedError
from onepeak.experiment.compare import Outcome, compare
from onepeak.experiment.estimate import PlannedRun, plan_runs
from onepeak.experiment.events import Executor, Progress
from onepeak.experiment.executors.local import LocalExecutor
from onepeak.experiment.executors.ray import RayExecutor
from onepeak.experiment.folder import check_folder_path, config_of
from onepeak.experiment.plan import Experiment, entries_from_text, grid, read_plan, setting_value
from onepeak.experiment.prepared import PreparedExperiment, open_experiment, recipe_of
from onepeak.experiment.results import read_results
from onepeak.experiment.tuning import tuned_note
from onepeak.report.summary import BASELINE, check_rows
from onepeak.training.convergence import epochs_in_words
from onepeak.training.devices import make_fabric
from onepeak.training.out_folder import ERROR, RUNS
from onepeak.training.progress import check_logger

_MOST_LISTED = 40
"""Runs that a plan lists one by one: about as many as fit on a screen, so that what they are together is seen."""


class FailedRunsError(OnepeakError):
    """Some runs failed; the others are done."""


def tuned_values(pairs: Sequence[str]) -> dict[str, list[object]]:
    """Turns `name=value,value` flags into lists of values.

    Example:
        >>> tuned_values(["lr=1e-4,3e-4", "epochs=5"])
        {'lr': [0.0001, 0.0003], 'epochs': [5]}
    """
    texts = (pair.partition("=") for pair in pairs)
    return {name: [setting_value(value) for value in values.split(",")] for name, _, values in texts}


def experiment_of(
    data: str, *, source: dict[str, Any], methods: str | None = None, recipe: str | None = None, **flags: Any
) -> tuple[Experiment, Path | None]:
    """The experiment of a file, of a begun comparison or on data, with what the flags say instead; that comparison."""
    begun = None if data in DATASETS or data.endswith(".toml") else config_of(expanded(data))
    file = expanded(data) if data.endswith(".toml") else begun
    if file is None:
        entries = entries_from_text(methods or "paper,peak")
        return experiment_on(data, entries, source=source, recipe=recipe, **flags), None
    known = read_plan(file)
    if table := _table_in_root(known, source):
        source = source | {"data": str(table), "root": None}
    if methods is not None:
        known = replace(known, methods=entries_from_text(methods, known=known.methods))
        if known.recipe_source is not None:  # the file's other methods may use what these do not
            known = replace(known, recipe_source=replace(known.recipe_source, exempt=frozenset(known.recipe)))
    return changed(known, source=source, recipe=recipe, **flags), begun and begun.parent


def _table_in_root(plan: Experiment, changes: Mapping[str, Any]) -> Path | None:
    """The file that an experiment names without saying where it is, found in `--root`."""
    data, root = expanded(plan.source.data), changes.get("root")
    if plan.source.is_known or root is None or data.exists():
        return None
    table = expanded(root) / data
    return table if table.is_file() else None


def check_before(experiment: Experiment, folder: Path, rows: Mapping[str, str], logger: str) -> None:
    """Refuses a folder of other things, rows that the table will not have, and an unknown logger."""
    check_folder_path(folder)
    check_logger(logger)
    labels = [entry.label for entry in experiment.methods]
    labels += [path.name for path in sorted((folder / RUNS).glob("*")) if path.name not in labels]
    check_rows(labels, against=rows.get("against"), alone=rows.get("alone"))


def executor_of(
    name: str, *, device: str, workers: int | None, threads: int | None, pack: str, ray: Mapping[str, Any]
) -> Executor:
    """What trains the runs."""
    check_choice("executor", name, ("local", "ray"))
    if name == "ray":
        refuse({"threads": threads}, "with --executor ray", "give --cpus-per-run")
        refuse({"pack": pack != "auto"}, "with --executor ray", "give --gpus-per-run")
        return RayExecutor(device=device, workers=workers, **ray)
    refuse(ray, "with --executor local", "leave it out, or use --executor ray")
    if pack != "auto" and not (pack.isdecimal() and int(pack)):
        raise InputError(f"`--pack` must be auto or an integer >= 1, got {pack!r}.")
    return LocalExecutor(device=device, workers=workers, pack="auto" if pack == "auto" else int(pack), threads=threads)


def print_plan(
    experiment: Experiment,
    folder: Path,
    *,
    executor: Executor,
    device: str,
    threads: int | None,
    cache: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Lists every run with its work and estimated time, or of many every method, and what they are together."""
    fabric = make_fabric(device=device, precision=experiment.precision)
    if fabric.device.type == "cpu":
        torch.set_num_threads(threads or 1)  # so that the probe is as fast as a worker
    estimate = plan_runs(experiment, folder, fabric=fabric, cache=cache)
    if not quiet:
        notes = first_weights_notes(estimate.backbone, experiment.weights) if estimate.backbone else ()
        print_notes((*estimate.notes, *notes))
    planned = estimate.runs
    todo = [each for each in planned if each.state != "finished"]
    seconds = sum(each.seconds for each in todo)
    at_once = max(1, min(executor.workers, len(todo)))
    alone = sum(each.seconds for each in todo if not each.in_company)
    together = alone / executor.speedup(at_once) + (seconds - alone) / at_once
    if as_json:
        names = ("state", "seconds", "at_most")
        runs = [
            {"run": each.run.name, **asdict(each.work), **{name: getattr(each, name) for name in names}}
            for each in planned
        ]
        total = {"open": len(todo), "seconds": seconds, "workers": executor.workers, "seconds_with_workers": together}
        print_json({"runs": runs, **total})
        return
    about = "at most" if any(each.at_most for each in planned) else "about"
    many = len(planned) > _MOST_LISTED
    if many:
        groups: dict[str, list[PlannedRun]] = {}
        for each in planned:
            groups.setdefault(each.run.entry.label, []).append(each)
        rows = [_method_row(label, runs) for label, runs in groups.items()]
        print_table(["method", "runs", "to train", "steps", "samples", about], rows)
    else:
        rows = [[each.run.name, each.state, f"{each.work.epochs:,}", *_work([each])] for each in planned]
        print_table(["run", "state", "epochs", "steps", "samples", about], rows)
    at_most = any(each.at_most for each in todo)
    print_note(
        f"{counted(len(planned), 'run')}, {len(todo)} to train: {'at most ' if at_most else ''}"
        f"{counted(sum(each.work.steps for each in todo), 'step')}, about {duration(seconds)} of training, "
        f"{duration(together)} with {counted(at_once, 'parallel run')}"
        + ("; runs without improvement stop early (patience)." if at_most else ".")
        + (" --json lists every run." if many else "")
    )


def _method_row(label: str, runs: Sequence[PlannedRun]) -> list[str]:
    """Steps, samples and time are those of the runs that are still to be trained."""
    todo = [each for each in runs if each.state != "finished"]
    return [label, f"{len(runs):,}", f"{len(todo):,}", *_work(todo)]


def _work(runs: Sequence[PlannedRun]) -> list[str]:
    steps, samples = sum(each.work.steps for each in runs), sum(each.work.trained for each in runs)
    return [f"{steps:,}", f"{samples:,}", duration(sum(each.seconds for each in runs))]


def run_comparison(
    experiment: Experiment,
    folder: Path,
    *,
    executor: Executor,
    device: str = "auto",
    cache: Path | None = None,
    logger: str = "none",
    rows: Mapping[str, str] | None = None,
    as_json: bool = False,
    quiet: bool = False,
) -> Path | None:
    """Trains what is to be trained, shows how it goes on, and prints what it found.

    A frozen backbone or an encoder of texts runs on `device`; the executor has its own. Returns the report's page, or
    None where the packages for it are missing.

    Raises:
        FailedRunsError: Some runs failed; the others are done, and what they found is printed.
    """
    check_folder_path(folder)
    prepared_experiment = open_experiment(experiment, cache=cache, quiet=quiet, device=device)
    prepared_experiment = replace(prepared_experiment, logger=logger)
    runs = grid(experiment.methods, prepared_experiment.splits)
    recipes = {entry.label: recipe_of(entry, prepared_experiment.recipe) for entry in experiment.methods}
    trials = len(experiment.trials)
    at_most = any(recipe.patience is not None for recipe in recipes.values())
    progress = Progress(runs, {label: recipe.epochs * trials for label, recipe in recipes.items()}, at_most=at_most)
    if not quiet:
        print_notes(prepared_experiment.notes)
        print_notes(first_weights_notes(prepared_experiment.network.backbone, experiment.weights))
        print_note(_title(prepared_experiment, folder, executor, num_runs=len(runs)))
    try:
        with watching(progress, quiet=quiet) as report:
            outcome = compare(
                prepared_experiment, folder, executor=executor, report=report, command=shlex.join(command_line())
            )
    except KeyboardInterrupt:
        done = f"{progress.count('finished')} of {counted(len(runs), 'run')} are finished"
        raise StoppedError(f"Stopped: {done}; run the same command to resume.") from None
    page = _print_outcome(outcome, folder, dict(rows or {}), as_json=as_json, quiet=quiet)
    if outcome.failed:
        first = outcome.failed[0]
        raise FailedRunsError(
            f"{len(outcome.failed)} of {counted(len(runs), 'run')} failed: "
            f"{', '.join(event.run.name for event in outcome.failed)}. The first: {first.message} "
            f"(all of it in {first.run.folder(folder) / ERROR}). Run the same command to try them again."
        )
    return page


def _title(prepared_experiment: PreparedExperiment, folder: Path, executor: Executor, *, num_runs: int) -> str:
    manifest, entries = prepared_experiment.prepared.manifest, prepared_experiment.experiment.methods
    places = [(each.split, each.fold) for each in prepared_experiment.splits]
    return (
        f"{prepared_experiment.experiment.name}: {counted(len(entries), 'method')} on {counted_splits(places)} of "
        f"{manifest.name} ({len(manifest):,} samples, {manifest.num_classes} classes), {counted(num_runs, 'run')} of "
        f"{epochs_in_words(prepared_experiment.recipe)}, {prepared_experiment.network.backbone}, "
        f"{counted(min(executor.workers, num_runs), 'worker')} on {', '.join(executor.devices)}; all in {folder}"
    )


def _print_outcome(outcome: Outcome, folder: Path, rows: dict[str, str], *, as_json: bool, quiet: bool) -> Path | None:
    """Writes the report and prints what was found; where all runs failed, only JSON has something to say.

    Rows to compare with that have no finished run are left aside, and a note says so. Returns the report's page.
    """
    if not outcome.finished:
        if as_json:
            print_json(findings_record([folder], None, None))
        return None
    results = read_results(folder)
    named = {"against": BASELINE, **rows}.values() if "alone" in rows else rows.values()
    gone = [row for row in named if row not in set(results["label"])]
    if gone:
        print_note(f"Note: no run of {listed(gone)} is finished, so --against and --alone are ignored.")
        rows = {}
    try:
        written = write_with_progress(folder, quiet=quiet, **rows)
    except MissingExtraError as error:
        if as_json:
            raise
        print_note(f"Note: {error}; then `onepeak report {folder}` writes tables and figures.")
        return None
    if as_json:
        print_json(findings_record([folder], results, written, against=rows.get("against")))
    else:
        print_results(results, against=rows.get("against"))
        if note := tuned_note(results):
            print_note(f"Note: {note}")
        if not quiet:
            print_findings(written, folder, stderr=True)
    return written.page
