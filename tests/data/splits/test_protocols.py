import hashlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onepeak.data import DataSource
from onepeak.data.splits.copies import item_digests
from onepeak.data.splits.files import save_splits
from onepeak.data.splits.leaks import LeakError, find_leaks, refuse_leaks
from onepeak.data.splits.protocols import (
    PROTOCOLS,
    find_protocol,
    holdout,
    kfold,
    make_splits,
)
from onepeak.data.splits.split import PARTS, split_notes
from onepeak.errors import InputError, UnknownNameError

FINGERPRINTS = {
    "iciar": "3f27dd3a4e47feb6",
    "iciar-code": "91bf8c09daba0532",
    "hci": "a29be5f0b0d30142",
    "hci-code": "d6c607c6f410d33e",
    "fgnet-code": "2bdfd5c2f5b205b4",
    "fgnet-authors": "dd696cfdd3f911b2",
    "fgnet-paper": "04ad8e7635e4f19c",
    "kfold": "941e0c870efe3ed5",
    "kfold by group": "35dadd36c0fd9c08",
    "holdout": "020506e66b030026",
}
NAMES = [record.name for record in PROTOCOLS]


@pytest.fixture(scope="module")
def splittable(images, fgnet_like):
    """Gives a data set that a protocol can split: the same for all but one, which is for FG-NET's persons alone."""
    people = tuple(f"p{item // 3}" for item in range(420))
    genders = tuple("mf"[item // 3 % 2] for item in range(420))
    anything = images(np.arange(420) * 6 // 420, groups=people, strata=genders)
    known = replace(anything, items=replace(anything.items, digests=anything.items.paths))
    return lambda protocol: fgnet_like if protocol == "fgnet-authors" else known


@pytest.mark.parametrize("protocol", NAMES)
def test_a_series_follows_from_its_seed_and_a_shorter_one_is_its_beginning(splittable, protocol):
    anything = splittable(protocol)
    series = make_splits(anything, protocol=protocol, splits=4)
    assert make_splits(anything, protocol=protocol, splits=2) == [run for run in series if run.split < 2]
    first = make_splits(anything, protocol=protocol, splits=4, folds=1)
    assert first == [run for run in series if run.fold == 0]
    assert {(run.protocol, run.seed) for run in series} == {(protocol, 0)}
    [other, *_] = make_splits(anything, protocol=protocol, splits=1, seed=6)
    assert not np.array_equal(other.test, first[0].test)
    # that code draws one test part, and only folds anew
    assert len({run.test.tobytes() for run in first}) == (1 if protocol == "iciar-code" else 4)
    assert len({run.valid.tobytes() for run in first}) == 4


def test_published_series_never_change(fgnet_like, iciar, hci):
    # written down once: if one fails, the splits that people have published with this package no longer come back
    def fingerprint(manifest, protocol):
        runs = make_splits(manifest, protocol=protocol)
        return hashlib.sha256(b"".join(run.test.tobytes() + run.valid.tobytes() for run in runs)).hexdigest()[:16]

    made = {
        (iciar, "paper"): "iciar",
        (iciar, "code"): "iciar-code",
        (hci, "paper"): "hci",
        (hci, "code"): "hci-code",
        (fgnet_like, "code"): "fgnet-code",
        (fgnet_like, "authors"): "fgnet-authors",
        (fgnet_like, "paper"): "fgnet-paper",
        (iciar, "kfold"): "kfold",
        (fgnet_like, "kfold"): "kfold by group",
        (iciar, "holdout"): "holdout",
    }
    assert {name: fingerprint(*data) for data, name in made.items()} == FINGERPRINTS


def test_auto_is_kfold_for_anybody_s_data(images):
    runs = make_splits(images(np.arange(50) % 3))
    assert [run.name for run in runs] == [f"split0-fold{fold}" for fold in range(5)]
    assert {run.protocol for run in runs} == {"kfold"}
    assert {tuple(run.sizes.values()) for run in runs} == {(30, 10, 10)}


def test_auto_falls_back_to_kfold_where_the_set_s_own_protocol_cannot_be_had(images):
    assert find_protocol(images(np.repeat(np.arange(5), 4), name="hci"), "auto").name == "kfold"
    assert find_protocol(images(np.repeat(np.arange(5), 61), name="hci"), "auto").name == "kfold"  # an empty fold
    assert find_protocol(images(np.arange(20), name="fgnet"), "auto").name == "kfold"  # no subjects
    assert find_protocol(images(np.arange(20) % 4, name="afad-lite"), "auto").name == "kfold"  # no gender


def faces_with_copies(root):
    """Ages 18 to 21 of both genders, 12 images each; some images have copies under other ages."""
    copy_of = {"19/111/05": "18/111/03", "21/112/02": "18/111/03", "20/111/07": "18/112/00"}
    for age in range(18, 22):
        for gender in ("111", "112"):
            (root / str(age) / gender).mkdir(parents=True)
            for number in range(12):
                name = f"{age}/{gender}/{number:02}"
                (root / f"{name}.jpg").write_text(copy_of.get(name, name))
    return DataSource("afad-lite", root=root).open()


def test_afad_keeps_the_copies_of_an_image_in_one_part(tmp_path):
    afad = faces_with_copies(tmp_path)
    digests = item_digests(afad.items)
    runs = make_splits(afad, splits=20)
    coded = make_splits(afad, protocol="code", splits=20)
    assert ({run.protocol for run in runs}, {run.protocol for run in coded}) == ({"afad"}, {"afad-code"})
    assert refuse_leaks(afad, runs, digests=digests) == []
    assert any(find_leaks(afad, run, digests=digests) for run in coded)
    with pytest.raises(LeakError, match="keep the copies of an image in one part, give `--protocol afad`"):
        refuse_leaks(afad, coded, digests=digests)
    note = "2 images with exact copies, 5 files in all: the copies of an image are in the part of the first of them"
    assert split_notes(afad, runs)[0] == note
    moved = np.array([afad.items.paths.index(f"{name}.jpg") for name in ("19/111/05", "20/111/07", "21/112/02")])
    for run, as_coded in zip(runs, coded, strict=True):  # only copies change their part
        for part in PARTS:
            assert set(np.setxor1d(run.parts[part], as_coded.parts[part])) <= set(moved)
        assert sum(run.sizes.values()) == len(afad)


def test_without_copies_afad_is_split_as_by_its_code(images):
    cells = np.repeat(np.arange(44), 10)
    genders = tuple("mf"[cell % 2] for cell in cells)
    afad = images(cells // 2, strata=genders, name="afad-lite")
    afad = replace(afad, items=replace(afad.items, digests=afad.items.paths))
    for run, coded in zip(make_splits(afad), make_splits(afad, protocol="code"), strict=True):
        assert replace(run, protocol="afad-code") == coded
        assert run.notes == ("no image has an exact copy",)


def test_splits_of_a_file_are_a_protocol_too(tmp_path, iciar):
    made = make_splits(iciar)
    save_splits(made, iciar, tmp_path / "mine.json")
    file = str(tmp_path / "mine.json")
    assert make_splits(iciar, protocol=file) == made
    assert make_splits(iciar, protocol=file, splits=1, folds=2) == made[:2]
    with pytest.raises(InputError, match=r"`splits` must be at most the 2 in .*mine.json, got 3"):
        make_splits(iciar, protocol=file, splits=3)
    with pytest.raises(InputError, match=r"`folds` must be at most what each split of .*mine.json has, got 6"):
        make_splits(iciar, protocol=file, folds=6)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"protocol": "kfolds"}, r"Unknown protocol 'kfolds'. Did you mean 'kfold'\? .*: auto, paper, code"),
        ({"protocol": "paper"}, r"'paper' is for afad-full, .*, iciar of the paper's data sets, got 'mine'. Use"),
        ({"protocol": "authors"}, r"'authors' is for fgnet of the paper's data sets, got 'mine'. Use"),
        ({"protocol": "iciar", "folds": 6}, r"`folds` must be at most 5 for protocol 'iciar', got 6. More runs"),
        ({"protocol": "holdout", "folds": 2}, r"`folds` must be at most 1 for protocol 'holdout', got 2"),
        ({"folds": 41}, r"`folds` must be at most the number of samples \(40\), got 41"),
        ({"splits": 0}, r"`splits` must be an integer >= 1, got 0"),
        ({"folds": 0}, r"`folds` must be an integer >= 1, got 0"),
        ({"seed": -1}, r"`seed` must be an integer >= 0, got -1"),
        ({"protocol": "nowhere.csv"}, r"nowhere.csv cannot be read: No such file"),
    ],
)
def test_settings_that_cannot_be_are_refused(images, settings, message):
    with pytest.raises(InputError, match=message):
        make_splits(images(np.arange(40) % 4), **settings)


