import json
import math

from onepeak.training.json_text import json_text, numbers


def test_what_json_cannot_write_is_null_and_comes_back_as_nan():
    figures = {"tau": math.nan, "nll": math.inf, "mae": 0.5, "n": 3}
    read = json.loads(json_text({"test": figures, "names": ("a", "b")}), parse_constant=lambda _: 1 / 0)
    assert read == {"test": {"tau": None, "nll": None, "mae": 0.5, "n": 3}, "names": ["a", "b"]}
    back = numbers(read["test"])
    assert math.isnan(back["tau"])
    assert back["mae"] == 0.5
