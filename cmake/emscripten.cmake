# The toolchain file of the WebAssembly presets: Emscripten where the set-up installed it, else that of the PATH.
set(EMSCRIPTEN_ROOT ${CMAKE_CURRENT_LIST_DIR}/../.toolchain/emscripten/usr/share/emscripten)
if(NOT EXISTS ${EMSCRIPTEN_ROOT}/emcc)
  find_program(EM_CONFIG_PROGRAM em-config REQUIRED)
  execute_process(COMMAND ${EM_CONFIG_PROGRAM} EMSCRIPTEN_ROOT OUTPUT_VARIABLE EMSCRIPTEN_ROOT
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
get_filename_component(EMSCRIPTEN_ROOT ${EMSCRIPTEN_ROOT} ABSOLUTE)
include(${EMSCRIPTEN_ROOT}/cmake/Modules/Platform/Emscripten.cmake)
