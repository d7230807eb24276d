// .npy and .npz files, random values, conversions.
#include "test/unit/runtime/TestPrograms.h"

#include "runtime/Core/MappedFile.h"
#include "runtime/Data/Npy.h"
#include "runtime/Data/Npz.h"
#include "runtime/Data/RandomInputs.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace weft::runtime;
using namespace weft::runtime::test;

namespace {

Array make(ElementType type, std::vector<int64_t> dims, uint64_t seed = 1) {
  auto array = makeArray(type, dims);
  EXPECT_TRUE(array.ok());
  fillRandom(type, array->elementCount(), seed, 0, array->data.data());
  return std::move(*array);
}

void expectSame(const Array &a, const Array &b) {
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.dims, b.dims);
  ASSERT_EQ(a.byteCount(), b.byteCount());
  EXPECT_EQ(std::memcmp(a.data.data(), b.data.data(), static_cast<size_t>(a.byteCount())), 0);
}

constexpr ElementType kNumpyTypes[] = {ElementType::I1,  ElementType::I8,  ElementType::I16, ElementType::I32,
                                       ElementType::I64, ElementType::U8,  ElementType::U16, ElementType::U32,
                                       ElementType::U64, ElementType::F16, ElementType::F32, ElementType::F64};

// Text with ' for " so that the shell's quotes stay simple; runs Python with numpy, if there is one.
bool runNumpy(const std::string &script, const std::string &argument) {
  static const std::string python = [] {
    const char *venv = std::getenv("WEFT_VENV");
    std::vector<std::string> candidates = {venv ? std::string(venv) + "/bin/python" : "", "../.weft-venv/bin/python",
                                           "python3"};
    for (const std::string &candidate : candidates)
      if (!candidate.empty() && std::system((candidate + " -c 'import numpy' >/dev/null 2>&1").c_str()) == 0)
        return candidate;
    return std::string();
  }();
  if (python.empty())
    return false;
  EXPECT_EQ(std::system((python + " -c \"" + script + "\" '" + argument + "'").c_str()), 0);
  return true;
}

TEST(Npy, RoundTripOfEveryTypeAndShape) {
  TemporaryFolder folder;
  for (ElementType type : kNumpyTypes)
    for (const std::vector<int64_t> &dims :
         {std::vector<int64_t>{}, std::vector<int64_t>{5}, std::vector<int64_t>{2, 3}, std::vector<int64_t>{0, 4}}) {
      Array array = make(type, dims);
      ASSERT_TRUE(writeNpy(folder.file("a.npy"), array).ok());
      auto read = readNpy(folder.file("a.npy"));
      ASSERT_TRUE(read.ok()) << read.status().message();
      expectSame(array, *read);
    }
  // Types that NumPy lacks come back as raw elements, and become what they were when the type is known.
  Array bf16 = make(ElementType::BF16, {7});
  ASSERT_TRUE(writeNpy(folder.file("a.npy"), bf16).ok());
  auto read = readNpy(folder.file("a.npy"));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->type, ElementType::Invalid);
  auto typed = asElementType(std::move(*read), ElementType::BF16);
  ASSERT_TRUE(typed.ok());
  expectSame(bf16, *typed);
}

TEST(Npy, HeaderIsAlignedAndExact) {
  std::vector<uint8_t> header = npyHeader(ElementType::F32, {3});
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(std::string(header.begin() + 10, header.begin() + 69),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }  ");
}

