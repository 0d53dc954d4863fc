"""What `onepeak compare` does, once its flags are read."""

import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import torch

from onepeak._core.check import check_choice
from onepeak._core.files import expanded
from onepeak._core.wording import counted, counted_splits
from onepeak.cli.compare.output import print_comparison, print_plan
from onepeak.cli.compare.progress import watching
from onepeak.cli.options import command_line
from onepeak.cli.output import print_note, print_notes
from onepeak.cli.train.warnings import first_weights_notes
from onepeak.data.datasets import DATASETS
from onepeak.data.source import DataSource
from onepeak.errors import InputError, OnepeakError, StoppedError
from onepeak.experiment.compare import compare
from onepeak.experiment.estimate import plan_runs
from onepeak.experiment.events import Executor, Progress
from onepeak.experiment.executors.local import LocalExecutor
from onepeak.experiment.executors.ray import RayExecutor
from onepeak.experiment.folder import check_folder_path, config_of
from onepeak.experiment.grid import grid
from onepeak.experiment.plan import Experiment, entries_from_text, name_for, read_recipe
from onepeak.experiment.plan_file import read_plan
from onepeak.experiment.prepared import PreparedExperiment, open_experiment, recipe_of
from onepeak.experiment.tuning import grid_of
from onepeak.report.planned_comparison import check_rows
from onepeak.training.convergence import epochs_in_words
from onepeak.training.devices import make_fabric
from onepeak.training.out_folder import ERROR, RUNS
from onepeak.training.progress import check_logger


class FailedRunsError(OnepeakError):
    """Some runs failed; the others are done."""


@dataclass(frozen=True, kw_only=True)
class CompareRequest:
    """The flags of `onepeak compare`; for what was not given a file's word or the default holds."""

    data: str
    methods: str | None = None
    out: Path | None = None
    source: dict[str, Any]
    """The fields of `DataSource`."""
    plan: dict[str, Any]
    """The fields of `Experiment`."""
    recipe: str | None = None
    recipe_changes: dict[str, Any]
    network: dict[str, Any]
    """Settings of the network."""
    device: str = "auto"
    executor: str = "local"
    ray: dict[str, Any] = field(default_factory=dict)
    """Settings of `RayExecutor`."""
    workers: int | None = None
    pack: int | Literal["auto"] = "auto"
    threads: int | None = None
    dry_run: bool = False
    cache: Path | None = None
    logger: str = "none"
    against: str | None = None
    """The row of the table that others are tested against; the best if None."""
    alone: str | None = None
    """The row that is compared with that one, or with ce, by itself."""
    as_json: bool = False
    quiet: bool = False


def compare_all(request: CompareRequest) -> None:
    """Plans or makes the comparison that was asked for."""
    experiment = experiment_of(request)
    folder = folder_of(request, experiment)
    check_folder_path(folder)
    _check_rows(request, experiment, folder)
    if request.dry_run:
        executor = executor_of(request)
        # A cluster may have GPUs where this machine has none; then the estimate is that of a CPU.
        device = request.device if request.executor == "local" else "auto"
        fabric = make_fabric(device=device, precision=experiment.precision)
        if fabric.device.type == "cpu":
            torch.set_num_threads(request.threads or 1)  # so that the probe is as fast as a worker
        estimate = plan_runs(experiment, folder, fabric=fabric)
        if not request.quiet:
            notes = first_weights_notes(estimate.backbone, experiment.weights) if estimate.backbone else ()
            print_notes((*estimate.notes, *notes))
        print_plan(estimate.runs, executor=executor, as_json=request.as_json)
        return
    run_comparison(
        experiment,
        folder,
        executor=executor_of(request),
        device=request.device if request.executor == "local" else "auto",
        cache=request.cache,
        logger=request.logger,
        against=request.against,
        alone=request.alone,
        as_json=request.as_json,
        quiet=request.quiet,
    )


def experiment_of(request: CompareRequest) -> Experiment:
    """The experiment of the file, or one about the data, with what the flags say instead."""
    changes = request.source
    file = expanded(request.data) if request.data.endswith(".toml") else _begun(request)
    if file is not None:
        plan = read_plan(file)
        if table := _table_in_root(plan, changes):
            changes = changes | {"data": str(table), "root": None}
    else:
        plan = Experiment(
            name=name_for(request.data), source=DataSource(request.data), methods=entries_from_text("paper,peak")
        )
    methods = plan.methods if request.methods is None else entries_from_text(request.methods, known=plan.methods)
    recipe, source = plan.recipe, plan.recipe_source
    if request.recipe is not None:
        recipe, source = read_recipe(request.recipe)
    elif request.methods is not None and source is not None:  # the file's other methods may use what these do not
        source = replace(source, exempt=frozenset(recipe))
    return replace(
        plan,
        methods=methods,
        recipe=recipe | request.recipe_changes,
        recipe_source=source and source.changed_by(request.recipe_changes),
        network=plan.network | request.network,
        source=replace(plan.source, **changes),
        **request.plan,
    )


