// Runs a libFuzzer target without libFuzzer: over the files named, and over mutations of them. For compilers without
// it, and as a short run in every test.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

Bytes mutate(Bytes bytes, const std::vector<Bytes> &corpus, std::mt19937_64 &random) {
  static constexpr uint8_t kInteresting[] = {0, 1, 2, 0x7f, 0x80, 0xfe, 0xff};
  for (uint64_t change = 1 + random() % 6; change-- > 0 && !bytes.empty();) {
    size_t at = random() % bytes.size();
    switch (random() % 6) {
    case 0:
      bytes[at] ^= static_cast<uint8_t>(1u << random() % 8);
      break;
    case 1:
      bytes[at] = kInteresting[random() % sizeof(kInteresting)];
      break;
    case 2: { // a 32-bit word, where offsets and sizes are
      uint32_t word = static_cast<uint32_t>(random() % 2 ? random() : random() % 64);
      at &= ~size_t(3);
      std::memcpy(bytes.data() + at, &word, std::min<size_t>(4, bytes.size() - at));
      break;
    }
    case 3: // a piece of another place
      for (uint64_t length = 1 + random() % 64, from = random() % bytes.size(); length-- > 0; ++at, ++from)
        if (at < bytes.size() && from < bytes.size())
          bytes[at] = bytes[from];
      break;
    case 4: // a piece of another file
    {
      const Bytes &other = corpus[random() % corpus.size()];
      for (uint64_t length = 1 + random() % 64, from = random() % (other.size() + 1); length-- > 0; ++at, ++from)
        if (at < bytes.size() && from < other.size())
          bytes[at] = other[from];
      break;
    }
    default:
      if (random() % 4 == 0)
        bytes.resize(random() % bytes.size());
    }
  }
  return bytes;
}

} // namespace

// FuzzerDriver RUNS FILE-OR-FOLDER...
int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s RUNS FILE-OR-FOLDER...\n", argv[0]);
    return 2;
  }
  std::vector<Bytes> corpus;
  auto add = [&](const std::filesystem::path &path) {
    std::ifstream stream(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  };
  for (int index = 2; index < argc; ++index) {
    std::error_code error;
    if (!std::filesystem::exists(argv[index], error)) {
      std::fprintf(stderr, "no such file: %s\n", argv[index]);
      return 2;
    }
    if (!std::filesystem::is_directory(argv[index], error)) {
      add(argv[index]);
      continue;
    }
    for (const auto &entry : std::filesystem::directory_iterator(argv[index]))
      add(entry.path());
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "the corpus is empty\n");
    return 2;
  }
  for (const Bytes &bytes : corpus)
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  std::mt19937_64 random(1);
  long runs = std::atol(argv[1]);
  for (long run = 0; run < runs; ++run) {
    Bytes bytes = mutate(corpus[random() % corpus.size()], corpus, random);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%zu files and %ld mutations of them, no fault\n", corpus.size(), runs);
  return 0;
}
