//===- Interpreter.cpp - What StableHLO ops mean, on integers -------------===//
#include "Interpreter.h"
#include "InterpreterOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/TypeSwitch.h"
#include <deque>

using namespace mlir;
using namespace shardc;
using namespace shardc::test;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Tensor::Tensor(ArrayRef<int64_t> shape, int64_t value) : shape(shape) {
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  data.assign(elements, value);
}

Tensor Tensor::scalar(int64_t value) { return Tensor({}, value); }

bool Tensor::contains(ArrayRef<int64_t> index) const {
  for (auto [i, size] : llvm::zip(index, shape))
    if (i < 0 || i >= size)
      return false;
  return true;
}

size_t Tensor::offset(ArrayRef<int64_t> index) const {
  if (index.size() != shape.size() || !contains(index))
    llvm::report_fatal_error("interpreter: index outside a tensor");
  size_t result = 0;
  for (auto [i, size] : llvm::zip(index, shape))
    result = result * size + i;
  return result;
}

void shardc::test::forEachIndex(ArrayRef<int64_t> shape,
                                function_ref<void(ArrayRef<int64_t>)> visit) {
  if (llvm::is_contained(shape, 0))
    return;
  Index index(shape.size(), 0);
  while (true) {
    visit(index);
    int64_t dim = static_cast<int64_t>(shape.size()) - 1;
    while (dim >= 0 && ++index[dim] == shape[dim])
      index[dim--] = 0;
    if (dim < 0)
      return;
  }
}

int64_t TestMesh::numRanks() const {
  int64_t ranks = 1;
  for (int64_t size : sizes)
    ranks *= size;
  return ranks;
}

