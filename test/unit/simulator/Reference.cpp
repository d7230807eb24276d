//===- Reference.cpp - What one lane of an instruction gives, computed another way ----------===//
#include "test/unit/simulator/Reference.h"
#include "test/unit/simulator/Exact.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft::simulator {

namespace {
using Wide = __int128;

unsigned bitsOf(Type type) { return typeSize(type) * 8; }
uint64_t mask(unsigned bits) { return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }
/// The value of the low bits, with the sign that the type has.
Wide valueOf(uint64_t raw, unsigned bits, bool isSigned) {
  raw &= mask(bits);
  if (isSigned && (raw >> (bits - 1)) & 1)
    return Wide(raw) - (Wide(1) << bits);
  return Wide(raw);
}
Wide valueOf(uint64_t raw, Type type) { return valueOf(raw, bitsOf(type), isSignedType(type)); }
Wide clampTo(Wide value, unsigned bits, bool isSigned) {
  Wide low = isSigned ? -(Wide(1) << (bits - 1)) : 0,
       high = isSigned ? (Wide(1) << (bits - 1)) - 1 : (Wide(1) << bits) - 1;
  return std::min(std::max(value, low), high);
}

const FloatFormat *formatOf(Type type) {
  switch (type) {
  case Type::F16:
  case Type::F16x2:
    return &formatF16;
  case Type::BF16:
  case Type::BF16x2:
    return &formatBF16;
  case Type::F32:
  case Type::F32x2:
    return &formatF32;
  case Type::F64:
    return &formatF64;
  case Type::TF32:
    return &formatTF32;
  case Type::E4M3x2:
    return &formatE4M3;
  case Type::E5M2x2:
    return &formatE5M2;
  default:
    return nullptr;
  }
}
uint64_t nanOf(const FloatFormat &format) { return (uint64_t(1) << (format.fraction + format.exponent)) - 1; }
Direction directionOf(const Form &form) {
  if (form.has("rz") || form.has("rzi"))
    return Direction::Zero;
  if (form.has("rm") || form.has("rmi"))
    return Direction::Down;
  if (form.has("rp") || form.has("rpi"))
    return Direction::Up;
  return form.has("rna") ? Direction::NearestAway : Direction::NearestEven;
}
bool isDenormal(uint64_t bits, const FloatFormat &f) {
  return ((bits >> f.fraction) & mask(unsigned(f.exponent))) == 0;
}
uint64_t flushed(uint64_t bits, const FloatFormat &f) { return isDenormal(bits, f) ? bits & f.signBit() : bits; }
bool isNaN(uint64_t bits, const FloatFormat &f) { return Exact::fromBits(bits, f).kind == Exact::Kind::NaN; }
uint64_t oneOf(const FloatFormat &f) { return uint64_t(f.bias()) << f.fraction; }
uint64_t saturated(uint64_t bits, const FloatFormat &f) {
  Exact x = Exact::fromBits(bits, f);
  if (x.kind == Exact::Kind::NaN || x.negative || x.isZero())
    return 0;
  return compare(x, Exact::fromInteger(1, false)) > 0 ? oneOf(f) : bits;
}

bool integer(const Form &form, const ReferenceInput &in, ReferenceOutput &out) {
  std::string_view op = form.opcode();
  Type type = form.type();
  unsigned bits = bitsOf(type);
  bool isSigned = isSignedType(type);
  auto s = [&](unsigned i) { return valueOf(in.source[i], type); };
  auto put = [&](Wide value, unsigned width) { out.bits[0] = uint64_t(value) & mask(width); };
  if (type == Type::U16x2 || type == Type::S16x2) {
    for (unsigned half = 0; half < 2; ++half) {
      Wide a = valueOf(in.source[0] >> (16 * half), 16, isSigned),
           b = valueOf(in.source[1] >> (16 * half), 16, isSigned), r = 0;
      if (op == "add")
        r = a + b;
      else if (op == "sub")
        r = a - b;
      else if (op == "min")
        r = std::min(a, b);
      else if (op == "max")
        r = std::max(a, b);
      else
        return false;
      if (form.has("relu"))
        r = std::max<Wide>(r, 0);
      out.bits[0] |= (uint64_t(r) & 0xffff) << (16 * half);
    }
    return true;
  }
  if (op == "add" || op == "addc" || op == "sub" || op == "subc") {
    bool chain = form.has("cc") || op == "addc" || op == "subc";
    bool subtract = op[0] == 's';
    Wide a = chain ? valueOf(in.source[0], bits, false) : s(0), b = chain ? valueOf(in.source[1], bits, false) : s(1);
    Wide carry = op == "addc" || op == "subc" ? in.carry : 0;
    Wide r = subtract ? a - b - carry : a + b + carry;
    out.carry = r < 0 || (r >> bits) != 0;
    put(form.has("sat") ? clampTo(r, bits, true) : r, bits);
    return true;
  }
  if (op == "mul" || op == "mad" || op == "madc") {
    Wide product;
    bool big = bits == 64;
    uint64_t high64 = 0, low64 = 0;
    if (big) { // 64 x 64 in 32-bit pieces; the sign is put right afterwards
      uint64_t a = in.source[0], b = in.source[1];
      uint64_t p0 = (a & 0xffffffff) * (b & 0xffffffff), p1 = (a >> 32) * (b & 0xffffffff),
               p2 = (a & 0xffffffff) * (b >> 32), p3 = (a >> 32) * (b >> 32);
      uint64_t middle = (p0 >> 32) + (p1 & 0xffffffff) + (p2 & 0xffffffff);
      low64 = middle << 32 | (p0 & 0xffffffff);
      high64 = p3 + (p1 >> 32) + (p2 >> 32) + (middle >> 32);
      if (isSigned && (a >> 63))
        high64 -= b;
      if (isSigned && (b >> 63))
        high64 -= a;
      product = 0;
    } else {
      product = s(0) * s(1);
    }
    if (form.has("wide")) {
      Wide c = op == "mad" ? valueOf(in.source[2], 2 * bits, isSigned) : 0;
      put(product + c, 2 * bits);
      return true;
    }
    uint64_t part = big ? (form.has("hi") ? high64 : low64)
                        : (form.has("hi") ? uint64_t(product >> bits) : uint64_t(product)) & mask(bits);
    if (op == "mul") {
      put(Wide(part), bits);
      return true;
    }
    if (form.has("sat")) {
      put(clampTo(valueOf(part, 32, true) + s(2), 32, true), 32);
      return true;
    }
    Wide r = Wide(part) + valueOf(in.source[2], bits, false) + (op == "madc" ? in.carry : 0);
    out.carry = (r >> bits) != 0;
    put(r, bits);
    return true;
  }
  if (op == "mul24" || op == "mad24") {
    Wide p = valueOf(in.source[0], 24, isSigned) * valueOf(in.source[1], 24, isSigned);
    Wide r = form.has("hi") ? p >> 16 : p;
    put(op == "mad24" ? r + s(2) : r, 32);
    return true;
  }
  if (op == "div" || op == "rem") {
    Wide a = s(0), b = s(1);
    if (b == 0)
      put(op == "div" ? -1 : a, bits);
    else
      put(op == "div" ? a / b : a % b, bits);
    return true;
  }
  if (op == "min" || op == "max") {
    Wide r = op == "min" ? std::min(s(0), s(1)) : std::max(s(0), s(1));
    put(form.has("relu") ? std::max<Wide>(r, 0) : r, bits);
    return true;
  }
  if (op == "abs") {
    put(s(0) < 0 ? -s(0) : s(0), bits);
    return true;
  }
  if (op == "neg") {
    put(-s(0), bits);
    return true;
  }
  if (op == "sad") {
    put(s(2) + (s(0) < s(1) ? s(1) - s(0) : s(0) - s(1)), bits);
    return true;
  }
  if (op == "dp4a" || op == "dp2a") {
    bool sa = form.type(0) == Type::S32, sb = form.type(1) == Type::S32;
    Wide sum = Wide(in.source[2]);
    for (unsigned i = 0; i < (op == "dp4a" ? 4u : 2u); ++i) {
      Wide a = op == "dp4a" ? valueOf(in.source[0] >> (8 * i), 8, sa) : valueOf(in.source[0] >> (16 * i), 16, sa);
      unsigned byte = op == "dp4a" ? i : i + (form.has("hi") ? 2 : 0);
      sum += a * valueOf(in.source[1] >> (8 * byte), 8, sb);
    }
    put(sum, 32);
    return true;
  }
  uint64_t a = in.source[0] & mask(bits), b = in.source[1] & mask(bits), c = in.source[2];
  if (op == "and") {
    put(a & b, bits);
    return true;
  }
  if (op == "or") {
    put(a | b, bits);
    return true;
  }
  if (op == "xor") {
    put(a ^ b, bits);
    return true;
  }
  if (op == "not") {
    put(~a, bits);
    return true;
  }
  if (op == "cnot") {
    put(a == 0, bits);
    return true;
  }
  if (op == "lop3") {
    for (unsigned i = 0; i < 32; ++i) {
      unsigned row = ((a >> i) & 1) << 2 | ((b >> i) & 1) << 1 | ((c >> i) & 1);
      out.bits[0] |= uint64_t((0xe8u >> row) & 1) << i; // the immediate that the test writes
    }
    return true;
  }
  if (op == "shl" || op == "shr") {
    uint32_t n = uint32_t(in.source[1]);
    if (op == "shl")
      put(n >= bits ? 0 : Wide(a) << n, bits);
    else if (isSigned)
      put(s(0) >> std::min(n, bits - 1), bits);
    else
      put(n >= bits ? 0 : Wide(a) >> n, bits);
    return true;
  }
  if (op == "shf") {
    uint32_t n = uint32_t(c);
    n = form.has("clamp") ? std::min(n, 32u) : n & 31;
    unsigned __int128 both = (unsigned __int128)(b) << 32 | a;
    put(form.has("l") ? Wide((both << n) >> 32) : Wide(both >> n), 32);
    return true;
  }
  if (op == "prmt") {
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; ++i)
      bytes[i] = uint8_t(i < 4 ? a >> (8 * i) : b >> (8 * (i - 4)));
    static const struct {
      const char *mode;
      int index[4][4];
    } tables[] = {{"f4e", {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}},
                  {"b4e", {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}}},
                  {"rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
                  {"ecl", {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}}},
                  {"ecr", {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}},
                  {"rc16", {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}}};
    for (const auto &table : tables) {
      if (!form.has(table.mode))
        continue;
      for (unsigned i = 0; i < 4; ++i)
        out.bits[0] |= uint64_t(bytes[table.index[c & 3][i]]) << (8 * i);
      return true;
    }
    for (unsigned i = 0; i < 4; ++i) {
      unsigned nibble = unsigned(c >> (4 * i)) & 15;
      uint8_t byte = bytes[nibble & 7];
      out.bits[0] |= uint64_t(nibble & 8 ? uint8_t(int8_t(byte) >> 7) : byte) << (8 * i);
    }
    return true;
  }
  if (op == "popc") {
    for (unsigned i = 0; i < bits; ++i)
      out.bits[0] += (a >> i) & 1;
    return true;
  }
  if (op == "clz") {
    for (unsigned i = bits; i-- > 0 && !((a >> i) & 1);)
      ++out.bits[0];
    return true;
  }
  if (op == "bfind") {
    bool sign = isSigned && (a >> (bits - 1)) & 1;
    out.bits[0] = 0xffffffff;
    for (unsigned i = bits; i-- > 0;)
      if (((a >> i) & 1) != sign) {
        out.bits[0] = form.has("shiftamt") ? bits - 1 - i : i;
        break;
      }
    return true;
  }
  if (op == "brev") {
    for (unsigned i = 0; i < bits; ++i)
      out.bits[0] |= ((a >> i) & 1) << (bits - 1 - i);
    return true;
  }
  if (op == "bfe") { // the specification's own pseudo-code
    unsigned pos = in.source[1] & 255, len = c & 255;
    bool sign = len != 0 && isSigned && (a >> std::min(pos + len - 1, bits - 1)) & 1;
    for (unsigned i = 0; i < bits; ++i)
      out.bits[0] |= uint64_t(i < len && pos + i < bits ? (a >> (pos + i)) & 1 : sign) << i;
    return true;
  }
  if (op == "bfi") {
    unsigned pos = c & 255, len = in.source[3] & 255;
    out.bits[0] = b;
    for (unsigned i = 0; i < len && pos + i < bits; ++i) {
      out.bits[0] &= ~(uint64_t(1) << (pos + i));
      out.bits[0] |= ((a >> i) & 1) << (pos + i);
    }
    return true;
  }
  if (op == "fns") { // the specification's own pseudo-code
    int64_t base = int64_t(uint32_t(in.source[1])), offset = int32_t(in.source[2]);
    out.bits[0] = 0xffffffff;
    auto isSet = [&](int64_t at) { return at >= 0 && at < 32 && (a >> at) & 1; };
    if (offset == 0) {
      if (isSet(base))
        out.bits[0] = uint64_t(base);
      return true;
    }
    int64_t count = std::abs(offset) - 1;
    for (int64_t at = base; at >= 0 && at < 32; at += offset > 0 ? 1 : -1)
      if (isSet(at) && count-- == 0) {
        out.bits[0] = uint64_t(at);
        break;
      }
    return true;
  }
  if (op == "vabsdiff4" || op == "vabsdiff2") {
    unsigned width = op == "vabsdiff4" ? 8 : 16;
    bool elements = form.type(1) == Type::S32;
    Wide total = 0, merged = 0;
    for (unsigned at = 0; at < 32; at += width) {
      Wide x = valueOf(in.source[0] >> at, width, elements), y = valueOf(in.source[1] >> at, width, elements);
      Wide difference = x < y ? y - x : x - y;
      total += difference;
      merged += difference << at;
    }
    put(form.has("add") ? total + Wide(in.source[2]) : merged, 32);
    return true;
  }
  if (op == "bmsk") {
    uint64_t from = form.has("wrap") ? a & 31 : a, width = form.has("wrap") ? b & 31 : b;
    for (uint64_t i = 0; i < 32; ++i)
      if (i >= from && i - from < width)
        out.bits[0] |= uint64_t(1) << i;
    return true;
  }
  if (op == "szext") {
    uint32_t n = uint32_t(in.source[1]);
    n = form.has("wrap") ? n & 31 : std::min(n, 32u);
    put(n == 0 ? 0 : valueOf(a, n, isSigned), 32);
    return true;
  }
  return false;
}

