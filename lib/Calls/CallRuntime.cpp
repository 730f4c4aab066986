//===- CallRuntime.cpp - Sites and lookups to runtime calls ---------------===//
//
// @main on memrefs gets the runtime's context as its first argument and a
// wrapper with the artifact's C ABI: shardc_main(ctx, inputs, outputs).
//
//===----------------------------------------------------------------------===//
#include "CallLines.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "shardc/Analysis/SiteTables.h"
#include "shardc/Calls/Passes.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Support/DenseBuffers.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include "shardrt/Formulas.h"
#include "shardrt/Sites.h"

namespace shardc {
#define GEN_PASS_DEF_CALLRUNTIMEPASS
#include "shardc/Calls/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// The table of `op` by rank, as a constant; shared between equal tables.
static memref::GlobalOp
tableByRank(ModuleOp module, LookupOp op,
            llvm::DenseMap<Attribute, memref::GlobalOp> &known) {
  MeshAttr mesh = lookupMesh(op, op.getMeshAttr());
  SmallVector<int64_t> axes;
  for (Attribute axis : op.getAxes())
    axes.push_back(mesh.getAxisIndex(cast<StringAttr>(axis).getValue()));
  SmallVector<int64_t> values;
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
    values.push_back(
        op.getTable()[coordinateAlong(mesh.getAxisSizes(), axes, rank)]);
  OpBuilder builder(module.getBodyRegion());
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    builder.getI64Type());
  auto data = DenseIntElementsAttr::get(type, ArrayRef<int64_t>(values));
  memref::GlobalOp &global = known[data];
  if (!global)
    global = memref::GlobalOp::create(
        builder, op.getLoc(), ("__shardc_table_" + Twine(known.size())).str(),
        builder.getStringAttr("private"),
        MemRefType::get(type.getShape(), type.getElementType()), data,
        /*constant=*/true, IntegerAttr());
  return global;
}

/// A formula of the numbers of `op`, less `least`, the least of them: sizes of
/// shards side by side. None where they are too large for that.
static Formula formulaOfTable(LookupOp op, MeshAttr mesh, int64_t &least) {
  least = *llvm::min_element(op.getTable());
  std::vector<int64_t> indices = {0}, axes;
  for (int64_t number : op.getTable()) {
    int64_t above = 0, &next = indices.emplace_back();
    if (__builtin_sub_overflow(number, least, &above) ||
        __builtin_add_overflow(indices.end()[-2], above, &next))
      return {};
  }
  for (auto axis : op.getAxes().getAsRange<StringAttr>())
    axes.push_back(mesh.getAxisIndex(axis));
  Formula bounds = Formula::fixed(std::move(indices));
  return bounds ? Formula::size(Formula::shards(bounds, std::move(axes)))
                : Formula();
}

/// Gives lookups in tables formulas where the number of ranks is open: what is
/// said rank by rank would be of one binding, though it differs along other
/// axes alone.
static LogicalResult boundLookups(ModuleOp module) {
  SmallVector<LookupOp> lookups;
  module.walk([&](LookupOp op) {
    MeshAttr mesh = lookupMesh(op, op.getMeshAttr());
    if (!op.getFormulaAttr() && mesh && !mesh.getSymbolicAxes().empty())
      lookups.push_back(op);
  });
  for (LookupOp op : lookups) {
    MeshAttr mesh = lookupMesh(op, op.getMeshAttr());
    int64_t least = 0;
    Formula formula = formulaOfTable(op, mesh, least);
    bool isKnown =
        llvm::none_of(op.getAxes().getAsRange<StringAttr>(), [&](auto axis) {
          return mesh.isSymbolic(mesh.getAxisIndex(axis));
        });
    if (!isKnown || !formula)
      return emitUnsupported(op)
             << "'" << op->getName() << "' at " << userLocation(op->getLoc())
             << ": the number of ranks along its axes is part of the program; "
                "leave them out of --symbolic-mesh";
    OpBuilder builder(op);
    Location loc = op.getLoc();
    SmallVector<int64_t> above;
    for (int64_t number : op.getTable())
      above.push_back(number - least);
    Value number = LookupOp::create(
        builder, loc, builder.getIndexType(),
        builder.getDenseI64ArrayAttr(above), op.getAxesAttr(), op.getMeshAttr(),
        FormulaAttr::get(module.getContext(), formula));
    if (least != 0)
      number = arith::AddIOp::create(
          builder, loc, number,
          arith::ConstantIndexOp::create(builder, loc, least));
    op.replaceAllUsesWith(number);
    op.erase();
  }
  return success();
}

