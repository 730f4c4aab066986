//===- CommunicationKernels.cpp - Kernels that communication calls --------===//
//
// What the runtime launches to combine and to move elements where ranks have
// devices. Elements are combined as the host does it
// (runtime/lib/Device/Cpu/Combine.cpp): in the order of their parts, 16-bit
// floats in f32 and rounded once, NaN where there is one, -0 below +0, integers
// that wrap around. The order of arguments is in
// shardrt/CommunicationKernels.h.
//
//===----------------------------------------------------------------------===//
#include "CommunicationKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "shardc/Support/IndexBuilder.h"
#include "shardrt/CommunicationKernels.h"

using namespace mlir;
using namespace shardc;
using shardrt::ElementType;
using shardrt::Reduction;

/// The components of an element: two of a complex number that is multiplied,
/// else one. Each a scalar or a vector of them.
using Components = SmallVector<Value, 2>;

namespace {
/// How elements of one type are read, combined and written.
class ElementCode {
public:
  ElementCode(OpBuilder &b, Location loc, ElementType type, Reduction reduction)
      : b(b), loc(loc), reduction(reduction) {
    StringRef name(shardrt::elementTypeName(type));
    isUnsigned = name.starts_with("ui");
    isBoolean = type == ElementType::I1;
    if (type == ElementType::I2 || type == ElementType::UI2)
      bits = 2;
    if (type == ElementType::I4 || type == ElementType::UI4)
      bits = 4;
    isBFloat = type == ElementType::BF16;
    isHalf = type == ElementType::F16;
    isComplex =
        type == ElementType::Complex64 || type == ElementType::Complex128;
    bytes = shardrt::elementBytes(type);
    if (type == ElementType::F64 || type == ElementType::Complex128)
      stored = b.getF64Type();
    else if (type == ElementType::F32 || type == ElementType::Complex64)
      stored = b.getF32Type();
    else if (isHalf)
      stored = b.getF16Type();
    else
      stored = b.getIntegerType(8 * bytes);
  }

