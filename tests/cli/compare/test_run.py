import pytest

from onepeak.cli.compare import run
from onepeak.data.datasets.biopsies import biopsies
from onepeak.data.source import DataSource
from onepeak.errors import InputError
from onepeak.experiment.prepared import checked_recipe


def experiment_of(plan, *, source=(), recipe_changes=(), network=(), plan_changes=(), **more):
    groups = {"source": source, "recipe_changes": recipe_changes, "network": network, "plan": plan_changes}
    return run.experiment_of(str(plan), **{name: dict(given) for name, given in groups.items()}, **more)[0]


def test_flags_come_before_the_file_and_methods_are_found_in_it(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'data = "afad-full"\nprotocol = "code"\nsplits = 10\n'
        'methods = ["ce", { name = "elb", settings = { t = 4.5 }, label = "elb" }]\n'
        '[recipe]\nbase = "paper"\n[network]\nbackbone = "resnet18"\n'
    )
    found = experiment_of(
        plan,
        methods="elb,ld",
        source={"root": "AFAD"},
        plan_changes={"splits": 2},
        recipe_changes={"epochs": 3},
        network={"pooling": "max"},
    )
    assert [(entry.label, entry.settings) for entry in found.methods] == [("elb", {"t": 4.5}), ("ld", {})]
    assert (found.source.root, found.splits, found.seed, found.protocol) == ("AFAD", 2, 0, "code")
    assert found.recipe == {"base": "paper", "epochs": 3}
    assert found.network == {"backbone": "resnet18", "pooling": "max"}


def test_the_table_of_a_file_is_found_in_the_root(table, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(f'data = "{table.name}"\nlabel = "grade"\nmethods = ["ce"]\n')
    assert experiment_of(plan, source={"root": str(table.parent)}).source == DataSource(str(table), label="grade")


def test_settings_of_a_file_may_be_for_methods_that_are_left_out(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'data = "biopsies"\nmethods = ["elb", { name = "ce", recipe = { optimizer = "sgd", lr = 0.1 } }]\n'
        "[recipe]\nlr = 0.01\nmomentum = 0.5\n"
    )
    for methods in (None, "elb", "ce"):
        assert checked_recipe(biopsies(16), experiment_of(plan, methods=methods)).momentum == 0.5
    with pytest.raises(InputError, match=r"`lr` does nothing where every method has its own, got 0\.01: leave it out"):
        checked_recipe(biopsies(16), experiment_of(plan, methods="ce", recipe_changes={"lr": 0.01}))
