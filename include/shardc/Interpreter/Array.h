//===- Array.h - A value of the interpreter ---------------------*- C++ -*-===//
//
// A tensor whose elements are all held alike: a 64-bit integer, or a complex
// number of two f64. What type they are of says a format; every result is
// rounded to it once. No views, no strides.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_INTERPRETER_ARRAY_H
#define SHARDC_INTERPRETER_ARRAY_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <complex>
#include <memory>
#include <optional>
#include <vector>

namespace shardc::interpreter {

using Shape = llvm::SmallVector<int64_t, 4>;

/// An element type: what values it can hold.
struct Format {
  enum Kind { Integer, Float, Complex };
  Kind kind = Float;
  unsigned bits = 32; ///< of an integer, or of one part of a complex number
  bool isSigned = true;
  const llvm::fltSemantics *semantics = nullptr; ///< of floats and parts

  /// None where `type` is no element type that is known here.
  static std::optional<Format> of(mlir::Type type);
  static Format boolean() { return {Integer, 1, false, nullptr}; }
  static Format int32() { return {Integer, 32, true, nullptr}; }

  bool isInteger() const { return kind == Integer; }
  bool isFloat() const { return kind == Float; }
  bool isComplex() const { return kind == Complex; }
  bool isBoolean() const { return kind == Integer && bits == 1; }
  /// The real type of a complex number's parts.
  Format part() const {
    return {kind == Complex ? Float : kind, bits, isSigned, semantics};
  }
  bool operator==(const Format &other) const {
    return kind == other.kind && bits == other.bits &&
           isSigned == other.isSigned && semantics == other.semantics;
  }

  /// `value` rounded to nearest, ties to even, as this real type holds it.
  double round(double value) const;
  /// The lowest bits of `value`, extended as the type is signed or not.
  int64_t wrap(int64_t value) const;
  /// Bytes in memory and files: narrow types take one, complex ones two parts.
  int64_t bytes() const;
};

/// One element; the array's format says which member counts.
struct Element {
  union {
    double real;
    int64_t integer;
  };
  double imag = 0;

  Element() : integer(0) {}
  static Element of(int64_t value) {
    Element element;
    element.integer = value;
    return element;
  }
  static Element of(double value) {
    Element element;
    element.real = value;
    return element;
  }
  static Element of(std::complex<double> value) {
    Element element;
    element.real = value.real();
    element.imag = value.imag();
    return element;
  }
  std::complex<double> complex() const { return {real, imag}; }
};

/// What was asked of arrays that cannot be had. It is noted here and what was
/// asked for left out (a read gives a zero, a write is lost, the array has no
/// elements): the evaluator looks after each op, and refuses it.
enum class Misuse {
  None,
  Outside,  ///< an element that is not there
  Negative, ///< an array of less than no elements along a dim
  TooMany   ///< an array of more than kMostElements
};

/// Those of one array. There is no memory for more.
constexpr int64_t kMostElements = int64_t(1) << 31;

class Array {
public:
  Array() = default;
  /// Zeros.
  Array(Format format, llvm::ArrayRef<int64_t> shape);
  static Array scalar(Format format, Element value);
  static Array tuple(llvm::ArrayRef<Array> parts);
  static Array token() { return tuple({}); }
  /// What a constant holds; none where its elements are not known.
  static std::optional<Array> read(mlir::ElementsAttr attr);
  static Array read(Format format, llvm::ArrayRef<int64_t> shape,
                    const char *bytes);

  const Format &format() const { return type; }
  llvm::ArrayRef<int64_t> shape() const { return sizes; }
  int64_t rank() const { return sizes.size(); }
  int64_t dim(int64_t index) const { return sizes[index]; }
  int64_t size() const { return data ? data->elements.size() : 0; }
  llvm::ArrayRef<Array> parts() const { return data->parts; }
  bool isTuple() const { return data && data->isTuple; }
  explicit operator bool() const { return data != nullptr; }

  const Element &operator[](int64_t index) const {
    return has(index) ? data->elements[index] : outside();
  }
  const Element &at(llvm::ArrayRef<int64_t> index) const {
    return (*this)[flat(index)];
  }
  /// To write: makes the elements this array's own first.
  Element &set(int64_t index) {
    if (!has(index))
      return outside();
    own();
    return data->elements[index];
  }
  Element &set(llvm::ArrayRef<int64_t> index) { return set(flat(index)); }
  /// Stores `value` rounded to the format.
  void put(int64_t index, double value) { set(index).real = type.round(value); }
  void put(int64_t index, int64_t value) {
    set(index).integer = type.wrap(value);
  }
  void put(int64_t index, std::complex<double> value) {
    set(index) = Element::of(std::complex<double>(type.round(value.real()),
                                                  type.round(value.imag())));
  }
  int64_t flat(llvm::ArrayRef<int64_t> index) const {
    int64_t position = 0;
    for (size_t d = 0; d < sizes.size(); ++d)
      position = position * sizes[d] + index[d];
    return position;
  }

  /// The same elements, in their order, under another shape.
  Array reshaped(llvm::ArrayRef<int64_t> shape) const;
  /// The scalar at `index`.
  Array elementAt(int64_t index) const { return scalar(type, (*this)[index]); }
  /// The integer of a scalar, or element `index`.
  int64_t integer(int64_t index = 0) const { return (*this)[index].integer; }
  /// The box of `box` elements at `starts`, every `strides`-th.
  Array slice(llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> box,
              llvm::ArrayRef<int64_t> strides = {}) const;
  /// `parts`, of which there is one at least, one behind the other along `dim`.
  static Array joined(llvm::ArrayRef<Array> parts, int64_t dim);
  /// Puts `part` in the place at `starts`.
  void write(const Array &part, llvm::ArrayRef<int64_t> starts);
  void fill(Element value);

  /// As the runtime and files hold it.
  std::vector<char> bytes() const;

  /// The first misuse in this thread since the last call.
  static Misuse takeMisuse();

private:
  struct Data {
    std::vector<Element> elements;
    std::vector<Array> parts;
    bool isTuple = false;
  };
  bool has(int64_t index) const {
    return static_cast<uint64_t>(index) < static_cast<uint64_t>(size());
  }
  /// An element that is nobody's, for who asks for one that is not there.
  static Element &outside();
  void own() {
    if (data.use_count() > 1)
      data = std::make_shared<Data>(*data);
  }
  Format type;
  Shape sizes;
  std::shared_ptr<Data> data;
};

/// At most 2^48; 0 where a size is negative.
int64_t countElements(llvm::ArrayRef<int64_t> shape);

/// Calls `visit` for every index of `shape`, in row-major order, until a misuse
/// is noted.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

/// The bits of `value`, lowest first, at most 64 (of a part).
uint64_t bitsOf(const Format &format, double value);
double floatOf(const Format &format, uint64_t bits);

} // namespace shardc::interpreter

#endif // SHARDC_INTERPRETER_ARRAY_H