@pytest.mark.bad_input
def test_too_small_a_data_set_is_refused(images):
    with pytest.raises(InputError, match=r"'kfold' cannot split 'mine': at least 3 samples are needed, found 2"):
        make_splits(images([0, 1]))
    with pytest.raises(UnknownNameError):
        find_protocol(images([0, 1]), "none")
    groups = tuple("abc"[item % 3] for item in range(12))
    with pytest.raises(InputError, match=r"`folds` must be at most the number of groups \(3\), got 4"):
        make_splits(images(np.arange(12) % 2, groups=groups), folds=4)


def test_each_of_the_paper_s_sets_has_both_readings_once():
    for dataset in ("iciar", "hci", "fgnet", "afad-lite", "afad-full"):
        readings = [reading for record in PROTOCOLS if dataset in record.datasets for reading in record.readings]
        assert sorted(readings) == (["authors"] if dataset == "fgnet" else []) + ["code", "paper"]


def test_every_recipe_makes_its_number_of_folds_out_of_every_item(images):
    for record in PROTOCOLS:
        people = tuple(f"p{item // 4}" for item in range(700))
        strata = tuple("mf"[item % 2] for item in range(700))
        if record.name == "fgnet-authors":  # for the 82 persons of FG-NET alone
            people = tuple(f"p{item % 82}" for item in range(700))
        name = record.datasets[0] if record.datasets else "mine"
        manifest = images([item // 140 for item in range(700)], groups=people, strata=strata, name=name)
        folds = record.recipe(manifest, seed=0, split=0, folds=record.num_folds)
        assert len(folds) == record.num_folds
        for train, valid, test in folds:
            assert sorted([*train, *valid, *test]) == list(range(700))


def counts(manifest, items):
    return np.bincount(manifest.labels[items], minlength=manifest.num_classes)


@pytest.mark.parametrize("folds", [3, 5, 10])
def test_kfold_tests_on_and_validates_on_every_item_once(images, folds):
    manifest = images(np.arange(203) % 7)
    runs = kfold(manifest, seed=0, split=0, folds=folds)
    assert len(runs) == folds
    assert sorted(np.concatenate([test for _, _, test in runs])) == list(range(203))
    assert sorted(np.concatenate([valid for _, valid, _ in runs])) == list(range(203))
    for parts in runs:
        assert sorted(np.concatenate(parts)) == list(range(203))


@given(st.lists(st.integers(0, 9), min_size=5, max_size=40), st.integers(0, 10**6), st.integers(4, 7))
def test_a_class_of_two_items_or_more_always_has_one_to_train_on(images, labels, seed, folds):
    manifest = images(labels, num_classes=10)
    held = counts(manifest, np.arange(len(manifest)))
    for train, _, _ in kfold(manifest, seed=seed, split=0, folds=min(folds, len(labels))):
        assert np.all(counts(manifest, train)[held >= 2] >= 1)


def test_kfold_keeps_the_share_of_every_stratum_too(images):
    genders = ("f",) * 60 + ("m",) * 40
    manifest = images(np.tile([0, 1], 50), strata=genders)
    for _, _, test in kfold(manifest, seed=0, split=0, folds=5):
        assert sum(genders[item] == "f" for item in test) == 12
        assert counts(manifest, test).tolist() == [10, 10]


def test_groups_stay_in_one_part(fgnet_like):
    for parts in [*kfold(fgnet_like, seed=0, split=0, folds=5), *holdout(fgnet_like, seed=0, split=1, folds=1)]:
        people = [{fgnet_like.groups[item] for item in part} for part in parts]
        assert sum(len(part) for part in people) == len(set.union(*people)) == 82


def test_holdout_takes_a_fifth_and_a_fifth_of_the_rest(images):
    manifest = images(np.repeat([0, 1], 50))
    [(train, valid, test)] = holdout(manifest, seed=0, split=0, folds=1)
    assert counts(manifest, train).tolist() == [32, 32]
    assert counts(manifest, valid).tolist() == [8, 8]
    assert counts(manifest, test).tolist() == [10, 10]


def test_three_groups_are_enough_for_both(images):
    manifest = images([0, 1, 0, 1, 0, 1], groups=("a", "a", "b", "b", "c", "c"))
    for parts in [*holdout(manifest, seed=0, split=0, folds=1), *kfold(manifest, seed=0, split=0, folds=3)]:
        assert [len(part) for part in parts] == [2, 2, 2]
