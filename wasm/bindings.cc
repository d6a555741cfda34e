// The JavaScript face of the runtime (typed in web/package/src/wasm-module.ts).
// A call that can fail gives { value } or { code, message }: nothing throws
// across the border.
#include <emscripten/bind.h>
#include <emscripten/heap.h>
#include <emscripten/val.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "runtime/benchmark.h"
#include "runtime/generation.h"
#include "runtime/model.h"
#include "runtime/model_loader.h"
#include "runtime/session.h"
#include "wasm/model_info.h"

namespace kvasir {
namespace {

using emscripten::val;

constexpr size_t kLargestWindow = size_t{64} << 20;

val Value(val value) {
  val outcome = val::object();
  outcome.set("value", std::move(value));
  return outcome;
}

val Failure(const Status& status) {
  val outcome = val::object();
  outcome.set("code", std::string(ErrorCodeName(status.code())));
  outcome.set("message", status.message());
  return outcome;
}

val Done(const Status& status) { return status.ok() ? Value(val::undefined()) : Failure(status); }

// A typed array of its own: it does not view WebAssembly memory.
template <class T>
val Copied(std::span<const T> values) {
  return val(emscripten::typed_memory_view(values.size(), values.data()))
      .template call<val>("slice");
}

std::vector<TokenId> TokenIds(const val& ids) {
  return emscripten::convertJSArrayToNumberVector<TokenId>(ids);
}

class WasmGeneration {
 public:
  WasmGeneration(std::shared_ptr<Session> session, std::unique_ptr<Generation> generation)
      : session_(std::move(session)), generation_(std::move(generation)) {}

  val Step() {
    const Result<GenerationStep> step = generation_->Step();
    if (!step.ok()) return Failure(step.status());
    val out = val::object();
    out.set("kind", std::string(KindName(step->kind)));
    out.set("text", step->text);
    out.set("token", step->token ? val(*step->token) : val::undefined());
    out.set("promptTokens", static_cast<double>(step->prompt_tokens));
    out.set("finishReason", step->finish_reason
                                ? val(std::string(FinishReasonName(*step->finish_reason)))
                                : val::undefined());
    return Value(std::move(out));
  }

  void Cancel() { generation_->Cancel(); }

  val Timings() const {
    const GenerationTimings& timings = generation_->timings();
    val out = val::object();
    out.set("promptTokens", static_cast<double>(timings.prompt_tokens));
    out.set("reusedTokens", static_cast<double>(timings.reused_tokens));
    out.set("prefillTokens", static_cast<double>(timings.prefill_tokens));
    out.set("completionTokens", static_cast<double>(timings.completion_tokens));
    out.set("timeToFirstTokenMs", timings.time_to_first_token_ms);
    out.set("prefillMs", timings.prefill_ms);
    out.set("decodeMs", timings.decode_ms);
    return out;
  }

 private:
  static const char* KindName(StepKind kind) {
    switch (kind) {
      case StepKind::kPrefill:
        return "prefill";
      case StepKind::kToken:
        return "token";
      case StepKind::kDone:
        return "done";
    }
    return "done";
  }

  static const char* FinishReasonName(FinishReason reason) {
    switch (reason) {
      case FinishReason::kEos:
        return "eos";
      case FinishReason::kLength:
        return "length";
      case FinishReason::kStop:
        return "stop";
      case FinishReason::kAbort:
        return "abort";
      case FinishReason::kContext:
        return "context";
    }
    return "abort";
  }

  std::shared_ptr<Session> session_;
  std::unique_ptr<Generation> generation_;
};

// By the engine's own tables of Unicode. What has no code point from U+0300 on is
// normalized already.
std::string NormalizeNfc(std::string_view text) {
  constexpr uint8_t kLeadOfU0300 = 0xcc;
  const bool plain = std::all_of(text.begin(), text.end(),
                                 [](char c) { return static_cast<uint8_t>(c) < kLeadOfU0300; });
  if (plain) return std::string(text);
  // A string that comes from JavaScript loses a U+FEFF in front, which composes with nothing.
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  std::string normalized;
  while (text.starts_with(kMark)) {
    normalized += kMark;
    text.remove_prefix(kMark.size());
  }
  return normalized + val(std::string(text)).call<std::string>("normalize", std::string("NFC"));
}

GenerateOptions ReadGenerateOptions(const val& in) {
  GenerateOptions options;
  options.max_tokens = static_cast<int64_t>(in["maxTokens"].as<double>());
  options.ignore_eos = in["ignoreEos"].as<bool>();
  if (!in["shiftKeep"].isUndefined()) {
    options.shift_keep = static_cast<int64_t>(in["shiftKeep"].as<double>());
  }
  options.stops = emscripten::vecFromJSArray<std::string>(in["stop"]);
  SamplerOptions& sampler = options.sampler;
  sampler.temperature = in["temperature"].as<float>();
  sampler.top_k = in["topK"].as<int32_t>();
  sampler.top_p = in["topP"].as<float>();
  sampler.min_p = in["minP"].as<float>();
  sampler.repetition_penalty = in["repetitionPenalty"].as<float>();
  sampler.frequency_penalty = in["frequencyPenalty"].as<float>();
  sampler.presence_penalty = in["presencePenalty"].as<float>();
  sampler.penalty_window = in["penaltyWindow"].as<int32_t>();
  sampler.seed = static_cast<uint64_t>(in["seed"].as<double>());
  for (const val& pair : emscripten::vecFromJSArray<val>(in["logitBias"])) {
    sampler.logit_bias.emplace_back(pair[0].as<int32_t>(), pair[1].as<float>());
  }
  return options;
}

class WasmSession {
 public:
  explicit WasmSession(std::unique_ptr<Session> session) : session_(std::move(session)) {}

