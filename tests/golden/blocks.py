#!/usr/bin/env python3
"""Writes blocks/<TYPE>.bin: quantized blocks, and after them what they mean as f32.

The blocks are random bytes from generate.py's hash. Their scales are usual ones in the
first half, extreme ones in the second: the largest f16, the least and the largest
subnormal, zero, and negative ones. The values are gguf-py's.

Run where numpy and gguf are installed: python3 tests/golden/blocks.py
"""
import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants

from generate import HERE, uniform

COUNT = 12
EXTREMES = (0x7BFF, 0x0001, 0x03FF, 0x0000, 0xFBFF, 0x8001)
# Where the f16 scales of a block are. IQ1_M keeps a quarter in each of four places.
SCALES = {"Q4_1": (0, 2), "Q5_1": (0, 2), "Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2),
          "Q6_K": (208,), "TQ1_0": (52,), "TQ2_0": (64,), "MXFP4": (), "IQ1_M": (), "BF16": (), "F16": (), "F32": ()}
TYPES = ("F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ1_S",
         "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS", "TQ1_0", "TQ2_0", "MXFP4")


def scale(block, place):
    """Bits of an f16: a few hundredths, or an extreme one."""
    if block < COUNT - len(EXTREMES):
        return int(np.float16(0.03 * float(uniform(f"scale {place}", COUNT)[block])).view(np.uint16))
    return EXTREMES[(block + place) % len(EXTREMES)]


def put_scales(name, index, block):
    for place, at in enumerate(SCALES.get(name, (0,))):
        block[at:at + 2] = np.frombuffer(np.uint16(scale(index, place)).tobytes(), dtype=np.uint8)
    if name == "IQ1_M":
        words = block[48:56].view(np.uint16)
        words[:] = words & 0xFFF | [(scale(index, 0) >> 4 * i & 15) << 12 for i in range(4)]
    if name == "MXFP4":
        block[0] = (120, 121, 122, 123, 124, 125, 0, 1, 2, 3, 251, 252)[index]
    if name in ("F16", "BF16"):  # an exponent of all ones is no number
        block[1] = block[1] & 0xBF


def blocks(name):
    size = GGML_QUANT_SIZES[GGMLQuantizationType[name]][1]
    random = ((uniform(f"block {name}", COUNT * size).astype(np.float64) + 1) * 128).astype(np.uint8)
    random = random.reshape(COUNT, size)
    for index in range(COUNT):
        put_scales(name, index, random[index])
    return random


def main():
    (HERE / "blocks").mkdir(exist_ok=True)
    for name in TYPES:
        raw = blocks(name)
        values = quants.dequantize(raw, GGMLQuantizationType[name]).astype("<f4")
        assert np.isfinite(values).all(), name
        (HERE / "blocks" / f"{name}.bin").write_bytes(raw.tobytes() + values.tobytes())


if __name__ == "__main__":
    main()
