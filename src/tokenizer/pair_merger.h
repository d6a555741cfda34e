// Byte-pair encoding of one word.
#ifndef KVASIR_TOKENIZER_PAIR_MERGER_H_
#define KVASIR_TOKENIZER_PAIR_MERGER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tokenizer/merge_table.h"
#include "tokenizer/tokenizer.h"

namespace kvasir {

// Merges the neighbours of the lowest rank, of several the leftmost, until no
// neighbours merge: a queue of candidates over a linked list, n log n for a word
// of n symbols. An object keeps its memory from word to word, for one thread.
class PairMerger {
 public:
  static constexpr TokenId kNothing = -1;  // a symbol that merges with none

  explicit PairMerger(const MergeTable& merges) : merges_(merges) {}

  // The symbols of a word, one by one (fewer than 2^32), and then its merging,
  // which appends what is left to `ids`, kNothing excepted.
  void Push(TokenId symbol);
  void MergeInto(std::vector<TokenId>& ids);

 private:
  using Place = uint32_t;
  struct Symbol {
    TokenId id;
    Place previous;
    Place next;
  };
  // The rank above the place, so that the least comes first.
  using Candidate = uint64_t;

  void AddCandidate(Place left);
  void Merge(Place left);

  const MergeTable& merges_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> candidates_;  // a heap
};

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_PAIR_MERGER_H_
