#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector.h"
#include "format/gguf_reader.h"
#include "gguf_writer.h"

namespace kvasir {
namespace {

class SplitGgufTest : public ::testing::Test {
 protected:
  // File `number` of `count`, with one tensor.
  static std::vector<uint8_t> File(uint16_t number, uint16_t count, int32_t tensors,
                                   const std::string& name = "") {
    GgufWriter writer;
    writer.Key<uint16_t>("split.no", ValueType::kUint16, number);
    writer.Key<uint16_t>("split.count", ValueType::kUint16, count);
    writer.Key<int32_t>("split.tensors.count", ValueType::kInt32, tensors);
    writer.F32Tensor(name.empty() ? "tensor" + std::to_string(number) : name, {4}, number * 10.0f);
    return writer.Write();
  }

  Status ReadAll(const std::vector<std::vector<uint8_t>>& files) {
    sink_ = Collector();
    std::vector<uint64_t> sizes;
    for (const auto& file : files) sizes.push_back(file.size());
    GgufReader reader(sizes, sink_);
    for (const auto& file : files) {
      if (Status status = reader.Append(file); !status.ok()) return status;
    }
    return reader.Finish();
  }

  void ExpectMalformed(const std::vector<std::vector<uint8_t>>& files, const std::string& part) {
    const Status status = ReadAll(files);
    EXPECT_EQ(status.code(), ErrorCode::kMalformedFile) << status.message();
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }

  Collector sink_;
};

TEST_F(SplitGgufTest, TheTensorsOfAllFilesArrive) {
  const Status status = ReadAll({File(0, 3, 3), File(1, 3, 3), File(2, 3, 3)});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(sink_.metadata_calls, 1);
  EXPECT_EQ(sink_.Floats("tensor2"), (std::vector<float>{20, 21, 22, 23}));
}

TEST_F(SplitGgufTest, AWrongOrderOrNumberOfFilesIsRefused) {
  ExpectMalformed({File(1, 2, 2), File(0, 2, 2)}, "split.no of file 1 (at byte ");
  ExpectMalformed({File(0, 2, 2)}, "split.count of file 1 (at byte ");
  ExpectMalformed({File(0, 2, 2), File(0, 2, 2)}, "split.no of file 2 (at byte ");
  ExpectMalformed({File(0, 2, 3), File(1, 2, 3)}, "split.tensors.count (at byte ");
  EXPECT_EQ(ReadAll({}).code(), ErrorCode::kInvalidArgument);
}

TEST_F(SplitGgufTest, ATensorInTwoFilesIsRefused) {
  ExpectMalformed({File(0, 2, 2, "same"), File(1, 2, 2, "same")},
                  "tensor same of file 2 (at byte ");
}

TEST_F(SplitGgufTest, AnEmptyFileIsRefused) {
  ExpectMalformed({File(0, 2, 2), {}}, "file 2 is empty");
}

TEST_F(SplitGgufTest, AMissingLastPartIsNoticed) {
  const std::vector<uint8_t> first = File(0, 2, 2), second = File(1, 2, 2);
  GgufReader reader({first.size(), second.size()}, sink_);
  ASSERT_TRUE(reader.Append(first).ok());
  EXPECT_EQ(reader.Finish().code(), ErrorCode::kMalformedFile);
}

TEST_F(SplitGgufTest, APortionOverTwoFilesIsRefused) {
  std::vector<uint8_t> first = File(0, 2, 2), second = File(1, 2, 2);
  GgufReader reader({first.size(), second.size()}, sink_);
  first.insert(first.end(), second.begin(), second.end());
  EXPECT_EQ(reader.Append(first).code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace kvasir
