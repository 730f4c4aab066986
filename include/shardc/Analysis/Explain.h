//===- Explain.h - What was decided, in the user's lines --------*- C++ -*-===//
#ifndef SHARDC_ANALYSIS_EXPLAIN_H
#define SHARDC_ANALYSIS_EXPLAIN_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace shardc {

/// One reason for a communication op. An op that serves several has several.
struct Reason {
  std::string needed; ///< what needs it, and how
  std::string
      value; ///< which value it moves, as the user knows it; may be empty
  std::string rule;  ///< the sharding rule that asked; may be empty
  std::string avoid; ///< which annotation would avoid it; may be empty
};

/// What the user calls `value`, a value of the global view: `argument 0
/// "image"`, or who makes it and where.
std::string userNameOf(mlir::Value value);

/// The `reason` of a communication op: parts are held apart by "; ", and begin
/// with "value: ", "rule: " or "avoid: " after what is needed.
std::string printReason(const Reason &reason);
/// The inverse, of any number of reasons one after the other.
std::vector<Reason> parseReasons(llvm::StringRef text);

/// Writes what `module` says of its decisions. Global view after propagation:
/// each value that is cut, and where each axis and its sizes came from. Local
/// view: each communication op with line, bytes and reasons.
void explain(mlir::ModuleOp module, llvm::raw_ostream &os);

/// `explain` on the error stream, as the last pass of `shard-opt --explain`.
std::unique_ptr<mlir::Pass> createExplainPass();

} // namespace shardc

#endif // SHARDC_ANALYSIS_EXPLAIN_H
