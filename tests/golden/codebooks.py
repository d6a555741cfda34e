#!/usr/bin/env python3
"""Writes src/kernels/codebooks.cc: the code books of the IQ types, as gguf-py has them.

Entries are runs of 8 elements with 3 values (IQ1, IQ2) or of 4 with 8 values (IQ3), read
as numbers of base 3 or 8 whose lowest digit is the first element. They ascend, so that
the steps between them are kept, which gzip makes a third of the numbers.

Run where gguf is installed: python3 tests/golden/codebooks.py
"""
import pathlib

import numpy as np
from gguf import quants

OUT = pathlib.Path(__file__).resolve().parents[2] / "src/kernels/codebooks.cc"
BOOKS = ("IQ1_S", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S")
PER_LINE = 20


def steps(book):
    book.init_grid()
    values = book.grid.reshape(book.grid_shape)
    digits = np.searchsorted(np.array(book.grid_map, dtype=np.float32), values)
    length = book.grid_shape[1]
    base = {8: 3, 4: 8}[length]
    assert digits.max() < base
    numbers = (digits * base ** np.arange(length)).sum(axis=1)
    result = np.diff(numbers, prepend=0)
    assert (result >= 0).all()
    return result


def array(name):
    numbers = steps(getattr(quants, name))
    lines = [", ".join(str(number) for number in numbers[at:at + PER_LINE])
             for at in range(0, len(numbers), PER_LINE)]
    return f"const uint16_t k{name.replace('_', '')}Steps[{len(numbers)}] = {{\n    " + ",\n    ".join(lines) + "};\n"


def main():
    body = "\n".join(array(name) for name in BOOKS)
    OUT.write_text("// Written by tests/golden/codebooks.py.\n// clang-format off\n"
                   '#include "kernels/codebooks.h"\n\n'
                   "namespace kvasir {\n\n" + body + "\n}  // namespace kvasir\n")


if __name__ == "__main__":
    main()
