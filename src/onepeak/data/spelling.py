"""Which class a label may stand for that is not written as any class is."""

import difflib
import re
from collections.abc import Sequence

_SHORTEST = 3
"""Letters of a word that is known by its beginning."""


def meant_by(label: str, names: Sequence[str]) -> str | None:
    """The name that a label may be another writing of, to be asked about; None where there is none.

    They agree but for case, spaces and signs; or one is the other with a longer last word, which is so of this name
    only; or most of their letters agree. Their numbers are the same, and neither only ends as the other does.

    Example:
        >>> meant_by("Grade-2", ["grade 1", "grade 2"]), meant_by("middle", ["low", "mid"]), meant_by("hihg", ["high"])
        ('grade 2', 'mid', 'high')
        >>> meant_by("grade 9", ["grade 2"]), meant_by("stage IV", ["stage I"]), meant_by("unknown", ["known"])
        (None, None, None)
    """
    own = _words(label)
    written = {name: _words(name) for name in names}
    alike = [name for name, words in written.items() if own and _comparable(own, words)]
    if same := [name for name in alike if _joined(written[name]) == _joined(own)]:
        return same[0]
    begun = [name for name in alike if _begins(written[name], own) or _begins(own, written[name])]
    return begun[0] if len(begun) == 1 else next(iter(difflib.get_close_matches(label, alike, n=1)), None)


def _words(name: str) -> list[str]:
    """Letters and digits apart, without case, spaces and signs."""
    return re.findall(r"\d+|[^\W\d_]+", name.casefold())


def _joined(words: Sequence[str]) -> str:
    return "".join(words)


def _is_numeral(word: str) -> bool:
    return word.isdigit() or set(word) <= set("ivx")


def _comparable(label: Sequence[str], name: Sequence[str]) -> bool:
    """Whether their numbers are the same, and neither only ends as the other does."""
    one, other = _joined(label), _joined(name)
    only_ends = one != other and (one.endswith(other) or other.endswith(one))
    return not only_ends and list(filter(_is_numeral, label)) == list(filter(_is_numeral, name))


def _begins(words: Sequence[str], longer: Sequence[str]) -> bool:
    """Whether the longer ones are the same but for the end of the last word, which is no numeral."""
    rest = longer[-1].removeprefix(words[-1])
    same = words[:-1] == longer[:-1] and len(words[-1]) >= _SHORTEST
    return same and rest != longer[-1] and not _is_numeral(rest)
