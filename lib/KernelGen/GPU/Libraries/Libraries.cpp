//===- Libraries.cpp - Products that a vendor's library may do ------------===//
//
// A library takes matrices and images whose dims have one stride each. Dims of
// a generic that are one behind the other, in the same order in all operands,
// are such a dim together.
//
//===----------------------------------------------------------------------===//
#include "Libraries.h"
#include "Epilogues.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Machine/Cost.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// A side of the libraries' tiles: products of fewer rows or columns fill none.
/// [shape]
static constexpr int64_t kTileSide = 256;
/// Channels on both sides of a convolution that fill a tile of one. [shape]
static constexpr int64_t kTileChannels = 32;
/// Most spatial dims of a convolution. [format]
static constexpr size_t kMostSpatial = 3;

namespace {
/// One operand, and where the product's dims are in it.
struct View {
  Value memref;
  MemRefType type;
  AffineMap map;
  /// The map's dims by those of the product; empty: they are the same.
  SmallVector<std::optional<unsigned>> dims;

  AffineExpr dimOf(unsigned dim) const {
    if (dims.empty())
      return getAffineDimExpr(dim, map.getContext());
    return dims[dim] ? getAffineDimExpr(*dims[dim], map.getContext())
                     : AffineExpr();
  }
  /// The memref's dim that runs along the product's, alone; -1 where none does.
  int64_t placeOf(unsigned dim) const {
    AffineExpr expr = dimOf(dim);
    for (auto [i, result] : llvm::enumerate(map.getResults()))
      if (expr && result == expr)
        return i;
    return -1;
  }
};

using Groups = SmallVector<SmallVector<int64_t>>;

/// A dim of an image that a window goes along: `at` a point, `window` an
/// element of the window, the image's place `step * at + dilation * window`.
struct Spatial {
  std::optional<unsigned> at, window;
  int64_t step = 1, dilation = 1;
};

/// A product whose left or right operand is an image that windows go over.
struct Convolution {
  const View &image, &other;
  ArrayRef<unsigned> otherLines;
  SmallVector<Spatial> spatials = {};
  SmallVector<unsigned> imageDims = {}; ///< of the memref, one a spatial
  SmallVector<unsigned> plain = {};     ///< of the image's lines, no spatials
  llvm::SmallDenseSet<unsigned> taken = {};
  /// Point and window change places: the gradient of a filter.
  bool isFilter = false;
  // By roles, in the order in which they are in memory.
  SmallVector<unsigned> batch = {}, channels = {}, lines = {}, groups = {};
};

/// Describes a product, or gives up.
class Description {
public:
  Description(linalg::GenericOp op, const Product &product,
              std::optional<Epilogue> found);

  std::optional<LibraryPlan> emit(LibraryUse use);

private:
  bool describeProduct();
  bool describeConvolution();
  // In the order in which a convolution is described; false gives up.
  bool findSpatials(Convolution &c, ArrayRef<unsigned> imageLines) const;
  bool findRoles(Convolution &c) const;
  bool groupDims(const Convolution &c);
  bool isWhole(const Convolution &c) const;
  /// `dims` that are no spatials of `c`, and of more than one element.
  SmallVector<unsigned> restOf(const Convolution &c,
                               ArrayRef<unsigned> dims) const {
    return llvm::filter_to_vector(dims, [&](unsigned dim) {
      return !c.taken.contains(dim) && sizes[dim] != 1;
    });
  }
  bool isWorthIt(LibraryUse use) const;
  /// The memref's dims that are `dims` together.
  std::optional<SmallVector<int64_t>> groupOf(const View &view,
                                              ArrayRef<unsigned> dims) const;
  /// `dims` in the order in which they are in `view`, without those of one
  /// element; none where one is missing.
  std::optional<SmallVector<unsigned>> inOrderOf(const View &view,
                                                 ArrayRef<unsigned> dims) const;
  bool add(Groups &groups, const View &view, ArrayRef<unsigned> dims) {
    std::optional<SmallVector<int64_t>> group = groupOf(view, dims);
    if (group)
      groups.push_back(*group);
    return group.has_value();
  }
  /// No dim but of one element is left out, and one of `dims` has neighbours
  /// side by side, as far as that is known.
  bool covers(const View &view, const Groups &groups,
              ArrayRef<unsigned> dims) const;

  linalg::GenericOp op;
  const Product &product;
  SmallVector<int64_t> sizes;
  View left, right, result;
  Epilogue epilogue;
  bool adds = false;
  // What is found.
  StringRef kind;
  SmallVector<View> operands; ///< the result last
  SmallVector<Groups> groups;
  SmallVector<int64_t> numbers;
  int64_t channels = 0; ///< the fewer of a convolution
};
} // namespace

