"""What is said of pictures that are unlike those of the training, wherever a model is asked."""

from collections import Counter
from collections.abc import Sequence

from onepeak._listing import counted, listed


def unlike_notes(found: Sequence[tuple[str | int, tuple[str, ...]]], num_pictures: int) -> tuple[str, ...]:
    """A note that counts and names pictures far outside of the training's range; none where there is none.

    Args:
        found: What each such picture is called by, and by which of its statistics; see
            `onepeak.training.picture_range.PictureRange`.
        num_pictures: How many were asked about.

    Example:
        >>> unlike_notes([("a.png", ("contrast",)), ("b.png", ("contrast", "grain"))], 9)[0]
        'unlike the training, so that answers may mean nothing: 2 of 9 pictures, by contrast (2), grain (1): a.png, ...'
        >>> unlike_notes([("a.png", ("contrast",))], 1)[0]
        'unlike the training, so that the answer may mean nothing: this picture, by contrast'
    """
    if not found:
        return ()
    if num_pictures == 1:
        return (f"unlike the training, so that the answer may mean nothing: this picture, by {listed(found[0][1])}",)
    counts = Counter(name for _, names in found for name in names)
    by = listed(f"{name} ({count:,})" for name, count in counts.items())
    which = listed(source for source, _ in found)
    return (
        "unlike the training, so that answers may mean nothing: "
        f"{len(found):,} of {counted(num_pictures, 'picture')}, by {by}: {which}",
    )
