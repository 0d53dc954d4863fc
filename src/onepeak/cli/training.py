"""What `onepeak train` does, once its flags are read."""

import contextlib
import shlex
from dataclasses import dataclass
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
from onepeak.errors import InputError, StoppedError
from onepeak.experiment.entries import MethodEntry
from onepeak.experiment.opened import Opened, check_with, open_manifest, prepare_experiment
from onepeak.experiment.plan import Experiment
from onepeak.experiment.run_folder import CLAIM, claim, read_result
from onepeak.metrics.functional import side_order_chance
from onepeak.training.checkpoint import epochs_done
from onepeak.training.devices import find_device, make_fabric
from onepeak.training.file_names import RESULT
from onepeak.training.out_folder import check_out, make_out, refuse_others
from onepeak.training.patience import epochs_in_words
from onepeak.training.progress import LoggerWatch, ProgressBar
from onepeak.training.ran_out import values_to_lower
from onepeak.training.run import CHECKPOINT, train_run
from onepeak.training.watch import Watch

if TYPE_CHECKING:
    from lightning.fabric import Fabric


@dataclass(frozen=True, kw_only=True)
class TrainRequest:
    """The flags of `onepeak train`."""

    experiment: Experiment
    """Of one method."""
    flags: tuple[str, ...]
    """The settings of the recipe that flags gave, for messages."""
    split: int
    fold: int
    out: Path
    device: str
    threads: int | None
    logger: str
    resume: bool
    cache: Path | None
    quiet: bool

    @property
    def entry(self) -> MethodEntry:
        """The method."""
        return self.experiment.methods[0]


def train_one(request: TrainRequest) -> None:
    """Trains the model that was asked for and prints what it is worth."""
    experiment, out = request.experiment, request.out
    if request.resume and (result := read_result(out)) is not None:
        refuse_other(request, open_manifest(experiment), result)
        (out / CHECKPOINT).unlink(missing_ok=True)  # of a run that was killed at its very end
        typer.echo(f"{out} is finished already: there is nothing to go on with.")
        return
    check_folder(out, resume=request.resume)
    # A mistake is told before any picture is read, and before lightning is imported, which takes longer than all this.
    find_device(request.device)
    manifest, only = open_manifest(experiment), (request.split, request.fold)
    with named_as_flags(request.flags):
        recipe = check_with(manifest, experiment, only=only)
    fabric = make_fabric(device=request.device, precision=experiment.precision)
    done = epochs_done(out / CHECKPOINT)
    logger = LoggerWatch(request.logger, out) if fabric.is_global_zero and request.logger != "none" else None
    opened = prepare_experiment(experiment, manifest, recipe, cache=request.cache, quiet=request.quiet, only=only)
    threads = request.threads or (1 if fabric.device.type == "cpu" and opened.network.backbone == "mlp" else None)
    if threads is not None:
        torch.set_num_threads(threads)  # a table's steps are so short that threads only wait for each other
    if fabric.is_global_zero and not request.quiet:
        announce(request, opened, device=fabric.device, done=done)
    result = train_watched(request, opened, fabric=fabric, logger=logger)
    if fabric.is_global_zero:
        show(result, manifest.num_classes, out)
        if not request.quiet:
            print_notes(doubts(result, manifest.num_classes, values_to_lower(out, result["selected_by"])))


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


def resume_command() -> str:
    """What to type to go on with this run."""
    return shlex.join([*(argument for argument in typed() if argument != "--resume"), "--resume"])


def announce(request: TrainRequest, opened: Opened, *, device: torch.device, done: int) -> None:
    """What is about to be trained, on what, and from which epoch on."""
    manifest, backbone, epochs = opened.prepared.manifest, opened.network.backbone, opened.recipe.epochs
    print_notes((*opened.notes, *first_weights_notes(backbone, opened.experiment.weights_file)))
    print_note(
        f"{request.entry.name} on {manifest.name}: {manifest.num_classes} classes, "
        f"{' / '.join(str(size) for size in opened.splits[0].sizes.values())} to train / validate / test, "
        f"{backbone}, {epochs_in_words(opened.recipe)}, {device}"
    )
    if request.resume:
        nothing = f"{request.out} holds nothing to go on with: training starts anew"
        print_note(f"going on after epoch {done} of {epochs}" if done else nothing)


def train_watched(
    request: TrainRequest, opened: Opened, *, fabric: "Fabric", logger: LoggerWatch | None
) -> dict[str, Any]:
    """Trains in the folder, which nobody else may do meanwhile, and shows how it goes on; gives the result."""
    settings, (split,), out = opened.settings(request.entry), opened.splits, request.out
    watches: list[Watch] = []
    with contextlib.ExitStack() as stack:
        make_out(out)
        if fabric.is_global_zero:
            if not stack.enter_context(claim(out)):
                raise InputError(f"`--out` {out} is trained in by another process: wait, or give another.")
            check_folder(out, resume=request.resume)  # again: another may have ended meanwhile
            bar = ProgressBar(
                settings.method,
                settings.recipe.epochs,
                at_most=settings.recipe.patience is not None,
                select=settings.selection(opened.prepared.manifest.name),
                quiet=request.quiet,
            )
            watches.append(stack.enter_context(bar))
            if logger is not None:
                watches.append(logger)
        try:
            notes = opened.shared_by_parts(split)
            return train_run(settings, opened.prepared, split, out, fabric=fabric, watches=tuple(watches), notes=notes)
        except KeyboardInterrupt:
            kept = (out / CHECKPOINT).exists()
            how = f"to go on from its checkpoint, run: {resume_command()}" if kept else "no epoch was finished."
            raise StoppedError(f"Stopped: {how}") from None


def show(result: dict[str, Any], num_classes: int, out: Path) -> None:
    """The figures that matter, and what to do next."""
    print_notes(result.get("notes", []))
    test, patience = result["metrics"]["test"], result["recipe"]["patience"]
    stopped = f"stopped after {patience} without a better one, " if result["stopped_early"] else ""
    select, shown = result["selected_by"], ("mae", "accuracy", "soi_predicted", "unimodal")
    chosen = f"{select} {test[select]:.3f}, " if select in test and select not in shown else ""
    typer.echo(
        f"test: {chosen}MAE {test['mae']:.3f}, accuracy {test['accuracy']:.1%}, SOI {test['soi_predicted']:.1%} "
        f"(chance {side_order_chance(num_classes):.1%}), one-peaked {test['unimodal']:.1%}; "
        f"epoch {result['best_epoch'] + 1} of {result['epochs']} kept, {stopped}{result['seconds']:.0f} s\n"
        f"model: {out}"
    )
