"""Turns a checkpoint of train.py and the tokenizer into a GGUF file of the `llama` architecture.

  python3 export_gguf.py --checkpoint /tmp/kvasir/run.pt --tokenizer ../tokenizer.model \\
      --out ../kvasir-stories.gguf

Matrices are Q8_0, norms F32. RoPE turns adjacent pairs both here and in that architecture, so
queries and keys go over as they are. The output head is the embedding (no output.weight).
"""

import argparse

import sentencepiece
import torch

import gguf_file as gguf
import model as llama

NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def add_general(writer):
    writer.add("general.architecture", gguf.STRING, "llama")
    writer.add("general.name", gguf.STRING, "Kvasir Stories")
    writer.add("general.description", gguf.STRING,
               "A very small storyteller. Trained from scratch on stories written by a program.")
    writer.add("general.license", gguf.STRING, "CC0-1.0")
    writer.add("general.alignment", gguf.UINT32, gguf.ALIGNMENT)
    writer.add("general.file_type", gguf.UINT32, 7)  # mostly Q8_0
    writer.add("general.quantization_version", gguf.UINT32, 2)


def add_shape(writer, config: llama.Config):
    for key, value in (
        ("vocab_size", config.vocab_size), ("context_length", config.context),
        ("embedding_length", config.dim), ("block_count", config.layers),
        ("feed_forward_length", config.ffn), ("attention.head_count", config.heads),
        ("attention.head_count_kv", config.kv_heads), ("rope.dimension_count", config.head_dim),
    ):
        writer.add("llama." + key, gguf.UINT32, value)
    writer.add("llama.attention.layer_norm_rms_epsilon", gguf.FLOAT32, config.rms_norm_eps)
    writer.add("llama.rope.freq_base", gguf.FLOAT32, config.rope_theta)


def piece_type(tokenizer, piece: int) -> int:
    if tokenizer.is_unknown(piece):
        return UNKNOWN
    if tokenizer.is_control(piece):
        return CONTROL
    return BYTE if tokenizer.is_byte(piece) else NORMAL


def add_tokenizer(writer, tokenizer):
    pieces = range(tokenizer.vocab_size())
    writer.add("tokenizer.ggml.model", gguf.STRING, "llama")
    writer.add_array("tokenizer.ggml.tokens", gguf.STRING, [tokenizer.id_to_piece(i) for i in pieces])
    writer.add_array("tokenizer.ggml.scores", gguf.FLOAT32, [tokenizer.get_score(i) for i in pieces])
    writer.add_array("tokenizer.ggml.token_type", gguf.INT32, [piece_type(tokenizer, i) for i in pieces])
    for key, piece in (("unknown", tokenizer.unk_id()), ("bos", tokenizer.bos_id()),
                       ("eos", tokenizer.eos_id()), ("eot", tokenizer.piece_to_id("<|end|>"))):
        writer.add(f"tokenizer.ggml.{key}_token_id", gguf.UINT32, piece)
    writer.add("tokenizer.ggml.add_bos_token", gguf.BOOL, True)
    writer.add("tokenizer.ggml.add_eos_token", gguf.BOOL, False)
    writer.add("tokenizer.ggml.add_space_prefix", gguf.BOOL, True)
    writer.add("tokenizer.chat_template", gguf.STRING, CHAT_TEMPLATE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    checkpoint = torch.load(args.checkpoint, weights_only=True)
    writer = gguf.Writer()
    add_general(writer)
    add_shape(writer, llama.Config(**checkpoint["config"]))
    add_tokenizer(writer, sentencepiece.SentencePieceProcessor(model_file=args.tokenizer))
    for name, weights in checkpoint["weights"].items():
        writer.add_tensor(name, weights.numpy(), gguf.Q8_0 if weights.dim() == 2 else gguf.F32)
    writer.write(args.out)


if __name__ == "__main__":
    main()