TEST(Npy, DamageIsAnError) {
  std::vector<uint8_t> good = npyHeader(ElementType::F32, {2, 3});
  good.resize(good.size() + 24);
  ASSERT_TRUE(parseNpy(good.data(), good.size()).ok());
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(parseNpy(good.data(), size).ok()) << size;
  auto withHeader = [](std::string text, unsigned version = 1) {
    std::vector<uint8_t> bytes = {
        0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<uint8_t>(version), 0, static_cast<uint8_t>(text.size()), 0};
    bytes.insert(bytes.end(), text.begin(), text.end());
    bytes.resize(bytes.size() + 24);
    return parseNpy(bytes.data(), bytes.size()).status();
  };
  EXPECT_TRUE(withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }").ok());
  EXPECT_TRUE(withHeader("{\"shape\": (6,), \"fortran_order\": False, \"descr\": \"<f4\"}\n").ok());
  EXPECT_FALSE(withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 9).ok());
  EXPECT_FALSE(withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }").ok());
  EXPECT_FALSE(withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999), }").ok());
  EXPECT_FALSE(withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }").ok());
  EXPECT_FALSE(withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (-6,), }").ok());
  EXPECT_FALSE(withHeader("{'descr': '<f4', 'fortran_order': False }").ok());
  EXPECT_FALSE(withHeader("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}").ok());
  EXPECT_FALSE(withHeader("import os").ok());
  Status object = withHeader("{'descr': '|O', 'fortran_order': False, 'shape': (3,), }");
  EXPECT_NE(object.message().find("'|O'"), std::string::npos) << object.message();
  Status records = withHeader("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,), }");
  EXPECT_NE(records.message().find("records"), std::string::npos) << records.message();
  std::mt19937 random(3);
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bytes = good;
    for (int change = 0; change < 3; ++change)
      bytes[random() % 128] = static_cast<uint8_t>(random());
    (void)parseNpy(bytes.data(), bytes.size());
  }
}

TEST(Npz, RoundTrip) {
  TemporaryFolder folder;
  NamedArrays arrays;
  arrays.emplace_back("x", make(ElementType::F32, {2, 3}));
  arrays.emplace_back("a/b:0", make(ElementType::I64, {}));
  arrays.emplace_back("leer", make(ElementType::U8, {0}));
  ASSERT_TRUE(writeNpz(folder.file("a.npz"), arrays).ok());
  auto read = readNpz(folder.file("a.npz"));
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->size(), arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_EQ((*read)[i].first, arrays[i].first);
    expectSame((*read)[i].second, arrays[i].second);
  }
  std::vector<uint8_t> first = readFile(folder.file("a.npz"));
  ASSERT_TRUE(writeNpz(folder.file("b.npz"), arrays).ok());
  EXPECT_EQ(first, readFile(folder.file("b.npz")));
}

TEST(Npz, DamageIsAnError) {
  TemporaryFolder folder;
  NamedArrays arrays;
  arrays.emplace_back("x", make(ElementType::F32, {20, 3}));
  arrays.emplace_back("y", make(ElementType::I32, {7}));
  ASSERT_TRUE(writeNpz(folder.file("a.npz"), arrays).ok());
  std::vector<uint8_t> good = readFile(folder.file("a.npz"));
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(parseNpz(good.data(), size).ok()) << size;
  // A flipped bit in the data is found by the checksum.
  std::vector<uint8_t> bytes = good;
  bytes[200] ^= 1;
  Status status = parseNpz(bytes.data(), bytes.size()).status();
  EXPECT_NE(status.message().find("checksum"), std::string::npos) << status.message();
  std::mt19937 random(4);
  for (int round = 0; round < 20000; ++round) {
    bytes = good;
    for (int change = 0; change < 3; ++change)
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    (void)parseNpz(bytes.data(), bytes.size());
  }
}

