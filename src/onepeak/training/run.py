"""One run from start to end: train on a split, measure, and write the run's folder."""

import hashlib
import importlib.metadata
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from onepeak._extras import require
from onepeak.data.splits import Split
from onepeak.methods.catalog import method
from onepeak.methods.method import Variant
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.networks.network import Network
from onepeak.networks.seeds import seeded
from onepeak.training.calibration import calibrated_figures, calibration_of
from onepeak.training.checkpoint import HASH, clear_unfinished, write_in_one_step
from onepeak.training.class_weights import class_weights
from onepeak.training.devices import same_bits
from onepeak.training.evaluate import Predictions, measure, measured_names, predict
from onepeak.training.history import write_history
from onepeak.training.json_text import json_text
from onepeak.training.loop import Loop
from onepeak.training.model_files import ModelDescription, save_model
from onepeak.training.prepare import Prepared
from onepeak.training.recipe import Recipe
from onepeak.training.trained_items import save_held_out_items, save_trained_items
from onepeak.training.watch import Watch

if TYPE_CHECKING:
    from lightning.fabric import Fabric

RESULT = "result.json"
CHECKPOINT = "checkpoint.pt"


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """What is trained and how; with the data and the split it decides every bit of the outcome."""

    method: str
    variant: Variant = "corrected"
    method_settings: dict[str, Any] = field(default_factory=dict)
    network: NetworkSettings
    weights: Path | None = None
    """A local file with the backbone's first weights."""
    recipe: Recipe
    seed: int = 0

    def selection(self, data: str) -> str:
        """The metric that chooses the epoch; "as_published" is what the published code does for each method."""
        if self.recipe.select != "as_published":
            return self.recipe.select
        if self.method not in ("pn", "elb"):
            return "loss"
        return "accuracy" if data in ("iciar", "hci") else "mae"


def train_run(
    settings: RunSettings,
    prepared: Prepared,
    split: Split,
    folder: Path,
    *,
    fabric: "Fabric",
    watches: tuple[Watch, ...] = (),
    notes: dict[str, Any] | None = None,
    checkpoint_seconds: float | None = None,
    alone: bool = True,
) -> dict[str, Any]:
    """Trains, or goes on with what the folder holds, and writes the run's files; the result comes last.

    Args:
        settings: What to train and how.
        prepared: The data.
        split: Which samples to train, validate and test on.
        folder: Where the run's files go.
        fabric: Device, precision, processes.
        watches: Who looks on.
        notes: What else the record should say.
        checkpoint_seconds: The least time between two checkpoints; see `Loop.run`.
        alone: Whether no other run is trained in this process at the same time; see `onepeak.training.pack`.

    Returns:
        The content of `result.json`.
    """
    split.check_within(len(prepared.manifest))
    folder.mkdir(parents=True, exist_ok=True)
    if fabric.is_global_zero:
        clear_unfinished(folder)
    manifest = prepared.manifest
    with same_bits():
        feed, encoder = prepared.feed(split, settings.recipe, fabric.device)
        shape = settings.network
        if encoder is not None:
            shape = NetworkSettings(**{**asdict(shape), "num_features": encoder.num_features})
        weights = class_weights(settings.recipe.class_weight, manifest.labels[split.train], manifest.num_classes)
        network = make_network(settings, shape, manifest.num_classes, class_weight=weights).to(fabric.device)
        loop = Loop(
            network,
            feed,
            manifest.labels,
            split,
            settings.recipe,
            fabric=fabric,
            seed=settings.seed,
            select=settings.selection(manifest.name),
            watches=watches,
            alone=alone,
        )
        trained = loop.run(
            checkpoint=folder / CHECKPOINT,
            fingerprint=fingerprint(settings, prepared, split, fabric),
            every_seconds=checkpoint_seconds,
        )
        parts = {
            name: predict(
                network,
                feed,
                indices,
                loop.device_labels,
                fabric=fabric,
                batch_size=settings.recipe.evaluation_batch_size,
            )
            for name, indices in (("valid", split.valid), ("test", split.test))
        }
    names = measured_names(settings.selection(manifest.name))
    metrics = {name: measure(part, names=names) for name, part in parts.items()}
    calibration = calibration_of(parts["valid"])
    description = ModelDescription(
        classes=manifest.classes,
        method=settings.method,
        variant=settings.variant,
        method_settings=settings.method_settings,
        class_weight=weights,
        network=shape,
        resize=None if prepared.store is None else settings.recipe.resize,
        table=encoder,
        metrics=metrics,
        calibration=calibration,
        data=manifest.name,
        label=manifest.label_column,
        group=manifest.group_column,
        path=manifest.path_column,
        versions=versions(),
    )
    result = {
        "method": settings.method,
        "variant": settings.variant,
        "method_settings": settings.method_settings,
        "class_weight": weights,
        "dataset": manifest.name,
        "num_classes": manifest.num_classes,
        "data": prepared.counts,
        "protocol": split.protocol,
        "split": split.split,
        "fold": split.fold,
        "seed": settings.seed,
        "recipe": asdict(settings.recipe),
        "epochs": len(trained.history),
        "best_epoch": trained.best_epoch,
        "selected_by": settings.selection(manifest.name),
        "seconds": round(trained.seconds, 3),
        "sizes": split.sizes,
        "device": device_name(fabric.device),
        "precision": str(fabric._precision.precision),
        "versions": versions(),
        "metrics": metrics,
        "calibration": {
            "temperature": calibration.temperature,
            **({"note": calibration.note} if calibration.note else {}),
            "test": calibrated_figures(calibration, parts["test"]),
        },
        **({"notes": list(network.notes)} if network.notes else {}),
        **(notes or {}),
    }
    if fabric.is_global_zero:
        write_history(trained.history, folder)
        write_predictions(parts, prepared, folder / "predictions.parquet")
        save_held_out_items(folder, [prepared.digests[item] for part in parts.values() for item in part.indices])
        save_trained_items(folder, [prepared.digests[item] for item in split.train])
        save_model(folder, description, network.state_dict())
        text = json_text(result)
        write_in_one_step(folder / RESULT, lambda part: part.write_text(text, encoding="utf-8"))
        (folder / CHECKPOINT).unlink(missing_ok=True)
    return result


