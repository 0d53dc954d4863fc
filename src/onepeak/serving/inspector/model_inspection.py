"""Inspects a model's predictions for new data; needs torch."""

from dataclasses import replace
from pathlib import Path

from onepeak._core.wording import counted
from onepeak.data.manifest import ImageFiles, Manifest
from onepeak.report.source import Source
from onepeak.serving.actions import read_actions
from onepeak.serving.evaluation import Evaluation, evaluate
from onepeak.serving.evaluation_data import with_classes_of
from onepeak.serving.inspector.inspection import Inspection
from onepeak.serving.inspector.runs import FinishedRun
from onepeak.serving.inspector.samples import RunPredictions
from onepeak.serving.model import Model


def inspect_model(model: Model, folder: Path, data: Manifest, *, actions: Path | None = None) -> Inspection:
    """Runs a model on data, and opens its predictions.

    Args:
        model: The model.
        folder: The model's folder.
        data: The data; unreadable images are left out, and counted in the notes.
        actions: A CSV with the action for each class.
    """
    measured = evaluate(model, data, skip_bad=True)
    data, _ = with_classes_of(model, data)
    run = FinishedRun(
        row=model.description.method,
        method=model.description.method,
        dataset=data.name,
        split=0,
        fold=0,
        folder=folder,
        metrics=measured.metrics,
    )
    return Inspection(
        folder,
        [run],
        model.classes,
        notes=_notes(measured),
        warnings=_warnings(measured),
        actions=read_actions(actions, model.classes),
        source=Source(manifest=data, bits=model.description.bits),
        given={(run.row, run.part): _predictions_of_data(measured, data)},
    )


def _notes(measured: Evaluation) -> tuple[str, ...]:
    if not measured.failed:
        return measured.notes
    return (*measured.notes, f"Left out, as not readable: {counted(len(measured.failed), 'image')}.")


def _warnings(measured: Evaluation) -> tuple[str, ...]:
    if not measured.num_trained_on:
        return ()
    seen = f"{measured.num_trained_on:,} of these {counted(len(measured.labels), 'sample')}"
    return (f"The model was trained on {seen}: the figures do not measure how well it does on new data.",)


def _predictions_of_data(measured: Evaluation, data: Manifest) -> RunPredictions:
    """The predictions, each with the position of its sample in the data."""
    found = measured.prediction
    paths = tuple(data.items.paths[item] for item in found.items) if isinstance(data.items, ImageFiles) else ()
    return RunPredictions(
        predictions=replace(found, sources=paths, log_probs=found.log_probs.float()),
        trained_on=measured.trained_on,
        calibrated=True,
    )
