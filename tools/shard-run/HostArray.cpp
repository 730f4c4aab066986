//===- HostArray.cpp - Whole tensors in this process' memory --------------===//

#include "HostArray.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace llvm;
using namespace shardc;
using shardrt::elementBytes;

int64_t shardc::countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int64_t HostArray::numElements() const { return countElements(shape); }

std::string shardc::describeArray(ElementType type, ArrayRef<int64_t> shape) {
  std::string text = std::string(shardrt::elementTypeName(type)) + " [";
  raw_string_ostream out(text);
  interleaveComma(shape, out);
  out << "]";
  return text;
}

bool shardc::isComplex(ElementType type) {
  return type == ElementType::Complex64 || type == ElementType::Complex128;
}

/// LLVM's description of a floating-point type; null for the others.
static const fltSemantics *semanticsOf(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return &APFloat::IEEEhalf();
  case ElementType::BF16:
    return &APFloat::BFloat();
  case ElementType::F32:
    return &APFloat::IEEEsingle();
  case ElementType::F64:
    return &APFloat::IEEEdouble();
  case ElementType::F4E2M1FN:
    return &APFloat::Float4E2M1FN();
  case ElementType::F6E2M3FN:
    return &APFloat::Float6E2M3FN();
  case ElementType::F6E3M2FN:
    return &APFloat::Float6E3M2FN();
  case ElementType::F8E3M4:
    return &APFloat::Float8E3M4();
  case ElementType::F8E4M3:
    return &APFloat::Float8E4M3();
  case ElementType::F8E4M3FN:
    return &APFloat::Float8E4M3FN();
  case ElementType::F8E4M3FNUZ:
    return &APFloat::Float8E4M3FNUZ();
  case ElementType::F8E4M3B11FNUZ:
    return &APFloat::Float8E4M3B11FNUZ();
  case ElementType::F8E5M2:
    return &APFloat::Float8E5M2();
  case ElementType::F8E5M2FNUZ:
    return &APFloat::Float8E5M2FNUZ();
  case ElementType::F8E8M0FNU:
    return &APFloat::Float8E8M0FNU();
  default:
    return nullptr;
  }
}

bool shardc::isFloat(ElementType type) { return semanticsOf(type) != nullptr; }

bool shardc::isSigned(ElementType type) {
  switch (type) {
  case ElementType::I2:
  case ElementType::I4:
  case ElementType::I8:
  case ElementType::I16:
  case ElementType::I32:
  case ElementType::I64:
    return true;
  default:
    return false;
  }
}

unsigned shardc::integerBits(ElementType type) {
  switch (type) {
  case ElementType::I1:
    return 1;
  case ElementType::I2:
  case ElementType::UI2:
    return 2;
  case ElementType::I4:
  case ElementType::UI4:
    return 4;
  default:
    return 8 * elementBytes(type);
  }
}

ElementType shardc::partType(ElementType type) {
  if (type == ElementType::Complex64)
    return ElementType::F32;
  return type == ElementType::Complex128 ? ElementType::F64 : type;
}

/// The element's stored bits, zero-extended. Requires at most 8 bytes.
static uint64_t bitsAt(ElementType type, const char *address) {
  uint64_t bits = 0;
  std::memcpy(&bits, address, elementBytes(type));
  return bits;
}

static int64_t signedAt(ElementType type, const char *address) {
  return SignExtend64(bitsAt(type, address), 8 * elementBytes(type));
}

static APFloat floatAt(ElementType type, const char *address) {
  const fltSemantics &semantics = *semanticsOf(type);
  unsigned bits = APFloat::getSizeInBits(semantics);
  return APFloat(semantics, APInt(bits, bitsAt(type, address), false,
                                  /*implicitTrunc=*/true));
}

double shardc::toDouble(ElementType type, const char *address) {
  type = partType(type);
  if (type == ElementType::F32) {
    float value;
    std::memcpy(&value, address, sizeof(value));
    return value;
  }
  if (type == ElementType::F64) {
    double value;
    std::memcpy(&value, address, sizeof(value));
    return value;
  }
  if (isFloat(type)) {
    APFloat value = floatAt(type, address);
    // Of f8E8M0FNU, convert makes infinity.
    if (value.isNaN())
      return std::numeric_limits<double>::quiet_NaN();
    bool lost;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return value.convertToDouble();
  }
  if (isSigned(type))
    return static_cast<double>(signedAt(type, address));
  return static_cast<double>(bitsAt(type, address));
}

