#include "tokenizer/sentencepiece_tokenizer.h"

#include <gtest/gtest.h>
#include <sentencepiece_model.pb.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

namespace kvasir {
namespace {

constexpr char kMark[] = "\xe2\x96\x81";

// <unk> <s> </s>, 256 bytes, a few pieces with merges, a user-defined token and
// a control token.
class SentencePieceTokenizerTest : public ::testing::Test {
 protected:
  SentencePieceTokenizerTest() {
    Add("<unk>", 0, TokenKind::kUnknown);
    Add("<s>", 0, TokenKind::kControl);
    Add("</s>", 0, TokenKind::kControl);
    for (int value = 0; value < 256; ++value) {
      char spelling[8];
      std::snprintf(spelling, sizeof(spelling), "<0x%02X>", value);
      Add(spelling, 0, TokenKind::kByte);
    }
    for (const std::string& piece :
         std::vector<std::string>{mark_, "a", "b", "c", "ab", mark_ + "ab", "bc"}) {
      Add(piece, -static_cast<float>(spellings_.size()), TokenKind::kNormal);
    }
    Add("<|user|>", 0, TokenKind::kUserDefined);
    Add("<|end|>", 0, TokenKind::kControl);
  }

  void Add(std::string spelling, float score, TokenKind kind) {
    spellings_.push_back(std::move(spelling));
    vocabulary_.scores.push_back(score);
    vocabulary_.kinds.push_back(static_cast<int32_t>(kind));
  }

  Result<std::unique_ptr<Tokenizer>> Make() {
    vocabulary_.tokens.assign(spellings_.begin(), spellings_.end());
    return MakeSentencePieceTokenizer(vocabulary_);
  }

  TokenId IdOf(std::string_view spelling) const {
    for (size_t i = 0; i < spellings_.size(); ++i) {
      if (spellings_[i] == spelling) return static_cast<TokenId>(i);
    }
    ADD_FAILURE() << "no token " << spelling;
    return -1;
  }

  std::vector<TokenId> Ids(std::initializer_list<std::string_view> spellings) const {
    std::vector<TokenId> ids;
    for (std::string_view spelling : spellings) ids.push_back(IdOf(spelling));
    return ids;
  }

  std::vector<TokenId> Encode(std::string_view text, bool parse_special = false,
                              std::optional<bool> add_bos = false) {
    const Result<std::unique_ptr<Tokenizer>> tokenizer = Make();
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
    EncodeOptions options;
    options.add_bos = add_bos;
    options.parse_special = parse_special;
    return (*tokenizer)->Encode(text, options);
  }

  void ExpectMalformed(std::string_view part_of_message) {
    const Result<std::unique_ptr<Tokenizer>> tokenizer = Make();
    ASSERT_FALSE(tokenizer.ok());
    EXPECT_EQ(tokenizer.status().code(), ErrorCode::kMalformedFile);
    EXPECT_NE(tokenizer.status().message().find(part_of_message), std::string::npos)
        << tokenizer.status().message();
  }

