"""The pages on FG-NET are what the committed records say."""

import shutil
import sys
from pathlib import Path

import pytest

import fgnet
from reproduction.images import curves_image
from reproduction.runs import read_runs

ROOT = Path(__file__).parents[2]


def test_the_committed_pages_are_what_the_committed_records_say():
    for path, page in fgnet.pages_of(ROOT).items():
        assert path.read_text(encoding="utf-8") == page, f"{path.name} is old: run python benchmarks/fgnet.py"


def test_every_page_has_something_that_is_made():
    for name in fgnet.PAGES:
        page = (ROOT / name).read_text(encoding="utf-8")
        assert page.count("<!-- made: ") == page.count("<!-- end of made -->") > 0


@pytest.fixture
def checkout(tmp_path, records, write_fgnet_run):
    """What the command needs of a checkout, with records of its own."""
    root = tmp_path / "checkout"
    for name in ("results/fgnet", "results/fgnet-posteriors", "results/fgnet-ld"):
        shutil.copytree(records / "runs", root / name / "runs")
    write_fgnet_run(root / "results/fgnet-1000", "ce", epochs=1000)
    shutil.copytree(ROOT / "experiments", root / "experiments")
    (root / "results/fgnet/explanations.toml").write_text("")
    (root / "docs/pictures").mkdir(parents=True)
    (root / "docs/pictures/fgnet_posteriors.py").write_text("")
    for name in fgnet.PAGES:
        (root / name).write_text("mine\n<!-- made: state -->\nold\n<!-- end of made -->\n")
    return root


def test_one_command_fills_the_pages_and_draws_the_images(checkout, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["fgnet.py", "--root", str(checkout), "--check"])
    with pytest.raises(SystemExit, match=r"Not what the records say: results/fgnet/README\.md, docs/reproduce\.md"):
        fgnet.main()
    assert "old" in (checkout / "docs/paper.md").read_text()
    monkeypatch.setattr(sys, "argv", ["fgnet.py", "--root", str(checkout)])
    fgnet.main()
    assert "pages changed: results/fgnet/README.md, docs/reproduce.md, docs/paper.md" in capsys.readouterr().out
    page = (checkout / "docs/paper.md").read_text()
    assert page.startswith("mine\n")
    assert "corrected 12 of 70" in page
    assert {path.stem for path in checkout.rglob("*.png")} == {"curves", "curves-1000", "tradeoff", "posteriors"}
    whole = curves_image(read_runs(checkout / "results/fgnet-1000"))
    whole.savefig(checkout / "whole.png", dpi=130, metadata={"Software": None})
    assert (checkout / "results/fgnet/curves-1000.png").read_bytes() == (checkout / "whole.png").read_bytes()
    monkeypatch.setattr(sys, "argv", ["fgnet.py", "--root", str(checkout), "--check"])
    with pytest.raises(SystemExit) as stopped:
        fgnet.main()
    assert stopped.value.code == 0


def test_other_methods_have_a_page_once_they_have_runs(checkout, write_fgnet_run):
    page = checkout / fgnet.BEYOND
    for split in range(2):
        for method, mae in (("elb", 5.0), ("ren", 4.0), ("slopes", 3.0)):
            write_fgnet_run(page.parent, method, split, mae=mae)
    assert page not in fgnet.pages_of(checkout)
    names = ("beyond", "beyond-goal", "beyond-elb", "beyond-ren")
    page.write_text("".join(f"<!-- made: {name} -->\n<!-- end of made -->\n" for name in names))
    made = fgnet.pages_of(checkout)[page]
    assert "| slopes | 2 | \N{MINUS SIGN}2.00 |" in made
    assert "| slopes | 2 | \N{MINUS SIGN}1.00 |" in made
