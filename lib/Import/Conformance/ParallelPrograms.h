//===- ParallelPrograms.h - Programs side by side, as ranks -----*- C++ -*-===//
//
// `interpreter.run_parallel` runs programs in a grid of processes, replicas by
// partitions. Here each process is a rank of a mesh, and what all of them do is
// one manual region: operands and results are stacked along a new first dim, of
// which each rank has one block.
//
// A rank runs every program of the grid, on zeros where it is not its own, so
// that all ranks reach all communication. `send` and `recv` are then a
// permutation, and collectives of groups whose ranks run different programs
// take the operand of each rank's own.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_IMPORT_CONFORMANCE_PARALLELPROGRAMS_H
#define SHARDC_IMPORT_CONFORMANCE_PARALLELPROGRAMS_H

#include "../OpBuilding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Dialect/Interpreter/IR/Interpreter.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/MapVector.h"
#include <deque>
#include <map>

namespace shardc::import {
using namespace mlir;
using interpreter::RunParallelOp;
using Groups = SmallVector<SmallVector<int64_t>>;

inline bool isToken(Type type) { return isa<stablehlo::TokenType>(type); }
inline bool isToken(Value value) { return isToken(value.getType()); }

/// Whether `op` is a collective.
bool isExchange(Operation *op);
/// The channel of communication that does not say which.
stablehlo::ChannelHandleAttr anyChannel(MLIRContext *context);

/// A program that some processes run.
struct Program {
  func::FuncOp function;
  SmallVector<int64_t> processes;
  IRMapping values; ///< of its body, in the region
  Block::iterator next;

  bool isDone() { return next->hasTrait<OpTrait::IsTerminator>(); }
};

/// Values under way on a channel, in order.
struct Sent {
  SmallVector<Value> values;
  int64_t process;
};

class Expander {
public:
  Expander(RunParallelOp op, SymbolTable &symbols)
      : op(op), symbols(symbols), ops(op), context(op.getContext()) {}
  LogicalResult run();

private:
  LogicalResult readPrograms();
  LogicalResult runPrograms();
  /// Runs ops of `program` until one waits for another program. True if any
  /// ran.
  FailureOr<bool> advance(Program &program);
  FailureOr<bool> advance(Program &program, Operation *inner);
  FailureOr<bool> send(Program &program, stablehlo::SendOp op);
  FailureOr<bool> receive(Program &program, stablehlo::RecvOp op);
  FailureOr<bool> readInfeed(Program &program, stablehlo::InfeedOp op);
  /// Copies `inner`, which is in `program` alone, or in all processes alike if
  /// ops in its regions communicate.
  FailureOr<bool> copy(Program &program, Operation *inner);
  /// Makes of `nested`, an op in a region that all processes run, what it is on
  /// ranks.
  LogicalResult expandNested(Program &program, Operation *nested);
  /// True if `program` is of one process; else an error at `inner`.
  bool isOfOneProcess(Program &program, Operation *inner);
  Value token() { return stablehlo::CreateTokenOp::create(ops.b); }

  /// The mesh of all processes, once.
  LogicalResult addMesh();
  sdy::TensorShardingAttr stackedSharding(int64_t dims);
  /// The region, on operands that are stacked over all processes.
  sdy::ManualComputationOp createRegion();
  LogicalResult fillRegion(sdy::ManualComputationOp region);
  void replaceResults(sdy::ManualComputationOp region);
  FailureOr<bool> communicate(Program &program, Operation *inner);
  LogicalResult exchange(Operation *inner, ArrayRef<Program *> together,
                         ArrayRef<Value> operands);
  FailureOr<Groups> groupsOf(Operation *inner);
  Attribute spell(const Groups &groups);
  /// `yes` where this rank is one of `processes`, as a predicate.
  Value isOneOf(ArrayRef<int64_t> processes);
  Value lookUp(ArrayRef<int64_t> table);
  /// The process that has place `place`, one number, in this rank's group; the
  /// first one where there is no `place`.
  Value memberAt(const Groups &groups, Value place);
  Value choose(ArrayRef<int64_t> processes, Value yes, Value no);
  Value zeros(Type type) { return ops.splat(cast<RankedTensorType>(type), 0); }
  /// The values of all ranks, along a new first dim.
  Value gatherAll(Value value);
  Value at(Value stacked, Value index);
  SmallVector<Value> reduceGroups(Operation *inner, ValueRange operands,
                                  const Groups &groups);
  Value rank();
  Value number(Value ofRank, int64_t divisor, bool remainder);

  InFlightDiagnostic refuse(Operation *inner, const Twine &why) {
    return emitUnsupported(inner, "'")
           << inner->getName() << "' at " << userLocation(inner->getLoc())
           << " " << why;
  }

  RunParallelOp op;
  SymbolTable &symbols;
  Ops ops;
  MLIRContext *context;
  int64_t replicas = 0, partitions = 0;
  llvm::MapVector<Operation *, Program> programs;
  SmallVector<Program *> ofProcess;
  std::map<int64_t, std::deque<Sent>> channels;
  SmallVector<func::FuncOp> fed;
  size_t nextFed = 0;
  /// Where the operands and results of each process begin.
  SmallVector<int64_t> firstOperand, firstResult;

  int64_t numProcesses() { return replicas * partitions; }
};

} // namespace shardc::import

#endif // SHARDC_IMPORT_CONFORMANCE_PARALLELPROGRAMS_H
