import re
from importlib.resources import files

import pytest

from onepeak.serving.inspector.posteriors import PAGE_SIZE
from onepeak.serving.inspector.static_files import plotly_file, static_files

SCRIPTS = sorted(name for name in static_files() if name.endswith(".js"))


def test_every_file_is_served():
    place = files("onepeak.serving.inspector") / "static"
    assert set(static_files()) == {each.name for each in place.iterdir()}


def test_the_charts_script_is_the_one_of_the_package():
    plotly = pytest.importorskip("plotly.offline")
    assert plotly_file().read_text(encoding="utf-8") == plotly.get_plotlyjs()


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_import_only_what_is_there_and_ask_nobody_else(name):
    text = static_files()[name][0].decode()
    assert set(re.findall(r'from "\./([\w.]+)"', text)) <= set(SCRIPTS)
    assert set(re.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org"}  # the name of SVG, which is no address
    assert not re.search(r"\beval\(|new Function|innerHTML|insertAdjacentHTML|document\.write", text)


def test_a_page_of_samples_is_as_long_for_the_browser_as_for_the_server():
    assert f"PAGE_SIZE = {PAGE_SIZE};" in static_files()["address.js"][0].decode()


def test_styles_ask_nobody_else():
    assert not re.search(r"@import|url\(", static_files()["inspector.css"][0].decode())
