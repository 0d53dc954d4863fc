"""`onepeak train`: one model."""

from pathlib import Path
from typing import Annotated, Any

from onepeak.cli import options
from onepeak.cli.options import flag, path_flag, repeated, switch


@options.with_flags(source=options.SOURCE, recipe_changes=options.RECIPE)
def train(
    data: options.Data,
    source: dict[str, Any],
    protocol: options.Protocol = "auto",
    split: Annotated[int, flag("Data", "--split", "Split of the protocol, counted from 0.", min=0)] = 0,
    fold: Annotated[int, flag("Data", "--fold", "Fold of the split, counted from 0.", min=0)] = 0,
    allow_leak: options.AllowLeak = False,
    method: Annotated[
        str, flag("Training", "--method", "Method (see onepeak methods), such as peak, elb, mv+elb or elb:t=2.")
    ] = "peak",
    recipe: Annotated[str, path_flag("Training", "--recipe", "Recipe: auto, paper, or a TOML file.")] = "auto",
    *,
    recipe_changes: dict[str, Any],
    seed: options.Seed = 0,
    variant: Annotated[
        str | None, flag("Training", "--variant", "Variant: corrected (the default) or as_published.")
    ] = None,
    settings: Annotated[list[str], repeated("Training", "--set", "Method setting: t=1.5.")] = [],  # noqa: B006
    backbone: options.Backbone = None,
    weights: options.Weights = None,
    normalise: options.Normalise = None,
    freeze: options.Freeze = False,
    pooling: options.Pooling = None,
    network: options.Network = [],  # noqa: B006
    device: options.Device = "auto",
    precision: Annotated[str, flag("Compute", "--precision", "Precision: fp32, bf16 or fp16.")] = "fp32",
    threads: Annotated[
        int | None, flag("Compute", "--threads", "CPU threads (default: 1 for a table on a CPU, else all).", min=1)
    ] = None,
    cache: options.Cache = None,
    out: Annotated[
        Path | None,
        path_flag("Output", "--out", "New folder for the model and its results (default: out/NAME-METHOD)."),
    ] = None,
    resume: Annotated[bool, switch("Output", "--resume", "Resume the run in --out.")] = False,
    logger: options.Logger = "tensorboard",
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
    changes = options.recipe_changes(**recipe_changes)
    from_file, recipe_source = read_recipe(recipe)
    experiment = Experiment(
        name=name_for(data),
        source=DataSource(data, **source),
        methods=(entry,),
        protocol=protocol,
        splits=split + 1,
        seed=seed,
        recipe=from_file | changes,
        recipe_source=recipe_source and recipe_source.changed_by(changes),
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
