from dataclasses import replace

import pytest

from onepeak.training.devices import make_fabric
from onepeak.training.prepare import Prepared
from onepeak.training.run_settings import fingerprint
from training.planted import RECIPE, WEIGHTS, settings_of, split_of


@pytest.mark.parametrize(
    ("method", "data", "metric"),
    [
        ("ce", "fgnet", "loss"),
        ("po", "hci", "loss"),
        ("elb", "fgnet", "mae"),
        ("pn", "iciar", "accuracy"),
        ("elb", "hci", "accuracy"),
    ],
)
def test_the_published_code_chooses_the_epoch_differently_for_each_method(method, data, metric):
    settings = settings_of(method, replace(RECIPE, select="as_published"))
    assert settings.selection(data) == metric
    assert settings_of(method, replace(RECIPE, select="rps")).selection(data) == "rps"


def test_whatever_decides_the_outcome_is_in_the_fingerprint(table, split, fabric, tmp_path):
    settings = settings_of()
    one = fingerprint(settings, table, split, fabric)
    assert fingerprint(settings_of(), table, split_of(101), fabric) == one
    weights = tmp_path / "weights"
    weights.write_bytes(b"first")
    started = replace(settings, weights=weights)
    others = [
        fingerprint(replace(settings, seed=1), table, split, fabric),
        fingerprint(replace(settings, method="ce"), table, split, fabric),
        fingerprint(replace(settings, recipe=replace(RECIPE, class_weight=WEIGHTS)), table, split, fabric),
        fingerprint(replace(settings, recipe=replace(RECIPE, momentum=0.8)), table, split, fabric),
        fingerprint(settings, table, replace(split, test=split.test[:-1]), fabric),
        fingerprint(settings, Prepared(manifest=table.manifest, store=None, digests=("other",)), split, fabric),
        fingerprint(settings, table, split, make_fabric(device="cpu", precision="bf16")),
        fingerprint(started, table, split, fabric),
    ]
    moved = tmp_path / "elsewhere"
    moved.write_bytes(b"first")  # where a file lies decides nothing
    assert fingerprint(replace(settings, weights=moved), table, split, fabric) == others[-1]
    weights.write_bytes(b"second")
    others.append(fingerprint(started, table, split, fabric))
    assert len({tuple(each.items()) for each in (one, *others)}) == 10
