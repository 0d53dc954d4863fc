import subprocess
import sys

import pytest

from onepeak.methods.catalog import METHODS

NAMES = [record.name for record in METHODS]

BEFORE = "import onepeak; print(*[record.name for record in onepeak.methods()])"
AFTER = "import onepeak, onepeak.methods.poisson; print(*[record.name for record in onepeak.methods()])"
BOTH = (
    "import onepeak; onepeak.methods(); import onepeak.methods.poisson; "
    "assert onepeak.methods.poisson.Poisson is onepeak.methods.catalog.METHODS['po'].build; "
    "print(*[record.name for record in onepeak.methods()])"
)
FROM = "from onepeak import methods; import onepeak.methods; print(*[record.name for record in methods()])"


@pytest.mark.parametrize("program", [BEFORE, AFTER, BOTH, FROM], ids=["before", "after", "both", "from"])
def test_the_catalog_is_called_by_the_name_of_its_package_whatever_was_imported_first(program):
    run = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == NAMES
