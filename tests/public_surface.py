"""What users of onepeak rely on, as text: a line for each thing that has a name. CONTRIBUTING says how it may change.

To write `public_surface.txt` again: `PYTHONPATH=src python tests/public_surface.py`.
"""

import importlib
import inspect
import json
import re
import types
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import get_args, get_type_hints

import pyarrow.parquet
import torch
import typer

from onepeak.cli.app import app
from onepeak.data.datasets import DATASETS
from onepeak.data.images.resize import Resize
from onepeak.data.source import DataSource
from onepeak.experiment.plan import Experiment, MethodEntry, plan_content
from onepeak.methods.catalog import METHODS, method
from onepeak.metrics.catalog import METRICS
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.serving.http.app import create_app
from onepeak.serving.model import Model, load
from onepeak.serving.onnx.export import metadata
from onepeak.serving.onnx.graph import ServedNetwork
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.training.model_files import ModelDescription
from onepeak.training.recipe import Recipe
from trained_models import table_run

LISTED = Path(__file__).with_suffix(".txt")
PACKAGES = (
    "onepeak",
    "onepeak.constraints",
    "onepeak.data",
    "onepeak.data.images.store",
    "onepeak.data.splits",
    "onepeak.errors",
    "onepeak.estimator",
    "onepeak.experiment",
    "onepeak.methods",
    "onepeak.metrics",
    "onepeak.metrics.functional",
    "onepeak.networks",
    "onepeak.posterior",
    "onepeak.report",
    "onepeak.serving",
)


FROM_TORCH = {"extra_repr", "reset_parameters"}
"""Methods that stand in for PyTorch's, which nobody calls."""


def arguments(function):
    """The arguments with their defaults, without their types."""
    shown = []
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.KEYWORD_ONLY and not any(name.startswith("*") for name in shown):
            shown.append("*")
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        default = "" if each.default is each.empty else f"={re.sub(r'<.*>', '...', repr(each.default))}"
        shown.append(f"{stars}{each.name}{default}")
    return f"({', '.join(name for name in shown if name != 'self')})"


def of_python():
    first = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        own = [name for name, each in vars(module).items() if getattr(each, "__module__", "") == package]
        for name in sorted(getattr(module, "__all__", [name for name in own if not name.startswith("_")])):
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(inspect.unwrap(thing)):  # a scorer wraps one
                known = first.setdefault(thing, f"{package}.{name}")
                if known != f"{package}.{name}":
                    yield f"{package}.{name} is {known}"
                elif inspect.isclass(thing) and issubclass(thing, Exception):
                    yield known
                else:
                    yield known + arguments(thing)
                    yield from (f"{known}.{part}" for part in sorted(parts(thing))) if inspect.isclass(thing) else ()
            else:
                yield f"{package}.{name}"


def parts(kind):
    """The methods and properties of a class but for those that a public base has."""
    found, public = set(), set()
    for base in kind.__mro__:
        if base.__module__.startswith("onepeak"):
            shown = {
                name + (arguments(value) if inspect.isfunction(value) else "")
                for name, value in vars(base).items()
                if isinstance(value, property | types.FunctionType)
                and not name.startswith("_")
                and name not in FROM_TORCH
            }
            (found if base is kind or base.__name__.startswith("_") else public).update(shown)
    return found - public


def of_catalogs():
    for record in METHODS:
        yield f"method {record.name}{''.join(f' {name}' for name in record.settings)}"
    yield from (f"metric {record.name}" for record in METRICS)
    yield from (f"data set {record.name}" for record in DATASETS)


def of_commands():
    for name, command in typer.main.get_command(app).commands.items():
        for option in command.params:
            flags = ", ".join((*option.opts, *option.secondary_opts))
            yield f"onepeak {name} {flags if option.param_type_name == 'option' else option.name.upper()}"


def keys(content, depth):
    """The keys of a JSON object, those of objects inside it after a dot."""
    for name, value in content.items():
        inside = list(keys(value, depth - 1)) if isinstance(value, dict) and depth > 1 else []
        yield from (f"{name}.{each}" for each in inside) if inside else [name]


def settings(kind):
    """The names of a record's fields, those of records inside it after a dot."""
    hints = get_type_hints(kind)
    for each in fields(kind):
        inner = [hint for hint in (hints[each.name], *get_args(hints[each.name])) if is_dataclass(hint)]
        yield from (f"{each.name}.{name}" for name in settings(inner[0])) if inner else [each.name]


def of_folders():
    run = table_run().folder
    yield from sorted(f"run {path.name}" for path in run.iterdir() if path.is_file() and path.name != "grades.csv")
    yield from (f"run onepeak.json: {name}" for name in settings(ModelDescription))
    result = json.loads((run / "result.json").read_text())
    yield from (f"run result.json: {name}" for name in keys(result | {"recipe": None, "versions": None}, 2))
    columns = pyarrow.parquet.read_schema(run / "predictions.parquet").names
    yield from (f"run predictions.parquet: {name}" for name in columns)
    yield from (f"run history.csv: {name}" for name in (run / "history.csv").read_text().partition("\n")[0].split(","))
    experiment = Experiment(name="any", source=DataSource("biopsies"), methods=(MethodEntry(name="ce"),))
    yield from (f"config.toml: {name}" for name in plan_content(experiment) if name not in ("recipe", "network"))
    yield from (f"config.toml: methods.{each.name}" for each in fields(MethodEntry))
    yield from (f"config.toml: recipe.{name}" for name in settings(Recipe))
    yield from (f"config.toml: network.{name}" for name in settings(NetworkSettings))


def image_model():
    network = NetworkSettings(backbone="small")
    with torch.random.fork_rng():
        built = build_network(method("elb", num_classes=3), network)
    description = ModelDescription(
        classes=("low", "middle", "high"),
        method="elb",
        variant="corrected",
        method_settings={},
        network=network,
        resize=Resize(short_side=32),
        table=None,
    )
    return Model(description, built, torch.device("cpu"))


def of_http(model):
    described = create_app(model).openapi()
    kind = "rows" if model.reads_tables else "images"
    for path, operations in described["paths"].items():
        for verb, operation in operations.items():
            where = f"{verb.upper()} {path}"
            yield f"{where} answers {', '.join(sorted(operation['responses']))}"
            yield from (f"{where} ?{each['name']}" for each in operation.get("parameters", ()))
            yield from (
                f"{where} takes {kind} as {each}" for each in operation.get("requestBody", {}).get("content", {})
            )
    for record, schema in described["components"]["schemas"].items():
        yield from (f"{record}.{name}" for name in schema.get("properties", ()))


def of_onnx(model):
    kind = "rows:" if model.reads_tables else "images:"
    served = ServedNetwork(model, PosteriorOptions())
    content = metadata(model, PosteriorOptions(), served.outputs)
    yield from (f"{kind} output {name}" for name in served.outputs)
    yield from (
        f"{kind} metadata {name}" for name in keys({name: json.loads(value) for name, value in content.items()}, 2)
    )


def surface():
    table, image = load(table_run().folder), image_model()
    sections = {
        "Python": of_python(),
        "Catalogs": of_catalogs(),
        "Commands": of_commands(),
        "Folders": of_folders(),
        "HTTP": [*of_http(image), *of_http(table)],
        "ONNX": [*of_onnx(image), *of_onnx(table)],
    }
    return "\n".join(line for name, lines in sections.items() for line in (f"# {name}", *dict.fromkeys(lines), ""))


if __name__ == "__main__":
    LISTED.write_text(surface(), encoding="utf-8")
