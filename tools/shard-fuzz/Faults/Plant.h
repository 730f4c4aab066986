//===- Plant.h - What planted mistakes are made of --------------*- C++ -*-===//
//
// A fault is an edit of the module that some pass leaves. Each file beside this
// one has those of one kind, with its list.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TOOLS_SHARD_FUZZ_FAULTS_PLANT_H
#define SHARDC_TOOLS_SHARD_FUZZ_FAULTS_PLANT_H

#include "mlir/IR/BuiltinOps.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "llvm/ADT/STLExtras.h"

namespace shardc::fuzz {

using namespace mlir;
using namespace shardc::spmd;

/// A mistake, and where it is made.
struct Fault {
  const char *name;
  /// Makes the mistake wherever it can be made; returns whether it can be.
  bool (*plant)(ModuleOp);
  /// After this pass. The default: after Partition, before communication is
  /// optimised.
  const char *after = "spmd-verify-local";
  /// Kinds of ops, with commas between, three of four ops are to be of.
  const char *kinds = "";
  /// Whether the interpreter knows what the edit is made of, so that it can say
  /// that the local view is wrong.
  bool isInterpreted = true;
};

/// Each kind's faults, in a file of its own.
llvm::ArrayRef<Fault> tableFaults();     // exchanges that move other blocks
llvm::ArrayRef<Fault> valueFaults();     // blocks that hold something else
llvm::ArrayRef<Fault> reductionFaults(); // sums that are missing or too many
llvm::ArrayRef<Fault> rankFaults();      // what differs by rank, rows, rings
llvm::ArrayRef<Fault> mergedFaults();    // exchanges that became one
llvm::ArrayRef<Fault> raceFaults();      // what keeps ranks and threads apart

template <typename OpTy> SmallVector<OpTy> all(ModuleOp module) {
  SmallVector<OpTy> ops;
  module.walk([&](OpTy op) { ops.push_back(op); });
  return ops;
}

inline MeshAttr meshOf(ModuleOp module) {
  return (*module.getOps<MeshOp>().begin()).getMesh();
}

using Edit = llvm::function_ref<bool(shardc::DimExchange &, int64_t size)>;

/// Lets `edit` change the table of every dim of every OpTy.
template <typename OpTy> bool editTables(ModuleOp module, Edit edit) {
  bool any = false;
  MeshAttr mesh = meshOf(module);
  for (OpTy op : all<OpTy>(module)) {
    SmallVector<Attribute> attrs;
    bool changed = false;
    for (Attribute attr : op.getDims()) {
      shardc::DimExchange dim = cast<DimExchangeAttr>(attr).getExchange(mesh);
      int64_t size = 0;
      for (Interval owned : dim.owned)
        size = std::max(size, owned.end);
      if (edit(dim, size)) {
        changed = true;
        attr = DimExchangeAttr::get(module.getContext(), mesh, dim);
      }
      attrs.push_back(attr);
    }
    if (changed)
      op.setDimsAttr(ArrayAttr::get(module.getContext(), attrs));
    any |= changed;
  }
  return any;
}

inline bool sameSizes(ArrayRef<Interval> intervals) {
  return llvm::all_of(
      intervals, [&](Interval i) { return i.size() == intervals[0].size(); });
}

/// Each coordinate takes the place of the one before it.
inline bool rotate(std::vector<Interval> &intervals) {
  if (intervals.size() < 2 || !sameSizes(intervals) ||
      llvm::all_equal(intervals))
    return false;
  std::rotate(intervals.begin(), intervals.begin() + 1, intervals.end());
  return true;
}

/// Reads a table over two axes with the axes exchanged.
template <typename T>
bool transposeTable(std::vector<T> &table, int64_t rows, int64_t columns) {
  std::vector<T> old = table;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      table[r * columns + c] = old[c * rows + r];
  return old != table;
}

/// A value that is not what the exchange should read: of the same type, made
/// before.
inline Value earlierValue(Operation *op, Value like) {
  Value found;
  for (Operation &other : *op->getBlock()) {
    if (&other == op)
      break;
    for (Value result : other.getResults())
      if (result != like && result.getType() == like.getType())
        found = result;
  }
  if (!found)
    for (Value argument : op->getBlock()->getArguments())
      if (argument != like && argument.getType() == like.getType())
        found = argument;
  return found;
}

template <typename OpTy> bool readStale(ModuleOp module) {
  bool any = false;
  for (OpTy op : all<OpTy>(module))
    if (Value stale = earlierValue(op, op.getInput())) {
      op.getInputMutable().assign(stale);
      any = true;
    }
  return any;
}

} // namespace shardc::fuzz

#endif // SHARDC_TOOLS_SHARD_FUZZ_FAULTS_PLANT_H