def make_network(
    settings: RunSettings, shape: NetworkSettings, num_classes: int, *, class_weight: tuple[float, ...] | None = None
) -> Network:
    """The network of a run before its first step; methods share the first weights of all they share."""
    with seeded(settings.seed, "method"):  # its own layers draw when made, which another thread must not notice
        made = method(
            settings.method,
            num_classes=num_classes,
            variant=settings.variant,
            class_weight=None if class_weight is None else torch.tensor(class_weight),
            **settings.method_settings,
        )
    return build_network(made, shape, weights=settings.weights, seed=settings.seed)


def fingerprint(settings: RunSettings, prepared: Prepared, split: Split, fabric: "Fabric") -> dict[str, str]:
    """All that decides a run's outcome, but for the versions of the libraries: settings, and hashes of content."""
    weights = None if settings.weights is None else settings.weights.read_bytes()
    return {
        **_by_name({name: value for name, value in asdict(settings).items() if name != "weights"}),
        "precision": str(fabric._precision.precision),
        "processes": str(fabric.world_size),
        "device": fabric.device.type,
        "weights": "None" if weights is None else _hash([weights]),
        "data": _hash([prepared.manifest.labels.tobytes(), *(item.encode() for item in prepared.digests)]),
        "split": _hash(part.tobytes() for part in (split.train, split.valid, split.test)),
    }


def _by_name(settings: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Settings within settings as `recipe.lr`."""
    found: dict[str, str] = {}
    for name, value in settings.items():
        found |= _by_name(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: repr(value)}
    return found


def _hash(content: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in content:
        digest.update(len(part).to_bytes(8, "little") + part)
    return HASH + digest.hexdigest()


def write_predictions(parts: dict[str, Predictions], prepared: Prepared, path: Path) -> None:
    """One row a sample of the validation and test parts, with its whole posterior."""
    pandas = require("pandas", extra="data", purpose="The predictions")
    frames = [
        pandas.DataFrame(
            {
                "part": name,
                "item": part.indices,
                "path": [prepared.manifest.items.paths[i] for i in part.indices]
                if hasattr(prepared.manifest.items, "paths")
                else None,
                "label": part.labels.numpy(),
                "predicted": part.predicted.numpy(),
                "log_probs": list(part.log_probs.numpy()),
            }
        )
        for name, part in parts.items()
    ]
    write_in_one_step(path, lambda part: pandas.concat(frames, ignore_index=True).to_parquet(part, index=False))


def versions() -> dict[str, str]:
    """What made a result."""
    names = ("onepeak", "torch", "torchvision", "timm", "lightning", "torchmetrics", "numpy")
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def device_name(device: torch.device) -> str:
    """The device in words."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
