"""Image stores: images are decoded once, into one memory-mapped file of 8-bit RGB per data set and recipe.

Names are imported lazily: decoding workers import this package and should not load torch.
"""

from typing import TYPE_CHECKING

from onepeak._core.imports import lazy_names

if TYPE_CHECKING:
    from onepeak.data.images.store.build import build_store
    from onepeak.data.images.store.failures import StoreError, UnreadableImagesError, UnreadableImagesWarning
    from onepeak.data.images.store.images import ImageStore, open_store
    from onepeak.data.images.store.index import default_cache_dir

__all__ = [
    "ImageStore",
    "StoreError",
    "UnreadableImagesError",
    "UnreadableImagesWarning",
    "build_store",
    "default_cache_dir",
    "open_store",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "build": ["build_store"],
        "failures": ["StoreError", "UnreadableImagesError", "UnreadableImagesWarning"],
        "images": ["ImageStore", "open_store"],
        "index": ["default_cache_dir"],
    },
)