/// What of sites, arguments and results follows from what is bound.
static shardrt::Formulas collectFormulas(ModuleOp module,
                                         const shardrt::SiteTable &table) {
  shardrt::Formulas formulas;
  for (auto [number, site] : llvm::enumerate(table.sites))
    for (bool isRow : {false, true})
      for (auto [i, dim] :
           llvm::enumerate(isRow ? site.rows.dims : site.exchange.dims))
        for (bool isNeeded : {false, true})
          if (const Formula &formula =
                  isNeeded ? dim.neededFormula : dim.ownedFormula)
            formulas.sides.push_back({static_cast<int64_t>(number), isRow,
                                      static_cast<int64_t>(i), isNeeded,
                                      formulas.list.add(formula)});
  int64_t place = 0;
  for (ArrayAttr values : {contract::EntryInputs::get(module),
                           contract::EntryOutputs::get(module)})
    for (Attribute attr : values) {
      auto attrs = cast<DictionaryAttr>(attr);
      auto sharding = contract::Sharding::in(attrs);
      if (!sharding)
        continue;
      MeshAttr mesh = lookupMesh(module, sharding.getMesh());
      auto type = cast<ShapedType>(contract::GlobalType::in(attrs).getValue());
      for (auto [dim, size] : llvm::zip(sharding.getDims(), type.getShape())) {
        int64_t here = place++;
        Boundaries bounds = dim.getBoundaries(mesh, size);
        const Formula &formula = bounds.formula();
        if (!formula)
          continue;
        formulas.borders.push_back({here, formulas.list.add(formula)});
        const std::vector<int64_t> &numbers = formula.numbers();
        // The sizes of one argument may be the boundaries of others too.
        if (formula.kind() == FormulaKind::Given &&
            llvm::none_of(formulas.givens, [&](const shardrt::Given &given) {
              return given.argument == numbers[0] && given.dim == numbers[1];
            })) {
          std::vector<int64_t> factors = formula.factors();
          if (factors.empty())
            factors = {bounds.numShards()};
          formulas.givens.push_back(
              {numbers[0], numbers[1], numbers[2], std::move(factors)});
        }
      }
    }
  for (auto op : module.getOps<MeshOp>()) {
    MeshAttr mesh = op.getMesh();
    formulas.symbolicAxes.assign(mesh.getSymbolicAxes().begin(),
                                 mesh.getSymbolicAxes().end());
    formulas.extents = mesh.getExtents().getExtents();
  }
  if (ArrayAttr plan = contract::ArenaPlan::get(module))
    for (auto buffer : plan.getAsRange<ArenaBufferAttr>()) {
      shardrt::BoundBuffer &bound = formulas.buffers.emplace_back();
      bound.bytes = buffer.getBytes();
      if (ArrayAttr sizes = buffer.getSizes())
        for (auto size : sizes.getAsRange<FormulaAttr>())
          bound.sizes.push_back(formulas.list.add(size.getFormula()));
      if (DenseI64ArrayAttr below = buffer.getBelow())
        bound.below.assign(below.asArrayRef().begin(),
                           below.asArrayRef().end());
    }
  return formulas;
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

static LogicalResult lowerRunSite(RunSiteOp op, Value context,
                                  EntryPoints &entries,
                                  const shardrt::SiteTable &table) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  int64_t number = op.getSite();
  Value init = op.getInits().front();
  for (Value buffer : {op.getInputs().front(), init})
    if (!isDenseBuffer(cast<MemRefType>(buffer.getType())))
      return op.emitOpError() << "has a buffer of type " << buffer.getType()
                              << ", which is not dense";
  Value site = arith::ConstantIntOp::create(builder, loc, number, 64);
  Value source = pointerTo(builder, loc, op.getInputs().front());
  Value target = pointerTo(builder, loc, init);
  switch (table.sites[number].kind) {
  case shardrt::SiteKind::Exchange: {
    Value fill = op.getInputs().size() > 1
                     ? pointerTo(builder, loc, op.getInputs()[1])
                     : LLVM::ZeroOp::create(
                           builder, loc,
                           LLVM::LLVMPointerType::get(builder.getContext()))
                           .getResult();
    if (op.getToken())
      entries.call(builder, loc, "shardrt_exchange_wait",
                   {context, op.getToken(), target, fill});
    else
      entries.call(builder, loc, "shardrt_exchange",
                   {context, site, source, target, fill});
    break;
  }
  case shardrt::SiteKind::AllReduce: {
    auto type = cast<MemRefType>(init.getType());
    Value count = arith::ConstantIndexOp::create(builder, loc, 1);
    for (int64_t i = 0; i < type.getRank(); ++i)
      count = arith::MulIOp::create(
          builder, loc, count, memref::DimOp::create(builder, loc, init, i));
    count =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), count);
    entries.call(builder, loc, "shardrt_all_reduce",
                 {context, site, source, target, count});
    break;
  }
  case shardrt::SiteKind::ReduceScatter:
    entries.call(builder, loc, "shardrt_reduce_scatter",
                 {context, site, source, target});
    break;
  case shardrt::SiteKind::GatherRows:
  case shardrt::SiteKind::ScatterRows: {
    if (!op.getToken())
      return op.emitOpError() << "is about rows, but has no plan of them";
    bool isGather = table.sites[number].kind == shardrt::SiteKind::GatherRows;
    entries.call(builder, loc,
                 isGather ? "shardrt_gather_rows" : "shardrt_scatter_rows",
                 {context, site, op.getToken(), source, target});
    break;
  }
  case shardrt::SiteKind::RowPlan:
    return op.emitOpError() << "names a plan of rows, which is begun alone";
  }
  op.erase();
  return success();
}

