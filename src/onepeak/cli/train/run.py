"""What `onepeak train` does, once its flags are read."""

import contextlib
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import typer

from onepeak._core.formats import json_text
from onepeak.cli.options import command_line
from onepeak.cli.output import predict_command, print_note, print_notes
from onepeak.cli.train.warnings import first_weights_notes, training_warnings
from onepeak.data.manifest import FeatureRows, Manifest
from onepeak.data.splits.copies import has_texts
from onepeak.errors import InputError, StoppedError
from onepeak.experiment.folder import CLAIM, claim, read_result
from onepeak.experiment.plan import Experiment
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

if TYPE_CHECKING:
    from lightning.fabric import Fabric


def train_one(
    experiment: Experiment,
    only: tuple[int, int],
    out: Path,
    *,
    device: str,
    threads: int | None,
    cache: Path | None,
    logger: str,
    resume: bool,
    quiet: bool,
) -> None:
    """Trains the experiment's one method on one split and fold, and prints what the model is worth."""
    if resume and (result := read_result(out)) is not None:
        refuse_other(experiment, only, out, open_manifest(experiment), result)
        (out / CHECKPOINT).unlink(missing_ok=True)  # of a run that was killed at its very end
        typer.echo(f"{out} is already finished.")
        return
    check_folder(out, resume=resume)
    # A mistake is told before any image is read, and before lightning is imported, which takes longer than all this.
    find_device(device)
    manifest = open_manifest(experiment)
    recipe = check_with(manifest, experiment, only=only, cache=cache)
    fabric = make_fabric(device=device, precision=experiment.precision)
    done = epochs_done(out / CHECKPOINT)
    main = fabric.is_global_zero
    watches: list[Watch] = [LoggerWatch(logger, out)] if main and logger != "none" else []
    prepared_experiment = prepare_experiment(
        experiment, manifest, recipe, cache=cache, quiet=quiet, only=only, device=device
    )
    if threads is None and fabric.device.type == "cpu" and _takes_short_steps(prepared_experiment):
        threads = 1  # a table's steps are so short that threads only wait for each other
    if threads is not None:
        torch.set_num_threads(threads)
    if main and not quiet:
        announce(prepared_experiment, device=fabric.device)
        if resume:
            nothing = f"{out} holds nothing to resume: training starts from scratch"
            print_note(f"resuming after epoch {done} of {prepared_experiment.recipe.epochs}" if done else nothing)
    result = train_watched(prepared_experiment, out, fabric=fabric, watches=watches, resume=resume, quiet=quiet)
    if main:
        show(result, manifest.num_classes, out)
        if not quiet:
            print_notes(training_warnings(result, manifest.num_classes, values_to_lower(out, result["selected_by"])))
            print_note(f"Next: onepeak inspect {out} --open, or {predict_command(out)}")


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


def announce(prepared_experiment: PreparedExperiment, *, device: torch.device) -> None:
    """What is about to be trained, and on what."""
    experiment, manifest = prepared_experiment.experiment, prepared_experiment.prepared.manifest
    backbone = prepared_experiment.network.backbone
    print_notes((*prepared_experiment.notes, *first_weights_notes(backbone, experiment.weights)))
    print_note(
        f"{experiment.methods[0].name} on {manifest.name}: {manifest.num_classes} classes, "
        f"{' / '.join(str(size) for size in prepared_experiment.splits[0].sizes.values())} to train / validate / test, "
        f"{backbone}, {epochs_in_words(prepared_experiment.recipe)}, {device}"
    )


def train_watched(
    prepared_experiment: PreparedExperiment,
    out: Path,
    *,
    fabric: "Fabric",
    watches: list[Watch],
    resume: bool,
    quiet: bool,
) -> dict[str, Any]:
    """Trains in the folder, which nobody else may do meanwhile, and shows how it goes on; gives the result."""
    (entry,), (split,) = prepared_experiment.experiment.methods, prepared_experiment.splits
    settings, prepared = prepared_experiment.settings(entry), prepared_experiment.prepared
    with contextlib.ExitStack() as stack:
        make_out(out)
        if fabric.is_global_zero:
            if not stack.enter_context(claim(out)):
                raise InputError(f"`--out` {out} is in use by another process: wait, or give another folder.")
            check_folder(out, resume=resume)  # again: another may have ended meanwhile
            bar = ProgressBar(
                settings.method,
                settings.recipe.epochs,
                at_most=settings.recipe.patience is not None,
                select=settings.selection(prepared.manifest),
                quiet=quiet,
            )
            watches = [stack.enter_context(bar), *watches]
        try:
            notes = prepared_experiment.notes_of_run(split)
            return train_run(settings, prepared, split, out, fabric=fabric, watches=tuple(watches), notes=notes)
        except KeyboardInterrupt:
            again = shlex.join([*(word for word in command_line() if word != "--resume"), "--resume"])
            how = f"to resume, run: {again}" if (out / CHECKPOINT).exists() else "no epoch was finished."
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


def refuse_other(
    experiment: Experiment, only: tuple[int, int], out: Path, manifest: Manifest, result: dict[str, Any]
) -> None:
    """A finished run is not taken for one that was asked for with other settings."""
    (entry,), (split, fold) = experiment.methods, only
    settings = {
        "method": entry.name,
        "variant": entry.variant,
        "method_settings": entry.settings,
        "dataset": manifest.name,
        "split": split,
        "fold": fold,
        "seed": experiment.seed,
        **{name: value for name, value in experiment.recipe.items() if name in SETTING_NAMES},
        **without_encoder(manifest, experiment.network),
    }
    description = load_description(out)
    trained = result | result.get("recipe", {}) | asdict(description.network)
    if isinstance(rows := manifest.items, FeatureRows) and description.table is not None:
        texts = () if rows.texts is None else (rows.texts.column,)
        columns = ((*rows.plain_columns, *texts), description.table.given_columns)
        categories = (dict(sorted(each.categories.items())) for each in (rows, description.table))
        for record, of_columns, category in zip((settings, trained), columns, categories, strict=True):
            record |= {"columns": of_columns, "category": category}
    others = [
        f"{name} = {trained[name]}, not {value}"
        for name, value in settings.items()
        if name in trained and json_text(trained[name]) != json_text(value)
    ]
    here, there = (manifest.label_as, manifest.label_column), (description.label_as, description.label)
    if None not in (here[1], there[1]) and here != there:
        others.append(f"{there[0]} = {there[1]}, not {here[0]} = {here[1]}")
    if has_texts(manifest.items) and (
        result["data"].get("encoder") != TextEncoder(experiment.network.get("backbone")).digest
    ):
        others.append("another encoder of texts (--backbone)")
    if others:
        raise InputError(
            f"`--out` {out} holds a finished run with {'; '.join(others)}: give another --out "
            f"(to start from its weights: --weights {out / WEIGHTS})."
        )