void shardc::fromDouble(ElementType type, double value, char *address) {
  uint64_t bits;
  if (const fltSemantics *semantics = semanticsOf(type)) {
    APFloat number(value);
    bool lost;
    number.convert(*semantics, APFloat::rmNearestTiesToEven, &lost);
    bits = number.bitcastToAPInt().getZExtValue();
  } else if (isSigned(type)) {
    bits = static_cast<uint64_t>(static_cast<int64_t>(value));
  } else {
    bits = static_cast<uint64_t>(value);
  }
  std::memcpy(address, &bits, elementBytes(type));
}

uint64_t shardc::distance(ElementType type, const char *a, const char *b) {
  type = partType(type);
  uint64_t x = bitsAt(type, a), y = bitsAt(type, b);
  if (x == y)
    return 0;
  if (!isFloat(type)) {
    if (isSigned(type)) {
      int64_t p = signedAt(type, a), q = signedAt(type, b);
      return p > q ? uint64_t(p) - uint64_t(q) : uint64_t(q) - uint64_t(p);
    }
    return x > y ? x - y : y - x;
  }
  double p = toDouble(type, a), q = toDouble(type, b);
  if (std::isnan(p) || std::isnan(q))
    return std::isnan(p) && std::isnan(q) ? 0 : UINT64_MAX;
  if (p == q)
    return 0;
  // Sign and magnitude: magnitudes of neighbouring numbers differ by one.
  unsigned width = APFloat::getSizeInBits(*semanticsOf(type));
  if (type == ElementType::F8E8M0FNU)
    return x > y ? x - y : y - x;
  uint64_t sign = uint64_t(1) << (width - 1);
  bool xNegative = x & sign, yNegative = y & sign;
  x &= sign - 1;
  y &= sign - 1;
  if (xNegative != yNegative)
    return x + y;
  return x > y ? x - y : y - x;
}

std::string shardc::printElement(ElementType type, const char *address) {
  if (isComplex(type)) {
    ElementType part = partType(type);
    return "(" + printElement(part, address) + "," +
           printElement(part, address + elementBytes(part)) + ")";
  }
  if (type == ElementType::I1)
    return *address ? "true" : "false";
  if (isSigned(type))
    return std::to_string(signedAt(type, address));
  if (!isFloat(type))
    return std::to_string(bitsAt(type, address));
  double value = toDouble(type, address);
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char text[40];
  for (int digits = type == ElementType::F64 ? 15 : 6; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    double back = std::strtod(text, nullptr);
    if (type == ElementType::F64
            ? back == value
            : static_cast<float>(back) == static_cast<float>(value))
      break;
  }
  return text;
}

NpyType shardc::npyTypeOf(ElementType type) {
  int64_t bytes = elementBytes(type);
  if (isComplex(type))
    return {'c', bytes};
  if (type == ElementType::I1)
    return {'b', 1};
  if (type == ElementType::F16 || type == ElementType::F32 ||
      type == ElementType::F64)
    return {'f', bytes};
  return {isSigned(type) ? 'i' : 'u', bytes};
}

bool shardc::canHold(ElementType type, NpyType stored) {
  NpyType own = npyTypeOf(type);
  if (stored == own)
    return true;
  // As ml_dtypes' types are stored: raw bytes, but for the one that it calls
  // f1.
  bool unknownToNumPy = (isFloat(type) && own.kind == 'u') ||
                        (type != ElementType::I1 && !isFloat(type) &&
                         !isComplex(type) && integerBits(type) < 8);
  if (type == ElementType::F8E5M2 && stored.kind == 'f' && stored.bytes == 1)
    return true;
  return unknownToNumPy && stored.kind == 'V' && stored.bytes == own.bytes;
}

NpyView shardc::viewOf(const HostArray &array, std::string name) {
  return {std::move(name), npyTypeOf(array.type), array.shape, array.data};
}

static uint64_t splitMix64(uint64_t state) {
  state += 0x9e3779b97f4a7c15;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
  state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
  return state ^ (state >> 31);
}

