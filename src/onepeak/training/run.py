"""One run from start to end: train on a split, evaluate, and write the run's folder."""

import hashlib
import importlib.metadata
import platform
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from onepeak._core.compat import precision_of
from onepeak._core.files import clear_unfinished, write_text_in_one_step
from onepeak._core.formats import json_text
from onepeak._version import __version__
from onepeak.data.manifest import Manifest
from onepeak.data.splits import Split, group_counts
from onepeak.methods.catalog import method
from onepeak.methods.method import Variant
from onepeak.networks.build import NetworkSettings, build_network, with_head
from onepeak.networks.network import Network
from onepeak.networks.own_backbone import source_digest
from onepeak.networks.weights import seeded
from onepeak.posterior.predictions import Predictions
from onepeak.training.calibration import calibrated_figures, calibration_of, frequency_gap
from onepeak.training.card import write_card
from onepeak.training.checkpoint import HASH
from onepeak.training.convergence import best_constant, never_predicted
from onepeak.training.devices import same_bits
from onepeak.training.evaluate import (
    EXPECTED_MAE,
    evidence_range,
    figures_by,
    measure,
    measure_against,
    measured_names,
    predict,
)
from onepeak.training.familiarity import Familiarity, ImageRange, familiarity_of, save_familiarity
from onepeak.training.features import Features
from onepeak.training.feed import Feed
from onepeak.training.imbalance import class_weights
from onepeak.training.loop import Loop
from onepeak.training.model_files import (
    ENCODER,
    ModelDescription,
    keep_encoder,
    save_held_out_items,
    save_model,
    save_trained_items,
    write_digests,
)
from onepeak.training.out_folder import FORMAT, RESULT, write_history
from onepeak.training.predictions_file import write_predictions
from onepeak.training.prepare import Prepared
from onepeak.training.progress import Row, Watch
from onepeak.training.recipe import Recipe
from onepeak.training.table_encoder import TableEncoder
from onepeak.training.text_training import TrainedEncoder

if TYPE_CHECKING:
    from lightning.fabric import Fabric

CHECKPOINT = "checkpoint.pt"


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """What is trained and how; together with the data and the split it determines every bit of the outcome."""

    method: str
    variant: Variant = "corrected"
    method_settings: dict[str, Any] = field(default_factory=dict)
    network: NetworkSettings
    weights: Path | None = None
    """A local file with initial weights for the backbone."""
    recipe: Recipe
    seed: int = 0
    features: str | None = None
    """The digest of the features of a frozen backbone, from which head and method are trained; None to train all."""

    def shape(self, encoder: TableEncoder | None) -> NetworkSettings:
        """Returns the network; for a table, with as many features as its encoder has."""
        return self.network if encoder is None else replace(self.network, num_features=encoder.num_features)

    def selection(self, manifest: Manifest) -> str:
        """Returns the metric that chooses the epoch; "as_published" is the published code's choice for each method.

        Where samples have a distribution over labels, the MAE is that expected over it.
        """
        select = self.recipe.select
        if select == "as_published":
            select = published_selection(manifest.name, self.method)
        return EXPECTED_MAE if select == "mae" and manifest.distribution is not None else select


def published_selection(data: str, method: str) -> str:
    """Returns the metric by which the paper's code chooses the epoch of a method on a data set."""
    if method not in ("pn", "elb"):
        return "loss"
    return "accuracy" if data in ("iciar", "hci") else "mae"


def fingerprint(settings: RunSettings, prepared: Prepared, split: Split, fabric: "Fabric") -> dict[str, str]:
    """Returns everything that determines a run's outcome, except library versions: settings, and hashes of content."""
    # Features stand for the weights that they come from.
    weights = None if settings.weights is None or settings.features else settings.weights.read_bytes()
    written = source_digest(settings.network.backbone)
    return {
        **_by_name({name: value for name, value in asdict(settings).items() if name != "weights"}),
        "precision": precision_of(fabric),
        "processes": str(fabric.world_size),
        "device": fabric.device.type,
        "weights": "None" if weights is None else _hash([weights]),
        **({} if written is None else {"network.source": HASH + written}),
        **({} if (encoder := prepared.encoder_digest) is None else {"encoder": HASH + encoder}),
        "data": _hash([*prepared.manifest.label_bytes, *(item.encode() for item in prepared.digests)]),
        "split": _hash(part.tobytes() for part in (split.train, split.valid, split.test)),
    }


