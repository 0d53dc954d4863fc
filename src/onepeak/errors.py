"""The errors onepeak raises. Every message names the argument, what is allowed, what came, and the fix."""

from typing import Literal, TypeAlias

Page: TypeAlias = Literal["start", "images", "table", "recipes", "choose", "trust", "serve", "scale", "extend", "paper"]
"""A documentation page that an error message can point to."""
_TITLES: dict[Page, str] = {
    "start": "Start",
    "images": "Your images",
    "table": "Your table",
    "recipes": "Recipes and networks",
    "choose": "Which method should I choose",
    "trust": "Inspect and trust",
    "serve": "Serve and export",
    "scale": "Scale out",
    "extend": "Extend",
    "paper": "Reproduce the paper",
}


def in_documentation(page: Page) -> str:
    """How a message refers to a page: by its title, because an installed package has no documentation files.

    Args:
        page: The page's short name.

    Example:
        >>> in_documentation("images")
        '"Your images" in the documentation'
    """
    return f'"{_TITLES[page]}" in the documentation'


def first_line(error: Exception) -> str:
    """The first line of another package's error message, short enough to quote in one of ours.

    Args:
        error: The error. If its message is empty, its type is returned.

    Example:
        >>> first_line(RuntimeError("no such layer" + chr(10) + "at line 3")), first_line(KeyError())
        ('no such layer', 'KeyError')
    """
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


class OnepeakError(Exception):
    """Base class of all errors that onepeak raises. The command line prints them as one line.

    Args:
        message: What is wrong, and what to do about it.
        page: The documentation page that explains more, if any. The message ends with a reference to it.

    Example:
        >>> raise OnepeakError("There are no images in scans.", page="images")
        Traceback (most recent call last):
        onepeak.errors.OnepeakError: There are no images in scans. (See "Your images" in the documentation)
    """

    def __init__(self, message: str, *, page: Page | None = None) -> None:
        self.page = page
        super().__init__(message if page is None else f"{message} (See {in_documentation(page)})")


class InputError(OnepeakError, ValueError):
    """A value given by the user is not allowed."""


class NotFiniteError(InputError):
    """Numbers that must be finite are NaN or infinite."""


class UnknownNameError(InputError):
    """A name is not in the catalog; the message suggests the closest one."""


class StoppedError(OnepeakError):
    """The user pressed Ctrl-C; the message says how to resume."""


class MissingExtraError(OnepeakError, ImportError):
    """A package that an optional part needs is not installed; the message names the extra."""
