"""Image stores: images are decoded once, into one memory-mapped file of 8-bit RGB per data set and recipe.

Names are imported lazily: decoding workers import this package and should not load torch.
"""

from typing import TYPE_CHECKING

from onepeak._lazy import lazy_names

if TYPE_CHECKING:
    from onepeak.data.store.build import build_store
    from onepeak.data.store.failures import StoreError, UnreadablePicturesError, UnreadablePicturesWarning
    from onepeak.data.store.images import ImageStore, open_store
    from onepeak.data.store.place import default_cache_dir

__all__ = [
    "ImageStore",
    "StoreError",
    "UnreadablePicturesError",
    "UnreadablePicturesWarning",
    "build_store",
    "default_cache_dir",
    "open_store",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "build": ["build_store"],
        "failures": ["StoreError", "UnreadablePicturesError", "UnreadablePicturesWarning"],
        "images": ["ImageStore", "open_store"],
        "place": ["default_cache_dir"],
    },
)
