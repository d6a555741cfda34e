// Finds stop strings in text that comes in pieces.
#ifndef KVASIR_RUNTIME_STOP_MATCHER_H_
#define KVASIR_RUNTIME_STOP_MATCHER_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvasir {

// Holds back the end of the text while it could begin a stop string.
class StopMatcher {
 public:
  // Empty strings are ignored.
  explicit StopMatcher(std::vector<std::string> stops);

  // The text that is safe to show now that `text` follows. When a stop string
  // is complete the text before it is the last: stopped() is true from then on.
  std::string Push(std::string_view text);

  // What is still held back, when the text ends otherwise.
  std::string Flush() { return std::exchange(held_, std::string()); }

  bool stopped() const { return stopped_; }

 private:
  size_t LengthThatMayBeginAStop() const;

  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace kvasir

#endif  // KVASIR_RUNTIME_STOP_MATCHER_H_