bool comparison(std::string_view op, int order, bool unordered, bool &result) {
  static const struct {
    const char *name;
    bool less, equal, greater, nan;
  } rows[] = {{"eq", 0, 1, 0, 0},  {"ne", 1, 0, 1, 0},  {"lt", 1, 0, 0, 0},  {"le", 1, 1, 0, 0},  {"gt", 0, 0, 1, 0},
              {"ge", 0, 1, 1, 0},  {"lo", 1, 0, 0, 0},  {"ls", 1, 1, 0, 0},  {"hi", 0, 0, 1, 0},  {"hs", 0, 1, 1, 0},
              {"equ", 0, 1, 0, 1}, {"neu", 1, 0, 1, 1}, {"ltu", 1, 0, 0, 1}, {"leu", 1, 1, 0, 1}, {"gtu", 0, 0, 1, 1},
              {"geu", 0, 1, 1, 1}, {"num", 1, 1, 1, 0}, {"nan", 0, 0, 0, 1}};
  for (const auto &row : rows)
    if (op == row.name) {
      result = unordered ? row.nan : order < 0 ? row.less : order == 0 ? row.equal : row.greater;
      return true;
    }
  return false;
}
bool compareBits(std::string_view op, Type type, uint64_t a, uint64_t b, bool ftz, bool &result) {
  if (const FloatFormat *f = formatOf(type)) {
    a &= mask(unsigned(f->fraction + f->exponent + 1));
    b &= mask(unsigned(f->fraction + f->exponent + 1));
    if (ftz) {
      a = flushed(a, *f);
      b = flushed(b, *f);
    }
    bool unordered = isNaN(a, *f) || isNaN(b, *f);
    int order = unordered ? 0 : compare(Exact::fromBits(a, *f), Exact::fromBits(b, *f));
    return comparison(op, order, unordered, result);
  }
  Wide x = valueOf(a, type), y = valueOf(b, type);
  return comparison(op, x < y ? -1 : x > y, false, result);
}

