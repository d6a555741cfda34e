#!/usr/bin/env python3
"""Writes the golden vectors that the C++ tests compare the decoder with.

The reference is an eager Llama forward in PyTorch, float64, written out below
and checked against transformers' own (float32, eager attention) in this script,
and against llama.cpp where a program built from llama_logits.c is given.
Small models have no files: their weights come from a hash of the tensor's name
and the element's index, which the tests compute too.

Run where PyTorch, transformers, numpy and gguf are installed:
    python3 tests/golden/generate.py [--stories PATH/stories260K.gguf] [--llama-cpp PROGRAM]
"""
import argparse
import math
import pathlib
import subprocess
import tempfile

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
VOCAB = 96
POSITIONS = 80


def uniform(name, count):
    """count values in [-1, 1): FNV-1a of the name seeds SplitMix64."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = ((seed ^ byte) * 0x100000001B3) % 2**64
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return ((z >> np.uint64(40)).astype(np.float64) / 2**23 - 1.0).astype(np.float32)


def tensor(name, rows, cols):
    """[rows, cols] in float32; rows 0: a vector of cols."""
    values = uniform(name, max(rows, 1) * cols)
    if rows == 0:
        scale, offset = (0.3, 0.0) if name.endswith("bias") else (0.2, 1.0)
        return values * np.float32(scale) + np.float32(offset)
    scale = 1.0 if name == "token_embd.weight" else math.sqrt(3.0 / cols)
    return values.reshape(rows, cols) * np.float32(scale)


class Config:
    def __init__(self, **values):
        self.layers, self.dim, self.heads, self.kv_heads, self.head_dim, self.ffn = 4, 128, 8, 2, 16, 176
        self.theta, self.eps, self.vocab, self.untied, self.biases = 10000.0, 1e-5, VOCAB, 0, 0
        self.scaling, self.factor, self.original_context = "none", 1.0, 2048
        self.__dict__.update(values)


def weights_of(c):
    q, kv = c.heads * c.head_dim, c.kv_heads * c.head_dim
    shapes = {"token_embd.weight": (c.vocab, c.dim), "output_norm.weight": (0, c.dim)}
    if c.untied:
        shapes["output.weight"] = (c.vocab, c.dim)
    for i in range(c.layers):
        layer = {"attn_norm.weight": (0, c.dim), "attn_q.weight": (q, c.dim), "attn_k.weight": (kv, c.dim),
                 "attn_v.weight": (kv, c.dim), "attn_output.weight": (c.dim, q), "ffn_norm.weight": (0, c.dim),
                 "ffn_gate.weight": (c.ffn, c.dim), "ffn_up.weight": (c.ffn, c.dim), "ffn_down.weight": (c.dim, c.ffn)}
        if c.biases:
            layer |= {"attn_q.bias": (0, q), "attn_k.bias": (0, kv), "attn_v.bias": (0, kv),
                      "attn_output.bias": (0, c.dim)}
        shapes |= {f"blk.{i}.{name}": shape for name, shape in layer.items()}
    return {name: tensor(name, *shape) for name, shape in shapes.items()}


def llama3_divisors(c, low=1.0, high=4.0):
    divisors = []
    for j in range(c.head_dim // 2):
        wavelength = 2 * math.pi * c.theta ** (2 * j / c.head_dim)
        if wavelength < c.original_context / high:
            divisors.append(1.0)
        elif wavelength > c.original_context / low:
            divisors.append(c.factor)
        else:
            smooth = (c.original_context / wavelength - low) / (high - low)
            divisors.append(1 / ((1 - smooth) / c.factor + smooth))
    return np.array(divisors, dtype=np.float32)


def rope_speeds(c):
    """Speeds of the pairs in float32, and the factor of cos and sin."""
    pairs = np.arange(c.head_dim // 2)
    speeds = c.theta ** (-2.0 * pairs / c.head_dim)
    if c.scaling == "linear":
        return (speeds / c.factor).astype(np.float32), 1.0
    if c.scaling == "llama3":
        return (speeds / llama3_divisors(c)).astype(np.float32), 1.0
    if c.scaling == "yarn":
        def pair_of(turns):
            return c.head_dim * math.log(c.original_context / (turns * 2 * math.pi)) / (2 * math.log(c.theta))
        low, high = max(math.floor(pair_of(32)), 0), min(math.ceil(pair_of(1)), c.head_dim - 1)
        keep = 1 - np.clip((pairs - low) / max(high - low, 0.001), 0, 1)
        return (keep * speeds + (1 - keep) * speeds / c.factor).astype(np.float32), 1 + 0.1 * math.log(c.factor)
    return speeds.astype(np.float32), 1.0


def rms_norm(x, weight, eps):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps) * weight


def rotate(x, cos, sin):
    """Adjacent pairs of x [heads, seq, head_dim]."""
    even, odd = x[..., 0::2], x[..., 1::2]
    out = torch.empty_like(x)
    out[..., 0::2], out[..., 1::2] = even * cos - odd * sin, even * sin + odd * cos
    return out


def forward(c, weights, tokens):
    """Logits [seq, vocab], and rotated keys and values [layers, kv_heads, seq, head_dim]."""
    w = {name: torch.from_numpy(np.asarray(value, dtype=np.float64)) for name, value in weights.items()}
    speeds, magnitude = rope_speeds(c)
    seq = len(tokens)
    # The angle is a float32 product, as in every implementation that a model was trained with.
    angles = (np.arange(seq, dtype=np.float32)[:, None] * speeds[None, :]).astype(np.float64)
    cos, sin = torch.from_numpy(np.cos(angles)) * magnitude, torch.from_numpy(np.sin(angles)) * magnitude
    mask = torch.full((seq, seq), -math.inf, dtype=torch.float64).triu(1)
    x = w["token_embd.weight"][tokens]
    keys, values = [], []
    for i in range(c.layers):
        def project(name, rows, x):
            return x @ w[f"blk.{i}.{name}.weight"].T + w.get(f"blk.{i}.{name}.bias", 0)
        def heads(name, count, x):
            return project(name, None, x).view(seq, count, c.head_dim).transpose(0, 1)
        n = rms_norm(x, w[f"blk.{i}.attn_norm.weight"], c.eps)
        q = rotate(heads("attn_q", c.heads, n), cos, sin)
        k = rotate(heads("attn_k", c.kv_heads, n), cos, sin)
        v = heads("attn_v", c.kv_heads, n)
        keys.append(k)
        values.append(v)
        k, v = (t.repeat_interleave(c.heads // c.kv_heads, 0) for t in (k, v))
        scores = q @ k.transpose(1, 2) / math.sqrt(c.head_dim) + mask
        attended = (scores.softmax(-1) @ v).transpose(0, 1).reshape(seq, -1)
        x = x + project("attn_output", None, attended)
        n = rms_norm(x, w[f"blk.{i}.ffn_norm.weight"], c.eps)
        gate = torch.nn.functional.silu(project("ffn_gate", None, n))
        x = x + project("ffn_down", None, gate * project("ffn_up", None, n))
    x = rms_norm(x, w["output_norm.weight"], c.eps)
    logits = x @ w.get("output.weight", w["token_embd.weight"]).T
    return logits, torch.stack(keys), torch.stack(values)


def check_against_transformers(c, weights, tokens, logits):
    from transformers import LlamaConfig, LlamaForCausalLM
    rope = {"rope_type": {"none": "default"}.get(c.scaling, c.scaling), "rope_theta": c.theta}
    if c.scaling != "none":
        rope |= {"factor": c.factor}
    if c.scaling == "llama3":
        rope |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0,
                 "original_max_position_embeddings": c.original_context}
    if c.scaling == "yarn":
        rope |= {"original_max_position_embeddings": c.original_context}
    options = dict(vocab_size=c.vocab, hidden_size=c.dim, intermediate_size=c.ffn, num_hidden_layers=c.layers,
                   num_attention_heads=c.heads, num_key_value_heads=c.kv_heads, head_dim=c.head_dim,
                   rms_norm_eps=c.eps, tie_word_embeddings=not c.untied, attention_bias=bool(c.biases),
                   max_position_embeddings=int(c.original_context * c.factor), attn_implementation="eager")
    try:
        config = LlamaConfig(rope_parameters=rope, **options)
    except TypeError:
        config = LlamaConfig(rope_theta=c.theta, rope_scaling=None if c.scaling == "none" else rope, **options)
    model = LlamaForCausalLM(config).eval()

    def halves(matrix, heads):  # adjacent pairs to halves, as transformers pairs them
        return matrix.reshape(heads, c.head_dim // 2, 2, -1).swapaxes(1, 2).reshape(matrix.shape)
    names = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight",
             "output.weight": "lm_head.weight"}
    parts = {"attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
             "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm",
             "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
    state = {}
    for name, value in weights.items():
        if name.startswith("blk."):
            _, layer, part, kind = name.split(".")
            if part in ("attn_q", "attn_k"):
                value = halves(value, c.heads if part == "attn_q" else c.kv_heads)
            state[f"model.layers.{layer}.{parts[part]}.{kind}"] = torch.from_numpy(np.ascontiguousarray(value))
        else:
            state[names[name]] = torch.from_numpy(value)
    missing = [n for n in model.load_state_dict(state, strict=False).missing_keys if n != "lm_head.weight" or c.untied]
    assert not missing, missing
    model.tie_weights()
    with torch.no_grad():
        theirs = model(torch.tensor([tokens])).logits[0].double()
    difference = (theirs - logits).abs().max().item()
    assert difference < 1e-4, f"transformers differs by {difference}"
    return difference


def write_gguf(path, c, weights):
    """The model as a GGUF file without a vocabulary, for other programs."""
    from gguf import GGUFWriter, RopeScalingType
    writer = GGUFWriter(str(path), "llama")
    writer.add_context_length(int(c.original_context * c.factor))
    writer.add_embedding_length(c.dim)
    writer.add_block_count(c.layers)
    writer.add_feed_forward_length(c.ffn)
    writer.add_head_count(c.heads)
    writer.add_head_count_kv(c.kv_heads)
    writer.add_key_length(c.head_dim)
    writer.add_value_length(c.head_dim)
    writer.add_rope_dimension_count(c.head_dim)
    writer.add_rope_freq_base(c.theta)
    writer.add_layer_norm_rms_eps(c.eps)
    writer.add_vocab_size(c.vocab)
    writer.add_tokenizer_model("no_vocab")
    if c.scaling in ("linear", "yarn"):
        writer.add_rope_scaling_type(RopeScalingType(c.scaling))
        writer.add_rope_scaling_factor(c.factor)
    if c.scaling == "yarn":
        writer.add_rope_scaling_orig_ctx_len(c.original_context)
    if c.scaling == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_divisors(c))
    for name, value in weights.items():
        writer.add_tensor(name, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def check_against_llama_cpp(program, model, tokens, logits, tolerance=1e-4):
    """`program` is built from llama_logits.c, `model` a GGUF file."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "logits"
        subprocess.run([program, model, out, *map(str, tokens)], check=True, stderr=subprocess.DEVNULL)
        theirs = torch.from_numpy(np.fromfile(out, dtype="<f4").astype(np.float64)).view(logits.shape)
    difference = (theirs - logits).abs().max().item()
    assert difference < tolerance, f"llama.cpp differs by {difference}"
    return difference


