# The libraries that Kvasir is built on: from FETCHCONTENT_SOURCE_DIR_<NAME>, from
# .toolchain/src where the set-up put them, or from the upstream release.
include(FetchContent)

foreach(name highway sentencepiece pcre2 yyjson googletest benchmark)
  string(TOUPPER ${name} upper)
  set(local ${CMAKE_CURRENT_SOURCE_DIR}/.toolchain/src/${name})
  if(NOT FETCHCONTENT_SOURCE_DIR_${upper} AND EXISTS ${local})
    set(FETCHCONTENT_SOURCE_DIR_${upper} ${local})
  endif()
endforeach()

function(kvasir_source name url hash)
  FetchContent_Declare(${name} URL ${url} URL_HASH SHA256=${hash})
  FetchContent_GetProperties(${name})
  if(NOT ${name}_POPULATED)
    FetchContent_Populate(${name})
  endif()
  set(${name}_SOURCE_DIR ${${name}_SOURCE_DIR} PARENT_SCOPE)
endfunction()

# Highway: headers only, since every build has one static target.
kvasir_source(highway https://github.com/google/highway/archive/refs/tags/1.2.0.tar.gz
              7e0be78b8318e8bdbf6fa545d2ecb4c90f947df03f7aadc42c1967f019e63343)
add_library(highway INTERFACE)
target_include_directories(highway SYSTEM INTERFACE ${highway_SOURCE_DIR})

# sentencepiece: what encoding and decoding need, without the trainer.
kvasir_source(sentencepiece https://github.com/google/sentencepiece/archive/refs/tags/v0.1.97.tar.gz
              41c3a07f315e3ac87605460c8bb8d739955bc8e7f478caec4017ef9b7d78669b)
