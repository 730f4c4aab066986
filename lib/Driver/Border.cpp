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
#include "shardc/Support/ElementwiseTrait.h"
#include "shardc/Support/Refusal.h"
#include "llvm/ADT/DenseMap.h"
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

/// Dims from the slowest to the fastest; empty for row-major.
using Order = SmallVector<int64_t>;

static mlir::StringAttr layoutIn(mlir::DictionaryAttr attrs) {
  return attrs ? attrs.getAs<mlir::StringAttr>("mhlo.layout_mode")
               : mlir::StringAttr();
}

/// The caller's dims, as the layout in `attrs` says, such as "{0,1}" for
/// column-major.
static LogicalResult readLayout(mlir::DictionaryAttr attrs, mlir::Type type,
                                function_ref<mlir::InFlightDiagnostic()> error,
                                Order &order) {
  mlir::StringAttr attr = layoutIn(attrs);
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

/// The order in which `op` makes its result if nothing is moved in memory, its
/// operands being in theirs.
static Order naturalOrder(mlir::Operation &op,
                          const DenseMap<mlir::Value, Order> &orders) {
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    Order order = orders.lookup(transpose.getOperand());
    Order places = mlir::invertPermutationVector(transpose.getPermutation());
    if (order.empty())
      return places;
    for (int64_t &dim : order)
      dim = places[dim];
    return order;
  }
  if (auto constraint = dyn_cast<sdy::ShardingConstraintOp>(op))
    return orders.lookup(constraint.getInput());
  if (!op.hasTrait<stablehlo::ElementwiseTrait>() || op.getNumResults() != 1)
    return {};
  auto type = dyn_cast<mlir::RankedTensorType>(op.getResult(0).getType());
  std::optional<Order> shared;
  for (mlir::Value operand : op.getOperands()) {
    auto taken = dyn_cast<mlir::RankedTensorType>(operand.getType());
    // Constants and what is spread out are made in any order.
    if (!type || !taken || taken.getRank() != type.getRank() ||
        isa_and_nonnull<stablehlo::ConstantOp, stablehlo::BroadcastInDimOp>(
            operand.getDefiningOp()))
      continue;
    Order order = orders.lookup(operand);
    if (shared && *shared != order)
      return {};
    shared = order;
  }
  return shared.value_or(Order());
}

/// Chooses the orders of results that are left to the compiler ("auto"): those
/// in which they are made of arguments in `arguments` without moving elements.
static void chooseOrders(mlir::func::FuncOp main, ArrayRef<Order> arguments,
                         MutableArrayRef<Order> results) {
  mlir::Block &body = main.getBody().front();
  DenseMap<mlir::Value, Order> orders;
  auto remember = [&](mlir::Value value, Order order) {
    if (!llvm::is_sorted(order))
      orders.try_emplace(value, std::move(order));
  };
  for (auto [argument, order] : zip_equal(body.getArguments(), arguments))
    remember(argument, order);
  for (mlir::Operation &op : body)
    if (op.getNumResults() == 1)
      remember(op.getResult(0), naturalOrder(op, orders));
  for (auto [i, order] : enumerate(results)) {
    mlir::DictionaryAttr attrs = main.getResultAttrDict(i);
    mlir::StringAttr layout = layoutIn(attrs);
    if (layout && layout == "auto" && !attrs.contains("mhlo.sharding"))
      order = orders.lookup(body.getTerminator()->getOperand(i));
  }
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

/// `value` with its dims in `order`, without the transposes that this undoes.
static mlir::Value permuted(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value value, Order order) {
  auto type = cast<mlir::RankedTensorType>(value.getType());
  auto made = type.clone(mlir::applyPermutation(type.getShape(), order));
  while (auto inner = value.getDefiningOp<stablehlo::TransposeOp>()) {
    if (!inner->getDiscardableAttrs().empty())
      break;
    order = mlir::applyPermutation(inner.getPermutation(), order);
    value = inner.getOperand();
  }
  if (llvm::is_sorted(order))
    return value;
  return stablehlo::TransposeOp::create(builder, loc, made, value, order);
}

/// Reads the orders that are asked for of arguments and results. Refuses
/// layouts in tiles, and such of values with shardings of GSPMD.
static LogicalResult readLayouts(mlir::func::FuncOp main,
                                 MutableArrayRef<Order> arguments,
                                 MutableArrayRef<Order> results) {
  mlir::Block &body = main.getBody().front();
  auto read = [&](StringRef kind, unsigned i, mlir::DictionaryAttr attrs,
                  mlir::Type type, Order &order) -> LogicalResult {
    auto error = [&] { return emitUnsupported(main, kind) << " " << i << " "; };
    if (failed(readLayout(attrs, type, error, order)))
      return failure();
    if (attrs && attrs.contains("mhlo.sharding") && !order.empty())
      return error() << "has a layout of its own and 'mhlo.sharding', expected "
                        "'sdy.sharding'";
    return success();
  };
  for (auto [i, order] : enumerate(results))
    if (failed(read("result", i, main.getResultAttrDict(i),
                    body.getTerminator()->getOperand(i).getType(), order)))
      return failure();
  for (auto [i, order] : enumerate(arguments))
    if (failed(read("argument", i, main.getArgAttrDict(i),
                    body.getArgument(i).getType(), order)))
      return failure();
  return success();
}

LogicalResult shardc::keepLayouts(mlir::func::FuncOp main) {
  if (!isWritten(main))
    return success();
  mlir::Block &body = main.getBody().front();
  mlir::Operation *end = body.getTerminator();
  SmallVector<Order> arguments(main.getNumArguments()),
      results(main.getNumResults());
  if (failed(readLayouts(main, arguments, results)))
    return failure();
  chooseOrders(main, arguments, results);
  auto builder = mlir::OpBuilder::atBlockBegin(&body);
  for (auto [argument, order] : zip_equal(body.getArguments(), arguments)) {
    unsigned i = argument.getArgNumber();
    mlir::DictionaryAttr attrs = main.getArgAttrDict(i);
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
    end->setOperand(
        i, permuted(builder, end->getLoc(), end->getOperand(i), order));
    main.setResultAttrs(i, inOrder(main.getResultAttrDict(i), order));
  }
  updateType(main);
  return success();
}
