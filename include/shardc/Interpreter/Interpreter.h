//===- Interpreter.h - What a program says, computed plainly ----*- C++ -*-===//
//
// Runs the text of a program as its user gives it, op by op, before any pass:
// the oracle that ranks are compared with. It shares the dialects' parser with
// the compiler and nothing else (cmake/layers.txt), so that a mistake in a
// rule, a pass or the runtime is not made here a second time.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_INTERPRETER_INTERPRETER_H
#define SHARDC_INTERPRETER_INTERPRETER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/LLVM.h"
#include "shardc/Interpreter/Array.h"
#include <string>

namespace shardc::interpreter {

/// One `check.expect_*` of the program that did not hold.
struct FailedCheck {
  mlir::Location loc;
  std::string message;
};

struct Options {
  /// How many elements may be computed before it gives up; 0: any number.
  int64_t maxWork = 0;
};

struct Outcome {
  std::vector<Array> results;
  std::vector<mlir::Type> resultTypes; ///< as the program says
  /// Expectations met and not met; with several ranks each counts for itself.
  int64_t checksHeld = 0;
  std::vector<FailedCheck> failedChecks;
};

/// Runs function `name` (`main`; where there is no such function, the only
/// public one) of `module` on whole arguments. What is not known here, or takes
/// more work than allowed, is an error that isUnsupported (Support), on the op;
/// shapes of arguments that do not fit are errors too.
mlir::FailureOr<Outcome> interpret(mlir::ModuleOp module,
                                   llvm::ArrayRef<Array> arguments,
                                   const Options &options = {});

/// The element type and, with `?` as ShapedType::kDynamic, the shape of each
/// argument of the function that `interpret` runs; failure as there.
mlir::FailureOr<std::vector<mlir::RankedTensorType>>
argumentTypes(mlir::ModuleOp module);

/// The local view: what all ranks of `module` make of their shards, in lock
/// step. `arguments` are whole; each rank takes its box of them. Results are
/// put together; ranks that hold the same box must hold the same values, or it
/// is an error.
mlir::FailureOr<Outcome> interpretLocal(mlir::ModuleOp module,
                                        llvm::ArrayRef<Array> arguments,
                                        const Options &options = {});

/// What became of a comparison of both views.
enum class Verification { Equal, NotKnown };

/// Interprets `global`, a program's text before any pass, and `local`, what
/// partition and communication made of it for all ranks, on arguments drawn
/// from `seed`. An error where results differ, or ranks disagree, read outside
/// of what they have, or miss one another. Where the interpreter does not know
/// something, or it is too much work, a remark says so. Shares no code with the
/// stages.
mlir::FailureOr<Verification> verifyLocal(mlir::ModuleOp global,
                                          mlir::ModuleOp local,
                                          const Options &options,
                                          uint64_t seed = 0);

/// Elements of all values of the text, those of a loop's body once.
int64_t countElements(mlir::ModuleOp module);

/// A copy of a program's text in which dims of more than `most` elements that
/// no op binds to their size are smaller, by a multiple of the number of
/// devices; null where there are none. It is another program: what is verified
/// of it says that stages treat its ops rightly, not that they do so at the
/// sizes of the first.
mlir::OwningOpRef<mlir::ModuleOp> smaller(mlir::ModuleOp module, int64_t most);

/// A copy in which the dims that arguments or constraints cut, where no op
/// binds them to their size, are `times` as large, and others follow; null
/// where there are none. For meshes of more ranks than the text has elements.
mlir::OwningOpRef<mlir::ModuleOp> larger(mlir::ModuleOp module, int64_t times);

} // namespace shardc::interpreter

#endif // SHARDC_INTERPRETER_INTERPRETER_H
