# Fuzzing of the files the runtime reads. The short run works with any compiler and is part of the tests; with
# WEFT_BUILD_FUZZERS (clang, together with WEFT_SANITIZE=address,undefined) the same targets are libFuzzer's:
#   build-asan/bin/fuzz_artifact build-asan/fuzz-corpus/artifact -max_total_time=600 -rss_limit_mb=1024
weft_add_tool(make_fuzz_corpus MakeArtifactCorpus.cpp LINK weft_runtime_artifact weft_runtime_data)
set(corpus "${CMAKE_BINARY_DIR}/fuzz-corpus")
add_test(NAME fuzz.corpus COMMAND make_fuzz_corpus "${corpus}")
set_tests_properties(fuzz.corpus PROPERTIES FIXTURES_SETUP fuzz_corpus LABELS fuzz)

foreach(target Artifact Npy)
  string(TOLOWER ${target} lower)
  weft_add_tool(fuzz_${lower}_short ${target}Fuzzer.cpp FuzzerDriver.cpp LINK weft_runtime_artifact weft_runtime_data)
  add_test(NAME fuzz.${lower} COMMAND fuzz_${lower}_short 50000 "${corpus}/${lower}")
  set_tests_properties(fuzz.${lower} PROPERTIES FIXTURES_REQUIRED fuzz_corpus LABELS fuzz TIMEOUT 300)
  if(WEFT_BUILD_FUZZERS)
    weft_add_tool(fuzz_${lower} ${target}Fuzzer.cpp LINK weft_runtime_artifact weft_runtime_data)
    target_compile_options(fuzz_${lower} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_${lower} PRIVATE -fsanitize=fuzzer)
  endif()
endforeach()
set_target_properties(make_fuzz_corpus fuzz_artifact_short fuzz_npy_short PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/test/bin")
