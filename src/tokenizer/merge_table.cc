#include "tokenizer/merge_table.h"

#include <bit>

namespace kvasir {

MergeTable::MergeTable(size_t count) : slots_(std::bit_ceil(2 * count + 2)) {}

size_t MergeTable::SlotOf(TokenId left, TokenId right) const {
  const uint64_t key = uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
  uint64_t hash = key * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 32;
  size_t slot = static_cast<size_t>(hash) & (slots_.size() - 1);
  while (slots_[slot].left != kEmpty &&
         (slots_[slot].left != left || slots_[slot].right != right)) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

void MergeTable::Add(TokenId left, TokenId right, Merge merge) {
  Slot& slot = slots_[SlotOf(left, right)];
  if (slot.left == kEmpty) slot = {left, right, merge};
}

const MergeTable::Merge* MergeTable::Find(TokenId left, TokenId right) const {
  const Slot& slot = slots_[SlotOf(left, right)];
  return slot.left == kEmpty ? nullptr : &slot.merge;
}

}  // namespace kvasir
