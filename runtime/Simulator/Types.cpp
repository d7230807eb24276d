//===- Types.cpp - The fundamental types of PTX -------------------------------===//
#include "runtime/Simulator/Types.h"

namespace weft::simulator {

namespace {
struct TypeRow {
  Type type;
  const char *name;
  unsigned size;
  char kind; ///< 'b' bits, 'u' unsigned, 's' signed, 'f' float
};
constexpr TypeRow rows[] = {
    {Type::None, "none", 0, 'b'},     {Type::Pred, "pred", 0, 'b'},     {Type::B8, "b8", 1, 'b'},
    {Type::U8, "u8", 1, 'u'},         {Type::S8, "s8", 1, 's'},         {Type::B16, "b16", 2, 'b'},
    {Type::U16, "u16", 2, 'u'},       {Type::S16, "s16", 2, 's'},       {Type::B32, "b32", 4, 'b'},
    {Type::U32, "u32", 4, 'u'},       {Type::S32, "s32", 4, 's'},       {Type::B64, "b64", 8, 'b'},
    {Type::U64, "u64", 8, 'u'},       {Type::S64, "s64", 8, 's'},       {Type::B128, "b128", 16, 'b'},
    {Type::F16, "f16", 2, 'f'},       {Type::F16x2, "f16x2", 4, 'f'},   {Type::BF16, "bf16", 2, 'f'},
    {Type::BF16x2, "bf16x2", 4, 'f'}, {Type::F32, "f32", 4, 'f'},       {Type::TF32, "tf32", 4, 'f'},
    {Type::F64, "f64", 8, 'f'},       {Type::F32x2, "f32x2", 8, 'f'},   {Type::E4M3, "e4m3", 1, 'f'},
    {Type::E5M2, "e5m2", 1, 'f'},     {Type::E4M3x2, "e4m3x2", 2, 'f'}, {Type::E5M2x2, "e5m2x2", 2, 'f'},
    {Type::U16x2, "u16x2", 4, 'u'},   {Type::S16x2, "s16x2", 4, 's'},   {Type::U8x4, "u8x4", 4, 'u'},
    {Type::S8x4, "s8x4", 4, 's'},
};
static_assert(sizeof(rows) / sizeof(rows[0]) == size_t(Type::S8x4) + 1, "one row a type, in the order of the enum");
} // namespace

Type typeFromSuffix(std::string_view suffix) {
  for (const TypeRow &row : rows)
    if (row.type != Type::None && suffix == row.name)
      return row.type;
  return Type::None;
}

const char *typeName(Type type) { return rows[size_t(type)].name; }
unsigned typeSize(Type type) { return rows[size_t(type)].size; }
bool isFloatType(Type type) { return rows[size_t(type)].kind == 'f'; }
bool isSignedType(Type type) { return rows[size_t(type)].kind == 's'; }

} // namespace weft::simulator
