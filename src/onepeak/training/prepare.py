"""Prepares data for training, once for all runs on it."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, TypeAlias

import torch

from onepeak._core.files import write_in_one_step
from onepeak._core.imports import require
from onepeak._core.registry import unknown_name
from onepeak._core.wording import counted, listed
from onepeak.data.images.decode import depth_notes, evenly_spread
from onepeak.data.images.store.build import build_store
from onepeak.data.images.store.failures import UnreadableImagesWarning
from onepeak.data.images.store.images import ImageStore
from onepeak.data.images.store.index import default_cache_dir
from onepeak.data.manifest import FeatureRows, ImageFiles, Manifest
from onepeak.data.splits import Split
from onepeak.data.splits.copies import has_texts, item_digests
from onepeak.data.tables.faults import refuse_lost
from onepeak.data.texts import with_features
from onepeak.errors import InputError
from onepeak.methods.catalog import method
from onepeak.networks.backbones import TimmBackbone
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.networks.inputs import ImageInput
from onepeak.networks.own_backbone import is_own
from onepeak.networks.text_encoder import TextEncoder
from onepeak.networks.weights import read_weights
from onepeak.training.features import Features
from onepeak.training.feed import Feed, ImageFeed, RowFeed
from onepeak.training.model_files import WEIGHTS, load_description
from onepeak.training.out_folder import DESCRIPTION
from onepeak.training.presets import LARGEST_SMALL, TEXT_HIDDEN
from onepeak.training.recipe import Recipe
from onepeak.training.table_encoder import TableEncoder


@dataclass(frozen=True, kw_only=True, eq=False)
class Prepared:
    """Data with decoded images and without unreadable files."""

    manifest: Manifest
    store: ImageStore | None
    """The images, in the manifest's order; None for a table."""
    digests: tuple[str, ...]
    """A hash of each item's content, for the leak check."""
    features: Features | None = None
    """The features of a frozen backbone, which runs are trained on in place of the images."""
    row_encoder: TableEncoder | None = None
    """How rows are encoded, where several runs share one encoder; None to fit one to each training part."""
    doubts: tuple[str, ...] = ()
    """Notes on what looks odd in the images, and on how texts are read."""

    def feed(
        self,
        split: Split,
        recipe: Recipe,
        device: torch.device,
        network: NetworkSettings | None = None,
        *,
        mirrored: bool = False,
    ) -> tuple[Feed, TableEncoder | None]:
        """Returns the batches for one run; a table's encoder is fitted to the run's training part.

        With `mirrored`, which is for images that training flips, the evaluated ones are mirror images.
        """
        items = self.manifest.items
        if isinstance(items, FeatureRows):
            encoder = self.row_encoder or TableEncoder.learn(items.take(split.train))
            return RowFeed(torch.from_numpy(encoder.encode(items)), device), encoder
        if self.store is None:
            raise TypeError("images without a store")
        if self.features is not None:
            values = (
                self.features.values[:, 1:2] if mirrored else self.features.values
            )  # the second view is the mirror image
            return RowFeed(values, device, as_maps=self.features.of_maps), None
        pixels = None if network is None else ImageInput(network.mean, network.std)
        return ImageFeed(self.store, recipe.augment, device, pixels, mirrored=mirrored), None

    @property
    def encoder_digest(self) -> str | None:
        """A hash of the encoder that read the texts."""
        items = self.manifest.items
        encoding = items.texts.encoding if isinstance(items, FeatureRows) and items.texts is not None else None
        return None if encoding is None else encoding.digest

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user: what was left out and what looks odd."""
        bad = () if self.store is None else self.store.bad
        if not bad:
            return self.doubts
        shown = listed(f"{image.path}: {image.reason}" for image in bad)
        return (f"left out {counted(len(bad), 'image')} that cannot be read: {shown}", *self.doubts)

    @property
    def counts(self) -> dict[str, Any]:
        """Numbers of items, groups and left-out items, for the result file."""
        groups = self.manifest.groups
        return {
            "items": len(self.manifest),
            "groups": None if groups is None else len(set(groups)),
            "group_column": self.manifest.group_column,
            **({} if self.encoder_digest is None else {"encoder": self.encoder_digest}),
            "left_out": self.manifest.num_left_out + (0 if self.store is None else len(self.store.bad)),
        }

    def suits(self) -> NetworkSettings:
        """Returns the default network for the data."""
        if isinstance(self.manifest.items, FeatureRows):
            # The final number of features is known once a run has fitted the encoder to its training part.
            columns = len(self.manifest.items.columns)
            if self.manifest.items.texts is not None:
                return NetworkSettings(backbone="mlp", num_features=columns, hidden=TEXT_HIDDEN)
            return NetworkSettings(backbone="mlp", num_features=columns)
        if self.store is None:
            raise TypeError("images without a store")
        small = int(self.store.sizes.max()) <= LARGEST_SMALL
        return NetworkSettings(backbone="small" if small else "resnet18")

    def network(self, given: Mapping[str, Any]) -> NetworkSettings:
        """Returns the default network for the data, changed by the given settings."""
        check_backbone(self.manifest, given.get("backbone"))
        return replace(self.suits(), **without_encoder(self.manifest, given))


def without_encoder(manifest: Manifest, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings of a network; for texts without the backbone, which is their encoder."""
    return {name: value for name, value in given.items() if name != "backbone" or not has_texts(manifest.items)}


