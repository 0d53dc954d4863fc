"""A trained model on disk: `model.safetensors` for the weights, `onepeak.json` for their description. Never pickle."""

import hashlib
import json
import math
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from onepeak._core.check import check_number
from onepeak._core.files import link_or_copy, write_in_one_step, write_text_in_one_step
from onepeak._core.formats import json_text, numbers
from onepeak._core.imports import require
from onepeak._core.wording import listed
from onepeak.data.images.resize import Resize
from onepeak.data.manifest import Encoding, Texts
from onepeak.errors import InputError, UnknownNameError
from onepeak.methods.catalog import is_known, method
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.networks.ensemble import mean_of
from onepeak.networks.network import Network
from onepeak.networks.own_backbone import check_trusted, source_digest
from onepeak.networks.text_encoder import TextEncoder
from onepeak.training.calibration import Calibration
from onepeak.training.features import BACKBONE
from onepeak.training.image_range import ImageRange
from onepeak.training.out_folder import DESCRIPTION, FORMAT
from onepeak.training.table_encoder import TableEncoder

WEIGHTS = "model.safetensors"
ENCODER = "encoder"
"""The folder of a model of texts that holds the files of their encoder."""


class UnknownMethodError(UnknownNameError):
    """A model's method is a custom one that is not registered here."""


@dataclass(frozen=True, kw_only=True)
class ModelDescription:
    """Everything about a model except its weights."""

    classes: tuple[str, ...]
    """The classes in their order."""
    method: str
    variant: str
    method_settings: dict[str, Any]
    class_weight: tuple[float, ...] | None = None
    """Class weights of the loss; the weights file holds them too."""
    balanced: bool = False
    """Whether samples were drawn so that every class occurs equally often; unknown in models of earlier versions."""
    network: NetworkSettings
    backbone_source: str | None = None
    """A hash of the source file of the user's own backbone."""
    resize: Resize | None
    """For images: how they are resized before the network."""
    bits: int | None = None
    """For images: number of bits used in 16-bit files; None for all 16."""
    image_range: ImageRange | None = None
    """For images: statistics of the training part; None for few images and in older models."""
    table: TableEncoder | None
    """For tables: how a row is encoded."""
    metrics: dict[str, dict[str, float]] = field(default_factory=dict)
    """Metrics of the validation and test parts when the model was made, of posteriors before calibration."""
    data: str = ""
    """The name of the training data."""
    label: str | None = None
    """The label column of the training data, if they were a table or a list."""
    group: str | None = None
    """The group column of the training data."""
    path: str | None = None
    """The image path column of the training data, if they were a list."""
    versions: dict[str, str] = field(default_factory=dict)
    calibration: Calibration | None = None
    """How to calibrate the posteriors; None in models of earlier versions."""
    evidence_range: tuple[float, float] | None = None
    """The evidence that maps draw as nothing and as brightest, see `onepeak.training.image_range`; None for a
    network without maps, and in models of earlier versions."""
    members: int = 1
    """Number of networks whose mean is the posterior."""
    one_peak: bool = False
    """Whether that mean is projected to one peak."""
    format: int = FORMAT


def save_model(folder: Path, description: ModelDescription, weights: dict[str, Tensor]) -> None:
    """Writes both files, the description last: a folder with a description is complete."""
    safetensors = require("safetensors.torch", extra="train", purpose="Saving a model")
    contiguous = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in weights.items()}
    folder.mkdir(parents=True, exist_ok=True)
    write_in_one_step(folder / WEIGHTS, lambda part: safetensors.save_file(contiguous, part))
    write_text_in_one_step(folder / DESCRIPTION, json_text(asdict(description)))


