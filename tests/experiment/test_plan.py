import tomllib
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import onepeak
from onepeak._core.formats import toml_text
from onepeak.data import DataSource
from onepeak.data.splits import Split
from onepeak.errors import InputError
from onepeak.experiment.plan import (
    PAPER_METHODS,
    Experiment,
    MethodEntry,
    RecipeSource,
    Run,
    entries_from_text,
    grid,
    name_and_settings,
    network_problems,
    plan_content,
    plan_from,
    read_plan,
    read_recipe,
    recipe_problems,
)
from onepeak.methods.catalog import METHODS


def plan(**given):
    of_data = {each.name: given.pop(each.name) for each in fields(DataSource) if each.name in given}
    source = DataSource(**{"data": "biopsies", **of_data})
    return Experiment(**{"name": "mine", "source": source, "methods": (MethodEntry(name="ce"),), **given})


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
    found = [
        *recipe_problems(3),
        *network_problems("small"),
        *recipe_problems({"base": "papr"}),
        *network_problems({"pooling": "average", "kmax": 0.2}),
        *network_problems({"backbone": "small", "hidden": (8,)}),
        *network_problems({"num_features": 3}),
    ]
    assert [problem.key for problem in found] == ["recipe", "network", "recipe.base", "network", "network.hidden", ""]
    assert "'network.num_features'" in str(found[-1])


def test_paper_stands_for_the_seven_methods_of_the_paper_and_all_for_the_catalog():
    found = [entry.label for entry in entries_from_text("paper,slopes")]
    assert found == ["ce", "ren", "ld", "mv", "po", "pn", "elb", "slopes"] == [*PAPER_METHODS, "slopes"]
    assert [entry.label for entry in entries_from_text("all")] == [record.name for record in onepeak.methods()]


def test_variant_and_settings_follow_a_name_and_make_the_label():
    plain, published, read, mixed = entries_from_text(
        "ce, ld:as_published, ren:posterior=slopes, mv+elb:t=2:growth=1.01"
    )
    assert plain == MethodEntry(name="ce", label="ce")
    assert published == MethodEntry(name="ld", variant="as_published", label="ld-as_published")
    assert read == MethodEntry(name="ren", settings={"posterior": "slopes"}, label="ren-posterior-slopes")
    assert mixed.settings == {"t": 2, "growth": 1.01}
    assert mixed.label == "mv+elb-t-2-growth-1.01"


def test_a_setting_without_a_default_may_be_given_with_the_name(monkeypatch):
    def sharp(num_classes, *, sharpness, class_weight=None):
        assert sharpness == 2
        return onepeak.method("ce", num_classes=num_classes, class_weight=class_weight)

    monkeypatch.setattr(METHODS, "_records", dict(METHODS._records))
    METHODS.add(replace(METHODS["ce"], name="sharp", build=sharp))
    (entry,) = entries_from_text("sharp:sharpness=2")
    assert (entry.name, entry.settings) == ("sharp", {"sharpness": 2})
    assert name_and_settings("sharp") == ("sharp", None, {})  # told of where all that is given is known


def test_names_mean_the_entries_that_are_known_and_others_start_from_them():
    known = MethodEntry(name="elb", settings={"t": 4.5, "growth": 1.01}, recipe={"epochs": 80}, label="elb")
    same, other = entries_from_text("elb,elb:t=2", [known])
    assert same is known
    assert other.settings == {"t": 2, "growth": 1.01}
    assert other.recipe == {"epochs": 80}
    assert other.label == "elb-t-2-growth-1.01"


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ebl", "Unknown method 'ebl'. Did you mean 'elb'?"),
        ("ce,,elb", r"`methods` must be comma-separated names, as in ce,elb, got 'ce,,elb'"),
        ("ld:published", "Unknown `variant` 'published'"),
        ("elb:tt=1", "Unknown setting of 'elb' 'tt'. Did you mean 't'?"),
        ("elb:t=0", r"`t` must be a finite number > 0, got 0"),
    ],
)
def test_a_wrong_text_is_refused_before_any_data_is_read(text, message):
    with pytest.raises(InputError, match=message):
        entries_from_text(text)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"label": "../elsewhere"}, r"`label` must be a folder name .*, got '\.\./elsewhere'"),
        ({"label": 3}, "`label` must be a folder name"),
        ({"settings": 3}, "`settings` must be a table, got 3"),
        ({"recipe": {"epoch": 3}}, r"Unknown setting 'recipe\.epoch'\. Did you mean 'recipe\.epochs'\?"),
        ({"recipe": {"lr": -1}}, r"recipe\.lr: `lr` must be a finite number > 0, got -1"),
        ({"recipe": {"resize": {"scale": 0.5}}}, r"`recipe\.resize` must be the same for all methods"),
        ({"recipe": {"bits": 12}}, r"`recipe\.bits` must be the same for all methods"),
    ],
)
def test_a_wrong_entry_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        MethodEntry(name="ce", **given)


