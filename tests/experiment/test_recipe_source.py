import pytest

from onepeak.errors import InputError
from onepeak.experiment.recipe_source import RecipeSource, read_recipe


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


def test_what_came_by_flags_is_not_exempt():
    source = RecipeSource(file="mine.toml", exempt=frozenset({"momentum", "bits"}))
    assert source.changed_by({"bits": 12, "lr": 0.1}) == RecipeSource(file="mine.toml", exempt=frozenset({"momentum"}))


@pytest.mark.bad_input
def test_a_file_that_is_not_toml_or_not_there_is_named(tmp_path):
    (tmp_path / "mine.toml").write_text("epochs: 3")
    with pytest.raises(InputError, match=r"mine\.toml must be TOML: .*line 1"):
        read_recipe(str(tmp_path / "mine.toml"))
    (tmp_path / "picture.toml").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(InputError, match=r"picture\.toml must be TOML"):
        read_recipe(str(tmp_path / "picture.toml"))
    with pytest.raises(InputError, match=r"`--recipe` must be auto, paper or a TOML file, got .*gone\.toml: No such"):
        read_recipe(str(tmp_path / "gone.toml"))
    with pytest.raises(InputError, match=r"`--recipe` must be auto, paper or a TOML file, got "):
        read_recipe(str(tmp_path))


@pytest.mark.bad_input
def test_a_network_in_a_recipe_is_told_where_it_belongs(tmp_path):
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
