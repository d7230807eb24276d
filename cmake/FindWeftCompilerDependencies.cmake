# What the compiler needs beyond the runtime: MLIR and LLVM 22, protobuf, and the LLVM CMake helpers.
if(NOT MLIR_DIR AND EXISTS "/usr/lib/llvm-22/lib/cmake/mlir")
  set(MLIR_DIR "/usr/lib/llvm-22/lib/cmake/mlir")
endif()
find_package(MLIR REQUIRED CONFIG)
if(LLVM_VERSION_MAJOR AND NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Weft needs MLIR 22, found ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}; ./dev setup installs it")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
set(MLIR_BINARY_DIR "${PROJECT_BINARY_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
find_package(Protobuf 3.21 REQUIRED)

target_include_directories(weft_compiler_options SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(weft_compiler_options INTERFACE ${LLVM_DEFINITIONS_LIST})
target_compile_options(weft_compiler_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
target_link_libraries(weft_compiler_options INTERFACE MLIR LLVM)

# weft_tablegen(TARGET TD FLAGS FILE [FLAGS FILE ...]): runs mlir-tblgen on TD of the current folder, once a FILE.
function(weft_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(TABLEGEN_OUTPUT)
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest flags file)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    mlir_tablegen(${file} ${flags} EXTRA_INCLUDES "${PROJECT_SOURCE_DIR}" ${MLIR_INCLUDE_DIRS})
  endwhile()
  add_public_tablegen_target(${target})
endfunction()

# MLIR's headers are most of a compilation: read from a precompiled header they cost a second instead of five. It holds only headers
# from outside the tree, so that a change of ours never rebuilds it; every file still includes what it uses. `./dev build` turns it on. Off by default, since ccache
# does not recognise objects compiled with it in another checkout.
option(WEFT_PRECOMPILED_HEADERS "Compile the compiler's libraries with MLIR's headers precompiled (clang only)" OFF)
if(WEFT_PRECOMPILED_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(precompiled
    <map> <string> <vector>
    <llvm/ADT/TypeSwitch.h>
    <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/LLVMIR/LLVMDialect.h> <mlir/Dialect/Math/IR/Math.h>
    <mlir/Dialect/SCF/IR/SCF.h>
    <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/DialectImplementation.h> <mlir/IR/Matchers.h>
    <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h>
    <mlir/Interfaces/ControlFlowInterfaces.h> <mlir/Interfaces/InferTypeOpInterface.h> <mlir/Interfaces/SideEffectInterfaces.h>
    <mlir/Pass/Pass.h>)
  set(precompiled_source "${PROJECT_BINARY_DIR}/weft_precompiled.cpp")
  if(NOT EXISTS "${precompiled_source}")
    file(WRITE "${precompiled_source}" "")
  endif()
  add_library(weft_precompiled STATIC "${precompiled_source}")
  target_link_libraries(weft_precompiled PRIVATE weft_compiler_options)
  target_compile_options(weft_precompiled PRIVATE -fno-exceptions "SHELL:-Xclang -fno-pch-timestamp")
  target_precompile_headers(weft_precompiled PRIVATE ${precompiled})
  # The file holds absolute paths: not to be taken from another checkout by way of ccache.
  set_target_properties(weft_precompiled PROPERTIES CXX_COMPILER_LAUNCHER "")
endif()
