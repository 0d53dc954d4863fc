"""What `onepeak train` does, once its flags are read."""

import contextlib
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import typer

from onepeak._core.formats import json_text
from onepeak._core.wording import listed
from onepeak.cli.options import command_line
from onepeak.cli.output import print_note, print_notes
from onepeak.cli.train.warnings import first_weights_notes, training_warnings
from onepeak.data.manifest import FeatureRows, Manifest
from onepeak.data.splits.copies import has_texts
from onepeak.errors import InputError, StoppedError
from onepeak.experiment.folder import CLAIM, claim, read_result
from onepeak.experiment.plan import Experiment, MethodEntry
from onepeak.experiment.prepared import PreparedExperiment, check_with, open_manifest, prepare_experiment
from onepeak.metrics.functional import side_order_chance
from onepeak.networks.text_encoder import TextEncoder
from onepeak.training.checkpoint import epochs_done
from onepeak.training.convergence import epochs_in_words, values_to_lower
from onepeak.training.devices import find_device, make_fabric
from onepeak.training.model_files import WEIGHTS, load_description
from onepeak.training.out_folder import RESULT, check_out, make_out, refuse_others
from onepeak.training.prepare import without_encoder
from onepeak.training.progress import LoggerWatch, ProgressBar, Watch
from onepeak.training.recipe import SETTING_NAMES
from onepeak.training.run import CHECKPOINT, train_run
from onepeak.training.table_encoder import TableEncoder

if TYPE_CHECKING:
    from lightning.fabric import Fabric


@dataclass(frozen=True, kw_only=True)
class TrainRequest:
    """The flags of `onepeak train`."""

    experiment: Experiment
    """Of one method."""
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
        typer.echo(f"{out} is already finished.")
        return
    check_folder(out, resume=request.resume)
    # A mistake is told before any image is read, and before lightning is imported, which takes longer than all this.
    find_device(request.device)
    manifest, only = open_manifest(experiment), (request.split, request.fold)
    recipe = check_with(manifest, experiment, only=only)
    fabric = make_fabric(device=request.device, precision=experiment.precision)
    done = epochs_done(out / CHECKPOINT)
    logger = LoggerWatch(request.logger, out) if fabric.is_global_zero and request.logger != "none" else None
    prepared_experiment = prepare_experiment(
        experiment, manifest, recipe, cache=request.cache, quiet=request.quiet, only=only, device=request.device
    )
    threads = request.threads or (
        1 if fabric.device.type == "cpu" and _takes_short_steps(prepared_experiment) else None
    )
    if threads is not None:
        torch.set_num_threads(threads)  # a table's steps are so short that threads only wait for each other
    if fabric.is_global_zero and not request.quiet:
        announce(request, prepared_experiment, device=fabric.device, done=done)
    result = train_watched(request, prepared_experiment, fabric=fabric, logger=logger)
    if fabric.is_global_zero:
        show(result, manifest.num_classes, out)
        if not request.quiet:
            print_notes(training_warnings(result, manifest.num_classes, values_to_lower(out, result["selected_by"])))
            print_note(f"Next: onepeak inspect {out} --open, or onepeak predict {out} FILES")


def _takes_short_steps(prepared_experiment: PreparedExperiment) -> bool:
    return prepared_experiment.network.backbone == "mlp" or prepared_experiment.prepared.features is not None


def check_folder(out: Path, *, resume: bool) -> None:
    """A folder that holds a run is gone on with only when asked, and one that holds something else never."""
    check_out(out)
    if (out / RESULT).exists():
        raise InputError(f"`--out` {out} holds a finished run: give another folder.")
    if (out / CHECKPOINT).exists() and not resume:
        raise InputError(f"`--out` {out} holds an unfinished run: add --resume, or give another folder.")
    if not any((out / name).exists() for name in (CHECKPOINT, CLAIM)):  # the claim is older than all that a run writes
        refuse_others(out)


def resume_command() -> str:
    """What to type to go on with this run."""
    return shlex.join([*(argument for argument in command_line() if argument != "--resume"), "--resume"])


def announce(
    request: TrainRequest, prepared_experiment: PreparedExperiment, *, device: torch.device, done: int
) -> None:
    """What is about to be trained, on what, and from which epoch on."""
    manifest, backbone, epochs = (
        prepared_experiment.prepared.manifest,
        prepared_experiment.network.backbone,
        prepared_experiment.recipe.epochs,
    )
    print_notes((*prepared_experiment.notes, *first_weights_notes(backbone, prepared_experiment.experiment.weights)))
    print_note(
        f"{request.entry.name} on {manifest.name}: {manifest.num_classes} classes, "
        f"{' / '.join(str(size) for size in prepared_experiment.splits[0].sizes.values())} to train / validate / test, "
        f"{backbone}, {epochs_in_words(prepared_experiment.recipe)}, {device}"
    )
    if request.resume:
        nothing = f"{request.out} holds nothing to resume: training starts from scratch"
        print_note(f"resuming after epoch {done} of {epochs}" if done else nothing)


