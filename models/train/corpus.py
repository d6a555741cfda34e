"""Writes a corpus: JSON lines, each {"text": story} or {"turns": chat}.

  python3 corpus.py --seed 1 --documents 150000 --out /tmp/kvasir/train.jsonl
  python3 corpus.py --seed 20260 --documents 30 --chats 0 --plain --out ../heldout.txt
"""

import argparse
import json
import random

import chats
import grammar


def documents(seed: int, count: int, chat_share: float):
    """Yields `count` documents; the same seed gives the same documents."""
    rng = random.Random(seed)
    for _ in range(count):
        if rng.random() < chat_share:
            yield {"turns": chats.new_chat(rng)}
        else:
            yield {"text": grammar.tell(grammar.new_world(rng))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--documents", type=int, required=True)
    parser.add_argument("--chats", type=float, default=0.15, help="share of documents that are chats")
    parser.add_argument("--plain", action="store_true", help="stories as text, with a line --- between them")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    with open(args.out, "w", encoding="utf-8") as out:
        for number, document in enumerate(documents(args.seed, args.documents, args.chats)):
            if args.plain:
                out.write(("\n---\n" if number else "") + document["text"] + "\n")
            else:
                out.write(json.dumps(document) + "\n")


if __name__ == "__main__":
    main()
