//===- Array.cpp - A value of the interpreter -----------------------------===//
#include "shardc/Interpreter/Array.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

using namespace mlir;
using namespace shardc::interpreter;
using llvm::APFloat;
using llvm::APInt;

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

std::optional<Format> Format::of(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    std::optional<Format> part = of(complex.getElementType());
    if (!part || !part->isFloat())
      return std::nullopt;
    part->kind = Complex;
    return part;
  }
  if (auto floating = dyn_cast<FloatType>(type))
    return Format{Float, floating.getWidth(), true,
                  &floating.getFloatSemantics()};
  if (isa<IndexType>(type))
    return Format{Integer, 64, true, nullptr};
  // Signless integers are signed, but for booleans.
  if (auto integer = dyn_cast<IntegerType>(type))
    if (integer.getWidth() <= 64)
      return Format{Integer, integer.getWidth(),
                    !integer.isUnsigned() && integer.getWidth() > 1, nullptr};
  return std::nullopt;
}

/// `value` in a format: to nearest, ties to even. Where there are no negative
/// numbers and no zero, what is not positive is NaN; where there is no infinity
/// and no NaN, infinity is the largest number.
static APFloat converted(double value, const llvm::fltSemantics &semantics) {
  if (!APFloat::semanticsHasSignedRepr(semantics) && !(value > 0))
    return APFloat::getNaN(semantics);
  if (std::isinf(value) && !APFloat::semanticsHasInf(semantics) &&
      !APFloat::semanticsHasNaN(semantics))
    return APFloat::getLargest(semantics, std::signbit(value));
  APFloat number(value);
  bool losesInfo;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return number;
}

/// `value`, which f64 has. (APFloat::convertToDouble makes infinity of the NaN
/// of f8E8M0FNU.)
static double toDouble(APFloat value) {
  if (value.isNaN() && !APFloat::semanticsHasSignedRepr(value.getSemantics()))
    return std::numeric_limits<double>::quiet_NaN();
  return value.convertToDouble();
}

double Format::round(double value) const {
  if (semantics == &APFloat::IEEEdouble())
    return value;
  if (semantics == &APFloat::IEEEsingle())
    return static_cast<float>(value);
  return toDouble(converted(value, *semantics));
}

int64_t Format::wrap(int64_t value) const {
  if (bits >= 64)
    return value;
  uint64_t low = static_cast<uint64_t>(value) << (64 - bits);
  return isSigned ? static_cast<int64_t>(low) >> (64 - bits)
                  : static_cast<int64_t>(low >> (64 - bits));
}

int64_t Format::bytes() const {
  return std::max<int64_t>(bits / 8, 1) * (isComplex() ? 2 : 1);
}

uint64_t shardc::interpreter::bitsOf(const Format &format, double value) {
  return converted(value, *format.semantics).bitcastToAPInt().getZExtValue();
}