bool gpukernels::isContiguous(MemRefType type, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  for (size_t i = 1; i < dims.size(); ++i) {
    int64_t outer = dims[i - 1], inner = dims[i];
    bool known = ShapedType::isStatic(strides[outer]) &&
                 ShapedType::isStatic(strides[inner]) &&
                 !type.isDynamicDim(inner);
    bool follows =
        known ? strides[outer] == strides[inner] * type.getDimSize(inner)
              : type.getLayout().isIdentity() && inner == outer + 1;
    if (!follows)
      return false;
  }
  return true;
}

ArrayAttr
gpukernels::groupsAttr(OpBuilder &b,
                       ArrayRef<SmallVector<SmallVector<int64_t>>> groups) {
  auto ofOne = [&](const SmallVector<SmallVector<int64_t>> &dims) -> Attribute {
    return b.getArrayAttr(llvm::map_to_vector(
        dims, [&](const SmallVector<int64_t> &group) -> Attribute {
          return b.getI64ArrayAttr(group);
        }));
  };
  return b.getArrayAttr(llvm::map_to_vector(groups, ofOne));
}

bool gpukernels::isWorthACall(Operation *op, double operations,
                              int64_t launches, double bytes) {
  Cost cost(machineOf(op));
  double gained = (Cost::kMargin - 1) * cost.compute(operations);
  return gained > double(launches) * cost.getMachine().launchSeconds +
                      cost.access(bytes);
}

LibraryWish gpukernels::wishOf(OpBuilder &b, LibraryUse use) {
  UnitAttr yes = b.getUnitAttr();
  return {use == LibraryUse::Library ? yes : UnitAttr(),
          use == LibraryUse::OnTcgen05 ? yes : UnitAttr()};
}

static View viewOf(linalg::GenericOp op, OpOperand &operand) {
  return {operand.get(),
          cast<MemRefType>(operand.get().getType()),
          op.getMatchingIndexingMap(&operand),
          {}};
}

Description::Description(linalg::GenericOp op, const Product &product,
                         std::optional<Epilogue> found)
    : op(op), product(product), sizes(op.getStaticLoopRanges()) {
  left = viewOf(op, *product.left.operand);
  right = viewOf(op, *product.right.operand);
  const Fusion &fusion = product.fusion;
  if (found) {
    epilogue = *found;
    linalg::GenericOp behind = fusion.behind;
    result = viewOf(behind, *behind.getDpsInitOperand(0));
    result.dims.resize(sizes.size());
    for (auto [mine, theirs] : fusion.dims)
      result.dims[mine] = theirs;
  } else {
    result = viewOf(op, *op.getDpsInitOperand(0));
  }
  adds = !fusion.start;
}

std::optional<SmallVector<unsigned>>
Description::inOrderOf(const View &view, ArrayRef<unsigned> dims) const {
  SmallVector<std::pair<int64_t, unsigned>> places;
  for (unsigned dim : dims) {
    if (sizes[dim] == 1)
      continue;
    int64_t place = view.placeOf(dim);
    if (place < 0)
      return std::nullopt;
    places.push_back({place, dim});
  }
  llvm::sort(places);
  return llvm::map_to_vector(places, [](auto place) { return place.second; });
}

std::optional<SmallVector<int64_t>>
Description::groupOf(const View &view, ArrayRef<unsigned> dims) const {
  SmallVector<int64_t> group;
  for (unsigned dim : dims) {
    if (sizes[dim] == 1)
      continue;
    group.push_back(view.placeOf(dim));
    if (group.back() < 0)
      return std::nullopt;
  }
  if (!isContiguous(view.type, group))
    return std::nullopt;
  return group;
}

bool Description::covers(const View &view, const Groups &groups,
                         ArrayRef<unsigned> either) const {
  SmallVector<bool> seen(view.type.getRank());
  for (const SmallVector<int64_t> &group : groups)
    for (int64_t dim : group)
      seen[dim] = true;
  for (auto [dim, size] : llvm::enumerate(view.type.getShape()))
    if (!seen[dim] && size != 1)
      return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(view.type.getStridesAndOffset(strides, offset)))
    return false;
  return either.empty() || llvm::any_of(either, [&](unsigned number) {
           if (groups[number].empty())
             return true;
           int64_t stride = strides[groups[number].back()];
           return stride == 1 || ShapedType::isDynamic(stride);
         });
}

