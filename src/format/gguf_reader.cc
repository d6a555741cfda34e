#include "format/gguf_reader.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "format/gguf_header.h"

namespace kvasir {
namespace {

// The header is tried first with this many bytes, then with twice as many.
constexpr size_t kFirstAttempt = 64 << 10;

}  // namespace

struct GgufReader::State {
  State(std::vector<uint64_t> sizes, TensorSink& the_sink)
      : file_sizes(std::move(sizes)), sink(the_sink) {}

  std::vector<uint64_t> file_sizes;
  TensorSink& sink;
  Status status;

  size_t file = 0;                   // being read
  uint64_t offset = 0;               // taken of it
  std::vector<uint8_t> buffer;       // the current header, as far as it came
  std::optional<GgufHeader> header;  // of the current file
  std::optional<GgufHeader> first;   // the first file's, once the next one begins
  size_t tensor = 0;                 // the next one to fill, or being filled
  std::span<uint8_t> target;         // of the tensor being filled; empty: skipped
  bool filling = false;
  int64_t tensors_seen = 0;
  std::set<std::string> names;  // of the tensors in earlier files

  bool done() const { return file == file_sizes.size(); }
  Status Append(std::span<const uint8_t> bytes);
  Result<size_t> TakeHeader(std::span<const uint8_t> bytes);
  Status HeaderComplete();
  Status CheckSplit(const Metadata& metadata) const;
  Status CheckNamesOfSplit();
  Status BeginTensor(const TensorInfo& info);
  Status TakeData(std::span<const uint8_t> bytes);
  Status EndFile();
  const Metadata& FirstMetadata() const { return first ? first->metadata : header->metadata; }
};

GgufReader::GgufReader(std::vector<uint64_t> file_sizes, TensorSink& sink)
    : state_(std::make_unique<State>(std::move(file_sizes), sink)) {
  if (state_->file_sizes.empty()) state_->status = InvalidArgument("there is no file to read");
  for (size_t i = 0; i < state_->file_sizes.size(); ++i) {
    if (state_->file_sizes[i] == 0 && state_->status.ok()) {
      state_->status = MalformedFile("file " + std::to_string(i + 1) + " is empty");
    }
  }
}

GgufReader::~GgufReader() = default;

const Metadata& GgufReader::metadata() const { return state_->FirstMetadata(); }

Status GgufReader::Append(std::span<const uint8_t> bytes) {
  if (state_->status.ok()) state_->status = state_->Append(bytes);
  return state_->status;
}

Status GgufReader::Finish() {
  if (!state_->status.ok()) return state_->status;
  if (!state_->done()) {
    return MalformedFile("file " + std::to_string(state_->file + 1) + " of " +
                         std::to_string(state_->file_sizes.size()) +
                         " is incomplete: " + std::to_string(state_->offset) + " of " +
                         std::to_string(state_->file_sizes[state_->file]) + " bytes came");
  }
  constexpr std::string_view kKey = "split.tensors.count";
  const Metadata& metadata = state_->FirstMetadata();
  const Result<int64_t> promised = metadata.IntOr(kKey, state_->tensors_seen);
  if (!promised.ok()) return promised.status();
  if (*promised != state_->tensors_seen) {
    return MalformedFile("key " + std::string(kKey) + " (at byte " +
                         std::to_string(metadata.OffsetOf(kKey)) + "): it says " +
                         std::to_string(*promised) + ", the files hold " +
                         std::to_string(state_->tensors_seen) + " tensors");
  }
  return Status();
}

Status GgufReader::State::Append(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    if (done()) return MalformedFile("bytes follow the end of the last file");
    const uint64_t left = file_sizes[file] - offset;
    if (bytes.size() > left) {
      return InvalidArgument("a portion must not span two files: " + std::to_string(bytes.size()) +
                             " bytes came, " + std::to_string(left) + " are left");
    }
    if (!header) {
      const Result<size_t> taken = TakeHeader(bytes);
      if (!taken.ok()) return taken.status();
      bytes = bytes.subspan(*taken);
    } else {
      if (Status status = TakeData(bytes); !status.ok()) return status;
      bytes = {};
    }
    if (header && offset == file_sizes[file]) {
      if (Status status = EndFile(); !status.ok()) return status;
    }
  }
  return Status();
}