def load_description(folder: Path) -> ModelDescription:
    """Reads `onepeak.json`."""
    path = folder / DESCRIPTION
    if not path.exists():
        raise InputError(
            f"`{folder}` must be a model's folder, got one without {DESCRIPTION}: give one from `onepeak train --out`."
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if "pictures" in content:  # as version 0.1 called it
            content["image_range"] = content.pop("pictures")
        newer = sorted(content.keys() - {each.name for each in fields(ModelDescription)})
        if content["format"] == FORMAT and not newer:
            description = _description(content)
            return replace(description, table=_with_own_encoder(folder, description.table))
    except (ValueError, KeyError, TypeError, AttributeError) as error:  # not text, not JSON, other names or values
        raise InputError(
            f"{path} must be a description that onepeak wrote, got one that cannot be read: {error!r}."
        ) from error
    if newer:
        raise InputError(f"{path} has {listed(newer)}, which this version does not know: it needs a newer onepeak.")
    raise InputError(
        f"{path} must be of format {FORMAT}, got {content['format']}: it needs another version of onepeak."
    )


def check_method(folder: Path, description: ModelDescription) -> None:
    """Rejects a model whose method is not registered here."""
    if not is_known(description.method):
        raise UnknownMethodError(
            f"{folder} was trained with {description.method!r}, a method of your own that is not known here: run the "
            "file that adds it instead of `onepeak`, as in `python my_method.py predict ...`, or in Python import it "
            "before loading the model.",
            page="extend",
        )


def weights_id(folder: Path) -> str:
    """Returns the identifier of the weights in an audit: the first 12 hex digits of the SHA-256 of their file."""
    digest = hashlib.sha256()
    for name in (WEIGHTS, BACKBONE):
        if (folder / name).is_file():
            with (folder / name).open("rb") as file:
                while piece := file.read(2**20):
                    digest.update(piece)
    return digest.hexdigest()[:12]


def load_network(folder: Path, description: ModelDescription) -> Network:
    """Builds the network and loads its weights, on the CPU and in evaluation mode."""
    check_trusted(description.network.backbone)
    safetensors = require("safetensors.torch", extra="train", purpose="Loading a model")
    check_method(folder, description)
    path = folder / WEIGHTS
    try:
        weights = safetensors.load_file(path)
        if (folder / BACKBONE).is_file():
            weights |= safetensors.load_file(folder / BACKBONE)
    except Exception as error:  # safetensors raises its own classes, and it may not be installed
        raise InputError(
            f"{path} must be the weights of the model, got a file that cannot be read: {error}."
        ) from error
    network = _built(description)
    if description.members > 1:
        networks, shared = [network, *(_built(description) for _ in range(description.members - 1))], None
        if any(name.startswith("backbone.") for name in weights):
            shared = network.backbone
            networks = [Network(nn.Identity(), each.head, each.method) for each in networks]
        network = mean_of(networks, one_peak=description.one_peak, backbone=shared)
    if source_digest(description.network.backbone) != description.backbone_source:
        warnings.warn(
            f"The source file of {description.network.backbone} has changed since the model was trained: predictions "
            "may differ.",
            stacklevel=2,
        )
    wanted = network.state_dict()
    groups = {
        "missing": [name for name in wanted if name not in weights],
        "unknown": [name for name in weights if name not in wanted],
        "of another shape": [name for name in weights if name in wanted and weights[name].shape != wanted[name].shape],
    }
    problems = [f"{len(names)} {what} ({', '.join(names[:3])})" for what, names in groups.items() if names]
    if problems:
        raise InputError(
            f"{path} must hold the weights of the {description.network.backbone} network for {description.method!r} "
            f"with {len(description.classes)} classes, got tensors that do not fit: {'; '.join(problems)}."
        )
    network.load_state_dict(weights)
    return network.eval()


def _built(description: ModelDescription) -> Network:
    weight = None if description.members > 1 else description.class_weight
    made = method(
        description.method,
        num_classes=len(description.classes),
        variant=description.variant,  # type: ignore[arg-type]
        class_weight=None if weight is None else torch.tensor(weight),
        **description.method_settings,
    )
    return build_network(made, description.network)


def _description(content: dict[str, Any]) -> ModelDescription:
    classes, weight = content["classes"], content["class_weight"]
    if not isinstance(classes, list) or not all(isinstance(name, str) for name in classes) or len(set(classes)) < 2:
        raise TypeError("classes must be a list of at least 2 names")
    if not isinstance(content["method_settings"], dict):
        raise TypeError("method_settings must be values by name")
    content["classes"] = tuple(classes)
    content["metrics"] = {part: numbers(figures) for part, figures in content["metrics"].items()}
    content["class_weight"] = None if weight is None else tuple(map(float, weight))
    content["network"] = NetworkSettings(**_tuples(content["network"]))
    content["resize"] = None if content["resize"] is None else Resize(**content["resize"])
    content["table"] = None if content["table"] is None else _table(content["table"])
    content["image_range"] = _image_range(content.get("image_range"))
    content["calibration"] = _calibration(content.get("calibration"))
    content["evidence_range"] = _range(content.get("evidence_range"))
    return ModelDescription(**content)


def _tuples(content: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}


def _calibration(content: dict[str, Any] | None) -> Calibration | None:
    if content is None:
        return None
    check_number("temperature", content["temperature"], above=0)
    scores = content.pop("scores")  # JSON has no infinity
    return Calibration(**content, scores=tuple(math.inf if score is None else score for score in scores))


def _range(ends: list[float] | None) -> tuple[float, float] | None:
    if ends is None:
        return None
    low, high = ends
    return check_number("evidence_range", low), check_number("evidence_range", high, above=low)


def _image_range(content: dict[str, Any] | None) -> ImageRange | None:
    if content is None:
        return None
    if "num_pictures" in content:  # as version 0.1 called it
        content["num_images"] = content.pop("num_pictures")
    ends = {name: (float(low), float(high)) for name, (low, high) in content.pop("ends").items()}
    return ImageRange(**content, ends=ends)


def _table(content: dict[str, Any]) -> TableEncoder:
    categories = {name: tuple(codes) for name, codes in content.pop("categories").items()}
    for end in {"lowest", "highest"} & content.keys():
        content[end] = [math.nan if value is None else value for value in content[end]]  # JSON has no NaN
    if (texts := content.pop("texts", None)) is not None:
        texts = Texts(column=texts["column"], encoding=Encoding(**texts["encoding"]))
    return TableEncoder(**_tuples(content), categories=categories, texts=texts)


def keep_encoder(folder: Path, texts: Texts | None) -> None:
    """Puts a model's encoder of texts into its folder, unless this machine does not have it."""
    if texts is None or texts.encoding is None or not Path(texts.encoding.folder).is_dir():
        return
    (folder / ENCODER).mkdir(parents=True, exist_ok=True)
    for path in TextEncoder(texts.encoding.folder).files:
        link_or_copy(path, folder / ENCODER / path.name)


def _with_own_encoder(folder: Path, table: TableEncoder | None) -> TableEncoder | None:
    """Returns how rows are encoded, their texts by the encoder in the model's folder if there is one."""
    if table is None or table.texts is None or table.texts.encoding is None or not (folder / ENCODER).is_dir():
        return table
    encoding = replace(table.texts.encoding, folder=str((folder / ENCODER).resolve()))
    return replace(table, texts=replace(table.texts, encoding=encoding))


TRAINED_ITEMS = "trained_items.txt"
HELD_OUT_ITEMS = "held_out_items.txt"
"""Short hashes, one per line. They are kept apart from the predictions, which people publish: a table row with few
possible values could be guessed from its hash."""

_LENGTH = 16
"""Hexadecimal digits kept of a hash: two of a million items share them in one of thirty million data sets."""


def save_trained_items(folder: Path, digests: Iterable[str]) -> None:
    """Writes the hashes sorted and without duplicates."""
    write_text_in_one_step(
        folder / TRAINED_ITEMS, "".join(f"{digest}\n" for digest in sorted(set(map(short, digests))))
    )


def save_held_out_items(folder: Path, digests: Iterable[str]) -> None:
    """Writes the hashes in the order of the predictions."""
    write_text_in_one_step(folder / HELD_OUT_ITEMS, "".join(f"{short(digest)}\n" for digest in digests))


def load_trained_items(folder: Path) -> frozenset[str]:
    """Returns the hashes; empty if the folder has none."""
    return frozenset(_lines(folder / TRAINED_ITEMS))


def load_held_out_items(folder: Path) -> list[str]:
    """Returns the hashes, one per row of the predictions; empty if the folder has none."""
    return _lines(folder / HELD_OUT_ITEMS)


def _lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    try:
        return path.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} must be the list that onepeak wrote, got a file that cannot be read: {error}."
        ) from error


def short(digest: str) -> str:
    """Returns a hash in the short form of the lists."""
    return digest[:_LENGTH]
