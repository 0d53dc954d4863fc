"""`onepeak doctor`: what is installed here, and on what it can compute."""

import json
import os
import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version

import typer

from onepeak import __version__
from onepeak.cli import options
from onepeak.cli.output import print_note, print_table

_FOR_USERS = ("cli", "data", "train", "report", "sklearn", "serve", "export", "ray", "dicom", "hub", "text")
"""The extras that bring commands; the others are for those who work on onepeak."""


def doctor(as_json: options.AsJson = False) -> None:
    """Shows versions, devices and extras, for a first look or a bug report.

    Example: onepeak doctor
    """
    versions, devices, extras = _versions(), _devices(), _extras()
    if as_json:
        typer.echo(json.dumps({"versions": versions, "devices": devices, "extras": extras}, indent=2))
        return
    print_table(("what", "version"), list(versions.items()))
    print_table(("device", "what it is"), list(devices.items()))
    print_table(("extra", "state"), [(name, _state(name, gone)) for name, gone in extras.items()])
    print_note("Next: onepeak demo")


def _versions() -> dict[str, str]:
    import torch

    return {
        "onepeak": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "torch": torch.__version__,
    }


def _devices() -> dict[str, str]:
    import torch

    cpu = f"{os.cpu_count()} cores, {torch.get_num_threads()} threads in use"
    found = {"cpu": f"{platform.processor() or platform.machine()}, {cpu}"}
    for place in range(torch.cuda.device_count()):
        card = torch.cuda.get_device_properties(place)
        found[f"cuda:{place}"] = f"{card.name}, {card.total_memory / 2**30:.0f} GiB"
    if torch.backends.mps.is_available():
        found["mps"] = "Apple GPU"
    return found


def _extras() -> dict[str, list[str]]:
    """The packages of each extra that are missing, as the installed onepeak names them."""
    needs: dict[str, list[str]] = {name: [] for name in _FOR_USERS}
    inside: dict[str, list[str]] = {name: [] for name in _FOR_USERS}
    for line in _requirements():
        extra = re.search(r"extra == ['\"](\w+)['\"]", line)
        if extra is None or extra[1] not in needs:
            continue
        own = re.match(r"onepeak\[([\w,]+)\]", line)
        if own:
            inside[extra[1]] += own[1].split(",")
        else:
            needs[extra[1]].append(re.split(r"[\s<>=!~;\[]", line, maxsplit=1)[0])

    def missing(name: str) -> list[str]:
        return [*(each for other in inside[name] for each in missing(other)), *filter(_is_missing, needs[name])]

    return {name: sorted(set(missing(name))) for name in _FOR_USERS}


def _requirements() -> list[str]:
    try:
        return requires("onepeak") or []
    except PackageNotFoundError:  # run from its source
        return []


def _is_missing(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return True
    return False


def _state(name: str, missing: list[str]) -> str:
    return f"missing {', '.join(missing)}: pip install 'onepeak[{name}]'" if missing else "complete"
