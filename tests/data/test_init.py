import subprocess
import sys


def test_what_is_not_asked_for_is_not_imported():
    code = "import sys, onepeak.data; print({'torch', 'numpy', 'pandas', 'PIL'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
