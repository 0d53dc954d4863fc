"""Pictures decoded once: one memory-mapped file of 8-bit RGB for each data set and recipe.

Names are imported when first used: a decoding worker passes through here, and should not wait for torch.
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
        "ImageStore": "onepeak.data.store.images",
        "StoreError": "onepeak.data.store.failures",
        "UnreadablePicturesError": "onepeak.data.store.failures",
        "UnreadablePicturesWarning": "onepeak.data.store.failures",
        "build_store": "onepeak.data.store.build",
        "default_cache_dir": "onepeak.data.store.place",
        "open_store": "onepeak.data.store.images",
    },
)
