//===- Ranks.cpp - Meshes and intervals of the local view -----------------===//
#include "Ranks.h"
#include "shardc/Dialect/Local/IR/Local.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include <algorithm>
#include <limits>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

RankMesh::RankMesh(spmd::MeshAttr attr) {
  sizes = Shape(attr.getAxisSizes());
  for (StringAttr name : attr.getAxisNames())
    names.push_back(name.getValue());
}

std::optional<RankMesh> RankMesh::of(Evaluator &evaluator, Operation *op,
                                     FlatSymbolRefAttr name) {
  auto found = evaluator.lookup<spmd::MeshOp>(op, name);
  return found ? std::optional<RankMesh>(RankMesh(found.getMesh()))
               : std::nullopt;
}

int64_t RankMesh::place(int64_t rank, ArrayRef<StringRef> axes) const {
  int64_t number = 0;
  for (StringRef axis : axes)
    number = number * sizes[indexOf(axis)] + coordinate(rank, indexOf(axis));
  return number;
}

bool RankMesh::areGroup(int64_t a, int64_t b, ArrayRef<StringRef> axes) const {
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    if (!llvm::is_contained(axes, names[axis]) &&
        coordinate(a, axis) != coordinate(b, axis))
      return false;
  return true;
}

int64_t RankMesh::groupSize(ArrayRef<StringRef> axes) const {
  int64_t size = 1;
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    size *= llvm::is_contained(axes, names[axis]) ? sizes[axis] : 1;
  return size;
}

Dim::Dim(spmd::DimExchangeAttr attr)
    : dim(attr.getDim()), ownedTable(attr.getOwned()),
      neededTable(attr.getNeeded()), padding(attr.getPadding()) {
  for (StringAttr axis : attr.getAxes())
    axes.push_back(axis.getValue());
}

int64_t Dim::size() const {
  int64_t end = 0;
  for (size_t i = 1; i < ownedTable.size(); i += 2)
    end = std::max(end, ownedTable[i]);
  return end;
}

SmallVector<Dim> shardc::interpreter::dimsOf(ArrayAttr attr) {
  SmallVector<Dim> dims;
  for (auto dim : attr.getAsRange<spmd::DimExchangeAttr>())
    dims.push_back(Dim(dim));
  return dims;
}

SmallVector<StringRef> shardc::interpreter::namesOf(ArrayAttr attr) {
  SmallVector<StringRef> names;
  for (auto name : attr.getAsRange<StringAttr>())
    names.push_back(name.getValue());
  return names;
}

Element shardc::interpreter::poison(const Format &format) {
  if (format.isInteger())
    return Element::of(format.wrap(0x5a5a5a5a5a5a5a5b));
  double nan = std::numeric_limits<double>::quiet_NaN();
  return Element::of(std::complex<double>(nan, nan));
}

int64_t shardc::interpreter::sourceOf(int64_t at, int64_t size,
                                      Padding padding) {
  if (at >= 0 && at < size)
    return at;
  if (size == 0)
    return -1;
  auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
  switch (padding) {
  case Padding::Constant:
    break;
  case Padding::Wrap:
    return modulo(at, size);
  case Padding::Edge:
    return at < 0 ? 0 : size - 1;
  case Padding::Reflect: {
    if (size == 1)
      return 0;
    int64_t folded = modulo(at, 2 * size - 2);
    return folded < size ? folded : 2 * size - 2 - folded;
  }
  case Padding::Symmetric: {
    int64_t folded = modulo(at, 2 * size);
    return folded < size ? folded : 2 * size - 1 - folded;
  }
  }
  return -1;
}

StringRef shardc::interpreter::combinerOf(spmd::ReductionKind kind) {
  switch (kind) {
  case spmd::ReductionKind::Sum:
    return "stablehlo.add";
  case spmd::ReductionKind::Product:
    return "stablehlo.multiply";
  case spmd::ReductionKind::Min:
    return "stablehlo.minimum";
  case spmd::ReductionKind::Max:
    return "stablehlo.maximum";
  case spmd::ReductionKind::And:
    return "stablehlo.and";
  case spmd::ReductionKind::Or:
    return "stablehlo.or";
  case spmd::ReductionKind::Xor:
    return "stablehlo.xor";
  }
  return "";
}

FailureOr<SmallVector<Lane *>>
shardc::interpreter::groupOf(Operation *op, const RankMesh &mesh,
                             ArrayRef<StringRef> axes, Lanes lanes,
                             int64_t rank) {
  SmallVector<Lane *> group;
  for (Lane *lane : lanes)
    if (mesh.areGroup(lane->device, rank, axes))
      group.push_back(lane);
  if (static_cast<int64_t>(group.size()) != mesh.groupSize(axes))
    return op->emitError() << "is reached by " << group.size() << " of the "
                           << mesh.groupSize(axes) << " ranks of a group";
  return group;
}

LogicalResult shardc::interpreter::verifyHeld(Operation *op,
                                              const RankMesh &mesh,
                                              ArrayRef<Dim> dims, Value value,
                                              Lanes group, const Lane &mine) {
  const Array own = mine.values.lookup(value);
  for (Lane *lane : group) {
    const Array array = lane->values.lookup(value);
    for (int64_t d = 0; d < own.rank(); ++d)
      if (array.dim(d) != own.dim(d) &&
          llvm::none_of(dims, [&](const Dim &dim) { return dim.dim == d; }))
        return op->emitError() << "is between ranks that have " << array.dim(d)
                               << " and " << own.dim(d) << " elements of dim "
                               << d << ", which it does not list";
    for (const Dim &dim : dims)
      if (int64_t owned = dim.owned(mesh, lane->device).size();
          owned != array.dim(dim.dim))
        return op->emitError() << "says that rank " << lane->device << " owns "
                               << owned << " elements of dim " << dim.dim
                               << ", it has " << array.dim(dim.dim);
  }
  return success();
}
