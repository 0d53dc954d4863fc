import re
from pathlib import Path

import pandas as pd
import pytest

import onepeak
from onepeak._home import expanded
from onepeak.data import open_data
from onepeak.data.frame import from_frame
from onepeak.errors import InputError
from onepeak.serving import load, picture_paths
from onepeak.serving.paths import pictures_and_columns

NOBODYS = "~nobody-of-this-name/scans"


def test_a_home_folder_stands_for_its_sign():
    assert expanded("~/scans") == Path.home() / "scans"
    assert expanded(Path("a", "~b")) == Path("a", "~b")


@pytest.mark.bad_input
def test_the_home_of_nobody_is_refused_where_data_pictures_and_models_are_opened(tmp_path):
    (tmp_path / "list.csv").write_text("path\na.png\n")
    frame = pd.DataFrame({"path": ["a.png"], "label": [0]})
    for opened in (
        lambda: open_data(NOBODYS),
        lambda: open_data("hci", root=NOBODYS),
        lambda: from_frame(frame, root=NOBODYS),
        lambda: picture_paths([NOBODYS]),
        lambda: pictures_and_columns([tmp_path / "list.csv"], root=NOBODYS),
        lambda: load(NOBODYS),
    ):
        with pytest.raises(
            InputError, match=re.escape(f"must name an existing home folder, got {NOBODYS}: use the absolute path.")
        ):
            opened()


def test_no_other_module_expands_paths():
    package = Path(onepeak.__file__).parent
    assert [path.name for path in package.rglob("*.py") if ".expanduser(" in path.read_text(encoding="utf-8")] == [
        "_home.py"
    ]
