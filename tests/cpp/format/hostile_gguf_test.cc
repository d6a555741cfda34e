// What a hostile file must not get: memory on a mere claim, a write beyond the
// sink's memory, an error without a place.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "collector.h"
#include "format/gguf_reader.h"
#include "gguf_writer.h"

namespace kvasir {
namespace {

constexpr uint64_t kClaimedSize = uint64_t{8} << 30;

// The first bytes of a file that claims to have kClaimedSize.
Status ReadBeginning(const GgufWriter& writer) {
  Collector sink;
  GgufReader reader({kClaimedSize}, sink);
  std::vector<uint8_t> bytes = writer.Write();
  bytes.resize(64 << 10);
  return reader.Append(bytes);
}

void ExpectMalformed(const Status& status, const std::string& part_of_message) {
  EXPECT_EQ(status.code(), ErrorCode::kMalformedFile) << status.message();
  EXPECT_NE(status.message().find(part_of_message), std::string::npos) << status.message();
}

TEST(HostileGgufTest, AHeaderTooLargeToKeepIsRefusedBeforeItsBytesCome) {
  for (const ValueType type : {ValueType::kString, ValueType::kArray}) {
    GgufWriter writer;
    ByteWriter key;
    key.Text("long").Type(type);
    if (type == ValueType::kArray) key.Type(ValueType::kUint64);
    writer.keys.push_back(key.Put<uint64_t>(300 << 20).bytes());
    ExpectMalformed(ReadBeginning(writer), "key \"long\" (at byte ");
  }
}

TEST(HostileGgufTest, MoreKeysOrTensorsThanAnyModelHasAreRefusedInAFileOfAnySize) {
  GgufWriter writer;
  writer.extra_key_count = 70000;
  ExpectMalformed(ReadBeginning(writer), "keys do not fit");
  writer.extra_key_count = 0;
  writer.extra_tensor_count = 70000;
  ExpectMalformed(ReadBeginning(writer), "tensors do not fit");
}

// As where a tensor is larger than the address space and its size is cut off.
class ShortSink : public Collector {
 public:
  Result<std::span<uint8_t>> BeginTensor(const TensorInfo&) override {
    return std::span<uint8_t>(memory_);
  }

 private:
  std::vector<uint8_t> memory_ = std::vector<uint8_t>(4);
};

TEST(HostileGgufTest, MemoryOfAnotherSizeThanTheTensorIsNotWritten) {
  GgufWriter writer;
  writer.F32Tensor("large", {2}, 1);
  const std::vector<uint8_t> bytes = writer.Write();
  ShortSink sink;
  GgufReader reader({bytes.size()}, sink);
  const Status status = reader.Append(bytes);
  EXPECT_EQ(status.code(), ErrorCode::kOutOfMemory);
  EXPECT_NE(status.message().find("large"), std::string::npos) << status.message();
}

class ErrorPlaceTest : public ::testing::Test {
 protected:
  ErrorPlaceTest() {
    writer_.F32Tensor("first", {8}, 1);
    writer_.F32Tensor("second", {8}, 2);
  }

  // The error names `what` and the byte where `text`, its length first, stands
  // in the file for the last time.
  void ExpectPlace(const std::string& what, const std::string& text) {
    const std::vector<uint8_t> bytes = writer_.Write();
    Collector sink;
    GgufReader reader({bytes.size()}, sink);
    const size_t at = std::string(bytes.begin(), bytes.end()).rfind(text);
    ASSERT_NE(at, std::string::npos);
    ExpectMalformed(reader.Append(bytes), what + " (at byte " + std::to_string(at) + ")");
  }
  void ExpectTensorPlace(const std::string& name) {
    const std::vector<uint8_t> entry = ByteWriter().Text(name).bytes();
    ExpectPlace("tensor \"" + name + "\"", std::string(entry.begin(), entry.end()));
  }

  GgufWriter writer_;
};

TEST_F(ErrorPlaceTest, AnOverlapNamesTheEntryOfTheTensor) {
  writer_.tensors[1].offset = 0;
  writer_.tensors[0].shape = {16};
  writer_.tensors[0].offset = 32;
  writer_.F32Tensor("third", {8}, 3);
  writer_.tensors[2].offset = 64;
  ExpectTensorPlace("third");
}

TEST_F(ErrorPlaceTest, ADuplicateNamesTheSecondEntry) {
  writer_.F32Tensor("first", {8}, 1);
  ExpectTensorPlace("first");
}

TEST_F(ErrorPlaceTest, AnOffsetBeyondTheFileNamesTheEntryOfTheTensor) {
  writer_.tensors[0].offset = uint64_t{1} << 40;
  ExpectTensorPlace("first");
}

TEST_F(ErrorPlaceTest, ABadAlignmentNamesItsKey) {
  writer_.Key<uint32_t>("general.alignment", ValueType::kUint32, 48);
  writer_.StringKey("after", "it");
  ExpectPlace("key \"general.alignment\"", "general.alignment");
}

TEST_F(ErrorPlaceTest, AKeyOfTheWrongKindSaysWhereItStands) {
  writer_.StringKey("before", "it");
  writer_.StringKey("count", "many");
  const std::vector<uint8_t> bytes = writer_.Write();
  Collector sink;
  GgufReader reader({bytes.size()}, sink);
  ASSERT_TRUE(reader.Append(bytes).ok());
  const size_t at = std::string(bytes.begin(), bytes.end()).find("count");
  EXPECT_EQ(reader.metadata().OffsetOf("count"), at);
  ExpectMalformed(reader.metadata().Int("count").status(),
                  "key count (at byte " + std::to_string(at) + ")");
}

// Every single flipped bit of a file with a key and tensor of each kind: read
// in full or refused with a message that says where.
TEST(FlippedBitTest, EveryFlippedBitOfAHeaderGivesATypedErrorOrAReadableFile) {
  GgufWriter writer;
  writer.Key<uint32_t>("general.alignment", ValueType::kUint32, 64);
  writer.alignment = 64;
  writer.Key<uint8_t>("flag", ValueType::kBool, 1);
  writer.Key<double>("f64", ValueType::kFloat64, 0.5);
  writer.ArrayKey<std::string>("texts", ValueType::kString, {"one", "", "three"});
  writer.ArrayKey<int16_t>("ints", ValueType::kInt16, {1, -2});
  writer.F32Tensor("matrix", {4, 3}, 1);
  writer.F32Tensor("vector", {16}, 1);
  const std::vector<uint8_t> whole = writer.Write();
  int refused = 0;
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::vector<uint8_t> bytes = whole;
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    Collector sink;
    GgufReader reader({bytes.size()}, sink);
    Status status = reader.Append(bytes);
    if (status.ok()) status = reader.Finish();
    if (status.ok()) continue;
    ++refused;
    if (status.code() == ErrorCode::kUnsupportedModel) continue;
    ASSERT_EQ(status.code(), ErrorCode::kMalformedFile) << status.message();
    ASSERT_NE(status.message().find("at byte"), std::string::npos)
        << "bit " << bit << ": " << status.message();
  }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace kvasir