def test_a_recipe_is_a_preset_or_a_file_or_the_table_of_an_experiment_and_where_it_was_given_is_told(tmp_path):
    path = tmp_path / "mine.toml"
    for text, prefix, exempt in (
        ('base = "paper"\nepochs = 3', "", ()),
        ('data = "biopsies"\n[recipe]\nbase = "paper"\nepochs = 3', "recipe.", ()),
        # As a comparison's folder has it.
        ('[recipe]\nbase = "paper"\nepochs = 3\n[record]\nitems = 4', "recipe.", ("base", "epochs")),
    ):
        path.write_text(text)
        assert read_recipe(str(path)) == (
            {"base": "paper", "epochs": 3},
            RecipeSource(file=str(path), prefix=prefix, exempt=frozenset(exempt)),
        )
    assert read_recipe("auto") == ({"base": "auto"}, None)
    source = RecipeSource(file="mine.toml", exempt=frozenset({"momentum", "bits"}))
    assert source.changed_by({"bits": 12, "lr": 0.1}) == replace(source, exempt=frozenset({"momentum"}))


@pytest.mark.bad_input
def test_a_file_that_is_not_toml_or_not_there_is_named(tmp_path):
    (tmp_path / "mine.toml").write_text("epochs: 3")
    with pytest.raises(InputError, match=r"mine\.toml must be TOML: .*line 1"):
        read_recipe(str(tmp_path / "mine.toml"))
    (tmp_path / "image.toml").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(InputError, match=r"image\.toml must be TOML"):
        read_recipe(str(tmp_path / "image.toml"))
    with pytest.raises(InputError, match=r"`--recipe` must be auto, paper or a TOML file, got .*gone\.toml: No such"):
        read_recipe(str(tmp_path / "gone.toml"))
    with pytest.raises(InputError, match=r"`--recipe` must be auto, paper or a TOML file, got "):
        read_recipe(str(tmp_path))

    (tmp_path / "mine.toml").write_text('epochs = 2\n[network]\nbackbone = "small"\n')
    with pytest.raises(InputError, match=r"\[network\] is not part of a recipe: use --backbone"):
        read_recipe(str(tmp_path / "mine.toml"))


