"""`onepeak doctor`: what is installed here, and on what it can compute."""

import os
import platform
from importlib.metadata import PackageNotFoundError, requires, version

from packaging.requirements import Requirement  # of torchmetrics

from onepeak import __version__
from onepeak.cli.options import with_flags
from onepeak.cli.output import print_json, print_note, print_table

_FOR_USERS = ("cli", "data", "train", "report", "sklearn", "serve", "export", "ray", "dicom", "hub", "text")
"""The extras that bring commands; the others are for those who work on onepeak."""


@with_flags()
def doctor(as_json: bool = False) -> None:
    """Shows versions, devices and extras, for a first look or a bug report.

    Example: onepeak doctor
    """
    import torch

    versions = {
        "onepeak": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "torch": torch.__version__,
    }
    devices, extras = _devices(), {name: _missing(name) for name in _FOR_USERS}
    if as_json:
        print_json({"versions": versions, "devices": devices, "extras": extras})
        return
    print_table(("what", "version"), list(versions.items()))
    print_table(("device", "what it is"), list(devices.items()))
    states = {
        name: f"missing {', '.join(missing)}: pip install 'onepeak[{name}]'" if missing else "complete"
        for name, missing in extras.items()
    }
    print_table(("extra", "state"), list(states.items()))
    print_note("Next: onepeak demo")


def _devices() -> dict[str, str]:
    import torch

    cpu = f"{os.cpu_count()} cores, {torch.get_num_threads()} threads in use"
    found = {"cpu": f"{platform.processor() or platform.machine()}, {cpu}"}
    for index in range(torch.cuda.device_count()):
        card = torch.cuda.get_device_properties(index)
        found[f"cuda:{index}"] = f"{card.name}, {card.total_memory / 2**30:.0f} GiB"
    if torch.backends.mps.is_available():
        found["mps"] = "Apple GPU"
    return found


def _missing(extra: str) -> list[str]:
    """The packages of an extra that are missing, as the installed onepeak names them."""
    try:
        lines = requires("onepeak") or []
    except PackageNotFoundError:  # run from its source
        lines = []
    needs = [need for need in map(Requirement, lines) if need.marker and need.marker.evaluate({"extra": extra})]
    inside = [name for need in needs if need.name == "onepeak" for name in need.extras]
    own = {need.name for need in needs if need.name != "onepeak" and _is_missing(need.name)}
    return sorted(own.union(*map(_missing, inside)))


def _is_missing(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return True
    return False
