#!/usr/bin/env python3
"""Writes the golden logits of one small model an architecture.

The reference is the architecture's own class in transformers, float64, eager
attention; llama.cpp is asked too where a program built from llama_logits.c is
given. A model's description holds the metadata and the tensors that a GGUF file
of it has, so that the tests read both as they would read the file's. The weights
are those of generate.py: a hash of the tensor's name and the element's index.

Run where PyTorch, transformers, numpy and gguf are installed:
    python3 tests/golden/architectures.py [--llama-cpp PROGRAM] [NAME...]
"""
import argparse
import json
import math
import pathlib
import tempfile

import numpy as np
import torch
import transformers

from generate import HERE, POSITIONS, VOCAB, check_against_llama_cpp, save, tensor, uniform

CONTEXT = 4096
GELU_TABLE = 1e-2  # llama.cpp looks GELU up in a table of f16


class Model:
    """A shape, and from it the metadata, the tensors and transformers' model."""

    def __init__(self, arch, hf_class, layers, dim, heads, kv_heads, head_dim, ffn, theta=10000.0, eps=1e-5,
                 context=CONTEXT, rope_dims=None, untied=False, pairs="halves", llama_cpp=1e-4, norms="before",
                 qkv="split", qkv_biases=False, qk_norms=None, feed_forward="split", norm_offset=0.0, experts=0,
                 expert_ffn=0, rope_factors=False, keys=None, options=None):
        # llama_cpp: how much it may differ; None: it does not run such a model.
        self.__dict__.update(locals())
        self.rope_dims = rope_dims or head_dim

    def metadata(self):
        """Key to type and value."""
        numbers = {"context_length": self.context, "embedding_length": self.dim, "block_count": self.layers,
                   "feed_forward_length": self.ffn, "attention.head_count": self.heads,
                   "attention.head_count_kv": self.kv_heads, "attention.key_length": self.head_dim,
                   "attention.value_length": self.head_dim, "rope.dimension_count": self.rope_dims,
                   "rope.freq_base": float(self.theta), "attention.layer_norm_rms_epsilon": self.eps}
        numbers |= self.keys or {}
        kinds = {int: "u32", float: "f32", str: "string"}
        return {f"{self.arch}.{name}": (kinds[type(value)], value) for name, value in numbers.items()}

    def tensors(self):
        """Name to shape, the fastest dimension last; a vector has one."""
        q, kv, dim, ffn = self.heads * self.head_dim, self.kv_heads * self.head_dim, self.dim, self.ffn
        layer = {}
        if self.norms in ("before", "both"):
            layer |= {"attn_norm.weight": (dim,), "ffn_norm.weight": (dim,)}
        if self.norms in ("after", "both"):
            layer |= {"post_attention_norm.weight": (dim,), "post_ffw_norm.weight": (dim,)}
        if self.qkv == "fused":
            layer |= {"attn_qkv.weight": (q + 2 * kv, dim)}
        else:
            layer |= {"attn_q.weight": (q, dim), "attn_k.weight": (kv, dim), "attn_v.weight": (kv, dim)}
        if self.qkv_biases:
            layer |= {"attn_q.bias": (q,), "attn_k.bias": (kv,), "attn_v.bias": (kv,)}
        if self.qk_norms:
            a, b = (self.head_dim, self.head_dim) if self.qk_norms == "heads" else (q, kv)
            layer |= {"attn_q_norm.weight": (a,), "attn_k_norm.weight": (b,)}
        layer |= {"attn_output.weight": (dim, q)}
        if self.experts:
            n, inner = self.experts, self.expert_ffn or ffn
            layer |= {"ffn_gate_inp.weight": (n, dim), "ffn_gate_exps.weight": (n, inner, dim),
                      "ffn_up_exps.weight": (n, inner, dim), "ffn_down_exps.weight": (n, dim, inner)}
        elif self.feed_forward == "fused":
            layer |= {"ffn_up.weight": (2 * ffn, dim), "ffn_down.weight": (dim, ffn)}
        else:
            layer |= {"ffn_gate.weight": (ffn, dim), "ffn_up.weight": (ffn, dim), "ffn_down.weight": (dim, ffn)}
        shapes = {"token_embd.weight": (VOCAB, dim), "output_norm.weight": (dim,)}
        if self.untied:
            shapes |= {"output.weight": (VOCAB, dim)}
        if self.rope_factors:
            shapes |= {f"rope_factors_{kind}.weight": (self.rope_dims // 2,) for kind in ("long", "short")}
        return shapes | {f"blk.{i}.{name}": shape for i in range(self.layers) for name, shape in layer.items()}

    def weights(self):
        def values(name, shape):
            rows = math.prod(shape[:-1]) if len(shape) > 1 else 0
            return tensor(name, rows, shape[-1]).reshape(shape)
        return {name: values(name, shape) for name, shape in self.tensors().items()}

    def reference(self, weights):
        """transformers' model with these weights."""
        options = dict(vocab_size=VOCAB, hidden_size=self.dim, intermediate_size=self.ffn,
                       num_hidden_layers=self.layers, num_attention_heads=self.heads,
                       num_key_value_heads=self.kv_heads, head_dim=self.head_dim, rms_norm_eps=self.eps,
                       max_position_embeddings=self.context, tie_word_embeddings=not self.untied, pad_token_id=0,
                       bos_token_id=1, eos_token_id=2, attn_implementation="eager",
                       rope_parameters={"rope_type": "default", "rope_theta": self.theta})
        given = self.options(weights) if callable(self.options) else self.options or {}
        config_class = getattr(transformers, self.hf_class.replace("ForCausalLM", "Config"), None)
        config_class = config_class if self.arch != "gemma3" else transformers.Gemma3TextConfig
        config = config_class(**options | given)
        config._experts_implementation = "eager"  # which takes float64
        model = getattr(transformers, self.hf_class)(config).eval()
        state = {}
        for name, value in weights.items():
            state |= self.to_state(name, value, weights)
        missing, unexpected = model.load_state_dict(state, strict=False)
        missing = [name for name in missing if name != "lm_head.weight" or self.untied]
        assert not missing and not unexpected, (missing, unexpected)
        model.tie_weights()
        return model.double()

    def to_state(self, name, value, weights):
        outside = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
        parts = {"attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
                 "attn_v": "self_attn.v_proj", "attn_qkv": "self_attn.qkv_proj", "attn_q_norm": "self_attn.q_norm",
                 "attn_k_norm": "self_attn.k_norm", "attn_output": "self_attn.o_proj",
                 "post_attention_norm": "post_attention_layernorm", "post_ffw_norm": "post_feedforward_layernorm",
                 "ffn_norm": "pre_feedforward_layernorm" if self.norms == "both" else "post_attention_layernorm",
                 "ffn_gate": "mlp.gate_proj", "ffn_down": "mlp.down_proj",
                 "ffn_up": "mlp.gate_up_proj" if self.feed_forward == "fused" else "mlp.up_proj",
                 "ffn_gate_inp": "mlp.gate"}
        if name.startswith("rope_factors") or name.endswith("ffn_up_exps.weight"):
            return {}
        if "norm" in name:
            value = value - np.float32(self.norm_offset)
        if not name.startswith("blk."):
            return {outside[name.split(".")[0]] + ".weight": torch.from_numpy(value)}
        _, layer, part, kind = name.split(".")
        prefix = f"model.layers.{layer}."
        if part == "ffn_gate_exps":
            up = weights[name.replace("gate", "up")]
            return {prefix + "mlp.experts.gate_up_proj": torch.from_numpy(np.concatenate([value, up], axis=1))}
        if part == "ffn_down_exps":
            return {prefix + "mlp.experts.down_proj": torch.from_numpy(value)}
        if self.pairs == "adjacent" and part in ("attn_q", "attn_k"):  # to halves, as transformers pairs them
            heads = self.heads if part == "attn_q" else self.kv_heads
            value = value.reshape(heads, self.head_dim // 2, 2, -1).swapaxes(1, 2).reshape(value.shape)
        return {f"{prefix}{parts[part]}.{kind}": torch.from_numpy(np.ascontiguousarray(value))}


def long_rope_keys(context, original):
    return {"rope.scaling.original_context_length": original,
            "rope.scaling.attn_factor": math.sqrt(1 + math.log(context / original) / math.log(original))}


def long_rope_options(original):
    def options(weights):
        return {"original_max_position_embeddings": original, "rope_parameters": {
            "rope_type": "longrope", "rope_theta": 10000.0, "partial_rotary_factor": 0.75,
            "original_max_position_embeddings": original,
            "short_factor": weights["rope_factors_short.weight"].tolist(),
            "long_factor": weights["rope_factors_long.weight"].tolist()}}
    return options


MODELS = {
    # Seven query heads share one of keys.
    "qwen2": Model("qwen2", "Qwen2ForCausalLM", layers=3, dim=70, heads=7, kv_heads=1, head_dim=10, ffn=90,
                   theta=1e6, eps=1e-6, qkv_biases=True),
    "qwen3": Model("qwen3", "Qwen3ForCausalLM", layers=3, dim=50, heads=4, kv_heads=2, head_dim=80, ffn=66,
                   theta=1e6, eps=1e-6, untied=True, qk_norms="heads"),
    "gemma2": Model("gemma2", "Gemma2ForCausalLM", layers=4, dim=40, heads=2, kv_heads=1, head_dim=256, ffn=72,
                    eps=1e-6, llama_cpp=GELU_TABLE, norms="both", norm_offset=1.0,
                    keys={"attention.sliding_window": 19, "attn_logit_softcapping": 4.0,
                          "final_logit_softcapping": 6.0},
                    options=dict(sliding_window=19, attn_logit_softcapping=4.0, final_logit_softcapping=6.0,
                                 query_pre_attn_scalar=256, hidden_activation="gelu_pytorch_tanh")),
    # Its sixth layer sees all.
    "gemma3": Model("gemma3", "Gemma3ForCausalLM", layers=7, dim=44, heads=4, kv_heads=1, head_dim=18, ffn=60,
                    theta=1e6, eps=1e-6, llama_cpp=GELU_TABLE, norms="both", norm_offset=1.0, qk_norms="heads",
                    keys={"attention.sliding_window": 16, "rope.scaling.type": "linear", "rope.scaling.factor": 8.0},
                    options=dict(sliding_window=16, query_pre_attn_scalar=18, hidden_activation="gelu_pytorch_tanh",
                                 rope_parameters={
                                     "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                                     "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}})),
    # Head count of keys: a third of the queries'; a norm over all heads.
    "olmo2": Model("olmo2", "Olmo2ForCausalLM", layers=3, dim=72, heads=6, kv_heads=2, head_dim=12, ffn=52,
                   theta=500000.0, eps=1e-6, untied=True, norms="after", qk_norms="all"),
    "granite": Model("granite", "GraniteForCausalLM", layers=3, dim=60, heads=5, kv_heads=1, head_dim=12, ffn=68,
                     pairs="adjacent",
                     keys={"attention.scale": 0.15, "embedding_scale": 5.0, "residual_scale": 0.3,
                           "logit_scale": 2.5},
                     options=dict(attention_multiplier=0.15, embedding_multiplier=5.0, residual_multiplier=0.3,
                                  logits_scaling=2.5)),
    # Its fourth layer does not rotate.
    "smollm3": Model("smollm3", "SmolLM3ForCausalLM", layers=5, dim=48, heads=4, kv_heads=2, head_dim=12, ffn=58,
                     theta=5e6, eps=1e-6, pairs="adjacent"),
    "phi3": Model("phi3", "Phi3ForCausalLM", layers=3, dim=80, heads=5, kv_heads=1, head_dim=16, ffn=62,
                  untied=True, qkv="fused", feed_forward="fused"),
    "phi3-window": Model("phi3", "Phi3ForCausalLM", layers=2, dim=80, heads=5, kv_heads=5, head_dim=16, ffn=62,
                         untied=True, qkv="fused", feed_forward="fused", llama_cpp=None,  # which sees all
                         keys={"attention.sliding_window": 21}, options=dict(sliding_window=21)),
    # Twelve of sixteen elements rotate, by one list of factors or the other.
    "phi3-short": Model("phi3", "Phi3ForCausalLM", layers=2, dim=80, heads=5, kv_heads=1, head_dim=16, ffn=62,
                        rope_dims=12, qkv="fused", feed_forward="fused", rope_factors=True,
                        keys=long_rope_keys(CONTEXT, 2048), options=long_rope_options(2048)),
    "phi3-long": Model("phi3", "Phi3ForCausalLM", layers=2, dim=80, heads=5, kv_heads=1, head_dim=16, ffn=62,
                       rope_dims=12, qkv="fused", feed_forward="fused", rope_factors=True,
                       keys=long_rope_keys(CONTEXT, 32), options=long_rope_options(32)),
    "mixtral": Model("llama", "MixtralForCausalLM", layers=3, dim=48, heads=4, kv_heads=2, head_dim=12, ffn=38,
                     theta=1e6, untied=True, pairs="adjacent", experts=5,
                     keys={"expert_count": 5, "expert_used_count": 2},
                     options=dict(num_local_experts=5, num_experts_per_tok=2, sliding_window=None)),
    "qwen3moe": Model("qwen3moe", "Qwen3MoeForCausalLM", layers=3, dim=54, heads=4, kv_heads=1, head_dim=20, ffn=70,
                      theta=1e6, eps=1e-6, untied=True, qk_norms="heads", experts=9, expert_ffn=22,
                      keys={"expert_count": 9, "expert_used_count": 3, "expert_feed_forward_length": 22},
                      options=dict(num_experts=9, num_experts_per_tok=3, moe_intermediate_size=22,
                                   norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[])),
}


def write_gguf(path, model, weights):
    from gguf import GGUFWriter
    writer = GGUFWriter(str(path), model.arch)
    add = {"u32": writer.add_uint32, "f32": writer.add_float32, "string": writer.add_string}
    for key, (kind, value) in model.metadata().items():
        add[kind](key, value)
    writer.add_vocab_size(VOCAB)
    writer.add_tokenizer_model("no_vocab")
    for name, value in weights.items():
        writer.add_tensor(name, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write(name, model, tokens, logits):
    lines = [f"key general.architecture string {model.arch}"]
    lines += [f"key {key} {kind} {value}" for key, (kind, value) in model.metadata().items()]
    lines += [f"tensor {tensor_name} " + " ".join(map(str, reversed(shape)))
              for tensor_name, shape in model.tensors().items()]
    lines += ["tokens " + " ".join(map(str, tokens))]
    (HERE / f"{name}.txt").write_text("\n".join(lines) + "\n")
    save(f"{name}.logits", logits.numpy())


def write_folder(name, model):
    """What transformers saves of the model: its config.json, and names and shapes of the tensors in their order."""
    with tempfile.TemporaryDirectory() as folder:
        model.float().save_pretrained(folder)
        (HERE / f"{name}.config.json").write_bytes((pathlib.Path(folder) / "config.json").read_bytes())
        with open(pathlib.Path(folder) / "model.safetensors", "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    header.pop("__metadata__", None)
    tensors = sorted(header.items(), key=lambda entry: entry[1]["data_offsets"])
    lines = [" ".join([tensor_name, *map(str, entry["shape"])]) for tensor_name, entry in tensors]
    (HERE / f"{name}.tensors.txt").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="some of: " + ", ".join(MODELS))
    parser.add_argument("--llama-cpp", help="a program built from llama_logits.c, to compare with as well")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    tokens = [int(value) for value in (uniform("tokens", POSITIONS).astype(np.float64) + 1) / 2 * VOCAB]
    for name in arguments.names or MODELS:
        model = MODELS[name]
        weights = model.weights()
        reference = model.reference(weights)
        with torch.no_grad():
            logits = reference(torch.tensor([tokens])).logits[0].double()
        write(name, model, tokens, logits)
        write_folder(name, reference)
        report = f"{name}: logits of {logits.min():.1f} to {logits.max():.1f}"
        if arguments.llama_cpp and model.llama_cpp:
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "model.gguf"
                write_gguf(path, model, weights)
                difference = check_against_llama_cpp(arguments.llama_cpp, path, tokens, logits, model.llama_cpp)
                report += f", llama.cpp differs by {difference:.1e}"
        print(report)


if __name__ == "__main__":
    main()