static void lowerReleaseSite(ReleaseSiteOp op, Value context,
                             EntryPoints &entries) {
  OpBuilder builder(op);
  Value site =
      arith::ConstantIntOp::create(builder, op.getLoc(), op.getSite(), 64);
  entries.call(builder, op.getLoc(), "shardrt_exchange_release",
               {context, site});
  op.erase();
}

/// Writes down what shardrt_call_host reads: who calls what, and the buffers.
static LogicalResult lowerRunHost(RunHostOp op, Value context,
                                  EntryPoints &entries) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type i64 = builder.getI64Type();
  auto word = [&](int64_t number) -> Value {
    return arith::ConstantIntOp::create(builder, loc, number, 64);
  };
  MeshAttr mesh = lookupMesh(op, op.getMeshAttr());
  int64_t count = 1;
  for (Attribute axis : op.getAxes())
    count *= mesh.getAxisSize(cast<StringAttr>(axis));
  SmallVector<int64_t> callers(count, 0);
  callers.front() = 1;
  Value calls = LookupOp::create(builder, loc, builder.getIndexType(),
                                 builder.getDenseI64ArrayAttr(callers),
                                 op.getAxesAttr(), op.getMeshAttr());
  SmallVector<Value> words{arith::IndexCastOp::create(builder, loc, i64, calls),
                           word(op.getIndex()), word(op.getOrdered()),
                           word(op.getInputs().size()),
                           word(op.getInits().size())};
  for (auto [buffer, attr] :
       llvm::zip_equal(op->getOperands(), op.getTypes())) {
    auto memref = cast<MemRefType>(buffer.getType());
    auto whole = cast<RankedTensorType>(cast<TypeAttr>(attr).getValue());
    std::optional<shardrt::ElementType> element =
        elementTypeOf(whole.getElementType());
    if (!element || !isDenseBuffer(memref))
      return op.emitOpError()
             << "has a buffer of type " << memref
             << ", expected a dense one of elements that the runtime knows";
    words.push_back(LLVM::PtrToIntOp::create(builder, loc, i64,
                                             pointerTo(builder, loc, buffer)));
    words.push_back(word(static_cast<int64_t>(*element)));
    words.push_back(word(whole.getRank()));
    for (int64_t dim = 0; dim < whole.getRank(); ++dim) {
      Value size = memref::DimOp::create(builder, loc, buffer, dim);
      words.push_back(arith::IndexCastOp::create(builder, loc, i64, size));
    }
  }
  Value area = storeWords(builder, op, words);
  Value location = textConstant(builder, loc, op->getParentOfType<ModuleOp>(),
                                userLocation(loc));
  entries.call(builder, loc, "shardrt_call_host", {context, area, location});
  op.erase();
  return success();
}

