//===- Combine.cpp - Element-wise reductions of buffers -------------------===//
//
// A block of elements at a time: the accumulator stays in the first-level cache
// and each part is read once. The order is that of the parts, so that every
// rank that combines the same parts gets the same bits, whatever its CPU: no
// product and sum become one.
//
// CombineV3.cpp and CombineV4.cpp are this file for CPUs with wider vectors
// (SHARDRT_COMBINE_LEVEL). Nothing in it may be shared with code for other
// CPUs: templates of the standard library are used where they are types alone.
//
//===----------------------------------------------------------------------===//

#include "Device/Cpu/Combine.h"
#include <cstring>
#include <type_traits>

#ifndef SHARDRT_COMBINE_LEVEL
#define SHARDRT_COMBINE_LEVEL findCombinerBase
#define SHARDRT_COMBINE_BASE
#endif

using namespace shardrt;

namespace shardrt {
Combiner SHARDRT_COMBINE_LEVEL(ElementType type, Reduction reduction);
} // namespace shardrt

//===----------------------------------------------------------------------===//
// Element types: what is stored, and in what it is combined
//===----------------------------------------------------------------------===//

namespace {

/// Stored and combined as the same type.
template <typename T> struct Plain {
  using Stored = T;
  using Value = T;
  static T load(T x) { return x; }
  static T store(T x) { return x; }
};

/// 0 or 1 in a byte.
struct Boolean {
  using Stored = uint8_t;
  using Value = bool;
  static bool load(uint8_t x) { return x != 0; }
  static uint8_t store(bool x) { return x; }
};

/// The low `Bits` bits of a byte; results wrap around. Generated code stores
/// zeros above them, whatever the sign, and takes them for zeros.
template <typename Byte, int Bits> struct Narrow {
  using Stored = Byte;
  using Value = int32_t;
  static constexpr int32_t half = 1 << (Bits - 1), mask = (1 << Bits) - 1;
  static int32_t load(Byte x) {
    int32_t low = x & mask;
    return std::is_signed_v<Byte> ? (low ^ half) - half : low;
  }
  static Byte store(int32_t x) { return static_cast<Byte>(x & mask); }
};

struct BFloat {
  using Stored = uint16_t;
  using Value = float;
  static float load(uint16_t x) {
    return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
  }
  static uint16_t store(float x) {
    uint32_t bits = __builtin_bit_cast(uint32_t, x);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    uint32_t quiet = bits >> 16 | 0x40;
    return static_cast<uint16_t>(x != x ? quiet : rounded);
  }
};

struct Half {
  using Stored = uint16_t;
  using Value = float;
  static float load(uint16_t x) {
    // The exponent is moved up by a product, which also turns subnormal numbers
    // into normal ones; infinities and NaN get the largest exponent.
    uint32_t magnitude = static_cast<uint32_t>(x & 0x7fff) << 13;
    float scaled = __builtin_bit_cast(float, magnitude) * 0x1p112f;
    uint32_t bits = __builtin_bit_cast(uint32_t, scaled);
    if ((x & 0x7c00) == 0x7c00)
      bits |= 0x7f800000;
    return __builtin_bit_cast(float, bits | static_cast<uint32_t>(x & 0x8000)
                                                << 16);
  }
  static uint16_t store(float x) {
    uint32_t bits = __builtin_bit_cast(uint32_t, x);
    uint32_t sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    uint32_t result;
    if (bits > 0x7f800000) {
      result = 0x7e00 | (bits >> 13 & 0x3ff);
    } else if (bits >= 0x47800000) { // 65536 and above
      result = 0x7c00;
    } else if (bits < 0x38800000) { // below the least normal number
      // Added to 0.5, the bits that a subnormal number keeps come to lie
      // lowest, and the sum is rounded to nearest even.
      float shifted = __builtin_bit_cast(float, bits) + 0.5f;
      result = __builtin_bit_cast(uint32_t, shifted) - 0x3f000000;
    } else {
      result = (bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13;
    }
    return static_cast<uint16_t>(result | sign);
  }
};

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

template <typename T> struct Complex {
  T re, im;
};
template <typename T> constexpr bool isComplex = false;
template <typename T> constexpr bool isComplex<Complex<T>> = true;

/// An unsigned type of the same size: signed sums wrap around.
template <typename T> auto wrapping(T x) {
  if constexpr (std::is_integral_v<T>) {
    // At least 32 bits, or the operands would be promoted to int.
    using Wide =
        std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
    return static_cast<Wide>(x);
  } else {
    return x;
  }
}

struct Sum {
  template <typename T> static T apply(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a | b;
    else if constexpr (isComplex<T>)
      return {a.re + b.re, a.im + b.im};
    else
      return static_cast<T>(wrapping(a) + wrapping(b));
  }
};

struct Product {
  template <typename T> static T apply(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a & b;
    else if constexpr (isComplex<T>)
      return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    else
      return static_cast<T>(wrapping(a) * wrapping(b));
  }
};

/// IEEE 754-2019 minimum or maximum: NaN if there is one, and -0 below +0.
template <bool Max> struct Extreme {
  template <typename T> static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
      Bits x = __builtin_bit_cast(Bits, a), y = __builtin_bit_cast(Bits, b);
      // Equal numbers differ in the sign of zero at most.
      T same = __builtin_bit_cast(T, static_cast<Bits>(Max ? x & y : x | y));
      T ordered = a == b ? same : ((Max ? a > b : a < b) ? a : b);
      return a != a ? a : (b != b ? b : ordered);
    } else {
      return (Max ? a < b : b < a) ? b : a;
    }
  }
};

