"""Whether 16-bit pictures use their range: those of scanners often hold 12 bits, and are then nearly black."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from onepeak._listing import counted, listed
from onepeak.data.decode import highest_of_16_bits

_LOOKED_AT = 16
_HIGHEST_OF_12_BITS = 4095
_TO_TRAIN = "if they hold 12 bits, train with `bits` 12 (--bits 12)"
_TO_ASK = (
    "such answers mean little unless the model was trained on pictures as dark. If they hold 12 bits, write them so "
    "that they fill 16, or ask a model that was trained with `bits` 12 (onepeak train --bits 12)"
)


def depth_notes(
    pictures: Sequence[Path | bytes], bits: int | None, *, asked: bool = False, names: Sequence[str] = ()
) -> tuple[str, ...]:
    """A note where 16-bit pictures among some, spread over the data, hold no value of more than 12 bits.

    Or where somebody has said how many they hold, and none is a 16-bit picture.

    Args:
        pictures: Files, or what is in them.
        bits: How many 16-bit ones are taken to hold, where that was said.
        asked: Whether a trained model is asked about them, so that it is too late to train otherwise.
        names: What each is called, for the note to name those it is about; files are named in any case where it is not
            about all that were looked at.
    """
    if not pictures:
        return ()
    places = np.unique(np.linspace(0, len(pictures) - 1, _LOOKED_AT).round().astype(int)).tolist()
    found = {place: highest for place in places if (highest := _highest(pictures[place])) is not None}
    if bits is not None:
        looked_at = counted(len(places), "picture")
        return () if found else (f"`bits` {bits} does nothing here: none of {looked_at} looked at is a 16-bit one",)
    # Nothing but zeros is black in any number of bits.
    dark = {place: highest for place, highest in found.items() if 0 < highest <= _HIGHEST_OF_12_BITS}
    if not dark:
        return ()
    which = [names[place] for place in dark] if names else []
    if not names and len(dark) < len(places):
        which = [picture.name for place in dark if isinstance(picture := pictures[place], Path)]
    return (
        f"no value above {max(dark.values()):,} of 65,535 in {counted(len(dark), '16-bit picture')} looked at"
        f"{f' ({listed(which, limit=3)})' if which else ''}, so that few of 256 shades are left: "
        f"{_TO_ASK if asked else _TO_TRAIN}",
    )


def _highest(picture: Path | bytes) -> int | None:
    try:
        return highest_of_16_bits(picture if isinstance(picture, bytes) else picture.read_bytes())
    except (OSError, ValueError):  # a name that no file can have; reported when all are decoded
        return None
