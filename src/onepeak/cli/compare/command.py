"""`onepeak compare`: many methods on the same splits."""

from pathlib import Path
from typing import Annotated

import typer

from onepeak.cli import options


def compare(
    data: Annotated[
        str,
        typer.Argument(
            help="Name of a known data set, a folder with one subfolder per class, a CSV file, an experiment's TOML "
            "file, or the folder of a comparison to resume."
        ),
    ],
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            help="Methods: ce,elb,ld:as_published,elb:t=2; paper (its seven); or all (default: paper,peak).",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", callback=options.at_home, help="New folder for the runs, or one to resume (default: out/NAME)."
        ),
    ] = None,
    root: options.Root = None,
    order: options.Order = None,
    label: options.Label = None,
    group: options.Group = None,
    path: options.Images = None,
    text: options.Text = None,
    columns: options.Columns = [],  # noqa: B006
    category: options.Category = [],  # noqa: B006
    drop: options.Drop = [],  # noqa: B006
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    missing: options.Missing = [],  # noqa: B006
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            callback=options.at_home,
            help="Split protocol: auto, paper, code, authors, kfold, holdout, a file or a folder.",
        ),
    ] = None,
    splits: options.Splits = None,
    folds: options.Folds = None,
    recipe: Annotated[
        str | None, typer.Option("--recipe", callback=options.at_home, help="Recipe: auto, paper, or a TOML file.")
    ] = None,
    epochs: options.Epochs = None,
    batch_size: options.BatchSize = None,
    lr: options.LearningRate = None,
    tune: options.Tune = [],  # noqa: B006
    select: options.Select = None,
    patience: options.Patience = None,
    class_weight: options.ClassWeight = None,
    bits: options.Bits = None,
    network: options.Network = [],  # noqa: B006
    backbone: options.Backbone = None,
    pooling: options.Pooling = None,
    weights: options.Weights = None,
    normalise: options.Normalise = None,
    freeze: options.Freeze = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Random seed.")] = None,
    device: options.Device = "auto",
    precision: Annotated[str | None, typer.Option("--precision", help="Precision: fp32, bf16 or fp16.")] = None,
    executor: Annotated[
        str, typer.Option("--executor", help="local (processes on this machine) or ray (tasks on a Ray cluster).")
    ] = "local",
    address: Annotated[
        str | None, typer.Option("--address", help="Address of the Ray cluster: host:port, ray://host:port, or auto.")
    ] = None,
    cpus_per_run: Annotated[
        float | None, typer.Option("--cpus-per-run", help="CPUs per run on a Ray cluster (default: 1).")
    ] = None,
    gpus_per_run: Annotated[
        float | None,
        typer.Option(
            "--gpus-per-run",
            help="GPUs per run on a Ray cluster (default: 1 if it has GPUs); 0.25 puts four runs on one.",
        ),
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", help="Parallel runs (default: as many as fit).")] = None,
    pack: Annotated[
        str, typer.Option("--pack", help="Runs that share a process: a number, or auto (as many as fit on the GPU).")
    ] = "auto",
    threads: Annotated[
        int | None, typer.Option("--threads", help="CPU threads per process (default: 1 on a CPU).")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the runs and their estimated time without training.")
    ] = False,
    skip_bad: options.SkipBad = False,
    allow_leak: Annotated[bool, typer.Option("--allow-leak", help="Train even if samples leak between parts.")] = False,
    cache: options.Cache = None,
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
        source=options.given(
            {
                "root": root,
                "order": order,
                "label": label,
                "group": group,
                "path": path,
                "text": text,
                "columns": tuple(columns) or None,
                "category": tuple(category) or None,
                "drop": tuple(drop) or None,
                "decimal": decimal,
                "encoding": encoding,
                "missing": tuple(missing) or None,
                "skip_bad": skip_bad or None,
            }
        ),
        plan=options.given(
            {
                "protocol": protocol,
                "splits": splits,
                "folds": folds,
                "weights": weights,
                "normalise": normalise,
                "freeze": freeze or None,
                "tune": options.lists_of(tune) or None,
                "seed": seed,
                "precision": precision,
                "allow_leak": allow_leak or None,
            }
        ),
        recipe=recipe,
        recipe_changes=options.recipe_changes(
            epochs=epochs,
            batch_size=batch_size,
            lr=lr,
            select=select,
            patience=patience,
            class_weight=class_weight,
            bits=bits,
        ),
        network=options.network_settings(network, backbone=backbone, pooling=pooling),
        device=device,
        executor=executor,
        ray=options.given({"address": address, "cpus_per_run": cpus_per_run, "gpus_per_run": gpus_per_run}),
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