def check(name, c, weights, tokens, logits, llama_cpp, gguf_file=None):
    report = f"transformers by {check_against_transformers(c, weights, tokens, logits):.1e}"
    if llama_cpp:
        with tempfile.TemporaryDirectory() as folder:
            if gguf_file is None:
                gguf_file = pathlib.Path(folder) / "model.gguf"
                write_gguf(gguf_file, c, weights)
            report += f", from llama.cpp by {check_against_llama_cpp(llama_cpp, gguf_file, tokens, logits):.1e}"
    print(f"{name}: differs at most from {report}")


def save(name, array):
    np.ascontiguousarray(array, dtype="<f4").tofile(HERE / f"{name}.bin")


def write(name, c, tokens, logits, caches=None):
    lines = [f"{key} {value}" for key, value in vars(c).items()] + ["tokens " + " ".join(map(str, tokens))]
    (HERE / f"{name}.txt").write_text("\n".join(lines) + "\n")
    save(f"{name}.logits", logits.numpy())
    if caches:
        save(f"{name}.keys", caches[0].numpy())
        save(f"{name}.values", caches[1].numpy())


def small_models(llama_cpp):
    models = {
        "llama-d16": Config(),
        "llama-d80": Config(head_dim=80),
        "llama-untied-biases-linear": Config(layers=2, untied=1, biases=1, scaling="linear", factor=3.0),
        "llama-llama3-rope": Config(layers=2, head_dim=32, theta=500000.0, scaling="llama3", factor=8.0,
                                    original_context=64),
        "llama-yarn-rope": Config(layers=2, head_dim=32, scaling="yarn", factor=4.0, original_context=32),
    }
    tokens = [int(value) for value in (uniform("tokens", POSITIONS).astype(np.float64) + 1) / 2 * VOCAB]
    for name, c in models.items():
        weights = weights_of(c)
        logits, keys, values = forward(c, weights, tokens)
        check(name, c, weights, tokens, logits, llama_cpp)
        write(name, c, tokens, logits, (keys, values) if name in ("llama-d16", "llama-d80") else None)


