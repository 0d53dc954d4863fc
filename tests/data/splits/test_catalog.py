import pytest

from onepeak.data.splits.catalog import PROTOCOLS


def test_each_of_the_paper_s_sets_has_both_readings_once():
    for dataset in ("iciar", "hci", "fgnet", "afad-lite", "afad-full"):
        readings = [reading for record in PROTOCOLS if dataset in record.datasets for reading in record.readings]
        assert sorted(readings) == ["code", "paper"]


@pytest.mark.parametrize("record", PROTOCOLS, ids=lambda record: record.name)
def test_every_recipe_makes_its_number_of_folds_out_of_every_item(record, pictures):
    people = tuple(f"p{item // 4}" for item in range(700))
    strata = tuple("mf"[item % 2] for item in range(700))
    manifest = pictures([item // 140 for item in range(700)], groups=people, strata=strata)
    assert record.refusal(manifest) is None
    folds = record.recipe(manifest, seed=0, split=0, folds=record.num_folds)
    assert len(folds) == record.num_folds
    for train, valid, test in folds:
        assert sorted([*train, *valid, *test]) == list(range(700))


@pytest.mark.parametrize("record", PROTOCOLS, ids=lambda record: record.name)
def test_every_refusal_is_the_rest_of_a_sentence(record, pictures):
    reason = record.refusal(pictures([0, 1]))
    assert reason
    assert reason[0].islower()
    assert not reason.endswith(".")
