//===- RunPrograms.cpp - The ops of programs side by side -----------------===//
#include "ParallelPrograms.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;

bool Expander::isOfOneProcess(Program &program, Operation *inner) {
  if (program.processes.size() == 1)
    return true;
  refuse(inner, "is in a program of several processes");
  return false;
}

FailureOr<bool> Expander::send(Program &program, stablehlo::SendOp send) {
  if (!isOfOneProcess(program, send))
    return failure();
  SmallVector<Value> values =
      llvm::map_to_vector(send.getInputs(), [&](Value value) {
        return program.values.lookup(value);
      });
  channels[send.getChannelHandle().getHandle()].push_back(
      {values, program.processes[0]});
  program.values.map(send.getResult(), token());
  return true;
}

FailureOr<bool> Expander::receive(Program &program, stablehlo::RecvOp recv) {
  if (!isOfOneProcess(program, recv))
    return failure();
  std::deque<Sent> &queue = channels[recv.getChannelHandle().getHandle()];
  if (queue.empty())
    return false;
  Sent sent = queue.front();
  queue.pop_front();
  auto types = llvm::make_filter_range(
      recv.getResultTypes(), [](Type type) { return !isToken(type); });
  if (!llvm::equal(types, TypeRange(ValueRange(sent.values))))
    return LogicalResult(recv.emitOpError("receives ")
                         << llvm::to_vector(types) << ", but what was sent is "
                         << TypeRange(ValueRange(sent.values)));
  size_t next = 0;
  for (Value result : recv.getResults()) {
    if (isToken(result)) {
      program.values.map(result, token());
      continue;
    }
    Value value = sent.values[next++];
    Groups pair(1, {sent.process, program.processes[0]});
    if (sent.process != program.processes[0])
      value = stablehlo::CollectivePermuteOp::create(
          ops.b, value.getType(), value,
          cast<DenseIntElementsAttr>(spell(pair)), anyChannel(context));
    program.values.map(result, value);
  }
  return true;
}

FailureOr<bool> Expander::readInfeed(Program &program,
                                     stablehlo::InfeedOp infeed) {
  if (!isOfOneProcess(program, infeed))
    return failure();
  if (nextFed == fed.size())
    return LogicalResult(infeed.emitOpError("reads more than the ")
                         << fed.size()
                         << " functions of run_parallel's infeed give");
  IRMapping values;
  Block &body = fed[nextFed++].getBody().front();
  for (Operation &given : body.without_terminator())
    ops.b.clone(given, values);
  ValueRange yielded = body.getTerminator()->getOperands();
  size_t next = 0;
  for (Value result : infeed.getResults()) {
    if (isToken(result)) {
      program.values.map(result, token());
      continue;
    }
    if (next >= yielded.size() || yielded[next].getType() != result.getType())
      return LogicalResult(
          infeed.emitOpError("reads ")
          << result.getType()
          << ", which is not what the function of the infeed gives");
    program.values.map(result, values.lookup(yielded[next++]));
  }
  return true;
}

LogicalResult Expander::expandNested(Program &program, Operation *nested) {
  ops.b.setInsertionPoint(nested);
  ops.b.setLoc(nested->getLoc());
  if (isa<stablehlo::PartitionIdOp, stablehlo::ReplicaIdOp>(nested)) {
    Value known =
        number(rank(), partitions, isa<stablehlo::PartitionIdOp>(nested));
    nested->replaceAllUsesWith(ValueRange(known));
    nested->erase();
  } else if (isExchange(nested)) {
    Program inside;
    inside.function = program.function;
    inside.processes = program.processes;
    inside.next = Block::iterator(nested);
    if (failed(exchange(nested, {&inside},
                        llvm::to_vector(nested->getOperands()))))
      return failure();
    SmallVector<Value> results;
    for (Value result : nested->getResults())
      results.push_back(inside.values.lookup(result));
    nested->replaceAllUsesWith(results);
    nested->erase();
  } else if (isa<stablehlo::SendOp, stablehlo::RecvOp, stablehlo::InfeedOp,
                 stablehlo::OutfeedOp>(nested)) {
    return refuse(nested, "is in a region of a program");
  }
  return success();
}

FailureOr<bool> Expander::copy(Program &program, Operation *inner) {
  Operation *within = nullptr;
  inner->walk([&](Operation *nested) {
    if (nested != inner &&
        (isExchange(nested) ||
         isa<stablehlo::SendOp, stablehlo::RecvOp, stablehlo::InfeedOp,
             stablehlo::OutfeedOp, stablehlo::PartitionIdOp,
             stablehlo::ReplicaIdOp>(nested)))
      within = nested;
  });
  if (within && programs.size() > 1)
    return LogicalResult(refuse(within,
                                "is in a region of a program that not all "
                                "processes run"));
  Operation *copy = ops.b.clone(*inner, program.values);
  if (!within)
    return true;
  // All processes come to it together, if they do at all.
  SmallVector<Operation *> nested;
  copy->walk([&](Operation *one) {
    if (one != copy)
      nested.push_back(one);
  });
  ImplicitLocOpBuilder outside = ops.b;
  for (Operation *one : nested)
    if (failed(expandNested(program, one)))
      return failure();
  ops.b = outside;
  return true;
}

FailureOr<bool> Expander::advance(Program &program, Operation *inner) {
  ops.b.setLoc(inner->getLoc());
  if (isExchange(inner))
    return communicate(program, inner);
  if (isa<stablehlo::PartitionIdOp, stablehlo::ReplicaIdOp>(inner)) {
    program.values.map(
        inner->getResult(0),
        number(rank(), partitions, isa<stablehlo::PartitionIdOp>(inner)));
    return true;
  }
  if (auto op = dyn_cast<stablehlo::SendOp>(inner))
    return send(program, op);
  if (auto op = dyn_cast<stablehlo::RecvOp>(inner))
    return receive(program, op);
  if (auto op = dyn_cast<stablehlo::InfeedOp>(inner))
    return readInfeed(program, op);
  if (isa<stablehlo::OutfeedOp>(inner)) {
    // Nobody is there who could read it.
    program.values.map(inner->getResult(0), token());
    return true;
  }
  return copy(program, inner);
}

FailureOr<bool> Expander::advance(Program &program) {
  bool any = false;
  while (!program.isDone()) {
    FailureOr<bool> ran = advance(program, &*program.next);
    if (failed(ran))
      return failure();
    if (!*ran)
      return any;
    ++program.next;
    any = true;
  }
  return any;
}

LogicalResult Expander::runPrograms() {
  while (true) {
    bool any = false, done = true;
    for (auto &[function, program] : programs) {
      FailureOr<bool> ran = advance(program);
      if (failed(ran))
        return failure();
      any |= *ran;
      done &= program.isDone();
    }
    if (done)
      return success();
    if (any)
      continue;
    InFlightDiagnostic diag =
        op.emitOpError("never ends: each process waits for another");
    for (auto &[function, program] : programs)
      if (!program.isDone())
        diag.attachNote(program.next->getLoc())
            << "@" << program.function.getSymName() << " waits here";
    return diag;
  }
}
