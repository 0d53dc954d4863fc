"""The errors onepeak raises. Every message names the argument, what is allowed, what came, and the fix."""


class OnepeakError(Exception):
    """Anything onepeak itself refuses or reports; the command line prints it as one line."""


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
