"""What samples are called on the pages and found by: their path, row or number, and who they belong to."""

from onepeak.report.source import Source
from onepeak.serving.inspector.said import Said


def sample_names(said: Said, source: Source) -> list[str]:
    """The path of each picture, the row of each sample of a table, and its group where it is known."""
    return [sample_name(said, place, source) for place in range(len(said.item))]


def sample_name(said: Said, place: int, source: Source) -> str:
    """The name of one sample.

    Args:
        said: What a run said of it and others.
        place: Where it stands there.
        source: The data.
    """
    item, path, label = int(said.item[place]), said.path[place], int(said.label[place])
    name = source.name(item, path, label)
    groups = None if source.manifest is None else source.manifest.groups
    where = None if groups is None else source.place(item, path, label)
    return name if groups is None or where is None else f"{name} · {groups[where]}"
