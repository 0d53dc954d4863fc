"""How names and numbers read in the sentences of a report."""

import math
from collections.abc import Callable, Mapping, Sequence

from onepeak.methods.catalog import CONSTRAINTS, METHODS

_LONGEST = 4
"""Letters of an abbreviation."""
ABBREVIATIONS = frozenset(
    name for name in METHODS.built_in | CONSTRAINTS.built_in if len(name) <= _LONGEST and name != "peak"
)
"""Names in the catalog that are written in capitals; words and those of a user stay as they are."""


def display_name(label: str) -> str:
    """A row's name in a sentence.

    Example:
        >>> [display_name(label) for label in ("elb", "mv+elb", "slopes", "ld-as_published", "cum-focal")]
        ['ELB', 'MV+ELB', 'slopes', 'LD-as_published', 'cum-focal']
    """
    name, dash, rest = label.partition("-")
    parts = [part.upper() if part in ABBREVIATIONS else part for part in name.split("+")]
    return "+".join(parts) + dash + rest


def percent(share: float) -> str:
    """A share as it is written in a sentence.

    Example:
        >>> percent(0.9921)
        '99.2 %'
    """
    return f"{100 * share:.1f} %"


def p_text(p_value: float) -> str:
    """A p-value as it is written.

    Example:
        >>> p_text(0.0321), p_text(0.00001)
        ('p = 0.032', 'p < 0.001')
    """
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def enumerated(names: Sequence[str], *, word: str = "and") -> str:
    """Names one after another, as a sentence has them.

    Example:
        >>> enumerated(["ce"]), enumerated(["ce", "mv", "elb"])
        ('ce', 'ce, mv and elb')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def chance_in_words(chances: Mapping[str, float], written: Callable[[float], str]) -> str:
    """The chance level, or that of each decision where they differ; empty where none is known.

    Example:
        >>> chance_in_words({"mode": 0.75, "mean": 0.561}, percent)
        '75.0 % by the mode, 56.1 % by the mean'
    """
    levels = {rule.replace("_", " "): written(chance) for rule, chance in chances.items() if not math.isnan(chance)}
    if len(set(levels.values())) <= 1:
        return next(iter(levels.values()), "")
    return ", ".join(f"{level} by the {rule}" for rule, level in levels.items())
