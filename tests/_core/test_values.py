"""The checks themselves are tested with those of tensors, in test_check; here, what they are apart for."""

import subprocess
import sys


def test_checks_of_plain_values_need_no_torch():
    use = "from onepeak._core.values import check_integer; check_integer('port', 1, minimum=0)"
    code = f"import sys; {use}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
