//===- Local.cpp - Ops of the local view ----------------------------------===//
#include "Evaluator.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

void shardc::interpreter::addLocal(Table &) {}
