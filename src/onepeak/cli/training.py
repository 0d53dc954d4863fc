"""What `onepeak train` does, once its flags are read."""

import contextlib
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import typer

from onepeak.cli.doubts import doubts
from onepeak.cli.finished import refuse_other
from onepeak.cli.first_weights import first_weights_notes
from onepeak.cli.options import named_as_flags
from onepeak.cli.tables import print_note, print_notes
from onepeak.cli.typed import typed
from onepeak.data.manifest import Manifest
from onepeak.data.open import open_data
from onepeak.data.splits import Split, make_splits, refuse_leaks, split_notes
from onepeak.data.splits.duplicates import conflict_notes
from onepeak.errors import InputError, StoppedError
from onepeak.experiment.run_folder import CLAIM, claim, read_result
from onepeak.methods.catalog import method
from onepeak.metrics.functional import side_order_chance
from onepeak.training.checkpoint import epochs_done
from onepeak.training.class_weights import class_weights
from onepeak.training.devices import find_device, make_fabric
from onepeak.training.file_names import RESULT
from onepeak.training.out_folder import check_out, make_out, refuse_others
from onepeak.training.patience import epochs_in_words
from onepeak.training.prepare import Prepared, prepare
from onepeak.training.progress import LoggerWatch, ProgressBar
from onepeak.training.ran_out import values_to_lower
from onepeak.training.recipe import Recipe
from onepeak.training.recipe_file import read_recipe, recipe_for
from onepeak.training.run import CHECKPOINT, train_run
from onepeak.training.run_settings import RunSettings
from onepeak.training.trial import try_network
from onepeak.training.watch import Watch

if TYPE_CHECKING:
    from lightning.fabric import Fabric


@dataclass(frozen=True, kw_only=True)
class TrainRequest:
    """The flags of `onepeak train`."""

    data: str
    method: str
    out: Path
    root: str | None
    order: str | None
    label: str | None
    group: str | None
    path: str | None
    category: tuple[str, ...]
    drop: tuple[str, ...]
    decimal: str | None
    protocol: str
    split: int
    fold: int
    recipe: str
    changes: dict[str, Any]
    variant: str
    settings: dict[str, Any]
    network: dict[str, Any]
    weights: Path | None
    seed: int
    device: str
    precision: str
    threads: int | None
    logger: str
    resume: bool
    skip_bad: bool
    allow_leak: bool
    cache: Path | None
    quiet: bool


def train_one(request: TrainRequest) -> None:
    """Trains the model that was asked for and prints what it is worth."""
    if request.resume and (result := read_result(request.out)) is not None:
        refuse_other(request, opened(request), result)
        (request.out / CHECKPOINT).unlink(missing_ok=True)  # of a run that was killed at its very end
        typer.echo(f"{request.out} is finished already: there is nothing to go on with.")
        return
    check_folder(request.out, resume=request.resume)
    # A wrong name, setting, device or file is told before any picture is read, and before lightning is imported, which
    # takes longer than all of this.
    method(request.method, num_classes=2, variant=request.variant, **request.settings)  # type: ignore[arg-type]
    find_device(request.device)
    manifest = opened(request)
    if not request.quiet:
        print_notes(manifest.notes)
    recipe = choose_recipe(request, manifest)
    try_network(manifest, request.network, weights=request.weights)
    choose_split(request, manifest)
    fabric = make_fabric(device=request.device, precision=request.precision)  # type: ignore[arg-type]
    done = epochs_done(request.out / CHECKPOINT)
    logger = LoggerWatch(request.logger, request.out) if fabric.is_global_zero and request.logger != "none" else None
    prepared = prepare(manifest, recipe, cache_dir=request.cache, skip_bad=request.skip_bad, quiet=request.quiet)
    split = choose_split(request, prepared.manifest)
    leaks = refuse_leaks(prepared.manifest, [split], digests=prepared.digests, allow=request.allow_leak)
    settings = RunSettings(
        method=request.method,
        variant=request.variant,  # type: ignore[arg-type]
        method_settings=request.settings,
        network=prepared.network(request.network),
        weights=request.weights,
        recipe=recipe,
        seed=request.seed,
    )
    threads = request.threads or (1 if fabric.device.type == "cpu" and settings.network.backbone == "mlp" else None)
    if threads is not None:
        torch.set_num_threads(threads)  # a table's steps are so short that threads only wait for each other
    if fabric.is_global_zero and not request.quiet:
        announce(request, settings, prepared, split, device=fabric.device, done=done)
    notes = {"shared_by_parts": [str(leak) for leak in leaks]} if leaks else {}
    result = train_watched(request, settings, prepared, split, fabric=fabric, logger=logger, notes=notes)
    if fabric.is_global_zero:
        show(result, prepared.manifest.num_classes, request.out)
        if not request.quiet:
            values = values_to_lower(request.out, result["selected_by"])
            print_notes(doubts(result, prepared.manifest.num_classes, values))


