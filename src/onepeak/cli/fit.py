"""`onepeak fit`: the best model in the minutes given."""

from pathlib import Path
from typing import Annotated

import typer

from onepeak.cli import options


def fit(
    data: options.Data,
    minutes: Annotated[float, typer.Option("--minutes", min=0.1, help="Time for everything together.")] = 30.0,
    preset: Annotated[
        str, typer.Option("--preset", help="fast (a few settings), good (a search) or best (a search, five networks).")
    ] = "good",
    out: Annotated[
        Path | None,
        typer.Option("--out", callback=options.at_home, help="Folder for the model, or one to go on with."),
    ] = None,
    methods: Annotated[
        str, typer.Option("--methods", help="Methods to choose from in validation, such as peak,elb,corn.")
    ] = "peak",
    root: options.Root = None,
    order: options.Order = None,
    label: options.Label = None,
    group: options.Group = None,
    path: options.Images = None,
    category: options.Category = [],  # noqa: B006
    drop: options.Drop = [],  # noqa: B006
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    missing: options.Missing = [],  # noqa: B006
    protocol: options.Protocol = "auto",
    epochs: options.Epochs = None,
    batch_size: options.BatchSize = None,
    select: options.Select = None,
    class_weight: options.ClassWeight = None,
    bits: options.Bits = None,
    network: options.Network = [],  # noqa: B006
    backbone: options.Backbone = None,
    pooling: options.Pooling = None,
    weights: options.Weights = None,
    normalise: options.Normalise = None,
    freeze: Annotated[
        bool | None,
        typer.Option(
            "--freeze/--no-freeze", help="Keep the backbone's weights (default: on a CPU, where weights are given)."
        ),
    ] = None,
    seed: options.Seed = 0,
    device: options.Device = "auto",
    workers: Annotated[int | None, typer.Option("--workers", help="Parallel trainings of whole networks.")] = None,
    logger: options.Logger = "none",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan without training.")] = False,
    skip_bad: options.SkipBad = False,
    allow_leak: Annotated[bool, typer.Option("--allow-leak", help="Train even if samples leak between parts.")] = False,
    cache: options.Cache = None,
    quiet: options.Quiet = False,
) -> None:
    """Plans, searches on validation, and makes the best model in the minutes given. The test part is opened once.

    If interrupted, run the same command to go on to the same model.

    Example: onepeak fit biopsies --minutes 5 --preset fast --out model
    """
    import torch

    from onepeak._core.check import check_choice
    from onepeak.cli.output import print_note, print_notes
    from onepeak.cli.train.warnings import first_weights_notes
    from onepeak.data.source import DataSource
    from onepeak.experiment.executors.here import HereExecutor
    from onepeak.experiment.executors.local import LocalExecutor
    from onepeak.experiment.fit import begin_fit, check_same, leaderboard, make_plan
    from onepeak.experiment.fit import fit as fit_model
    from onepeak.experiment.plan import Experiment, entries_from_text, name_for
    from onepeak.training.devices import make_fabric
    from onepeak.training.out_folder import check_out, refuse_others
    from onepeak.training.progress import check_logger

    check_logger(logger)
    check_choice("preset", preset, ("fast", "good", "best"))
    fabric = make_fabric(device=device)
    if freeze is None:
        freeze = weights is not None and fabric.device.type == "cpu" and backbone not in ("mlp", "small")
    own = backbone is not None and (":" in backbone or backbone in ("mlp", "small"))
    experiment = Experiment(
        name=name_for(data),
        source=DataSource(
            data,
            root=root,
            order=order,
            label=label,
            group=group,
            path=path,
            category=tuple(category),
            drop=tuple(drop),
            decimal=decimal,
            encoding=encoding,
            missing=tuple(missing),
            skip_bad=skip_bad,
        ),
        methods=entries_from_text(methods),
        protocol=protocol,
        splits=1,
        seed=seed,
        recipe=options.recipe_changes(
            epochs=epochs,
            batch_size=batch_size,
            lr=None,
            select=select,
            patience=None,
            class_weight=class_weight,
            bits=bits,
        ),
        network=options.network_settings(network, backbone=backbone, pooling=pooling),
        weights=weights,
        normalise=normalise or (None if weights is None or own else "timm"),  # type: ignore[arg-type]  # checked there
        freeze=freeze,
        allow_leak=allow_leak,
    )
    out = out or Path("out", f"{experiment.name}-fit")
    check_out(out)
    plan = begin_fit(out, None)
    labels = [entry.label for entry in experiment.methods]
    if plan is None:
        refuse_others(out)
        speedup = LocalExecutor(device=device, workers=workers).speedup(3)
        plan = make_plan(experiment, preset=preset, minutes=minutes, speedup=speedup, fabric=fabric)
        if not dry_run:
            begin_fit(out, plan)
    check_same(plan, preset=preset, minutes=minutes, methods=labels, seed=seed, frozen=freeze)
    if not quiet or dry_run:
        print_notes(first_weights_notes(plan.backbone, weights))
        for line in plan.lines[:10]:
            print_note(line)
    if dry_run:
        return
    if not plan.parallel and fabric.device.type == "cpu":
        torch.set_num_threads(1)  # steps are so short that threads only wait for each other
    result = fit_model(
        experiment,
        out,
        plan,
        executor=LocalExecutor(device=device, workers=workers) if plan.parallel else HereExecutor(fabric),
        fabric=fabric,
        cache=cache,
        quiet=quiet,
        logger=logger,
        tell=print_note if not quiet else lambda _: None,
    )
    typer.echo(leaderboard(result).partition("|")[0].split("\n\n")[1])
    typer.echo(f"model: {out}")
