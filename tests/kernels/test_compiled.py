"""Every kernel becomes code for a GPU, without one: what the interpreter runs need not compile, or not in seconds."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("triton", reason="Triton is not installed")

LONGEST = 400_000
"""Letters of assembly. The largest kernel takes 160,000; one whose layout goes wrong takes millions, and minutes."""


TYPES = {
    **dict.fromkeys(("scores", "losses", "gradient", "t_at"), "*fp32"),
    "labels": "*i64",
    **dict.fromkeys(("batch", "classes"), "i32"),
}
"""Of the arguments; all others are numbers."""


def length(kernel, *, warps, **constants):
    """The length of the assembly of a kernel for a GPU, which need not be there."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    types = {name: "constexpr" if name in constants else TYPES.get(name, "fp32") for name in kernel.arg_names}
    # Rows of a multiple of 16 numbers are read several at once, which makes other code than odd rows do.
    divisible = {
        (place,): [["tt.divisibility", 16]]
        for place, (name, kind) in enumerate(types.items())
        if kind.startswith("*") or name == "classes"
    }
    source = ASTSource(fn=kernel, signature=types, constexprs=constants, attrs=divisible)
    return len(triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": warps}).asm["ptx"])


def main():
    from onepeak.kernels import device

    lengths = {
        f"whole_rows, {kind}": length(device.whole_rows, warps=8, KIND=kind, ROWS=1, COLUMNS=4096) for kind in (0, 1)
    }
    json.dump(lengths, sys.stdout)


def test_every_kernel_compiles_to_code_of_sensible_length(tmp_path):
    apart = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path)}
    apart.pop("TRITON_INTERPRET", None)
    told = subprocess.run(
        [sys.executable, __file__], env=apart, capture_output=True, text=True, timeout=120, check=False
    )
    assert told.returncode == 0, told.stderr
    lengths = json.loads(told.stdout)
    assert len(lengths) == 2
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


if __name__ == "__main__":
    main()
