#include "base/status.h"

namespace kvasir {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk:
      return "OK";
    case ErrorCode::kUnsupportedModel:
      return "UNSUPPORTED_MODEL";
    case ErrorCode::kMalformedFile:
      return "MALFORMED_FILE";
    case ErrorCode::kOutOfMemory:
      return "OUT_OF_MEMORY";
    case ErrorCode::kContextOverflow:
      return "CONTEXT_OVERFLOW";
    case ErrorCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
  }
  return "INVALID_ARGUMENT";
}

}  // namespace kvasir
