# Finds Emscripten: the one that the set-up installed, else the one on the PATH.
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
set(installed ${root}/.toolchain/emscripten)
if(EXISTS ${installed}/emscripten.cfg)
  set(ENV{EM_CONFIG} ${installed}/emscripten.cfg)
  set(EMSCRIPTEN_ROOT ${installed}/usr/share/emscripten)
else()
  find_program(emcc emcc REQUIRED)
  execute_process(COMMAND em-config EMSCRIPTEN_ROOT OUTPUT_VARIABLE EMSCRIPTEN_ROOT
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
include(${EMSCRIPTEN_ROOT}/cmake/Modules/Platform/Emscripten.cmake)