def opened(request: TrainRequest) -> Manifest:
    """The data, as they lie there."""
    return open_data(
        request.data,
        root=request.root,
        order=request.order,
        label=request.label,
        group=request.group,
        path=request.path,
        category=request.category,
        drop=request.drop,
        decimal=request.decimal,
        skip_bad=request.skip_bad,
    )


def check_folder(out: Path, *, resume: bool) -> None:
    """A folder that holds a run is gone on with only when asked, and one that holds something else never."""
    check_out(out)
    if (out / RESULT).exists():
        raise InputError(f"`--out` {out} holds a finished run: give another folder.")
    if (out / CHECKPOINT).exists() and not resume:
        raise InputError(
            f"`--out` {out} holds an unfinished run: add --resume to go on with it, or give another folder."
        )
    if not any((out / name).exists() for name in (CHECKPOINT, CLAIM)):  # the claim is older than all that a run writes
        refuse_others(out)


def choose_recipe(request: TrainRequest, manifest: Manifest) -> Recipe:
    """The preset or the file, with what the flags say instead."""
    recipe = recipe_for(manifest, read_recipe(request.recipe), source=request.recipe)
    with named_as_flags(request.changes):
        recipe = replace(recipe, **request.changes)
        class_weights(recipe.class_weight, manifest.labels, manifest.num_classes)  # told before any picture is read
    return recipe


def choose_split(request: TrainRequest, manifest: Manifest) -> Split:
    """The split and fold that were asked for."""
    splits = make_splits(manifest, protocol=request.protocol, splits=request.split + 1, seed=request.seed)
    for found in splits:
        if (found.split, found.fold) == (request.split, request.fold):
            return found
    folds = sorted({found.fold for found in splits})
    raise InputError(f"`--fold` must be one of the protocol's folds ({folds[0]} to {folds[-1]}), got {request.fold}.")


def resume_command() -> str:
    """What to type to go on with this run."""
    return shlex.join([*(argument for argument in typed() if argument != "--resume"), "--resume"])


def announce(
    request: TrainRequest, settings: RunSettings, prepared: Prepared, split: Split, *, device: torch.device, done: int
) -> None:
    """What is about to be trained, on what, and from which epoch on."""
    manifest, backbone, epochs = prepared.manifest, settings.network.backbone, settings.recipe.epochs
    of_data = (*conflict_notes(manifest, prepared.digests), *split_notes(manifest, [split], parts=("train",)))
    print_notes((*prepared.notes, *of_data, *first_weights_notes(backbone, request.weights)))
    print_note(
        f"{request.method} on {manifest.name}: {manifest.num_classes} classes, "
        f"{' / '.join(str(size) for size in split.sizes.values())} to train / validate / test, "
        f"{backbone}, {epochs_in_words(settings.recipe)}, {device}"
    )
    if request.resume:
        nothing = f"{request.out} holds nothing to go on with: training starts anew"
        print_note(f"going on after epoch {done} of {epochs}" if done else nothing)


def train_watched(
    request: TrainRequest,
    settings: RunSettings,
    prepared: Prepared,
    split: Split,
    *,
    fabric: "Fabric",
    logger: LoggerWatch | None,
    notes: dict[str, Any],
) -> dict[str, Any]:
    """Trains in the folder, which nobody else may do meanwhile, and shows how it goes on; gives the result."""
    watches: list[Watch] = []
    with contextlib.ExitStack() as stack:
        make_out(request.out)
        if fabric.is_global_zero:
            if not stack.enter_context(claim(request.out)):
                raise InputError(f"`--out` {request.out} is trained in by another process: wait, or give another.")
            check_folder(request.out, resume=request.resume)  # again: another may have ended meanwhile
            at_most = settings.recipe.patience is not None
            bar = ProgressBar(request.method, settings.recipe.epochs, at_most=at_most, quiet=request.quiet)
            watches.append(stack.enter_context(bar))
            if logger is not None:
                watches.append(logger)
        try:
            return train_run(settings, prepared, split, request.out, fabric=fabric, watches=tuple(watches), notes=notes)
        except KeyboardInterrupt:
            kept = (request.out / CHECKPOINT).exists()
            how = f"to go on from its checkpoint, run: {resume_command()}" if kept else "no epoch was finished."
            raise StoppedError(f"Stopped: {how}") from None


def show(result: dict[str, Any], num_classes: int, out: Path) -> None:
    """The figures that matter, and what to do next."""
    print_notes(result.get("notes", []))
    test, patience = result["metrics"]["test"], result["recipe"]["patience"]
    stopped = f"stopped after {patience} without a better one, " if result["stopped_early"] else ""
    typer.echo(
        f"test: MAE {test['mae']:.3f}, accuracy {test['accuracy']:.1%}, SOI {test['soi_predicted']:.1%} "
        f"(chance {side_order_chance(num_classes):.1%}), one-peaked {test['unimodal']:.1%}; "
        f"epoch {result['best_epoch'] + 1} of {result['epochs']} kept, {stopped}{result['seconds']:.0f} s\n"
        f"model: {out}"
    )