set(spm ${sentencepiece_SOURCE_DIR})
file(GLOB protobuf_sources ${spm}/third_party/protobuf-lite/*.cc)
add_library(protobuf-lite STATIC ${protobuf_sources})
target_include_directories(protobuf-lite SYSTEM PUBLIC ${spm}/third_party/protobuf-lite PRIVATE ${spm})
add_library(sentencepiece STATIC
  ${spm}/src/bpe_model.cc ${spm}/src/char_model.cc ${spm}/src/error.cc ${spm}/src/filesystem.cc
  ${spm}/src/model_factory.cc ${spm}/src/model_interface.cc ${spm}/src/normalizer.cc
  ${spm}/src/sentencepiece_processor.cc ${spm}/src/unigram_model.cc ${spm}/src/util.cc
  ${spm}/src/word_model.cc ${spm}/src/builtin_pb/sentencepiece.pb.cc
  ${spm}/src/builtin_pb/sentencepiece_model.pb.cc ${spm}/third_party/absl/flags/flag.cc
  ${spm}/third_party/absl/strings/string_view.cc)
target_link_libraries(sentencepiece PUBLIC protobuf-lite)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/sentencepiece/config.h CONTENT
     "#define VERSION \"0.1.97\"\n#define PACKAGE \"sentencepiece\"\n#define PACKAGE_STRING \"sentencepiece\"\n")
target_include_directories(sentencepiece SYSTEM
  PUBLIC ${spm}/src ${spm}/src/builtin_pb
  PRIVATE ${spm} ${spm}/third_party ${CMAKE_CURRENT_BINARY_DIR}/sentencepiece)
# One unit each, which takes a sixth of the time. protobuf's macros do not outlive a file of it.
set_target_properties(protobuf-lite sentencepiece PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
set_target_properties(protobuf-lite PROPERTIES UNITY_BUILD_CODE_AFTER_INCLUDE
  "#ifdef PROTOBUF_NAMESPACE\n#include <google/protobuf/port_undef.inc>\n#endif")
foreach(library protobuf-lite sentencepiece)
  target_compile_definitions(${library} PRIVATE HAVE_PTHREAD=1 _USE_INTERNAL_STRING_VIEW)
  target_compile_options(${library} PRIVATE -w)
  if(EMSCRIPTEN)
    target_compile_options(${library} PRIVATE -Oz -fno-exceptions -fno-rtti)
  endif()
endforeach()

# PCRE2: compiling and matching patterns of UTF-8, interpreted. The sources that upstream builds with its defaults, less what no pattern of ours needs.
kvasir_source(pcre2 https://github.com/PCRE2Project/pcre2/releases/download/pcre2-10.42/pcre2-10.42.tar.gz
              c33b418e3b936ee3153de2c61cc638e7e4fe3156022a5c77d0711bcbb9d64f1f)
set(pcre2 ${pcre2_SOURCE_DIR}/src)
set(pcre2_generated ${CMAKE_CURRENT_BINARY_DIR}/pcre2)
configure_file(${pcre2}/config.h.generic ${pcre2_generated}/config.h COPYONLY)
configure_file(${pcre2}/pcre2.h.generic ${pcre2_generated}/pcre2.h COPYONLY)
configure_file(${pcre2}/pcre2_chartables.c.dist ${pcre2_generated}/pcre2_chartables.c COPYONLY)
set(pcre2_sources ${pcre2_generated}/pcre2_chartables.c)
foreach(part auto_possess compile context extuni find_bracket jit_compile match match_data newline
             ord2utf script_run string_utils study tables ucd valid_utf xclass)
  list(APPEND pcre2_sources ${pcre2}/pcre2_${part}.c)
endforeach()
add_library(pcre2 STATIC ${pcre2_sources})
target_include_directories(pcre2 SYSTEM PUBLIC ${pcre2_generated} PRIVATE ${pcre2})
target_compile_definitions(pcre2 PUBLIC PCRE2_CODE_UNIT_WIDTH=8 PCRE2_STATIC
                           PRIVATE HAVE_CONFIG_H SUPPORT_PCRE2_8 SUPPORT_UNICODE HAVE_MEMMOVE)
target_compile_options(pcre2 PRIVATE -w)
if(EMSCRIPTEN)  # all but the matching is made small
  set(pcre2_cold ${pcre2_sources})
  list(FILTER pcre2_cold EXCLUDE REGEX "_(match|xclass|extuni|ord2utf|ucd)\\.c$")
  set_source_files_properties(${pcre2_cold} PROPERTIES COMPILE_OPTIONS -Oz)
endif()

# yyjson: its reader. Numbers go through strtod: no table of powers of ten.
kvasir_source(yyjson https://github.com/ibireme/yyjson/archive/refs/tags/0.10.0.tar.gz
              0d901cb2c45c5586e3f3a4245e58c2252d6b24bf4b402723f6179523d389b165)
add_library(yyjson STATIC ${yyjson_SOURCE_DIR}/src/yyjson.c)
target_include_directories(yyjson SYSTEM PUBLIC ${yyjson_SOURCE_DIR}/src)
target_compile_definitions(yyjson PUBLIC YYJSON_DISABLE_WRITER=1 YYJSON_DISABLE_UTILS=1
                           YYJSON_DISABLE_NON_STANDARD=1 YYJSON_DISABLE_FAST_FP_CONV=1)
target_compile_options(yyjson PRIVATE -w)
if(EMSCRIPTEN)
  target_compile_options(yyjson PRIVATE -Oz)
endif()

if(KVASIR_TESTS)
  # Compiled here, with the flags of this build.
  kvasir_source(googletest https://github.com/google/googletest/archive/refs/tags/release-1.12.1.tar.gz
                81964fe578e9bd7c94dfdb09c8e4d6e6759e19967e397dbea48d1c10e45d0df2)
  add_library(gtest STATIC ${googletest_SOURCE_DIR}/googletest/src/gtest-all.cc)
  target_include_directories(gtest SYSTEM PUBLIC ${googletest_SOURCE_DIR}/googletest/include
                             PRIVATE ${googletest_SOURCE_DIR}/googletest)
endif()

if(KVASIR_KERNEL_BENCH)
  kvasir_source(benchmark https://github.com/google/benchmark/archive/refs/tags/v1.7.1.tar.gz
                6430e4092653380d9dc4ccb45a1e2dc9259d581f4866dc0759713126056bc1d7)
  file(GLOB benchmark_sources ${benchmark_SOURCE_DIR}/src/*.cc)
  list(FILTER benchmark_sources EXCLUDE REGEX benchmark_main)
  add_library(benchmark STATIC EXCLUDE_FROM_ALL ${benchmark_sources})
  target_include_directories(benchmark SYSTEM PUBLIC ${benchmark_SOURCE_DIR}/include)
  target_compile_definitions(benchmark PUBLIC BENCHMARK_STATIC_DEFINE
                             PRIVATE HAVE_STD_REGEX HAVE_STEADY_CLOCK)
  target_compile_options(benchmark PRIVATE -w)
endif()
