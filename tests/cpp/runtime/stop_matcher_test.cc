#include "runtime/stop_matcher.h"

#include <gtest/gtest.h>

namespace kvasir {
namespace {

TEST(StopMatcherTest, TextThatCannotBeginAStopIsShownAtOnce) {
  StopMatcher matcher({"END"});
  EXPECT_EQ(matcher.Push("hello"), "hello");
  EXPECT_FALSE(matcher.stopped());
}

TEST(StopMatcherTest, AStopSpreadOverPiecesIsFoundAndNeverShown) {
  StopMatcher matcher({"</s>"});
  EXPECT_EQ(matcher.Push("a<"), "a");
  EXPECT_EQ(matcher.Push("/"), "");
  EXPECT_EQ(matcher.Push("s"), "");
  EXPECT_EQ(matcher.Push(">b"), "");
  EXPECT_TRUE(matcher.stopped());
  EXPECT_EQ(matcher.Push("more"), "");
  EXPECT_EQ(matcher.Flush(), "");
}

TEST(StopMatcherTest, AFalseBeginIsShownLater) {
  StopMatcher matcher({"</s>"});
  EXPECT_EQ(matcher.Push("a</"), "a");
  EXPECT_EQ(matcher.Push("p>"), "</p>");
}

TEST(StopMatcherTest, ABeginInsideABeginIsKept) {
  StopMatcher matcher({"aab"});
  EXPECT_EQ(matcher.Push("aaa"), "a");  // "aa" may still begin "aab"
  EXPECT_EQ(matcher.Push("b!"), "");
  EXPECT_TRUE(matcher.stopped());
}

TEST(StopMatcherTest, TheEarliestStopWins) {
  StopMatcher matcher({"late", "early"});
  EXPECT_EQ(matcher.Push("x early then late"), "x ");
  EXPECT_TRUE(matcher.stopped());
}

TEST(StopMatcherTest, FlushGivesWhatWasHeldBack) {
  StopMatcher matcher({"STOP"});
  EXPECT_EQ(matcher.Push("go ST"), "go ");
  EXPECT_EQ(matcher.Flush(), "ST");
}

TEST(StopMatcherTest, EmptyStopsAreIgnored) {
  StopMatcher matcher({""});
  EXPECT_EQ(matcher.Push("text"), "text");
  EXPECT_FALSE(matcher.stopped());
}

}  // namespace
}  // namespace kvasir
