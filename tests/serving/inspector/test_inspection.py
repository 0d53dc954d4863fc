import subprocess
import sys
import threading

import pytest
from starlette.testclient import TestClient

from onepeak.data.datasets.biopsies import GRADES
from onepeak.errors import InputError
from onepeak.serving.http import create_app
from onepeak.serving.inspector import Inspection, inspector_router, open_inspection
from onepeak.serving.inspector.inspection import Filter
from report.whole_runs import write_whole_comparison, write_whole_run
from run_folders import write_comparison


def test_the_first_page_is_ready_without_torch_or_pandas(tmp_path):
    """They take seconds to load, and the first page should not wait for them."""
    write_whole_comparison(tmp_path, {"ce": 1.0, "elb": 0.0})
    code = (
        "import sys; from pathlib import Path; from onepeak.cli.app import app\n"
        "from onepeak.serving.http import create_app, serve_app\n"
        "from onepeak.serving.inspector import inspector_router, open_inspection\n"
        f"shown = open_inspection(Path({str(tmp_path)!r}))\n"
        "create_app(None, extra_routers=[inspector_router(shown)])\n"
        "assert len(shown.overview.rows) == 2\n"
        "print([name for name in ('torch', 'pandas', 'scipy', 'matplotlib', 'plotly') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_samples_are_prepared_while_the_first_page_is_read(tmp_path, monkeypatch):
    write_whole_comparison(tmp_path, {"ce": 1.0, "elb": 0.0})
    shown = open_inspection(tmp_path)
    prepared, times = threading.Event(), []
    monkeypatch.setattr(shown, "prepare", lambda: (times.append(1), Inspection.prepare(shown), prepared.set()))
    app = create_app(None, extra_routers=[inspector_router(shown)])
    with TestClient(app, base_url="http://localhost") as client:
        for _ in range(3):
            assert client.get("/v1/inspect/findings").json() == list(shown.findings)
        assert prepared.wait(timeout=60)
    assert times == [1], "once is enough"
    assert list(shown.posteriors.archive._samples) == ["ce"]


def test_what_cannot_be_prepared_is_told_to_who_asks(tmp_path):
    write_comparison(tmp_path, {"ce": [1.0]})  # without predictions
    shown = open_inspection(tmp_path)
    shown.prepare()
    with pytest.raises(InputError, match="`ce` must have runs whose predictions can be read, got none"):
        shown.posteriors.page(Filter(method="ce"), 1)


def test_findings_are_those_of_the_report(tmp_path):
    write_whole_comparison(tmp_path, {"ce": 1.0, "elb": 0.0})
    found = open_inspection(tmp_path).findings
    assert found[0] == "Too few runs to name a winner (at least 3 needed)."
    assert found[1].startswith("Consistency: with ELB")


def test_parts_come_by_number_not_by_letter(tmp_path):
    write_whole_comparison(tmp_path, {"ce": 0.0}, splits=11)
    assert open_inspection(tmp_path).parts == tuple(f"{split}-0" for split in range(11))


def test_a_run_of_a_comparison_is_shown_with_its_data_and_classes(compared):
    shown = open_inspection(compared / "runs" / "ce" / "split1-fold0")
    assert (shown.posteriors.kind, shown.parts, shown.classes) == ("pictures", ("1-0",), GRADES)


def test_data_that_were_moved_are_found_by_their_root(tmp_path):
    write_whole_run(tmp_path, method="ce")
    (tmp_path / "config.toml").write_text('data = "fgnet"\nroot = "/nowhere"\n')
    assert "nowhere" in open_inspection(tmp_path).posteriors.source.reason
    assert str(tmp_path / "here") in open_inspection(tmp_path, root=str(tmp_path / "here")).posteriors.source.reason


@pytest.mark.bad_input
def test_a_root_has_no_use_for_a_run_that_does_not_say_where_its_data_lay(tmp_path):
    run = write_whole_run(tmp_path, method="ce")
    with pytest.raises(InputError, match=r"`root` has no effect for a single run\. Give `data`"):
        open_inspection(run, root="data")
