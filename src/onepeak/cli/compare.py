"""`onepeak compare`: many methods on the same splits."""

from pathlib import Path
from typing import Annotated

import typer

from onepeak.cli import options


def compare(
    data: Annotated[
        str,
        typer.Argument(
            help="A known data set, a folder with one folder per class, a CSV, the TOML file of an experiment, or the "
            "folder of a comparison to go on with."
        ),
    ],
    methods: Annotated[
        str | None,
        typer.Option("--methods", help="ce,elb,ld:as_published,elb:t=2; paper: its seven (the default); all."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", callback=options.at_home, help="New folder for all runs, or theirs to go on; out/NAME if left out."
        ),
    ] = None,
    root: options.Root = None,
    order: options.Order = None,
    label: options.Label = None,
    group: options.Group = None,
    path: options.Pictures = None,
    category: options.Category = [],  # noqa: B006
    drop: options.Drop = [],  # noqa: B006
    decimal: options.Decimal = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            callback=options.at_home,
            help="How to split: auto, paper, code, kfold, holdout or a file.",
        ),
    ] = None,
    splits: options.Splits = None,
    folds: options.Folds = None,
    recipe: Annotated[
        str | None, typer.Option("--recipe", callback=options.at_home, help="auto, paper, or a TOML file.")
    ] = None,
    epochs: options.Epochs = None,
    batch_size: options.BatchSize = None,
    lr: options.LearningRate = None,
    select: options.Select = None,
    patience: options.Patience = None,
    class_weight: options.ClassWeight = None,
    bits: options.Bits = None,
    network: options.Network = [],  # noqa: B006
    backbone: options.Backbone = None,
    pooling: options.Pooling = None,
    weights: Annotated[
        str | None, typer.Option("--weights", callback=options.at_home, help="Local weights of the backbone.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Decides every random choice.")] = None,
    device: options.Device = "auto",
    precision: Annotated[str | None, typer.Option("--precision", help="fp32, bf16 or fp16.")] = None,
    executor: Annotated[
        str, typer.Option("--executor", help="local: processes on this machine; ray: tasks of a Ray cluster.")
    ] = "local",
    address: Annotated[
        str | None, typer.Option("--address", help="Of the Ray cluster: host:port or ray://host:port; auto to find it.")
    ] = None,
    cpus_per_run: Annotated[float | None, typer.Option("--cpus-per-run", help="On a Ray cluster; 1.")] = None,
    gpus_per_run: Annotated[
        float | None,
        typer.Option("--gpus-per-run", help="On a Ray cluster; 1 where it has GPUs, 0.25 for four on one."),
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", help="Runs at once; as many as fit by default.")] = None,
    pack: Annotated[
        str, typer.Option("--pack", help="Runs that share a process: a number, or auto for as many as a GPU holds.")
    ] = "auto",
    threads: Annotated[int | None, typer.Option("--threads", help="CPU threads per process; 1 on a CPU.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell all runs and what they cost; train none.")] = False,
    skip_bad: options.SkipBad = False,
    allow_leak: Annotated[bool, typer.Option("--allow-leak", help="Train though the splits leak.")] = False,
    cache: options.Cache = None,
    against: options.Against = None,
    alone: options.Alone = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Trains every method on the same splits, and says which is better and whether that is certain.

    Killed at any moment, the same command goes on where it was, and so does onepeak compare FOLDER.

    Several at once on one folder share the work.

    Example: onepeak compare biopsies --methods ce,elb --out comparison
    """
    from onepeak.cli.comparing import CompareRequest, compare_all

    request = CompareRequest(
        data=data,
        methods=methods,
        out=out,
        plan=options.given(
            {
                "root": root,
                "order": order,
                "label": label,
                "group": group,
                "path": path,
                "category": tuple(category) or None,
                "drop": tuple(drop) or None,
                "decimal": decimal,
                "protocol": protocol,
                "splits": splits,
                "folds": folds,
                "weights": weights,
                "seed": seed,
                "precision": precision,
                "skip_bad": skip_bad or None,
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
        against=against,
        alone=alone,
        as_json=as_json,
        quiet=quiet,
    )
    compare_all(request)
