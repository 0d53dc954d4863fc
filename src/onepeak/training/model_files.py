"""A trained model on disk: `model.safetensors` for the weights, `onepeak.json` for their description. Never pickle."""

import hashlib
import re
import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Annotated, Any, Literal

import torch
from torch import Tensor, nn

from onepeak._core.check import check_number
from onepeak._core.digests import DIGESTS, check_digests, digests_of, digests_text, read_digests
from onepeak._core.files import link_or_copy, read_text, write_in_one_step, write_text_in_one_step
from onepeak._core.formats import json_text
from onepeak._core.imports import require
from onepeak._core.records import Within, read_json, record_of
from onepeak.data.images.resize import Resize
from onepeak.data.manifest import Texts
from onepeak.errors import InputError, UnknownNameError
from onepeak.methods.catalog import is_known, method
from onepeak.networks.build import NetworkSettings, build_network, mean_of
from onepeak.networks.network import Network
from onepeak.networks.own_backbone import check_trusted, source_digest
from onepeak.networks.text_encoder import FILES, TextEncoder
from onepeak.networks.weights import misfits
from onepeak.training.calibration import Calibration
from onepeak.training.familiarity import ImageRange
from onepeak.training.features import BACKBONE
from onepeak.training.out_folder import DESCRIPTION, FORMAT, HISTORY, RESULT
from onepeak.training.predictions_file import PREDICTIONS
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
    label_as: Literal["label", "raters", "label_probs"] = "label"
    """Which field of `DataSource` names it: several raters or class probabilities have several, with commas."""
    group: str | None = None
    """The group column of the training data."""
    path: str | None = None
    """The image path column of the training data, if they were a list."""
    versions: dict[str, str] = field(default_factory=dict)
    calibration: Calibration | None = None
    """How to calibrate the posteriors; None in models of earlier versions."""
    evidence_range: tuple[float, float] | None = None
    """The evidence that maps draw as nothing and as brightest, see `onepeak.training.familiarity`; None for a
    network without maps, and in models of earlier versions."""
    members: Annotated[int, Within(1, 1000)] = 1
    """Number of networks whose mean is the posterior."""
    one_peak: bool = False
    """Whether that mean is projected to one peak."""
    flips: bool = False
    """Whether each image and its mirror image are predicted, and the mean taken."""
    format: int = FORMAT

    def __post_init__(self) -> None:
        if len(set(self.classes)) < max(2, len(self.classes)):
            raise InputError("`classes` must be at least 2 different names.", argument="classes")
        if self.flips and (self.members == 1 or self.resize is None):
            raise InputError("`flips` must be false but for several networks of images.", argument="flips")
        if self.evidence_range is not None:
            check_number("evidence_range", self.evidence_range[1], above=self.evidence_range[0])


def save_model(folder: Path, description: ModelDescription, weights: dict[str, Tensor]) -> None:
    """Writes both files, the description last: a folder with a description is complete.

    Digests of earlier files are removed; `write_digests` lists those of the new ones.
    """
    safetensors = require("safetensors.torch", extra="train", purpose="Saving a model")
    contiguous = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in weights.items()}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DIGESTS).unlink(missing_ok=True)
    write_in_one_step(folder / WEIGHTS, lambda part: safetensors.save_file(contiguous, part))
    write_text_in_one_step(folder / DESCRIPTION, json_text(asdict(description)))


def load_description(folder: Path) -> ModelDescription:
    """Reads `onepeak.json`."""
    path = folder / DESCRIPTION
    try:
        content = read_json(path)
    except FileNotFoundError:
        raise InputError(
            f"`{folder}` must be a model's folder, got one without {DESCRIPTION}: give one from `onepeak train --out`."
        ) from None
    if content.get("format") != FORMAT:
        raise InputError(
            f"{path} must be of format {FORMAT}, got {content.get('format')}: it needs another version of onepeak."
        )
    if isinstance(images := content.pop("pictures", None), dict):  # as version 0.1 called it
        content["image_range"] = {"num_images": images.pop("num_pictures", None), **images}
    description = record_of(ModelDescription, content, file=path)
    table = description.table
    if table is None or table.texts is None or table.texts.encoding is None or not (folder / ENCODER).is_dir():
        return description
    encoding = replace(table.texts.encoding, folder=str((folder / ENCODER).resolve()))
    return replace(description, table=replace(table, texts=replace(table.texts, encoding=encoding)))


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
                hashlib.file_digest(file, lambda: digest)
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
    if description.network.backbone == "mlp":  # a wrong width could take all memory before it is found not to fit
        with torch.device("meta"):
            _check_fit(path, description, weights, _network(folder, description, weights))
    network = _network(folder, description, weights)
    _check_fit(path, description, weights, network)
    if source_digest(description.network.backbone) != description.backbone_source:
        warnings.warn(
            f"The source file of {description.network.backbone} has changed since the model was trained: predictions "
            "may differ.",
            stacklevel=2,
        )
    network.load_state_dict(weights)
    return network.eval()