def stories(path, llama_cpp):
    from gguf import GGUFReader
    reader = GGUFReader(path)
    weights = {t.name: np.array(t.data, dtype=np.float32).reshape(list(reversed(t.shape.tolist())))
               for t in reader.tensors}
    def number(key):
        return reader.fields[key].parts[-1][0].item()
    c = Config(layers=number("llama.block_count"), dim=number("llama.embedding_length"),
               heads=number("llama.attention.head_count"), kv_heads=number("llama.attention.head_count_kv"),
               head_dim=number("llama.embedding_length") // number("llama.attention.head_count"),
               ffn=number("llama.feed_forward_length"), eps=number("llama.attention.layer_norm_rms_epsilon"),
               vocab=weights["token_embd.weight"].shape[0], untied=int("output.weight" in weights))
    tokens = [1]  # BOS, then greedy
    for _ in range(199):
        tokens.append(int(forward(c, weights, tokens)[0][-1].argmax()))
    logits, _, _ = forward(c, weights, tokens)
    check("stories260k", c, weights, tokens, logits, llama_cpp, path)
    write("stories260k", c, tokens, logits)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stories", help="the real model whose logits to write too")
    parser.add_argument("--llama-cpp", help="a program built from llama_logits.c, to compare with as well")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    small_models(arguments.llama_cpp)
    if arguments.stories:
        stories(arguments.stories, arguments.llama_cpp)
    import transformers
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, numpy {np.__version__}")
