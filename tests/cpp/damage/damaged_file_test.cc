// A thousand damaged copies of a model file: each gives a typed error or loads
// and runs; none crashes, hangs or takes much memory. A program of its own,
// because it counts every allocation.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "../format/gguf_writer.h"
#include "../model/test_model.h"
#include "runtime/model_loader.h"
#include "runtime/session.h"
#include "shared_models.h"

namespace {

constexpr size_t kHeader = 16;  // before each block, to know its size; keeps new's alignment
std::atomic<size_t> live_bytes{0};
std::atomic<size_t> peak_bytes{0};

void* CountedNew(size_t size) {
  auto* block = static_cast<uint8_t*>(std::malloc(size + kHeader));
  if (block == nullptr) std::abort();
  std::memcpy(block, &size, sizeof(size));
  const size_t live = live_bytes += size;
  if (live > peak_bytes) peak_bytes = live;
  return block + kHeader;
}

void CountedDelete(void* pointer) {
  if (pointer == nullptr) return;
  uint8_t* block = static_cast<uint8_t*>(pointer) - kHeader;
  size_t size;
  std::memcpy(&size, block, sizeof(size));
  live_bytes -= size;
  std::free(block);
}

}  // namespace

void* operator new(size_t size) { return CountedNew(size); }
void* operator new[](size_t size) { return CountedNew(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return CountedNew(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return CountedNew(size); }
void operator delete(void* pointer) noexcept { CountedDelete(pointer); }
void operator delete[](void* pointer) noexcept { CountedDelete(pointer); }
void operator delete(void* pointer, size_t) noexcept { CountedDelete(pointer); }
void operator delete[](void* pointer, size_t) noexcept { CountedDelete(pointer); }

namespace kvasir {
namespace {

constexpr int kCopies = 1000;

using Bytes = std::vector<uint8_t>;

// A whole model with a vocabulary, about 700 KB.
Bytes MakeModelFile() {
  ModelConfig config = SmallConfig();
  config.dim = 64;
  config.head_dim = 16;
  config.heads = 4;
  config.ffn_dim = 160;
  config.layers = 3;
  config.vocab_size = 300;
  GgufWriter writer;
  writer.StringKey("general.architecture", "llama");
  writer.Key<uint32_t>("llama.context_length", ValueType::kUint32, 256);
  writer.Key<uint32_t>("llama.embedding_length", ValueType::kUint32, 64);
  writer.Key<uint32_t>("llama.block_count", ValueType::kUint32, 3);
  writer.Key<uint32_t>("llama.feed_forward_length", ValueType::kUint32, 160);
  writer.Key<uint32_t>("llama.attention.head_count", ValueType::kUint32, 4);
  writer.Key<uint32_t>("llama.attention.head_count_kv", ValueType::kUint32, 2);
  writer.Key<uint32_t>("llama.rope.dimension_count", ValueType::kUint32, 16);
  writer.Key<float>("llama.attention.layer_norm_rms_epsilon", ValueType::kFloat32, 1e-5f);
  writer.StringKey("tokenizer.ggml.model", "llama");
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<int32_t> kinds = {2, 3, 3};
  for (int value = 0; value < 256; ++value) {
    char spelling[8];
    std::snprintf(spelling, sizeof(spelling), "<0x%02X>", value);
    tokens.push_back(spelling);
    kinds.push_back(6);
  }
  while (tokens.size() < 300) {
    tokens.push_back("token" + std::to_string(tokens.size()));
    kinds.push_back(1);
  }
  writer.ArrayKey<std::string>("tokenizer.ggml.tokens", ValueType::kString, tokens);
  writer.ArrayKey<float>("tokenizer.ggml.scores", ValueType::kFloat32,
                         std::vector<float>(300, -1.0f));
  writer.ArrayKey<int32_t>("tokenizer.ggml.token_type", ValueType::kInt32, kinds);
  for (const TensorInfo& info : RequiredTensors(config)) {
    std::vector<int64_t> shape = {info.shape[0]};
    if (info.dimensions == 2) shape.push_back(info.shape[1]);
    writer.F32Tensor(info.name, shape, 0.001f);
  }
  return writer.Write();
}

// Where the header ends, roughly: damage there matters most.
size_t HeaderBytes(const Bytes& file) { return std::min<size_t>(file.size(), 24 << 10); }

Bytes Damage(const Bytes& whole, std::mt19937_64& random) {
  constexpr std::array<uint64_t, 10> kHostile = {
      0, 1, 0x7f, 0xff, 0xffff, 1ull << 31, 1ull << 32, 1ull << 62, 1ull << 63, UINT64_MAX};
  Bytes file = whole;
  const size_t header = HeaderBytes(file);
  switch (random() % 4) {
    case 0:  // cut off
      file.resize(random() % 2 == 0 ? random() % header : random() % file.size());
      break;
    case 1:  // flipped bits
      for (uint64_t i = 0, count = 1 + random() % 20; i < count; ++i) {
        file[random() % header] ^= static_cast<uint8_t>(1u << (random() % 8));
      }
      break;
    case 2: {  // a hostile length, offset or type
      const uint64_t value = kHostile[random() % kHostile.size()];
      const size_t size = random() % 2 == 0 ? 8 : 4;
      std::memcpy(file.data() + random() % (header - 8), &value, size);
      break;
    }
    case 3: {  // the counts
      const uint64_t value = random() % 2 == 0 ? random() % 1000 : random();
      std::memcpy(file.data() + 8 + 8 * (random() % 2), &value, sizeof(value));
      break;
    }
  }
  return file;
}

// Loads a file and, where that works, runs two tokens. Returns the error.
Status LoadAndRun(const Bytes& file) {
  ModelLoader loader({file.size()});
  if (Status status = loader.Append(file); !status.ok()) return status;
  Result<std::shared_ptr<const Model>> model = loader.Finish();
  if (!model.ok()) return model.status();
  (*model)->tokenizer().Decode((*model)->tokenizer().Encode("token5 \xff text", {}));
  if (!(*model)->has_weights()) return Status();
  Result<std::shared_ptr<Compute>> compute = Compute::Create(**model, 1);
  if (!compute.ok()) return compute.status();
  Result<std::unique_ptr<Session>> session =
      Session::Create(*model, {.context_length = 1, .kv_type = KvType::kF32}, *compute);
  if (!session.ok()) return session.status();
  const std::vector<int32_t> tokens = {0};
  return (*session)->Logits(tokens).status();
}

void DamageAThousandTimes(const Bytes& whole) {
  ASSERT_TRUE(LoadAndRun(whole).ok()) << LoadAndRun(whole).message();
  std::mt19937_64 random(20240229);
  int refused = 0;
  for (int i = 0; i < kCopies; ++i) {
    const Bytes file = Damage(whole, random);
    const size_t before = live_bytes;
    peak_bytes = before;
    const Status status = LoadAndRun(file);
    const size_t peak = peak_bytes - before;
    // Weights are not in this count; they take at most what the file has of
    // them. An error in the header, which names a byte, comes before any weight.
    const bool in_header = status.message().find("at byte") != std::string::npos;
    ASSERT_LE(peak, whole.size() * (in_header ? 2 : 1)) << "copy " << i << ": " << status.message();
    if (status.ok()) continue;
    ++refused;
    ASSERT_TRUE(status.code() == ErrorCode::kMalformedFile ||
                status.code() == ErrorCode::kUnsupportedModel ||
                status.code() == ErrorCode::kInvalidArgument)
        << "copy " << i << ": " << status.message();
    ASSERT_FALSE(status.message().empty());
  }
  EXPECT_GT(refused, kCopies / 3) << "the damage does not reach what is checked";
}

TEST(DamagedFileTest, AThousandCopiesOfAGeneratedModelGiveErrorsOrLoad) {
  DamageAThousandTimes(MakeModelFile());
}

TEST(DamagedFileTest, AThousandCopiesOfARealModelGiveErrorsOrLoad) {
  const std::optional<std::string> file = ReadSharedModel("stories260K.gguf");
  if (!file) GTEST_SKIP() << "../shared/models/stories260K.gguf is not there";
  DamageAThousandTimes(Bytes(file->begin(), file->end()));
}

}  // namespace
}  // namespace kvasir
