import subprocess
import sys


def test_what_is_not_asked_for_is_not_imported():
    code = "import sys, onepeak.experiment; onepeak.experiment.holm; print('torchvision' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