TEST(Npz, FilesOfNumpy) {
  TemporaryFolder folder;
  // Each type, in both byte orders and both memory orders; compressed and stored.
  std::string script = R"(
import sys, numpy as np
d = sys.argv[1]
arrays = {}
for t in ['?', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'f2', 'f4', 'f8']:
    a = (np.arange(24) % 2 if t == '?' else np.arange(24)).astype(t).reshape(2, 3, 4)
    arrays['little_' + t.replace('?', 'b')] = a
    arrays['big_' + t.replace('?', 'b')] = a.astype(a.dtype.newbyteorder('>'))
    arrays['fortran_' + t.replace('?', 'b')] = np.asfortranarray(a)
arrays['scalar'] = np.float32(2.5)
arrays['empty'] = np.zeros((0, 3), np.int32)
np.savez(d + '/stored.npz', **arrays)
np.savez_compressed(d + '/compressed.npz', **arrays)
np.save(d + '/version2.npy', np.arange(6, dtype='f4'))
np.save(d + '/object.npy', np.array([None, 1], dtype=object), allow_pickle=True)
)";
  if (!runNumpy(script, folder.path()))
    GTEST_SKIP() << "no Python with numpy: reading files of NumPy was not checked";
  for (const char *name : {"stored.npz", "compressed.npz"}) {
    auto arrays = readNpz(folder.file(name));
    ASSERT_TRUE(arrays.ok()) << arrays.status().message();
    EXPECT_EQ(arrays->size(), 12u * 3 + 2);
    for (const auto &[key, array] : *arrays) {
      if (key == "scalar") {
        EXPECT_TRUE(array.dims.empty());
        EXPECT_EQ(*static_cast<const float *>(array.data.data()), 2.5f);
        continue;
      }
      if (key == "empty") {
        EXPECT_EQ(array.dims, (std::vector<int64_t>{0, 3}));
        continue;
      }
      EXPECT_EQ(array.dims, (std::vector<int64_t>{2, 3, 4})) << key;
      for (int64_t i = 0; i < 24; ++i) {
        double value = NAN;
        const void *data = array.data.data();
        switch (array.type) {
        case ElementType::I1:
          value = static_cast<const uint8_t *>(data)[i];
          EXPECT_EQ(value, static_cast<double>(i % 2)) << key;
          value = static_cast<double>(i);
          break;
        case ElementType::I8:
          value = static_cast<const int8_t *>(data)[i];
          break;
        case ElementType::U8:
          value = static_cast<const uint8_t *>(data)[i];
          break;
        case ElementType::I16:
          value = static_cast<const int16_t *>(data)[i];
          break;
        case ElementType::U16:
          value = static_cast<const uint16_t *>(data)[i];
          break;
        case ElementType::I32:
          value = static_cast<const int32_t *>(data)[i];
          break;
        case ElementType::U32:
          value = static_cast<const uint32_t *>(data)[i];
          break;
        case ElementType::I64:
          value = static_cast<double>(static_cast<const int64_t *>(data)[i]);
          break;
        case ElementType::U64:
          value = static_cast<double>(static_cast<const uint64_t *>(data)[i]);
          break;
        case ElementType::F32:
          value = static_cast<double>(static_cast<const float *>(data)[i]);
          break;
        case ElementType::F64:
          value = static_cast<const double *>(data)[i];
          break;
        default: {
          // Small integers in half precision.
          uint16_t half = static_cast<const uint16_t *>(data)[i];
          value = half == 0 ? 0 : std::ldexp(1024 + (half & 1023), (half >> 10) - 25);
        }
        }
        EXPECT_EQ(value, static_cast<double>(i)) << key;
      }
    }
  }
  Status object = readNpy(folder.file("object.npy")).status();
  EXPECT_NE(object.message().find("'|O'"), std::string::npos) << object.message();

  // And NumPy reads ours.
  NamedArrays ours;
  for (ElementType type : kNumpyTypes)
    ours.emplace_back(std::string(elementTypeName(type)), make(type, {3, 4}, 9));
  ASSERT_TRUE(writeNpz(folder.file("ours.npz"), ours).ok());
  ASSERT_TRUE(writeNpy(folder.file("ours.npy"), ours[10].second).ok());
  EXPECT_TRUE(runNumpy(R"(
import sys, numpy as np
d = sys.argv[1]
z = np.load(d + '/ours.npz')
names = {'i1': 'bool', 'i8': 'int8', 'i16': 'int16', 'i32': 'int32', 'i64': 'int64', 'ui8': 'uint8', 'ui16': 'uint16',
         'ui32': 'uint32', 'ui64': 'uint64', 'f16': 'float16', 'f32': 'float32', 'f64': 'float64'}
assert sorted(z.files) == sorted(names), z.files
for ours, numpys in names.items():
    assert z[ours].dtype == np.dtype(numpys) and z[ours].shape == (3, 4), (ours, z[ours].dtype)
assert (np.load(d + '/ours.npy') == z['f32']).all()
assert abs(z['f64'] - z['f32']).max() == 0 and abs(z['f16'].astype('f4') - z['f32']).max() < 1e-3
assert (z['f16'] == z['f32'].astype('f2')).all()
)",
                       folder.path()));
}

