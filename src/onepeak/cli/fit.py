"""`onepeak fit`: the best model in the minutes given. `onepeak finish`: the model that a comparison chose."""

import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from onepeak.cli import options
from onepeak.cli.options import flag
from onepeak.cli.output import predict_command, print_note, print_notes

_EVERY = 10.0
"""Seconds between two lines about the training that goes on."""
PLAN: options.Flags = {name: each for name, each in options.PLAN.items() if name not in ("freeze", "precision")}
RECIPE: options.Flags = {name: each for name, each in options.RECIPE.items() if name != "encoder_lr"}


@options.with_flags(source=options.TRAINED, plan=PLAN, recipe_changes=RECIPE, network=options.NETWORK)
def fit(
    data: str,
    source: dict[str, Any],
    plan: dict[str, Any],
    methods: Annotated[
        str | None,
        flag("Training", "--methods", "Methods to choose from in validation (default: peak; good and best add more)."),
    ] = None,
    minutes: Annotated[float, flag("Training", "--minutes", "Total time in minutes.", min=0.1)] = 30.0,
    preset: Annotated[
        Literal["fast", "good", "best"],
        flag("Training", "--preset", "fast (a few settings), good (a search) or best (a search, five networks)."),
    ] = "good",
    *,
    recipe_changes: dict[str, Any],
    freeze: Annotated[
        bool | None,
        flag("Network", "--freeze/--no-freeze", "Keep the backbone's weights (default: on a CPU with --weights)."),
    ] = None,
    network: dict[str, Any],
    flips: Annotated[
        bool | None,
        flag("Prediction", "--flips/--no-flips", "Try the mean over mirror images (default: with --preset best)."),
    ] = None,
    device: str = "auto",
    workers: int | None = None,
    cache: Path | None = None,
    out: Annotated[Path | None, flag("Output", "--out", "Folder for the model, or one with a fit to resume.")] = None,
    dry_run: Annotated[bool, flag("Output", "--dry-run", "Print the plan without training.")] = False,
    logger: str = "none",
    quiet: bool = False,
) -> None:
    """Plans, searches on the validation part and trains the best model it can in the given time.

    The test part is used once, at the end. If interrupted, run the same command to resume.

    Example: onepeak fit biopsies --minutes 5 --preset fast --out model
    """
    began = time.monotonic()

    import torch

    from onepeak._core.wording import duration
    from onepeak.cli.train.warnings import constant_notes, first_weights_notes
    from onepeak.experiment.compare import HereExecutor
    from onepeak.experiment.events import EpochDone, Event, Executor
    from onepeak.experiment.executors.local import LocalExecutor
    from onepeak.experiment.fit import METHODS, begin_fit, check_same, leaderboard, make_plan
    from onepeak.experiment.fit import fit as fit_model
    from onepeak.experiment.plan import entries_from_text
    from onepeak.training.devices import make_fabric
    from onepeak.training.out_folder import check_out, refuse_others
    from onepeak.training.progress import check_logger, figures_of

    check_logger(logger)
    fabric = make_fabric(device=device)
    weights, backbone = plan.get("weights"), network.get("backbone")
    trained_from_nothing = backbone in ("mlp", "small")
    may_thaw = freeze is None
    if freeze is None:
        freeze = weights is not None and fabric.device.type == "cpu" and not trained_from_nothing
    if weights is not None and not trained_from_nothing and ":" not in (backbone or ""):
        plan = {"normalise": "timm", **plan}
    experiment = options.experiment_on(
        data,
        entries_from_text(methods or METHODS[preset]),
        source=source,
        plan={**plan, "splits": 1, "freeze": freeze},
        recipe_changes=recipe_changes,
        network=network,
    )
    out = out or Path("out", f"{experiment.name}-fit")
    check_out(out)
    work = begin_fit(out, None)
    before = 0.0 if work is None else work.spent

    def clock() -> float:
        return before + time.monotonic() - began

    def tell(line: str) -> None:
        if not quiet or dry_run:
            print_note(line)

    told = clock()

    def report(event: Event) -> None:
        nonlocal told
        if isinstance(event, EpochDone) and clock() - told >= _EVERY:
            told, entry, done = clock(), event.run.entry, int(event.row["epoch"]) + 1
            tell(
                f"{entry.name}: epoch {done}/{entry.recipe['epochs']}, {figures_of(event.row)}, after {duration(told)}"
            )

    if work is None:
        refuse_others(out)
        speedup = LocalExecutor(device=device, workers=workers).speedup(3)
        work = make_plan(
            experiment,
            preset=preset,
            minutes=minutes,
            speedup=speedup,
            fabric=fabric,
            clock=clock,
            flips=flips,
            may_thaw=may_thaw,
            cache=cache,
            tell=tell,
        )
        if not dry_run:
            begin_fit(out, work)
    else:
        for line in work.lines[:10]:
            tell(line)
    check_same(work, experiment, preset=preset, minutes=minutes, flips=flips)
    if not quiet or dry_run:
        print_notes(first_weights_notes(work.backbone, weights))
    if dry_run:
        return
    if not work.stages[0].parallel and fabric.device.type == "cpu":
        torch.set_num_threads(1)  # steps are so short that threads only wait for each other

    def executor(parallel: bool) -> Executor:
        return LocalExecutor(device=device, workers=workers) if parallel else HereExecutor(fabric)

    result = fit_model(
        experiment,
        out,
        work,
        executor=executor,
        fabric=fabric,
        cache=cache,
        quiet=quiet,
        logger=logger,
        tell=tell,
        report=report,
        clock=clock,
    )
    typer.echo(leaderboard(result).partition("|")[0].split("\n\n")[1])
    if not quiet:
        print_notes(constant_notes(result))
    _tell_model(out, quiet=quiet)


@options.with_flags()
def finish(
    comparison: Annotated[Path, typer.Argument(help="Folder of a comparison.")],
    refit: Annotated[
        bool | None,
        flag("Training", "--refit/--no-refit", "Train once on all samples, test parts too (default: for a table)."),
    ] = None,
    device: str = "auto",
    cache: Path | None = None,
    out: Annotated[
        Path | None, flag("Output", "--out", "New folder for the model (default: COMPARISON/model).")
    ] = None,
    quiet: bool = False,
) -> None:
    """Makes one model of a comparison: the method that is best in validation, as the mean of its folds' networks.

    With --refit it is one network, trained on all samples for as many epochs as the runs kept. Either way, calibration
    and figures are those of the runs.

    Example: onepeak finish comparison --out model
    """
    from onepeak._core.wording import counted
    from onepeak.experiment.finish import choice_of
    from onepeak.experiment.finish import finish as finish_comparison
    from onepeak.experiment.finish import refit as refit_choice
    from onepeak.training.devices import make_fabric

    choice = choice_of(comparison)
    out = out or comparison / "model"
    refit = choice.of_rows if refit is None else refit
    if refit:
        refit_choice(choice, out, fabric=make_fabric(device=device), cache=cache)
    else:
        finish_comparison(choice, out)
    if not quiet:
        content = "one network of all samples" if refit else counted(len(choice.runs), "network")
        print_note(f"{choice.label}: validation {choice.select} {choice.value:.3f}, {content}")
    _tell_model(out, quiet=quiet)


def _tell_model(out: Path, *, quiet: bool) -> None:
    typer.echo(f"model: {out}")
    if not quiet:
        print_note(f"Next: {predict_command(out)}, or onepeak evaluate {out} NEW_DATA")
