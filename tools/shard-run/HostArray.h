//===- HostArray.h - Whole tensors in this process' memory ------*- C++ -*-===//
//
// What shard-run takes in and gives out: global arrays, row-major, elements as
// the runtime stores them (types narrower than a byte one per byte).
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TOOLS_SHARD_RUN_HOSTARRAY_H
#define SHARDC_TOOLS_SHARD_RUN_HOSTARRAY_H

#include "shardc/Support/Npz.h"
#include "shardrt/ElementType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace shardc {

using shardrt::ElementType;

struct HostArray {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  std::vector<char> data;
  /// Where it is read in place: the file, and where in it; `data` is empty
  /// then.
  std::shared_ptr<const llvm::MemoryBuffer> file = nullptr;
  llvm::ArrayRef<char> inFile = {};

  const char *bytes() const { return file ? inFile.data() : data.data(); }
  int64_t numElements() const;
  const char *element(int64_t index) const {
    return bytes() + index * shardrt::elementBytes(type);
  }
};

/// Number of elements of `shape`: the product of its sizes.
int64_t countElements(llvm::ArrayRef<int64_t> shape);

/// "f32 [1, 8, 32, 24]".
std::string describeArray(ElementType type, llvm::ArrayRef<int64_t> shape);

bool isComplex(ElementType type);
/// Real floating-point types, narrow ones too.
bool isFloat(ElementType type);
bool isSigned(ElementType type);
/// Bits of an integer type's value: 1 for i1, 4 for ui4.
unsigned integerBits(ElementType type);

/// The real number at `address`; for complex types of the part there. Integers
/// beyond 2^53 are rounded.
double toDouble(ElementType type, const char *address);
/// Stores `value` (rounded to nearest, even) at `address`; `type` is not
/// complex.
void fromDouble(ElementType type, double value, char *address);
/// How many representable numbers are between the two: 0 for equal bits, for +0
/// and -0 and for two NaNs; UINT64_MAX where one alone is NaN. For complex
/// types of the part at the addresses; for integers the difference.
uint64_t distance(ElementType type, const char *a, const char *b);

/// The part type of a complex type, or the type itself.
ElementType partType(ElementType type);

/// "0.5", "-3", "true", "(1,-2)": as short as reads back the same.
std::string printElement(ElementType type, const char *address);

/// How NumPy stores `type`: bfloat16 as uint16 bits, 8-bit floats and narrow
/// unsigned integers as uint8, narrow signed ones as int8.
NpyType npyTypeOf(ElementType type);
/// True if an array of `stored` can be taken for one of `type`: its own type,
/// or raw bytes of the same width for types that NumPy does not know.
bool canHold(ElementType type, NpyType stored);

/// A view to write `array` under `name`.
NpyView viewOf(const HostArray &array, std::string name);

/// Fills an array of `type` and `shape` with reproducible numbers. Element i of
/// array `index` depends on `seed`, `index` and i alone: SplitMix64 of the
/// three gives k in [0, 128), and the element is (k - 64) / 64 for floats
/// (short binary fractions in [-1, 1), exact in every type of 7 bits and more),
/// k mod 16 - 8 for signed, k mod 16 for unsigned integers (of narrower types
/// as many values as there are), k mod 2 for i1. Complex elements take two
/// draws. Floats of another range are low + (high - low) * k / 128.
HostArray randomArray(ElementType type, llvm::ArrayRef<int64_t> shape,
                      uint64_t seed, uint64_t index, double low = -1,
                      double high = 1);

/// Reads "4x8xf32=0.5", "3xi32=1,2,3", "f32=2", "8xf32" (zeros): one value for
/// all elements, or one for each, row-major. Complex types take real values.
llvm::Expected<HostArray> parseArray(llvm::StringRef text);

} // namespace shardc

#endif // SHARDC_TOOLS_SHARD_RUN_HOSTARRAY_H
