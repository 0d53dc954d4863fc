import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onepeak.data.splits.catalog import PROTOCOLS, holdout, kfold, num_units, too_few_units


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
        assert record.refusal(manifest) is None
        folds = record.recipe(manifest, seed=0, split=0, folds=record.num_folds)
        assert len(folds) == record.num_folds
        for train, valid, test in folds:
            assert sorted([*train, *valid, *test]) == list(range(700))


def test_every_refusal_is_the_rest_of_a_sentence(images):
    for record in PROTOCOLS:
        reason = record.refusal(images([0, 1]))
        assert reason
        assert reason[0].islower()
        assert not reason.endswith(".")


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


def test_kfold_keeps_the_share_of_every_class(images):
    manifest = images(np.repeat([0, 1, 2], [100, 50, 25]))
    for train, valid, test in kfold(manifest, seed=3, split=0, folds=5):
        assert counts(manifest, train).tolist() == [60, 30, 15]
        assert counts(manifest, valid).tolist() == counts(manifest, test).tolist() == [20, 10, 5]


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
    assert too_few_units(manifest) is None
    for parts in [*holdout(manifest, seed=0, split=0, folds=1), *kfold(manifest, seed=0, split=0, folds=3)]:
        assert [len(part) for part in parts] == [2, 2, 2]


def test_two_groups_are_too_few_and_the_reason_says_so(images):
    manifest = images([0, 1, 0, 1], groups=("a", "a", "b", "b"))
    assert num_units(manifest) == 2
    assert too_few_units(manifest) == "needs at least 3 groups, because a group must not be in two parts; 'mine' has 2"
    assert too_few_units(images([0, 1])) == "needs at least 3 samples; 'mine' has 2"
