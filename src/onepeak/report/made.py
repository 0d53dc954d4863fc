"""How the runs of a report were made: the commands, the settings, the versions, the machine, the time."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onepeak._listing import counted, duration, listed
from onepeak.data.frame_types import Frame
from onepeak.experiment.config_file import CONFIG, RECORD
from onepeak.training.file_names import RESULT


@dataclass(frozen=True, kw_only=True)
class Made:
    """What the last lines of a report say."""

    commands: tuple[str, ...]
    """What was typed, each once; none where it was not written down."""
    config: str
    """The text of the experiment's settings; empty where there are none."""
    facts: Mapping[str, str] = field(default_factory=dict)


def how_made(folder: Path, config: Mapping[str, Any] | None, runs: Frame) -> Made:
    """Reads it from the folder and from its first run.

    Args:
        folder: The experiment's folder.
        config: Its settings, where it has some.
        runs: Its runs, as `read_results` gives them.
    """
    first = json.loads((Path(runs["folder"].iloc[0]) / RESULT).read_text(encoding="utf-8"))
    seconds = float(runs["seconds"].sum())
    facts = {
        "runs": f"{len(runs):,}, seeds {listed(sorted(set(runs['seed'])))}",
        "data": _data(first, {} if config is None else config.get(RECORD, {})),
        "protocol": listed(dict.fromkeys(runs["protocol"])),
        "samples": f"{first['sizes']['train']:,} to train on, {first['sizes']['valid']:,} to choose the epoch on, "
        f"{first['sizes']['test']:,} to test on (first run)",
        "epoch": _choice_of_epoch(first.get("selected_by", "metric"), runs),
        "time": f"{duration(seconds)} of training in all, {duration(seconds / len(runs))} a run",
        "machine": f"{first.get('device', 'not recorded')}, precision {first.get('precision', 'not recorded')}",
        "versions": ", ".join(f"{name} {version}" for name, version in first.get("versions", {}).items()),
    }
    return Made(
        commands=() if config is None else tuple(config.get(RECORD, {}).get("commands", ())),
        config=(folder / CONFIG).read_text(encoding="utf-8") if config is not None else "",
        facts={name: text for name, text in facts.items() if text},
    )


def _data(first: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """How many items and groups there are, and how many were left out; what older records do not know is not said.

    Args:
        first: The result of the first run.
        record: What the experiment's settings say of its data.
    """
    earlier = {"items": record["items"]} if "items" in record and record.get("dataset") == first["dataset"] else {}
    data = first.get("data", earlier)
    if "items" not in data:
        return ""
    told = counted(data["items"], "item")
    if data.get("groups") is not None:
        column = data.get("group_column")
        told += f" of {counted(data['groups'], 'group')}" + (f" (column {column})" if column else "")
    if data.get("left_out"):
        told += f"; {counted(data['left_out'], 'item')} left out by --skip-bad"
    return told


def _choice_of_epoch(by: str, runs: Frame) -> str:
    epochs = int(runs["epochs"].max())
    if by == "last":
        return f"the last of {epochs}"
    stopped = int((runs["epochs"] < runs["most_epochs"]).sum())
    told = f"chosen by validation {by}, of "
    if not stopped:
        return f"{told}{epochs}"
    return f"{told}at most {int(runs['most_epochs'].max())}; {stopped} of {counted(len(runs), 'run')} stopped before"
