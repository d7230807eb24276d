# What every Weft target has in common, and one helper a kind of target:
#
#   weft_add_library(NAME SOURCES... [COMPILER] [LINK LIBS...])     a static library; COMPILER: it may use MLIR
#   weft_add_dialect(NAME FAMILIES...)                             declared in AddWeftDialect, compiler only
#   weft_add_tool(NAME SOURCES... [COMPILER] [EXCEPTIONS] [LINK LIBS...])   an executable in build/bin
#   weft_add_test(NAME SOURCES... [COMPILER] [LINK LIBS...])        a GoogleTest executable, one ctest entry

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set_property(GLOBAL PROPERTY USE_FOLDERS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_package(Threads REQUIRED)

add_library(weft_options INTERFACE)
target_compile_options(weft_options INTERFACE
  -Wall -Wextra -Werror -Wno-unused-parameter
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>
  # What arithmetic means is written in the Spec; the host compiler may not contract a*b+c on its own.
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these two on correct code of its own standard library at -O2.
  target_compile_options(weft_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized -Wno-dangling-pointer>)
endif()
target_include_directories(weft_options INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
# Generated headers mirror the source folders under the build folder; SYSTEM, because they are not ours to keep free of warnings.
target_include_directories(weft_options SYSTEM INTERFACE "${PROJECT_BINARY_DIR}")
if(WEFT_SANITIZE)
  target_compile_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g1)
  target_link_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE})
  # Without this libFuzzer sees nothing of what an input reaches outside the target's own file.
  if(WEFT_BUILD_FUZZERS)
    target_compile_options(weft_options INTERFACE -fsanitize=fuzzer-no-link)
    target_link_options(weft_options INTERFACE -fsanitize=fuzzer-no-link)
  endif()
endif()

# Compiler code is built as LLVM is: no RTTI, no exceptions. FindWeftCompilerDependencies fills this in.
add_library(weft_compiler_options INTERFACE)
target_link_libraries(weft_compiler_options INTERFACE weft_options)

macro(_weft_common target)
  if(ARG_COMPILER)
    target_link_libraries(${target} PUBLIC weft_compiler_options)
  else()
    target_link_libraries(${target} PUBLIC weft_options)
  endif()
  if(ARG_COMPILER AND NOT ARG_EXCEPTIONS)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
  endif()
  target_link_libraries(${target} PUBLIC ${ARG_LINK})
  if(ARG_COMPILER AND NOT ARG_EXCEPTIONS AND TARGET weft_precompiled)
    target_precompile_headers(${target} REUSE_FROM weft_precompiled)
    # Executables too are compiled as the headers were: -fPIC in the place of the -fPIE that the property gives them.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endmacro()

function(weft_add_library name)
  cmake_parse_arguments(ARG "COMPILER;EXCEPTIONS" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  _weft_common(${name})
endfunction()

function(weft_add_tool name)
  cmake_parse_arguments(ARG "COMPILER;EXCEPTIONS" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  _weft_common(${name})
endfunction()

function(weft_add_test name)
  cmake_parse_arguments(ARG "COMPILER;EXCEPTIONS" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  _weft_common(${name})
  # A test spends its time in what it tests, and is compiled more often than it runs. Precompiled headers fix the level.
  if(NOT ARG_COMPILER)
    target_compile_options(${name} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1>)
  endif()
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/test/bin")
  add_test(NAME unit.${name} COMMAND ${name} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()
