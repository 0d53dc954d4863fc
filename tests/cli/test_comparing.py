from onepeak.cli.comparing import CompareRequest, experiment_of


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
