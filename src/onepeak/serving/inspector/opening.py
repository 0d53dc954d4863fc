"""Opens what a user names: the folder of a comparison, that of a run, or a model with data to ask it about."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onepeak.errors import InputError
from onepeak.serving.inspector.actions import read_actions
from onepeak.serving.inspector.inspection import Inspection
from onepeak.serving.inspector.runs import Found, find_runs

if TYPE_CHECKING:
    from onepeak.data.manifest import Manifest
    from onepeak.serving.model import Model


def open_inspection(folder: Path, *, root: str | None = None, actions: Path | None = None) -> Inspection:
    """Opens the folder of a comparison or of one run.

    Args:
        folder: What `onepeak compare` or `onepeak train` wrote to.
        root: Where the data lie now, if they were moved.
        actions: A CSV with what to do for each class.
    """
    folder = folder.expanduser()
    found = find_runs(folder)
    return Inspection(
        folder,
        found.runs,
        found.classes,
        failed=found.failed,
        config=_moved(found, root),
        actions=() if actions is None else read_actions(actions, found.classes),
    )


def inspect_model(model: "Model", folder: Path, data: "Manifest", *, actions: Path | None = None) -> Inspection:
    """Asks a model about data, and opens its answers.

    Args:
        model: The model.
        folder: Where it lies.
        data: The data; pictures that cannot be read are left out, and counted in the notes.
        actions: A CSV with what to do for each class.
    """
    import numpy as np

    from onepeak.data.listing import counted
    from onepeak.data.manifest import ImageFiles
    from onepeak.report.source import Source
    from onepeak.serving.evaluation import evaluate, with_classes_of
    from onepeak.serving.inspector.runs import Run
    from onepeak.serving.inspector.said import Said

    measured = evaluate(model, data, skip_bad=True)
    data, _ = with_classes_of(model, data)
    run = Run(
        row=model.description.method,
        method=model.description.method,
        dataset=data.name,
        split=0,
        fold=0,
        folder=folder,
        metrics=measured.metrics,
    )
    sources = measured.prediction.sources
    if isinstance(data.items, ImageFiles):
        places = {str(data.items.root / path): place for place, path in enumerate(data.items.paths)}
        items = np.array([places[str(source)] for source in sources], dtype=np.int64)
        paths = np.array([data.items.paths[item] for item in items], dtype=object)
    else:
        items = np.array(sources, dtype=np.int64)
        paths = np.full(len(items), None, dtype=object)
    said = Said(
        item=items,
        path=paths,
        label=measured.labels.numpy(),
        predicted=measured.prediction.labels.numpy(),
        log_probs=measured.prediction.log_probs.float().numpy(),
        trained_on=measured.trained_on,
        calibrated=True,
    )
    notes, warnings = list(measured.notes), []
    if measured.num_trained_on:
        seen = f"{measured.num_trained_on:,} of these {counted(len(items), 'sample')}"
        warnings.append(f"The model was trained on {seen}: the figures are no measure of how it does on new data.")
    if measured.failed:
        notes.append(f"Left out, as not readable: {counted(len(measured.failed), 'picture')}.")
    return Inspection(
        folder,
        [run],
        model.classes,
        notes=notes,
        warnings=warnings,
        actions=() if actions is None else read_actions(actions, model.classes),
        source=Source(manifest=data, bits=model.description.bits),
        given={(run.row, run.part): said},
    )


def _moved(found: Found, root: str | None) -> Mapping[str, Any] | None:
    if root is None:
        return found.config
    if found.config is None:
        raise InputError("`root` (--root) has no use for a single run: give --data, and what lies there is asked anew.")
    return {**found.config, "root": root}