  val Options() const {
    const SessionOptions& options = session_->options();
    val out = val::object();
    out.set("contextLength", static_cast<double>(options.context_length));
    out.set("kvCache", std::string(KvTypeName(options.kv_type)));
    out.set("window", static_cast<double>(options.window));
    out.set("sink", static_cast<double>(options.sink));
    return out;
  }

  double KvCacheBytes() const { return static_cast<double>(session_->kv_cache_bytes()); }
  val Tokens() const { return Copied(session_->tokens()); }
  val Truncate(double length) { return Done(session_->Truncate(static_cast<int64_t>(length))); }

  val Fork() const {
    Result<std::unique_ptr<Session>> fork = session_->Fork();
    if (!fork.ok()) return Failure(fork.status());
    return Value(val(std::make_shared<WasmSession>(*std::move(fork))));
  }

  val Save() const {
    const Result<AlignedBuffer> saved = session_->Save();
    if (!saved.ok()) return Failure(saved.status());
    return Value(Copied(saved->bytes()));
  }

  val Logits(const val& tokens) {
    const Result<std::vector<float>> logits = session_->Logits(TokenIds(tokens));
    if (!logits.ok()) return Failure(logits.status());
    return Value(Copied(std::span<const float>(*logits)));
  }

  val LogProbabilities(const val& tokens) {
    const Result<std::vector<float>> scores = session_->LogProbabilities(TokenIds(tokens));
    if (!scores.ok()) return Failure(scores.status());
    return Value(Copied(std::span<const float>(*scores)));
  }

  val Measure(const std::string& test, double tokens, double depth) {
    const Result<double> seconds = MeasureSeconds(
        *session_, test == "prefill" ? BenchmarkTest::kPrefill : BenchmarkTest::kDecode,
        static_cast<int64_t>(tokens), static_cast<int64_t>(depth));
    if (!seconds.ok()) return Failure(seconds.status());
    return Value(val(*seconds * 1000));
  }

  val Generate(const val& prompt, const val& options) {
    Result<std::unique_ptr<Generation>> generation =
        Generation::Create(*session_, TokenIds(prompt), ReadGenerateOptions(options));
    if (!generation.ok()) return Failure(generation.status());
    return Value(val(std::make_shared<WasmGeneration>(session_, *std::move(generation))));
  }