TEST(Data, OutputsThatCannotBeWritten) {
  Array array = make(ElementType::F32, {100});
  Status full = writeNpy("/dev/full", array);
  EXPECT_EQ(full.code(), StatusCode::ResourceExhausted) << full.message();
  TemporaryFolder folder;
  EXPECT_EQ(writeNpy(folder.file("no/such/folder.npy"), array).code(), StatusCode::Io);
  // Root may write anywhere, so a read-only folder says nothing there.
  if (::geteuid() != 0) {
    ::chmod(folder.path().c_str(), 0500);
    EXPECT_EQ(writeNpy(folder.file("a.npy"), array).code(), StatusCode::Io);
    ::chmod(folder.path().c_str(), 0700);
  }
  // A symbolic link stays a link, its target is replaced.
  ASSERT_EQ(::symlink("target.npy", folder.file("link.npy").c_str()), 0);
  writeFile(folder.file("target.npy"), {1, 2, 3});
  ASSERT_TRUE(writeNpy(folder.file("link.npy"), array).ok());
  EXPECT_TRUE(readNpy(folder.file("target.npy")).ok());
  struct stat status;
  ASSERT_EQ(::lstat(folder.file("link.npy").c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  EXPECT_EQ(folder.list().size(), 2u);
}

TEST(Data, SubByteIntegers) {
  auto wide = makeArray(ElementType::I8, {5});
  ASSERT_TRUE(wide.ok());
  const int8_t values[5] = {-8, 7, 0, -1, 3};
  std::memcpy(wide->data.data(), values, 5);
  auto packed = asElementType(std::move(*wide), ElementType::I4);
  ASSERT_TRUE(packed.ok()) << packed.status().message();
  EXPECT_EQ(packed->byteCount(), 3);
  const auto *bytes = static_cast<const uint8_t *>(packed->data.data());
  EXPECT_EQ(bytes[0], 0x78);
  EXPECT_EQ(bytes[1], 0xf0);
  EXPECT_EQ(bytes[2], 0x03);
  auto back = unpacked(std::move(*packed));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(std::memcmp(back->data.data(), values, 5), 0);
  auto again = asElementType(std::move(*back), ElementType::I2);
  EXPECT_NE(again.status().message().find("element 0 is -8"), std::string::npos) << again.status().message();
  EXPECT_FALSE(asElementType(make(ElementType::F32, {2}), ElementType::F64).ok());
  EXPECT_FALSE(asElementType(make(ElementType::I32, {2}), ElementType::I64).ok());
}

// The known answers of the generator's authors (Random123, kat_vectors).
TEST(RandomInputs, PhiloxKnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomInputs, ValuesAreAsDocumented) {
  constexpr int64_t kCount = 10001;
  Array floats = make(ElementType::F32, {kCount}, 77), doubles = make(ElementType::F64, {kCount}, 77);
  const auto *f = static_cast<const float *>(floats.data.data());
  const auto *d = static_cast<const double *>(doubles.data.data());
  double sum = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    ASSERT_GE(f[i], -1.0f);
    ASSERT_LT(f[i], 1.0f);
    ASSERT_EQ(d[i], static_cast<double>(f[i]));
    std::array<uint32_t, 4> words = philox4x32({static_cast<uint32_t>(i / 4), 0, 0, 0}, {77, 0});
    ASSERT_EQ(d[i], static_cast<double>(words[static_cast<size_t>(i % 4)] >> 8) / 8388608.0 - 1.0);
    sum += d[i];
  }
  EXPECT_NEAR(sum / kCount, 0, 0.02);
  Array longs = make(ElementType::I64, {kCount}, 5), bools = make(ElementType::I1, {kCount}, 5);
  std::vector<int> seen(8);
  for (int64_t i = 0; i < kCount; ++i) {
    int64_t value = static_cast<const int64_t *>(longs.data.data())[i];
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 8);
    ++seen[static_cast<size_t>(value)];
    ASSERT_LE(static_cast<const uint8_t *>(bools.data.data())[i], 1);
  }
  for (int count : seen)
    EXPECT_GT(count, 1000);
  // Another stream or seed: other values.
  std::vector<float> a(100), b(100);
  fillRandom(ElementType::F32, 100, 77, 1, a.data());
  fillRandom(ElementType::F32, 100, 78, 0, b.data());
  EXPECT_NE(std::memcmp(a.data(), f, 400), 0);
  EXPECT_NE(std::memcmp(b.data(), f, 400), 0);
}

