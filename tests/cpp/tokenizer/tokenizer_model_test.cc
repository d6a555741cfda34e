// The bytes of a tokenizer.model, right and damaged.
#include <gtest/gtest.h>
#include <sentencepiece_model.pb.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "charsmap_builder.h"
#include "small_vocabulary.h"

namespace kvasir {
namespace {

using Ids = std::vector<TokenId>;
using sentencepiece::ModelProto;
using sentencepiece::TrainerSpec;

class TokenizerModelTest : public ::testing::Test {
 protected:
  TokenizerModelTest() {
    const auto add = [&](const std::string& spelling, ModelProto::SentencePiece::Type type) {
      ModelProto::SentencePiece* piece = proto_.add_pieces();
      piece->set_piece(spelling);
      piece->set_type(type);
    };
    add("<unk>", ModelProto::SentencePiece::UNKNOWN);
    add("<s>", ModelProto::SentencePiece::CONTROL);
    add("</s>", ModelProto::SentencePiece::CONTROL);
    for (const std::string& piece : {kMark, std::string("a"), std::string("b"), kMark + "a"}) {
      add(piece, ModelProto::SentencePiece::NORMAL);  // 3, 4, 5, 6
    }
    add("<|u|>", ModelProto::SentencePiece::USER_DEFINED);  // 7
    proto_.mutable_trainer_spec()->set_model_type(TrainerSpec::BPE);
  }

  Result<std::unique_ptr<Tokenizer>> Make() const {
    return MakeSentencePieceTokenizer(proto_.SerializeAsString());
  }

  Ids Encode(std::string_view text) const {
    const Result<std::unique_ptr<Tokenizer>> tokenizer = Make();
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
    return tokenizer.ok() ? (*tokenizer)->Encode(text, {false, false}) : Ids();
  }

  ModelProto proto_;
};

TEST_F(TokenizerModelTest, ItsNormalizationIsFollowed) {
  EXPECT_EQ(Encode("  a  b "), (Ids{6, 3, 5})) << "by default extra spaces go";
  proto_.mutable_normalizer_spec()->set_remove_extra_whitespaces(false);
  EXPECT_EQ(Encode(" b "), (Ids{3, 3, 5, 3}));
  proto_.mutable_normalizer_spec()->set_add_dummy_prefix(false);
  EXPECT_EQ(Encode(" b"), (Ids{3, 5}));
  EXPECT_EQ(Encode("A"), Ids{0});
  proto_.mutable_normalizer_spec()->set_precompiled_charsmap(CharsmapBuilder().Write());
  EXPECT_EQ(Encode("AbA"), (Ids{4, 5, 4}));
}

TEST_F(TokenizerModelTest, DamagedNormalizationRulesAreRefused) {
  CharsmapBuilder builder;
  builder.units[0] = 0x1fffffu << 10;
  proto_.mutable_normalizer_spec()->set_precompiled_charsmap(builder.Write());
  EXPECT_EQ(Make().status().code(), ErrorCode::kMalformedFile);
}

TEST_F(TokenizerModelTest, UserDefinedTokensAreFoundInText) {
  EXPECT_EQ(Encode("a<|u|>a"), (Ids{6, 7, 6}));
}

TEST_F(TokenizerModelTest, BosAndEosAreTheTokensThatItNames) {
  EXPECT_EQ((*Make())->bos(), 1);
  EXPECT_EQ((*Make())->eos(), 2);
  proto_.mutable_trainer_spec()->set_bos_piece("<bos>");
  proto_.mutable_trainer_spec()->set_eos_piece("<s>");
  EXPECT_EQ((*Make())->bos(), std::nullopt);
  EXPECT_EQ((*Make())->eos(), 1);
  EXPECT_FALSE((*Make())->adds_bos());
}

TEST_F(TokenizerModelTest, KindsOfModelsThatAreNotSupportedAreNamed) {
  for (auto type : {TrainerSpec::WORD, TrainerSpec::CHAR}) {
    proto_.mutable_trainer_spec()->set_model_type(type);
    EXPECT_EQ(Make().status().code(), ErrorCode::kUnsupportedModel);
  }
  proto_.mutable_trainer_spec()->set_model_type(TrainerSpec::BPE);
  proto_.mutable_trainer_spec()->set_treat_whitespace_as_suffix(true);
  EXPECT_EQ(Make().status().code(), ErrorCode::kUnsupportedModel);
}

TEST_F(TokenizerModelTest, AUnigramModelTakesTheLikeliestPieces) {
  proto_.mutable_trainer_spec()->set_model_type(TrainerSpec::UNIGRAM);
  const auto score = [&](int piece, float value) {
    proto_.mutable_pieces(piece)->set_score(value);
  };
  score(3, -3);
  score(4, -3);
  score(5, -3);
  score(6, -7);  // "▁a" costs more than its parts
  EXPECT_EQ(Encode("ab"), (Ids{3, 4, 5}));
  score(6, -5);
  EXPECT_EQ(Encode("ab"), (Ids{6, 5}));
  EXPECT_EQ(Encode("a?b"), (Ids{6, 0, 5}));
  const std::string text = "ab ba";
  EXPECT_EQ((*Make())->Decode(Encode(text)), text);
}

TEST_F(TokenizerModelTest, AZeroByteInAUnigramPieceIsNoTrouble) {
  proto_.mutable_trainer_spec()->set_model_type(TrainerSpec::UNIGRAM);
  proto_.mutable_pieces(4)->set_piece(std::string("a\0b", 3));
  EXPECT_EQ(Encode("b"), (Ids{3, 5}));
}

TEST_F(TokenizerModelTest, AScoreThatIsNoNumberIsRefused) {
  proto_.mutable_pieces(4)->set_score(std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(Make().status().code(), ErrorCode::kMalformedFile);
}

TEST_F(TokenizerModelTest, ItsOwnTestsAreNotRun) {
  auto* sample = proto_.mutable_self_test_data()->add_samples();
  sample->set_input("a");
  sample->set_expected("something else");
  EXPECT_TRUE(Make().ok());
}

TEST_F(TokenizerModelTest, DamagedBytesGiveAnErrorOrATokenizerThatWorks) {
  proto_.mutable_normalizer_spec()->set_precompiled_charsmap(CharsmapBuilder().Write());
  const std::string whole = proto_.SerializeAsString();
  std::mt19937 random(11);
  int loaded = 0;
  for (int copy = 0; copy < 2000; ++copy) {
    std::string bytes = whole;
    for (int flips = 1 + static_cast<int>(random() % 8); flips > 0; --flips) {
      // Half of them among the pieces and settings, which are few beside the trie.
      const size_t range = random() % 2 == 0 ? bytes.size() : 120;
      bytes[random() % range] ^= static_cast<char>(1u << random() % 8);
    }
    if (random() % 10 == 0) bytes.resize(random() % bytes.size());
    const Result<std::unique_ptr<Tokenizer>> tokenizer = MakeSentencePieceTokenizer(bytes);
    if (!tokenizer.ok()) {
      EXPECT_FALSE(tokenizer.status().message().empty());
      continue;
    }
    ++loaded;
    for (const std::string text : {"AbA ab <|u|>", "\xff\xc3\xa9  ", ""}) {
      const Ids ids = (*tokenizer)->Encode(text, {true, true});
      EXPECT_LE(ids.size(), 4096u);
      (*tokenizer)->Decode(ids);
    }
  }
  EXPECT_GT(loaded, 0) << "damage this light leaves some that load";
}

}  // namespace
}  // namespace kvasir