struct And {
  template <typename T> static T apply(T a, T b) { return a & b; }
};
struct Or {
  template <typename T> static T apply(T a, T b) { return a | b; }
};
struct Xor {
  template <typename T> static T apply(T a, T b) { return a ^ b; }
};

} // namespace

/// Elements combined at a time.
static constexpr int64_t blockElements = 1024;

template <typename Type, typename Op>
static void combine(const std::byte *const *parts, size_t numParts,
                    std::byte *dst, int64_t count) {
  using Stored = typename Type::Stored;
  using Value = typename Type::Value;
  Value values[blockElements];
  auto at = [](const std::byte *base, int64_t i) {
    Stored x;
    std::memcpy(&x, base + i * sizeof(Stored), sizeof(Stored));
    return Type::load(x);
  };
  for (int64_t begin = 0; begin < count; begin += blockElements) {
    int64_t left = count - begin,
            size = left < blockElements ? left : blockElements;
    const std::byte *first = parts[0] + begin * sizeof(Stored);
    for (int64_t i = 0; i < size; ++i)
      values[i] = at(first, i);
    for (size_t part = 1; part < numParts; ++part) {
      const std::byte *next = parts[part] + begin * sizeof(Stored);
      for (int64_t i = 0; i < size; ++i)
        values[i] = Op::template apply<Value>(values[i], at(next, i));
    }
    std::byte *out = dst + begin * sizeof(Stored);
    for (int64_t i = 0; i < size; ++i) {
      Stored x = Type::store(values[i]);
      std::memcpy(out + i * sizeof(Stored), &x, sizeof(Stored));
    }
  }
}

template <typename Type, typename Op>
static void combineInto(std::byte *__restrict dst,
                        const std::byte *__restrict part, int64_t count) {
  using Stored = typename Type::Stored;
  using Value = typename Type::Value;
  for (int64_t i = 0; i < count; ++i) {
    Stored mine, other;
    std::memcpy(&mine, dst + i * sizeof(Stored), sizeof(Stored));
    std::memcpy(&other, part + i * sizeof(Stored), sizeof(Stored));
    Stored x = Type::store(
        Op::template apply<Value>(Type::load(mine), Type::load(other)));
    std::memcpy(dst + i * sizeof(Stored), &x, sizeof(Stored));
  }
}

template <typename Type, typename Op> static Combiner both() {
  return {combine<Type, Op>, combineInto<Type, Op>};
}

template <typename Type> static Combiner forArithmetic(Reduction reduction) {
  switch (reduction) {
  case Reduction::Sum:
    return both<Type, Sum>();
  case Reduction::Product:
    return both<Type, Product>();
  case Reduction::Min:
    if constexpr (!isComplex<typename Type::Value>)
      return both<Type, Extreme<false>>();
    return {};
  case Reduction::Max:
    if constexpr (!isComplex<typename Type::Value>)
      return both<Type, Extreme<true>>();
    return {};
  default:
    return {};
  }
}

template <typename Type> static Combiner forInteger(Reduction reduction) {
  switch (reduction) {
  case Reduction::And:
    return both<Type, And>();
  case Reduction::Or:
    return both<Type, Or>();
  case Reduction::Xor:
    return both<Type, Xor>();
  default:
    return forArithmetic<Type>(reduction);
  }
}

Combiner shardrt::SHARDRT_COMBINE_LEVEL(ElementType type, Reduction reduction) {
  switch (type) {
  case ElementType::I1:
    return forInteger<Boolean>(reduction);
  case ElementType::I2:
    return forInteger<Narrow<int8_t, 2>>(reduction);
  case ElementType::I4:
    return forInteger<Narrow<int8_t, 4>>(reduction);
  case ElementType::I8:
    return forInteger<Plain<int8_t>>(reduction);
  case ElementType::I16:
    return forInteger<Plain<int16_t>>(reduction);
  case ElementType::I32:
    return forInteger<Plain<int32_t>>(reduction);
  case ElementType::I64:
    return forInteger<Plain<int64_t>>(reduction);
  case ElementType::UI2:
    return forInteger<Narrow<uint8_t, 2>>(reduction);
  case ElementType::UI4:
    return forInteger<Narrow<uint8_t, 4>>(reduction);
  case ElementType::UI8:
    return forInteger<Plain<uint8_t>>(reduction);
  case ElementType::UI16:
    return forInteger<Plain<uint16_t>>(reduction);
  case ElementType::UI32:
    return forInteger<Plain<uint32_t>>(reduction);
  case ElementType::UI64:
    return forInteger<Plain<uint64_t>>(reduction);
  case ElementType::F16:
    return forArithmetic<Half>(reduction);
  case ElementType::BF16:
    return forArithmetic<BFloat>(reduction);
  case ElementType::F32:
    return forArithmetic<Plain<float>>(reduction);
  case ElementType::F64:
    return forArithmetic<Plain<double>>(reduction);
  case ElementType::Complex64:
    return forArithmetic<Plain<Complex<float>>>(reduction);
  case ElementType::Complex128:
    return forArithmetic<Plain<Complex<double>>>(reduction);
  default:
    return {};
  }
}

#ifdef SHARDRT_COMBINE_BASE
namespace shardrt {
Combiner findCombinerV3(ElementType type, Reduction reduction);
Combiner findCombinerV4(ElementType type, Reduction reduction);
} // namespace shardrt

Combiner shardrt::findCombiner(ElementType type, Reduction reduction) {
  // ThreadSanitizer sees no access of more than 16 bytes.
#if defined(SHARDRT_LEVELS) && !__has_feature(thread_sanitizer)
  if (__builtin_cpu_supports("x86-64-v4"))
    return findCombinerV4(type, reduction);
  if (__builtin_cpu_supports("x86-64-v3"))
    return findCombinerV3(type, reduction);
#endif
  return findCombinerBase(type, reduction);
}
#endif
