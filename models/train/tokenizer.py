"""Trains the vocabulary: SentencePiece BPE with byte fallback on a corpus of corpus.py.

  python3 tokenizer.py --corpus /tmp/kvasir/train.jsonl --out ../tokenizer.model

Ids: 0 <unk>, 1 <s>, 2 </s>, then the markers of a chat as control pieces (text never encodes to
them), then 256 bytes, then the pieces. The normalizer is the identity; a line feed is a byte piece.
"""

import argparse
import itertools
import json
import string

import sentencepiece

MARKERS = ["<|system|>", "<|user|>", "<|assistant|>", "<|end|>"]


def sentences(path: str, documents: int):
    """Paragraphs of the corpus.

    A paragraph after the first begins without a space, so it is shown to the trainer as if after an
    opening quotation mark, which is the other place where words begin without one.
    Every printable ASCII character is shown once as well, so that it has a piece of its own.
    """
    yield " ".join(string.printable.strip())
    with open(path, encoding="utf-8") as lines:
        for line in itertools.islice(lines, documents):
            document = json.loads(line)
            texts = [document["text"]] if "text" in document else [t["content"] for t in document["turns"]]
            for text in texts:
                yield text.replace("\n\n", ' "')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--documents", type=int, default=20000, help="how many of the corpus are read")
    parser.add_argument("--vocab-size", type=int, default=2048)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    with open(args.out, "wb") as out:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=sentences(args.corpus, args.documents), model_writer=out,
            model_type="bpe", vocab_size=args.vocab_size, byte_fallback=True, character_coverage=1.0,
            normalization_rule_name="identity", add_dummy_prefix=True, remove_extra_whitespaces=False,
            split_digits=True, control_symbols=MARKERS,
            max_sentence_length=16384, unk_id=0, bos_id=1, eos_id=2, pad_id=-1, num_threads=2,
            minloglevel=1)


if __name__ == "__main__":
    main()
