import json
import shutil
import time
import tomllib
from dataclasses import replace

import pytest

from experiment.tiny import tiny
from onepeak.data import DataSource
from onepeak.errors import InputError
from onepeak.experiment.folder import (
    begin,
    check_folder_path,
    claim,
    config_of,
    forget_failure,
    located,
    read_failure,
    read_result,
    write_failure,
)
from onepeak.experiment.plan import Experiment, MethodEntry, Run, read_plan
from onepeak.experiment.prepared import splits_of
from onepeak.experiment.run_files import CONFIG, failed_runs
from run_folders import write_run


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def prepared_experiment(cache):
    return tiny(cache)


def content_of(folder):
    return tomllib.loads((folder / CONFIG).read_text())


def with_methods(prepared_experiment, *entries):
    return replace(prepared_experiment, experiment=replace(prepared_experiment.experiment, methods=entries))


def test_the_config_says_everything_that_was_chosen_and_found(prepared_experiment, tmp_path):
    begin(tmp_path, prepared_experiment, command="onepeak compare biopsies")
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


def test_the_config_is_an_experiment_that_can_be_repeated(prepared_experiment, tmp_path):
    begin(tmp_path, prepared_experiment)
    plan = read_plan(tmp_path / CONFIG)
    assert plan.methods == prepared_experiment.experiment.methods
    assert plan.name == "tiny"
    before = (tmp_path / CONFIG).read_bytes()
    begin(tmp_path, replace(prepared_experiment, experiment=plan))  # and it is the same one
    assert (tmp_path / CONFIG).read_bytes() == before
    elsewhere = replace(plan, source=DataSource("biopsies", root="elsewhere"))
    begin(tmp_path, replace(prepared_experiment, experiment=elsewhere))  # wherever the data lie


def test_more_methods_splits_and_commands_are_added_once_and_fewer_take_nothing_away(
    prepared_experiment, cache, tmp_path
):
    begin(tmp_path, prepared_experiment, command="first")
    begin(tmp_path, tiny(cache, "ld", num_splits=3), command="second")
    begin(tmp_path, tiny(cache, "ce", num_splits=1), command="first")
    begin(tmp_path, prepared_experiment)
    config = content_of(tmp_path)
    assert [entry["label"] for entry in config["methods"]] == ["ce", "elb", "ld"]
    assert list(config["record"]["splits"]) == ["split0-fold0", "split1-fold0", "split2-fold0"]
    assert config["record"]["commands"] == ["first", "second"]


@pytest.mark.parametrize("sizes", [[(3, 1), (1, 2)], [(1, 2), (3, 1)], [(3, 1), (1, 2), (2, 1)]])
def test_the_config_repeats_all_splits_and_folds_that_were_asked_for(prepared_experiment, tmp_path, sizes):
    for splits, folds in sizes:
        plan = replace(prepared_experiment.experiment, protocol="kfold", splits=splits, folds=folds)
        begin(
            tmp_path,
            replace(
                prepared_experiment, experiment=plan, splits=splits_of(plan, prepared_experiment.prepared.manifest)
            ),
        )
    again = read_plan(tmp_path / CONFIG)
    assert (again.splits, again.folds) == (3, 2)
    repeated = {split.name for split in splits_of(again, prepared_experiment.prepared.manifest)}
    assert repeated >= content_of(tmp_path)["record"]["splits"].keys()


def test_the_protocols_own_number_of_folds_stays_where_it_is_the_larger(prepared_experiment, tmp_path):
    for splits, folds in ((1, None), (2, 3)):
        plan = replace(prepared_experiment.experiment, protocol="kfold", splits=splits, folds=folds)
        begin(
            tmp_path,
            replace(
                prepared_experiment, experiment=plan, splits=splits_of(plan, prepared_experiment.prepared.manifest)
            ),
        )
    again = read_plan(tmp_path / CONFIG)
    assert (again.splits, again.folds) == (2, None)


@pytest.mark.bad_input
def test_another_experiment_is_refused_and_every_difference_named(prepared_experiment, tmp_path):
    begin(tmp_path, prepared_experiment)
    other = replace(
        with_methods(
            prepared_experiment, MethodEntry(name="ce"), MethodEntry(name="elb", settings={"t": 2.0}, label="elb")
        ),
        recipe=replace(prepared_experiment.recipe, epochs=9, clip_norm=1.0),
        network=replace(prepared_experiment.network, pooling="average"),
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
def test_other_data_splits_seeds_and_weights_are_told_apart(prepared_experiment, cache, tmp_path):
    begin(tmp_path, prepared_experiment)
    labels = prepared_experiment.prepared.manifest.labels.copy()
    labels[0] += 1
    manifest = replace(prepared_experiment.prepared.manifest, labels=labels)
    changed = replace(prepared_experiment, prepared=replace(prepared_experiment.prepared, manifest=manifest))
    with pytest.raises(InputError, match=r"the data differ \(biopsies: its rows, columns or categories differ\)"):
        begin(tmp_path, changed)
    read = replace(prepared_experiment.experiment, source=DataSource("biopsies", category=("site",), skip_bad=True))
    with pytest.raises(
        InputError,
        match=r"differ \(category is not given there and \['site'\] here; skip_bad is not given there and True here\)",
    ):
        begin(tmp_path, replace(changed, experiment=read))
    named = replace(prepared_experiment.prepared, manifest=replace(manifest, name="others"))
    with pytest.raises(InputError, match=r"the data differ \(biopsies there, others here\)"):
        begin(tmp_path, replace(prepared_experiment, prepared=named))
    with pytest.raises(InputError, match=r"the splits differ .*; seed is 0 there and 1 here"):
        begin(tmp_path, tiny(cache, seed=1))
    (tmp_path / "weights.pt").write_bytes(b"weights")
    weighted = replace(prepared_experiment.experiment, weights=str(tmp_path / "weights.pt"))
    with pytest.raises(InputError, match="the weights differ"):
        begin(tmp_path, replace(prepared_experiment, experiment=weighted))


@pytest.mark.bad_input
def test_a_place_that_is_a_file_or_holds_other_things_is_refused(tmp_path):
    check_folder_path(tmp_path / "new" / "folder")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"`--out` must be a folder, got .*, where .*notes\.txt is a file"):
        check_folder_path(tmp_path / "notes.txt" / "run")
    with pytest.raises(InputError, match=r"holds other files \(notes\.txt\): give a new or an empty folder\.$"):
        check_folder_path(tmp_path)


