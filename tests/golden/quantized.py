#!/usr/bin/env python3
"""Compares quantized models with llama.cpp, an architecture and a type at a time.

Each model of architectures.py, in sizes that every type can hold, is quantized by
llama-quantize (with an importance matrix of ones), and read by Kvasir and by llama.cpp.
The reference is llama.cpp on the same file dequantized to F32 by gguf-py: what the
weights mean, without the rounding of activations. Kvasir's greedy continuation is what
all three read. A pair passes if the least cosine of a row of Kvasir's logits with the
reference's is 0.9995, or no less than llama.cpp's own, and if Kvasir chooses the
reference's token wherever the reference's best two are so far apart that an error as
large as llama.cpp's cannot change their order.

    cc tests/golden/llama_logits.c -o /tmp/llama_logits -lllama -lggml
    cmake --build build/native --target kvasir_logits
    python3 tests/golden/quantized.py --kvasir build/native/tests/golden/kvasir_logits \\
        --llama-cpp /tmp/llama_logits [--types T,T...] [--write] [NAME...]

--write makes mixed-types.gguf and its logits, which the C++ tests read: a model whose
matrices have a type each.
"""
import argparse
import copy
import pathlib
import subprocess
import tempfile

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter, quants

from architectures import MODELS, Model, write_gguf
from generate import HERE, VOCAB, save, uniform

PROMPT, GREEDY = 48, 32
LEAST_COSINE = 0.9995
PURE = ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K_S", "Q4_K_S", "Q5_K_S", "Q6_K", "IQ1_S", "IQ1_M",
        "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS", "TQ1_0", "TQ2_0", "MXFP4_MOE", "F16",
        "BF16")
MIXED = ("Q2_K", "Q3_K_M", "Q4_K_M", "Q5_K_M", "IQ2_M", "IQ3_M")
TENSOR_TYPES = ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "IQ1_S", "IQ1_M", "IQ2_XXS",
                "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS", "TQ1_0", "TQ2_0", "MXFP4", "Q6_K")


def quantizable(model):
    """The same architecture with rows of 256 columns; of experts, all are used, each by its weight: two that are almost
    as likely would make another model of any rounding. (Which are chosen, the vectors of architectures.py show.)"""
    model = copy.copy(model)
    partial = model.rope_dims != model.head_dim
    model.dim, model.ffn, model.heads, model.kv_heads, model.head_dim = 256, 256, 4, 1, 64
    model.rope_dims = 48 if partial else 64
    model.layers = model.layers if model.arch == "gemma3" else min(model.layers, 4)
    if model.expert_ffn:
        model.expert_ffn = 256
        model.keys = model.keys | {"expert_feed_forward_length": 256}
    if model.experts:
        model.keys = model.keys | {"expert_used_count": model.experts}
    return model


