"""Records of known data sets, and the comparison of what was found with the complete set."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from onepeak._core.files import expanded
from onepeak._core.wording import counted, did_you_mean_file, listed
from onepeak.data.manifest import Manifest
from onepeak.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A data set that onepeak can open by name. Nothing is ever downloaded: `obtain` explains how to get it."""

    name: str
    title: str
    classes: tuple[str, ...]
    """Names of the classes, lowest first."""
    num_items: int
    """Number of images in the complete set."""
    layout: str
    """The layout of the images below the root."""
    obtain: str
    terms: str
    reference: str
    read: Callable[[Path], Manifest] | None = None
    """Reads the set from its root."""
    generate: Callable[[], Manifest] | None = None
    """Generates the set, instead of `read`."""
    num_per_class: int | None = None
    """Number of images per class in the complete set, if all classes have the same number."""
    num_groups: int | None = None
    """Number of persons, patients or slides in the complete set, if it names them."""

    def open(self, root: str | Path | None = None) -> Manifest:
        """Opens the set, with notes that compare what was found with the complete set.

        Args:
            root: The folder that holds it; None for a generated set.
        """
        if self.generate is not None:
            if root is not None:
                raise InputError(
                    f"`root` does nothing for {self.name}, which is generated: leave it out.", argument="root"
                )
            return self.generate()
        if self.read is None or root is None:
            raise InputError(
                f"The data set {self.name} needs `root`, the folder that holds {self.layout}. {self.obtain} "
                f"A folder of your own called {self.name} is ./{self.name}.",
                argument="root",
                page="paper",
            )
        manifest = self.read(expanded(root))
        if not len(manifest):
            raise InputError(f"There are no images of {self.name} in {root}. Expected {self.layout}.", page="paper")
        return replace(manifest, notes=(*self.compare(manifest), *manifest.notes))

    def compare(self, manifest: Manifest) -> tuple[str, ...]:
        """Returns notes that compare what was found with the complete set."""
        counts = np.bincount(manifest.labels, minlength=manifest.num_classes)
        sentences = [f"found {len(manifest):,} of {counted(self.num_items, 'image')}"]
        if self.num_groups is not None and manifest.groups is not None:
            sentences[0] += f" and {len(set(manifest.groups)):,} of {counted(self.num_groups, 'subject')}"
        if self.num_per_class is not None:
            pairs = zip(manifest.classes, counts, strict=True)
            if other := [f"{name} ({count:,})" for name, count in pairs if count != self.num_per_class]:
                sentences.append(f"classes that do not have {counted(self.num_per_class, 'image')}: {listed(other)}")
        if empty := [name for name, count in zip(manifest.classes, counts, strict=True) if count == 0]:
            sentences.append(f"{counted(len(empty), 'class')} without an image, kept in the order: {listed(empty)}")
        return tuple(sentences)


def locate(root: Path, *, inside: Sequence[str], holds: Callable[[Path], bool], layout: str) -> Path:
    """Returns the folder of the set: the root itself, or the only match among the folders its archive unpacks to."""
    if not root.is_dir():
        state = "a file" if root.exists() else "not there"
        raise InputError(f"`root` must be a folder, but {root} is {state}.{did_you_mean_file(root)}")
    if holds(root):
        return root
    folders = [root / path for path in inside if (root / path).is_dir() and holds(root / path)]
    if len(folders) > 1:
        raise InputError(f"`root` must hold the set once, but {root} holds it in {listed(folders)}: give one of them.")
    if not folders:
        raise InputError(
            f"There are no images of the set in {root}. Expected {layout} there, or in one of its folders "
            f"{listed(inside, limit=20)}."
        )
    return folders[0]