  /// Reads `width` elements at `address`; several only where all are one
  /// component.
  Components load(Value address, int64_t width) {
    Components parts;
    for (int64_t i = 0; i < components(); ++i)
      parts.push_back(widen(LLVM::LoadOp::create(
          b, loc, typeOf(width), componentAt(address, i), alignmentOf(width))));
    return parts;
  }
  void store(const Components &parts, Value address, int64_t width) {
    for (auto [i, part] : llvm::enumerate(parts))
      LLVM::StoreOp::create(b, loc, narrow(part), componentAt(address, i),
                            alignmentOf(width));
  }
  /// As after a store and a load.
  Components round(const Components &parts) {
    Components rounded;
    for (Value part : parts)
      rounded.push_back(widen(narrow(part)));
    return rounded;
  }
  Components combine(const Components &a, const Components &x);

private:
  int64_t components() const { return isComplex ? 2 : 1; }
  Type typeOf(int64_t width) {
    return width == 1 ? stored : VectorType::get({width}, stored);
  }
  /// Of one load; vectors take 16 bytes.
  unsigned alignmentOf(int64_t width) {
    return width == 1 ? stored.getIntOrFloatBitWidth() / 8 : 16;
  }
  Value componentAt(Value address, int64_t i) {
    if (i == 0)
      return address;
    return LLVM::GEPOp::create(b, loc, address.getType(), stored, address,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
  }
  /// `scalar`, or vectors of it in the shape of `like`.
  Type shaped(Type scalar, Value like) {
    if (auto vector = dyn_cast<VectorType>(like.getType()))
      return VectorType::get(vector.getShape(), scalar);
    return scalar;
  }
  /// An integer `number` of the type of `like`.
  Value constant(int64_t number, Value like) {
    Type type = like.getType(), element = getElementTypeOrSelf(type);
    TypedAttr attr = b.getIntegerAttr(element, number);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, cast<Attribute>(attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  Value widen(Value x);
  Value narrow(Value x);
  Value combineOne(Value a, Value x);
  Value extreme(Value a, Value x, bool isMax);

  OpBuilder &b;
  Location loc;
  Reduction reduction;
  Type stored;
  int64_t bytes = 0, bits = 0;
  bool isUnsigned = false, isBoolean = false, isBFloat = false, isHalf = false,
       isComplex = false;
};
} // namespace

Value ElementCode::widen(Value x) {
  if (isBoolean)
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x,
                                 constant(0, x));
  if (isHalf)
    return arith::ExtFOp::create(b, loc, shaped(b.getF32Type(), x), x);
  if (!isBFloat)
    return x;
  Value word = arith::ExtUIOp::create(b, loc, shaped(b.getI32Type(), x), x);
  word = arith::ShLIOp::create(b, loc, word, constant(16, word));
  return arith::BitcastOp::create(b, loc, shaped(b.getF32Type(), x), word);
}

Value ElementCode::narrow(Value x) {
  if (isBoolean)
    return arith::ExtUIOp::create(b, loc, shaped(stored, x), x);
  if (isHalf)
    return arith::TruncFOp::create(b, loc, shaped(stored, x), x);
  if (bits > 0) {
    Value low = arith::AndIOp::create(b, loc, x, constant((1 << bits) - 1, x));
    if (isUnsigned)
      return low;
    Value half = constant(1 << (bits - 1), x);
    return arith::SubIOp::create(
        b, loc, arith::XOrIOp::create(b, loc, low, half), half);
  }
  if (!isBFloat)
    return x;
  // To nearest even; NaN stays one.
  Value word = arith::BitcastOp::create(b, loc, shaped(b.getI32Type(), x), x);
  Value high = arith::ShRUIOp::create(b, loc, word, constant(16, word));
  Value odd = arith::AndIOp::create(b, loc, high, constant(1, word));
  Value sum = arith::AddIOp::create(
      b, loc, word, arith::AddIOp::create(b, loc, odd, constant(0x7fff, word)));
  Value rounded = arith::ShRUIOp::create(b, loc, sum, constant(16, word));
  Value quiet = arith::OrIOp::create(b, loc, high, constant(0x40, word));
  Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  Value kept = arith::SelectOp::create(b, loc, isNaN, quiet, rounded);
  return arith::TruncIOp::create(b, loc, shaped(stored, x), kept);
}

Value ElementCode::extreme(Value a, Value x, bool isMax) {
  if (!isa<FloatType>(getElementTypeOrSelf(a.getType()))) {
    if (isUnsigned)
      return isMax ? arith::MaxUIOp::create(b, loc, a, x).getResult()
                   : arith::MinUIOp::create(b, loc, a, x).getResult();
    return isMax ? arith::MaxSIOp::create(b, loc, a, x).getResult()
                 : arith::MinSIOp::create(b, loc, a, x).getResult();
  }
  Type words =
      shaped(b.getIntegerType(
                 getElementTypeOrSelf(a.getType()).getIntOrFloatBitWidth()),
             a);
  Value p = arith::BitcastOp::create(b, loc, words, a),
        q = arith::BitcastOp::create(b, loc, words, x);
  // Equal numbers differ in the sign of zero at most.
  Value both = isMax ? arith::AndIOp::create(b, loc, p, q).getResult()
                     : arith::OrIOp::create(b, loc, p, q).getResult();
  Value same = arith::BitcastOp::create(b, loc, a.getType(), both);
  auto compare = [&](arith::CmpFPredicate predicate, Value l, Value r) {
    return arith::CmpFOp::create(b, loc, predicate, l, r);
  };
  auto select = [&](Value which, Value yes, Value no) {
    return arith::SelectOp::create(b, loc, which, yes, no);
  };
  Value wins = compare(
      isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, a, x);
  Value ordered = select(compare(arith::CmpFPredicate::OEQ, a, x), same,
                         select(wins, a, x));
  Value orOther = select(compare(arith::CmpFPredicate::UNO, x, x), x, ordered);
  return select(compare(arith::CmpFPredicate::UNO, a, a), a, orOther);
}

Value ElementCode::combineOne(Value a, Value x) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(a.getType()));
  Reduction how = reduction;
  if (isBoolean)
    how = how == Reduction::Sum || how == Reduction::Max       ? Reduction::Or
          : how == Reduction::Product || how == Reduction::Min ? Reduction::And
                                                               : how;
  switch (how) {
  case Reduction::None:
    return x;
  case Reduction::Sum:
    return isFloat ? arith::AddFOp::create(b, loc, a, x).getResult()
                   : arith::AddIOp::create(b, loc, a, x).getResult();
  case Reduction::Product:
    return isFloat ? arith::MulFOp::create(b, loc, a, x).getResult()
                   : arith::MulIOp::create(b, loc, a, x).getResult();
  case Reduction::Min:
  case Reduction::Max:
    return extreme(a, x, how == Reduction::Max);
  case Reduction::And:
    return arith::AndIOp::create(b, loc, a, x);
  case Reduction::Or:
    return arith::OrIOp::create(b, loc, a, x);
  case Reduction::Xor:
    return arith::XOrIOp::create(b, loc, a, x);
  }
  llvm_unreachable("all reductions are above");
}

