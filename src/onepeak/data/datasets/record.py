"""What is known of a data set before it is opened, and how what was found compares to it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from onepeak._home import expanded
from onepeak._listing import counted, listed
from onepeak.data.manifest import Manifest
from onepeak.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A data set onepeak can read by name. Nothing is ever downloaded: `obtain` says how to get it."""

    name: str
    title: str
    classes: tuple[str, ...]
    """Names of the classes, lowest first."""
    num_items: int
    """Pictures in the complete set."""
    layout: str
    """Where the pictures lie below the root."""
    obtain: str
    terms: str
    reference: str
    read: Callable[[Path], Manifest] | None = None
    """Reads the set from its root."""
    generate: Callable[[], Manifest] | None = None
    """Makes the set, where it is not read."""
    num_per_class: int | None = None
    """Pictures of every class in the complete set, where all have the same number."""
    num_groups: int | None = None
    """Persons, patients or slides in the complete set, where it names them."""

    def open(self, root: str | Path | None = None) -> Manifest:
        """Reads the set, and notes what was found beside what the complete set holds.

        Args:
            root: The folder that holds it; None for a set that is generated.
        """
        if self.generate is not None:
            if root is not None:
                raise InputError(f"`root` (--root) has no use for {self.name}, which is generated: leave it out.")
            return self.generate()
        if self.read is None or root is None:
            raise InputError(
                f"The data set {self.name} needs `root` (--root), the folder that holds {self.layout}. {self.obtain} "
                f"A folder of your own called {self.name} is ./{self.name}.",
                page="paper",
            )
        manifest = self.read(expanded(root))
        if not len(manifest):
            raise InputError(f"There are no images of {self.name} in {root}. Expected {self.layout}.", page="paper")
        return replace(manifest, notes=(*self.compare(manifest), *manifest.notes))

    def compare(self, manifest: Manifest) -> tuple[str, ...]:
        """Sentences on what was found against what the complete set holds."""
        counts = np.bincount(manifest.labels, minlength=manifest.num_classes)
        sentences = [f"found {len(manifest):,} of {counted(self.num_items, 'image')}"]
        if self.num_groups is not None and manifest.groups is not None:
            sentences[0] += f" and {len(set(manifest.groups)):,} of {counted(self.num_groups, 'subject')}"
        if self.num_per_class is not None:
            other = [
                f"{name} ({count:,})"
                for name, count in zip(manifest.classes, counts, strict=True)
                if count != self.num_per_class
            ]
            if other:
                sentences.append(f"classes that have not {counted(self.num_per_class, 'image')}: {listed(other)}")
        empty = [name for name, count in zip(manifest.classes, counts, strict=True) if count == 0]
        if empty:
            sentences.append(f"{counted(len(empty), 'class')} without an image, kept in the order: {listed(empty)}")
        return tuple(sentences)
