// safetensors files, right and damaged.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "format/safetensors_reader.h"
#include "runtime/safetensors_files.h"

namespace kvasir {
namespace {

class Taker : public SafetensorsSink {
 public:
  Status OnHeader(const std::vector<SafetensorsTensor>& tensors) override {
    for (const SafetensorsTensor& tensor : tensors) announced.push_back(tensor.name);
    return Status();
  }
  Status BeginTensor(const SafetensorsTensor& tensor) override {
    order.push_back(tensor.name);
    taken.emplace_back();
    return Status();
  }
  Status TensorBytes(std::span<const uint8_t> bytes) override {
    taken.back().append(bytes.begin(), bytes.end());
    return Status();
  }
  Status EndTensor(const SafetensorsTensor& tensor) override {
    EXPECT_EQ(tensor.bytes(), taken.back().size());
    ++ended;
    return Status();
  }

  std::vector<std::string> announced, order, taken;
  int ended = 0;
};

Status Read(const std::string& file, size_t portion, Taker& taker) {
  SafetensorsReader reader("a.safetensors", file.size(), taker);
  const std::vector<FolderFile> files = {{"a.safetensors", file}};
  if (Status status = AppendAll(reader, files, portion); !status.ok()) return status;
  return reader.done() ? Status() : MalformedFile("incomplete");
}

std::string WithHeader(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  std::string file(sizeof(length), '\0');
  std::memcpy(file.data(), &length, sizeof(length));
  return file + header + data;
}

std::vector<SafetensorsEntry> Entries() {
  return {{"a", {2, 3}, "F32", std::string(24, 'a')},
          {"nothing", {0, 3}, "F16", ""},
          {"b", {5}, "BF16", std::string(10, 'b')},
          {"scalar", {}, "I64", std::string(8, 's')}};
}

TEST(SafetensorsTest, TensorsComeInAnyPortionsAsTheyStandInTheFile) {
  for (size_t portion : {1, 3, 8, 1000}) {
    Taker taker;
    const Status status = Read(WriteSafetensors(Entries()), portion, taker);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(taker.order, (std::vector<std::string>{"a", "nothing", "b", "scalar"}));
    EXPECT_EQ(taker.announced, taker.order);
    EXPECT_EQ(taker.taken[0], std::string(24, 'a'));
    EXPECT_EQ(taker.taken[2], std::string(10, 'b'));
    EXPECT_EQ(taker.ended, 4);
  }
}

TEST(SafetensorsTest, HeadersThatDoNotFitAreRefused) {
  const auto tensor = [](const std::string& name, const std::string& shape,
                         const std::string& offsets) {
    return "\"" + name + "\":{\"dtype\":\"U8\",\"shape\":" + shape +
           ",\"data_offsets\":" + offsets + "}";
  };
  const auto expect = [&](const std::string& header, const std::string& named) {
    Taker taker;
    const Status status = Read(WithHeader(header, std::string(8, 'x')), 7, taker);
    EXPECT_EQ(status.code(), ErrorCode::kMalformedFile) << header;
    EXPECT_NE(status.message().find(named), std::string::npos) << status.message();
    EXPECT_EQ(status.message().find("a.safetensors"), 0u) << status.message();
    EXPECT_TRUE(taker.order.empty());
  };
  const std::string first = tensor("first", "[4]", "[0,4]");
  expect("{" + first + "," + tensor("gap", "[3]", "[5,8]") + "}", "gap");
  expect("{" + first + "," + tensor("lap", "[5]", "[3,8]") + "}", "lap");
  expect("{" + first + "," + tensor("first", "[4]", "[4,8]") + "}", "first: it is there twice");
  expect("{" + first + "}", "the file has 8");
  expect("{" + first + "," + tensor("far", "[5]", "[4,9]") + "}", "cut off");
  expect("{" + first + "," + tensor("shape", "[5]", "[4,8]") + "}", "shape");
  expect("{" + first + "," + tensor("minus", "[-4]", "[4,8]") + "}", "minus");
  expect("{" + first + "," + tensor("half", "[0.5,8]", "[4,8]") + "}", "half");
  expect("{" + first + "," + tensor("back", "[4]", "[8,4]") + "}", "back");
  expect("{" + first + "," + tensor("one", "[4]", "[4]") + "}", "one");
  expect("{" + tensor("huge", "[4294967296,4294967296,8]", "[0,8]") + "}", "huge");
  expect("{\"untyped\":{\"shape\":[8],\"data_offsets\":[0,8]}}", "untyped");
  expect("[1]", "not a JSON object");
  expect("{\"a\":", "not JSON");
  expect("{\"" + std::string(5000, 'n') + "\":{}}", "nnn...");
}

TEST(SafetensorsTest, ALengthThatNoHeaderHasIsRefusedBeforeMemoryIsTaken) {
  for (uint64_t length : {uint64_t{0}, uint64_t{17}, uint64_t{1} << 40, ~uint64_t{0}}) {
    std::string file(24, ' ');
    std::memcpy(file.data(), &length, sizeof(length));
    Taker taker;
    EXPECT_EQ(Read(file, 5, taker).code(), ErrorCode::kMalformedFile) << length;
  }
  Taker taker;
  EXPECT_EQ(Read("short", 5, taker).code(), ErrorCode::kMalformedFile);
}

TEST(SafetensorsTest, EveryTruncationIsNoticed) {
  const std::string file = WriteSafetensors(Entries());
  for (size_t size = 0; size < file.size(); ++size) {
    Taker taker;
    EXPECT_FALSE(Read(file.substr(0, size), 11, taker).ok()) << size;
  }
}

TEST(SafetensorsTest, FlippedBitsGiveAnErrorOrATensorsWorthOfBytes) {
  std::mt19937 random(1);
  const std::string file = WriteSafetensors(Entries());
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = file;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips) {
      damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    }
    Taker taker;
    const Status status = Read(damaged, 13, taker);
    refused += status.ok() ? 0 : 1;
    EXPECT_TRUE(status.ok() || !status.message().empty());
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace kvasir
