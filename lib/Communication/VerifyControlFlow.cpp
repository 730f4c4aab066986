//===- VerifyControlFlow.cpp - No rank waits for one that never comes -----===//

#include "Quoted.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Analysis/Uniformity.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/Spmd/IR/SpmdViews.h"

namespace shardc {
#define GEN_PASS_DEF_VERIFYCONTROLFLOWPASS
#include "shardc/Communication/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

namespace {
/// A mesh and the axes along which ranks synchronise.
struct Group {
  FlatSymbolRefAttr mesh;
  SmallVector<StringAttr> axes;
};

/// Checks that all ranks of a group reach each communication of one function.
class ControlFlowVerifier {
public:
  ControlFlowVerifier(func::FuncOp function, SymbolTableCollection &symbols)
      : function(function), symbols(symbols), uniformity(function) {}

  LogicalResult verify() {
    bool failed = false;
    function.walk([&](Operation *op) {
      SmallVector<Group> groups;
      llvm::DenseSet<Operation *> visited;
      addGroups(op, groups, visited);
      if (!groups.empty())
        failed |= mlir::failed(verifyReached(op, groups));
    });
    return failure(failed);
  }

private:
  /// Appends the groups that `op` communicates with, in what it calls too.
  void addGroups(Operation *op, SmallVectorImpl<Group> &groups,
                 llvm::DenseSet<Operation *> &visited) {
    if (auto communication = dyn_cast<CommunicationOpInterface>(op))
      groups.push_back(
          {communication.getMeshName(), communication.getGroupAxes()});
    auto call = dyn_cast<CallOpInterface>(op);
    if (!call)
      return;
    Operation *callee = call.resolveCallableInTable(&symbols);
    if (callee && visited.insert(callee).second)
      callee->walk([&](Operation *inner) {
        if (inner != callee)
          addGroups(inner, groups, visited);
      });
  }

  /// Checks everything around `op`, up to the function.
  LogicalResult verifyReached(Operation *op, ArrayRef<Group> groups) {
    for (Operation *inner = op; inner != function;
         inner = inner->getParentOp()) {
      if (!inner->getParentRegion()->hasOneBlock())
        return op->emitOpError() << "communicates in a region of several "
                                    "blocks, so that ranks may reach it in "
                                    "different orders; use structured loops "
                                    "and branches around it";
      Operation *parent = inner->getParentOp();
      if (parent == function)
        break;
      std::optional<ControlFlow> flow = getControlFlow(parent);
      if (!flow)
        return op->emitOpError() << "communicates inside '" << parent->getName()
                                 << "', which does not say in what order ranks "
                                    "reach it; move it out";
      for (Value condition : flow->conditions)
        for (const Group &group : groups)
          if (failed(verifyCondition(op, parent, condition, group)))
            return failure();
    }
    return success();
  }

  LogicalResult verifyCondition(Operation *op, Operation *parent,
                                Value condition, const Group &group) {
    SmallVector<StringAttr> differing;
    for (StringAttr axis : uniformity.getVaryingAxes(condition, group.mesh))
      if (llvm::is_contained(group.axes, axis))
        differing.push_back(axis);
    if (differing.empty())
      return success();
    InFlightDiagnostic error = op->emitOpError();
    error << "communicates along " << quoted(differing) << " inside '"
          << parent->getName() << "', whose condition may differ along "
          << quoted(differing)
          << ": some ranks of a group would wait for others that never come";
    error.attachNote(condition.getLoc())
        << "make this condition the same on all ranks, for example by an "
           "'local.all_reduce' along "
        << quoted(differing) << ", or move the communication out";
    Value cause = uniformity.getCause(condition, group.mesh, differing.front());
    Diagnostic &note = error.attachNote(cause.getLoc());
    note << "the difference along \"" << differing.front().getValue()
         << "\" comes from here";
    if (auto argument = dyn_cast<BlockArgument>(cause);
        argument && argument.getOwner()->getParentOp() == function &&
        !getSharding(cause))
      note << ": argument " << argument.getArgNumber() << " has no '"
           << kShardingAttrName << "', so each rank may have its own";
    return failure();
  }

  func::FuncOp function;
  SymbolTableCollection &symbols;
  Uniformity uniformity;
};
} // namespace

namespace {
struct VerifyControlFlowPass final
    : shardc::impl::VerifyControlFlowPassBase<VerifyControlFlowPass> {
  using Base::Base;
  void runOnOperation() override {
    SymbolTableCollection symbols;
    bool failed = false;
    getOperation().walk([&](func::FuncOp function) {
      if (!function.isExternal())
        failed |= mlir::failed(ControlFlowVerifier(function, symbols).verify());
    });
    if (failed)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
