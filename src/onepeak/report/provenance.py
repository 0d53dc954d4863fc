"""How the runs of a report were made: the commands, the settings, the versions, the machine, the time."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onepeak._core.imports import Frame
from onepeak._core.wording import counted, duration, listed
from onepeak.experiment.run_files import CONFIG, RECORD
from onepeak.training.out_folder import RESULT


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What the last lines of a report say."""

    commands: tuple[str, ...]
    """What was typed, each once; none where it was not written down."""
    config: str
    """The text of the experiment's settings; empty where there are none."""
    facts: Mapping[str, str] = field(default_factory=dict)


def read_provenance(folder: Path, config: Mapping[str, Any] | None, runs: Frame) -> Provenance:
    """Reads it from the folder and from its first run."""
    first = json.loads((Path(runs["folder"].iloc[0]) / RESULT).read_text(encoding="utf-8"))
    seconds = float(runs["seconds"].sum())
    facts = {
        "runs": f"{len(runs):,}, seeds {listed(sorted(set(runs['seed'])))}",
        "data": _data(first, {} if config is None else config.get(RECORD, {})),
        "protocol": listed(dict.fromkeys(runs["protocol"])),
        "samples": f"{first['sizes']['train']:,} train, {first['sizes']['valid']:,} validation, "
        f"{first['sizes']['test']:,} test (first run)",
        "epoch": _choice_of_epoch(first.get("selected_by", "metric"), runs),
        "time": f"{duration(seconds)} of training, {duration(seconds / len(runs))} per run",
        "machine": f"{first.get('device', 'not recorded')}, precision {first.get('precision', 'not recorded')}",
        "versions": ", ".join(f"{name} {version}" for name, version in first.get("versions", {}).items()),
    }
    return Provenance(
        commands=() if config is None else tuple(config.get(RECORD, {}).get("commands", ())),
        config=(folder / CONFIG).read_text(encoding="utf-8") if config is not None else "",
        facts={name: text for name, text in facts.items() if text},
    )


def _data(first: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """How many items and groups there are, and how many were left out; what older records do not know is not said."""
    earlier = {"items": record["items"]} if "items" in record and record.get("dataset") == first["dataset"] else {}
    data = first.get("data", earlier)
    if "items" not in data:
        return ""
    text = counted(data["items"], "sample")
    if data.get("groups") is not None:
        column = data.get("group_column")
        text += f" of {counted(data['groups'], 'group')}" + (f" (column {column})" if column else "")
    if data.get("left_out"):
        text += f"; {counted(data['left_out'], 'sample')} left out by --skip-bad"
    return text


def _choice_of_epoch(by: str, runs: Frame) -> str:
    epochs = int(runs["epochs"].max())
    if by == "last":
        return f"the last of {epochs}"
    stopped = int((runs["epochs"] < runs["most_epochs"]).sum())
    text = f"chosen by validation {by}, of "
    if not stopped:
        return f"{text}{epochs}"
    return f"{text}at most {int(runs['most_epochs'].max())}; {stopped} of {counted(len(runs), 'run')} stopped early"