bool Description::describeProduct() {
  auto batch = inOrderOf(result, product.batch),
       rows = inOrderOf(result, product.left.lines),
       columns = inOrderOf(result, product.right.lines),
       depth = inOrderOf(left, product.depth);
  if (!batch || !rows || !columns || !depth)
    return false;
  Groups ofLeft, ofRight, ofBias, ofResult;
  if (!add(ofLeft, left, *batch) || !add(ofLeft, left, *rows) ||
      !add(ofLeft, left, *depth) || !add(ofRight, right, *batch) ||
      !add(ofRight, right, *depth) || !add(ofRight, right, *columns) ||
      !add(ofResult, result, *batch) || !add(ofResult, result, *rows) ||
      !add(ofResult, result, *columns) || !covers(left, ofLeft, {1, 2}) ||
      !covers(right, ofRight, {1, 2}) || !covers(result, ofResult, {1, 2}))
    return false;
  kind = "product";
  operands = {left, right};
  groups = {ofLeft, ofRight};
  int64_t biasDim = 0;
  if (epilogue.bias) {
    View bias = viewOf(product.fusion.behind, *epilogue.bias);
    bias.dims = result.dims;
    // Along rows or columns, and nothing else.
    for (auto [dim, along] :
         {std::pair<int64_t, ArrayRef<unsigned>>{2, *columns}, {1, *rows}}) {
      ofBias.clear();
      // What it runs along is side by side in the result.
      if (biasDim == 0 && product.batches == 1 && !along.empty() &&
          covers(result, ofResult, {static_cast<unsigned>(dim)}) &&
          add(ofBias, bias, along) && covers(bias, ofBias, {0}))
        biasDim = dim;
    }
    if (biasDim == 0)
      return false;
    ofBias.clear();
    add(ofBias, bias, biasDim == 2 ? ArrayRef(*columns) : ArrayRef(*rows));
    operands.push_back(bias);
    groups.push_back(ofBias);
  }
  operands.push_back(result);
  groups.push_back(ofResult);
  numbers = {adds, biasDim};
  return true;
}

/// The dims and factors of `expr`; none where it is no such place.
static std::optional<Spatial>
matchSpatial(AffineExpr expr, ArrayRef<utils::IteratorType> kinds) {
  Spatial spatial;
  bool fine = true;
  auto term = [&](AffineExpr part) {
    int64_t factor = 1;
    auto scaled = dyn_cast<AffineBinaryOpExpr>(part);
    if (scaled && scaled.getKind() == AffineExprKind::Mul) {
      auto by = dyn_cast<AffineConstantExpr>(scaled.getRHS());
      factor = by ? by.getValue() : 0;
      part = scaled.getLHS();
    }
    auto dim = dyn_cast<AffineDimExpr>(part);
    if (!dim || factor < 1)
      return false;
    bool reduces = kinds[dim.getPosition()] == utils::IteratorType::reduction;
    std::optional<unsigned> &place = reduces ? spatial.window : spatial.at;
    if (place)
      return false;
    place = dim.getPosition();
    (reduces ? spatial.dilation : spatial.step) = factor;
    return true;
  };
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    fine = term(expr);
  else
    fine = term(sum.getLHS()) && term(sum.getRHS());
  if (!fine)
    return std::nullopt;
  return spatial;
}

/// The dims that windows go along.
bool Description::findSpatials(Convolution &c,
                               ArrayRef<unsigned> imageLines) const {
  linalg::GenericOp generic = op;
  SmallVector<utils::IteratorType> kinds = generic.getIteratorTypesArray();
  for (auto [place, expr] : llvm::enumerate(c.image.map.getResults())) {
    if (isa<AffineDimExpr, AffineConstantExpr>(expr))
      continue;
    std::optional<Spatial> spatial = matchSpatial(expr, kinds);
    if (!spatial)
      return false;
    for (std::optional<unsigned> dim : {spatial->at, spatial->window})
      if (dim && !c.taken.insert(*dim).second)
        return false;
    c.spatials.push_back(*spatial);
    c.imageDims.push_back(place);
  }
  // What is left of the image's lines: where they do not follow one another,
  // dims without a window are dims of the image.
  c.plain = restOf(c, imageLines);
  while (c.plain.size() > 1 && c.spatials.size() < kMostSpatial) {
    auto order = inOrderOf(c.image, c.plain);
    if (!order)
      return false;
    if (groupOf(c.image, *order) && groupOf(result, *order))
      break;
    Spatial spatial;
    spatial.at = order->back();
    c.spatials.push_back(spatial);
    c.imageDims.push_back(c.image.placeOf(order->back()));
    c.taken.insert(order->back());
    c.plain = restOf(c, imageLines);
  }
  return !c.spatials.empty() && c.spatials.size() <= kMostSpatial;
}