// Takes bytes until the next attempt at the header is due, and makes it.
Result<size_t> GgufReader::State::TakeHeader(std::span<const uint8_t> bytes) {
  const uint64_t size = file_sizes[file];
  uint64_t attempt = kFirstAttempt;
  while (attempt <= buffer.size()) attempt *= 2;
  attempt = std::min(attempt, size);
  const size_t taken = std::min<size_t>(bytes.size(), attempt - buffer.size());
  if (buffer.capacity() < buffer.size() + taken) buffer.reserve(attempt);
  buffer.insert(buffer.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
  offset += taken;
  if (buffer.size() < attempt) return taken;

  GgufHeaderParser parser(buffer, size);
  if (!parser.Parse()) {
    if (!parser.status().ok()) return parser.status();
    if (buffer.size() == size) return MalformedFile("the file ends in the middle of its header");
    return taken;
  }
  const std::span<const uint8_t> whole(buffer);
  parser.AdoptBytes(std::move(buffer));
  buffer = {};
  header = std::move(parser.header());
  if (Status status = HeaderComplete(); !status.ok()) return status;
  // What came beyond the header belongs to the tensors.
  if (header->data_offset < whole.size()) {
    offset = header->data_offset;
    if (Status status = TakeData(whole.subspan(header->data_offset)); !status.ok()) return status;
  }
  return taken;
}

Status GgufReader::State::HeaderComplete() {
  tensor = 0;
  tensors_seen += static_cast<int64_t>(header->tensors.size());
  if (Status status = CheckSplit(header->metadata); !status.ok()) return status;
  if (Status status = CheckNamesOfSplit(); !status.ok()) return status;
  return file == 0 ? sink.OnMetadata(header->metadata) : Status();
}

Status GgufReader::State::CheckSplit(const Metadata& metadata) const {
  const auto named = [&](std::string_view key) {
    return "key " + std::string(key) + " of file " + std::to_string(file + 1) + " (at byte " +
           std::to_string(metadata.OffsetOf(key)) + "): ";
  };
  const int64_t files = static_cast<int64_t>(file_sizes.size());
  const Result<int64_t> count = metadata.IntOr("split.count", 1);
  if (!count.ok()) return count.status();
  const Result<int64_t> number = metadata.IntOr("split.no", 0);
  if (!number.ok()) return number.status();
  // Some writers leave a split.count of 0 in files that are not split.
  if (std::max<int64_t>(*count, 1) != files) {
    return MalformedFile(named("split.count") + "the model is split into " +
                         std::to_string(*count) + " files, " + std::to_string(files) +
                         " were given");
  }
  if (*number != static_cast<int64_t>(file)) {
    return MalformedFile(named("split.no") + "the file is number " + std::to_string(*number + 1) +
                         " of the split; give the files in their order");
  }
  return Status();
}

// Within a file the header's parser has checked them.
Status GgufReader::State::CheckNamesOfSplit() {
  if (file_sizes.size() == 1) return Status();
  for (const TensorInfo& info : header->tensors) {
    if (!names.insert(info.name).second) {
      return MalformedFile("tensor " + info.name + " of file " + std::to_string(file + 1) +
                           " (at byte " + std::to_string(info.entry_offset) +
                           "): an earlier file holds it too");
    }
  }
  return Status();
}

Status GgufReader::State::BeginTensor(const TensorInfo& info) {
  Result<std::span<uint8_t>> memory = sink.BeginTensor(info);
  if (!memory.ok()) return memory.status();
  target = *memory;
  if (!target.empty() && target.size() != info.bytes) {
    return OutOfMemory("tensor " + info.name + " of " + std::to_string(info.bytes) +
                       " bytes cannot be addressed");
  }
  filling = true;
  return Status();
}

Status GgufReader::State::TakeData(std::span<const uint8_t> bytes) {
  uint64_t at = offset;  // in the file, of bytes[0]
  offset += bytes.size();
  while (!bytes.empty() && tensor < header->tensors.size()) {
    const TensorInfo& info = header->tensors[tensor];
    const uint64_t begin = header->data_offset + info.offset;
    if (at < begin) {  // padding
      const size_t skipped = std::min<uint64_t>(begin - at, bytes.size());
      bytes = bytes.subspan(skipped);
      at += skipped;
      continue;
    }
    if (!filling) {
      if (Status status = BeginTensor(info); !status.ok()) return status;
    }
    const uint64_t done = at - begin;
    const size_t count = std::min<uint64_t>(info.bytes - done, bytes.size());
    if (!target.empty()) std::memcpy(target.data() + done, bytes.data(), count);
    bytes = bytes.subspan(count);
    at += count;
    if (done + count == info.bytes) {
      if (Status status = sink.EndTensor(info); !status.ok()) return status;
      filling = false;
      ++tensor;
    }
  }
  return Status();
}

Status GgufReader::State::EndFile() {
  assert(tensor == header->tensors.size());
  if (file == 0) first = std::move(header);
  header.reset();
  offset = 0;
  ++file;
  return Status();
}

}  // namespace kvasir