Components ElementCode::combine(const Components &a, const Components &x) {
  if (!isComplex || reduction != Reduction::Product) {
    Components result;
    for (auto [mine, theirs] : llvm::zip_equal(a, x))
      result.push_back(combineOne(mine, theirs));
    return result;
  }
  auto times = [&](int i, int j) {
    return arith::MulFOp::create(b, loc, a[i], x[j]);
  };
  return {arith::SubFOp::create(b, loc, times(0, 0), times(1, 1)),
          arith::AddFOp::create(b, loc, times(0, 1), times(1, 0))};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// A kernel that is being written: pointers first where its arguments say so.
class KernelBody : public IndexBuilder {
public:
  KernelBody(OpBuilder &b, gpu::GPUModuleOp kernels, StringRef name,
             StringRef arguments)
      : IndexBuilder(b, kernels.getLoc()) {
    b.setInsertionPointToEnd(kernels.getBody());
    SmallVector<Type> types;
    for (char kind : arguments)
      types.push_back(kind == 'A'
                          ? Type(LLVM::LLVMPointerType::get(b.getContext()))
                          : b.getI64Type());
    function =
        gpu::GPUFuncOp::create(b, loc, name, b.getFunctionType(types, {}));
    function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                      b.getUnitAttr());
    int32_t threads = shardrt::communicationThreads;
    function.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({threads, 1, 1}));
    b.setInsertionPointToEnd(&function.getBody().front());
    gpu::ReturnOp::create(b, loc);
    b.setInsertionPointToStart(&function.getBody().front());
    Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
    Value inBlock = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    thread = add(mul(toI64(block), number(threads)), toI64(inBlock));
  }

  Value argument(unsigned i) { return function.getArgument(i); }
  Value number(int64_t value) {
    return arith::ConstantIntOp::create(b, loc, value, 64);
  }
  Value toI64(Value index) {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  }
  /// The address `bytes` behind `base`.
  Value at(Value base, Value bytes) {
    return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{bytes});
  }
  /// Number `index` of a list of numbers.
  Value entry(Value list, Value index) {
    return LLVM::LoadOp::create(b, loc, b.getI64Type(),
                                at(list, mul(index, number(8))), 8);
  }
  /// From here on only where `condition` holds.
  void guard(Value condition) {
    auto branch =
        scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  /// Where `condition` holds the one, else the other; no results.
  void either(Value condition, function_ref<void()> one,
              function_ref<void()> other) {
    auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    one();
    b.setInsertionPointToStart(branch.elseBlock());
    other();
  }
  /// `body(i, state)` for i from `begin` to `end`, each given what the last
  /// gave.
  Components loop(Value begin, Value end, const Components &state,
                  function_ref<Components(Value, const Components &)> body) {
    auto made =
        scf::ForOp::create(b, loc, begin, end, number(1), ValueRange(state));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    Components inside(made.getRegionIterArgs().begin(),
                      made.getRegionIterArgs().end());
    Components next = body(made.getInductionVar(), inside);
    if (!state.empty())
      scf::YieldOp::create(b, loc, next);
    return Components(made.getResults().begin(), made.getResults().end());
  }

  gpu::GPUFuncOp function;
  Value thread; ///< among all of the grid
};
} // namespace

