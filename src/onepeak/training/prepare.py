"""Prepares data for training, once for all runs on it."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from onepeak._listing import counted, listed
from onepeak.data.depth import depth_notes
from onepeak.data.faults import refuse_lost
from onepeak.data.manifest import FeatureRows, ImageFiles, Manifest
from onepeak.data.splits import Split
from onepeak.data.splits.digests import item_digests
from onepeak.data.store import ImageStore, UnreadablePicturesWarning, build_store
from onepeak.networks.build import NetworkSettings
from onepeak.training.feed import Feed, PictureFeed, RowFeed
from onepeak.training.presets import LARGEST_SMALL
from onepeak.training.recipe import Recipe
from onepeak.training.table import TableEncoder
from onepeak.training.trial import check_backbone


@dataclass(frozen=True, kw_only=True, eq=False)
class Prepared:
    """Data with decoded images and without unreadable files."""

    manifest: Manifest
    store: ImageStore | None
    """The images, in the manifest's order; None for a table."""
    digests: tuple[str, ...]
    """A hash of each item's content, for the leak check."""
    doubts: tuple[str, ...] = ()
    """Notes on what looks odd in the images."""

    def feed(self, split: Split, recipe: Recipe, device: torch.device) -> tuple[Feed, TableEncoder | None]:
        """Returns the batches for one run; a table's encoder is fitted to the run's training part."""
        items = self.manifest.items
        if isinstance(items, FeatureRows):
            encoder = TableEncoder.learn(items.take(split.train))
            return RowFeed(encoder.encode(items), device), encoder
        if self.store is None:
            raise TypeError("images without a store")
        return PictureFeed(self.store, recipe.augment, device), None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user: what was left out and what looks odd."""
        bad = () if self.store is None else self.store.bad
        if not bad:
            return self.doubts
        shown = listed(f"{picture.path}: {picture.reason}" for picture in bad)
        return (f"left out {counted(len(bad), 'image')} that cannot be read: {shown}", *self.doubts)

    @property
    def counts(self) -> dict[str, Any]:
        """Numbers of items, groups and left-out items, for the result file."""
        groups = self.manifest.groups
        return {
            "items": len(self.manifest),
            "groups": None if groups is None else len(set(groups)),
            "group_column": self.manifest.group_column,
            "left_out": self.manifest.num_left_out + (0 if self.store is None else len(self.store.bad)),
        }

    def suits(self) -> NetworkSettings:
        """Returns the default network for the data."""
        if isinstance(self.manifest.items, FeatureRows):
            # The final number of features is known once a run has fitted the encoder to its training part.
            return NetworkSettings(backbone="mlp", num_features=len(self.manifest.items.columns))
        if self.store is None:
            raise TypeError("images without a store")
        small = int(self.store.sizes.max()) <= LARGEST_SMALL
        return NetworkSettings(backbone="small" if small else "resnet18")

    def network(self, given: Mapping[str, Any]) -> NetworkSettings:
        """Returns the default network for the data, changed by the given settings."""
        check_backbone(self.manifest, given.get("backbone"))
        return replace(self.suits(), **given)


def prepare(
    manifest: Manifest,
    recipe: Recipe,
    *,
    cache_dir: Path | None = None,
    skip_bad: bool = False,
    keep_classes: bool = True,
    quiet: bool = False,
) -> Prepared:
    """Decodes the images into a store, or finds an existing one, and leaves out unreadable images if allowed.

    The `notes` list what was left out. Leaving out every image of a class is an error, unless `keep_classes` is False.
    """
    if isinstance(manifest.items, FeatureRows):
        return Prepared(manifest=manifest, store=None, digests=tuple(item_digests(manifest.items)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreadablePicturesWarning)  # the notes report it
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
    paths = [files.root / path for path in files.paths] if isinstance(files, ImageFiles) else []
    doubts = depth_notes(paths, recipe.bits)
    prepared = Prepared(manifest=kept, store=store, digests=store.digests, doubts=doubts)
    if keep_classes:
        lost = sorted(set(manifest.labels.tolist()).difference(kept.labels.tolist()))
        refuse_lost([manifest.classes[label] for label in lost], prepared.notes[:1])
    return prepared
