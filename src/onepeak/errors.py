"""The errors onepeak raises. Every message names the argument, what is allowed, what came, and the fix."""

from typing import Literal, TypeAlias

Page: TypeAlias = Literal["start", "images", "table", "recipes", "choose", "trust", "serve", "scale", "extend", "paper"]
"""A page of the documentation that helps somebody who meets an error."""
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
    """What a message calls a page: its title, as somebody who installed the package has no file of it.

    Args:
        page: The page's short name.

    Example:
        >>> in_documentation("images")
        '"Your images" in the documentation'
    """
    return f'"{_TITLES[page]}" in the documentation'


def first_line(error: Exception) -> str:
    """What another package's error says, as far as a message of ours has room for it.

    Args:
        error: Where it says nothing, its kind is told.

    Example:
        >>> first_line(RuntimeError("no such layer" + chr(10) + "at line 3")), first_line(KeyError())
        ('no such layer', 'KeyError')
    """
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


class OnepeakError(Exception):
    """Anything onepeak itself refuses or reports; the command line prints it as one line.

    Args:
        message: What is wrong, and what to do about it.
        page: The page of the documentation that says more, where one does; the message ends with it.

    Example:
        >>> raise OnepeakError("There are no pictures in scans.", page="images")
        Traceback (most recent call last):
        onepeak.errors.OnepeakError: There are no pictures in scans. (See "Your images" in the documentation)
    """

    def __init__(self, message: str, *, page: Page | None = None) -> None:
        self.page = page
        super().__init__(message if page is None else f"{message} (See {in_documentation(page)})")


class InputError(OnepeakError, ValueError):
    """A value given by the user is not one that is allowed."""


class NotFiniteError(InputError):
    """Numbers that must be finite are NaN or infinite."""


class UnknownNameError(InputError):
    """A name that is in no catalog; the message suggests the nearest one."""


class StoppedError(OnepeakError):
    """Somebody pressed Ctrl-C; the message says how to go on."""


class MissingExtraError(OnepeakError, ImportError):
    """A package that an optional part needs is not installed; the message names the extra."""
