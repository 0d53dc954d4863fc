"""An experiment from a TOML file, and back: all that is wrong is said at once, with the file and the key."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from onepeak._registry import unknown_name
from onepeak.errors import InputError
from onepeak.experiment.config_file import RECORD
from onepeak.experiment.entries import MethodEntry, entries_from_text
from onepeak.experiment.plan import Experiment, network_problems, recipe_problems
from onepeak.training.recipe_file import replaced
from onepeak.training.toml_file import read_toml


def read_plan(path: Path) -> Experiment:
    """The experiment of a file.

    A file looks like this; all but data and methods may be left out, and a method is text as on the command line, or a
    table::

        data = "fgnet"
        protocol = "code"
        splits = 10
        methods = ["ce", "ld:as_published", { name = "elb", settings = { t = 4.5 }, label = "elb" }]
        [recipe]
        base = "paper"
        epochs = 60
        [network]
        backbone = "resnet18"
    """
    content = read_toml(path, wanted="The experiment must be a TOML file")
    return plan_from(content, name=path.stem, source=str(path))


def plan_from(content: Mapping[str, Any], *, name: str, source: str) -> Experiment:
    """The experiment that a file's content says.

    Args:
        content: What the file holds.
        name: The experiment's name where the content gives none.
        source: The file, for messages.
    """
    problems: list[str] = []
    given = {"name": name, **{key: value for key, value in content.items() if key != RECORD}}
    problems += [f"{key}: must be given." for key in ("data", "methods") if key not in given]
    given["methods"] = _entries(given.get("methods", ["ce"]), problems)
    for key, check in (("recipe", recipe_problems), ("network", network_problems)):
        if found := check(given.get(key, {})):
            problems += found
            del given[key]
    if "network" in given:  # lists are tuples there, as in every record
        given["network"] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in given["network"].items()
        }
    plan: Experiment = replaced(_NEUTRAL, given, "", problems)
    if problems:
        raise InputError("\n".join(f"{source}: {problem}" for problem in problems))
    return plan


def plan_content(experiment: Experiment) -> dict[str, Any]:
    """What the experiment's file says: `plan_from` makes the same experiment of it."""
    return asdict(experiment)


_NEUTRAL = Experiment(name="experiment", data="biopsies", methods=(MethodEntry(name="ce"),))
"""What a file's settings replace; the name, the data and the methods always are."""


def _entries(content: Any, problems: list[str]) -> tuple[MethodEntry, ...]:
    if not isinstance(content, list) or not content:
        problems.append(f"methods: must be a list of methods that is not empty, got {content!r}.")
        return _NEUTRAL.methods
    entries: list[MethodEntry] = []
    names = [each.name for each in fields(MethodEntry)]
    for place, item in enumerate(content):
        where = f"methods[{place}]"
        if isinstance(item, Mapping) and (unknown := [name for name in item if name not in names]):
            problems += [str(unknown_name(f"setting of {where}", name, names)) for name in unknown]
            continue
        try:
            match item:
                case str():
                    entries += entries_from_text(item)
                case {"name": str(), **_rest}:
                    entries.append(MethodEntry(**item))
                case _:
                    problems.append(f"{where}: must be text such as 'elb', or a table with a name, got {item!r}.")
        except (InputError, TypeError) as error:
            problems.append(f"{where}: {error}")
    return tuple(entries) or _NEUTRAL.methods
