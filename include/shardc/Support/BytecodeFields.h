//===- BytecodeFields.h - Fields of attributes in bytecode ------*- C++ -*-===//
//
// For dialects whose bytecode is that of a foreign one: reads an attribute's
// fields one after the other, and remembers that one could not be read.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SUPPORT_BYTECODEFIELDS_H
#define SHARDC_SUPPORT_BYTECODEFIELDS_H

#include "mlir/Bytecode/BytecodeImplementation.h"
#include <optional>
#include <string>

namespace shardc {

/// Reads fields in order. Once one cannot be read `ok` is false, and the others
/// are empty: then the attribute is not to be made.
class BytecodeFields {
public:
  explicit BytecodeFields(mlir::DialectBytecodeReader &reader)
      : reader(reader) {}
  bool ok = true;

  int64_t number() {
    return take<int64_t>(
        [&](int64_t &v) { return reader.readSignedVarInt(v); });
  }
  bool flag() {
    return take<bool>([&](bool &v) { return reader.readBool(v); });
  }
  llvm::SmallVector<int64_t> numbers() {
    using List = llvm::SmallVector<int64_t>;
    return take<List>([&](List &v) { return reader.readSignedVarInts(v); });
  }
  mlir::Type type() {
    return take<mlir::Type>([&](mlir::Type &v) { return reader.readType(v); });
  }
  template <typename T = mlir::Attribute> T attribute() {
    return take<T>([&](T &v) { return reader.readAttribute(v); });
  }
  /// Null where it is left out.
  template <typename T> T optionalAttribute() {
    return take<T>([&](T &v) { return reader.readOptionalAttribute(v); });
  }
  std::string text() {
    return take<llvm::StringRef>(
               [&](llvm::StringRef &v) { return reader.readString(v); })
        .str();
  }
  template <typename T = mlir::Attribute> llvm::SmallVector<T> attributes() {
    using List = llvm::SmallVector<T>;
    return take<List>([&](List &list) {
      return reader.readList(list,
                             [&](T &v) { return reader.readAttribute(v); });
    });
  }
  /// A 64-bit float.
  llvm::APFloat real() {
    llvm::FailureOr<llvm::APFloat> value = llvm::APFloat(0.0);
    if (ok)
      value = reader.readAPFloatWithKnownSemantics(llvm::APFloat::IEEEdouble());
    ok &= succeeded(value);
    return ok ? *value : llvm::APFloat(0.0);
  }
  /// A number of at least 0 that may be left out.
  std::optional<int64_t> optionalNumber() {
    uint64_t value = 0;
    bool given = false;
    ok = ok && succeeded(reader.readVarIntWithFlag(value, given));
    return ok && given ? std::optional<int64_t>(value) : std::nullopt;
  }
  /// A value of an enum, one that `symbolize` knows.
  template <typename Symbolize> auto value(Symbolize symbolize) {
    uint64_t code =
        take<uint64_t>([&](uint64_t &v) { return reader.readVarInt(v); });
    auto found = symbolize(static_cast<uint32_t>(code));
    if (ok && (!found || code >> 32)) {
      reader.emitError() << "unknown value " << code << " of an enum";
      ok = false;
    }
    using Enum = typename decltype(found)::value_type;
    return found ? *found : Enum{};
  }

private:
  template <typename T, typename Read> T take(Read read) {
    T value{};
    ok = ok && succeeded(read(value));
    return ok ? value : T{};
  }

  mlir::DialectBytecodeReader &reader;
};

/// An attribute that begins with a code: `readFields(code, fields)` fails for
/// one that is not known, which `dialect` is told to have.
template <typename ReadFields>
mlir::Attribute readCodedAttribute(mlir::DialectBytecodeReader &reader,
                                   llvm::StringRef dialect,
                                   ReadFields readFields) {
  uint64_t code;
  if (failed(reader.readVarInt(code)))
    return {};
  BytecodeFields fields(reader);
  mlir::FailureOr<mlir::Attribute> attribute = readFields(code, fields);
  if (failed(attribute)) {
    reader.emitError() << "unknown attribute " << code << " of " << dialect;
    return {};
  }
  return fields.ok ? *attribute : mlir::Attribute();
}

/// Reads past the three numbers of a version; null where they are damaged.
inline std::unique_ptr<mlir::DialectVersion>
skipVersion(mlir::DialectBytecodeReader &reader) {
  uint64_t part;
  for (int i = 0; i < 3; ++i)
    if (failed(reader.readVarInt(part)))
      return nullptr;
  return std::make_unique<mlir::DialectVersion>();
}

} // namespace shardc

#endif // SHARDC_SUPPORT_BYTECODEFIELDS_H
