#include "tokenizer/pair_merger.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace kvasir {
namespace {

constexpr uint32_t kNowhere = std::numeric_limits<uint32_t>::max();
constexpr TokenId kMerged = -2;  // into the symbol to its left

}  // namespace

void PairMerger::Push(TokenId symbol) {
  const Place place = static_cast<Place>(symbols_.size());
  if (place > 0) symbols_.back().next = place;
  symbols_.push_back({symbol, place > 0 ? place - 1 : kNowhere, kNowhere});
}

void PairMerger::AddCandidate(Place left) {
  const Symbol& symbol = symbols_[left];
  if (symbol.next == kNowhere) return;
  const MergeTable::Merge* merge = merges_.Find(symbol.id, symbols_[symbol.next].id);
  if (merge == nullptr) return;
  candidates_.push_back(uint64_t{merge->rank} << 32 | left);
  std::push_heap(candidates_.begin(), candidates_.end(), std::greater<>());
}

void PairMerger::MergeInto(std::vector<TokenId>& ids) {
  for (Place left = 0; left + 1 < symbols_.size(); ++left) AddCandidate(left);
  while (!candidates_.empty()) {
    std::pop_heap(candidates_.begin(), candidates_.end(), std::greater<>());
    const Candidate candidate = candidates_.back();
    candidates_.pop_back();
    const Place left = static_cast<Place>(candidate);
    Symbol& symbol = symbols_[left];
    if (symbol.id == kMerged || symbol.next == kNowhere) continue;
    // Since it was queued, either symbol may have become another.
    const MergeTable::Merge* merge = merges_.Find(symbol.id, symbols_[symbol.next].id);
    if (merge == nullptr || merge->rank != candidate >> 32) continue;
    symbol.id = merge->result;
    Merge(left);
  }
  for (const Symbol& symbol : symbols_) {
    if (symbol.id != kMerged && symbol.id != kNothing) ids.push_back(symbol.id);
  }
  symbols_.clear();
}

void PairMerger::Merge(Place left) {
  Symbol& symbol = symbols_[left];
  Symbol& right = symbols_[symbol.next];
  symbol.next = right.next;
  right.id = kMerged;
  if (symbol.next != kNowhere) symbols_[symbol.next].previous = left;
  AddCandidate(left);
  if (symbol.previous != kNowhere) AddCandidate(symbol.previous);
}

}  // namespace kvasir
