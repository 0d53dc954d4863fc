import tomllib
from dataclasses import replace

import pytest

from experiment.tiny import tiny
from onepeak.errors import InputError
from onepeak.experiment.config_file import CONFIG
from onepeak.experiment.entries import MethodEntry
from onepeak.experiment.folder import begin, check_place, config_of, located
from onepeak.experiment.opened import splits_of
from onepeak.experiment.plan import Experiment
from onepeak.experiment.plan_file import read_plan
from run_folders import write_run


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def opened(cache):
    return tiny(cache)


def content_of(folder):
    return tomllib.loads((folder / CONFIG).read_text())


def with_methods(opened, *entries):
    return replace(opened, experiment=replace(opened.experiment, methods=entries))


def test_the_config_says_everything_that_was_chosen_and_found(opened, tmp_path):
    begin(tmp_path, opened, command="onepeak compare biopsies")
    config = content_of(tmp_path)
    assert config["recipe"]["epochs"] == 4
    assert config["recipe"]["augment"]["vertical_flip"] is True
    assert config["network"]["backbone"] == "small"
    assert config["seed"] == 0
    record = config["record"]
    assert record["commands"] == ["onepeak compare biopsies"]
    assert record["dataset"] == "biopsies"
    assert record["classes"] == ["g1", "g2", "g3", "g4", "g5", "g6", "g7", "g8"]
    assert record["splits"].keys() == {"split0-fold0", "split1-fold0"}
    assert {"onepeak", "torch", "python"} <= record["versions"].keys()


def test_the_config_is_an_experiment_that_can_be_repeated(opened, tmp_path):
    begin(tmp_path, opened)
    plan = read_plan(tmp_path / CONFIG)
    assert plan.methods == opened.experiment.methods
    assert plan.name == "tiny"
    begin(tmp_path, replace(opened, experiment=plan))  # and it is the same one


def test_the_same_experiment_leaves_the_config_as_it_is(opened, tmp_path):
    begin(tmp_path, opened, command="typed")
    before = (tmp_path / CONFIG).read_bytes()
    begin(tmp_path, opened, command="typed")
    assert (tmp_path / CONFIG).read_bytes() == before


def test_every_command_is_kept_once(opened, cache, tmp_path):
    begin(tmp_path, opened, command="first")
    begin(tmp_path, tiny(cache, "ld"), command="second")
    begin(tmp_path, opened, command="first")
    begin(tmp_path, opened)
    assert content_of(tmp_path)["record"]["commands"] == ["first", "second"]


def test_more_methods_and_splits_are_added_and_fewer_take_nothing_away(opened, cache, tmp_path):
    begin(tmp_path, opened)
    begin(tmp_path, tiny(cache, "ld", num_splits=3))
    begin(tmp_path, tiny(cache, "ce", num_splits=1))
    config = content_of(tmp_path)
    assert [entry["label"] for entry in config["methods"]] == ["ce", "elb", "ld"]
    assert list(config["record"]["splits"]) == ["split0-fold0", "split1-fold0", "split2-fold0"]


@pytest.mark.parametrize("sizes", [[(3, 1), (1, 2)], [(1, 2), (3, 1)], [(3, 1), (1, 2), (2, 1)]])
def test_the_config_repeats_all_splits_and_folds_that_were_asked_for(opened, tmp_path, sizes):
    for splits, folds in sizes:
        plan = replace(opened.experiment, protocol="kfold", splits=splits, folds=folds)
        begin(tmp_path, replace(opened, experiment=plan, splits=splits_of(plan, opened.prepared.manifest)))
    again = read_plan(tmp_path / CONFIG)
    assert (again.splits, again.folds) == (3, 2)
    repeated = {split.name for split in splits_of(again, opened.prepared.manifest)}
    assert repeated >= content_of(tmp_path)["record"]["splits"].keys()


def test_the_protocols_own_number_of_folds_stays_where_it_is_the_larger(opened, tmp_path):
    for splits, folds in ((1, None), (2, 3)):
        plan = replace(opened.experiment, protocol="kfold", splits=splits, folds=folds)
        begin(tmp_path, replace(opened, experiment=plan, splits=splits_of(plan, opened.prepared.manifest)))
    again = read_plan(tmp_path / CONFIG)
    assert (again.splits, again.folds) == (2, None)


def test_data_that_lie_elsewhere_are_the_same_data(opened, tmp_path):
    begin(tmp_path, opened)
    begin(tmp_path, replace(opened, experiment=replace(opened.experiment, root="elsewhere")))


