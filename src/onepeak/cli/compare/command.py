"""`onepeak compare`: many methods on the same splits."""

from pathlib import Path
from typing import Annotated, Any

import typer

from onepeak.cli import options
from onepeak.cli.options import flag, path_flag, switch

PLAN: options.Flags = {
    "protocol": (Annotated[str | None, path_flag("Data", "--protocol", options.PROTOCOLS)], None),
    "splits": (options.Splits, None),
    "folds": (options.Folds, None),
    "allow_leak": (options.AllowLeak, False),
    "seed": (Annotated[int | None, flag("Training", "--seed", "Random seed.")], None),
    "weights": (options.Weights, None),
    "normalise": (options.Normalise, None),
    "freeze": (options.Freeze, False),
    "precision": (Annotated[str | None, flag("Compute", "--precision", "Precision: fp32, bf16 or fp16.")], None),
}
"""Fields of `Experiment`."""
RAY: options.Flags = {
    "address": (
        Annotated[
            str | None, flag("Compute", "--address", "Address of the Ray cluster: host:port, ray://host:port, or auto.")
        ],
        None,
    ),
    "cpus_per_run": (
        Annotated[float | None, flag("Compute", "--cpus-per-run", "CPUs per run on a Ray cluster (default: 1).")],
        None,
    ),
    "gpus_per_run": (
        Annotated[
            float | None,
            flag(
                "Compute",
                "--gpus-per-run",
                "GPUs per run on a Ray cluster (default: 1 if it has GPUs); 0.25 puts four runs on one.",
            ),
        ],
        None,
    ),
}
"""Settings of `RayExecutor`."""


@options.with_flags(source=options.SOURCE, plan=PLAN, recipe_changes=options.RECIPE, ray=RAY)
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
    recipe: Annotated[str | None, path_flag("Training", "--recipe", "Recipe: auto, paper, or a TOML file.")] = None,
    *,
    recipe_changes: dict[str, Any],
    tune: options.Tune = [],  # noqa: B006
    backbone: options.Backbone = None,
    pooling: options.Pooling = None,
    network: options.Network = [],  # noqa: B006
    device: options.Device = "auto",
    workers: options.Workers = None,
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
    cache: options.Cache = None,
    out: Annotated[
        Path | None,
        path_flag("Output", "--out", "New folder for the runs, or one to resume (default: out/NAME)."),
    ] = None,
    dry_run: Annotated[
        bool, switch("Output", "--dry-run", "List the runs and their estimated time without training.")
    ] = False,
    logger: options.Logger = "none",
    against: options.Against = None,
    alone: options.Alone = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Trains several methods on the same splits and tests which differences are significant.

    If interrupted, run the same command, or onepeak compare FOLDER, to resume. Several processes on one folder share
    the work.

    Example: onepeak compare biopsies --methods ce,elb --out comparison
    """
    from onepeak.cli.compare.run import CompareRequest, compare_all

    request = CompareRequest(
        data=data,
        methods=methods,
        out=out,
        source=source,
        plan=plan | options.given({"tune": options.lists_of(tune) or None}),
        recipe=recipe,
        recipe_changes=options.recipe_changes(**recipe_changes),
        network=options.network_settings(network, backbone=backbone, pooling=pooling),
        device=device,
        executor=executor,
        ray=ray,
        workers=workers,
        pack=options.number_or_auto("pack", pack),
        threads=threads,
        dry_run=dry_run,
        cache=cache,
        logger=logger,
        against=against,
        alone=alone,
        as_json=as_json,
        quiet=quiet,
    )
    compare_all(request)
