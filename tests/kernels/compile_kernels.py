"""Makes machine code of every kernel for a GPU, which need not be there, and tells the length of each's assembly."""

import json
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from onepeak.kernels import device

TARGET = GPUTarget("cuda", 90, 32)
TYPES = {
    **dict.fromkeys(("scores", "losses", "gradient", "t_at"), "*fp32"),
    "labels": "*i64",
    **dict.fromkeys(("batch", "classes"), "i32"),
}
"""Of the arguments; all others are numbers."""


def length(kernel, *, warps, **constants):
    types = {name: "constexpr" if name in constants else TYPES.get(name, "fp32") for name in kernel.arg_names}
    # Rows of a multiple of 16 numbers are read several at once, which makes other code than odd rows do.
    divisible = {
        (place,): [["tt.divisibility", 16]]
        for place, (name, kind) in enumerate(types.items())
        if kind.startswith("*") or name == "classes"
    }
    source = ASTSource(fn=kernel, signature=types, constexprs=constants, attrs=divisible)
    return len(triton.compile(source, target=TARGET, options={"num_warps": warps}).asm["ptx"])


def main():
    lengths = {
        f"whole_rows, {kind}": length(device.whole_rows, warps=8, KIND=kind, ROWS=1, COLUMNS=4096) for kind in (0, 1)
    }
    json.dump(lengths, sys.stdout)


if __name__ == "__main__":
    main()