// Rounding to the narrow types, against the nearest value found by trying all codes.
TEST(RandomInputs, NarrowFloatsAreRoundedToNearest) {
  struct Format {
    ElementType type;
    int mantissaBits, bias, bits;
  };
  for (Format format : {Format{ElementType::F8E4M3FN, 3, 7, 8}, Format{ElementType::F8E5M2, 2, 15, 8},
                        Format{ElementType::F8E4M3FNUZ, 3, 8, 8}, Format{ElementType::F8E5M2FNUZ, 2, 16, 8},
                        Format{ElementType::F16, 10, 15, 16}, Format{ElementType::BF16, 7, 127, 16}}) {
    auto decode = [&](uint32_t code) {
      uint32_t sign = code >> (format.bits - 1) & 1, magnitude = code & ((1u << (format.bits - 1)) - 1);
      int exponent = static_cast<int>(magnitude >> format.mantissaBits);
      double fraction = magnitude & ((1u << format.mantissaBits) - 1);
      double value = exponent == 0 ? std::ldexp(fraction, 1 - format.bias - format.mantissaBits)
                                   : std::ldexp(fraction + (1 << format.mantissaBits),
                                                exponent - format.bias - format.mantissaBits);
      return sign ? -value : value;
    };
    constexpr int64_t kCount = 300;
    std::vector<uint8_t> codes(kCount * 2);
    std::vector<double> exact(kCount);
    fillRandom(format.type, kCount, 3, 0, codes.data());
    fillRandom(ElementType::F64, kCount, 3, 0, exact.data());
    for (int64_t i = 0; i < kCount; ++i) {
      uint32_t code = codes[static_cast<size_t>(i * format.bits / 8)];
      if (format.bits == 16)
        code |= static_cast<uint32_t>(codes[static_cast<size_t>(i * 2 + 1)]) << 8;
      double error = std::fabs(decode(code) - exact[static_cast<size_t>(i)]);
      // Neighbours are no nearer.
      for (uint32_t neighbour : {code - 1, code + 1}) {
        double distance = std::fabs(decode(neighbour) - exact[static_cast<size_t>(i)]);
        ASSERT_TRUE(error < distance || (error == distance && code % 2 == 0) || decode(code) == decode(neighbour))
            << elementTypeName(format.type) << " element " << i;
      }
    }
  }
}

TEST(MappedFile, ReleasedPagesAreReadAgain) {
  std::string path = testing::TempDir() + "weft_mapped_file";
  std::vector<uint8_t> content(300000);
  for (size_t i = 0; i < content.size(); ++i)
    content[i] = static_cast<uint8_t>(i * 2654435761u >> 13);
  std::FILE *out = std::fopen(path.c_str(), "wb");
  ASSERT_TRUE(out && std::fwrite(content.data(), 1, content.size(), out) == content.size());
  std::fclose(out);
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  std::remove(path.c_str());
  auto isWhole = [&] { return std::memcmp((*file)->data(), content.data(), content.size()) == 0; };
  EXPECT_TRUE(isWhole());
  // Within a page, across pages at odd offsets, all of it, and what is not the file's.
  for (auto [begin, bytes] :
       {std::pair<size_t, size_t>{10, 20}, {4097, 9000}, {0, content.size()}, {1, content.size()}}) {
    (*file)->release((*file)->data() + begin, bytes);
    EXPECT_TRUE(isWhole()) << begin << " " << bytes;
  }
  std::vector<uint8_t> other(1 << 16, 7);
  (*file)->release(other.data(), other.size());
  EXPECT_EQ(other, std::vector<uint8_t>(1 << 16, 7));
}

} // namespace