/// What the dims are that no window goes along.
bool Description::findRoles(Convolution &c) const {
  // A window that is larger than what it is moved over is the gradient of a
  // filter.
  int64_t points = 1, window = 1;
  auto grow = [&](int64_t &count, std::optional<unsigned> dim) {
    if (!dim || ShapedType::isDynamic(count))
      return;
    bool known = ShapedType::isStatic(sizes[*dim]);
    count = known ? count * sizes[*dim] : ShapedType::kDynamic;
  };
  for (const Spatial &spatial : c.spatials) {
    grow(points, spatial.at);
    grow(window, spatial.window);
  }
  // What is not known is large.
  if (ShapedType::isDynamic(points) && ShapedType::isDynamic(window))
    return false;
  c.isFilter = ShapedType::isDynamic(window) ||
               (ShapedType::isStatic(points) && window > points);
  SmallVector<unsigned> depth = restOf(c, product.depth);
  auto batch = inOrderOf(c.image, c.isFilter ? depth : c.plain),
       channels = inOrderOf(c.image, c.isFilter ? c.plain : depth),
       lines = inOrderOf(result, restOf(c, c.otherLines)),
       groups = inOrderOf(result, restOf(c, product.batch));
  if (!batch || !channels || !lines || !groups ||
      llvm::any_of(*groups, [&](unsigned dim) {
        return ShapedType::isDynamic(sizes[dim]);
      }))
    return false;
  c.batch = *batch;
  c.channels = *channels;
  c.lines = *lines;
  c.groups = *groups;
  return true;
}

/// Sets `operands`, `groups` and `numbers`: of x the image, then of the one
/// beside it and the result, the memref's dims of each role.
bool Description::groupDims(const Convolution &c) {
  auto joined = [](SmallVector<unsigned> first, ArrayRef<unsigned> second) {
    first.append(second.begin(), second.end());
    return first;
  };
  SmallVector<unsigned> allChannels = joined(c.groups, c.channels),
                        allLines = joined(c.groups, c.lines);
  Groups ofImage, ofOther, ofResult;
  bool isFilter = c.isFilter;
  if (!add(ofImage, c.image, c.batch) || !add(ofImage, c.image, allChannels) ||
      !add(ofOther, c.other, isFilter ? c.batch : allLines) ||
      !add(ofOther, c.other, isFilter ? allLines : c.channels) ||
      !add(ofResult, result, isFilter ? allLines : c.batch) ||
      !add(ofResult, result, isFilter ? c.channels : allLines))
    return false;
  int64_t groupCount = 1;
  for (unsigned dim : c.groups)
    groupCount *= sizes[dim];
  numbers = {isFilter, static_cast<int64_t>(c.spatials.size()), groupCount};
  numbers.append(6, 1);
  numbers.append(3, 0);
  for (auto [i, spatial] : llvm::enumerate(c.spatials)) {
    ofImage.push_back({c.imageDims[i]});
    std::optional<unsigned> inOther = spatial.window, inResult = spatial.at;
    for (auto [view, dim, groups] : {std::tuple(&c.other, inOther, &ofOther),
                                     {&result, inResult, &ofResult}}) {
      groups->emplace_back();
      if (!dim || sizes[*dim] == 1)
        continue;
      int64_t place = view->placeOf(*dim);
      if (place < 0)
        return false;
      groups->back().push_back(place);
    }
    numbers[3 + i] = isFilter ? spatial.dilation : spatial.step;
    numbers[6 + i] = isFilter ? spatial.step : spatial.dilation;
  }
  operands = {c.image, c.other, result};
  groups = {ofImage, ofOther, ofResult};
  return covers(c.image, ofImage, {}) && covers(c.other, ofOther, {}) &&
         covers(result, ofResult, {});
}

/// A library finds as many points as there is room for; the runtime looks where
/// sizes are known then.
bool Description::isWhole(const Convolution &c) const {
  for (auto [i, spatial] : llvm::enumerate(c.spatials)) {
    int64_t at = spatial.at ? sizes[*spatial.at] : 1,
            within = spatial.window ? sizes[*spatial.window] : 1;
    int64_t size = c.image.type.getDimSize(c.imageDims[i]);
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(at) ||
        ShapedType::isDynamic(within))
      continue;
    int64_t reach =
        (at - 1) * spatial.step + (within - 1) * spatial.dilation + 1;
    int64_t step = c.isFilter ? spatial.dilation : spatial.step;
    if (size < reach || size - reach >= step)
      return false;
  }
  return true;
}