static LogicalResult lowerStartSite(StartSiteOp op, Value context,
                                    EntryPoints &entries,
                                    const shardrt::SiteTable &table) {
  auto type = cast<MemRefType>(op.getInput().getType());
  if (!isDenseBuffer(type))
    return op.emitOpError()
           << "has a buffer of type " << type << ", which is not dense";
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value site = arith::ConstantIntOp::create(builder, loc, op.getSite(), 64);
  Value source = pointerTo(builder, loc, op.getInput());
  bool isPlan = table.sites[op.getSite()].kind == shardrt::SiteKind::RowPlan;
  op.getToken().replaceAllUsesWith(entries.call(
      builder, loc, isPlan ? "shardrt_plan_rows" : "shardrt_exchange_start",
      {context, site, source}));
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// The C ABI
//===----------------------------------------------------------------------===//

/// Does `attrs` say how the dims of `type` are cut, over a mesh that is there?
static bool isCutAs(ModuleOp module, MemRefType type, DictionaryAttr attrs) {
  ShardingAttr sharding = contract::Sharding::in(attrs);
  TypeAttr global = contract::GlobalType::in(attrs);
  auto shape = global ? dyn_cast<ShapedType>(global.getValue()) : ShapedType();
  return sharding && shape && shape.hasRank() &&
         shape.getRank() == type.getRank() &&
         static_cast<int64_t>(sharding.getDims().size()) == type.getRank() &&
         isa_and_nonnull<MeshOp>(
             SymbolTable::lookupSymbolIn(module, sharding.getMesh()));
}

/// Each rank's size of a dim, from the sharding in `attrs`.
static Value sizeOf(OpBuilder &builder, Location loc, ModuleOp module,
                    MemRefType type, int64_t dim, DictionaryAttr attrs) {
  Type i64 = builder.getI64Type();
  if (!type.isDynamicDim(dim))
    return LLVM::ConstantOp::create(
        builder, loc, i64, builder.getI64IntegerAttr(type.getDimSize(dim)));
  auto sharding = contract::Sharding::in(attrs);
  auto global = cast<ShapedType>(contract::GlobalType::in(attrs).getValue());
  MeshAttr mesh =
      cast<MeshOp>(SymbolTable::lookupSymbolIn(module, sharding.getMesh()))
          .getMesh();
  Value size = lookUpSize(builder, loc, mesh, sharding.getMesh(),
                          sharding.getDims()[dim], global.getDimSize(dim));
  return arith::IndexCastOp::create(builder, loc, i64, size);
}

/// A buffer whose size has no bound comes from the rank's pool and goes back to
/// it.
static void usePool(func::FuncOp function, Value context,
                    EntryPoints &entries) {
  function.walk([&](Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
      entries.call(builder, loc, "shardrt_free",
                   {context, pointerTo(builder, loc, dealloc.getMemref())});
      return op->erase();
    }
    auto alloc = dyn_cast<memref::AllocOp>(op);
    if (!alloc)
      return;
    MemRefType type = alloc.getType();
    SmallVector<Value> sizes;
    Value bytes = arith::ConstantIntOp::create(
        builder, loc, elementBytes(type.getElementType()), 64);
    unsigned next = 0;
    for (int64_t size : type.getShape()) {
      if (ShapedType::isDynamic(size))
        sizes.push_back(
            arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                       alloc.getDynamicSizes()[next++]));
      else
        sizes.push_back(arith::ConstantIntOp::create(builder, loc, size, 64));
      bytes = arith::MulIOp::create(builder, loc, bytes, sizes.back());
    }
    Value origin = textConstant(builder, loc, op->getParentOfType<ModuleOp>(),
                                originOf(loc));
    Value pointer =
        entries.call(builder, loc, "shardrt_alloc", {context, bytes, origin});
    alloc.replaceAllUsesWith(memrefAt(builder, loc, type, pointer, sizes));
    alloc.erase();
  });
}

