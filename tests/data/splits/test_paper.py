"""The numbers of Belharbi et al. 2019, section 4, and of the published code."""

import csv
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from onepeak.data.splits.protocols import make_splits
from onepeak.errors import InputError

COMMITTED = Path(__file__).parents[3] / "results/paper/fgnet-authors-splits.csv"


def counts(manifest, items):
    return np.bincount(manifest.labels[items], minlength=manifest.num_classes).tolist()


def subjects(manifest, items):
    return {manifest.groups[item] for item in items}


@pytest.mark.parametrize("protocol", ["paper", "code", "auto", "iciar"])
def test_iciar_is_ten_runs_of_160_40_200(iciar, protocol):
    runs = make_splits(iciar, protocol=protocol)
    assert [(run.split, run.fold) for run in runs] == [(split, fold) for split in range(2) for fold in range(5)]
    for run in runs:
        assert counts(iciar, run.train) == [40] * 4
        assert counts(iciar, run.valid) == [10] * 4
        assert counts(iciar, run.test) == [50] * 4


def test_iciar_has_one_test_part_a_split_and_every_other_item_is_valid_once(iciar):
    runs = make_splits(iciar, protocol="paper")
    for split in range(2):
        folds = [run for run in runs if run.split == split]
        assert all(np.array_equal(run.test, folds[0].test) for run in folds)
        assert sorted(np.concatenate([run.valid for run in folds])) == sorted(set(range(400)) - set(folds[0].test))
    assert 60 < np.intersect1d(runs[0].test, runs[5].test).size < 140  # two halves drawn apart share half


def test_iciar_by_its_code_has_one_test_part_for_all_splits_and_other_folds_in_each(iciar):
    runs = make_splits(iciar, protocol="code")
    assert len({run.test.tobytes() for run in runs}) == 1
    assert len({run.valid.tobytes() for run in runs}) == 10
    for split in range(2):
        folds = np.concatenate([run.valid for run in runs if run.split == split])
        assert sorted(folds) == sorted(set(range(400)) - set(runs[0].test))


@pytest.mark.parametrize(
    ("protocol", "name", "folds"),
    [
        ("code", "hci-code", [[22] * 5] * 9 + [[17] * 5]),
        ("auto", "hci-code", [[22] * 5] * 9 + [[17] * 5]),
        ("paper", "hci", None),
    ],
)
def test_hci_is_a_hundred_runs_with_fifty_test_images_a_decade(hci, protocol, name, folds):
    runs = make_splits(hci, protocol=protocol)
    assert [(run.split, run.fold) for run in runs] == [(split, fold) for split in range(10) for fold in range(10)]
    assert {run.protocol for run in runs} == {name}
    for split in range(10):
        series = runs[10 * split : 10 * split + 10]
        assert all(counts(hci, run.test) == [50] * 5 for run in series)
        assert len({run.test.tobytes() for run in series}) == 1
        assert sorted(np.concatenate([run.valid for run in series])) == sorted(set(range(1325)) - set(series[0].test))
        valid = [counts(hci, run.valid) for run in series]
        assert valid == folds or (folds is None and {count for each in valid for count in each} <= {21, 22})
    assert len({run.test.tobytes() for run in runs}) == 10


@pytest.mark.parametrize("protocol", ["code", "auto", "fgnet-code"])
def test_fgnet_by_its_code_is_53_13_16_subjects_in_one_fold_and_ten_splits(fgnet_like, protocol):
    runs = make_splits(fgnet_like, protocol=protocol)
    assert [(run.split, run.fold) for run in runs] == [(split, 0) for split in range(10)]
    for run in runs:
        people = [subjects(fgnet_like, part) for part in run.parts.values()]
        assert [len(part) for part in people] == [53, 13, 16]
        assert len(set.union(*people)) == 82
    assert len({run.test.tobytes() for run in runs}) == 10


def test_fgnet_by_the_text_is_a_fifth_and_five_folds_ten_times_with_subjects_on_both_sides(fgnet_like):
    runs = make_splits(fgnet_like, protocol="paper")
    assert len(runs) == 50
    for run in runs:
        assert len(run.test) == 200
        assert len(run.valid) in (160, 161)
        assert len(run.train) + len(run.valid) == 802
        assert subjects(fgnet_like, run.train) & subjects(fgnet_like, run.test)
    first = [run.valid for run in runs[:5]]
    assert sorted(np.concatenate(first)) == sorted(set(range(1002)) - set(runs[0].test))