def folder_of(request: CompareRequest, experiment: Experiment) -> Path:
    """Where the runs are kept: as asked for, or in the comparison that is to go on."""
    if request.out is not None:
        return request.out
    begun = _begun(request)
    return Path("out", experiment.name) if begun is None else begun.parent


def _begun(request: CompareRequest) -> Path | None:
    """The experiment of a comparison's folder that was given in place of data; None where it is something else."""
    return None if request.data in DATASETS else config_of(expanded(request.data))


def _table_in_root(plan: Experiment, changes: dict[str, Any]) -> Path | None:
    """The file that an experiment names without saying where it is, found in `--root`."""
    data, root = expanded(plan.source.data), changes.get("root")
    if plan.source.is_known or root is None or data.exists():
        return None
    table = expanded(root) / data
    return table if table.is_file() else None


def _check_rows(request: CompareRequest, experiment: Experiment, folder: Path) -> None:
    """Refuses rows that the table will not have, before anything is trained."""
    rows = [entry.label for entry in experiment.methods]
    rows += [path.name for path in sorted((folder / RUNS).glob("*")) if path.name not in rows]
    check_rows(rows, against=request.against, alone=request.alone)


def executor_of(request: CompareRequest) -> Executor:
    """What trains the runs."""
    check_choice("executor", request.executor, ("local", "ray"))
    if request.executor == "local":
        if request.ray:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in request.ray)
            raise InputError(f"`{flags}` has no use for the executor local: leave it out, or give --executor ray.")
        return LocalExecutor(device=request.device, workers=request.workers, pack=request.pack, threads=request.threads)
    if request.threads is not None:
        raise InputError("`--threads` has no use for the executor ray: give --cpus-per-run.")
    if request.pack != "auto":
        raise InputError("`--pack` has no use for the executor ray: give --gpus-per-run.")
    return RayExecutor(device=request.device, workers=request.workers, **request.ray)


def run_comparison(
    experiment: Experiment,
    folder: Path,
    *,
    executor: Executor,
    device: str = "auto",
    cache: Path | None = None,
    logger: str = "none",
    against: str | None = None,
    alone: str | None = None,
    as_json: bool = False,
    quiet: bool = False,
) -> Path | None:
    """Trains what is to be trained, shows how it goes on, and prints what it found.

    Args:
        experiment: The plan.
        folder: Where its runs are kept.
        executor: What trains them.
        device: Where a frozen backbone looks at the images, or the encoder at texts.
        cache: Folder for decoded images.
        logger: What every epoch is sent to; see `onepeak.training.progress.LoggerWatch`.
        against: The row that others are tested against; the best one of each metric if left out.
        alone: The row that is compared with that one, or with ce, by itself; elb if left out.
        as_json: Whether to print the findings as JSON.
        quiet: Whether to print nothing else.

    Returns:
        The report's page; None where the packages for it are missing.

    Raises:
        FailedRunsError: Some runs failed; the others are done, and what they found is printed.
    """
    check_folder_path(folder)
    check_logger(logger)
    prepared_experiment = open_experiment(experiment, cache=cache, quiet=quiet, device=device)
    prepared_experiment = replace(prepared_experiment, logger=logger)
    runs = grid(experiment.methods, prepared_experiment.splits)
    recipes = {entry.label: recipe_of(entry, prepared_experiment.recipe) for entry in experiment.methods}
    trials = len(grid_of(experiment.tune))
    at_most = any(recipe.patience is not None for recipe in recipes.values())
    progress = Progress(runs, {label: recipe.epochs * trials for label, recipe in recipes.items()}, at_most=at_most)
    if not quiet:
        print_notes(
            (
                *prepared_experiment.notes,
                *first_weights_notes(prepared_experiment.network.backbone, experiment.weights),
            )
        )
        print_note(_title(prepared_experiment, folder, executor, num_runs=len(runs)))
    try:
        with watching(progress, quiet=quiet) as report:
            outcome = compare(
                prepared_experiment, folder, executor=executor, report=report, command=shlex.join(command_line())
            )
    except KeyboardInterrupt:
        done = f"{progress.count('finished')} of {counted(len(runs), 'run')} are finished"
        raise StoppedError(f"Stopped: {done}; run the same command to resume.") from None
    page = print_comparison(outcome, folder, against=against, alone=alone, as_json=as_json, quiet=quiet)
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
