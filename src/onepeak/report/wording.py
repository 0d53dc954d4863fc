"""How names and numbers read in the sentences of a report."""

from collections.abc import Sequence

_ABBREVIATION = 4
"""Names of methods up to so many letters are abbreviations, and are written in capitals."""


def spoken(label: str) -> str:
    """A row's name in a sentence.

    Example:
        >>> spoken("elb"), spoken("mv+elb"), spoken("slopes"), spoken("ld-as_published")
        ('ELB', 'MV+ELB', 'slopes', 'LD-as_published')
    """
    name, dash, rest = label.partition("-")
    parts = [part.upper() if len(part) <= _ABBREVIATION else part for part in name.split("+")]
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


def enumerated(names: Sequence[str]) -> str:
    """Names one after another, as a sentence has them.

    Example:
        >>> enumerated(["ce"]), enumerated(["ce", "mv", "elb"])
        ('ce', 'ce, mv and elb')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
