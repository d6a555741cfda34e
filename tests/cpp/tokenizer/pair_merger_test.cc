// The queue of merges against merging written down as plainly as it can be.
#include "tokenizer/pair_merger.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace kvasir {
namespace {

using Ids = std::vector<TokenId>;

struct Rule {
  TokenId left;
  TokenId right;
  TokenId result;
};

// Applies the first rule that fits anywhere, at the leftmost place, over and over.
Ids PlainMerges(Ids ids, const std::vector<Rule>& rules) {
  while (true) {
    size_t rank = rules.size();
    size_t place = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      for (size_t r = 0; r < rank; ++r) {
        if (rules[r].left != ids[i] || rules[r].right != ids[i + 1]) continue;
        rank = r;
        place = i;
      }
    }
    if (rank == rules.size()) return ids;
    ids[place] = rules[rank].result;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

TEST(PairMergerTest, MergesAsThePlainWayDoes) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    // Any pairs may give any token, even one of lower rank: no vocabulary is so odd.
    const TokenId tokens = 2 + static_cast<TokenId>(random() % 8);
    const auto token = [&] { return static_cast<TokenId>(random()) & 0xffff; };
    std::vector<Rule> rules(random() % 24);
    MergeTable table(rules.size());
    for (size_t i = 0; i < rules.size(); ++i) {
      rules[i] = {token() % tokens, token() % tokens, token() % tokens};
      table.Add(rules[i].left, rules[i].right, {static_cast<uint32_t>(i), rules[i].result});
    }
    PairMerger merger(table);
    for (int word = 0; word < 5; ++word) {
      Ids symbols(random() % 40);
      for (TokenId& symbol : symbols) {
        symbol = token() % tokens;
        merger.Push(symbol);
      }
      Ids merged;
      merger.MergeInto(merged);
      ASSERT_EQ(merged, PlainMerges(symbols, rules)) << "round " << round;
    }
  }
}

TEST(PairMergerTest, NothingKeepsItsNeighboursApart) {
  MergeTable table(1);
  table.Add(1, 2, {0, 3});
  PairMerger merger(table);
  for (TokenId symbol : {1, PairMerger::kNothing, 2, 1, 2}) merger.Push(symbol);
  Ids ids;
  merger.MergeInto(ids);
  EXPECT_EQ(ids, (Ids{1, 2, 3}));
}

TEST(MergeTableTest, FindsWhatWasAddedAndNothingElse) {
  MergeTable table(1000);
  std::mt19937 random(3);
  std::vector<Rule> rules;
  for (int i = 0; i < 1000; ++i) {
    const TokenId left = static_cast<TokenId>(random() >> 1);
    rules.push_back({left, i, i * 2});
    table.Add(left, i, {static_cast<uint32_t>(i), i * 2});
    table.Add(left, i, {0, 0});
  }
  for (const Rule& rule : rules) {
    const MergeTable::Merge* merge = table.Find(rule.left, rule.right);
    ASSERT_NE(merge, nullptr);
    EXPECT_EQ(merge->rank, static_cast<uint32_t>(rule.right)) << "the first counts";
    EXPECT_EQ(merge->result, rule.result);
    EXPECT_EQ(table.Find(rule.left, rule.right + 1000), nullptr);
  }
}

}  // namespace
}  // namespace kvasir