bool Description::describeConvolution() {
  if (epilogue.code != 0 || adds)
    return false;
  // The image is read through places, the other operand through dims, perhaps
  // from the last to the first.
  bool leftIsImage =
      !left.map.isProjectedPermutation(/*allowZeroInResults=*/true);
  Convolution c{leftIsImage ? left : right, leftIsImage ? right : left,
                leftIsImage ? product.right.lines : product.left.lines};
  if (!findSpatials(c,
                    leftIsImage ? product.left.lines : product.right.lines) ||
      !findRoles(c) || !groupDims(c) || !isWhole(c))
    return false;
  kind = "convolution";
  int64_t inChannels = 1, outChannels = 1;
  for (unsigned dim : c.channels)
    inChannels *= sizes[dim];
  for (unsigned dim : c.lines)
    outChannels *= sizes[dim];
  channels = std::min(inChannels, outChannels);
  return true;
}

bool Description::isWorthIt(LibraryUse use) const {
  // No library has three products of tf32, and one of f32 takes longer.
  if (product.tensorTerms == 3)
    return false;
  // Other instructions of tensor cores make no difference to the rest.
  bool onTensorCores =
      product.element.getIntOrFloatBitWidth() == 16 || product.tensorTerms == 1;
  if (use == LibraryUse::OnTcgen05 && !onTensorCores)
    return false;
  if (kind == "convolution")
    return channels >= kTileChannels;
  if (product.rows < kTileSide || product.columns < kTileSide)
    return false;
  // The host asks for it by itself, which takes about a launch. Work behind it
  // that is no epilogue is a kernel that reads and writes the result again.
  double results =
      double(product.batches) * double(product.rows) * double(product.columns);
  bool isApart = product.fusion.behind && !epilogue.taken;
  double bytes = result.type.getElementTypeBitWidth() / 8.0;
  if (!isWorthACall(op, 2 * results * double(product.depths), 1 + isApart,
                    isApart ? 2 * results * bytes : 0))
    return false;
  // 16-bit factors that do not come 16 bytes at once are slow in any library.
  int64_t run = 16 / (product.element.getIntOrFloatBitWidth() / 8);
  return product.element.getIntOrFloatBitWidth() > 16 ||
         (product.left.run >= run && product.right.run >= run);
}

std::optional<LibraryPlan> Description::emit(LibraryUse use) {
  const Fusion &fusion = product.fusion;
  if (fusion.start && !matchPattern(fusion.start, m_PosZeroFloat()))
    return std::nullopt;
  if (!product.left.isPlain() || !product.right.isPlain() ||
      left.type.getElementType() != right.type.getElementType())
    return std::nullopt;
  Type element = left.type.getElementType(), out = result.type.getElementType();
  bool known = element.isF64()   ? out.isF64()
               : element.isF32() ? out.isF32()
                                 : out == element || out.isF32();
  if (!known || (!element.isF64() && !element.isF32() && !element.isF16() &&
                 !element.isBF16()))
    return std::nullopt;
  if (!describeProduct() && !describeConvolution())
    return std::nullopt;
  if (use != LibraryUse::Library && !isWorthIt(use))
    return std::nullopt;
  OpBuilder b(op);
  SmallVector<Value> inputs;
  for (const View &view : ArrayRef(operands).drop_back())
    inputs.push_back(view.memref);
  SmallVector<StringRef> steps = epilogue.names();
  ArrayAttr named = steps.empty() ? ArrayAttr() : b.getStrArrayAttr(steps);
  LibraryWish wish = wishOf(b, use);
  LibraryPlan plan;
  plan.takesBehind = epilogue.taken;
  plan.call = spmd::LibraryCallOp::create(
      b, op.getLoc(), Type(), b.getI1Type(), b.getStringAttr(kind), inputs,
      result.memref, ValueRange(), groupsAttr(b, groups),
      b.getDenseI64ArrayAttr(numbers), named, wish.required, wish.tcgen05,
      product.tensorTerms == 1 ? b.getUnitAttr() : UnitAttr());
  remark::passed(op.getLoc(),
                 remark::RemarkOpts::name("LibraryCall").category("kernels"))
      << remark::metric("Kind", kind)
      << remark::metric("Library", kind == "product" ? "cuBLASLt" : "cuDNN");
  return plan;
}

std::optional<LibraryPlan> gpukernels::callLibrary(linalg::GenericOp op,
                                                   const Product &product,
                                                   LibraryUse use) {
  if (std::optional<Epilogue> epilogue = matchEpilogue(op, product))
    if (std::optional<LibraryPlan> plan =
            Description(op, product, epilogue).emit(use))
      return plan;
  return Description(op, product, std::nullopt).emit(use);
}