bool compares(const Form &form, const ReferenceInput &in, ReferenceOutput &out) {
  std::string_view op = form.opcode();
  bool ftz = form.has("ftz");
  if (op == "selp") {
    out.bits[0] = in.source[in.source[2] ? 0 : 1] & mask(bitsOf(form.type()));
    return true;
  }
  if (op == "slct") {
    bool first;
    if (form.type(1) == Type::S32)
      first = int32_t(in.source[2]) >= 0;
    else {
      uint64_t c = ftz ? flushed(in.source[2], formatF32) : in.source[2];
      first = !isNaN(c, formatF32) && (!((c >> 31) & 1) || (c & 0x7fffffff) == 0);
    }
    out.bits[0] = in.source[first ? 0 : 1] & mask(bitsOf(form.type()));
    return true;
  }
  if (op == "testp") {
    const FloatFormat &f = *formatOf(form.type());
    Exact x = Exact::fromBits(in.source[0], f);
    bool denormal = isDenormal(in.source[0], f), finite = x.kind == Exact::Kind::Finite;
    out.bits[0] = form.has("finite")       ? finite
                  : form.has("infinite")   ? x.kind == Exact::Kind::Infinite
                  : form.has("number")     ? x.kind != Exact::Kind::NaN
                  : form.has("notanumber") ? x.kind == Exact::Kind::NaN
                  : form.has("normal")     ? finite && !denormal
                                           : denormal && !x.isZero();
    return true;
  }
  Type type = op == "set" ? form.type(1) : form.type();
  bool pair = type == Type::F16x2 || type == Type::BF16x2;
  bool low, high = false;
  if (!compareBits(form.modifiers[1], type, in.source[0], in.source[1], ftz, low))
    return false;
  if (pair)
    compareBits(form.modifiers[1], type, in.source[0] >> 16, in.source[1] >> 16, ftz, high);
  if (op == "set") {
    Type to = form.type(0);
    if (pair) {
      uint64_t yes = to == Type::U32 ? 0xffff : oneOf(*formatOf(type));
      out.bits[0] = (low ? yes : 0) | (high ? yes : 0) << 16;
    } else {
      out.bits[0] = !low ? 0 : isFloatType(to) ? oneOf(*formatOf(to)) : 0xffffffff;
    }
    return true;
  }
  bool second = pair ? high : !low, first = low, c = in.source[2] & 1;
  if (form.has("and")) {
    first = first && c;
    second = second && c;
  }
  if (form.has("or")) {
    first = first || c;
    second = second || c;
  }
  if (form.has("xor")) {
    first = first != c;
    second = second != c;
  }
  out.bits[0] = first;
  out.bits[1] = second;
  return true;
}

