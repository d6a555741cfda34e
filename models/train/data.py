"""From documents to token ids, and from token ids to batches."""

import json
import random
import re

import torch

BOS, EOS = 1, 2
IGNORED = -100


def encode_document(document: dict, tokenizer) -> list:
    """A story is BOS text EOS; a chat is BOS, then for every turn marker text <|end|>, then EOS.

    Every text is encoded on its own, with its own leading space, as runtimes do after a control token.
    """
    if "text" in document:
        return [BOS, *tokenizer.encode(document["text"]), EOS]
    ids = [BOS]
    for turn in document["turns"]:
        ids += [tokenizer.piece_to_id(f"<|{turn['role']}|>"), *tokenizer.encode(turn["content"]),
                tokenizer.piece_to_id("<|end|>")]
    return [*ids, EOS]


def load(path: str, tokenizer, context: int) -> list:
    """The documents of a corpus that fit the context, as tensors of ids."""
    documents = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            ids = encode_document(json.loads(line), tokenizer)
            if len(ids) <= context:
                documents.append(torch.tensor(ids, dtype=torch.int16))
    return documents


class Renaming:
    """Replaces the names in a share of the documents by other words, drawn anew each time.

    A story in which any word at all may be the hero can only be followed by looking back, so that the
    model learns to look back instead of guessing among the few names of the lexicon.
    """

    def __init__(self, tokenizer, names: list, share: float):
        self.share = share
        ids = (tokenizer.piece_to_id("\u2581" + name) for name in names)
        self.names = [i for i in ids if i != tokenizer.unk_id()]
        self.words = [i for i in range(tokenizer.vocab_size())
                      if re.fullmatch("\u2581[A-Za-z]{3,}", tokenizer.id_to_piece(i))]

    def __call__(self, document: torch.Tensor, rng: random.Random) -> torch.Tensor:
        if rng.random() >= self.share:
            return document
        ids = document.tolist()
        present = sorted(set(ids) & set(self.names))
        other = dict(zip(present, rng.sample(self.words, len(present)), strict=True))
        return torch.tensor([other.get(i, i) for i in ids], dtype=document.dtype)


def batches(documents: list, tokens: int, seed: int, renaming: Renaming):
    """Endless batches of about `tokens` ids: (input, target), padded on the right.

    Documents of similar length stand together, one a row, so that nothing leaks from one to another.
    """
    rng = random.Random(seed)
    while True:
        order = list(range(len(documents)))
        rng.shuffle(order)
        for start in range(0, len(order), 2048):
            chunk = sorted(order[start:start + 2048], key=lambda i: len(documents[i]))
            groups, group = [], []
            for index in chunk:
                if group and (len(group) + 1) * len(documents[index]) > tokens:
                    groups.append(group)
                    group = []
                group.append(index)
            groups.append(group)
            rng.shuffle(groups)
            for group in groups:
                yield pad([renaming(documents[i], rng) for i in group])


def pad(rows: list):
    """Input and target of next-token prediction, [rows, longest - 1] each."""
    longest = max(len(row) for row in rows)
    inputs = torch.zeros(len(rows), longest - 1, dtype=torch.long)
    targets = torch.full((len(rows), longest - 1), IGNORED)
    for number, row in enumerate(rows):
        inputs[number, :len(row) - 1] = row[:-1]
        targets[number, :len(row) - 1] = row[1:]
    return inputs, targets
