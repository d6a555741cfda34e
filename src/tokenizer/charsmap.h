// A check of SentencePiece's compiled normalization rules, which the library
// follows without looking at bounds.
#ifndef KVASIR_TOKENIZER_CHARSMAP_H_
#define KVASIR_TOKENIZER_CHARSMAP_H_

#include <string_view>

namespace kvasir {

// True when every step through the trie of `charsmap` stays inside it, every
// rule's replacement inside the text that follows the trie, and no replacement
// is absurdly long. Layout: the trie's bytes as u32, its Darts units as u32
// each, then NUL-terminated replacements. Source: sentencepiece's normalizer
// and darts-clone's unit layout.
bool IsSafeCharsmap(std::string_view charsmap);

}  // namespace kvasir

#endif  // KVASIR_TOKENIZER_CHARSMAP_H_
