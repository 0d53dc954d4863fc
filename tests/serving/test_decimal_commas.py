"""Numbers with decimal commas, through what a user of Python calls."""

import numpy as np
import pytest

from onepeak.errors import InputError
from table_models import table_model


@pytest.fixture
def written(tmp_path):
    """Writes a CSV with commas between its cells; gives its path."""

    def write(*rows):
        (tmp_path / "rows.csv").write_text("\n".join(["age,tone,dose", *rows]))
        return tmp_path / "rows.csv"

    return write


def test_a_model_reads_decimal_commas_where_it_is_said_as_its_message_advises(written):
    model, file = table_model("ce"), written('"1,234",pale,"-200,5"', "40,dark,-150")
    with pytest.raises(InputError, match=r"or give --decimal , \(`decimal`\) for a CSV"):
        model.predict(file)
    said = model.predict(file, decimal=",")
    points = model.predict({"age": [1.234, 40], "tone": ["pale", "dark"], "dose": [-200.5, -150]})
    np.testing.assert_array_equal(said.log_probs, points.log_probs)
    assert said.sources == (2, 3)
    assert "read with decimal commas: age, dose (1,234 is 1.234)" in said.notes


def test_a_row_that_cannot_be_answered_stops_it_as_ever(written):
    file = written('"40,5",pale,-200', "big,dark,-150")
    with pytest.raises(
        InputError, match=r"^line 3 of the inputs cannot be answered: `age` must be a number, got 'big'"
    ):
        table_model("ce").predict(str(file), decimal=",")


@pytest.mark.bad_input
def test_what_has_no_decimal_commas_is_refused(model, written):
    with pytest.raises(InputError, match="`decimal` has no effect for inputs that are not a CSV file, got dict"):
        table_model("ce").predict({"age": [40], "tone": ["pale"], "dose": [-200]}, decimal=",")
    with pytest.raises(InputError, match="`decimal` has no effect for an image model: leave it out"):
        model.predict("image.png", decimal=",")
    with pytest.raises(InputError, match=r"`decimal` must be ',' or left out, got ';'"):
        table_model("ce").predict(written("40,pale,-200"), decimal=";")