static gpu::GPUFuncOp addCombine(gpu::GPUModuleOp kernels, StringRef name,
                                 ElementType type, Reduction reduction) {
  constexpr int64_t addresses = shardrt::combineAddresses;
  OpBuilder b(kernels.getContext());
  KernelBody k(b, kernels, name, "ANNNN" + std::string(addresses, 'A'));
  ElementCode code(b, k.loc, type, reduction);
  Value count = k.argument(1), each = k.argument(2), numParts = k.argument(3),
        stride = k.argument(4);
  auto part = [&](int64_t i) { return k.argument(5 + i); };
  /// Combines `width` elements from `index` on.
  auto fold = [&](Value index, int64_t width) {
    Value offset = k.mul(index, k.number(shardrt::elementBytes(type)));
    Components sum = code.load(k.at(part(0), offset), width);
    for (int64_t i = 1; i + 1 < addresses; ++i) {
      Value isThere = k.lessSigned(k.number(i), numParts);
      auto branch = scf::IfOp::create(b, k.loc, TypeRange(ValueRange(sum)),
                                      isThere, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(
          b, k.loc, code.combine(sum, code.load(k.at(part(i), offset), width)));
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, k.loc, sum);
      sum.assign(branch.getResults().begin(), branch.getResults().end());
    }
    Value others =
        arith::SubIOp::create(b, k.loc, numParts, k.number(addresses - 1));
    Value last = k.at(part(addresses - 1), offset);
    sum = k.loop(k.number(0), others, sum,
                 [&](Value i, const Components &inside) {
                   return code.combine(
                       inside, code.load(k.at(last, k.mul(i, stride)), width));
                 });
    code.store(sum, k.at(k.argument(0), offset), width);
  };
  Value begin = k.mul(k.thread, each);
  k.guard(k.lessSigned(begin, count));
  Value end = arith::MinSIOp::create(b, k.loc, k.add(begin, each), count);
  auto oneByOne = [&] {
    k.loop(begin, end, {}, [&](Value index, const Components &) {
      fold(index, 1);
      return Components();
    });
  };
  bool isComplex =
      type == ElementType::Complex64 || type == ElementType::Complex128;
  int64_t width = isComplex ? 1 : shardrt::combineWidth(type);
  if (width == 1) {
    oneByOne();
    return k.function;
  }
  Value isWhole = arith::CmpIOp::create(
      b, k.loc, arith::CmpIPredicate::eq,
      arith::SubIOp::create(b, k.loc, end, begin), k.number(width));
  k.either(isWhole, [&] { fold(begin, width); }, oneByOne);
  return k.function;
}

/// Where the element, or word, of a thread is: in which block, list entry and
/// place of a row.
static std::tuple<Value, Value, Value> takeApart(KernelBody &k, Value perRow,
                                                 Value entries) {
  Value inRow = k.rem(k.thread, perRow), rest = k.div(k.thread, perRow);
  return {k.div(rest, entries), k.rem(rest, entries), inRow};
}

