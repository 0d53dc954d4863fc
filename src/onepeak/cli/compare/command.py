"""`onepeak compare`: many methods on the same splits."""

from pathlib import Path
from typing import Annotated, Any

import typer

from onepeak.cli import options
from onepeak.cli.options import flag

PLAN: options.Flags = options.PLAN | options.only("splits", "folds")
RAY: options.Flags = options.flags(
    "Compute",
    address="Address of the Ray cluster: host:port, ray://host:port, or auto.",
    cpus_per_run=(float, "CPUs per run on a Ray cluster (default: 1)."),
    gpus_per_run=(float, "GPUs per run on a Ray cluster (default: 1 if it has GPUs); 0.25 puts four runs on one."),
)
"""Settings of `RayExecutor`."""
ROWS: options.Flags = options.only("against", "alone")


@options.with_flags(
    source=options.TRAINED, plan=PLAN, recipe_changes=options.RECIPE, network=options.NETWORK, ray=RAY, rows=ROWS
)
def compare(
    data: Annotated[
        str,
        typer.Argument(
            help="Name of a known data set, a folder with one subfolder per class, a CSV file, an experiment's TOML "
            "file, or the folder of a comparison to resume."
        ),
    ],
    source: dict[str, Any],
    plan: dict[str, Any],
    methods: Annotated[
        str | None,
        flag(
            "Training",
            "--methods",
            "Methods: ce,elb,ld:as_published,elb:t=2; paper (its seven); or all (default: paper,peak).",
        ),
    ] = None,
    recipe: Annotated[
        str | None,
        flag("Training", "--recipe", "Recipe: auto, paper, or a TOML file.", callback=options.at_home),
    ] = None,
    *,
    recipe_changes: dict[str, Any],
    tune: Annotated[
        list[str], flag("Training", "--tune", "Values that each run tries on its validation part: lr=1e-4,3e-4,1e-3.")
    ] = [],  # noqa: B006
    network: dict[str, Any],
    device: str = "auto",
    workers: int | None = None,
    threads: Annotated[
        int | None, flag("Compute", "--threads", "CPU threads per process (default: 1 on a CPU).")
    ] = None,
    pack: Annotated[
        str, flag("Compute", "--pack", "Runs that share a process: a number, or auto (as many as fit on the GPU).")
    ] = "auto",
    executor: Annotated[
        str, flag("Compute", "--executor", "local (processes on this machine) or ray (tasks on a Ray cluster).")
    ] = "local",
    ray: dict[str, Any],
    cache: Path | None = None,
    out: Annotated[
        Path | None, flag("Output", "--out", "New folder for the runs, or one to resume (default: out/NAME).")
    ] = None,
    dry_run: Annotated[
        bool, flag("Output", "--dry-run", "List the runs and their estimated time without training.")
    ] = False,
    logger: str = "none",
    rows: dict[str, Any],
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    """Trains several methods on the same splits and tests which differences are significant.

    If interrupted, run the same command, or onepeak compare FOLDER, to resume. Several processes on one folder share
    the work.

    Example: onepeak compare biopsies --methods ce,elb --out comparison
    """
    from onepeak.cli.compare import run

    if tune:
        plan = plan | {"tune": run.tuned_values(tune)}
    experiment, begun = run.experiment_of(
        data,
        methods=methods,
        recipe=recipe,
        source=source,
        plan=plan,
        recipe_changes=recipe_changes,
        network=network,
    )
    folder = out or begun or Path("out", experiment.name)
    run.check_before(experiment, folder, rows, logger)
    trained_by = run.executor_of(executor, device=device, workers=workers, threads=threads, pack=pack, ray=ray)
    device = device if executor == "local" else "auto"  # a cluster may have GPUs where this machine has none
    if dry_run:
        run.print_plan(
            experiment,
            folder,
            executor=trained_by,
            device=device,
            threads=threads,
            cache=cache,
            as_json=as_json,
            quiet=quiet,
        )
        return
    run.run_comparison(
        experiment,
        folder,
        executor=trained_by,
        device=device,
        cache=cache,
        logger=logger,
        rows=rows,
        as_json=as_json,
        quiet=quiet,
    )