/// One element of a float instruction.
bool scalarFloat(const Form &form, const FloatFormat &f, bool isDouble, const uint64_t *raw, unsigned sources,
                 uint64_t &bits, ReferenceOutput &out) {
  std::string_view op = form.opcode();
  bool ftz = form.has("ftz");
  uint64_t x[3];
  Exact e[3];
  for (unsigned i = 0; i < 3; ++i) {
    x[i] = raw[i] & mask(unsigned(f.fraction + f.exponent + 1));
    if (ftz) // of the double forms only the approximate ones have it
      x[i] = flushed(x[i], f);
    e[i] = Exact::fromBits(x[i], f);
  }
  uint64_t nan = nanOf(f);
  if (isDouble)
    out.anyNaN = true;
  if (op == "abs" || op == "neg") {
    bits = op == "abs" ? x[0] & ~f.signBit() : x[0] ^ f.signBit();
    out.anyNaN = true;
    return true;
  }
  if (op == "copysign") {
    bits = (x[0] & f.signBit()) | (x[1] & ~f.signBit());
    out.anyNaN = true;
    return true;
  }
  if (op == "min" || op == "max") {
    auto two = [&](uint64_t a, uint64_t b) {
      bool nanA = isNaN(a, f), nanB = isNaN(b, f);
      if ((nanA && nanB) || (form.has("NaN") && (nanA || nanB)))
        return nan;
      if (nanA || nanB)
        return nanA ? b : a;
      // Order by value, then -0 before +0.
      int order = compare(Exact::fromBits(a, f), Exact::fromBits(b, f));
      bool aFirst = order < 0 || (order == 0 && (a & f.signBit()));
      return (op == "min") == aFirst ? a : b;
    };
    if (form.has("xorsign")) {
      uint64_t r = two(x[0] & ~f.signBit(), x[1] & ~f.signBit());
      bits = isNaN(r, f) ? nan : (r & ~f.signBit()) | ((x[0] ^ x[1]) & f.signBit());
      return true;
    }
    bits = two(x[0], x[1]);
    if (sources == 3)
      bits = two(bits, x[2]);
    return true;
  }
  bool approximate = form.has("approx") || form.has("full");
  Direction direction = directionOf(form);
  bool down = direction == Direction::Down;
  Exact r;
  if (op == "add")
    r = add(e[0], e[1], down);
  else if (op == "sub")
    r = add(e[0], negate(e[1]), down);
  else if (op == "mul")
    r = multiply(e[0], e[1]);
  else if (op == "fma" || op == "mad") {
    Exact product = multiply(e[0], e[1]);
    r = add(product, e[2], down);
  } else if (op == "div")
    r = divide(e[0], e[1]);
  else if (op == "rcp")
    r = divide(Exact::fromInteger(1, false), e[0]);
  else if (op == "sqrt")
    r = squareRoot(e[0]);
  else {
    // Transcendental: the host's double functions stand in for the exact value.
    double v = e[0].approximate(), y;
    if (op == "rsqrt")
      y = 1 / std::sqrt(v);
    else if (op == "sin")
      y = std::sin(v);
    else if (op == "cos")
      y = std::cos(v);
    else if (op == "lg2")
      y = std::log2(v);
    else if (op == "ex2")
      y = std::exp2(v);
    else if (op == "tanh")
      y = std::tanh(v);
    else
      return false;
    out.approximate = true;
    out.value = y;
    double last = std::ldexp(1.0, -f.fraction);
    // What PTX promises: rsqrt, ex2 and lg2 about 2^-22 relative, sin and cos 2^-20.5 absolute, tanh 2^-11.
    out.relative = f.fraction == 23 ? (op == "tanh" ? 0x1p-11 : 0x1p-22) : isDouble ? 0x1p-20 : last;
    out.absolute = f.fraction == 23 ? (op == "sin" || op == "cos" ? 0x1p-20
                                       : op == "lg2"              ? 0x1p-22
                                                                  : 0x1p-149)
                   : isDouble       ? 0
                                    : 0x1p-24;
    if (ftz)
      out.absolute = std::max(out.absolute, 0x1p-126);
    if (f.exponent == 8 && f.fraction == 7)
      out.absolute = std::max(out.absolute, 0x1p-133);
    return true;
  }
  if (approximate) {
    out.approximate = true;
    uint64_t rounded = r.round(f, Direction::NearestEven, nan);
    out.value = Exact::fromBits(ftz && !isDouble ? flushed(rounded, f) : rounded, f).approximate();
    out.relative = isDouble ? 0x1p-20 : 0x1p-22;
    out.absolute = isDouble ? 0x1p-1022 : ftz ? 0x1p-126 : 0x1p-148;
    return true;
  }
  bits = r.round(f, direction, nan);
  if (ftz && !isDouble)
    bits = flushed(bits, f);
  if (form.has("sat"))
    bits = saturated(bits, f);
  if (form.has("relu"))
    bits = isNaN(bits, f) ? nan : bits & f.signBit() ? 0 : bits;
  return true;
}

