"""`onepeak train`: one model."""

from pathlib import Path
from typing import Annotated, Any

from onepeak.cli import options
from onepeak.cli.options import flag


@options.with_flags(source=options.TRAINED, plan=options.PLAN, recipe_changes=options.RECIPE, network=options.NETWORK)
def train(
    data: str,
    source: dict[str, Any],
    plan: dict[str, Any],
    split: Annotated[int, flag("Data", "--split", "Split of the protocol, counted from 0.", min=0)] = 0,
    fold: Annotated[int, flag("Data", "--fold", "Fold of the split, counted from 0.", min=0)] = 0,
    method: Annotated[
        str, flag("Training", "--method", "Method (see onepeak methods), such as peak, elb, mv+elb or elb:t=2.")
    ] = "peak",
    recipe: Annotated[
        str, flag("Training", "--recipe", "Recipe: auto, paper, or a TOML file.", callback=options.at_home)
    ] = "auto",
    *,
    recipe_changes: dict[str, Any],
    variant: Annotated[
        str | None, flag("Training", "--variant", "Variant: corrected (the default) or as_published.")
    ] = None,
    settings: Annotated[list[str], flag("Training", "--set", "Method setting: t=1.5.")] = [],  # noqa: B006
    network: dict[str, Any],
    device: str = "auto",
    threads: Annotated[
        int | None, flag("Compute", "--threads", "CPU threads (default: 1 for a table on a CPU, else all).", min=1)
    ] = None,
    cache: Path | None = None,
    out: Annotated[
        Path | None, flag("Output", "--out", "New folder for the model and its results (default: out/NAME-METHOD).")
    ] = None,
    resume: Annotated[bool, flag("Output", "--resume", "Resume the run in --out.")] = False,
    logger: str = "tensorboard",
    quiet: bool = False,
) -> None:
    """Trains one model on one split and evaluates it on the test part.

    Example: onepeak train biopsies --epochs 5 --out model
    """
    from onepeak.cli.train.run import train_one
    from onepeak.experiment.plan import MethodEntry, name_and_settings

    name, named_variant, named_settings = name_and_settings(method)
    entry = MethodEntry(
        name=name,
        variant=variant or named_variant or "corrected",  # type: ignore[arg-type]  # checked there
        settings=named_settings | options.settings_of(settings),
    )
    experiment = options.experiment_on(
        data,
        (entry,),
        source=source,
        plan=plan | {"splits": split + 1},
        recipe=recipe,
        recipe_changes=recipe_changes,
        network=network,
    )
    train_one(
        experiment,
        (split, fold),
        out or Path("out", f"{experiment.name}-{entry.label}"),
        device=device,
        threads=threads,
        cache=cache,
        logger=logger,
        resume=resume,
        quiet=quiet,
    )
