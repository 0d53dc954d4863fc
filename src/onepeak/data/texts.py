"""Texts become columns of features, by an encoder and once.

An encoder makes a text a row of numbers. From there on a text is a row of a table: what trains, compares, evaluates and
serves rows does so for texts too. Only `onepeak.training.text_training` looks behind the numbers.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from onepeak._core.files import in_one_step
from onepeak._core.wording import counted
from onepeak.data.images.store.build import progress_of
from onepeak.data.images.store.index import default_cache_dir
from onepeak.data.manifest import Encoding, FeatureRows, Texts
from onepeak.errors import InputError
from onepeak.networks.text_encoder import TextEncoder

FORMAT = 1
"""Version of cached features; raised when they change."""


def with_features(
    items: FeatureRows, encoder: TextEncoder, *, cache: Path | None, quiet: bool, trained: bool = False
) -> tuple[FeatureRows, tuple[str, ...]]:
    """Returns rows with their texts as further columns, and notes; known features come from the cache.

    `trained` says whether training goes on to change the encoder.
    """
    if items.texts is None or items.texts.encoding is not None:
        return items, ()
    values, parts = _cached(encoder, items.texts.values, default_cache_dir() if cache is None else cache, quiet)
    encoding = Encoding(folder=str(encoder.folder), digest=encoder.digest, num_features=values.shape[1])
    notes = [
        f"texts become {values.shape[1]} features by the encoder in {encoder.folder}, which is "
        + ("trained too" if trained else "not trained")
    ]
    if long := int((parts > 1).sum()):
        notes.append(
            f"{counted(long, 'text')} longer than the encoder takes at once, read in up to {parts.max()} parts"
        )
    return encoded(items, values, encoding), tuple(notes)


def encoded(items: FeatureRows, values: npt.NDArray[np.float32], encoding: Encoding) -> FeatureRows:
    """Returns rows with the features of their texts as their last columns."""
    assert items.texts is not None
    names = tuple(f"{items.texts.column} {number}" for number in range(1, values.shape[1] + 1))
    return replace(
        items,
        columns=(*items.columns, *names),
        values=np.concatenate([items.values, values.astype(np.float64)], axis=1),
        texts=replace(items.texts, encoding=encoding),
    )


@lru_cache(maxsize=2)
def known_encoder(encoding: Encoding) -> TextEncoder:
    """Returns the encoder of a model; refuses one whose files have changed."""
    if not Path(encoding.folder).is_dir():
        raise InputError(f"The model reads texts by an encoder in {encoding.folder}, which is not there.")
    encoder = TextEncoder(encoding.folder)
    if encoder.digest != encoding.digest:
        raise InputError(f"The encoder in {encoding.folder} is not the one that the model was trained with.")
    return encoder


def encode_texts(rows: FeatureRows, texts: Sequence[str], known: Texts) -> FeatureRows:
    """Returns rows with the features of these texts, made by the encoder of a model."""
    assert known.encoding is not None
    values, _ = known_encoder(known.encoding).features(texts)
    rows = replace(rows, texts=Texts(column=known.column, values=tuple(texts)))
    return encoded(rows, values, known.encoding)


def _cached(
    encoder: TextEncoder, texts: Sequence[str], folder: Path, quiet: bool
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Returns the features of texts, and in how many parts each was read."""
    distinct = sorted(set(texts))
    key = hashlib.blake2b(f"{FORMAT}{encoder.digest}".encode(), digest_size=16)
    for text in distinct:
        key.update(len(text).to_bytes(8, "little") + text.encode())
    path = folder / f"texts-{key.hexdigest()}.npz"
    if not path.is_file():
        with progress_of(False if quiet else None, title="Reading texts", total=len(distinct)) as advance:
            features, parts = encoder.features(distinct, progress=advance)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with in_one_step(path) as unfinished, unfinished.open("wb") as file:
            np.savez(file, features=features, parts=parts)
    place = {text: index for index, text in enumerate(distinct)}
    with np.load(path, allow_pickle=False) as found:
        own = [place[text] for text in texts]
        return found["features"][own], found["parts"][own]
