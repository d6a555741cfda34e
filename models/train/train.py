"""Trains the model on the CPU: Muon and AdamW, warm-up, cosine decay, checkpoints, held-out perplexity.

  OPENBLAS_NUM_THREADS=1 python3 train.py --corpus /tmp/kvasir/train.jsonl \\
      --heldout /tmp/kvasir/heldout.jsonl --tokenizer ../tokenizer.model --out /tmp/kvasir/run --minutes 58

Every core runs a process of its own with one thread, and the gradients are averaged: threads inside
the matrix products get in each other's way at this size and are five times slower.
The schedule follows --minutes of wall-clock time, or exactly --steps updates when that is given.
"""

import argparse
import dataclasses
import itertools
import math
import os
import tempfile
import time

import sentencepiece
import torch
import torch.distributed
import torch.multiprocessing
from torch.nn import functional as F

import data
import lexicon
import model as llama
import muon


def loss_of(model, batch) -> torch.Tensor:
    inputs, targets = batch
    return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), ignore_index=data.IGNORED)


def rare_tokens(documents: list, vocab_size: int) -> torch.Tensor:
    """[vocab_size], true for tokens that make up less than 0.3 % of the corpus: names, things, places."""
    counts = torch.bincount(torch.cat(documents).long(), minlength=vocab_size)
    return counts < 0.003 * counts.sum()


def weighted_loss(model, batch, rare: torch.Tensor, weight: float) -> torch.Tensor:
    """The loss with more weight on rare tokens that stood in the story before.

    Who a story is about, and what was lost in it, is a small part of its tokens and most of its sense:
    the weight makes the model learn early to look back for it.
    """
    inputs, targets = batch
    losses = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), ignore_index=data.IGNORED,
                             reduction="none").view_as(targets)
    stood_before = (targets[:, :, None] == inputs[:, None, :]).tril().any(-1)
    weights = 1 + (weight - 1) * (stood_before & rare[targets.clamp(min=0)])
    weights = weights * (targets != data.IGNORED)
    return (losses * weights).sum() / weights.sum()


@torch.no_grad()
def perplexity(model, documents: list) -> float:
    """exp of the mean negative log likelihood of every token after BOS."""
    total, count = 0.0, 0
    for start in range(0, len(documents), 16):
        batch = data.pad(documents[start:start + 16])
        tokens = int((batch[1] != data.IGNORED).sum())
        total += float(loss_of(model, batch)) * tokens
        count += tokens
    return math.exp(total / count)


def learning_rate(progress: float, peak: float) -> float:
    """Warm-up over the first 2 %, then a cosine down to 2 % of the peak."""
    if progress < 0.02:
        return peak * max(progress, 1e-3) / 0.02
    return peak * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1.0, (progress - 0.02) / 0.98))))


def make_optimizers(model, peak: float) -> list:
    """Muon for the matrices of the layers, AdamW for the embedding and the norms."""
    matrices = [p for p in model.blk.parameters() if p.dim() == 2]
    norms = [p for p in model.parameters() if p.dim() == 1]
    return [muon.Muon(matrices, lr=peak),
            torch.optim.AdamW([model.token_embd.weight, *norms], lr=peak, betas=(0.9, 0.98),
                              weight_decay=0.0)]


def save(model, path: str, **notes):
    state = dict(config=dataclasses.asdict(model.config), weights=model.state_dict(), **notes)
    torch.save(state, path + ".new")
    os.replace(path + ".new", path)


def average_gradients(model, processes: int):
    gradients = [p.grad for p in model.parameters()]
    flat = torch.cat([g.flatten() for g in gradients])
    torch.distributed.all_reduce(flat)
    flat /= processes
    for gradient, mean in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
        gradient.copy_(mean.view_as(gradient))


def agree(progress: float) -> float:
    """The first process's clock counts for all."""
    shared = torch.tensor([progress])
    torch.distributed.broadcast(shared, 0)
    return shared.item()


def train(model, documents: list, heldout: list, renaming: data.Renaming, rank: int, args):
    optimizers = make_optimizers(model, args.rate)
    share = args.batch_tokens // args.processes
    stream = data.batches(documents[rank::args.processes], share, args.seed + rank, renaming)
    rare = rare_tokens(documents, model.config.vocab_size)
    begin = last_log = last_save = time.monotonic()
    step, seen, mean, progress = 0, 0, None, 0.0
    while progress < 1.0:
        for group in itertools.chain.from_iterable(o.param_groups for o in optimizers):
            group["lr"] = learning_rate(progress, args.rate)
        batch = next(stream)
        loss = weighted_loss(model, batch, rare, args.repeat_weight)
        model.zero_grad(set_to_none=True)
        loss.backward()
        average_gradients(model, args.processes)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
        step += 1
        seen += int((batch[1] != data.IGNORED).sum()) * args.processes
        mean = loss.item() if mean is None else 0.98 * mean + 0.02 * loss.item()
        now = time.monotonic()
        progress = agree(step / args.steps if args.steps else (now - begin) / (60 * args.minutes))
        if rank:
            continue
        if now - last_log > 30:
            print(f"{progress:6.1%} step {step} tokens {seen} loss {mean:.4f} "
                  f"rate {seen / (now - begin):.0f} tokens/s", flush=True)
            last_log = now
        if now - last_save > 240 or progress >= 1.0:
            score = perplexity(model, heldout)
            save(model, args.out + ".pt", step=step, tokens=seen, loss=mean, perplexity=score)
            print(f"{progress:6.1%} step {step} held-out perplexity {score:.4f}", flush=True)
            last_save = time.monotonic()


def work(rank: int, rendezvous: str, args):
    """One of the processes; all begin with the same weights."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", f"file://{rendezvous}", rank=rank,
                                         world_size=args.processes)
    torch.manual_seed(args.seed)
    tokenizer = sentencepiece.SentencePieceProcessor(model_file=args.tokenizer)
    model = llama.Llama(llama.Config(vocab_size=tokenizer.vocab_size()))
    if args.start:
        model.load_state_dict(torch.load(args.start, weights_only=True)["weights"])
    documents = data.load(args.corpus, tokenizer, model.config.context)
    heldout = data.load(args.heldout, tokenizer, model.config.context)
    if rank == 0:
        print(f"{model.parameter_count()} parameters, {len(documents)} documents, "
              f"{sum(map(len, documents))} tokens, {len(heldout)} held out", flush=True)
    things = [thing for thing, _ in lexicon.THINGS]
    renaming = data.Renaming(tokenizer, lexicon.SHE_NAMES + lexicon.HE_NAMES + things, args.rename)
    train(model, documents, heldout, renaming, rank, args)
    torch.distributed.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--heldout", required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--out", required=True, help="checkpoint path without .pt")
    parser.add_argument("--start", help="checkpoint whose weights are the beginning")
    parser.add_argument("--minutes", type=float, default=58)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--repeat-weight", type=float, default=4.0,
                        help="weight of rare tokens that stood in the document before")
    parser.add_argument("--rename", type=float, default=0.3,
                        help="share of the documents whose names and things become other words")
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(work, (os.path.join(folder, "meet"), args), nprocs=args.processes)


if __name__ == "__main__":
    main()