def _by_name(settings: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Flattens nested settings to names such as `recipe.lr`."""
    found: dict[str, str] = {}
    for name, value in settings.items():
        found |= _by_name(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: repr(value)}
    return found


def _hash(content: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in content:
        digest.update(len(part).to_bytes(8, "little") + part)
    return HASH + digest.hexdigest()


@dataclass(frozen=True, kw_only=True, eq=False)
class Trained:
    """A trained network, how it came about, and what was learnt from its validation part."""

    network: Network
    history: list[Row]
    best_epoch: int
    seconds: float
    fabric: "Fabric"
    valid: Predictions
    test: Predictions
    encoder: TableEncoder | None
    class_weight: tuple[float, ...] | None = None
    evidence_range: tuple[float, float] | None = None
    familiarity: Familiarity | None = None
    members: int = 1
    one_peak: bool = False
    flips: bool = False


def train_run(
    settings: RunSettings,
    prepared: Prepared,
    split: Split,
    folder: Path,
    *,
    fabric: "Fabric",
    watches: tuple[Watch, ...] = (),
    notes: dict[str, Any] | None = None,
    alone: bool = True,
    test: bool = True,
) -> dict[str, Any]:
    """Trains, or resumes from the folder's checkpoint, and writes the run's files; `result.json` comes last.

    `notes` are further entries of it. For `alone` see `Loop`. Without `test`, it only tells how good validation is, and
    leaves its last checkpoint, from which a run of the same settings goes on.
    """
    split.check_within(len(prepared.manifest))
    folder.mkdir(parents=True, exist_ok=True)
    if fabric.is_global_zero:
        clear_unfinished(folder)
    with same_bits():
        loop, network, whole, feed, encoder = train_network(
            settings,
            prepared,
            split,
            folder,
            fabric=fabric,
            select=settings.selection(prepared.manifest),
            watches=watches,
            alone=alone,
            keep=test,
        )
        loaded: dict[str, Any] = {"fabric": fabric, "batch_size": settings.recipe.evaluation_batch_size}
        start = time.perf_counter()
        valid = predict(whole, feed, split.valid, loop.device_labels, **loaded)
        if not test:
            return _trial(loop, loop.select, folder, predict_seconds=(time.perf_counter() - start) / len(valid))
        strength = None  # features have no positions
        if prepared.features is None:
            strength = evidence_range(network, feed, split.valid, valid.predicted_index, **loaded)
        familiarity = None
        if prepared.store is not None or prepared.encoder_digest is not None:
            inputs = None if encoder is None else encoder.text_features
            familiarity = familiarity_of(network, feed, split.train, split.valid, inputs=inputs, **loaded)
        test_part = predict(network, feed, split.test, loop.device_labels, familiarity=familiarity, **loaded)
    trained = Trained(
        network=network,
        history=loop.history,
        best_epoch=loop.best_epoch,
        seconds=loop.seconds,
        fabric=fabric,
        valid=valid,
        test=test_part,
        encoder=encoder,
        class_weight=weights_of_classes(settings, prepared, split),
        evidence_range=strength,
        familiarity=familiarity,
    )
    return write_run(settings, prepared, split, folder, trained, notes or {})


class TrainedNetwork(NamedTuple):
    """What a training gave."""

    loop: Loop
    network: Network
    whole: Network
    """The same with what stands before it for `feed`: an encoder of texts that was trained and is not kept."""
    feed: Feed
    encoder: TableEncoder | None


def train_network(
    settings: RunSettings,
    prepared: Prepared,
    split: Split,
    folder: Path,
    *,
    fabric: "Fabric",
    select: str,
    watches: tuple[Watch, ...] = (),
    alone: bool = True,
    keep: bool = True,
) -> TrainedNetwork:
    """Trains on the training part, or resumes from the folder's checkpoint; with `keep`, writes a trained encoder."""
    manifest, recipe = prepared.manifest, settings.recipe
    feed, encoder = prepared.feed(split, recipe, fabric.device, settings.network)
    network = make_network(
        settings,
        settings.shape(encoder),
        manifest.num_classes,
        class_weight=weights_of_classes(settings, prepared, split),
        features=prepared.features,
    ).to(fabric.device)
    trained_encoder, whole = None, network
    if recipe.encoder_lr is not None:
        trained_encoder = TrainedEncoder(manifest.items, encoder, fabric)
        whole, feed = trained_encoder.before(network), trained_encoder.feed()
    loop = Loop(
        whole,
        feed,
        manifest.labels,
        split,
        recipe,
        fabric=fabric,
        seed=settings.seed,
        select=select,
        watches=watches,
        alone=alone,
        label_probs=None if manifest.distribution is None else manifest.distribution.probs,
    ).run(
        checkpoint=folder / CHECKPOINT,
        fingerprint=fingerprint(settings, prepared, split, fabric),
    )
    if trained_encoder is not None and keep:
        (feed, encoder), whole = trained_encoder.kept(folder / ENCODER), network
    return TrainedNetwork(loop, network, whole, feed, encoder)


def weights_of_classes(settings: RunSettings, prepared: Prepared, split: Split) -> tuple[float, ...] | None:
    """Returns the weight of each class in a training."""
    manifest = prepared.manifest
    return class_weights(settings.recipe.class_weight, manifest.labels[split.train], manifest.num_classes)


def write_run(
    settings: RunSettings, prepared: Prepared, split: Split, folder: Path, trained: Trained, notes: dict[str, Any]
) -> dict[str, Any]:
    """Writes the model and the records of a run, `result.json` last; returns what is in that."""
    manifest, store, recipe = prepared.manifest, prepared.store, settings.recipe
    encoder, parts = trained.encoder, {"valid": trained.valid, "test": trained.test}
    if (groups := manifest.groups) is not None:
        parts = {name: replace(part, groups=tuple(groups[item] for item in part.items)) for name, part in parts.items()}
    shape, select = settings.shape(encoder), settings.selection(manifest)
    description = ModelDescription(
        classes=manifest.classes,
        method=settings.method,
        variant=settings.variant,
        method_settings=settings.method_settings,
        class_weight=trained.class_weight,
        balanced=recipe.balanced or recipe.logit_adjustment is not None,
        network=shape,
        backbone_source=source_digest(shape.backbone),
        resize=None if store is None else recipe.resize,
        bits=recipe.bits,
        image_range=None if store is None else ImageRange.learn(store, split.train),
        table=encoder,
        metrics={name: measure(part, names=measured_names(select)) for name, part in parts.items()},
        calibration=calibration_of(parts["valid"]),
        evidence_range=trained.evidence_range,
        members=trained.members,
        one_peak=trained.one_peak,
        flips=trained.flips,
        data=manifest.name,
        label=manifest.label_column,
        label_as=manifest.label_as,
        group=manifest.group_column,
        path=manifest.path_column,
        versions=versions(),
    )
    result = _result(settings, prepared, split, trained, description) | notes
    if trained.fabric.is_global_zero:
        held_out = [prepared.digests[item] for part in parts.values() for item in part.items]
        # The members of an ensemble are trained on each other's validation parts.
        trained_on = split.train if trained.members == 1 else [*split.train, *split.valid]
        write_history(trained.history, folder)
        write_predictions(parts, prepared.manifest.items, folder)
        save_held_out_items(folder, held_out)
        save_trained_items(folder, [prepared.digests[item] for item in trained_on])
        save_familiarity(folder, trained.familiarity)
        if prepared.features is not None:
            prepared.features.link_backbone(folder)
        save_model(folder, description, trained.network.state_dict())
        keep_encoder(folder, None if encoder is None else encoder.texts)
        write_card(folder, description, result, trained.test)
        text = json_text(result)
        write_digests(folder, later={RESULT: text})
        write_text_in_one_step(folder / RESULT, text)
        (folder / CHECKPOINT).unlink(missing_ok=True)
    return result


def _trial(loop: Loop, select: str, folder: Path, *, predict_seconds: float) -> dict[str, Any]:
    """Writes and returns the validation metric of the epoch that was kept, and what training and prediction took."""
    value = loop.history[loop.best_epoch]["valid_mae" if select == "last" else f"valid_{select}"]
    result = {
        "value": value,
        "best_epoch": loop.best_epoch,
        "seconds": round(loop.seconds, 3),
        "predict_seconds": predict_seconds,
    }
    if loop.fabric.is_global_zero:
        write_text_in_one_step(folder / RESULT, json_text(result))
    return result


def _result(
    settings: RunSettings,
    prepared: Prepared,
    split: Split,
    trained: Trained,
    description: ModelDescription,
) -> dict[str, Any]:
    manifest, calibration = prepared.manifest, description.calibration
    assert calibration is not None
    valid, test = trained.valid, trained.test
    label, error = best_constant(valid.truth, manifest.num_classes)
    silent = never_predicted(valid.truth, valid.predicted_index)
    groups = group_counts(manifest, split)
    subgroups = {
        name: figures_by(test, [values[item] for item in test.items]) for name, values in manifest.subgroups.items()
    }
    gap = frequency_gap(
        calibration.temper(valid.log_probs), valid.truth, num_groups=None if groups is None else groups["valid"]
    )
    return {
        "format": FORMAT,
        "method": settings.method,
        "variant": settings.variant,
        "method_settings": settings.method_settings,
        "class_weight": description.class_weight,
        "dataset": manifest.name,
        "num_classes": manifest.num_classes,
        "decision": trained.network.method.decision,
        "network": {"backbone": settings.network.backbone, "pooling": settings.network.pooling},
        "weights": None if settings.weights is None else settings.weights.name,
        **({"frozen": True} if settings.features else {}),
        "data": prepared.counts,
        "protocol": split.protocol,
        "split": split.split,
        "fold": split.fold,
        "seed": settings.seed,
        "recipe": asdict(settings.recipe),
        "epochs": len(trained.history),
        "best_epoch": trained.best_epoch,
        "stopped_early": len(trained.history) < settings.recipe.epochs,
        "selected_by": settings.selection(manifest),
        "seconds": round(trained.seconds, 3),
        "sizes": split.sizes,
        "num_groups": groups,
        "device": device_name(trained.fabric.device),
        "precision": precision_of(trained.fabric),
        "versions": description.versions,
        "metrics": description.metrics,
        **(
            {}
            if (distribution := manifest.distribution) is None
            else {
                "label_distribution": {
                    "valid": measure_against(valid, distribution.take(valid.items)),
                    "test": measure_against(test, distribution.take(test.items)),
                }
            }
        ),
        "constant": {
            "label": manifest.classes[label],
            "valid_mae": error,
            "test_mae": float((test.truth - label).double().abs().mean()),
        },
        "never_predicted": {manifest.classes[label]: count for label, count in silent.items()},
        "frequency_gap": gap and {"label": manifest.classes[gap[0]], "probability": gap[1], "share": gap[2]},
        "calibration": {
            "temperature": calibration.temperature,
            **({"note": calibration.note} if calibration.note else {}),
            "test": calibrated_figures(calibration, test),
        },
        **({"subgroups": subgroups} if subgroups else {}),
        **({"notes": list(trained.network.notes)} if trained.network.notes else {}),
    }


def make_network(
    settings: RunSettings,
    shape: NetworkSettings,
    num_classes: int,
    *,
    class_weight: tuple[float, ...] | None = None,
    features: Features | None = None,
) -> Network:
    """Builds the network of a run; methods start from the same weights in all layers that they share."""
    with seeded(settings.seed, "method"):  # its layers draw random numbers, which must not affect other threads
        made = method(
            settings.method,
            num_classes=num_classes,
            variant=settings.variant,
            class_weight=None if class_weight is None else torch.tensor(class_weight),
            **settings.method_settings,
        )
    if features is not None:
        channels = features.values.shape[-1]
        return with_head(torch.nn.Identity(), made, shape, channels, of_maps=features.of_maps, seed=settings.seed)
    return build_network(made, shape, weights=settings.weights, seed=settings.seed)


def versions() -> dict[str, str]:
    """Returns the versions of Python and the libraries behind a result."""
    found = {"python": platform.python_version(), "onepeak": __version__}
    for name in ("torch", "torchvision", "timm", "lightning", "torchmetrics", "numpy"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def device_name(device: torch.device) -> str:
    """Returns the name of a device."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
