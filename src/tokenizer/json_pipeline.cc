#include "tokenizer/json_pipeline.h"

#include <string_view>

#include "tokenizer/known_pre_tokenizers.h"
#include "tokenizer/space_mark.h"

namespace kvasir {
namespace {

Status Unsupported(std::string_view step, std::string_view detail = "") {
  return UnsupportedModel("tokenizer.json: " + std::string(step) + std::string(detail) +
                          " is not supported by this build");
}

std::string_view TypeOf(JsonValue step) { return step["type"].StringOr("of no type"); }

// A text that stands for itself, as an expression.
std::string Literal(std::string_view text) {
  std::string expression;
  for (char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       static_cast<unsigned char>(c) >= 0x80;
    if (!plain) expression += '\\';
    expression += c;
  }
  return expression;
}

}  // namespace

Status JsonPipeline::Read(JsonValue root, BytePairVocabulary& vocabulary) {
  if (Status status = ReadNormalizer(root["normalizer"], vocabulary); !status.ok()) return status;
  if (Status status = ReadPreTokenizer(root["pre_tokenizer"], vocabulary); !status.ok()) {
    return status;
  }
  if (vocabulary.by_characters && by_bytes_) return Unsupported("ByteLevel with spaces as U+2581");
  // Bytes or characters: BPE without either would be of words that are no text here.
  if (!vocabulary.by_characters && !by_bytes_) {
    return Unsupported("a pipeline without ByteLevel, Metaspace or a Replace of spaces");
  }
  return Status();
}

void JsonPipeline::GiveExpressions(BytePairVocabulary& vocabulary) const {
  vocabulary.expressions.assign(expressions_.begin(), expressions_.end());
}

Status JsonPipeline::ReadNormalizer(JsonValue step, BytePairVocabulary& vocabulary) {
  if (!step.Exists()) return Status();
  const std::string_view type = TypeOf(step);
  if (type == "Sequence") {
    for (JsonValue part : step["normalizers"].Items()) {
      if (Status status = ReadNormalizer(part, vocabulary); !status.ok()) return status;
    }
    return Status();
  }
  if (type == "NFC") {
    asks_for_nfc = true;
    return Status();
  }
  if (type == "Prepend" && step["prepend"].StringOr("") == kSpaceMark) {
    vocabulary.space_prefix = {
        .adds = true, .first_only = false, .unless_there = false, .normalizes = true};
    return Status();
  }
  if (type == "Replace" && step["pattern"]["String"].StringOr("") == " " &&
      step["content"].StringOr("") == kSpaceMark) {
    vocabulary.by_characters = true;
    return Status();
  }
  return Unsupported("the normalizer ", type);
}

Status JsonPipeline::ReadPreTokenizer(JsonValue step, BytePairVocabulary& vocabulary) {
  if (!step.Exists()) return Status();
  const std::string_view type = TypeOf(step);
  if (type == "Sequence") {
    for (JsonValue part : step["pretokenizers"].Items()) {
      if (Status status = ReadPreTokenizer(part, vocabulary); !status.ok()) return status;
    }
    return Status();
  }
  if (type == "ByteLevel") {
    by_bytes_ = true;
    if (step["add_prefix_space"].BoolOr(true)) {
      if (!expressions_.empty()) return Unsupported("add_prefix_space", " behind a Split");
      vocabulary.space_prefix = {
          .adds = true, .first_only = false, .unless_there = true, .normalizes = false};
    }
    if (step["use_regex"].BoolOr(true)) {
      expressions_.emplace_back(FindPreTokenizer("gpt-2")->expressions[0]);
    }
    return Status();
  }
  if (type == "Digits") {
    expressions_.emplace_back(step["individual_digits"].BoolOr(false) ? "\\p{N}" : "\\p{N}+");
    return Status();
  }
  if (type == "Metaspace" && step["replacement"].StringOr(kSpaceMark) == kSpaceMark) {
    ReadMetaspace(step, vocabulary);
    return Status();
  }
  if (type == "Split") return ReadSplit(step, vocabulary);
  return Unsupported("the pre-tokenizer ", type);
}

Status JsonPipeline::ReadSplit(JsonValue step, BytePairVocabulary& vocabulary) {
  const auto expression = step["pattern"]["Regex"].String();
  const auto text = step["pattern"]["String"].String();
  if (!expression && !text) return MalformedFile("tokenizer.json: a Split has no pattern");
  // Of spaces there are none left.
  if (vocabulary.by_characters && text == " ") return Status();
  const std::string_view behavior = step["behavior"].StringOr("");
  const bool matches_only = behavior == "Removed" && step["invert"].BoolOr(false);
  if (matches_only ? !expressions_.empty() : behavior != "Isolated") {
    return Unsupported("a Split with the behavior ", behavior);
  }
  vocabulary.matches_only = matches_only;
  expressions_.push_back(expression ? std::string(*expression) : Literal(*text));
  return Status();
}

void JsonPipeline::ReadMetaspace(JsonValue step, BytePairVocabulary& vocabulary) {
  const bool adds = step["add_prefix_space"].BoolOr(true);
  const std::string_view scheme = step["prepend_scheme"].StringOr(adds ? "always" : "never");
  vocabulary.by_characters = true;
  vocabulary.space_prefix = {.adds = scheme != "never",
                             .first_only = scheme == "first",
                             .unless_there = true,
                             .normalizes = false};
  if (step["split"].BoolOr(true)) {
    const std::string mark(kSpaceMark);
    expressions_.push_back(mark + "[^" + mark + "]*");
  }
}

}  // namespace kvasir