/// Wraps `@main(ctx, inputs..., outputs..., arena)` in the artifact's entry.
static LogicalResult createEntry(ModuleOp module, func::FuncOp main,
                                 EntryPoints &entries) {
  MLIRContext *context = module.getContext();
  OpBuilder builder(context);
  Location loc = main.getLoc();
  Type ptr = LLVM::LLVMPointerType::get(context);
  builder.setInsertionPointToEnd(module.getBody());
  auto entry = func::FuncOp::create(
      builder, loc, "shardc_main",
      builder.getFunctionType({ptr, ptr, ptr}, builder.getI32Type()));
  Block *block = entry.addEntryBlock();
  builder.setInsertionPointToStart(block);

  ArrayAttr attrsOf = contract::EntryInputs::get(module);
  ArrayAttr resultAttrsOf = contract::EntryOutputs::get(module);
  SmallVector<Value> arguments{block->getArgument(0)};
  auto load = [&](Value array, int64_t index) -> Value {
    Value slot = LLVM::GEPOp::create(
        builder, loc, ptr, ptr, array,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    auto pointer = LLVM::LoadOp::create(builder, loc, ptr, slot);
    // No step writes these tables, so whoever needs one may read it again.
    pointer.setInvariant(true);
    return pointer;
  };
  ArrayRef<Type> types = main.getArgumentTypes().drop_front();
  int64_t numInputs = attrsOf.size(), numOutputs = resultAttrsOf.size();
  for (auto [i, type] : llvm::enumerate(types)) {
    int64_t index = i;
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref)
      return main.emitError() << "argument " << index << " of the entry is "
                              << type << ", expected a memref";
    if (index >= numInputs + numOutputs) {
      // The arena.
      if (index > numInputs + numOutputs || memref.getRank() != 1 ||
          !memref.isDynamicDim(0) || !memref.getElementType().isInteger(8))
        return main.emitError()
               << "argument " << index << " of the entry is " << memref
               << ", expected no more than one 'memref<?xi8>', the arena, "
                  "behind the "
               << numInputs << " inputs and " << numOutputs
               << " outputs that the module's attributes name";
      IntegerAttr bytes = contract::ArenaBytes::get(module);
      Value size;
      if (ArrayAttr plan = contract::ArenaPlan::get(module))
        size = arith::IndexCastOp::create(
            builder, loc, builder.getI64Type(),
            ArenaPlaceOp::create(builder, loc, builder.getIndexType(),
                                 plan.size()));
      else
        size = LLVM::ConstantOp::create(
            builder, loc, builder.getI64Type(),
            builder.getI64IntegerAttr(bytes ? bytes.getInt() : 0));
      Value arena = entries.call(builder, loc, "shardrt_arena",
                                 {block->getArgument(0), size});
      arguments.push_back(memrefAt(builder, loc, memref, arena, {size}));
      continue;
    }
    bool isInput = index < numInputs;
    auto attrs = cast<DictionaryAttr>(
        isInput ? attrsOf[index] : resultAttrsOf[index - numInputs]);
    if (!memref.hasStaticShape() && !isCutAs(module, memref, attrs))
      return main.emitError()
             << "argument " << index << " of the entry is " << memref
             << ", but the module's attributes do not say how its dims are cut";
    Value pointer = load(block->getArgument(isInput ? 1 : 2),
                         isInput ? index : index - numInputs);
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < memref.getRank(); ++dim)
      sizes.push_back(sizeOf(builder, loc, module, memref, dim, attrs));
    arguments.push_back(memrefAt(builder, loc, memref, pointer, sizes));
  }
  auto call = func::CallOp::create(builder, loc, main, arguments);
  func::ReturnOp::create(builder, loc, call.getResults());
  return success();
}

