#include "format/gguf_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "collector.h"
#include "gguf_writer.h"

namespace kvasir {
namespace {

class GgufReaderTest : public ::testing::Test {
 protected:
  GgufReaderTest() {
    writer_.StringKey("general.architecture", "test");
    writer_.F32Tensor("first", {5, 2}, 1);
    writer_.F32Tensor("second", {3}, 100);
  }

  // Reads whole, or in portions; the reader is kept for its metadata.
  Status Read(const std::vector<uint8_t>& bytes, size_t portion = SIZE_MAX) {
    sink_ = Collector();
    reader_ = std::make_unique<GgufReader>(std::vector<uint64_t>{bytes.size()}, sink_);
    for (size_t at = 0; at < bytes.size(); at += portion) {
      const size_t count = std::min(portion, bytes.size() - at);
      if (Status status = reader_->Append({bytes.data() + at, count}); !status.ok()) return status;
      if (portion == SIZE_MAX) break;
    }
    return reader_->Finish();
  }

  void ExpectMalformed(const std::string& part_of_message) {
    ExpectError(writer_.Write(), ErrorCode::kMalformedFile, part_of_message);
  }
  void ExpectError(const std::vector<uint8_t>& bytes, ErrorCode code,
                   const std::string& part_of_message) {
    const Status status = Read(bytes);
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_NE(status.message().find(part_of_message), std::string::npos) << status.message();
    if (code == ErrorCode::kMalformedFile) {
      EXPECT_NE(status.message().find("at byte"), std::string::npos)
          << "no offset: " << status.message();
    }
  }