@pytest.mark.bad_input
def test_another_experiment_is_refused_and_every_difference_named(opened, tmp_path):
    begin(tmp_path, opened)
    other = replace(
        with_methods(opened, MethodEntry(name="ce"), MethodEntry(name="elb", settings={"t": 2.0}, label="elb")),
        recipe=replace(opened.recipe, epochs=9, clip_norm=1.0),
        network=replace(opened.network, pooling="average"),
    )
    with pytest.raises(InputError) as refused:
        begin(tmp_path, other)
    for difference in (
        "recipe.epochs is 4 there and 9 here",
        "recipe.clip_norm is not given there and 1.0 here",
        "network.pooling is 'wildcat' there and 'average' here",
        "methods.elb.settings.t is not given there and 2.0 here",
        "Give another folder, or the same settings",
    ):
        assert difference in str(refused.value)
    assert "methods.ce" not in str(refused.value)


@pytest.mark.bad_input
def test_other_data_splits_seeds_and_weights_are_told_apart(opened, cache, tmp_path):
    begin(tmp_path, opened)
    labels = opened.prepared.manifest.labels.copy()
    labels[0] += 1
    manifest = replace(opened.prepared.manifest, labels=labels)
    changed = replace(opened, prepared=replace(opened.prepared, manifest=manifest))
    with pytest.raises(InputError, match=r"the data differ \(biopsies: its rows, columns or categories differ\)"):
        begin(tmp_path, changed)
    read = replace(opened.experiment, category=("site",), skip_bad=True)
    with pytest.raises(
        InputError,
        match=r"differ \(category is not given there and \['site'\] here; skip_bad is not given there and True here\)",
    ):
        begin(tmp_path, replace(changed, experiment=read))
    named = replace(opened.prepared, manifest=replace(manifest, name="others"))
    with pytest.raises(InputError, match=r"the data differ \(biopsies there, others here\)"):
        begin(tmp_path, replace(opened, prepared=named))
    with pytest.raises(InputError, match=r"the splits differ .*; seed is 0 there and 1 here"):
        begin(tmp_path, tiny(cache, seed=1))
    (tmp_path / "weights.pt").write_bytes(b"weights")
    weighted = replace(opened.experiment, weights=str(tmp_path / "weights.pt"))
    with pytest.raises(InputError, match="the weights differ"):
        begin(tmp_path, replace(opened, experiment=weighted))


@pytest.mark.bad_input
def test_a_place_that_is_a_file_or_holds_other_things_is_refused(tmp_path):
    check_place(tmp_path / "new" / "folder")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"`--out` must be a folder, got .*, where .*notes\.txt is a file"):
        check_place(tmp_path / "notes.txt" / "run")
    with pytest.raises(InputError, match=r"holds other files \(notes\.txt\): give a new or an empty folder\.$"):
        check_place(tmp_path)


def test_runs_that_were_copied_to_a_folder_are_gone_on_with(tmp_path):
    write_run(tmp_path, method="ce")
    check_place(tmp_path)


@pytest.mark.bad_input
def test_a_config_of_somebodys_own_makes_no_comparison_of_a_folder(opened, tmp_path):
    begin(tmp_path / "begun", opened)
    (tmp_path / "begun" / "notes.txt").write_text("on my comparison")
    check_place(tmp_path / "begun")
    (tmp_path / CONFIG).write_text('camera = "mine"\n')
    with pytest.raises(InputError, match=r"holds other files \(begun, config\.toml\)"):
        check_place(tmp_path)


def test_paths_are_made_whole_and_names_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    methods = (MethodEntry(name="ce"),)
    plan = Experiment(
        name="a", data="x.csv", methods=methods, root="r", order="o.txt", protocol="s.csv", weights="w.pt"
    )
    assert located(plan) == replace(
        plan,
        data=str(tmp_path / "x.csv"),
        root=str(tmp_path / "r"),
        order=str(tmp_path / "o.txt"),
        protocol=str(tmp_path / "s.csv"),
        weights=str(tmp_path / "w.pt"),
    )
    known = Experiment(name="a", data="fgnet", methods=methods, order="a,b", protocol="code")
    assert located(known) == known


def test_only_the_config_of_a_comparison_makes_a_folder_one(opened, tmp_path):
    assert config_of(tmp_path) is config_of(tmp_path / "nowhere") is None
    (tmp_path / CONFIG).write_text('camera = "mine"\n')  # beside somebody's pictures
    assert config_of(tmp_path) is None
    begin(tmp_path / "begun", opened)
    assert config_of(tmp_path / "begun") == tmp_path / "begun" / CONFIG
