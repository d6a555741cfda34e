"""Tells stories with a checkpoint, in PyTorch, to listen to a model or to compare a runtime with it.

  python3 sample.py --checkpoint /tmp/kvasir/run.pt --tokenizer ../tokenizer.model \\
      --prompt "Once upon a time" --temperature 0.8 --top-p 0.95 --count 20
  python3 sample.py ... --temperature 0 --rounded --ids

--rounded computes with the weights as they are after Q8_0.
"""

import argparse

import sentencepiece
import torch

import data
import gguf_file as gguf
import model as llama


def load(path: str, rounded: bool) -> llama.Llama:
    checkpoint = torch.load(path, weights_only=True)
    model = llama.Llama(llama.Config(**checkpoint["config"]))
    weights = checkpoint["weights"]
    if rounded:
        for name, weight in weights.items():
            if weight.dim() == 2:
                raw = gguf.quantize_q8_0(weight.numpy())
                weights[name] = torch.from_numpy(gguf.dequantize_q8_0(raw, weight.shape))
    model.load_state_dict(weights)
    return model.eval()


def choose(logits: torch.Tensor, temperature: float, top_p: float) -> int:
    if temperature == 0:
        return int(logits.argmax())
    probabilities, order = (logits / temperature).softmax(-1).sort(descending=True)
    probabilities[probabilities.cumsum(-1) - probabilities > top_p] = 0
    return int(order[torch.multinomial(probabilities, 1)])


@torch.no_grad()
def generate(model, ids: list, stop: set, args) -> list:
    """Continues `ids` without a cache until a stop token, the limit or the end of the context."""
    ids = list(ids)
    for _ in range(min(args.max_tokens, model.config.context - len(ids))):
        token = choose(model(torch.tensor([ids]))[0, -1], args.temperature, args.top_p)
        if token in stop:
            break
        ids.append(token)
    return ids


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--prompt", default="Once upon a time")
    parser.add_argument("--chat", action="store_true", help="the prompt is a user's turn")
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--top-p", type=float, default=0.95)
    parser.add_argument("--max-tokens", type=int, default=400)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounded", action="store_true")
    parser.add_argument("--ids", action="store_true", help="print token ids instead of text")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    tokenizer = sentencepiece.SentencePieceProcessor(model_file=args.tokenizer)
    model = load(args.checkpoint, args.rounded)
    prompt = [data.BOS, *tokenizer.encode(args.prompt)]
    if args.chat:
        turn = data.encode_document({"turns": [{"role": "user", "content": args.prompt}]}, tokenizer)
        prompt = turn[:-1] + [tokenizer.piece_to_id("<|assistant|>")]
    stop = {data.EOS, tokenizer.piece_to_id("<|end|>")}
    for number in range(args.count):
        ids = generate(model, prompt, stop, args)
        print(ids if args.ids else ("\n---\n" if number else "") + tokenizer.decode(ids))


if __name__ == "__main__":
    main()
