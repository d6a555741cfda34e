#include "base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace kvasir {
namespace {

TEST(JsonTest, WhatIsNotThereIsEmpty) {
  const Result<JsonDocument> document = JsonDocument::Parse(
      R"({"text":"a\u00e9","number":2.5,"whole":3.0,"flag":true,"none":null,"list":[1,"b"]})",
      "it");
  ASSERT_TRUE(document.ok());
  const JsonValue root = document->root();
  EXPECT_EQ(root["text"].String(), "a\xc3\xa9");
  EXPECT_EQ(root["text"].Number(), std::nullopt);
  EXPECT_EQ(root["number"].Number(), 2.5);
  EXPECT_EQ(root["number"].Int(), std::nullopt);
  EXPECT_EQ(root["whole"].Int(), 3);
  EXPECT_EQ(root["flag"].Bool(), true);
  EXPECT_FALSE(root["none"].Exists());
  EXPECT_FALSE(root["missing"].Exists());
  EXPECT_FALSE(root["missing"]["below"]["that"].Exists());
  EXPECT_EQ(root["text"].size(), 0u);
  EXPECT_EQ(JsonValue().StringOr("x"), "x");
}

TEST(JsonTest, ListsAndObjectsAreLoopedOver) {
  const Result<JsonDocument> document =
      JsonDocument::Parse(R"({"a":[1,[2,3],{"x":[]}],"b":{},"c":[],"d":4})", "it");
  ASSERT_TRUE(document.ok());
  std::string seen;
  for (const auto& [key, value] : document->root().Members()) {
    seen += std::string(key) + std::to_string(value.size());
    for (JsonValue item : value.Items()) seen += item.IsArray() ? "[" : item.IsObject() ? "{" : "1";
    for (const auto& member : value.Members()) seen += member.first;
  }
  EXPECT_EQ(seen, "a31[{b0c0d0");
}

TEST(JsonTest, ErrorsNameTheFileAndThePlace) {
  for (const std::string text :
       {"", "{", "{\"a\":1,}", "nul", "[1] 2", "\"\xff\"", "\"\\ud800\""}) {
    const Result<JsonDocument> document = JsonDocument::Parse(text, "some.json");
    ASSERT_FALSE(document.ok()) << text;
    EXPECT_EQ(document.status().code(), ErrorCode::kMalformedFile);
    EXPECT_EQ(document.status().message().find("some.json"), 0u);
  }
}

TEST(JsonTest, DepthTakesNoStack) {
  const std::string deep = std::string(1 << 20, '[') + std::string(1 << 20, ']');
  EXPECT_TRUE(JsonDocument::Parse(deep, "it").ok());
}

}  // namespace
}  // namespace kvasir
