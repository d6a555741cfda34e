#include "tokenizer/pre_tokenizer.h"

#include <utility>

namespace kvasir {
namespace {

using Take = std::function<void(std::string_view)>;

void SplitBy(std::span<const Pattern> patterns, bool matches_only, std::string_view text,
             MatchScratch& scratch, const Take& take) {
  if (text.empty()) return;
  if (patterns.empty()) {
    take(text);
    return;
  }
  const std::span<const Pattern> rest = patterns.subspan(1);
  size_t at = 0;
  while (const auto match = patterns.front().Find(text, at, scratch)) {
    if (!matches_only) {
      SplitBy(rest, false, text.substr(at, match->begin - at), scratch, take);
    }
    SplitBy(rest, matches_only, text.substr(match->begin, match->end - match->begin), scratch,
            take);
    at = match->end;
  }
  if (!matches_only) SplitBy(rest, false, text.substr(at), scratch, take);
}

}  // namespace

Result<PreTokenizer> PreTokenizer::Create(std::span<const std::string_view> expressions,
                                          bool matches_only) {
  PreTokenizer pre_tokenizer;
  pre_tokenizer.matches_only_ = matches_only;
  for (std::string_view expression : expressions) {
    Result<Pattern> pattern = Pattern::Compile(expression);
    if (!pattern.ok()) return pattern.status();
    pre_tokenizer.patterns_.push_back(*std::move(pattern));
  }
  return pre_tokenizer;
}

void PreTokenizer::Split(std::string_view text, const Take& take) const {
  MatchScratch scratch;
  SplitBy(patterns_, matches_only_, text, scratch, take);
}

}  // namespace kvasir