/// What exchanges receive is where the runtime says: in their buffers, or
/// in the arguments' buffers.
static LogicalResult placeReceived(func::FuncOp step, Value context,
                                   EntryPoints &entries) {
  SmallVector<ReceivedOp> all;
  step.walk([&](ReceivedOp op) { all.push_back(op); });
  for (ReceivedOp op : all) {
    auto site = llvm::find_if(op->getUsers(), [&](Operation *user) {
      auto run = dyn_cast<RunSiteOp>(user);
      return run && llvm::is_contained(run.getInits(), op.getResult());
    });
    if (site == op->user_end() || !argumentOf(cast<RunSiteOp>(*site)))
      return op.emitOpError()
             << "is written by no site that reads an argument; run "
                "--spmd-plan-arena first";
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value argument = cast<RunSiteOp>(*site).getInputs().front(),
          here = pointerTo(builder, loc, argument),
          there = pointerTo(builder, loc, op.getBuffer()),
          number = arith::ConstantIntOp::create(builder, loc, op.getSite(), 64);
    Value place = entries.call(builder, loc, "shardrt_exchange_place",
                               {context, number, here, there});
    Value stays = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                                       place, here);
    Value same = memref::CastOp::create(builder, loc, op.getType(), argument);
    op.replaceAllUsesWith(
        arith::SelectOp::create(builder, loc, stays, same, op.getBuffer())
            .getResult());
    op.erase();
  }
  return success();
}

/// Puts what the runtime says, an i64 or an element of a table, in the place of
/// `op`.
static void replaceByIndex(OpBuilder &builder, Operation *op, Value number) {
  Value index = arith::IndexCastOp::create(builder, op->getLoc(),
                                           builder.getIndexType(), number);
  op->replaceAllUsesWith(ValueRange(index));
  op->erase();
}

/// Numbers that differ by rank: formulas, which the runtime evaluates once, and
/// tables by rank.
static void lowerLookups(ModuleOp module, EntryPoints &entries,
                         shardrt::Formulas &formulas) {
  llvm::DenseMap<Attribute, int64_t> numbers;
  llvm::DenseMap<Attribute, memref::GlobalOp> tables;
  SmallVector<LookupOp> lookups;
  module.walk([&](LookupOp op) { lookups.push_back(op); });
  llvm::DenseMap<Operation *, Value> ranks;
  for (LookupOp op : lookups) {
    auto function = op->getParentOfType<func::FuncOp>();
    OpBuilder builder(module.getContext());
    if (FormulaAttr formula = op.getFormulaAttr()) {
      auto [number, isNew] =
          numbers.try_emplace(formula, formulas.lookups.size());
      if (isNew)
        formulas.lookups.push_back(formulas.list.add(formula.getFormula()));
      builder.setInsertionPoint(op);
      Value index = arith::ConstantIntOp::create(builder, op.getLoc(),
                                                 number->second, 64);
      Value entry = entries.call(builder, op.getLoc(), "shardrt_number",
                                 {function.getArgument(0), index});
      replaceByIndex(builder, op, entry);
      continue;
    }
    Value &rank = ranks[function];
    if (!rank) {
      builder.setInsertionPointToStart(&function.getBody().front());
      rank = entries.call(builder, function.getLoc(), "shardrt_rank",
                          function.getArgument(0));
      rank = arith::IndexCastOp::create(builder, function.getLoc(),
                                        builder.getIndexType(), rank);
    }
    memref::GlobalOp global = tableByRank(module, op, tables);
    builder.setInsertionPoint(op);
    Value data = memref::GetGlobalOp::create(
        builder, op.getLoc(), global.getType(), global.getName());
    Value entry = memref::LoadOp::create(builder, op.getLoc(), data, rank);
    replaceByIndex(builder, op, entry);
  }
}

