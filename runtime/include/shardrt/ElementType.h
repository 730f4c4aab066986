//===- ElementType.h - Codes of element types in site tables ----*- C++ -*-===//
//
// One code for each element type of StableHLO, with the bytes that one element
// takes in a local buffer. Types narrower than a byte (i1, i2, i4, f4, f6) are
// stored one per byte: i1 as 0 or 1, signed ones sign-extended, others
// zero-extended. Codes are part of the artifact's format: append, never
// renumber.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_ELEMENTTYPE_H
#define SHARDRT_ELEMENTTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

// clang-format off
/// X(enumerator, code, name as MLIR and StableHLO spell it, bytes stored)
#define SHARDRT_FOR_EACH_ELEMENT_TYPE(X)                                       \
  X(I1, 1, "i1", 1)                                                            \
  X(I2, 2, "i2", 1)                                                            \
  X(I4, 3, "i4", 1)                                                            \
  X(I8, 4, "i8", 1)                                                            \
  X(I16, 5, "i16", 2)                                                          \
  X(I32, 6, "i32", 4)                                                          \
  X(I64, 7, "i64", 8)                                                          \
  X(UI2, 8, "ui2", 1)                                                          \
  X(UI4, 9, "ui4", 1)                                                          \
  X(UI8, 10, "ui8", 1)                                                         \
  X(UI16, 11, "ui16", 2)                                                       \
  X(UI32, 12, "ui32", 4)                                                       \
  X(UI64, 13, "ui64", 8)                                                       \
  X(F16, 14, "f16", 2)                                                         \
  X(BF16, 15, "bf16", 2)                                                       \
  X(F32, 16, "f32", 4)                                                         \
  X(F64, 17, "f64", 8)                                                         \
  X(Complex64, 18, "complex<f32>", 8)                                          \
  X(Complex128, 19, "complex<f64>", 16)                                        \
  X(F4E2M1FN, 20, "f4E2M1FN", 1)                                               \
  X(F6E2M3FN, 21, "f6E2M3FN", 1)                                               \
  X(F6E3M2FN, 22, "f6E3M2FN", 1)                                               \
  X(F8E3M4, 23, "f8E3M4", 1)                                                   \
  X(F8E4M3, 24, "f8E4M3", 1)                                                   \
  X(F8E4M3FN, 25, "f8E4M3FN", 1)                                               \
  X(F8E4M3FNUZ, 26, "f8E4M3FNUZ", 1)                                           \
  X(F8E4M3B11FNUZ, 27, "f8E4M3B11FNUZ", 1)                                     \
  X(F8E5M2, 28, "f8E5M2", 1)                                                   \
  X(F8E5M2FNUZ, 29, "f8E5M2FNUZ", 1)                                           \
  X(F8E8M0FNU, 30, "f8E8M0FNU", 1)
// clang-format on

namespace shardrt {

enum class ElementType : int64_t {
#define SHARDRT_ENUMERATOR(NAME, CODE, SPELLING, BYTES) NAME = CODE,
  SHARDRT_FOR_EACH_ELEMENT_TYPE(SHARDRT_ENUMERATOR)
#undef SHARDRT_ENUMERATOR
};

/// Bytes of one element in a local buffer; 0 if `type` is no known code.
constexpr int64_t elementBytes(ElementType type) {
  switch (type) {
#define SHARDRT_CASE(NAME, CODE, SPELLING, BYTES)                              \
  case ElementType::NAME:                                                      \
    return BYTES;
    SHARDRT_FOR_EACH_ELEMENT_TYPE(SHARDRT_CASE)
#undef SHARDRT_CASE
  }
  return 0;
}

/// How MLIR spells `type`; empty if it is no known code.
constexpr std::string_view elementTypeName(ElementType type) {
  switch (type) {
#define SHARDRT_CASE(NAME, CODE, SPELLING, BYTES)                              \
  case ElementType::NAME:                                                      \
    return SPELLING;
    SHARDRT_FOR_EACH_ELEMENT_TYPE(SHARDRT_CASE)
#undef SHARDRT_CASE
  }
  return {};
}

/// The type that MLIR spells `name` ("f32", "ui8", "complex<f64>"; "bool" and
/// "index" are none); nullopt if there is none.
constexpr std::optional<ElementType> elementTypeNamed(std::string_view name) {
#define SHARDRT_TEST(NAME, CODE, SPELLING, BYTES)                              \
  if (name == SPELLING)                                                        \
    return ElementType::NAME;
  SHARDRT_FOR_EACH_ELEMENT_TYPE(SHARDRT_TEST)
#undef SHARDRT_TEST
  return std::nullopt;
}

} // namespace shardrt

#endif // SHARDRT_ELEMENTTYPE_H
