import json
import math

import numpy as np

from onepeak.training.json_text import json_text, numbers


def test_what_json_cannot_write_is_null_and_comes_back_as_nan():
    figures = {"tau": math.nan, "nll": math.inf, "mae": 0.5, "n": 3}
    read = json.loads(json_text({"test": figures, "names": ("a", "b")}), parse_constant=lambda _: 1 / 0)
    assert read == {"test": {"tau": None, "nll": None, "mae": 0.5, "n": 3}, "names": ["a", "b"]}
    back = numbers(read["test"])
    assert math.isnan(back["tau"])
    assert back["mae"] == 0.5


def test_numpys_numbers_are_numbers():
    content = {
        "t": np.float32(0.5),
        "k": np.int64(2),
        "weight": np.float64(0.25),
        "none": np.float32("nan"),
        "on": True,
    }
    assert json.loads(json_text(content)) == {"t": 0.5, "k": 2, "weight": 0.25, "none": None, "on": True}
