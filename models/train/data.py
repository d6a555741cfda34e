"""From documents to token ids, and from token ids to batches."""

import json
import random

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


def batches(documents: list, tokens: int, seed: int):
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
                yield pad([documents[i] for i in group])


def pad(rows: list):
    """Input and target of next-token prediction, [rows, longest - 1] each."""
    longest = max(len(row) for row in rows)
    inputs = torch.zeros(len(rows), longest - 1, dtype=torch.long)
    targets = torch.full((len(rows), longest - 1), IGNORED)
    for number, row in enumerate(rows):
        inputs[number, :len(row) - 1] = row[:-1]
        targets[number, :len(row) - 1] = row[1:]
    return inputs, targets
