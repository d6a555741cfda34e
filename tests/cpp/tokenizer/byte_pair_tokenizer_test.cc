#include "tokenizer/byte_pair_tokenizer.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "small_byte_vocabulary.h"

namespace kvasir {
namespace {

using Ids = std::vector<TokenId>;

TEST(BytePairTokenizerTest, BytesThatNothingMergesAreTheirTokens) {
  SmallByteVocabulary small;
  EXPECT_EQ(small.Encode("a \xc3\xa9\n"), (Ids{'a', ' ', 0xc3, 0xa9, '\n'}));
  EXPECT_EQ(small.Encode(std::string("\0", 1)), Ids{0});
  EXPECT_EQ(small.Encode(""), Ids{});
}

TEST(BytePairTokenizerTest, EarlierMergesGoFirstAndOfOneMergeTheLeftmost) {
  SmallByteVocabulary small;
  const TokenId bc = small.Merge("b", "c");
  const TokenId ab = small.Merge("a", "b");
  const TokenId aa = small.Merge("a", "a");
  EXPECT_EQ(small.Encode("abc"), (Ids{'a', bc}));
  EXPECT_EQ(small.Encode("abab"), (Ids{ab, ab}));
  EXPECT_EQ(small.Encode("aaa"), (Ids{aa, 'a'}));
  EXPECT_EQ(small.Encode("aab"), (Ids{'a', ab}));
}

TEST(BytePairTokenizerTest, AMergeThatIsThereTwiceHasItsFirstRank) {
  SmallByteVocabulary small;
  const TokenId ab = small.Merge("a", "b");
  small.Merge("b", "c");
  small.merges.push_back("a b");
  EXPECT_EQ(small.Encode("abc"), (Ids{ab, 'c'}));
}

TEST(BytePairTokenizerTest, MergesDoNotCrossWords) {
  SmallByteVocabulary small;
  const TokenId space_a = small.Merge(" ", "a");
  small.Merge("a", " ");
  small.Merge("1", "a");
  EXPECT_EQ(small.Encode("a a1a"), (Ids{'a', space_a, '1', 'a'}));
}

TEST(BytePairTokenizerTest, AWordThatIsATokenIsThatTokenWhereMergesAreIgnored) {
  SmallByteVocabulary small;
  small.Merge("a", "b");
  const TokenId bc = small.Merge("b", "c");
  const TokenId abc = small.Add("abc");  // which no merges lead to
  const TokenId ab = bc - 1;
  EXPECT_EQ(small.Encode("abc abc"), (Ids{ab, 'c', ' ', ab, 'c'}));
  small.vocabulary.ignore_merges = true;
  EXPECT_EQ(small.Encode("abc abc"), (Ids{abc, ' ', ab, 'c'}));
}

TEST(BytePairTokenizerTest, UserDefinedTokensAreAlwaysFoundAndControlTokensWhereAsked) {
  SmallByteVocabulary small;
  const TokenId control = small.Add("<|s|>", TokenKind::kControl);
  const TokenId user = small.Add("<u>", TokenKind::kUserDefined);
  const TokenId longer = small.Add("<|s|>>", TokenKind::kControl);
  EXPECT_EQ(small.Encode("a<u>b", false), (Ids{'a', user, 'b'}));
  EXPECT_EQ(small.Encode("<|s|>", false), (Ids{'<', '|', 's', '|', '>'}));
  EXPECT_EQ(small.Encode("a<|s|>>b<|s|>", true), (Ids{'a', longer, 'b', control}));
}

TEST(BytePairTokenizerTest, SpecialTokensAreSpelledAsTheyAre) {
  SmallByteVocabulary small;
  const TokenId spaced = small.Add("<a b\xef\xbd\x9c>", TokenKind::kControl);
  const TokenId latin = small.Add(Spelled("\x80"), TokenKind::kUnused);
  EXPECT_EQ(small.spellings.back(), "\xc4\xa2") << "and 0x80 is there twice";
  small.spellings.back() = "\xe2\x96\x81x";
  const auto tokenizer = small.Make();
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(tokenizer->TokenBytes(spaced), "");
  EXPECT_EQ(tokenizer->TokenBytes(spaced, true), "<a b\xef\xbd\x9c>");
  EXPECT_EQ(tokenizer->TokenBytes(latin), "\xe2\x96\x81x") << "spells no bytes: as it is";
  EXPECT_EQ(small.Encode("<a b\xef\xbd\x9c>", true), Ids{spaced});
}

TEST(BytePairTokenizerTest, WhiteSpaceBehindATokenThatTakesItIsGone) {
  SmallByteVocabulary small;
  const TokenId takes = small.Add("<|t|>", TokenKind::kControl);
  const TokenId leaves = small.Add("<|l|>", TokenKind::kControl);
  small.vocabulary.strip_right = {takes};
  EXPECT_EQ(small.Encode("<|t|> \n\xc2\xa0"
                         "a<|l|> a",
                         true),
            (Ids{takes, 'a', leaves, ' ', 'a'}));
  EXPECT_EQ(small.Encode("<|t|>  ", true), Ids{takes});
}

TEST(BytePairTokenizerTest, BosAndEosAreAddedAsAskedOrAsTheVocabularySays) {
  SmallByteVocabulary small;
  small.vocabulary.bos = small.Add("<s>", TokenKind::kControl);
  small.vocabulary.eos = small.Add("</s>", TokenKind::kControl);
  const TokenId bos = small.vocabulary.bos;
  const TokenId eos = small.vocabulary.eos;
  EXPECT_EQ(small.Encode("a"), Ids{'a'});
  EncodeOptions both;
  both.add_bos = both.add_eos = true;
  EXPECT_EQ(small.Make()->Encode("a", both), (Ids{bos, 'a', eos}));
  small.vocabulary.add_bos = small.vocabulary.add_eos = true;
  EXPECT_EQ(small.Encode("a"), (Ids{bos, 'a', eos}));
  EncodeOptions neither;
  neither.add_bos = neither.add_eos = false;
  EXPECT_EQ(small.Make()->Encode("a", neither), Ids{'a'});
  EXPECT_TRUE(small.Make()->adds_bos());
  EXPECT_TRUE(small.Make()->IsEndOfGeneration(eos));
}

TEST(BytePairTokenizerTest, TextDoesNotMergeIntoAControlToken) {
  SmallByteVocabulary small;
  const TokenId control = small.Merge("a", "b");
  small.vocabulary.kinds.back() = static_cast<int32_t>(TokenKind::kControl);
  EXPECT_EQ(small.Encode("ab"), (Ids{'a', 'b'}));
  EXPECT_EQ(small.Encode("ab", true), Ids{control});
}

TEST(BytePairTokenizerTest, AByteWithoutATokenIsLeftOut) {
  SmallByteVocabulary small;
  small.spellings['b'] = "";
  EXPECT_EQ(small.Encode("abc"), (Ids{'a', 'c'}));
}

TEST(BytePairTokenizerTest, InvalidUtf8IsReplacedAndBrokenTokensAreHeldBack) {
  SmallByteVocabulary small;
  EXPECT_EQ(small.Encode("\xff"), (Ids{0xef, 0xbf, 0xbd}));
  const auto tokenizer = small.Make();
  StreamingDetokenizer stream(*tokenizer);
  EXPECT_EQ(stream.Push(0xf0), "");
  EXPECT_EQ(stream.Push(0x9f), "");
  EXPECT_EQ(stream.Push(0x98), "");
  EXPECT_EQ(stream.Push(0x80), "\xf0\x9f\x98\x80");
  EXPECT_EQ(stream.Push(0xc3), "");
  EXPECT_EQ(stream.Push('a'),
            "\xef\xbf\xbd"
            "a");
  EXPECT_EQ(stream.Push(0xe2), "");
  EXPECT_EQ(stream.Flush(), "\xef\xbf\xbd");
  EXPECT_EQ(tokenizer->Decode(Ids{' ', 'a'}), " a") << "a space at the start stays";
}

TEST(BytePairTokenizerTest, DamagedVocabulariesAreMalformed) {
  const auto expect_malformed = [](std::string_view part, auto damage) {
    SmallByteVocabulary small;
    small.Merge("a", "b");
    damage(small);
    const auto tokenizer = small.TryMake();
    ASSERT_FALSE(tokenizer.ok()) << part;
    EXPECT_EQ(tokenizer.status().code(), ErrorCode::kMalformedFile);
    EXPECT_NE(tokenizer.status().message().find(part), std::string::npos)
        << tokenizer.status().message();
    EXPECT_LT(tokenizer.status().message().size(), 300u);
  };
  using Small = SmallByteVocabulary;
  expect_malformed("merges", [](Small& small) { small.merges.push_back("ab"); });
  expect_malformed("merges", [](Small& small) { small.merges.push_back(""); });
  expect_malformed("merges", [](Small& small) { small.merges.push_back("a "); });
  expect_malformed("merges", [](Small& small) { small.merges.push_back(" a"); });
  expect_malformed("merges", [](Small& small) { small.merges.push_back("a b c"); });
  expect_malformed("merge 1", [](Small& small) { small.merges.push_back("ab unheard-of"); });
  expect_malformed("merge 1", [](Small& small) { small.merges.push_back("ab ab"); });
  expect_malformed("merges", [](Small& small) {
    small.merges.push_back(std::string(1 << 20, 'x') + " " + std::string(1 << 20, 'y'));
  });
  expect_malformed("is there twice, as 97 and as 257", [](Small& small) { small.Add("a"); });
  expect_malformed("is there twice", [](Small& small) { small.Add("a", TokenKind::kControl); });
  expect_malformed("marked as a byte", [](Small& small) { small.Add("<0x>", TokenKind::kByte); });
  expect_malformed("token_type", [](Small& small) { small.vocabulary.kinds.push_back(1); });
  expect_malformed("token_type", [](Small& small) { small.vocabulary.kinds[3] = 7; });
  expect_malformed("unknown_token_id", [](Small& small) { small.vocabulary.unknown = 257; });
  expect_malformed("tokens is empty", [](Small& small) {
    small.spellings.clear();
    small.vocabulary.kinds.clear();
  });
}

TEST(BytePairTokenizerTest, IdsOutsideTheVocabularyAreNoTokens) {
  SmallByteVocabulary small;
  small.vocabulary.bos = 256;
  small.vocabulary.eos = std::numeric_limits<TokenId>::max();
  small.vocabulary.add_bos = true;
  const auto tokenizer = small.Make();
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(tokenizer->bos(), std::nullopt);
  EXPECT_EQ(tokenizer->eos(), std::nullopt);
  EXPECT_EQ(tokenizer->TokenBytes(256), "");
  EXPECT_EQ(tokenizer->TokenBytes(-1), "");
  EXPECT_TRUE(tokenizer->IsSpecial(256));
}

TEST(BytePairTokenizerTest, AnExpressionThatIsNoneIsRefused) {
  SmallByteVocabulary small;
  small.vocabulary.expressions = {"\\p{L}+", "(unclosed"};
  EXPECT_EQ(small.TryMake().status().code(), ErrorCode::kInvalidArgument);
}

TEST(BytePairTokenizerTest, EmptyTokensAreHolesInTheVocabulary) {
  SmallByteVocabulary small;
  const TokenId hole = small.Add("");
  small.Add("", TokenKind::kControl);
  EXPECT_EQ(small.Encode("a", true), Ids{'a'});
  EXPECT_EQ(small.Make()->TokenBytes(hole), "");
}

// Would not end in a quadratic time.
TEST(BytePairTokenizerTest, AWordOfAMegabyteIsEncoded) {
  SmallByteVocabulary small;
  std::string doubled = "a";
  while (doubled.size() < 64) {
    small.Merge(doubled, doubled);
    doubled += doubled;
  }
  small.Merge("a", "b");
  small.Merge("b", "a");
  const auto tokenizer = small.Make();
  ASSERT_NE(tokenizer, nullptr);
  constexpr size_t kLength = 1 << 20;
  EXPECT_EQ(tokenizer->Encode(std::string(kLength, 'a'), {}).size(), kLength / 64);
  std::mt19937 random(1);
  std::string text;
  while (text.size() < kLength) text += random() % 4 == 0 ? 'b' : 'a';
  EXPECT_EQ(tokenizer->Decode(tokenizer->Encode(text, {})), text);
}

}  // namespace
}  // namespace kvasir
