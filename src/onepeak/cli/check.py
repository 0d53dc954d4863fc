"""`onepeak check`: copies, near copies and conflicting labels in data, and labels that are likely wrong."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from onepeak.cli import options
from onepeak.cli.options import flag
from onepeak.cli.output import print_json, print_note, print_notes, print_table, spinner

if TYPE_CHECKING:  # the packages behind these are loaded when the command runs, so that --help is fast
    from onepeak.data.images.store.images import ImageStore
    from onepeak.data.manifest import Manifest
    from onepeak.data.splits.copies import Finding, Kind

_MOST_ROWS = 20
_SHORT_SIDE = 32
"""Images are compared at this size unless a network looks at them."""
_FOR_NETWORK = 224


@options.with_flags(source=options.SOURCE)
def check(
    data: str,
    source: dict[str, Any],
    runs: Annotated[
        Path | None,
        flag("Data", "--runs", "Folder of compare or train on these data: shows labels that are likely wrong."),
    ] = None,
    similarity: Annotated[
        float | None, flag("Data", "--similarity", "Similarity of near copies, up to 1 (default: 0.97).", min=0, max=1)
    ] = None,
    backbone: str | None = None,
    weights: str | None = None,
    device: str = "auto",
    cache: Path | None = None,
    out: Annotated[Path | None, flag("Output", "--out", "CSV file for all findings, one row per sample.")] = None,
    as_json: bool = False,
) -> None:
    """Finds copies, near copies, copies with different labels, and labels that are likely wrong.

    Near copies are images that look alike when they are small; with --weights, images alike in the features of that
    backbone. Likely wrong labels need --runs, whose test parts hold predictions for samples that were not trained on.

    Example: onepeak check scans.csv --runs out/comparison --out look-at.csv
    """
    from onepeak.data.images.near_copies import SIMILAR, find_near_copies, thumbnails
    from onepeak.data.images.resize import Resize
    from onepeak.data.manifest import FeatureRows
    from onepeak.data.source import DataSource
    from onepeak.data.splits.copies import Finding, Kind, find_copies, has_texts, item_digests
    from onepeak.errors import InputError
    from onepeak.training.prepare import prepare
    from onepeak.training.recipe import Recipe

    manifest = DataSource(data, **source).open()
    findings, kinds, notes = list[Finding](), list[Kind](), list(manifest.notes)
    if isinstance(manifest.items, FeatureRows):
        for name, value in (("similarity", similarity), ("backbone", backbone), ("weights", weights)):
            if value is not None:
                raise InputError(f"`--{name}` is for images: leave it out.")
        if has_texts(manifest.items):
            kinds.append("copies")
            findings += find_copies(manifest, item_digests(manifest.items))
        elif runs is None:
            notes.append("rows of a table may be equal by chance: give --runs to find labels that are likely wrong")
    else:
        if backbone is not None and weights is None:
            raise InputError("`--backbone` has no effect without --weights: near copies are found by thumbnails.")
        side = _SHORT_SIDE if weights is None else _FOR_NETWORK
        recipe, skip_bad = Recipe(resize=Resize(short_side=side)), bool(source.get("skip_bad"))
        prepared = prepare(manifest, recipe, cache_dir=cache, skip_bad=skip_bad, keep_classes=False, quiet=as_json)
        manifest, store = prepared.manifest, prepared.store
        assert store is not None
        notes += prepared.notes
        with spinner(f"Comparing {len(store):,} images", quiet=as_json):
            if weights is None:
                values = thumbnails(store)
            else:
                values = _features(store, backbone or "resnet18", weights, device, quiet=as_json)
            kinds += ["copies", "near copies"]
            findings += find_copies(manifest, store.digests)
            least = SIMILAR if similarity is None else similarity
            findings += find_near_copies(manifest, values, store.digests, least=least)
    if runs is not None:
        likely, note = _label_errors(manifest, runs)
        kinds.append("label")
        findings += likely
        notes.append(note)
    records = [{**asdict(finding), "conflict": finding.conflict} for finding in findings]
    if out is not None:
        _write(findings, out)
    if as_json:
        print_json({"dataset": manifest.name, "notes": notes, "findings": records})
        return
    print_notes(notes)
    _show(findings, kinds, len(manifest))
    if out is not None:
        print_note(f"Saved to {out}.")


def _features(store: "ImageStore", backbone: str, weights: str, device: str, *, quiet: bool) -> Any:
    """The features of a frozen backbone, images x channels."""
    from onepeak.data.images.augment import Augment
    from onepeak.networks.build import NetworkSettings
    from onepeak.training.devices import find_device
    from onepeak.training.features import features_of
    from onepeak.training.prepare import PRETRAINED, pretrained_file, timm_pixels

    own = weights == PRETRAINED
    network = NetworkSettings(backbone=backbone, pooling="average", **(timm_pixels(backbone) if own else {}))  # type: ignore[arg-type]
    found = features_of(
        store,
        network,
        Augment(horizontal_flip=False),
        weights=pretrained_file(backbone) if own else Path(weights),
        device=find_device(device),
        progress=False if quiet else None,
    )
    return found.values[:, 0].numpy()


def _label_errors(manifest: "Manifest", folder: Path) -> "tuple[list[Finding], str]":
    """Returns labels that are likely wrong by the mean of the held-out posteriors of all runs, and a note on these."""
    import numpy as np
    import torch

    from onepeak._core.wording import counted
    from onepeak.data.manifest import FeatureRows
    from onepeak.data.splits.copies import Finding
    from onepeak.errors import InputError
    from onepeak.experiment.results import read_predictions
    from onepeak.experiment.run_files import classes_of_model, read_config, result_files
    from onepeak.posterior.label_errors import likely_label_errors
    from onepeak.report.source import Source, has_other_rows

    places, has_moved = Source(manifest=manifest), has_other_rows(manifest, read_config(folder))
    total, times = np.zeros((len(manifest), manifest.num_classes)), np.zeros(len(manifest))
    results = result_files(folder)
    for result in results:
        found = read_predictions(result.parent, part="test", columns=["item", "path", "label", "log_probs"])
        classes = classes_of_model(result.parent) or manifest.classes
        if classes != manifest.classes or found["log_probs"].shape[1] != manifest.num_classes:
            raise InputError(
                f"`--runs` must hold predictions for the classes of the data, {', '.join(manifest.classes)}, got "
                f"{', '.join(classes)} in {result.parent}."
            )
        rows = zip(found["item"].tolist(), found["path"].tolist(), found["label"].tolist(), strict=True)
        at = [places.place(item, path, label) for item, path, label in rows]
        if has_moved or (None in at and isinstance(manifest.items, FeatureRows)):
            raise InputError(
                f"`--runs` must hold predictions for this table as it is, but its rows or labels have changed since "
                f"{folder} was made: give the table of then, or run compare again."
            )
        known = [row for row, place in enumerate(at) if place is not None]
        total[[place for place in at if place is not None]] += np.exp(found["log_probs"][known].astype(np.float64))
        times[[place for place in at if place is not None]] += 1
    held_out = np.flatnonzero(times)
    if not len(held_out):
        raise InputError(f"`--runs` must hold predictions for these data, got none in {folder}.")
    log_probs = torch.from_numpy(total[held_out] / times[held_out, None]).log()
    errors = likely_label_errors(log_probs, torch.from_numpy(manifest.labels[held_out]))
    findings = [
        Finding.of(
            manifest,
            "label",
            [int(held_out[row])],
            score=round(float(errors.distance[row]), 4),
            suggested=manifest.classes[int(errors.suggested[row])],
        )
        for row in errors.ranked.tolist()
    ]
    samples = f"{len(held_out):,} of {counted(len(manifest), 'sample')}"
    rest = "" if len(held_out) == len(manifest) else ": the others have no prediction"
    return findings, f"{samples} in the test parts of {counted(len(results), 'run')}{rest}"


def _write(findings: "Sequence[Finding]", out: Path) -> None:
    """Writes one row per sample; samples of one finding share its number."""
    import pandas

    from onepeak._core.files import write_text_in_one_step

    names = ("finding", "kind", "conflict", "item", "sample", "label", "suggested", "score")
    rows = [
        (number, finding.kind, finding.conflict, *sample, finding.suggested, finding.score)
        for number, finding in enumerate(findings, start=1)
        for sample in zip(finding.items, finding.names, finding.labels, strict=True)
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text_in_one_step(out, pandas.DataFrame(rows, columns=names).to_csv(index=False, lineterminator="\n"))


_NOUNS: "dict[Kind, tuple[str, str]]" = {
    "copies": ("group of exact copies", "groups of exact copies"),
    "near copies": ("group of near copies", "groups of near copies"),
    "label": ("likely wrong label", "likely wrong labels"),
}


def _show(findings: "Sequence[Finding]", kinds: "Sequence[Kind]", num_samples: int) -> None:
    """How much was found of each kind that was looked for, and the first findings of each."""
    from onepeak._core.wording import counted, listed

    rows, counts = [], []
    for kind in kinds:
        own = [finding for finding in findings if finding.kind == kind]
        conflicts = sum(finding.conflict for finding in own)
        count = f"{len(own):,} {_NOUNS[kind][len(own) > 1]}" if own else f"no {_NOUNS[kind][1]}"
        counts.append(f"{count} ({conflicts:,} with different labels)" if conflicts else count)
        for finding in own[:_MOST_ROWS]:
            labels = listed(dict.fromkeys(finding.labels) if finding.conflict else finding.labels[:1])
            what = _NOUNS[kind][0].removeprefix("group of ")
            score = finding.score or 0.0
            why = {"copies": "", "near copies": f"{score:.1%} alike", "label": f"{score:.2g} classes off"}[kind]
            what += ", different labels" if finding.conflict else ""
            rows.append((what, listed(finding.names, limit=4), labels, finding.suggested or "", why))
    if kinds:
        print_note(f"{counted(num_samples, 'sample')}: {', '.join(counts)}")
    if rows:
        print_table(("finding", "samples", "label", "suggested", "why"), rows)
    if len(rows) < len(findings):
        print_note(f"The first {_MOST_ROWS} of each kind are shown; --out and --json list them all.")
