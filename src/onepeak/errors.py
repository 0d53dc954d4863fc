"""The errors onepeak raises. Every message names the argument, what is allowed, what came, and the fix."""

import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
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

    Example:
        >>> in_documentation("images")
        '"Your images" in the documentation'
    """
    return f'"{_TITLES[page]}" in the documentation'


def first_line(error: Exception) -> str:
    """The first line of another package's error message, to quote in one of ours; its type if the message is empty.

    Example:
        >>> first_line(RuntimeError("no such layer" + chr(10) + "at line 3")), first_line(KeyError())
        ('no such layer', 'KeyError')
    """
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _with_page(message: str, page: Page | None) -> str:
    return message if page is None else f"{message} (See {in_documentation(page)})"


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
        super().__init__(_with_page(message, page))


_NAMED = re.compile(r"(?<=`)\w+(?=`)|\b\w+=True")


class InputError(OnepeakError, ValueError):
    """A value given by the user is not allowed.

    Args:
        message: What is wrong: the argument in backquotes, what is allowed and what came.
        argument: The argument at fault. Where users give it as a flag, the message names the flag (`worded`).
        fix: What to do, in sentences; every name there in backquotes, or with "=True", is an argument too.
        key: The setting of a file that the value came from, such as "recipe.lr".
        file: That file.
        page: As for `OnepeakError`.

    Example:
        >>> error = InputError("`alpha` must be above 0, got -1.", argument="alpha", fix="Leave `alpha` out.")
        >>> print(error)
        `alpha` must be above 0, got -1. Leave `alpha` out.
        >>> print(error.worded({"alpha": "--alpha"}))
        `--alpha` must be above 0, got -1. Leave `--alpha` out.
    """

    def __init__(
        self,
        message: str,
        *,
        argument: str | None = None,
        fix: str = "",
        key: str = "",
        file: str = "",
        page: Page | None = None,
    ) -> None:
        self.message, self.argument, self.fix, self.key, self.file = message, argument, fix, key, file
        self.problems: tuple[InputError, ...] = ()
        """The errors that this one is made of; see `together`."""
        super().__init__(self._text(MappingProxyType({}), ()), page=page)

    def worded(self, flags: Mapping[str, str], *, used: Collection[str] = ()) -> str:
        """Returns the message for a surface where arguments are flags.

        Args:
            flags: The flag of each argument that has one.
            used: The arguments whose flags were used: their values did not come from a file.
        """
        if self.problems:
            return "\n".join(problem.worded(flags, used=used) for problem in self.problems)
        return _with_page(self._text(flags, used), self.page)

    def _text(self, flags: Mapping[str, str], used: Collection[str]) -> str:
        name, message = self.argument or "", self.message
        by_flag = name in used and self.key in (name, f"recipe.{name}", "recipe")
        if name in flags and (by_flag or not self.key):
            message = message.replace(f"`{name}`", f"`{flags[name]}`")
        position = () if by_flag else tuple(filter(None, (self.file, self.key)))
        fix = _NAMED.sub(lambda found: flags.get(found[0].removesuffix("=True"), found[0]), self.fix)
        return ": ".join([*position, message]) + (f" {fix}" if fix and not message.endswith("\n") else fix)

    def at(self, key: str = "", *, file: str = "", page: Page | None = None) -> "InputError":
        """Returns the same error, said of a value at a key or of a file; `page` is for one that names none."""
        if self.problems:
            return together([problem.at(key, file=file, page=page) for problem in self.problems])
        return InputError(
            self.message,
            argument=self.argument,
            fix=self.fix,
            key=key or self.key,
            file=file or self.file,
            page=self.page or page,
        )


def together(problems: Sequence[InputError]) -> InputError:
    """Returns one error for all problems, with a line for each."""
    if len(problems) == 1:
        return problems[0]
    error = InputError("\n".join(map(str, problems)))
    error.problems = tuple(problems)
    return error


class NotFiniteError(InputError):
    """Numbers that must be finite are NaN or infinite."""


class UnknownNameError(InputError):
    """A name is not in the catalog; the message suggests the closest one."""


class StoppedError(OnepeakError):
    """The user pressed Ctrl-C; the message says how to resume."""


class MissingExtraError(OnepeakError, ImportError):
    """A package that an optional part needs is not installed; the message names the extra."""


class Note(str):
    """A remark for the user, with a code for programs and tests.

    Example:
        >>> note = Note("few-samples", "only 5 samples")
        >>> print(note, note.code)
        only 5 samples few-samples
    """

    code: str

    def __new__(cls, code: str, text: str) -> "Note":
        """Joins a code to a text."""
        note = super().__new__(cls, text)
        note.code = code
        return note

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]  # of `__new__`, so that it can be pickled
        return self.code, str(self)
