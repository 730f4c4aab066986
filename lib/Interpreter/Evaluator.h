//===- Evaluator.h - Runs blocks op by op -----------------------*- C++ -*-===//
//
// A lane is one run of the program: outside of manual regions there is one,
// inside one for each coordinate of the manual axes, in the local view one for
// each rank. All lanes of a block go through it in lock step, so that an op
// that communicates sees what each has.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_INTERPRETER_EVALUATOR_H
#define SHARDC_LIB_INTERPRETER_EVALUATOR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/SymbolTable.h"
#include "shardc/Interpreter/Interpreter.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <set>

namespace shardc::interpreter {

using llvm::ArrayRef;
using llvm::StringRef;
using mlir::failure;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;

using Values = llvm::SmallVector<Array, 2>;

struct Lane {
  int64_t device = 0; ///< its number in the mesh, row-major
  llvm::DenseMap<mlir::Value, Array> values;
};
using Lanes = ArrayRef<Lane *>;

class Evaluator;

/// Computes results of an op from its operands, in one lane.
using Handler =
    std::function<FailureOr<Values>(Evaluator &, Operation *, ArrayRef<Array>)>;
/// Runs an op in all lanes: it communicates, or has regions that may.
using LockstepHandler =
    std::function<LogicalResult(Evaluator &, Operation *, Lanes)>;
/// One element of one operand, or of two.
using Unary = Element (*)(const Format &operand, const Format &result,
                          Element value);
using Binary = Element (*)(const Format &operand, Element lhs, Element rhs);

/// What is known, by the ops' names.
struct Table {
  llvm::StringMap<Handler> handlers;
  llvm::StringMap<LockstepHandler> lockstep;
  llvm::StringMap<Unary> unary;
  llvm::StringMap<Binary> binary;
  llvm::StringMap<Handler> customCalls; ///< by target
  llvm::StringMap<LockstepHandler> lockstepCalls;

  template <typename OpT>
  void add(FailureOr<Values> (*handler)(Evaluator &, OpT, ArrayRef<Array>)) {
    handlers[OpT::getOperationName()] = [handler](Evaluator &evaluator,
                                                  Operation *op,
                                                  ArrayRef<Array> operands) {
      return handler(evaluator, mlir::cast<OpT>(op), operands);
    };
  }
  template <typename OpT>
  void addLockstep(LogicalResult (*handler)(Evaluator &, OpT, Lanes)) {
    lockstep[OpT::getOperationName()] = [handler](Evaluator &evaluator,
                                                  Operation *op, Lanes lanes) {
      return handler(evaluator, mlir::cast<OpT>(op), lanes);
    };
  }
};

/// `handler` for custom calls with so many operands and results, or more. No
/// verifier knows what a call is to have.
Handler withForm(size_t operands, size_t results, Handler handler);

// One for each file, a family of ops.
void addElementwise(Table &table);
void addSpecialFunctions(Table &table);
void addShapes(Table &table);
void addAddressing(Table &table);
void addContractions(Table &table);
void addReductions(Table &table);
void addSorting(Table &table);
void addFourier(Table &table);
void addLinearAlgebra(Table &table);
void addRandom(Table &table);
void addControl(Table &table);
void addManual(Table &table);
void addManualCalls(Table &table);
void addCollectives(Table &table);
void addLocal(Table &table);
void addExchanges(Table &table);
void addRows(Table &table);
void addTensors(Table &table);
void addPairs(Table &table);

class Evaluator {
public:
  Evaluator(mlir::ModuleOp module, const Options &options);

  /// Runs the ops of `block`, whose arguments are bound. What its terminator
  /// yields is left in `yielded`, one entry a lane. Operands are verified
  /// before an op is computed, results' sizes after.
  LogicalResult run(mlir::Block &block, Lanes lanes,
                    std::vector<Values> &yielded);
  /// The same with `arguments` bound first.
  LogicalResult run(mlir::Region &region, Lanes lanes,
                    ArrayRef<Values> arguments, std::vector<Values> &yielded);
  /// What `region` makes of `arguments` in the lane whose op is being computed.
  FailureOr<Values> apply(mlir::Region &region, ArrayRef<Array> arguments);
  /// The same for a region of elementwise ops on tensors without dims, for all
  /// elements of `columns`, vectors of `count` each.
  FailureOr<Values> applyToEach(mlir::Region &region, ArrayRef<Array> columns,
                                int64_t count);
  /// If `region` is one binary op of its two arguments, that op; else null.
  Operation *singleOp(mlir::Region &region) const;
  Binary binaryOf(Operation *op) const;

  static Values operandsOf(Operation *op, const Lane &lane);
  static void bind(mlir::ValueRange results, Lane &lane,
                   ArrayRef<Array> values);

  /// Lets `handler` compute `op` in one lane after the other.
  LogicalResult runEach(Operation *op, Lanes lanes, const Handler &handler);

  /// The error for what is not known.
  static LogicalResult unknown(Operation *op, const llvm::Twine &what);
  LogicalResult spend(Operation *op, int64_t elements);
  template <typename T> T lookup(Operation *from, mlir::SymbolRefAttr name) {
    return symbols.lookupNearestSymbolFrom<T>(from, name);
  }

  const std::shared_ptr<const Table> ownTable;
  const Table &table;
  mlir::ModuleOp module;
  Outcome outcome;
  Lane *current = nullptr;
  int64_t devices = 1;                       ///< lanes of the whole program
  llvm::SmallPtrSet<Operation *, 8> entered; ///< functions that are being run

private:
  LogicalResult runOp(Operation &op, Lanes lanes);
  LogicalResult verifyOperands(Operation *op, Lanes lanes);
  LogicalResult verifySizes(Operation *op, mlir::ValueRange values,
                            const Lane &lane, StringRef what);
  LogicalResult verifyUse(Operation *op);
  FailureOr<Values> compute(Operation *op, ArrayRef<Array> operands);
  struct Known {
    const Handler *handler = nullptr;
    const LockstepHandler *lockstep = nullptr;
    Unary unary = nullptr;
    Binary binary = nullptr;
  };
  const Known &known(Operation *op);

  mlir::SymbolTableCollection symbols;
  llvm::DenseMap<mlir::OperationName, Known> cache;
  /// Sizes of operands that an op's verifier has seen, by the op.
  llvm::DenseMap<Operation *, std::set<std::vector<int64_t>>> verified;
  Options options;
  int64_t work = 0;
};

/// The table of all ops.
const Table &everything();

/// The function to run; an error if there is none, or none to prefer.
FailureOr<mlir::func::FuncOp> findFunction(mlir::ModuleOp module);

/// How many lanes a program with shards of older exporters has from the start.
int64_t countPartitions(mlir::ModuleOp module);

/// A result's format; the op's verifier has seen to it that there is one.
Format formatOf(mlir::Value value);

} // namespace shardc::interpreter

#endif // SHARDC_LIB_INTERPRETER_EVALUATOR_H