def prepare(
    manifest: Manifest,
    recipe: Recipe,
    *,
    cache_dir: Path | None = None,
    skip_bad: bool = False,
    keep_classes: bool = True,
    quiet: bool = False,
    encoder: str | None = None,
    device: torch.device | str = "cpu",
) -> Prepared:
    """Decodes the images into a store, or finds an existing one, and leaves out unreadable images if allowed.

    The `notes` list what was left out. Leaving out every image of a class is an error, unless `keep_classes` is False.
    Texts become features by `encoder`, a folder or name, on the `device`.
    """
    if isinstance(manifest.items, FeatureRows):
        digests, doubts = tuple(item_digests(manifest.items)), tuple[str, ...]()
        if manifest.items.texts is not None:
            rows, doubts = with_features(
                manifest.items,
                TextEncoder(encoder, device=device),
                cache=cache_dir,
                quiet=quiet,
                trained=recipe.encoder_lr is not None,
            )
            manifest = replace(manifest, items=rows)
        return Prepared(manifest=manifest, store=None, digests=digests, doubts=doubts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreadableImagesWarning)  # the notes report it
        store = build_store(
            manifest.items,
            recipe.resize,
            bits=recipe.bits,
            cache_dir=cache_dir,
            skip_bad=skip_bad,
            progress=False if quiet else None,
        )
    kept = manifest if len(store) == len(manifest) else manifest.take(store.kept)
    files = kept.items
    doubts = ()
    if isinstance(files, ImageFiles):
        kept = replace(kept, items=replace(files, digests=store.digests))
        doubts = depth_notes([files.root / files.paths[item] for item in evenly_spread(len(files))], recipe.bits)
    prepared = Prepared(manifest=kept, store=store, digests=store.digests, doubts=doubts)
    if keep_classes:
        lost = sorted(set(manifest.labels.tolist()).difference(kept.labels.tolist()))
        refuse_lost([manifest.classes[label] for label in lost], prepared.notes[:1])
    return prepared


NETWORK_NAMES = tuple(field.name for field in fields(NetworkSettings) if field.name != "num_features")
"""The settings of a network that a user can give; the number of columns comes from the data."""


def try_network(manifest: Manifest, given: Mapping[str, Any], *, weights: Path | None = None) -> None:
    """Builds the requested network and loads its weights, as far as that is possible without the images."""
    for name in given:
        if name not in NETWORK_NAMES:
            raise unknown_name("setting of a network", name, NETWORK_NAMES)
    check_backbone(manifest, given.get("backbone"))
    table = isinstance(manifest.items, FeatureRows)
    if isinstance(manifest.items, FeatureRows) and weights is not None:
        check_columns(manifest.items, weights, encoder=given.get("backbone"))
    columns = len(manifest.items.columns) if isinstance(manifest.items, FeatureRows) else None
    if has_texts(manifest.items):
        TextEncoder(given.get("backbone"))
        given, columns = without_encoder(manifest, given), max(1, columns or 0)
    suits = NetworkSettings(backbone="small" if columns is None else "mlp", num_features=columns)
    settings = replace(suits, **given)
    if "backbone" in given or table:
        build_network(method("ce", num_classes=2), settings, weights=None if table else weights)
    elif weights is not None:  # the default backbone depends on the size of the images
        read_weights(weights)