@pytest.mark.parametrize(("name", "num_classes"), [("afad-lite", 22), ("afad-full", 58)])
def test_afad_by_its_code_takes_a_fifth_of_every_gender_and_age(images, name, num_classes):
    sizes = 1 + (np.arange(2 * num_classes) * 7) % 40  # cells of 1 to 40 images
    cells = np.repeat(np.arange(2 * num_classes), sizes)
    genders = tuple("male" if cell % 2 else "female" for cell in cells)
    afad = images(cells // 2, num_classes=num_classes, strata=genders, name=name)
    runs = make_splits(afad, protocol="code")
    assert [(run.split, run.fold) for run in runs] == [(split, 0) for split in range(10)]
    for run in runs:
        tested = np.bincount(cells[run.test], minlength=len(sizes))
        validated = np.bincount(cells[run.valid], minlength=len(sizes))
        assert np.array_equal(tested, sizes // 5)  # 14 of 70, and 13 of 69
        assert np.array_equal(validated, (sizes - sizes // 5) // 5)
        assert len(run.train) + len(run.valid) + len(run.test) == len(afad)


def test_the_authors_splits_of_fgnet_are_the_committed_ones(fgnet_like):
    runs = make_splits(fgnet_like, protocol="authors")
    assert [(run.split, run.fold, run.protocol) for run in runs] == [(n, 0, "fgnet-authors") for n in range(10)]
    assert make_splits(fgnet_like, protocol="fgnet-authors") == runs
    committed = defaultdict(set)
    with COMMITTED.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for split in range(10):
                committed[split, row[f"split{split}-fold0"]].add(row["group"])
    found = {(run.split, part): subjects(fgnet_like, items) for run in runs for part, items in run.parts.items()}
    assert found == committed
    for split in range(10):
        assert [len(found[split, part]) for part in ("train", "valid", "test")] == [53, 13, 16]


def test_a_few_subjects_give_every_part_one(images):
    faces = images([1, 2, 3], groups=("a", "b", "c"), name="fgnet")
    assert make_splits(faces, protocol="code")[0].sizes == {"train": 1, "valid": 1, "test": 1}


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("protocol", "labels", "fields", "message"),
    [
        ("iciar", range(4), {}, "5 folds need at least 5 samples, found 0"),
        ("hci", np.repeat([0, 1], [60, 59]), {}, "50 samples of every class .*, but class 'c1' has 59"),
        ("hci-code", np.repeat([0, 1], [60, 59]), {}, "50 samples of every class .*, but class 'c1' has 59"),
        ("hci-code", np.repeat([0, 1], [61, 61]), {}, "a part would have no sample"),  # the last fold
        ("afad-paper", range(5), {}, "5 folds need at least 5 samples, found 4"),
        ("fgnet-code", range(4), {}, "it does not name the subject of each image"),
        ("fgnet-code", range(2), {"groups": ("a", "b")}, "a part would have no sample"),
        ("fgnet-authors", range(4), {}, "it is not fgnet with its 82 subjects, it has 0"),
        ("afad", range(4), {}, "it does not name the gender of each image"),
        ("afad-code", range(4), {"strata": ("f", "m", "f", "m")}, "a part would have no sample"),
    ],
)
def test_data_that_a_protocol_cannot_split_are_told_why(images, protocol, labels, fields, message):
    data = images(list(labels), **fields)
    data = replace(data, items=replace(data.items, digests=data.items.paths))
    with pytest.raises(InputError, match=f"Protocol '{protocol}' cannot split 'mine': {message}"):
        make_splits(data, protocol=protocol)


def test_hci_needs_ten_samples_of_every_class_beside_the_test_part(images):
    assert len(make_splits(images(np.repeat([0, 1], [60, 60])), protocol="hci")) == 100
    assert len(make_splits(images(np.repeat([0, 1], [60, 61])), protocol="hci-code")) == 100
