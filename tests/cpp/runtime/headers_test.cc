// What the headers of a model say is what the loaded model says.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/model_loader.h"
#include "shared_models.h"

namespace kvasir {
namespace {

Result<std::shared_ptr<const Model>> Load(const std::string& file, bool headers_only) {
  ModelLoader loader({{"", file.size()}}, std::nullopt, {}, headers_only);
  const auto* bytes = reinterpret_cast<const uint8_t*>(file.data());
  if (Status status = loader.Append({bytes, file.size()}); !status.ok()) return status;
  return loader.Finish();
}

std::string EmbeddedModel() {
  return ReadFile(std::string(KVASIR_SOURCE_DIR) + "/models/kvasir-stories.gguf").value_or("");
}

TEST(HeadersTest, SayWhatTheLoadedModelSays) {
  const std::string file = EmbeddedModel();
  const auto loaded = Load(file, false), headers = Load(file, true);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  ASSERT_TRUE(headers.ok()) << headers.status().message();
  EXPECT_FALSE((*headers)->has_weights());
  EXPECT_TRUE((*headers)->problem().ok());
  EXPECT_EQ((*headers)->description().architecture, "llama");
  EXPECT_EQ((*headers)->description().vocabulary, "SentencePiece");
  EXPECT_EQ((*headers)->config().layers, (*loaded)->config().layers);
  ASSERT_EQ((*headers)->type_use().size(), (*loaded)->type_use().size());
  for (const auto& [type, use] : (*loaded)->type_use()) {
    const TypeUse& of_headers = (*headers)->type_use().at(type);
    EXPECT_EQ(of_headers.tensors, use.tensors);
    EXPECT_EQ(of_headers.elements, use.elements);
    EXPECT_EQ(of_headers.bytes, use.bytes);
  }
}

TEST(HeadersTest, OfAnUnknownArchitectureTellWhyItCannotRun) {
  std::string file = EmbeddedModel();
  constexpr std::string_view kKey = "general.architecture";
  const size_t name = file.find(kKey) + kKey.size() + 4 + 8;  // the value's type and length
  ASSERT_EQ(file.substr(name, 5), "llama");
  file[name] = 'x';
  EXPECT_FALSE(Load(file, false).ok());
  const auto headers = Load(file, true);
  ASSERT_TRUE(headers.ok()) << headers.status().message();
  EXPECT_EQ((*headers)->problem().code(), ErrorCode::kUnsupportedModel);
  EXPECT_NE((*headers)->problem().message().find("xlama"), std::string::npos);
  EXPECT_FALSE((*headers)->has_config());
  EXPECT_FALSE((*headers)->type_use().empty());
}

TEST(HeadersTest, ADamagedFileIsRefused) {
  const std::string file = EmbeddedModel();
  EXPECT_FALSE(Load(file.substr(0, file.size() / 2), true).ok());
}

}  // namespace
}  // namespace kvasir
