#!/usr/bin/env python3
"""Writes src/kernels/codebooks.cc: the code books of the IQ types, as gguf-py has them.

An entry is 16 bits, the first element lowest: 8 elements of 2 bits for IQ1 and IQ2, 4
of 4 bits for IQ3; four entries make a number. What the bits mean, coded_blocks.cc says.

Run where gguf is installed: python3 tests/golden/codebooks.py
"""
import pathlib

import numpy as np
from gguf import quants

OUT = pathlib.Path(__file__).resolve().parents[2] / "src/kernels/codebooks.cc"
BOOKS = ("IQ1_S", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S")
PER_LINE = 4


def entries(book):
    book.init_grid()
    values = book.grid.reshape(book.grid_shape)
    codes = np.searchsorted(np.array(book.grid_map, dtype=np.float32), values).astype(np.uint64)
    bits = 16 // book.grid_shape[1]
    return (codes << (bits * np.arange(book.grid_shape[1], dtype=np.uint64))).sum(axis=1)


def array(name):
    packed = entries(getattr(quants, name)).reshape(-1, 4)
    numbers = [sum(int(entry) << (16 * i) for i, entry in enumerate(four)) for four in packed]
    lines = [", ".join(f"0x{number:016x}" for number in numbers[at:at + PER_LINE])
             for at in range(0, len(numbers), PER_LINE)]
    return f"const uint64_t k{name}Book[{len(numbers)}] = {{\n    " + ",\n    ".join(lines) + "};\n"


def main():
    body = "\n".join(array(name) for name in BOOKS)
    OUT.write_text("// Written by tests/golden/codebooks.py.\n"
                   '#include "kernels/codebooks.h"\n\n'
                   "namespace kvasir {\n\n" + body + "\n}  // namespace kvasir\n")


if __name__ == "__main__":
    main()
