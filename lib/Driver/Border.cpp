//===- Border.cpp - What callers know arguments and results as ------------===//
//
// Callers know values that no program computes with: tokens, and arrays whose
// layout in memory is theirs to choose. Before anything else sees a model its
// @main takes and gives arrays, and all of them row by row.
//
//===----------------------------------------------------------------------===//

#include "Border.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Refusal.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace shardc;

static bool isWritten(mlir::func::FuncOp main) {
  return main && !main.isExternal() && main.getBody().hasOneBlock();
}

/// What @main takes is what its block does, and it gives what that ends with.
static void updateType(mlir::func::FuncOp main) {
  mlir::Block &body = main.getBody().front();
  main.setType(
      mlir::FunctionType::get(main.getContext(), body.getArgumentTypes(),
                              body.getTerminator()->getOperandTypes()));
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

void shardc::makeTokensArrays(mlir::func::FuncOp main) {
  if (!isWritten(main))
    return;
  mlir::Block &body = main.getBody().front();
  mlir::Operation *end = body.getTerminator();
  auto builder = mlir::OpBuilder::atBlockBegin(&body);
  auto none = mlir::RankedTensorType::get({0}, builder.getI1Type());
  auto isToken = [](mlir::Type type) {
    return isa<stablehlo::TokenType>(type);
  };
  // A sharding of theirs has a dim too few.
  auto marked = [&](mlir::DictionaryAttr attrs) {
    mlir::NamedAttrList kept(attrs);
    kept.erase("sdy.sharding");
    kept.erase("mhlo.sharding");
    kept.set(spmd::contract::Token::name(), builder.getUnitAttr());
    return kept.getDictionary(main.getContext());
  };
  for (mlir::BlockArgument argument : body.getArguments()) {
    if (!isToken(argument.getType()))
      continue;
    auto token = stablehlo::CreateTokenOp::create(builder, argument.getLoc());
    argument.replaceAllUsesWith(token.getResult());
    argument.setType(none);
    unsigned i = argument.getArgNumber();
    main.setArgAttrs(i, marked(main.getArgAttrDict(i)));
  }
  builder.setInsertionPoint(end);
  for (mlir::OpOperand &operand : end->getOpOperands()) {
    if (!isToken(operand.get().getType()))
      continue;
    operand.set(stablehlo::ConstantOp::create(
        builder, end->getLoc(),
        mlir::DenseElementsAttr::get(none, ArrayRef<bool>())));
    unsigned i = operand.getOperandNumber();
    main.setResultAttrs(i, marked(main.getResultAttrDict(i)));
  }
  updateType(main);
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// The caller's dims from the slowest to the fastest, as the layout in `attrs`
/// says, such as "{0,1}" for column-major; empty where it says nothing else
/// than row-major.
static LogicalResult readLayout(mlir::DictionaryAttr attrs, mlir::Type type,
                                function_ref<mlir::InFlightDiagnostic()> error,
                                SmallVectorImpl<int64_t> &order) {
  auto attr = attrs ? attrs.getAs<mlir::StringAttr>("mhlo.layout_mode")
                    : mlir::StringAttr();
  if (!attr || attr == "default" || attr == "auto")
    return success();
  auto [list, rest] = attr.getValue().split(':');
  auto [dims, close] = list.split('}');
  bool isRead = dims.consume_front("{");
  SmallVector<StringRef> parts;
  dims.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : reverse(parts))
    isRead &= !part.trim().getAsInteger(10, order.emplace_back());
  auto tensor = dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor || !isRead || int64_t(order.size()) != tensor.getRank() ||
      !mlir::isPermutationVector(order))
    return error() << "has layout '" << attr.getValue()
                   << "', expected the dims of " << type
                   << " from the fastest to the slowest, such as '{1,0}'";
  // Elements of less than a byte, E(4), take one each whatever is asked for.
  if (rest.contains('T'))
    return error() << "has layout '" << attr.getValue()
                   << "': arrays are dense, without tiles";
  if (llvm::is_sorted(order))
    order.clear();
  return success();
}

