//===- Symbols.h - Random programs with a symbol for an extent --*- C++ -*-===//
//
// Arguments' dims of one extent become `?`, as jax.export prints a symbol: what
// is computed of it for shapes is computed by ops, and that the others are as
// long as the first is asserted.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TOOLS_SHARD_FUZZ_SYMBOLS_H
#define SHARDC_TOOLS_SHARD_FUZZ_SYMBOLS_H

#include "Program.h"

namespace shardc::fuzz {

/// A program of which dims of `extent` elements are as many as are given.
class SymbolicProgram {
public:
  /// The one of `program` that most arguments' dims have part in; none where
  /// numbers that follow from each extent are in attributes. Sizes of shards
  /// are left out.
  static std::optional<SymbolicProgram> of(const Program &program);

  /// MLIR text with `?` for what follows from the symbol.
  const std::string &text() const { return symbolic; }
  /// The extent for which the program was drawn: results may be as inexact as
  /// there for all that are no larger.
  int64_t extent() const { return drawn; }
  /// The program for `extent`; none where an op does not fit it, or is another
  /// one there.
  std::optional<Program> at(int64_t extent) const;

private:
  SymbolicProgram(Program program, int64_t extent)
      : program(std::move(program)), drawn(extent) {}
  /// The program drawn with `extent` elements in place of its own.
  std::optional<Program> with(int64_t extent) const;
  /// Writes the text; false where it cannot be.
  bool write();

  Program program;
  int64_t drawn;
  std::string symbolic;
};

} // namespace shardc::fuzz

#endif // SHARDC_TOOLS_SHARD_FUZZ_SYMBOLS_H