  const std::string mark_ = kMark;
  std::vector<std::string> spellings_;
  SentencePieceVocabulary vocabulary_;
};

TEST_F(SentencePieceTokenizerTest, MergesTheBestScoreFirst) {
  EXPECT_EQ(Encode("abc"), Ids({mark_ + "ab", "c"}));
  EXPECT_EQ(Encode("bc"), Ids({mark_, "bc"}));
}

TEST_F(SentencePieceTokenizerTest, EmptyTextHasNoTokensButBos) {
  EXPECT_EQ(Encode(""), std::vector<TokenId>());
  EXPECT_EQ(Encode("", false, true), std::vector<TokenId>{1});
}

TEST_F(SentencePieceTokenizerTest, BosFollowsTheVocabularyUnlessSaid) {
  EXPECT_EQ(Encode("a", false, std::nullopt).front(), 1);
  vocabulary_.add_bos = false;
  EXPECT_EQ(Encode("a", false, std::nullopt).front(), IdOf(mark_));
  EXPECT_EQ(Encode("a", false, true).front(), 1);
}

TEST_F(SentencePieceTokenizerTest, TheSpacePrefixCanBeOff) {
  vocabulary_.add_space_prefix = false;
  EXPECT_EQ(Encode("abc"), Ids({"ab", "c"}));
}

TEST_F(SentencePieceTokenizerTest, UnknownCharactersFallBackToTheirBytes) {
  EXPECT_EQ(Encode("\xc3\xa9"), Ids({mark_, "<0xC3>", "<0xA9>"}));
  EXPECT_EQ(Encode(std::string_view("\0", 1)), Ids({mark_, "<0x00>"}));
}

TEST_F(SentencePieceTokenizerTest, InvalidUtf8BecomesTheReplacementCharacter) {
  EXPECT_EQ(Encode("\xff"), Ids({mark_, "<0xEF>", "<0xBF>", "<0xBD>"}));
}

TEST_F(SentencePieceTokenizerTest, WithoutBytesAnUnknownCharacterIsTheUnknownToken) {
  spellings_.erase(spellings_.begin() + 3, spellings_.begin() + 259);
  vocabulary_.scores.erase(vocabulary_.scores.begin() + 3, vocabulary_.scores.begin() + 259);
  vocabulary_.kinds.erase(vocabulary_.kinds.begin() + 3, vocabulary_.kinds.begin() + 259);
  EXPECT_EQ(Encode("az"), Ids({mark_, "a", "<unk>"}));
}

TEST_F(SentencePieceTokenizerTest, ControlTokensInTextAreTextUnlessParsed) {
  const std::vector<TokenId> text = Encode("a<|end|>");
  EXPECT_EQ(std::count(text.begin(), text.end(), IdOf("<|end|>")), 0);
  EXPECT_EQ(Encode("a<|end|>b", true), Ids({mark_, "a", "<|end|>", mark_, "b"}));
}

TEST_F(SentencePieceTokenizerTest, UserDefinedTokensAreAlwaysParsed) {
  EXPECT_EQ(Encode("<|user|>ab"), Ids({"<|user|>", mark_ + "ab"}));
}

TEST_F(SentencePieceTokenizerTest, TheLongestSpecialTokenWins) {
  Add("<|end|>>", 0, TokenKind::kControl);
  EXPECT_EQ(Encode("<|end|>>", true), Ids({"<|end|>>"}));
}

TEST_F(SentencePieceTokenizerTest, DecodingGivesTextBack) {
  const auto tokenizer = Make();
  ASSERT_TRUE(tokenizer.ok());
  for (const std::string text : {"abc", " abc", "  a  b ", "\xc3\xa9\n", "<|user|>ab", ""}) {
    EXPECT_EQ((*tokenizer)->Decode(Encode(text)), text);
  }
}

TEST_F(SentencePieceTokenizerTest, ControlTokensAreDecodedOnlyWhenAskedFor) {
  const auto tokenizer = Make();
  ASSERT_TRUE(tokenizer.ok());
  const std::vector<TokenId> ids = Ids({"<s>", mark_ + "ab", "<|end|>", "</s>"});
  EXPECT_EQ((*tokenizer)->Decode(ids), "ab");
  EXPECT_EQ((*tokenizer)->Decode(ids, true), "<s>ab<|end|></s>");
}

TEST_F(SentencePieceTokenizerTest, IdsOutsideTheVocabularyAddNothing) {
  const auto tokenizer = Make();
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ((*tokenizer)->TokenBytes(-1), "");
  EXPECT_EQ((*tokenizer)->TokenBytes((*tokenizer)->vocab_size()), "");
}

TEST_F(SentencePieceTokenizerTest, AStreamHoldsBackHalfACodePoint) {
  const auto tokenizer = Make();
  ASSERT_TRUE(tokenizer.ok());
  StreamingDetokenizer stream(**tokenizer);
  EXPECT_EQ(stream.Push(IdOf(mark_ + "ab")), "ab");
  EXPECT_EQ(stream.Push(IdOf("<0xC3>")), "");
  EXPECT_EQ(stream.Push(IdOf("<0xA9>")), "\xc3\xa9");
  EXPECT_EQ(stream.Push(IdOf("<0xE2>")), "");
  EXPECT_EQ(stream.Flush(), "\xef\xbf\xbd");
}

TEST_F(SentencePieceTokenizerTest, AContinuationKeepsItsLeadingSpace) {
  const auto tokenizer = Make();
  ASSERT_TRUE(tokenizer.ok());
  StreamingDetokenizer stream(**tokenizer, /*at_start=*/false);
  EXPECT_EQ(stream.Push(IdOf(mark_ + "ab")), " ab");
}

TEST_F(SentencePieceTokenizerTest, EndOfGenerationIsEosAndWhatTheFileAdds) {
  vocabulary_.end_of_generation = Ids({"<|end|>"});
  const auto tokenizer = Make();
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_TRUE((*tokenizer)->IsEndOfGeneration(2));
  EXPECT_TRUE((*tokenizer)->IsEndOfGeneration(IdOf("<|end|>")));
  EXPECT_FALSE((*tokenizer)->IsEndOfGeneration(1));
}

TEST_F(SentencePieceTokenizerTest, PaddingTokensThatRepeatOrAreEmptyAreTolerated) {
  Add("ab", -1, TokenKind::kNormal);
  Add("", -1, TokenKind::kNormal);
  Add("<|end|>", -1, TokenKind::kControl);
  EXPECT_EQ(Encode("abc"), Ids({mark_ + "ab", "c"}));
}

TEST_F(SentencePieceTokenizerTest, DamagedVocabulariesAreRefused) {
  const SentencePieceVocabulary whole = vocabulary_;
  vocabulary_.scores.pop_back();
  ExpectMalformed("tokenizer.ggml.scores");
  vocabulary_ = whole;
  vocabulary_.kinds.push_back(1);
  ExpectMalformed("tokenizer.ggml.token_type");
  vocabulary_ = whole;
  vocabulary_.kinds[5] = 7;
  ExpectMalformed("tokenizer.ggml.token_type");
  vocabulary_ = whole;
  vocabulary_.scores[5] = std::numeric_limits<float>::quiet_NaN();
  ExpectMalformed("tokenizer.ggml.scores");
  vocabulary_ = whole;
  vocabulary_.kinds[260] = static_cast<int32_t>(TokenKind::kByte);
  ExpectMalformed("marked as a byte");
  vocabulary_ = whole;
  vocabulary_.kinds[10] = static_cast<int32_t>(TokenKind::kNormal);
  ExpectMalformed("256 byte tokens");
  vocabulary_ = whole;
  vocabulary_.unknown = 100000;
  ExpectMalformed("unknown_token_id");
  vocabulary_ = whole;
  spellings_.clear();
  vocabulary_.scores.clear();
  vocabulary_.kinds.clear();
  ExpectMalformed("empty");
}

TEST_F(SentencePieceTokenizerTest, SpecialIdsOutsideTheVocabularyMeanThereIsNone) {
  vocabulary_.bos = -1;
  vocabulary_.eos = 100000;
  const auto tokenizer = Make();
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_FALSE((*tokenizer)->bos().has_value());
  EXPECT_FALSE((*tokenizer)->eos().has_value());
  EXPECT_FALSE((*tokenizer)->adds_bos());
}

TEST_F(SentencePieceTokenizerTest, ATokenizerModelFileGivesTheSameIds) {
  sentencepiece::ModelProto proto;
  for (size_t i = 0; i < spellings_.size(); ++i) {
    auto* piece = proto.add_pieces();
    piece->set_piece(spellings_[i]);
    piece->set_score(vocabulary_.scores[i]);
    piece->set_type(
        static_cast<sentencepiece::ModelProto::SentencePiece::Type>(vocabulary_.kinds[i]));
  }
  proto.mutable_trainer_spec()->set_model_type(sentencepiece::TrainerSpec::BPE);
  proto.mutable_trainer_spec()->set_byte_fallback(true);
  proto.mutable_normalizer_spec()->set_remove_extra_whitespaces(false);
  const auto tokenizer = MakeSentencePieceTokenizer(proto.SerializeAsString());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_EQ((*tokenizer)->bos(), 1);
  EXPECT_EQ((*tokenizer)->eos(), 2);
  for (const std::string text : {"abc", "a  b\xc3\xa9", "<|user|>ab"}) {
    EXPECT_EQ((*tokenizer)->Encode(text, {false, false}), Encode(text)) << text;
  }
}

TEST_F(SentencePieceTokenizerTest, GarbageIsNoTokenizerModel) {
  EXPECT_EQ(MakeSentencePieceTokenizer(std::string_view("no protobuf")).status().code(),
            ErrorCode::kMalformedFile);
  EXPECT_EQ(MakeSentencePieceTokenizer(std::string_view()).status().code(),
            ErrorCode::kMalformedFile);
}

TEST_F(SentencePieceTokenizerTest, AMegabyteIsTokenizedWithoutQuadraticTime) {
  const std::string text(1 << 20, 'a');  // no space to split at
  const std::vector<TokenId> ids = Encode(text);
  EXPECT_EQ(ids.size(), text.size() + 1);
}

}  // namespace
}  // namespace kvasir
