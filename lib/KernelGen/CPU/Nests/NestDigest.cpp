//===- NestDigest.cpp - By which a kernel is known again ------------------===//
//
// All that a schedule follows from, written down and hashed: the same kernel of
// another program has the same digest. Names, places and values of the IR are
// not in it.
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace shardc::cpu {

namespace {
class Writer {
public:
  explicit Writer(llvm::raw_ostream &out) : out(out) {}

  void write(const Quantity &quantity) {
    if (quantity.fixed) {
      out << *quantity.fixed << ' ';
      return;
    }
    // What costs are estimated with, and what is known on each rank.
    out << '?' << quantity.guess() << '/' << quantity.multiple() << '[';
    llvm::interleave(quantity.entries(), out, ",");
    out << "] ";
  }

  void write(StringRef name, ArrayRef<Access> accesses) {
    for (const Access &access : accesses) {
      out << name << ' ' << access.element << ' ' << access.part << ' '
          << bool(access.pointer) << ' ';
      for (const Quantity &coef : access.coef)
        write(coef);
      out << '\n';
    }
  }

  /// The ops of a body, by what they are and whose results they take.
  void write(linalg::GenericOp op) {
    llvm::DenseMap<Value, int64_t> numbers;
    for (BlockArgument argument : op.getBody()->getArguments())
      numbers.try_emplace(argument, numbers.size());
    for (Operation &inner : *op.getBody()) {
      out << inner.getName() << ' ' << inner.getAttrDictionary();
      for (Value operand : inner.getOperands()) {
        auto known = numbers.find(operand);
        if (known == numbers.end())
          out << " _";
        else
          out << ' ' << known->second;
      }
      for (Value result : inner.getResults()) {
        out << ' ' << result.getType();
        numbers.try_emplace(result, numbers.size());
      }
      out << '\n';
    }
  }

private:
  llvm::raw_ostream &out;
};
} // namespace

std::string digestOf(const Nest &nest, const ScheduleTarget &target,
                     int64_t parts) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Writer writer(out);
  out << target.vectorBits << ' ' << target.exact << ' ' << target.dotBf16
      << ' ' << parts << '\n';
  for (const Dim &dim : nest.dims) {
    out << (dim.reduces ? "sum " : "dim ");
    writer.write(dim.size);
  }
  out << '\n';
  writer.write("in", nest.inputs);
  writer.write("out", nest.outputs);
  for (Value start : nest.initial)
    out << (start ? "from a start\n" : "from memory\n");
  for (bool far : nest.far)
    out << (far ? "far\n" : "near\n");
  writer.write(nest.main);
  if (nest.epilogue) {
    out << "then " << nest.epilogueOperand << '\n';
    llvm::interleave(nest.epilogueDims, out, ",");
    out << '\n';
    writer.write("in", nest.epilogueInputs);
    writer.write("out", nest.epilogueOutputs);
    writer.write(nest.epilogue);
  }
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)),
                     /*LowerCase=*/true)
      .substr(0, 32);
}

} // namespace shardc::cpu
