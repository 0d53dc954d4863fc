import subprocess
import sys

import pytest

from onepeak import metrics


def test_the_functions_and_the_records_come_without_torchmetrics():
    script = (
        "import sys, onepeak.metrics.functional, onepeak.metrics.catalog as catalog;"
        "catalog.METRICS['mae'].range(4);"
        "sys.exit('torchmetrics' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_wrong_name_is_no_attribute():
    with pytest.raises(AttributeError, match=r"module 'onepeak\.metrics' has no attribute 'MeanError'"):
        metrics.MeanError  # noqa: B018