  GgufWriter writer_;
  Collector sink_;
  std::unique_ptr<GgufReader> reader_;
};

TEST_F(GgufReaderTest, TensorsArriveWithTheirShapeAndBytes) {
  ASSERT_TRUE(Read(writer_.Write()).ok());
  EXPECT_EQ(sink_.infos["first"].shape, (std::array<int64_t, 4>{5, 2, 1, 1}));
  EXPECT_EQ(sink_.infos["first"].dimensions, 2);
  EXPECT_EQ(sink_.Floats("first"), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(sink_.Floats("second"), (std::vector<float>{100, 101, 102}));
  EXPECT_EQ(sink_.ended, sink_.order);
  EXPECT_EQ(sink_.metadata_calls, 1);
}

TEST_F(GgufReaderTest, TensorsOfEveryTypeHaveTheirSize) {
  const std::vector<std::pair<TensorType, uint64_t>> sizes = {{TensorType::kF32, 64 * 3 * 4},
                                                              {TensorType::kF16, 64 * 3 * 2},
                                                              {TensorType::kBF16, 64 * 3 * 2},
                                                              {TensorType::kQ8_0, 2 * 3 * 34},
                                                              {TensorType::kQ4_0, 2 * 3 * 18}};
  for (const auto& [type, size] : sizes) {
    GgufWriter writer;
    writer.tensors.push_back({"only", {64, 3}, static_cast<uint32_t>(type), 0, {}});
    for (uint64_t i = 0; i < size; ++i) {
      writer.tensors[0].data.push_back(static_cast<uint8_t>(i * 7));
    }
    const Status status = Read(writer.Write());
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(sink_.infos["only"].type, type);
    EXPECT_EQ(sink_.tensors["only"], writer.tensors[0].data);
    writer.tensors[0].data.pop_back();
    ExpectError(writer.Write(), ErrorCode::kMalformedFile, "\"only\"");
  }
}

TEST_F(GgufReaderTest, PortionsOfAnySizeGiveTheSame) {
  writer_.StringKey("padding", std::string(70000, 'x'));  // longer than the first attempt
  for (size_t portion : {1u, 7u, 4096u, 65537u}) {
    const Status status = Read(writer_.Write(), portion);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(sink_.Floats("second"), (std::vector<float>{100, 101, 102})) << portion;
    EXPECT_EQ(sink_.metadata_calls, 1);
  }
}

TEST_F(GgufReaderTest, VersionTwoIsRead) {
  writer_.version = 2;
  EXPECT_TRUE(Read(writer_.Write()).ok());
}

TEST_F(GgufReaderTest, AnotherAlignmentIsFollowed) {
  writer_.tensors.clear();
  writer_.alignment = 128;
  writer_.Key<uint32_t>("general.alignment", ValueType::kUint32, 128);
  writer_.F32Tensor("first", {5}, 1);
  writer_.F32Tensor("second", {3}, 100);
  ASSERT_TRUE(Read(writer_.Write()).ok());
  EXPECT_EQ(sink_.Floats("second"), (std::vector<float>{100, 101, 102}));
}

TEST_F(GgufReaderTest, TensorsComeInTheOrderOfTheirBytes) {
  std::swap(writer_.tensors[0], writer_.tensors[1]);
  ASSERT_TRUE(Read(writer_.Write()).ok());
  EXPECT_EQ(sink_.order, (std::vector<std::string>{"first", "second"}));
}

TEST_F(GgufReaderTest, ASkippedTensorIsReadPast) {
  const std::vector<uint8_t> bytes = writer_.Write();
  sink_.skip = "first";
  GgufReader reader({bytes.size()}, sink_);
  ASSERT_TRUE(reader.Append(bytes).ok());
  ASSERT_TRUE(reader.Finish().ok());
  EXPECT_FALSE(sink_.tensors.contains("first"));
  EXPECT_EQ(sink_.Floats("second"), (std::vector<float>{100, 101, 102}));
}

TEST_F(GgufReaderTest, AnErrorOfTheSinkIsPassedOnAndFinal) {
  const std::vector<uint8_t> bytes = writer_.Write();
  sink_.refuse = "first";
  GgufReader reader({bytes.size()}, sink_);
  EXPECT_EQ(reader.Append(bytes).code(), ErrorCode::kOutOfMemory);
  EXPECT_EQ(reader.Append(bytes).code(), ErrorCode::kOutOfMemory);
  EXPECT_EQ(reader.Finish().code(), ErrorCode::kOutOfMemory);
}

TEST_F(GgufReaderTest, MetadataOfEveryTypeIsRead) {
  writer_.Key<uint8_t>("u8", ValueType::kUint8, 200);
  writer_.Key<int8_t>("i8", ValueType::kInt8, -100);
  writer_.Key<uint16_t>("u16", ValueType::kUint16, 60000);
  writer_.Key<int16_t>("i16", ValueType::kInt16, -30000);
  writer_.Key<uint32_t>("u32", ValueType::kUint32, 4000000000u);
  writer_.Key<int32_t>("i32", ValueType::kInt32, -2000000000);
  writer_.Key<uint64_t>("u64", ValueType::kUint64, 1ull << 62);
  writer_.Key<int64_t>("i64", ValueType::kInt64, -(1ll << 62));
  writer_.Key<uint64_t>("huge", ValueType::kUint64, UINT64_MAX);
  writer_.Key<float>("f32", ValueType::kFloat32, 1.5f);
  writer_.Key<double>("f64", ValueType::kFloat64, -2.25);
  writer_.Key<uint8_t>("yes", ValueType::kBool, 1);
  writer_.StringKey("text", "h\xc3\xa9");
  writer_.ArrayKey<int32_t>("ints", ValueType::kInt32, {1, -2, 3});
  writer_.ArrayKey<float>("floats", ValueType::kFloat32, {0.5f, -1});
  writer_.ArrayKey<uint8_t>("bools", ValueType::kBool, {1, 0});
  writer_.ArrayKey<std::string>("texts", ValueType::kString, {"a", "", "long enough"});
  writer_.ArrayKey<uint32_t>("none", ValueType::kUint32, {});
  writer_.keys.push_back(ByteWriter()
                             .Text("nested")
                             .Type(ValueType::kArray)
                             .Type(ValueType::kArray)
                             .Put<uint64_t>(1)
                             .Type(ValueType::kString)
                             .Put<uint64_t>(2)
                             .Text("x")
                             .Text("y")
                             .bytes());
  writer_.StringKey("after", "nested");
  const Status status = Read(writer_.Write());
  ASSERT_TRUE(status.ok()) << status.message();
  const Metadata& metadata = reader_->metadata();
  EXPECT_EQ(*metadata.Int("u8"), 200);
  EXPECT_EQ(*metadata.Int("i8"), -100);
  EXPECT_EQ(*metadata.Int("u16"), 60000);
  EXPECT_EQ(*metadata.Int("i16"), -30000);
  EXPECT_EQ(*metadata.Int("u32"), 4000000000);
  EXPECT_EQ(*metadata.Int("i32"), -2000000000);
  EXPECT_EQ(*metadata.Int("u64"), int64_t{1} << 62);
  EXPECT_EQ(*metadata.Int("i64"), -(int64_t{1} << 62));
  EXPECT_FALSE(metadata.Int("huge").ok());
  EXPECT_EQ(*metadata.Float("f32"), 1.5);
  EXPECT_EQ(*metadata.Float("f64"), -2.25);
  EXPECT_EQ(*metadata.Float("u8"), 200.0);
  EXPECT_EQ(*metadata.Bool("yes"), true);
  EXPECT_EQ(*metadata.String("text"), "h\xc3\xa9");
  EXPECT_EQ(*metadata.String("after"), "nested");
  EXPECT_EQ((*metadata.Array("ints", ValueType::kInt32))->Int(1), -2);
  EXPECT_EQ((*metadata.Array("floats", ValueType::kFloat32))->Float(0), 0.5);
  EXPECT_EQ((*metadata.Array("bools", ValueType::kBool))->Int(0), 1);
  EXPECT_EQ((*metadata.Array("texts", ValueType::kString))->String(2), "long enough");
  EXPECT_EQ((*metadata.Array("texts", ValueType::kString))->String(1), "");
  EXPECT_EQ((*metadata.Array("none", ValueType::kUint32))->size(), 0);
}

TEST_F(GgufReaderTest, AMissingOrWrongKeyIsNamed) {
  writer_.StringKey("text", "x");
  ASSERT_TRUE(Read(writer_.Write()).ok());
  const Metadata& metadata = reader_->metadata();
  EXPECT_NE(metadata.Int("text").status().message().find("text"), std::string::npos);
  EXPECT_FALSE(metadata.Float("text").ok());
  EXPECT_FALSE(metadata.Bool("text").ok());
  EXPECT_FALSE(metadata.Array("text", ValueType::kString).ok());
  EXPECT_NE(metadata.String("missing").status().message().find("missing"), std::string::npos);
  EXPECT_EQ(*metadata.IntOr("missing", 7), 7);
  EXPECT_FALSE(metadata.IntOr("text", 7).ok()) << "a key of the wrong kind is no missing key";
}

TEST_F(GgufReaderTest, WhatIsNoGgufIsRefused) {
  writer_.magic = 0x04034b50;
  ExpectMalformed("GGUF");
}

TEST_F(GgufReaderTest, OtherVersionsAreUnsupported) {
  writer_.version = 1;
  ExpectError(writer_.Write(), ErrorCode::kUnsupportedModel, "version 1");
  writer_.version = 0x03000000;
  ExpectError(writer_.Write(), ErrorCode::kUnsupportedModel, "big-endian");
}

TEST_F(GgufReaderTest, AbsurdCountsAreRefused) {
  writer_.extra_tensor_count = std::numeric_limits<int64_t>::max() / 2;
  ExpectMalformed("tensors do not fit");
  writer_.extra_tensor_count = 0;
  writer_.extra_key_count = 1ll << 40;
  ExpectMalformed("keys do not fit");
}

TEST_F(GgufReaderTest, AKeyThatAppearsTwiceIsRefused) {
  writer_.StringKey("general.architecture", "again");
  ExpectMalformed("general.architecture");
}

TEST_F(GgufReaderTest, ATensorThatAppearsTwiceIsRefused) {
  writer_.F32Tensor("first", {2}, 0);
  ExpectMalformed("\"first\"");
}

TEST_F(GgufReaderTest, LengthsBeyondTheFileAreRefused) {
  writer_.keys.push_back(
      ByteWriter().Text("bad").Type(ValueType::kString).Put<uint64_t>(UINT64_MAX).bytes());
  ExpectMalformed("\"bad\"");
  writer_.keys.back() = ByteWriter()
                            .Text("bad")
                            .Type(ValueType::kArray)
                            .Type(ValueType::kUint64)
                            .Put<uint64_t>(UINT64_MAX / 8 + 2)
                            .bytes();
  ExpectMalformed("\"bad\"");
  writer_.keys.back() = ByteWriter()
                            .Text("bad")
                            .Type(ValueType::kArray)
                            .Type(ValueType::kString)
                            .Put<uint64_t>(1ull << 60)
                            .bytes();
  ExpectMalformed("\"bad\"");
  writer_.keys.back() = ByteWriter().Put<uint64_t>(1ull << 63).bytes();
  ExpectMalformed("does not fit");
}

TEST_F(GgufReaderTest, UnknownTypesOfValuesAreRefused) {
  writer_.keys.push_back(ByteWriter().Text("bad").Put<uint32_t>(13).Put<uint64_t>(0).bytes());
  ExpectMalformed("\"bad\"");
  writer_.keys.back() =
      ByteWriter().Text("bad").Type(ValueType::kArray).Put<uint32_t>(99).Put<uint64_t>(0).bytes();
  ExpectMalformed("\"bad\"");
}

TEST_F(GgufReaderTest, ABoolMustBeZeroOrOne) {
  writer_.Key<uint8_t>("flag", ValueType::kBool, 2);
  ExpectMalformed("\"flag\"");
  writer_.keys.pop_back();
  writer_.ArrayKey<uint8_t>("flags", ValueType::kBool, {0, 1, 255});
  ExpectMalformed("\"flags\"");
}

TEST_F(GgufReaderTest, DeepNestingIsRefused) {
  ByteWriter nested;
  nested.Text("deep").Type(ValueType::kArray);
  for (int i = 0; i < 1000; ++i) nested.Type(ValueType::kArray).Put<uint64_t>(1);
  writer_.keys.push_back(nested.bytes());
  ExpectMalformed("deep");
}

TEST_F(GgufReaderTest, BadAlignmentsAreRefused) {
  for (uint32_t bad : {0u, 24u, 1u << 31}) {
    writer_.keys.resize(1);
    writer_.Key<uint32_t>("general.alignment", ValueType::kUint32, bad);
    ExpectMalformed("general.alignment");
  }
  writer_.keys.resize(1);
  writer_.StringKey("general.alignment", "32");
  ExpectMalformed("general.alignment");
}

TEST_F(GgufReaderTest, BadShapesAreRefused) {
  const auto expect = [&](const std::vector<int64_t>& shape) {
    writer_.tensors[0].shape = shape;
    ExpectMalformed("\"first\"");
  };
  expect({});
  expect({1, 1, 1, 1, 1});
  expect({0});
  expect({-5, -2});
  expect({int64_t{1} << 62, 4});
  expect({int64_t{1} << 61, 1});
  expect({int64_t{1} << 30, int64_t{1} << 30, 1, 1});
}

TEST_F(GgufReaderTest, UnknownTensorTypesAreUnsupported) {
  writer_.tensors[0].type = 4;
  ExpectError(writer_.Write(), ErrorCode::kUnsupportedModel, "\"first\"");
  ExpectError(writer_.Write(), ErrorCode::kUnsupportedModel, "type number 4");
  ExpectError(writer_.Write(), ErrorCode::kUnsupportedModel, "F32, F16, BF16, Q8_0, Q4_0");
}

TEST_F(GgufReaderTest, RowsMustBeWholeBlocks) {
  writer_.tensors[0].type = static_cast<uint32_t>(TensorType::kQ8_0);
  ExpectMalformed("\"first\"");
}

TEST_F(GgufReaderTest, OffsetsMustBeAlignedInsideTheFileAndApart) {
  const uint64_t right = writer_.tensors[1].offset;
  for (uint64_t wrong : {right + 4, uint64_t{0}, uint64_t{32}, uint64_t{1} << 40, UINT64_MAX - 31,
                         UINT64_MAX - 63}) {
    writer_.tensors[1].offset = wrong;
    ExpectMalformed("tensor \"");
  }
}

TEST_F(GgufReaderTest, AShortFileIsRefusedWhereverItEnds) {
  const std::vector<uint8_t> whole = writer_.Write();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(Read(cut).code(), ErrorCode::kMalformedFile) << size << " bytes";
  }
}

TEST_F(GgufReaderTest, ADownloadThatStopsIsNoticed) {
  const std::vector<uint8_t> whole = writer_.Write();
  GgufReader reader({whole.size()}, sink_);
  ASSERT_TRUE(reader.Append(std::span(whole).first(whole.size() - 1)).ok());
  const Status status = reader.Finish();
  EXPECT_EQ(status.code(), ErrorCode::kMalformedFile);
  EXPECT_NE(status.message().find("incomplete"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace kvasir