bool floating(const Form &form, const ReferenceInput &in, ReferenceOutput &out) {
  Type type = form.type();
  const FloatFormat &f = *formatOf(type);
  if (form.types.size() == 2) { // the sources but the last are of a narrower type, which the wider one holds exactly
    uint64_t raw[3] = {0, 0, 0};
    const FloatFormat &narrow = *formatOf(form.type(1));
    for (unsigned i = 0; i + 1 < in.sources; ++i)
      raw[i] = Exact::fromBits(in.source[i] & mask(16), narrow).round(f, Direction::NearestEven, nanOf(f));
    raw[in.sources - 1] = in.source[in.sources - 1];
    return scalarFloat(form, f, false, raw, in.sources, out.bits[0], out);
  }
  bool pair = type == Type::F16x2 || type == Type::BF16x2 || type == Type::F32x2;
  unsigned width = unsigned(f.fraction + f.exponent + 1);
  if (!pair)
    return scalarFloat(form, f, type == Type::F64, in.source, in.sources, out.bits[0], out);
  for (unsigned half = 0; half < 2; ++half) {
    uint64_t raw[3], bits = 0;
    for (unsigned i = 0; i < 3; ++i)
      raw[i] = in.source[i] >> (width * half);
    if (!scalarFloat(form, f, false, raw, in.sources, bits, out))
      return false;
    if (out.approximate) { // compare the low half only; the scalar form covers the rest
      return true;
    }
    out.bits[0] |= bits << (width * half);
  }
  return true;
}