def write_importance(path, weights):
    writer = GGUFWriter(str(path), "imatrix")
    writer.add_type("imatrix")
    writer.add_array("imatrix.datasets", ["ones"])
    writer.add_uint32("imatrix.chunk_count", 1)
    writer.add_uint32("imatrix.chunk_size", 1)
    for name, value in weights.items():
        if value.ndim > 1:
            matrices = value.shape[0] if value.ndim == 3 else 1
            writer.add_tensor(f"{name}.in_sum2", np.ones((matrices, value.shape[-1]), dtype=np.float32))
            writer.add_tensor(f"{name}.counts", np.ones((matrices, 1), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def quantize(folder, weights, kind, options):
    write_importance(folder / "imatrix.gguf", weights)
    done = subprocess.run(["llama-quantize", "--imatrix", folder / "imatrix.gguf", *options, folder / "f32.gguf",
                           folder / "quantized.gguf", kind, "1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return folder / "quantized.gguf"


def dequantized(path):
    """Name to values, and the names of the types of the matrices."""
    tensors = GGUFReader(path).tensors
    types = {t.tensor_type.name for t in tensors if len(t.shape) > 1}
    return {t.name: quants.dequantize(t.data, t.tensor_type).reshape(list(reversed(t.shape.tolist())))
            for t in tensors}, types


def llama_logits(program, path, tokens):
    out = path.with_suffix(".llama")
    subprocess.run([program, path, out, *map(str, tokens)], check=True, stderr=subprocess.DEVNULL)
    return np.fromfile(out, dtype="<f4").astype(np.float64).reshape(len(tokens), -1)


def kvasir_logits(program, path, tokens, greedy):
    out = path.with_suffix(".kvasir")
    text = subprocess.run([program, path, out, str(greedy), *map(str, tokens)], check=True, capture_output=True,
                          text=True).stdout
    tokens = [int(token) for token in text.split()]
    return tokens, np.fromfile(out, dtype="<f4").astype(np.float64).reshape(len(tokens), -1)


def cosine(a, b):
    """The least of the rows."""
    return ((a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))).min()


def compare(arguments, model, folder, path):
    """What the file gives: see the docstring above."""
    tokens = [int(value) for value in (uniform("tokens", PROMPT).astype(np.float64) + 1) / 2 * VOCAB]
    tokens, ours = kvasir_logits(arguments.kvasir, path, tokens, GREEDY)
    theirs = llama_logits(arguments.llama_cpp, path, tokens)
    values, types = dequantized(path)
    write_gguf(folder / "dequantized.gguf", model, values)
    exact = llama_logits(arguments.llama_cpp, folder / "dequantized.gguf", tokens)
    best = np.sort(exact, axis=1)
    clear = best[:, -1] - best[:, -2] > 2 * np.abs(theirs - exact).max(axis=1)
    differ = int((ours.argmax(1) != exact.argmax(1))[clear].sum())
    return {"types": types, "tokens": tokens, "exact": exact, "ours": cosine(ours, exact),
            "theirs": cosine(theirs, exact), "clear": int(clear[-GREEDY:].sum()), "differ": differ,
            "passes": cosine(ours, exact) >= min(LEAST_COSINE, cosine(theirs, exact)) and differ == 0}


def run_pairs(arguments):
    kinds = [(kind, ["--pure"]) for kind in PURE] + [(kind, []) for kind in MIXED]
    wanted = arguments.types.split(",") if arguments.types else None
    failed = 0
    print("| model | quantized to | tensor types | cosine | llama.cpp's | clear tokens | other tokens |")
    print("|---|---|---|---|---|---|---|")
    for name in arguments.names or [name for name in MODELS if MODELS[name].llama_cpp]:
        model = quantizable(MODELS[name])
        weights = model.weights()
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            write_gguf(folder / "f32.gguf", model, weights)
            for kind, options in kinds:
                if wanted and kind not in wanted:
                    continue
                result = compare(arguments, model, folder, quantize(folder, weights, kind, options))
                failed += not result["passes"]
                label = kind if options else kind + ", mixed"
                print(f"| {name} | {label} | {' '.join(sorted(result['types']))} | {result['ours']:.6f} | "
                      f"{result['theirs']:.6f} | {result['clear']} of {GREEDY} | {result['differ']} |"
                      f"{'' if result['passes'] else ' FAILED'}", flush=True)
    print(f"{failed} failed")
    return failed


def write_mixed(arguments):
    """Three layers, whose 21 matrices have the types in turn."""
    model = Model("llama", "LlamaForCausalLM", layers=3, dim=256, heads=4, kv_heads=1, head_dim=64, ffn=256)
    weights = model.weights()
    matrices = [name for name, value in weights.items() if value.ndim > 1 and name.startswith("blk.")]
    options = ["--token-embedding-type", "q8_0"]
    for name, kind in zip(matrices, TENSOR_TYPES, strict=True):
        options += ["--tensor-type", f"{name.replace('.', chr(92) + '.')}={kind.lower()}"]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_gguf(folder / "f32.gguf", model, weights)
        path = quantize(folder, weights, "Q4_0", options)
        result = compare(arguments, model, folder, path)
        assert result["types"] == {*TENSOR_TYPES, "Q8_0"}, result["types"]
        print(f"mixed-types: cosine {result['ours']:.6f}, llama.cpp's {result['theirs']:.6f}, "
              f"{result['differ']} other tokens")
        assert result["passes"]
        (HERE / "mixed-types.gguf").write_bytes(path.read_bytes())
        (HERE / "mixed-types.txt").write_text("tokens " + " ".join(map(str, result["tokens"])) + "\n")
        save("mixed-types.logits", result["exact"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="some of: " + ", ".join(MODELS))
    parser.add_argument("--kvasir", required=True, help="the program built from kvasir_logits.cc")
    parser.add_argument("--llama-cpp", required=True, help="the program built from llama_logits.c")
    parser.add_argument("--types", help="only these of " + ",".join({*PURE, *MIXED}))
    parser.add_argument("--write", action="store_true", help="write mixed-types.gguf instead")
    arguments = parser.parse_args()
    if arguments.write:
        return write_mixed(arguments)
    raise SystemExit(1 if run_pairs(arguments) else 0)


if __name__ == "__main__":
    main()
