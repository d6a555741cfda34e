// Which pairs of tokens byte-pair encoding merges, and in what order.
#ifndef KVASIR_TOKENIZER_MERGE_TABLE_H_
#define KVASIR_TOKENIZER_MERGE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace kvasir {

// A hash table with open addressing: a look-up is one or two reads.
class MergeTable {
 public:
  struct Merge {
    uint32_t rank;  // merges of a lower rank go first
    TokenId result;
  };

  // For `count` merges at most.
  explicit MergeTable(size_t count);

  // Of a pair that is added twice, the first counts. Ids are not negative.
  void Add(TokenId left, TokenId right, Merge merge);
  // Null for a pair that does not merge.
  const Merge* Find(TokenId left, TokenId right) const;

 private:
  struct Slot {
    TokenId left = kEmpty;
    TokenId right = kEmpty;
    Merge merge = {};
  };
  static constexpr TokenId kEmpty = -1;

  size_t SlotOf(TokenId left, TokenId right) const;

  std::vector<Slot> slots_;  // a power of two, at most half of them full
};

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_MERGE_TABLE_H_
