import numpy as np

from onepeak.cli.comparing import CompareRequest, counted_splits, experiment_of
from onepeak.data.splits import Split


def test_flags_come_before_the_file_and_methods_are_found_in_it(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'data = "afad-full"\nprotocol = "code"\nsplits = 10\n'
        'methods = ["ce", { name = "elb", settings = { t = 4.5 }, label = "elb" }]\n'
        '[recipe]\nbase = "paper"\n[network]\nbackbone = "resnet18"\n'
    )
    request = CompareRequest(
        data=str(plan),
        methods="elb,ld",
        plan={"root": "AFAD", "splits": 2},
        recipe_changes={"epochs": 3},
        network={"pooling": "max"},
    )
    found = experiment_of(request)
    assert [(entry.label, entry.settings) for entry in found.methods] == [("elb", {"t": 4.5}), ("ld", {})]
    assert (found.root, found.splits, found.seed, found.protocol) == ("AFAD", 2, 0, "code")
    assert found.recipe == {"base": "paper", "epochs": 3}
    assert found.network == {"backbone": "resnet18", "pooling": "max"}


def test_the_table_of_a_file_is_found_in_the_root(table, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(f'data = "{table.name}"\nlabel = "grade"\nmethods = ["ce"]\n')
    request = CompareRequest(data=str(plan), plan={"root": str(table.parent)}, recipe_changes={}, network={})
    found = experiment_of(request)
    assert (found.data, found.root) == (str(table), None)


def test_folds_are_not_counted_as_splits():
    def made(*places):
        part = np.arange(1)
        parts = {"train": part, "valid": part + 1, "test": part + 2}
        return [Split(**parts, protocol="kfold", split=split, fold=fold) for split, fold in places]

    assert counted_splits(made((0, 0))) == "1 split"
    assert counted_splits(made((0, 0), (1, 0))) == "2 splits"
    assert counted_splits(made((0, 0), (0, 1), (1, 0), (1, 1))) == "2 splits (4 folds)"