static gpu::GPUFuncOp addRows(gpu::GPUModuleOp kernels, StringRef name,
                              int64_t bytes) {
  OpBuilder b(kernels.getContext());
  KernelBody k(b, kernels, name, "AAANNNNN");
  k.guard(k.lessSigned(k.thread, k.argument(3)));
  Value words = k.argument(4);
  auto [block, pair, word] = takeApart(k, words, k.argument(5));
  Value first = k.mul(pair, k.number(2));
  auto place = [&](Value base, Value row, Value between) {
    Value index = k.add(k.mul(block, between), k.add(k.mul(row, words), word));
    return k.at(base, k.mul(index, k.number(bytes)));
  };
  Value from = k.entry(k.argument(2), first),
        to = k.entry(k.argument(2), k.add(first, k.number(1)));
  Type type = k.b.getIntegerType(8 * bytes);
  if (bytes == 16)
    type = VectorType::get({4}, k.b.getI32Type());
  Value moved = LLVM::LoadOp::create(
      k.b, k.loc, type, place(k.argument(1), from, k.argument(7)), bytes);
  LLVM::StoreOp::create(k.b, k.loc, moved,
                        place(k.argument(0), to, k.argument(6)), bytes);
  return k.function;
}

static gpu::GPUFuncOp addUpdate(gpu::GPUModuleOp kernels, StringRef name,
                                ElementType type, Reduction reduction) {
  OpBuilder b(kernels.getContext());
  KernelBody k(b, kernels, name, "AAANNNNN");
  ElementCode code(k.b, k.loc, type, reduction);
  k.guard(k.lessSigned(k.thread, k.argument(3)));
  Value perRow = k.argument(4);
  auto [block, segment, element] = takeApart(k, perRow, k.argument(5));
  auto place = [&, block = block, element = element](Value base, Value row,
                                                     Value between) {
    Value index =
        k.add(k.mul(block, between), k.add(k.mul(row, perRow), element));
    return k.at(base, k.mul(index, k.number(shardrt::elementBytes(type))));
  };
  Value first = k.mul(segment, k.number(3));
  Value row = k.entry(k.argument(2), first),
        begin = k.entry(k.argument(2), k.add(first, k.number(1)));
  Value end = k.entry(k.argument(2), k.add(first, k.number(2)));
  Value target = place(k.argument(0), row, k.argument(6));
  Components sum = k.loop(
      begin, end, code.load(target, 1), [&](Value i, const Components &inside) {
        return code.round(code.combine(
            inside, code.load(place(k.argument(1), i, k.argument(7)), 1)));
      });
  code.store(sum, target, 1);
  return k.function;
}

SmallVector<gpu::GPUFuncOp>
shardc::addCommunicationKernels(gpu::GPUModuleOp kernels,
                                const shardrt::SiteTable &table) {
  SmallVector<gpu::GPUFuncOp> made;
  auto once = [&](const std::string &name, auto make) {
    if (!kernels.lookupSymbol(name))
      made.push_back(make(name));
  };
  for (const shardrt::Site &site : table.sites) {
    using shardrt::SiteKind;
    bool isRows =
        site.kind == SiteKind::GatherRows || site.kind == SiteKind::ScatterRows;
    if (isRows)
      for (int64_t bytes : {shardrt::elementBytes(site.type), int64_t(16)})
        once(shardrt::rowsKernelName(bytes),
             [&](StringRef name) { return addRows(kernels, name, bytes); });
    if (site.kind == SiteKind::ScatterRows && site.reduction != Reduction::None)
      once(shardrt::updateKernelName(site.type, site.reduction),
           [&](StringRef name) {
             return addUpdate(kernels, name, site.type, site.reduction);
           });
    if (site.kind == SiteKind::AllReduce ||
        site.kind == SiteKind::ReduceScatter)
      once(shardrt::combineKernelName(site.type, site.reduction),
           [&](StringRef name) {
             return addCombine(kernels, name, site.type, site.reduction);
           });
  }
  return made;
}