def train_watched(
    request: TrainRequest, prepared_experiment: PreparedExperiment, *, fabric: "Fabric", logger: LoggerWatch | None
) -> dict[str, Any]:
    """Trains in the folder, which nobody else may do meanwhile, and shows how it goes on; gives the result."""
    settings, (split,), out = prepared_experiment.settings(request.entry), prepared_experiment.splits, request.out
    watches: list[Watch] = []
    with contextlib.ExitStack() as stack:
        make_out(out)
        if fabric.is_global_zero:
            if not stack.enter_context(claim(out)):
                raise InputError(f"`--out` {out} is in use by another process: wait, or give another folder.")
            check_folder(out, resume=request.resume)  # again: another may have ended meanwhile
            bar = ProgressBar(
                settings.method,
                settings.recipe.epochs,
                at_most=settings.recipe.patience is not None,
                select=settings.selection(prepared_experiment.prepared.manifest.name),
                quiet=request.quiet,
            )
            watches.append(stack.enter_context(bar))
            if logger is not None:
                watches.append(logger)
        try:
            notes = prepared_experiment.shared_by_parts(split)
            return train_run(
                settings, prepared_experiment.prepared, split, out, fabric=fabric, watches=tuple(watches), notes=notes
            )
        except KeyboardInterrupt:
            has_checkpoint = (out / CHECKPOINT).exists()
            how = f"to resume, run: {resume_command()}" if has_checkpoint else "no epoch was finished."
            raise StoppedError(f"Stopped: {how}") from None


def show(result: dict[str, Any], num_classes: int, out: Path) -> None:
    """The figures that matter, and what to do next."""
    print_notes(result.get("notes", []))
    test, patience = result["metrics"]["test"], result["recipe"]["patience"]
    chance = side_order_chance(num_classes, decision=result["decision"])
    stopped = f"stopped after {patience} without a better one, " if result["stopped_early"] else ""
    select, printed = result["selected_by"], ("mae", "accuracy", "soi_predicted", "unimodal")
    chosen = f"{select} {test[select]:.3f}, " if select in test and select not in printed else ""
    typer.echo(
        f"test: {chosen}MAE {test['mae']:.3f}, accuracy {test['accuracy']:.1%}, SOI {test['soi_predicted']:.1%} "
        f"(chance {chance:.1%}), one-peaked {test['unimodal']:.1%}; "
        f"epoch {result['best_epoch'] + 1} of {result['epochs']} kept, {stopped}{result['seconds']:.0f} s\n"
        f"model: {out}"
    )


def refuse_other(request: "TrainRequest", manifest: Manifest, result: dict[str, Any]) -> None:
    """A finished run is not taken for one that was asked for with other settings."""
    experiment, entry = request.experiment, request.entry
    settings = {
        "method": entry.name,
        "variant": entry.variant,
        "method_settings": entry.settings,
        "dataset": manifest.name,
        "split": request.split,
        "fold": request.fold,
        "seed": experiment.seed,
        **{name: value for name, value in experiment.recipe.items() if name in SETTING_NAMES},
        **without_encoder(manifest, experiment.network),
    }
    description = load_description(request.out)
    trained = result | result.get("recipe", {}) | asdict(description.network)
    others = [
        f"{name} = {trained[name]}, not {value}"
        for name, value in settings.items()
        if name in trained and json_text(trained[name]) != json_text(value)
    ]
    if isinstance(manifest.items, FeatureRows) and description.table is not None:
        others += _other_columns(manifest.items, description.table)
    if has_texts(manifest.items) and (
        result["data"].get("encoder") != TextEncoder(experiment.network.get("backbone")).digest
    ):
        others.append("another encoder of texts (--backbone)")
    if others:
        raise InputError(
            f"`--out` {request.out} holds a finished run with {'; '.join(others)}: give another --out "
            f"(to start from its weights: --weights {request.out / WEIGHTS})."
        )


def _other_columns(rows: FeatureRows, table: TableEncoder) -> list[str]:
    """A sentence where the columns of a table, or the names in them, are not those that were trained on."""
    here = rows.plain_columns if rows.texts is None else (*rows.plain_columns, rows.texts.column)
    there = table.given_columns
    if here != there:
        without = [name for name in there if name not in here]
        beside = [name for name in here if name not in there]
        differences = [f"the columns {listed(without)} as well"] if without else []
        differences += [f"no columns {listed(beside)}"] if beside else []
        return differences or ["the columns in another order"]
    names = [name for name in rows.plain_columns if rows.categories.get(name) != table.categories.get(name)]
    return [f"other categories (--category) in {listed(names)}"] if names else []
