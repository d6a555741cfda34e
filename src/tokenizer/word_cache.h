// The tokens of words that came before, for one text: natural text is made of few
// words.
#ifndef KVASIR_TOKENIZER_WORD_CACHE_H_
#define KVASIR_TOKENIZER_WORD_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace kvasir {

class WordCache {
 public:
  // Appends the tokens of `word` to `ids`: those it had before, or what `encode(word)`
  // appends. The bytes of the words must stay where they are. Words must not depend on
  // one another.
  template <class F>
  void Encode(std::string_view word, std::vector<TokenId>& ids, F&& encode) {
    if (word.size() > kLongest) {
      encode(word);
      return;
    }
    const auto found = ranges_.find(word);
    if (found != ranges_.end()) {
      const auto begin = ids_.begin() + found->second.begin;
      ids.insert(ids.end(), begin, begin + found->second.count);
      return;
    }
    const size_t before = ids.size();
    encode(word);
    if (ranges_.size() == kMost) return;
    ranges_[word] = {static_cast<uint32_t>(ids_.size()),
                     static_cast<uint32_t>(ids.size() - before)};
    ids_.insert(ids_.end(), ids.begin() + static_cast<std::ptrdiff_t>(before), ids.end());
  }

 private:
  static constexpr size_t kLongest = 48;            // bytes
  static constexpr size_t kMost = size_t{1} << 15;  // words
  struct Range {
    uint32_t begin;
    uint32_t count;
  };

  std::unordered_map<std::string_view, Range> ranges_;
  std::vector<TokenId> ids_;
};

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_WORD_CACHE_H_
