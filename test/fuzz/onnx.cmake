# libFuzzer targets, built with -DWEFT_BUILD_FUZZERS=ON (the asan preset); a run is started by hand:
#   build-asan/bin/onnx_fuzzer -max_len=65536 -rss_limit_mb=4096 CORPUS
if(NOT WEFT_BUILD_FUZZERS)
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "WEFT_BUILD_FUZZERS needs clang; configure with the asan preset")
endif()
if(TARGET weft_importer_onnx)
  weft_add_tool(onnx_fuzzer OnnxFuzzer.cpp COMPILER LINK weft_importer_onnx)
  target_link_options(onnx_fuzzer PRIVATE -fsanitize=fuzzer)
endif()