int64_t TestMesh::coordinate(int64_t rank, StringRef axis) const {
  int64_t result = 0;
  for (int64_t i = static_cast<int64_t>(names.size()) - 1; i >= 0; --i) {
    if (names[i] == axis)
      result = rank % sizes[i];
    rank /= sizes[i];
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

bool shardc::test::isBool(Type type) {
  return getElementTypeOrSelf(type).isInteger(1);
}

int64_t shardc::test::hashOf(StringRef name, ArrayRef<int64_t> values) {
  uint64_t state = 1469598103934665603ull;
  auto mix = [&](uint64_t value) {
    state = (state ^ value) * 1099511628211ull;
    state ^= state >> 29;
  };
  for (char c : name)
    mix(static_cast<unsigned char>(c));
  for (int64_t value : values)
    mix(static_cast<uint64_t>(value));
  return static_cast<int64_t>(state);
}

/// One element of an elementwise op.
static int64_t elementOf(Operation *op, ArrayRef<int64_t> values) {
  auto u = [&](size_t i) { return static_cast<uint64_t>(values[i]); };
  bool logical = isBool(op->getResult(0).getType());
  StringRef name = op->getName().stripDialect();
  if (name == "add")
    return logical ? values[0] | values[1] : static_cast<int64_t>(u(0) + u(1));
  if (name == "multiply")
    return logical ? values[0] & values[1] : static_cast<int64_t>(u(0) * u(1));
  if (name == "subtract")
    return static_cast<int64_t>(u(0) - u(1));
  if (name == "maximum")
    return std::max(values[0], values[1]);
  if (name == "minimum")
    return std::min(values[0], values[1]);
  if (name == "and")
    return values[0] & values[1];
  if (name == "or")
    return values[0] | values[1];
  if (name == "xor")
    return values[0] ^ values[1];
  if (name == "negate")
    return static_cast<int64_t>(0 - u(0));
  if (name == "select")
    return values[0] ? values[1] : values[2];
  if (name == "clamp")
    return std::min(std::max(values[0], values[1]), values[2]);
  if (name == "convert")
    return logical ? values[0] != 0 : values[0];
  if (auto compare = dyn_cast<stablehlo::CompareOp>(op)) {
    switch (compare.getComparisonDirection()) {
    case stablehlo::ComparisonDirection::EQ:
      return values[0] == values[1];
    case stablehlo::ComparisonDirection::NE:
      return values[0] != values[1];
    case stablehlo::ComparisonDirection::GE:
      return values[0] >= values[1];
    case stablehlo::ComparisonDirection::GT:
      return values[0] > values[1];
    case stablehlo::ComparisonDirection::LE:
      return values[0] <= values[1];
    case stablehlo::ComparisonDirection::LT:
      return values[0] < values[1];
    }
  }
  int64_t hash = hashOf(op->getName().getStringRef(), values);
  return logical ? hash & 1 : hash;
}

Tensor shardc::test::elementwise(Operation *op, ArrayRef<Tensor> operands) {
  const Tensor *largest = &operands[0];
  for (const Tensor &operand : operands)
    if (operand.shape.size() > largest->shape.size())
      largest = &operand;
  Tensor result(largest->shape);
  for (size_t i = 0; i < result.data.size(); ++i) {
    Index values;
    for (const Tensor &operand : operands) {
      if (!operand.shape.empty() && operand.shape != result.shape)
        llvm::report_fatal_error(llvm::Twine("interpreter: operands of ") +
                                 op->getName().getStringRef() +
                                 " differ in shape");
      values.push_back(operand.shape.empty() ? operand.data[0]
                                             : operand.data[i]);
    }
    result.data[i] = elementOf(op, values);
  }
  return result;
}

std::vector<Tensor> shardc::test::apply(Region &region,
                                        ArrayRef<Tensor> arguments,
                                        Environment &environment) {
  Block &block = region.front();
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    environment[argument] = value;
  std::vector<Tensor> operands;
  for (Operation &op : block) {
    operands.clear();
    for (Value operand : op.getOperands())
      operands.push_back(environment.at(operand));
    if (isa<stablehlo::ReturnOp>(op))
      break;
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
      environment[constant.getOutput()] = constantOf(constant.getValue());
    else
      environment[op.getResult(0)] = elementwise(&op, operands);
  }
  return operands;
}

//===----------------------------------------------------------------------===//
// Constants, index arithmetic, tensor dialect
//===----------------------------------------------------------------------===//

static int64_t toInteger(const APFloat &value) {
  if (value.isInfinity())
    return value.isNegative() ? std::numeric_limits<int64_t>::min()
                              : std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(value.convertToDouble());
}

Tensor shardc::test::constantOf(Attribute attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return Tensor::scalar(integer.getValue().getSExtValue());
  auto elements = cast<DenseElementsAttr>(attribute);
  Tensor result(elements.getType().getShape());
  Type type = elements.getElementType();
  if (auto complex = dyn_cast<ComplexType>(type)) {
    for (auto [i, value] :
         llvm::enumerate(elements.getValues<std::complex<APFloat>>()))
      result.data[i] = toInteger(value.real());
    return result;
  }
  if (isa<FloatType>(type)) {
    for (auto [i, value] : llvm::enumerate(elements.getValues<APFloat>()))
      result.data[i] = toInteger(value);
    return result;
  }
  bool isUnsigned = type.isInteger(1) || type.isUnsignedInteger();
  for (auto [i, value] : llvm::enumerate(elements.getValues<APInt>()))
    result.data[i] = isUnsigned ? value.getZExtValue() : value.getSExtValue();
  return result;
}

static Index valuesOf(ArrayRef<OpFoldResult> mixed, Environment &environment) {
  Index result;
  for (OpFoldResult value : mixed) {
    if (auto attribute = dyn_cast<Attribute>(value))
      result.push_back(cast<IntegerAttr>(attribute).getInt());
    else
      result.push_back(environment.at(cast<Value>(value)).data[0]);
  }
  return result;
}

/// Where elements of a dim are from that is dealt out: first and last in turn,
/// of each shard the first half, rounded up, from the front.
static std::vector<int64_t> zigzagOrder(ArrayRef<int64_t> sizes) {
  std::deque<int64_t> left;
  for (int64_t size : sizes)
    for (int64_t i = 0; i < size; ++i)
      left.push_back(left.size());
  // Places in turn get what is left at the front and at the end.
  bool isFront = true;
  std::vector<int64_t> order;
  for (int64_t size : sizes) {
    std::vector<int64_t> late;
    for (int64_t i = 0; i < size; ++i, isFront = !isFront)
      if (isFront) {
        order.push_back(left.front());
        left.pop_front();
      } else {
        late.insert(late.begin(), left.back());
        left.pop_back();
      }
    order.insert(order.end(), late.begin(), late.end());
  }
  return order;
}

static std::optional<Tensor>
runIndexOp(Operation *op, ArrayRef<Tensor> operands, Environment &environment) {
  auto value = [&](size_t i) { return operands[i].data[0]; };
  return llvm::TypeSwitch<Operation *, std::optional<Tensor>>(op)
      .Case([&](arith::ConstantOp constant) {
        return constantOf(constant.getValue());
      })
      .Case<arith::IndexCastOp, tensor::CastOp>(
          [&](auto) { return operands[0]; })
      .Case([&](arith::MulIOp) { return Tensor::scalar(value(0) * value(1)); })
      .Case([&](arith::AddIOp) { return Tensor::scalar(value(0) + value(1)); })
      .Case([&](arith::SubIOp) { return Tensor::scalar(value(0) - value(1)); })
      .Case([&](arith::MaxSIOp) {
        return Tensor::scalar(std::max(value(0), value(1)));
      })
      .Case([&](arith::MinSIOp) {
        return Tensor::scalar(std::min(value(0), value(1)));
      })
      .Case([&](tensor::DimOp) {
        return Tensor::scalar(operands[0].shape[value(1)]);
      })
      .Case([&](tensor::FromElementsOp elements) {
        Tensor result(elements.getType().getShape());
        for (size_t i = 0; i < operands.size(); ++i)
          result.data[i] = value(i);
        return result;
      })
      .Case([&](tensor::ExtractOp) {
        Index index;
        for (size_t i = 1; i < operands.size(); ++i)
          index.push_back(value(i));
        return Tensor::scalar(operands[0].at(index));
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        Index offsets = valuesOf(slice.getMixedOffsets(), environment),
              strides = valuesOf(slice.getMixedStrides(), environment);
        Tensor result(valuesOf(slice.getMixedSizes(), environment));
        forEachIndex(result.shape, [&](ArrayRef<int64_t> index) {
          Index from;
          for (size_t d = 0; d < index.size(); ++d)
            from.push_back(offsets[d] + index[d] * strides[d]);
          result.at(index) = operands[0].at(from);
        });
        return result;
      })
      .Case([&](tensor::InsertSliceOp slice) {
        Index offsets = valuesOf(slice.getMixedOffsets(), environment),
              strides = valuesOf(slice.getMixedStrides(), environment);
        Tensor result = operands[1];
        forEachIndex(operands[0].shape, [&](ArrayRef<int64_t> index) {
          Index to;
          for (size_t d = 0; d < index.size(); ++d)
            to.push_back(offsets[d] + index[d] * strides[d]);
          result.at(to) = operands[0].at(index);
        });
        return result;
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        Index shape;
        for (const ReassociationIndices &group :
             collapse.getReassociationIndices()) {
          shape.push_back(1);
          for (int64_t dim : group)
            shape.back() *= operands[0].shape[dim];
        }
        Tensor result(shape);
        result.data = operands[0].data;
        return result;
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        Tensor result(valuesOf(expand.getMixedOutputShape(), environment));
        if (result.data.size() != operands[0].data.size())
          llvm::report_fatal_error("interpreter: expand_shape to another size");
        result.data = operands[0].data;
        return result;
      })
      .Case([&](tensor::ConcatOp concat) {
        Index shape = operands[0].shape;
        for (const Tensor &next : ArrayRef(operands).drop_front())
          shape[concat.getDim()] += next.shape[concat.getDim()];
        Tensor result(shape);
        int64_t begin = 0;
        for (const Tensor &part : operands) {
          forEachIndex(part.shape, [&](ArrayRef<int64_t> index) {
            Index to(index);
            to[concat.getDim()] += begin;
            result.at(to) = part.at(index);
          });
          begin += part.shape[concat.getDim()];
        }
        return result;
      })
      .Case([&](spmd::DealOp deal) {
        std::vector<int64_t> order = zigzagOrder(deal.getSizes());
        Tensor result(operands[0].shape);
        forEachIndex(result.shape, [&](ArrayRef<int64_t> index) {
          Index other(index);
          other[deal.getDim()] = order[index[deal.getDim()]];
          if (deal.getBack())
            result.at(other) = operands[0].at(index);
          else
            result.at(index) = operands[0].at(other);
        });
        return result;
      })
      .Case([&](spmd::DealtIotaOp iota) {
        std::vector<int64_t> order = zigzagOrder(iota.getSizes());
        Tensor result(Index{int64_t(order.size())});
        result.data = order;
        return result;
      })
      .Case([&](tensor::PadOp pad) {
        Index low = valuesOf(pad.getMixedLowPad(), environment),
              high = valuesOf(pad.getMixedHighPad(), environment);
        int64_t fill = environment.at(pad.getConstantPaddingValue()).data[0];
        Index shape = operands[0].shape;
        for (size_t d = 0; d < shape.size(); ++d)
          shape[d] += low[d] + high[d];
        Tensor result(shape, fill);
        forEachIndex(operands[0].shape, [&](ArrayRef<int64_t> index) {
          Index to(index);
          for (size_t d = 0; d < to.size(); ++d)
            to[d] += low[d];
          result.at(to) = operands[0].at(index);
        });
        return result;
      })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// This rank's entry of a lookup's table.
static Tensor lookup(spmd::LookupOp op, int64_t rank, const TestMesh &mesh) {
  int64_t place = 0;
  for (StringAttr axis : op.getAxes().getAsRange<StringAttr>()) {
    size_t number =
        llvm::find(mesh.names, axis.getValue()) - mesh.names.begin();
    place = place * mesh.sizes[number] + mesh.coordinate(rank, axis.getValue());
  }
  return Tensor::scalar(op.getTable()[place]);
}

int64_t shardc::test::combineKind(spmd::ReductionKind kind, int64_t lhs,
                                  int64_t rhs) {
  switch (kind) {
  case spmd::ReductionKind::Sum:
    return static_cast<int64_t>(static_cast<uint64_t>(lhs) +
                                static_cast<uint64_t>(rhs));
  case spmd::ReductionKind::Product:
    return static_cast<int64_t>(static_cast<uint64_t>(lhs) *
                                static_cast<uint64_t>(rhs));
  case spmd::ReductionKind::Min:
    return std::min(lhs, rhs);
  case spmd::ReductionKind::Max:
    return std::max(lhs, rhs);
  case spmd::ReductionKind::And:
    return lhs & rhs;
  case spmd::ReductionKind::Or:
    return lhs | rhs;
  case spmd::ReductionKind::Xor:
    return lhs ^ rhs;
  }
  llvm_unreachable("all kinds are handled");
}

static std::string allReduce(spmd::AllReduceOp op,
                             std::vector<Environment> &ranks,
                             const TestMesh &mesh) {
  std::vector<Tensor> results;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    std::optional<Tensor> total;
    for (size_t peer = 0; peer < ranks.size(); ++peer) {
      bool inGroup = llvm::all_of(mesh.names, [&](const std::string &name) {
        bool spanned = llvm::any_of(
            op.getAxes().getAsRange<StringAttr>(),
            [&](StringAttr axis) { return axis.getValue() == name; });
        return spanned ||
               mesh.coordinate(rank, name) == mesh.coordinate(peer, name);
      });
      if (!inGroup)
        continue;
      const Tensor &part = ranks[peer].at(op.getInput());
      if (!total) {
        total = part;
        continue;
      }
      if (total->shape != part.shape)
        return "ranks reduce tensors of different shapes";
      for (size_t i = 0; i < part.data.size(); ++i)
        total->data[i] =
            combineKind(op.getKind(), total->data[i], part.data[i]);
    }
    results.push_back(*total);
  }
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    ranks[rank][op.getResult()] = results[rank];
  return "";
}

/// Every element that a rank needs, from any rank that owns it.
static std::string exchange(spmd::HaloExchangeOp op,
                            std::vector<Environment> &ranks) {
  Exchange plan =
      cast<spmd::ExchangeOpInterface>(op.getOperation()).getExchange();
  if (std::string problem = verifyExchange(plan); !problem.empty())
    return problem;
  std::vector<Tensor> results;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    Box needed = neededBox(plan, rank);
    Index shape;
    for (Interval interval : needed)
      shape.push_back(interval.size());
    Tensor result(shape,
                  op.getFill() ? ranks[rank].at(op.getFill()).data[0] : 0);
    forEachIndex(shape, [&](ArrayRef<int64_t> index) {
      for (size_t peer = 0; peer < ranks.size(); ++peer) {
        Box owned = ownedBox(plan, peer);
        Index from;
        bool isThere = true;
        for (size_t d = 0; d < index.size(); ++d) {
          int64_t position = needed[d].begin + index[d];
          isThere &= owned[d].begin <= position && position < owned[d].end;
          from.push_back(position - owned[d].begin);
        }
        if (!isThere)
          continue;
        result.at(index) = ranks[peer].at(op.getInput()).at(from);
        return;
      }
    });
    results.push_back(result);
  }
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    ranks[rank][op.getResult()] = results[rank];
  return "";
}

std::string shardc::test::run(Block &block, std::vector<Environment> &ranks,
                              const TestMesh &mesh) {
  for (Operation &op : block.without_terminator()) {
    if (std::optional<std::string> problem = runRows(&op, ranks, mesh)) {
      if (!problem->empty())
        return *problem;
      continue;
    }
    if (auto reduce = dyn_cast<spmd::AllReduceOp>(op)) {
      if (std::string problem = allReduce(reduce, ranks, mesh);
          !problem.empty())
        return problem;
      continue;
    }
    if (auto move = dyn_cast<spmd::HaloExchangeOp>(op)) {
      if (std::string problem = exchange(move, ranks); !problem.empty())
        return problem;
      continue;
    }
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      Environment &environment = ranks[rank];
      std::vector<Tensor> operands;
      for (Value operand : op.getOperands())
        operands.push_back(environment.at(operand));
      std::vector<Tensor> results;
      if (auto table = dyn_cast<spmd::LookupOp>(op))
        results = {lookup(table, rank, mesh)};
      else if (std::optional<Tensor> result =
                   runIndexOp(&op, operands, environment))
        results = {*result};
      else
        results = runStableHLO(&op, operands, environment);
      if (results.size() != op.getNumResults())
        return ("the interpreter does not know " + op.getName().getStringRef())
            .str();
      for (auto [value, tensor] : llvm::zip(op.getResults(), results)) {
        if (auto type = dyn_cast<RankedTensorType>(value.getType()))
          for (auto [size, expected] : llvm::zip(tensor.shape, type.getShape()))
            if (!ShapedType::isDynamic(expected) && size != expected)
              return (op.getName().getStringRef() + " gives a dim of " +
                      llvm::Twine(size) + " elements where its type says " +
                      llvm::Twine(expected))
                  .str();
        environment[value] = std::move(tensor);
      }
    }
  }
  return "";
}