HostArray shardc::randomArray(ElementType type, ArrayRef<int64_t> shape,
                              uint64_t seed, uint64_t index, double low,
                              double high) {
  HostArray array{type, shape.vec(), {}};
  ElementType part = partType(type);
  int64_t bytes = elementBytes(part);
  int64_t draws = array.numElements() * (isComplex(type) ? 2 : 1);
  array.data.resize(draws * bytes);
  uint64_t start = splitMix64(splitMix64(seed) ^ index);
  unsigned bits = integerBits(type);
  int64_t values = bits < 4 ? int64_t(1) << bits : 16;
  // All that a draw can become, as bytes: large arrays are filled at the speed
  // of memory.
  constexpr int64_t kDraws = 128;
  SmallVector<char> table(kDraws * bytes);
  for (int64_t k = 0; k < kDraws; ++k) {
    double value = low + (high - low) * static_cast<double>(k) / kDraws;
    if (!isFloat(part))
      value =
          static_cast<double>(k % values - (isSigned(type) ? values / 2 : 0));
    fromDouble(part, value, table.data() + k * bytes);
  }
  auto fill = [&](auto width) {
    for (int64_t i = 0; i < draws; ++i)
      std::memcpy(array.data.data() + i * width,
                  table.data() + (splitMix64(start + i) >> 57) * width, width);
  };
  switch (bytes) {
  case 1:
    fill(std::integral_constant<int64_t, 1>());
    break;
  case 2:
    fill(std::integral_constant<int64_t, 2>());
    break;
  case 4:
    fill(std::integral_constant<int64_t, 4>());
    break;
  default:
    fill(std::integral_constant<int64_t, 8>());
    break;
  }
  return array;
}

/// Reads one element; false if `text` is not one that `type` can hold.
static bool parseElement(StringRef text, ElementType type, char *address) {
  text = text.trim();
  if (isComplex(type)) {
    ElementType part = partType(type);
    fromDouble(part, 0, address + elementBytes(part));
    return parseElement(text, part, address);
  }
  if (isFloat(type)) {
    double value;
    if (text.getAsDouble(value))
      return false;
    fromDouble(type, value, address);
    return true;
  }
  if (type == ElementType::I1 && (text == "true" || text == "false"))
    text = text == "true" ? "1" : "0";
  unsigned width = integerBits(type);
  uint64_t bits;
  if (isSigned(type)) {
    int64_t value;
    if (text.getAsInteger(10, value) || !isIntN(width, value))
      return false;
    bits = static_cast<uint64_t>(value);
  } else if (text.getAsInteger(10, bits) || !isUIntN(width, bits)) {
    return false;
  }
  std::memcpy(address, &bits, elementBytes(type));
  return true;
}

Expected<HostArray> shardc::parseArray(StringRef text) {
  auto fail = [&](const Twine &what) {
    return createStringError("'" + text + "': " + what +
                             "; expected for example 4x8xf32=0.5 or @file.npy");
  };
  auto [spec, values] = text.split('=');
  HostArray array;
  StringRef rest = spec.trim();
  int64_t elements = 1;
  constexpr int64_t maxElements = int64_t(1) << 40;
  while (!rest.empty() && isDigit(rest.front())) {
    int64_t size;
    if (rest.consumeInteger(10, size) || !rest.consume_front("x"))
      return fail("a size must be followed by x");
    if (size > maxElements || (size && elements > maxElements / size))
      return fail("more than 2^40 elements");
    elements *= size ? size : 1;
    array.shape.push_back(size);
  }
  if (array.shape.size() > 16)
    return fail("more than 16 dims");
  std::optional<ElementType> type =
      shardrt::elementTypeNamed(std::string_view(rest));
  if (!type)
    return fail("'" + rest + "' is no element type");
  array.type = *type;
  elements = array.numElements();
  int64_t bytes = elementBytes(array.type);
  array.data.resize(elements * bytes);
  if (!text.contains('='))
    return array;
  SmallVector<StringRef> list;
  values.split(list, ',');
  if (list.size() != 1 && static_cast<int64_t>(list.size()) != elements)
    return fail(Twine(list.size()) + " values for " + Twine(elements) +
                " elements");
  char single[16];
  for (auto [i, value] : enumerate(list)) {
    char *address = list.size() == 1 ? single : array.data.data() + i * bytes;
    if (!parseElement(value, array.type, address))
      return fail("'" + value + "' is not a value of type " + rest);
  }
  if (list.size() == 1)
    for (int64_t i = 0; i < elements; ++i)
      std::memcpy(array.data.data() + i * bytes, single, bytes);
  return array;
}
