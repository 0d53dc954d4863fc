"""`onepeak fit`: the best model in the minutes given."""

from pathlib import Path
from typing import Annotated, Any

import typer

from onepeak.cli import options
from onepeak.cli.options import flag, path_flag, switch


@options.with_flags(source=options.SOURCE, recipe_changes=options.RECIPE)
def fit(
    data: options.Data,
    source: dict[str, Any],
    protocol: options.Protocol = "auto",
    allow_leak: options.AllowLeak = False,
    methods: Annotated[
        str, flag("Training", "--methods", "Methods to choose from in validation, such as peak,elb,corn.")
    ] = "peak",
    minutes: Annotated[float, flag("Training", "--minutes", "Time for everything together.", min=0.1)] = 30.0,
    preset: Annotated[
        str, flag("Training", "--preset", "fast (a few settings), good (a search) or best (a search, five networks).")
    ] = "good",
    *,
    recipe_changes: dict[str, Any],
    seed: options.Seed = 0,
    backbone: options.Backbone = None,
    weights: options.Weights = None,
    normalise: options.Normalise = None,
    freeze: Annotated[
        bool | None,
        switch(
            "Network",
            "--freeze/--no-freeze",
            "Keep the backbone's weights (default: on a CPU with --weights).",
        ),
    ] = None,
    pooling: options.Pooling = None,
    network: options.Network = [],  # noqa: B006
    device: options.Device = "auto",
    workers: options.Workers = None,
    cache: options.Cache = None,
    out: Annotated[Path | None, path_flag("Output", "--out", "Folder for the model, or one to go on with.")] = None,
    dry_run: Annotated[bool, switch("Output", "--dry-run", "Print the plan without training.")] = False,
    logger: options.Logger = "none",
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
        source=DataSource(data, **source),
        methods=entries_from_text(methods),
        protocol=protocol,
        splits=1,
        seed=seed,
        recipe=options.recipe_changes(**recipe_changes),
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