@pytest.mark.bad_input
def test_a_config_of_somebodys_own_makes_no_comparison_of_a_folder(prepared_experiment, tmp_path):
    assert config_of(tmp_path) is config_of(tmp_path / "nowhere") is None
    begin(tmp_path / "begun", prepared_experiment)
    assert config_of(tmp_path / "begun") == tmp_path / "begun" / CONFIG
    (tmp_path / "begun" / "notes.txt").write_text("on my comparison")
    check_folder_path(tmp_path / "begun")
    write_run(tmp_path / "copied", method="ce")  # runs that were copied to a folder are gone on with
    check_folder_path(tmp_path / "copied")
    shutil.rmtree(tmp_path / "copied")
    (tmp_path / CONFIG).write_text('camera = "mine"\n')
    assert config_of(tmp_path) is None
    with pytest.raises(InputError, match=r"holds other files \(begun, config\.toml\)"):
        check_folder_path(tmp_path)


def test_paths_are_made_whole_and_names_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    methods = (MethodEntry(name="ce"),)
    plan = Experiment(
        name="a", source=DataSource("x.csv", root="r", order="o.txt"), methods=methods, protocol="s.csv", weights="w.pt"
    )
    assert located(plan) == replace(
        plan,
        source=DataSource(str(tmp_path / "x.csv"), root=str(tmp_path / "r"), order=str(tmp_path / "o.txt")),
        protocol=str(tmp_path / "s.csv"),
        weights=str(tmp_path / "w.pt"),
    )
    known = Experiment(name="a", source=DataSource("fgnet", order="a,b"), methods=methods, protocol="code")
    assert located(known) == known
    for name in ("theirs", "code"):  # a folder of splits; the name of a protocol stays one beside a folder of that name
        (tmp_path / name).mkdir()
    assert located(replace(known, protocol="theirs")).protocol == str(tmp_path / "theirs")
    assert located(known) == known


RUN = Run(entry=MethodEntry(name="elb", settings={"t": 2}), split=1, fold=0)


def test_a_run_is_claimed_once_and_free_again_afterwards(tmp_path):
    with claim(tmp_path / "run") as first, claim(tmp_path / "run") as second:
        assert (first, second) == (True, False)
    with claim(tmp_path / "run") as again:
        assert again


def test_a_failure_is_kept_with_its_traceback_and_listed_for_the_report(tmp_path):
    folder = RUN.folder(tmp_path)
    folder.mkdir(parents=True)
    assert read_failure(folder) is None
    try:
        raise ValueError("no luck")
    except ValueError as error:
        write_failure(folder, RUN, "It failed.", error=error)
    assert read_failure(folder) == "It failed."
    content = json.loads((folder / "error.json").read_text())
    assert (content["label"], content["split"], content["kind"]) == ("elb-t-2", 1, "ValueError")
    assert "ValueError: no luck" in content["traceback"]
    (failed,) = failed_runs(tmp_path)
    assert (failed.label, failed.name, failed.message) == ("elb-t-2", "split1-fold0", "It failed.")
    forget_failure(folder)
    assert read_failure(folder) is None


@pytest.mark.parametrize("content", ['{"mess', '{"time": 1e12}', "[]", "\xff"])
def test_a_damaged_failure_is_a_failure_whose_reason_cannot_be_read(tmp_path, content):
    (tmp_path / "error.json").write_text(content, encoding="latin-1")
    assert read_failure(tmp_path) == f"the reason cannot be read, as {tmp_path / 'error.json'} is damaged"
    assert read_failure(tmp_path, since=time.time() + 60) is None, "it is tried again"


def test_a_run_without_a_result_has_none_and_a_damaged_one_is_named(tmp_path):
    assert read_result(tmp_path) is None
    (tmp_path / "result.json").write_text('{"value": null, "seconds": 1.5}')
    assert read_result(tmp_path) == {"value": None, "seconds": 1.5}
    (tmp_path / "result.json").write_text('{"label": "el')
    with pytest.raises(InputError, match=r"result\.json is damaged"):
        read_result(tmp_path)


def test_a_failure_before_some_moment_does_not_count_nor_one_in_the_future(tmp_path, monkeypatch):
    now = time.time()
    write_failure(tmp_path, RUN, "It failed.")
    assert read_failure(tmp_path, since=now + 60) is None
    assert read_failure(tmp_path, since=now - 60) == "It failed."
    with monkeypatch.context() as patch:
        patch.setattr("time.time", lambda: now + 1e6)
        write_failure(tmp_path, RUN, "It failed.")
    assert read_failure(tmp_path) == "It failed."
    assert read_failure(tmp_path, since=now) is None
