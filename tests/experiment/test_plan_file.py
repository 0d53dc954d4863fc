import tomllib
from pathlib import Path

import pytest

import onepeak
from onepeak._core.formats import toml_text
from onepeak.data import DataSource
from onepeak.errors import InputError
from onepeak.experiment.plan import PAPER_METHODS, Experiment, MethodEntry
from onepeak.experiment.plan_file import plan_content, plan_from, read_plan

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
            'date = "fgnet"\nsplits = 0\nroot = 3\n'
            'methods = ["ebl", { name = "elb", settings = { tt = 1 } }, { nam = "ce" }, 3]\n'
            '[recipe]\nbase = "papr"\nepoch = 3\n[recipe.augment]\ncrop = 0\n[network]\nkmx = 3'
        )
    lines = str(refused.value).splitlines()
    assert all(line.startswith(f"{tmp_path / 'mine.toml'}: ") for line in lines)
    said = [line.removeprefix(f"{tmp_path / 'mine.toml'}: ") for line in lines]
    for beginning in (
        "data: must be given",
        "Unknown setting 'date'. Did you mean 'data'?",
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
    assert len(said) == 12


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