 private:
  std::shared_ptr<Session> session_;
};

class WasmModel {
 public:
  explicit WasmModel(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

  std::string Info() const {
    return val::global("JSON").call<std::string>("stringify", ModelInfo(*model_));
  }

  val Tokenize(const std::string& text, const val& add_bos, bool parse_special) const {
    EncodeOptions options;
    if (!add_bos.isUndefined()) options.add_bos = add_bos.as<bool>();
    options.parse_special = parse_special;
    options.add_eos = false;  // a model goes on where a prompt ends
    const std::vector<TokenId> ids = model_->tokenizer().Encode(text, options);
    return Value(Copied(std::span<const TokenId>(ids)));
  }

  val Detokenize(const val& ids, bool special) const {
    return Value(val(model_->tokenizer().Decode(TokenIds(ids), special)));
  }

  // Sessions of one model take turns, so they share threads and scratch memory.
  val UseThreads(int threads) {
    Result<std::shared_ptr<Compute>> compute = Compute::Create(*model_, threads);
    if (!compute.ok()) return Failure(compute.status());
    compute_ = *std::move(compute);
    return Value(val::undefined());
  }

  val CreateSession(const val& in) const {
    const Result<KvType> kv_type = ParseKvType(in["kvCache"].as<std::string>());
    if (!kv_type.ok()) return Failure(kv_type.status());
    if (compute_ == nullptr) return Failure(NoThreads());
    SessionOptions options;
    options.context_length = static_cast<int64_t>(in["contextLength"].as<double>());
    options.kv_type = *kv_type;
    options.window = static_cast<int64_t>(in["window"].as<double>());
    options.sink = static_cast<int64_t>(in["sink"].as<double>());
    return Made(Session::Create(model_, options, compute_));
  }

  val RestoreSession(const val& bytes) const {
    if (compute_ == nullptr) return Failure(NoThreads());
    const size_t size = bytes["length"].as<size_t>();
    Result<AlignedBuffer> saved = AlignedBuffer::Allocate(size);
    if (!saved.ok()) return Failure(saved.status());
    val(emscripten::typed_memory_view(size, saved->data())).call<void>("set", bytes);
    return Made(Session::Restore(model_, saved->bytes(), compute_));
  }

 private:
  static Status NoThreads() { return InvalidArgument("say with how many threads to compute"); }

  static val Made(Result<std::unique_ptr<Session>> session) {
    if (!session.ok()) return Failure(session.status());
    return Value(val(std::make_shared<WasmSession>(*std::move(session))));
  }

  std::shared_ptr<const Model> model_;
  std::shared_ptr<Compute> compute_;
};

class WasmLoader {
 public:
  // `files`: { name, bytes } each. `quantize`: "q8_0", "q4_0" or "". `headers_only`:
  // the model will have no weights.
  val Begin(const val& files, const std::string& quantize, bool headers_only) {
    std::vector<ModelFile> list;
    for (const val& file : emscripten::vecFromJSArray<val>(files)) {
      list.push_back(
          {file["name"].as<std::string>(), static_cast<uint64_t>(file["bytes"].as<double>())});
    }
    std::optional<TensorType> type;
    if (quantize == "q8_0") type = TensorType::kQ8_0;
    if (quantize == "q4_0") type = TensorType::kQ4_0;
    loader_.emplace(std::move(list), type, &NormalizeNfc, headers_only);
    return Value(val::undefined());
  }

  val Window(size_t bytes) {
    if (bytes > kLargestWindow) {
      return Failure(InvalidArgument("a window has at most 64 MiB"));
    }
    if (bytes > window_.size()) {
      window_ = AlignedBuffer();
      Result<AlignedBuffer> window = AlignedBuffer::Allocate(bytes);
      if (!window.ok()) return Failure(window.status());
      window_ = *std::move(window);
    }
    return Value(val(emscripten::typed_memory_view(bytes, window_.data())));
  }

  val Append(size_t count) {
    if (!loader_.has_value() || count > window_.size()) {
      return Failure(InvalidArgument("nothing to append: begin, and fill a window first"));
    }
    return Done(loader_->Append(window_.bytes().first(count)));
  }

  val Finish() {
    if (!loader_.has_value()) return Failure(InvalidArgument("the loader was not begun"));
    Result<std::shared_ptr<const Model>> model = loader_->Finish();
    loader_.reset();
    window_ = AlignedBuffer();
    if (!model.ok()) return Failure(model.status());
    return Value(val(std::make_shared<WasmModel>(*std::move(model))));
  }

 private:
  std::optional<ModelLoader> loader_;
  AlignedBuffer window_;
};

double MemoryBytes() { return static_cast<double>(emscripten_get_heap_size()); }

}  // namespace

EMSCRIPTEN_BINDINGS(kvasir) {
  emscripten::function("memoryBytes", &MemoryBytes);
  emscripten::class_<WasmLoader>("Loader")
      .constructor<>()
      .function("begin", &WasmLoader::Begin)
      .function("window", &WasmLoader::Window)
      .function("append", &WasmLoader::Append)
      .function("finish", &WasmLoader::Finish);
  emscripten::class_<WasmModel>("Model")
      .smart_ptr<std::shared_ptr<WasmModel>>("ModelPointer")
      .function("info", &WasmModel::Info)
      .function("tokenize", &WasmModel::Tokenize)
      .function("detokenize", &WasmModel::Detokenize)
      .function("useThreads", &WasmModel::UseThreads)
      .function("createSession", &WasmModel::CreateSession)
      .function("restoreSession", &WasmModel::RestoreSession);
  emscripten::class_<WasmSession>("Session")
      .smart_ptr<std::shared_ptr<WasmSession>>("SessionPointer")
      .function("options", &WasmSession::Options)
      .function("kvCacheBytes", &WasmSession::KvCacheBytes)
      .function("tokens", &WasmSession::Tokens)
      .function("truncate", &WasmSession::Truncate)
      .function("fork", &WasmSession::Fork)
      .function("save", &WasmSession::Save)
      .function("logits", &WasmSession::Logits)
      .function("logProbabilities", &WasmSession::LogProbabilities)
      .function("measure", &WasmSession::Measure)
      .function("generate", &WasmSession::Generate);
  emscripten::class_<WasmGeneration>("Generation")
      .smart_ptr<std::shared_ptr<WasmGeneration>>("GenerationPointer")
      .function("step", &WasmGeneration::Step)
      .function("cancel", &WasmGeneration::Cancel)
      .function("timings", &WasmGeneration::Timings);
}

}  // namespace kvasir
