// Errors as values. Nothing in the library throws or aborts on bad input: a
// function that can fail returns a Status, or a Result<T> holding a T or the
// Status that says why there is none.
#ifndef KVASIR_BASE_STATUS_H_
#define KVASIR_BASE_STATUS_H_

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace kvasir {

// The stable codes of the public API, without those that only the JavaScript
// side can raise (DOWNLOAD_FAILED, QUOTA_EXCEEDED, ABORTED, DISPOSED).
enum class ErrorCode {
  kOk,
  kUnsupportedModel,
  kMalformedFile,
  kOutOfMemory,
  kContextOverflow,
  kInvalidArgument,
};

// "UNSUPPORTED_MODEL" and so on; "OK" for kOk.
std::string_view ErrorCodeName(ErrorCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  // `message` is for people: what is wrong, where, and what to do about it.
  Status(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == ErrorCode::kOk; }
  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  ErrorCode code_ = ErrorCode::kOk;
  std::string message_;
};

inline Status UnsupportedModel(std::string message) {
  return {ErrorCode::kUnsupportedModel, std::move(message)};
}
inline Status MalformedFile(std::string message) {
  return {ErrorCode::kMalformedFile, std::move(message)};
}
inline Status OutOfMemory(std::string message) {
  return {ErrorCode::kOutOfMemory, std::move(message)};
}
inline Status ContextOverflow(std::string message) {
  return {ErrorCode::kContextOverflow, std::move(message)};
}
inline Status InvalidArgument(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    assert(!status_.ok() && "a Result without a value needs an error");
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  // Only where ok().
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace kvasir

#endif  // KVASIR_BASE_STATUS_H_
