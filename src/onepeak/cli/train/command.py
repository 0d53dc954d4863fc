"""`onepeak train`: one model."""

from pathlib import Path
from typing import Annotated

import typer

from onepeak.cli import options


def train(
    data: options.Data,
    method: Annotated[
        str, typer.Option("--method", help="Method (see onepeak methods), such as peak, elb, mv+elb or elb:t=2.")
    ] = "peak",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            callback=options.at_home,
            help="New folder for the model and its results (default: out/NAME-METHOD).",
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
    protocol: options.Protocol = "auto",
    split: Annotated[int, typer.Option("--split", min=0, help="Split of the protocol, counted from 0.")] = 0,
    fold: Annotated[int, typer.Option("--fold", min=0, help="Fold of the split, counted from 0.")] = 0,
    recipe: Annotated[
        str, typer.Option("--recipe", callback=options.at_home, help="Recipe: auto, paper, or a TOML file.")
    ] = "auto",
    epochs: options.Epochs = None,
    batch_size: options.BatchSize = None,
    lr: options.LearningRate = None,
    select: options.Select = None,
    patience: options.Patience = None,
    class_weight: options.ClassWeight = None,
    bits: options.Bits = None,
    variant: Annotated[
        str | None, typer.Option("--variant", help="Variant: corrected (the default) or as_published.")
    ] = None,
    settings: Annotated[list[str], typer.Option("--set", help="Method setting: t=1.5. Repeatable.")] = [],  # noqa: B006
    network: options.Network = [],  # noqa: B006
    backbone: options.Backbone = None,
    pooling: options.Pooling = None,
    weights: options.Weights = None,
    normalise: options.Normalise = None,
    freeze: options.Freeze = False,
    seed: options.Seed = 0,
    device: options.Device = "auto",
    precision: Annotated[str, typer.Option("--precision", help="Precision: fp32, bf16 or fp16.")] = "fp32",
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="CPU threads (default: 1 for a table on a CPU, else all).")
    ] = None,
    logger: options.Logger = "tensorboard",
    resume: Annotated[bool, typer.Option("--resume", help="Resume the run in --out.")] = False,
    skip_bad: options.SkipBad = False,
    allow_leak: Annotated[bool, typer.Option("--allow-leak", help="Train even if samples leak between parts.")] = False,
    cache: options.Cache = None,
    quiet: options.Quiet = False,
) -> None:
    """Trains one model on one split and evaluates it on the test part.

    Example: onepeak train biopsies --epochs 5 --out model
    """
    from onepeak.cli.train.run import TrainRequest, train_one
    from onepeak.data.source import DataSource
    from onepeak.experiment.plan import Experiment, MethodEntry, name_and_settings, name_for, read_recipe

    name, named_variant, named_settings = name_and_settings(method)
    entry = MethodEntry(
        name=name,
        variant=variant or named_variant or "corrected",  # type: ignore[arg-type]  # checked there
        settings=named_settings | options.settings_of(settings),
    )
    changes = options.recipe_changes(
        epochs=epochs,
        batch_size=batch_size,
        lr=lr,
        select=select,
        patience=patience,
        class_weight=class_weight,
        bits=bits,
    )
    from_file, source = read_recipe(recipe)
    experiment = Experiment(
        name=name_for(data),
        source=DataSource(
            data,
            root=root,
            order=order,
            label=label,
            group=group,
            path=path,
            text=text,
            columns=tuple(columns),
            category=tuple(category),
            drop=tuple(drop),
            decimal=decimal,
            encoding=encoding,
            missing=tuple(missing),
            skip_bad=skip_bad,
        ),
        methods=(entry,),
        protocol=protocol,
        splits=split + 1,
        seed=seed,
        recipe=from_file | changes,
        recipe_source=source and source.changed_by(changes),
        network=options.network_settings(network, backbone=backbone, pooling=pooling),
        weights=weights,
        normalise=normalise,  # type: ignore[arg-type]  # checked there
        freeze=freeze,
        precision=precision,  # type: ignore[arg-type]  # checked there
        allow_leak=allow_leak,
    )
    train_one(
        TrainRequest(
            experiment=experiment,
            split=split,
            fold=fold,
            out=out or Path("out", f"{experiment.name}-{entry.label}"),
            device=device,
            threads=threads,
            logger=logger,
            resume=resume,
            cache=cache,
            quiet=quiet,
        )
    )
