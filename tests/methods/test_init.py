import subprocess
import sys

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

# each in a process that has not imported onepeak; torch, which takes seconds, is imported once
EACH_APART = """
import os, sys
import torch
for program in sys.argv[1:]:
    if not os.fork():
        exec(program)
        break
    if os.wait()[1]:
        sys.exit(program)
"""


def test_the_catalog_is_called_by_the_name_of_its_package_whatever_was_imported_first():
    warnings = ["-W", "error", "-W", "ignore:This process:DeprecationWarning"]  # of a fork beside other threads
    programs = [BEFORE, AFTER, BOTH, FROM]
    run = subprocess.run(
        [sys.executable, *warnings, "-c", EACH_APART, *programs], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert [line.split() for line in run.stdout.splitlines()] == [NAMES] * len(programs)