/// `attrs` of a value whose dims come in `order`.
static mlir::DictionaryAttr inOrder(mlir::DictionaryAttr attrs,
                                    ArrayRef<int64_t> order) {
  mlir::NamedAttrList kept(attrs);
  mlir::MLIRContext *context = attrs.getContext();
  kept.set(spmd::contract::CallerDims::name(),
           mlir::DenseI64ArrayAttr::get(context, order));
  if (auto sharding = attrs.getAs<sdy::TensorShardingAttr>("sdy.sharding");
      sharding && sharding.getRank() == int64_t(order.size())) {
    SmallVector<sdy::DimensionShardingAttr> dims;
    for (int64_t dim : order)
      dims.push_back(sharding.getDimShardings()[dim]);
    kept.set("sdy.sharding",
             sdy::TensorShardingAttr::get(context, sharding.getMeshOrRef(),
                                          dims, sharding.getReplicatedAxes(),
                                          sharding.getUnreducedAxes(),
                                          sharding.getUnreducedKind()));
  }
  return kept.getDictionary(context);
}

LogicalResult shardc::keepLayouts(mlir::func::FuncOp main) {
  if (!isWritten(main))
    return success();
  mlir::Block &body = main.getBody().front();
  mlir::Operation *end = body.getTerminator();
  SmallVector<SmallVector<int64_t>> results(main.getNumResults());
  for (auto [i, order] : enumerate(results)) {
    mlir::DictionaryAttr attrs = main.getResultAttrDict(i);
    auto error = [&, i = i] {
      return emitUnsupported(main, "result ") << i << " ";
    };
    if (failed(readLayout(attrs, end->getOperand(i).getType(), error, order)))
      return failure();
    if (attrs && attrs.contains("mhlo.sharding") && !order.empty())
      return error() << "has a layout of its own and 'mhlo.sharding', expected "
                        "'sdy.sharding'";
  }
  auto builder = mlir::OpBuilder::atBlockBegin(&body);
  for (mlir::BlockArgument argument : body.getArguments()) {
    unsigned i = argument.getArgNumber();
    mlir::DictionaryAttr attrs = main.getArgAttrDict(i);
    SmallVector<int64_t> order;
    auto error = [&] { return emitUnsupported(main, "argument ") << i << " "; };
    if (failed(readLayout(attrs, argument.getType(), error, order)))
      return failure();
    // Memory that is given up is no room for what is in it otherwise.
    auto given = attrs ? attrs.getAs<mlir::IntegerAttr>("tf.aliasing_output")
                       : mlir::IntegerAttr();
    if (given && size_t(given.getInt()) < results.size() &&
        results[given.getInt()] != order) {
      main.removeArgAttr(i, "tf.aliasing_output");
      main.setArgAttr(i, "jax.buffer_donor", builder.getBoolAttr(true));
      attrs = main.getArgAttrDict(i);
    }
    if (order.empty())
      continue;
    if (attrs.contains("mhlo.sharding"))
      return error() << "has a layout of its own and 'mhlo.sharding', expected "
                        "'sdy.sharding'";
    auto type = cast<mlir::RankedTensorType>(argument.getType());
    argument.setType(
        type.clone(mlir::applyPermutation(type.getShape(), order)));
    auto transposed = stablehlo::TransposeOp::create(
        builder, argument.getLoc(), type, argument,
        mlir::invertPermutationVector(order));
    argument.replaceAllUsesExcept(transposed, transposed);
    main.setArgAttrs(i, inOrder(attrs, order));
  }
  builder.setInsertionPoint(end);
  for (auto [i, order] : enumerate(results)) {
    if (order.empty())
      continue;
    mlir::Value value = end->getOperand(i);
    auto type = cast<mlir::RankedTensorType>(value.getType());
    end->setOperand(
        i, stablehlo::TransposeOp::create(
               builder, end->getLoc(),
               type.clone(mlir::applyPermutation(type.getShape(), order)),
               value, order));
    main.setResultAttrs(i, inOrder(main.getResultAttrDict(i), order));
  }
  updateType(main);
  return success();
}