@pytest.mark.bad_input
def test_what_is_wrong_in_a_file_is_named_with_the_file_and_its_keys(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('epochz = 3\nlr = -1\n[augment]\ncrop = "a"\n')
    with pytest.raises(InputError) as caught:
        read_recipe(str(path))
    unknown, crop, rate = str(caught.value).split("\n")
    assert unknown.startswith(f"{path}: Unknown setting 'epochz'. Did you mean 'epochs'?")
    assert crop == f"{path}: augment.crop: `crop` must be an integer >= 1, got 'a'."
    assert rate == f"{path}: lr: `lr` must be a finite number > 0, got -1."
    path.write_text('[recipe]\nbase = "papr"\n')
    with pytest.raises(InputError, match=r"mine\.toml: recipe\.base: Unknown recipe 'papr'\. Did you mean 'paper'\?"):
        read_recipe(str(path))


def test_the_runs_are_every_method_on_every_split_and_fold_and_lie_where_the_layout_says():
    parts = dict(zip(("train", "valid", "test"), np.arange(3)[:, None], strict=True))
    splits = [Split(**parts, protocol="p", split=split, fold=fold) for split in range(2) for fold in range(2)]
    names = [run.name for run in grid([MethodEntry(name="ce"), MethodEntry(name="elb")], splits)]
    assert names[:4] == ["ce/split0-fold0", "elb/split0-fold0", "ce/split0-fold1", "elb/split0-fold1"]
    assert len(names) == len(set(names)) == 8
    run = Run(entry=MethodEntry(name="ld", variant="as_published"), split=1, fold=2)
    assert run.folder(Path("D")) == Path("D/runs/ld-as_published/split1-fold2")


EXPERIMENTS = Path(__file__).parents[2] / "experiments"
PAPER_SETS = {"iciar": 14, "hci": 14, "fgnet": 13, "afad-lite": 14, "afad-full": 13}
"""Entries of each file: seven methods, and those behind the paper's figures (PO has none from 58 classes on)."""
OURS = ("smooth-slopes", "peak")
"""Further entries of each file, none of them the paper's."""

FULL = """
data = "scans.csv"
root = "scans"
order = ["low", "high"]
label = "stage"
group = "patient"
path = "scan"
category = ["site"]
drop = ["id"]
methods = [
  "ce,elb",
  "ld:as_published",
  { name = "elb", settings = { t = 2.0 }, recipe = { epochs = 3 }, label = "mine" },
]
protocol = "holdout"
splits = 2
seed = 3
weights = "weights.safetensors"
precision = "bf16"
skip_bad = true
allow_leak = true
[recipe]
base = "paper"
epochs = 9
[recipe.augment]
crop = 64
[network]
backbone = "resnet34"
[record]
command = "what was typed once"
"""


@pytest.fixture
def read(tmp_path):
    """Writes an experiment's file and reads it."""

    def write_and_read(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return read_plan(path)

    return write_and_read


def test_everything_can_be_said_in_a_file(read):
    assert read(FULL) == Experiment(
        name="mine",
        source=DataSource(
            "scans.csv",
            root="scans",
            order=("low", "high"),
            label="stage",
            group="patient",
            path="scan",
            category=("site",),
            drop=("id",),
            skip_bad=True,
        ),
        methods=(
            MethodEntry(name="ce"),
            MethodEntry(name="elb"),
            MethodEntry(name="ld", variant="as_published"),
            MethodEntry(name="elb", settings={"t": 2.0}, recipe={"epochs": 3}, label="mine"),
        ),
        protocol="holdout",
        splits=2,
        seed=3,
        weights="weights.safetensors",
        precision="bf16",
        allow_leak=True,
        recipe={"base": "paper", "epochs": 9, "augment": {"crop": 64}},
        network={"backbone": "resnet34"},
    )


def test_what_is_written_is_the_same_experiment_again(read):
    plan = read(FULL)
    written = toml_text(plan_content(plan))
    assert plan_from(tomllib.loads(written), name="other", source="other.toml") == plan


@pytest.mark.bad_input
def test_all_that_is_wrong_is_said_at_once_with_the_file_and_the_dotted_key(read, tmp_path):
    with pytest.raises(InputError) as refused:
        read(
            'date = "fgnet"\nfile = "mine"\nsplits = 0\nroot = 3\n'
            'methods = ["ebl", { name = "elb", settings = { tt = 1 } }, { nam = "ce" }, 3]\n'
            '[recipe]\nbase = "papr"\nepoch = 3\n[recipe.augment]\ncrop = 0\n[network]\nkmx = 3'
        )
    lines = str(refused.value).splitlines()
    assert all(line.startswith(f"{tmp_path / 'mine.toml'}: ") for line in lines)
    said = [line.removeprefix(f"{tmp_path / 'mine.toml'}: ") for line in lines]
    for beginning in (
        "data: must be given",
        "Unknown setting 'date'. Did you mean 'data'?",
        "Unknown setting 'file'.",  # a field of the record that no file can set
        "splits: `splits` must be an integer >= 1, got 0",
        "root: `root` must be text, got 3",
        "methods[0]: Unknown method 'ebl'. Did you mean 'elb'?",
        "methods[1]: Unknown setting of 'elb' 'tt'. Did you mean 't'?",
        "Unknown setting of methods[2] 'nam'. Did you mean 'name'?",
        "methods[3]: must be text such as 'elb', or a table with a name, got 3",
        "recipe.base: Unknown recipe 'papr'. Did you mean 'paper'?",
        "Unknown setting 'recipe.epoch'. Did you mean 'recipe.epochs'?",
        "recipe.augment.crop: `crop` must be an integer >= 1, got 0",
        "Unknown setting 'network.kmx'. Did you mean 'network.kmax'?",
    ):
        assert sum(line.startswith(beginning) for line in said) == 1, (beginning, said)
    assert len(said) == 13


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('data = "biopsies"', r"mine\.toml: methods: must be given"),
        ('data = "biopsies"\nmethods = "ce"', r"mine\.toml: methods: must be a non-empty list of methods"),
        ('data = "biopsies"\nmethods = []', r"mine\.toml: methods: must be a non-empty list of methods"),
        ('data = "biopsies"\nmethods = ["ce", "ce"]', r"mine\.toml: methods: .*different labels, got 'ce' twice"),
        ('data = "biopsies"\nmethods = ["ce"]\nrecipe = 3', r"mine\.toml: recipe: must be a table of settings, got 3"),
        ("data: biopsies", r"mine\.toml must be TOML"),
    ],
)
def test_a_file_that_is_no_experiment_is_refused_with_its_key(read, text, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read(text)
    with pytest.raises(InputError, match=r"The experiment must be a TOML file, got .*gone\.toml: No such file"):
        read_plan(tmp_path / "gone.toml")


@pytest.mark.parametrize("name", PAPER_SETS)
def test_the_papers_files_have_its_seven_methods_and_those_behind_its_figures(name):
    plan = read_plan(EXPERIMENTS / f"{name}-paper.toml")
    assert plan.source.data == name
    assert plan.recipe == {"base": "paper"}
    assert [entry.label for entry in plan.methods[:7]] == list(PAPER_METHODS)
    others = plan.methods[7 : PAPER_SETS[name]]
    assert tuple(entry.label for entry in plan.methods[PAPER_SETS[name] :]) == OURS
    assert all(entry.recipe == {} for entry in plan.methods[PAPER_SETS[name] :])
    assert all(entry.label == f"{entry.name}-as_published" for entry in others)
    assert all(entry.recipe["select"] == "as_published" and entry.recipe["nesterov"] for entry in others)


def test_on_afad_full_alone_elb_starts_higher_and_the_constrained_methods_train_shorter():
    entries = {entry.label: entry for entry in read_plan(EXPERIMENTS / "afad-full-paper.toml").methods}
    for label in ("elb", "elb-as_published"):
        assert entries[label].settings == {"t": 4.5, "growth": 1.01}
        assert entries[label].recipe["epochs"] == entries["pn"].recipe["epochs"] == 80
    assert entries["ce"].recipe == {}
    for name in ("iciar", "hci", "fgnet", "afad-lite"):
        plain = {entry.label: entry for entry in read_plan(EXPERIMENTS / f"{name}-paper.toml").methods}
        assert plain["elb"] == MethodEntry(name="elb")


def test_the_catalog_is_compared_whole_on_five_data_sets():
    names = [record.name for record in onepeak.methods()]
    files = sorted(EXPERIMENTS.glob("catalog-*.toml"))
    assert len(files) == 5
    together = ["smooth-elb", "rps+elb", "smooth-rps+elb"]
    assert all([entry.name for entry in read_plan(path).methods] == [*names, *together] for path in files)


def test_the_demo_is_a_part_of_the_package():
    packaged = Path(onepeak.__file__).parent / "experiment" / "demo.toml"
    assert packaged.read_text() == (EXPERIMENTS / "biopsies-demo.toml").read_text()
