"""Reads and writes an experiment as TOML; all errors are reported at once, with file and key."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from onepeak._core.formats import read_toml
from onepeak._core.registry import unknown_name
from onepeak.data.source import DataSource
from onepeak.errors import InputError, together
from onepeak.experiment.plan import (
    Experiment,
    MethodEntry,
    RecipeSource,
    entries_from_text,
    network_problems,
    recipe_problems,
)
from onepeak.experiment.run_files import RECORD
from onepeak.training.recipe import replaced, setting_names


def read_plan(path: Path) -> Experiment:
    """Reads an experiment from a file.

    All keys but data and methods may be left out. A method is text as on the command line, or a table::

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
    """Builds the experiment from a file's content."""
    given = {"name": name, **{key: value for key, value in content.items() if key != RECORD}}
    problems = [InputError("must be given.", key=key) for key in ("data", "methods") if key not in given]
    given["methods"] = _entries(given.get("methods", ["ce"]), problems)
    check_network = partial(network_problems, texts=given.get("text") is not None)
    for key, check in (("recipe", recipe_problems), ("network", check_network)):
        if found := check(given.get(key, {})):
            problems += found
            del given[key]
    if "network" in given:  # records hold tuples, not lists
        given["network"] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in given["network"].items()
        }
    exempt = frozenset(given.get("recipe", {})) if RECORD in content else frozenset()
    recipe_source = RecipeSource(file=source, prefix="recipe.", exempt=exempt)
    of_data, known = setting_names(_NEUTRAL.source), [*setting_names(_NEUTRAL.source), *setting_names(_NEUTRAL)]
    problems += [unknown_name("setting", key, known) for key in given if key not in known]
    data: DataSource = replaced(_NEUTRAL.source, {key: given[key] for key in of_data if key in given}, "", problems)
    own = {key: value for key, value in given.items() if key in setting_names(_NEUTRAL)}
    neutral = replace(_NEUTRAL, source=data, file=source, recipe_source=recipe_source)
    plan: Experiment = replaced(neutral, own, "", problems)
    if problems:
        raise together(problems).at(file=source)
    return plan


def plan_content(experiment: Experiment) -> dict[str, Any]:
    """Returns the experiment as file content, from which `plan_from` builds the same experiment."""
    content = {name: value for name, value in asdict(experiment).items() if name in setting_names(experiment)}
    return {"name": content.pop("name"), **asdict(experiment.source), **content}


_NEUTRAL = Experiment(name="experiment", source=DataSource("biopsies"), methods=(MethodEntry(name="ce"),))
"""The defaults of a file's settings; name, data and methods are always replaced."""


def _entries(content: Any, problems: list[InputError]) -> tuple[MethodEntry, ...]:
    if not isinstance(content, list) or not content:
        problems.append(InputError(f"must be a non-empty list of methods, got {content!r}.", key="methods"))
        return _NEUTRAL.methods
    entries: list[MethodEntry] = []
    names = [each.name for each in fields(MethodEntry)]
    for index, entry in enumerate(content):
        key = f"methods[{index}]"
        if isinstance(entry, Mapping) and (unknown := [name for name in entry if name not in names]):
            problems += [unknown_name(f"setting of {key}", name, names) for name in unknown]
            continue
        try:
            match entry:
                case str():
                    entries += entries_from_text(entry)
                case {"name": str(), **_rest}:
                    entries.append(MethodEntry(**entry))
                case _:
                    raise InputError(f"must be text such as 'elb', or a table with a name, got {entry!r}.")
        except (InputError, TypeError) as error:
            problems.append(InputError(str(error), key=key))
    return tuple(entries) or _NEUTRAL.methods
