"""Every kernel becomes code for a GPU, without one: what the interpreter runs need not compile, or not in seconds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton", reason="Triton is not installed")

LONGEST = 400_000
"""Letters of assembly. The largest kernel takes 160,000; one whose layout goes wrong takes millions, and minutes."""


def test_every_kernel_compiles_to_code_of_sensible_length(tmp_path):
    apart = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path)}
    apart.pop("TRITON_INTERPRET", None)
    script = Path(__file__).with_name("compile_kernels.py")
    told = subprocess.run([sys.executable, script], env=apart, capture_output=True, text=True, timeout=120, check=False)
    assert told.returncode == 0, told.stderr
    lengths = json.loads(told.stdout)
    assert len(lengths) == 2
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}