/// The places of the arena, whose numbers follow those of the lookups.
static void lowerArenaPlaces(ModuleOp module, EntryPoints &entries,
                             const shardrt::Formulas &formulas) {
  SmallVector<ArenaPlaceOp> places;
  module.walk([&](ArenaPlaceOp op) { places.push_back(op); });
  for (ArenaPlaceOp op : places) {
    OpBuilder builder(op);
    Value index = arith::ConstantIntOp::create(
        builder, op.getLoc(),
        static_cast<int64_t>(formulas.lookups.size()) + op.getNumber(), 64);
    Value offset = entries.call(
        builder, op.getLoc(), "shardrt_number",
        {op->getParentOfType<func::FuncOp>().getArgument(0), index});
    replaceByIndex(builder, op, offset);
  }
}

namespace {
struct CallRuntimePass final
    : shardc::impl::CallRuntimePassBase<CallRuntimePass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || !hasSites(module) || !contract::EntryInputs::has(module) ||
        !contract::EntryOutputs::has(module)) {
      module.emitError() << "has no @main with numbered sites; run "
                            "--spmd-lower-communication first";
      return signalPassFailure();
    }
    FailureOr<shardrt::SiteTable> sites = readSites(module);
    if (failed(sites))
      return signalPassFailure();
    const shardrt::SiteTable &table = *sites;

    // The context comes first, the status comes back.
    Type ptr = LLVM::LLVMPointerType::get(context),
         i32 = IntegerType::get(context, 32);
    if (failed(main.insertArgument(0, ptr, {}, main.getLoc())))
      return signalPassFailure();
    main.setType(FunctionType::get(context, main.getArgumentTypes(), i32));
    main.setSymName("shardc_step");
    main.setPrivate();
    main->setAttr("llvm.linkage",
                  LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
    Value contextValue = main.getArgument(0);
    main.walk([&](func::ReturnOp op) {
      OpBuilder builder(op);
      Value zero = arith::ConstantIntOp::create(builder, op.getLoc(), 0, 32);
      op->setOperands(zero);
    });

    EntryPoints entries(module);
    if (failed(createEntry(module, main, entries)))
      return signalPassFailure();

    if (failed(placeReceived(main, contextValue, entries)))
      return signalPassFailure();
    lowerTransforms(main, contextValue, threads, entries);
    WalkResult walk = main.walk([&](Operation *op) -> WalkResult {
      if (auto site = dyn_cast<RunSiteOp>(op))
        return lowerRunSite(site, contextValue, entries, table);
      if (auto start = dyn_cast<StartSiteOp>(op))
        return lowerStartSite(start, contextValue, entries, table);
      if (auto release = dyn_cast<ReleaseSiteOp>(op))
        lowerReleaseSite(release, contextValue, entries);
      else if (auto call = dyn_cast<RunHostOp>(op))
        return lowerRunHost(call, contextValue, entries);
      else
        return lowerAlgorithm(op, contextValue, threads, entries);
      return success();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();

    usePool(main, contextValue, entries);

    if (failed(boundLookups(module)))
      return signalPassFailure();
    shardrt::Formulas formulas = collectFormulas(module, table);
    lowerLookups(module, entries, formulas);
    lowerArenaPlaces(module, entries, formulas);
    contract::ArenaPlan::remove(module);
    if (!formulas.empty()) {
      OpBuilder builder(module.getBodyRegion());
      exportWords(builder, module.getLoc(), "shardc_formulas",
                  shardrt::encodeFormulas(formulas));
    }
    for (auto mesh : llvm::make_early_inc_range(module.getOps<MeshOp>()))
      mesh.erase();
    contract::LocalView::remove(main);
    main.removeArgAttrsAttr();
  }
};
} // namespace
