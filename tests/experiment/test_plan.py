import pytest

from onepeak.errors import InputError
from onepeak.experiment.entries import MethodEntry
from onepeak.experiment.plan import Experiment, network_problems, recipe_problems


def plan(**given):
    return Experiment(**{"name": "mine", "data": "biopsies", "methods": (MethodEntry(name="ce"),), **given})


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"name": "a/b"}, "`name` must consist of letters, digits"),
        ({"data": 3}, "`data` must be text, got 3"),
        ({"root": 3}, "`root` must be text, got 3"),
        ({"order": 3}, "`order` must be the classes, lowest first"),
        ({"decimal": 1}, "`decimal` must be text, got 1"),
        ({"category": "site"}, "`category` must be a list of columns, got 'site'"),
        ({"drop": ("id", 3)}, r"`drop` must be a list of columns, got \('id', 3\)"),
        ({"splits": 0}, "`splits` must be an integer >= 1, got 0"),
        ({"folds": 1.5}, r"`folds` must be an integer >= 1, got 1\.5"),
        ({"seed": -1}, "`seed` must be an integer >= 0, got -1"),
        ({"precision": "fp23"}, "Unknown `precision` 'fp23'"),
        ({"skip_bad": "yes"}, "`skip_bad` must be true or false, got 'yes'"),
        ({"methods": ()}, "`methods` must name at least one method"),
        ({"methods": (MethodEntry(name="ce"), MethodEntry(name="ce"))}, "different labels, got 'ce' twice"),
        ({"methods": (MethodEntry(name="ce"), MethodEntry(name="elb", label="CE"))}, "different labels, got"),
        ({"recipe": {"epoch": 3, "lr": 0}}, r"(?s)recipe\.epoch.*recipe\.lr"),
        ({"network": {"kmx": 3}}, r"Unknown setting 'network\.kmx'\. Did you mean 'network\.kmax'"),
    ],
)
def test_a_wrong_plan_is_refused_before_any_data_is_read(given, message):
    with pytest.raises(InputError, match=message):
        plan(**given)


def test_settings_that_go_together_with_the_preset_are_no_problem():
    assert recipe_problems({"base": "paper", "nesterov": True}) == []  # the paper's optimiser is SGD
    assert recipe_problems({"optimizer": "sgd", "nesterov": True}) == []
    assert recipe_problems({"nesterov": True}) != []
    assert network_problems({"hidden": (8,)}) == network_problems({"backbone": "mlp", "dropout": 0.1}) == []
    assert network_problems({"backbone": "resnet18", "kmax": 0.2}) == []


@pytest.mark.bad_input
def test_problems_are_told_with_their_keys():
    assert recipe_problems(3) == ["recipe: must be a table of settings, got 3."]
    assert network_problems("small") == ["network: must be a table of settings, got 'small'."]
    (problem,) = recipe_problems({"base": "papr"})
    assert problem.startswith("recipe.base: Unknown recipe 'papr'. Did you mean 'paper'?")
    (problem,) = network_problems({"pooling": "average", "kmax": 0.2})
    assert "`kmax` does nothing with pooling='average'" in problem
    (problem,) = network_problems({"backbone": "small", "hidden": (8,)})
    assert "`hidden` does nothing with backbone=" in problem
    (problem,) = network_problems({"num_features": 3})
    assert "Unknown setting 'network.num_features'" in problem