def _check_fit(path: Path, description: ModelDescription, weights: Mapping[str, Tensor], network: Network) -> None:
    if problems := misfits(weights, network.state_dict()):
        raise InputError(
            f"{path} must hold the weights of the {description.network.backbone} network for {description.method!r} "
            f"with {len(description.classes)} classes, got tensors that do not fit: {problems}."
        )


def _network(folder: Path, description: ModelDescription, names: Collection[str]) -> Network:
    """The network that a description and the names of its weights tell of; its weights are not loaded."""
    try:
        networks = [_built(description) for _ in range(description.members)]
    except InputError as error:
        raise error.at(file=str(folder / DESCRIPTION)) from error
    if len(networks) == 1:
        return networks[0]
    shared = None
    if any(name.startswith("backbone.") for name in names):
        shared = networks[0].backbone
        networks = [Network(nn.Identity(), each.head, each.method) for each in networks]
    return mean_of(networks, one_peak=description.one_peak, backbone=shared, flips=description.flips)


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


def keep_encoder(folder: Path, texts: Texts | None) -> None:
    """Puts a model's encoder of texts into its folder, unless this machine does not have it."""
    if texts is None or texts.encoding is None or not Path(texts.encoding.folder).is_dir():
        return
    if Path(texts.encoding.folder) == folder / ENCODER:  # it was trained in this run
        return
    (folder / ENCODER).mkdir(parents=True, exist_ok=True)
    for path in TextEncoder(texts.encoding.folder).files:
        link_or_copy(path, folder / ENCODER / path.name)


TRAINED_ITEMS = "trained_items.txt"
HELD_OUT_ITEMS = "held_out_items.txt"
"""Short hashes, one per line. They are kept apart from the predictions, which people publish: a table row with few
possible values could be guessed from its hash."""

_LENGTH = 16
"""Hexadecimal digits kept of a hash: two of a million items share them in one of thirty million data sets."""


def save_trained_items(folder: Path, digests: Iterable[str]) -> None:
    """Writes the hashes sorted and without duplicates."""
    lines = "".join(f"{digest}\n" for digest in sorted(set(map(short, digests))))
    write_text_in_one_step(folder / TRAINED_ITEMS, lines)


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
    check_digests(path.parent, path.name)
    return read_text(path).split()


def short(digest: str) -> str:
    """Returns a hash in the short form of the lists."""
    return digest[:_LENGTH]


_SHARED = (DESCRIPTION, "*.safetensors", "policy.json", "README.md", *(f"{ENCODER}/{name}" for name in FILES))


def shared_files(folder: Path) -> list[str]:
    """Lists what makes a model: no predictions, no list of samples, no runs below it, and nothing hidden."""
    found = (path.relative_to(folder).as_posix() for pattern in _SHARED for path in folder.glob(pattern))
    return sorted({name for name in found if not name.startswith(".")})


def is_shared(name: str) -> bool:
    """Whether a name can be that of a file that makes a model."""
    path = PurePosixPath(name)
    inside = path.parent.as_posix() in (".", ENCODER) and re.fullmatch(r"[\w.-]+", path.name)
    return bool(inside) and any(path.match(pattern) for pattern in _SHARED)


_OF_RUNS = (PREDICTIONS, RESULT, HISTORY, TRAINED_ITEMS, HELD_OUT_ITEMS)


def write_digests(folder: Path, *, later: Mapping[str, str] = MappingProxyType({})) -> None:
    """Lists the digests of all files of a model and its run but the card, which may be edited.

    The encoder of texts, which has digests of its own, is not among them. `later` has the texts of files that are
    written after this.
    """
    names = [name for name in (*shared_files(folder), *_OF_RUNS) if "/" not in name and not name.endswith(".md")]
    digests = digests_of(folder, (name for name in names if (folder / name).is_file()))
    digests |= {name: hashlib.sha256(text.encode()).hexdigest() for name, text in later.items()}
    write_text_in_one_step(folder / DIGESTS, digests_text(digests))


def check_model(folder: Path) -> None:
    """Checks that no file of a model was changed, lost or added, where the folder lists digests."""
    listed = {name for name in read_digests(folder) if is_shared(name)}
    present = {name for name in shared_files(folder) if name in listed or not name.startswith(f"{ENCODER}/")}
    check_digests(folder, *sorted(name for name in listed | present if not name.endswith(".md")))
