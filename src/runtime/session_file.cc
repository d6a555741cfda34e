// Sessions as bytes: a header, the tokens, every layer's cache, a checksum.
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "base/checksum.h"
#include "runtime/session.h"

namespace kvasir {
namespace {

constexpr std::array<char, 8> kMagic = {'K', 'V', 'S', 'E', 'S', 'S', '0', '1'};

// Little-endian, as every machine that runs this is.
struct Header {
  std::array<char, 8> magic = kMagic;
  uint64_t model = 0;  // Model::fingerprint
  uint64_t bytes = 0;  // of the whole file
  int64_t context_length = 0, kv_type = 0, window = 0, sink = 0;
  int64_t tokens = 0;
};

using Sum = uint64_t;  // the last bytes of the file, over all before

Sum ChecksumOf(std::span<const uint8_t> bytes) {
  Checksum checksum;
  checksum.Add(bytes);
  return checksum.value();
}

Status Damaged(std::string_view what) {
  return MalformedFile("the saved session " + std::string(what) +
                       "; save it again, or run its text anew");
}

Status CheckFile(std::span<const uint8_t> saved, const Model& model, Header& header) {
  if (saved.size() < sizeof(Header) + sizeof(Sum)) return Damaged("is too short");
  std::memcpy(&header, saved.data(), sizeof(header));
  if (header.magic != kMagic) return Damaged("does not begin like one of this version");
  if (header.bytes != saved.size()) {
    return Damaged("should have " + std::to_string(header.bytes) + " bytes, not " +
                   std::to_string(saved.size()));
  }
  const std::span<const uint8_t> content = saved.first(saved.size() - sizeof(Sum));
  Sum sum;
  std::memcpy(&sum, content.data() + content.size(), sizeof(sum));
  if (sum != ChecksumOf(content)) return Damaged("is damaged: its checksum is wrong");
  if (header.model != model.fingerprint()) {
    return InvalidArgument("the session was saved with another model");
  }
  const bool fits =
      header.kv_type >= 0 && header.kv_type <= static_cast<int64_t>(KvType::kI8) &&
      header.tokens >= 0 &&
      static_cast<uint64_t>(header.tokens) <= (content.size() - sizeof(Header)) / sizeof(int32_t);
  return fits ? Status() : Damaged("has a header that makes no sense");
}

}  // namespace

Result<AlignedBuffer> Session::Save() const {
  Header header;
  header.model = model_->fingerprint();
  header.context_length = options_.context_length;
  header.kv_type = static_cast<int64_t>(options_.kv_type);
  header.window = options_.window;
  header.sink = options_.sink;
  header.tokens = length();
  const size_t token_bytes = tokens_.size() * sizeof(int32_t);
  size_t content = sizeof(header) + token_bytes;
  for (const std::unique_ptr<KvCache>& cache : caches_) {
    content += static_cast<size_t>(cache->SavedBytes());
  }
  header.bytes = content + sizeof(Sum);

  Result<AlignedBuffer> memory = AlignedBuffer::Allocate(static_cast<size_t>(header.bytes));
  if (!memory.ok()) return memory;
  uint8_t* next = memory->data();
  std::memcpy(next, &header, sizeof(header));
  next += sizeof(header);
  if (token_bytes > 0) std::memcpy(next, tokens_.data(), token_bytes);
  next += token_bytes;
  for (const std::unique_ptr<KvCache>& cache : caches_) {
    const size_t size = static_cast<size_t>(cache->SavedBytes());
    cache->Save({next, size});
    next += size;
  }
  const Sum sum = ChecksumOf(std::span(memory->data(), content));
  std::memcpy(next, &sum, sizeof(sum));
  return memory;
}

Result<std::unique_ptr<Session>> Session::Restore(std::shared_ptr<const Model> model,
                                                  std::span<const uint8_t> saved,
                                                  std::shared_ptr<Compute> compute) {
  Header header;
  if (Status status = CheckFile(saved, *model, header); !status.ok()) return status;
  const SessionOptions options = {.context_length = header.context_length,
                                  .kv_type = static_cast<KvType>(header.kv_type),
                                  .window = header.window,
                                  .sink = header.sink};
  Result<std::unique_ptr<Session>> session = Create(std::move(model), options, std::move(compute));
  if (!session.ok()) return session;

  const size_t token_bytes = static_cast<size_t>(header.tokens) * sizeof(int32_t);
  std::vector<int32_t>& tokens = (*session)->tokens_;
  tokens.resize(static_cast<size_t>(header.tokens));
  if (token_bytes > 0) std::memcpy(tokens.data(), saved.data() + sizeof(header), token_bytes);
  std::span<const uint8_t> rest = saved.subspan(sizeof(header) + token_bytes);
  rest = rest.first(rest.size() - sizeof(Sum));
  for (const std::unique_ptr<KvCache>& cache : (*session)->caches_) {
    const Result<int64_t> read = cache->Load(rest);
    if (!read.ok()) return read.status();
    if (cache->length() != header.tokens) return Damaged("has caches of another length");
    rest = rest.subspan(static_cast<size_t>(*read));
  }
  if (!rest.empty()) return Damaged("goes on after its end");
  return session;
}

}  // namespace kvasir