def check_columns(rows: FeatureRows, weights: Path, *, encoder: str | None = None) -> None:
    """Rejects the weights of a model with other columns, which would be matched by position, or another `encoder`.

    Both are in the model's description next to the weights; weights without a description are accepted.
    """
    if weights.name != WEIGHTS or not (weights.parent / DESCRIPTION).exists():
        return
    table = load_description(weights.parent).table
    if table is None:
        raise InputError(f"`weights` must be from a model for tables, {weights} belongs to a model for images.")
    for place, (there, here) in enumerate(zip_longest(_columns(table), _columns(rows), fillvalue="none"), start=1):
        if there != here:
            raise InputError(
                f"`weights` must be from a model for a table with the same columns in the same order, got {weights}, "
                f"where column {place} is {there}, and here it is {here}."
            )
    known = table.texts.encoding.digest if table.texts is not None and table.texts.encoding is not None else None
    if known != (None if rows.texts is None else TextEncoder(encoder).digest):
        raise InputError(f"`weights` must be from a model with the same encoder of texts (--backbone), got {weights}.")


def _columns(table: FeatureRows | TableEncoder) -> list[str]:
    """Returns the columns, with the possible values of categories."""
    categories = {name: f" ({', '.join(codes)})" for name, codes in table.categories.items()}
    return [f"{name}{categories.get(name, '')}" for name in table.plain_columns]


def check_backbone(manifest: Manifest, backbone: str | None) -> None:
    """Rejects an image backbone for a table and vice versa; None means the default for the data."""
    table = isinstance(manifest.items, FeatureRows)
    if has_texts(manifest.items):
        return  # it is their encoder
    if backbone is not None and not is_own(backbone) and (backbone == "mlp") != table:
        fit = "mlp for a table" if table else "small or a timm name for images"
        raise InputError(f"`backbone` must be {fit}, got {backbone!r}.")


PRETRAINED = "pretrained"
"""What `--weights` says in place of a file."""

Normalise: TypeAlias = Literal["paper", "timm"]
"""How pixels become inputs: from -1 to 1, as in the paper; or by the mean and deviation of timm's weights."""


def pretrained_file(backbone: str) -> Path:
    """Returns timm's weights of a backbone as a file, which later runs and other machines of a cluster read.

    Where there is none yet, timm fetches them into its own cache, which needs a network.
    """
    _check_timm(backbone, "weights", PRETRAINED)
    timm = require("timm", extra="train", purpose="Pretrained weights")
    config = timm.models.get_pretrained_cfg(backbone)
    tag = "" if config is None or "." in backbone else f".{config.tag}"
    path = default_cache_dir() / "weights" / f"{backbone}{tag}.safetensors"
    if not path.is_file():
        weights = TimmBackbone(backbone, pretrained=True).model.state_dict()
        safetensors = require("safetensors.torch", extra="train", purpose="Pretrained weights")
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_in_one_step(path, lambda part: safetensors.save_file(weights, part))
    return path


def timm_pixels(backbone: str) -> dict[str, tuple[float, ...]]:
    """Returns the mean and deviation of timm's weights, as settings of a network."""
    _check_timm(backbone, "normalise", "timm")
    timm = require("timm", extra="train", purpose="A backbone by name")
    config = timm.models.get_pretrained_cfg(backbone)
    if config is None:
        raise InputError(f"`normalise` 'timm' needs a backbone that timm has weights for, got {backbone!r}.")
    return {"mean": tuple(config.mean), "std": tuple(config.std)}


def _check_timm(backbone: str, argument: str, value: str) -> None:
    if is_own(backbone) or backbone in ("mlp", "small"):
        raise InputError(
            f"`{argument}` {value!r} needs a backbone of timm, got {backbone!r}: give another --backbone, or leave "
            f"--{argument} out.",
            argument=argument,
        )