bool convert(const Form &form, const ReferenceInput &in, ReferenceOutput &out) {
  Type to = form.type(0), from = form.type(1);
  const FloatFormat *source = formatOf(from), *target = formatOf(to);
  Direction direction = directionOf(form);
  bool ftz = form.has("ftz"), sat = form.has("sat"), relu = form.has("relu");
  if (!source && !target) {
    Wide value = valueOf(in.source[0], from);
    if (sat)
      value = clampTo(value, bitsOf(to), isSignedType(to));
    // 8-bit results fill their 16-bit register with their sign.
    Wide kept = valueOf(uint64_t(value), to);
    out.bits[0] = uint64_t(kept) & mask(std::max(16u, bitsOf(to)));
    return true;
  }
  if (source && !target) {
    uint64_t bits = in.source[0] & mask(unsigned(source->fraction + source->exponent + 1));
    if (ftz && from == Type::F32)
      bits = flushed(bits, *source);
    Exact x = Exact::fromBits(bits, *source);
    unsigned width = bitsOf(to);
    bool isSigned = isSignedType(to);
    Wide low = isSigned ? -(Wide(1) << (width - 1)) : 0,
         high = isSigned ? (Wide(1) << (width - 1)) - 1 : (Wide(1) << width) - 1;
    Wide value;
    if (x.kind == Exact::Kind::NaN)
      value = from == Type::F64 || width == 64 ? valueOf(uint64_t(1) << (width - 1), to) : 0;
    else
      value = x.toInteger(direction, low, high);
    out.bits[0] = uint64_t(value) & mask(std::max(16u, width));
    return true;
  }
  auto one = [&](Exact x, uint64_t nan) {
    if (form.has("rni") || form.has("rzi") || form.has("rmi") || form.has("rpi"))
      x = x.integral(direction);
    if (sat && x.kind != Exact::Kind::NaN && (x.negative || x.isZero()))
      x = Exact::fromInteger(0, false);
    if (sat && x.kind == Exact::Kind::NaN)
      return uint64_t(0);
    if (sat && (x.kind == Exact::Kind::Infinite || compare(x, Exact::fromInteger(1, false)) > 0))
      x = Exact::fromInteger(1, false);
    if (relu && x.kind != Exact::Kind::NaN && x.negative)
      x = Exact::fromInteger(0, false);
    uint64_t bits = x.round(*target, direction, nan);
    uint64_t top = mask(unsigned(target->exponent)) << target->fraction;
    if (form.has("satfinite") && x.kind != Exact::Kind::NaN && target->hasInfinity &&
        (bits & ~target->signBit()) == top)
      bits -= 1;
    if (ftz && (to == Type::F32 || to == Type::F16))
      bits = flushed(bits, *target);
    return bits;
  };
  auto loadSource = [&](uint64_t raw, bool second) {
    (void)second;
    if (!source) {
      Wide value = valueOf(raw, from);
      return Exact::fromInteger(uint64_t(value < 0 ? -value : value), value < 0);
    }
    uint64_t bits = raw & mask(unsigned(source->fraction + source->exponent + 1));
    if (ftz && from == Type::F32)
      bits = flushed(bits, *source);
    return Exact::fromBits(bits, *source);
  };
  switch (to) {
  case Type::F16x2:
  case Type::BF16x2:
    if (from == Type::F32)
      out.bits[0] = one(loadSource(in.source[0], false), nanOf(*target)) << 16 |
                    one(loadSource(in.source[1], true), nanOf(*target));
    else
      out.bits[0] = one(loadSource(in.source[0] >> 8, true), nanOf(*target)) << 16 |
                    one(loadSource(in.source[0] & 255, false), nanOf(*target));
    return true;
  case Type::E4M3x2:
  case Type::E5M2x2:
    if (from == Type::F32)
      out.bits[0] = one(loadSource(in.source[0], false), 0x7f) << 8 | one(loadSource(in.source[1], true), 0x7f);
    else
      out.bits[0] = one(loadSource(in.source[0] >> 16, true), 0x7f) << 8 | one(loadSource(in.source[0], false), 0x7f);
    return true;
  case Type::TF32: {
    Exact x = loadSource(in.source[0], false);
    if (x.kind == Exact::Kind::NaN)
      out.bits[0] = 0x7fffffff;
    else
      out.bits[0] = one(x, 0) << 13;
    return true;
  }
  default:
    out.anyNaN = to == Type::F64;
    out.bits[0] = one(loadSource(in.source[0], false), nanOf(*target));
    return true;
  }
}

} // namespace

bool reference(const Form &form, const ReferenceInput &input, ReferenceOutput &output) {
  switch (form.family()) {
  case Family::Integer:
    return integer(form, input, output);
  case Family::Compare:
    return compares(form, input, output);
  case Family::Float:
  case Family::Half:
    return floating(form, input, output);
  case Family::Convert:
    return convert(form, input, output);
  case Family::Predicate: {
    std::string_view op = form.opcode();
    bool a = input.source[0] & 1, b = input.source[1] & 1;
    output.bits[0] = op == "and" ? (a && b) : op == "or" ? (a || b) : op == "xor" ? a != b : op == "not" ? !a : a;
    return true;
  }
  default:
    return false;
  }
}

} // namespace weft::simulator
