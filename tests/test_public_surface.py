"""What `import onepeak` gives, and what it costs."""

import importlib
import importlib.util
import subprocess
import sys

import pytest

import onepeak
from public_surface import LISTED, surface

PACKAGES = [
    "onepeak.data",
    "onepeak.data.images.store",
    "onepeak.experiment",
    "onepeak.metrics",
    "onepeak.report",
    "onepeak.serving",
]
MODULES = {"onepeak.metrics.catalog", "onepeak.metrics.functional"}
"""The public names of packages that are modules, and meant to be."""


@pytest.mark.parametrize("name", onepeak.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert getattr(onepeak, name).__doc__


@pytest.mark.parametrize("name", onepeak.__all__)
def test_a_name_is_the_same_at_its_first_use_and_later(name):
    assert onepeak.__getattr__(name) is getattr(onepeak, name)


def test_dir_shows_every_public_name():
    assert set(onepeak.__all__) <= set(dir(onepeak))


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'onepeak' has no attribute 'nothing'"):
        onepeak.nothing  # noqa: B018


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_of_a_package_is_there_and_documented(package):
    module = importlib.import_module(package)
    assert [name for name in module.__all__ if not getattr(module, name).__doc__] == []
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize("package", PACKAGES)
def test_no_public_name_of_a_package_is_hidden_by_a_module_of_the_same_name(package):
    """Once imported, the module would be found in place of the function; so none is asked for here."""
    names = {f"{package}.{name}" for name in importlib.import_module(package).__all__}
    assert [name for name in sorted(names - MODULES) if importlib.util.find_spec(name)] == []


def test_what_users_rely_on_is_as_listed():
    """A change needs what CONTRIBUTING says; then `PYTHONPATH=src python tests/public_surface.py` lists it anew."""
    assert surface().splitlines() == LISTED.read_text(encoding="utf-8").splitlines()


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_importing_costs_little_beyond_torch():
    spent = python(
        "import torch, time; start = time.process_time(); import onepeak; onepeak.ELBLoss, onepeak.method; "
        "print(time.process_time() - start)"
    )
    assert float(spent) < 0.3


def test_what_takes_seconds_to_import_comes_when_it_is_needed():
    """One process for all, because torch itself takes seconds."""
    heavy = [
        "torchmetrics",
        "torchvision",
        "timm",
        "sklearn",
        "lightning",
        "scipy",
        "matplotlib",
        "torch._dynamo",
    ]
    loaded = python(
        "import onepeak, sys; print('torch' in sys.modules, len(onepeak.methods()))\n"
        "import onepeak.methods.counts; print(len(onepeak.methods()), onepeak.methods.counts.__name__)\n"
        "import torch, onepeak.metrics.functional, onepeak.metrics.catalog as catalog\n"
        "import onepeak.experiment; onepeak.experiment.holm\n"
        "catalog.METRICS['mae'].range(4)\n"
        "onepeak.method('elb', num_classes=4).loss(torch.randn(2, 4), torch.tensor([0, 3]))\n"
        f"print([name for name in {[*heavy, 'pandas', 'PIL']} if name in sys.modules])\n"
        "import onepeak.cli.train.run, onepeak.cli.compare.run, onepeak.serving.model\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    num_methods = len(onepeak.methods())
    expected = [f"False {num_methods}", f"{num_methods} onepeak.methods.counts", "[]", "[]"]
    assert loaded.splitlines() == expected


def test_what_only_looks_at_data_or_writes_files_does_not_wait_for_torch(tmp_path, monkeypatch):
    (tmp_path / "rows.csv").write_text("\n".join(["size,label", *(f"{row * row},{row % 2}" for row in range(20))]))
    monkeypatch.chdir(tmp_path)
    loaded = python(
        "import sys\nimport onepeak._core.values, onepeak.report.figures.canvas, onepeak.training.out_folder\n"
        "from onepeak.cli import main\n"
        "for command in (['datasets'], ['splits', 'rows.csv']):\n"
        "    sys.argv[1:] = command\n"
        "    try:\n        main()\n    except SystemExit as end:\n        assert not end.code\n"
        "print(['torch' in sys.modules, 'numpy' in sys.modules])"
    )
    assert loaded.splitlines()[-1] == "[False, True]"