double shardc::interpreter::floatOf(const Format &format, uint64_t bits) {
  return toDouble(APFloat(*format.semantics, APInt(format.bits, bits,
                                                   /*isSigned=*/false,
                                                   /*implicitTrunc=*/true)));
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

static thread_local Misuse misuse = Misuse::None;

static void note(Misuse what) {
  if (misuse == Misuse::None)
    misuse = what;
}

Misuse Array::takeMisuse() { return std::exchange(misuse, Misuse::None); }

Element &Array::outside() {
  static thread_local Element nobodys;
  note(Misuse::Outside);
  return nobodys = Element();
}

int64_t shardc::interpreter::countElements(ArrayRef<int64_t> shape) {
  constexpr int64_t most = int64_t(1) << 48;
  if (llvm::any_of(shape, [](int64_t size) { return size <= 0; }))
    return 0;
  int64_t count = 1;
  for (int64_t size : shape)
    if (llvm::MulOverflow(count, size, count) || count > most)
      return most;
  return count;
}

void shardc::interpreter::forEachIndex(
    ArrayRef<int64_t> shape,
    llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  Shape index(shape.size(), 0);
  for (int64_t left = countElements(shape); left > 0 && misuse == Misuse::None;
       --left) {
    visit(index);
    for (int64_t d = static_cast<int64_t>(shape.size()) - 1;
         d >= 0 && ++index[d] == shape[d]; --d)
      index[d] = 0;
  }
}

Array::Array(Format format, ArrayRef<int64_t> shape)
    : type(format), sizes(shape), data(std::make_shared<Data>()) {
  int64_t count = countElements(shape);
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    note(Misuse::Negative);
  else if (count > kMostElements)
    note(Misuse::TooMany);
  else
    data->elements.resize(count); // all bits zero is 0 and 0.0
}

Array Array::scalar(Format format, Element value) {
  Array array(format, {});
  array.data->elements[0] = value;
  return array;
}

Array Array::tuple(ArrayRef<Array> parts) {
  Array array;
  array.data = std::make_shared<Data>();
  array.data->parts.assign(parts.begin(), parts.end());
  array.data->isTuple = true;
  return array;
}

Array Array::reshaped(ArrayRef<int64_t> shape) const {
  Array array = *this;
  array.sizes.assign(shape.begin(), shape.end());
  return array;
}

Array Array::slice(ArrayRef<int64_t> starts, ArrayRef<int64_t> box,
                   ArrayRef<int64_t> strides) const {
  Array result(type, box);
  Shape from(rank());
  int64_t next = 0;
  forEachIndex(box, [&](ArrayRef<int64_t> index) {
    for (int64_t d = 0; d < rank(); ++d)
      from[d] = starts[d] + index[d] * (strides.empty() ? 1 : strides[d]);
    result.set(next++) = at(from);
  });
  return result;
}

Array Array::joined(ArrayRef<Array> parts, int64_t dim) {
  Shape shape(parts[0].shape()), starts(parts[0].rank(), 0);
  shape[dim] = 0;
  for (const Array &part : parts)
    shape[dim] += part.dim(dim);
  Array result(parts[0].format(), shape);
  for (const Array &part : parts) {
    result.write(part, starts);
    starts[dim] += part.dim(dim);
  }
  return result;
}

void Array::write(const Array &part, ArrayRef<int64_t> starts) {
  Shape to(rank());
  int64_t next = 0;
  forEachIndex(part.shape(), [&](ArrayRef<int64_t> index) {
    for (int64_t d = 0; d < rank(); ++d)
      to[d] = starts[d] + index[d];
    set(flat(to)) = part[next++];
  });
}

void Array::fill(Element value) {
  own();
  llvm::fill(data->elements, value);
}

//===----------------------------------------------------------------------===//
// Constants and bytes
//===----------------------------------------------------------------------===//

std::optional<Array> Array::read(ElementsAttr attr) {
  ShapedType shaped = attr.getShapedType();
  std::optional<Format> format = Format::of(shaped.getElementType());
  if (!format)
    return std::nullopt;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    int64_t needed = countElements(shaped.getShape()) * format->bytes();
    if (!blob)
      return std::nullopt;
    ArrayRef<char> bytes = blob->getData();
    // Booleans are one bit each in the parser's hands.
    if (format->isBoolean() && static_cast<int64_t>(bytes.size()) < needed) {
      Array array(*format, shaped.getShape());
      if (static_cast<int64_t>(bytes.size()) * 8 < array.size())
        return std::nullopt;
      for (int64_t i = 0; i < array.size(); ++i)
        array.set(i).integer = bytes[i / 8] >> (i % 8) & 1;
      return array;
    }
    if (static_cast<int64_t>(bytes.size()) < needed)
      return std::nullopt;
    return read(*format, shaped.getShape(), bytes.data());
  }
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (!dense)
    return std::nullopt;
  Array array(*format, shaped.getShape());
  int64_t next = 0;
  if (format->isInteger()) {
    for (const APInt &value : dense.getValues<APInt>())
      array.put(next++, static_cast<int64_t>(value.getBitWidth() > 64
                                                 ? 0
                                                 : value.getZExtValue()));
  } else if (format->isFloat()) {
    for (const APFloat &value : dense.getValues<APFloat>())
      array.set(next++).real = toDouble(value);
  } else {
    for (const std::complex<APFloat> &value :
         dense.getValues<std::complex<APFloat>>())
      array.set(next++) = Element::of(
          std::complex<double>(toDouble(value.real()), toDouble(value.imag())));
  }
  return array;
}

Array Array::read(Format format, ArrayRef<int64_t> shape, const char *bytes) {
  Array array(format, shape);
  int64_t width = std::max<int64_t>(format.bits / 8, 1);
  auto word = [&] {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes, width); // little-endian, as everything here
    bytes += width;
    return bits;
  };
  for (Element &element : array.data->elements) {
    if (format.isInteger()) {
      element.integer = format.isBoolean() ? word() != 0 : format.wrap(word());
      continue;
    }
    element.real = floatOf(format, word());
    if (format.isComplex())
      element.imag = floatOf(format, word());
  }
  return array;
}

std::vector<char> Array::bytes() const {
  std::vector<char> bytes;
  int64_t width = std::max<int64_t>(type.bits / 8, 1);
  auto append = [&](uint64_t word) {
    const char *first = reinterpret_cast<const char *>(&word);
    bytes.insert(bytes.end(), first, first + width);
  };
  for (const Element &element : data->elements) {
    append(type.isInteger() ? static_cast<uint64_t>(element.integer)
                            : bitsOf(type, element.real));
    if (type.isComplex())
      append(bitsOf(type, element.imag));
  }
  return bytes;
}
