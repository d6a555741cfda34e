"""Writes GGUF files, version 3: metadata, a tensor table, aligned tensor data.

Format: the GGUF specification of the ggml project. Only what this model needs: strings, numbers,
booleans and arrays of them; tensors as F32 or Q8_0.
"""

import struct

import numpy as np

ALIGNMENT = 32
F32, Q8_0 = 0, 8
BLOCK = 32

# value type of the file format and its struct code
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
_CODES = {UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?"}


def _string(text) -> bytes:
    raw = text if isinstance(text, bytes) else text.encode("utf-8")
    return struct.pack("<Q", len(raw)) + raw


def _scalar(kind: int, value) -> bytes:
    return _string(value) if kind == STRING else struct.pack(_CODES[kind], value)


def quantize_q8_0(weights: np.ndarray) -> np.ndarray:
    """Blocks of 32 values along the last axis: an f16 scale, then 32 signed bytes. As raw bytes."""
    blocks = weights.astype(np.float32).reshape(-1, BLOCK)
    scale = np.abs(blocks).max(axis=1, keepdims=True) / np.float32(127)
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    scaled = blocks * inverse
    values = np.trunc(scaled + np.copysign(np.float32(0.5), scaled)).astype(np.int8)
    return np.concatenate((scale.astype(np.float16).view(np.uint8), values.view(np.uint8)), axis=1)


def dequantize_q8_0(raw: np.ndarray, shape) -> np.ndarray:
    scale = np.ascontiguousarray(raw[:, :2]).view(np.float16).astype(np.float32)
    return (np.ascontiguousarray(raw[:, 2:]).view(np.int8) * scale).reshape(shape)


class Writer:
    """Collects metadata and tensors, then writes them in one go."""

    def __init__(self):
        self._pairs = []
        self._tensors = []

    def add(self, key: str, kind: int, value):
        self._pairs.append(_string(key) + struct.pack("<I", kind) + _scalar(kind, value))

    def add_array(self, key: str, kind: int, values):
        head = _string(key) + struct.pack("<IIQ", ARRAY, kind, len(values))
        self._pairs.append(head + b"".join(_scalar(kind, value) for value in values))

    def add_tensor(self, name: str, weights: np.ndarray, kind: int):
        raw = quantize_q8_0(weights) if kind == Q8_0 else weights.astype("<f4")
        self._tensors.append((name, weights.shape, kind, raw.tobytes()))

    def write(self, path: str):
        table, offset = b"", 0
        for name, shape, kind, raw in self._tensors:
            sizes = struct.pack(f"<{len(shape)}Q", *reversed(shape))
            table += _string(name) + struct.pack("<I", len(shape)) + sizes + struct.pack("<IQ", kind, offset)
            offset += len(raw) + -len(raw) % ALIGNMENT
        header = b"GGUF" + struct.pack("<IQQ", 3, len(self._tensors), len(self._pairs))
        head = header + b"".join(self._pairs) + table
        with open(path, "wb") as out:
            out.write(head + bytes(-len(head) % ALIGNMENT))
            for _, _, _, raw in self._tensors:
                out.write(raw + bytes(-len(raw) % ALIGNMENT))
