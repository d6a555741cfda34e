#include "runtime/stop_matcher.h"

#include <algorithm>

namespace kvasir {

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase_if(stops_, [](const std::string& stop) { return stop.empty(); });
}

std::string StopMatcher::Push(std::string_view text) {
  if (stopped_) return "";
  held_ += text;
  size_t first = std::string::npos;
  for (const std::string& stop : stops_) first = std::min(first, held_.find(stop));
  if (first != std::string::npos) {
    stopped_ = true;
    held_.resize(first);
    return Flush();
  }
  const size_t safe = held_.size() - LengthThatMayBeginAStop();
  std::string shown = held_.substr(0, safe);
  held_.erase(0, safe);
  return shown;
}

size_t StopMatcher::LengthThatMayBeginAStop() const {
  size_t longest = 0;
  for (const std::string& stop : stops_) {
    size_t length = std::min(stop.size() - 1, held_.size());
    while (length > longest && !held_.ends_with(std::string_view(stop).substr(0, length))) {
      --length;
    }
    longest = std::max(longest, length);
  }
  return longest;
}

}  // namespace kvasir
