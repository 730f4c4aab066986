//===- RuntimeCalls.cpp - What lowerings to runtime calls share -----------===//
#include "RuntimeCalls.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/Strides.h"
#include "shardc/Support/UserLocation.h"

using namespace mlir;
using namespace shardc;

namespace {
enum class Kind { Void, I32, I64, Ptr };
} // namespace

static Type typeOf(OpBuilder &builder, Kind kind) {
  switch (kind) {
  case Kind::Void:
    return {};
  case Kind::I32:
    return builder.getI32Type();
  case Kind::I64:
    return builder.getI64Type();
  case Kind::Ptr:
    return LLVM::LLVMPointerType::get(builder.getContext());
  }
  llvm_unreachable("all kinds are listed");
}

Value EntryPoints::call(OpBuilder &at, Location loc, StringRef name,
                        ValueRange arguments) {
  func::FuncOp callee = declare(name);
  auto call = func::CallOp::create(at, loc, callee, arguments);
  return call.getNumResults() ? call.getResult(0) : Value();
}

func::FuncOp EntryPoints::declare(StringRef name) {
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  SmallVector<Kind> kinds;
#define SHARDRT_ENTRY_POINT(NAME, ...)                                         \
  if (name == #NAME)                                                           \
    kinds = listOf(__VA_ARGS__);
  using enum Kind;
  auto listOf = [](auto... list) { return SmallVector<Kind>{list...}; };
#include "shardrt/EntryPoints.def"
  assert(!kinds.empty() && "not an entry point");
  SmallVector<Type> inputs, results;
  for (Kind kind : ArrayRef(kinds).drop_front())
    inputs.push_back(typeOf(builder, kind));
  if (kinds.front() != Kind::Void)
    results.push_back(typeOf(builder, kinds.front()));
  builder.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(
      builder, module.getLoc(), name, builder.getFunctionType(inputs, results));
  function.setPrivate();
  // Says the same for the whole step, so that LLVM asks once for what several
  // kernels need, and keeps what it knows of memory.
  if (name == "shardrt_number") {
    function->setAttr("llvm.readnone", builder.getUnitAttr());
    function->setAttr("passthrough",
                      builder.getStrArrayAttr({"nounwind", "willreturn"}));
  }
  return function;
}

Value shardc::pointerTo(OpBuilder &builder, Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  Value address =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), base);
  auto [strides, offset] = stridesAndOffset(type);
  if (offset != 0) {
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, memref);
    Value size = arith::ConstantIntOp::create(
        builder, loc, elementBytes(type.getElementType()), 64);
    Value elements = arith::IndexCastOp::create(
        builder, loc, builder.getI64Type(), metadata.getOffset());
    address = arith::AddIOp::create(
        builder, loc, address,
        arith::MulIOp::create(builder, loc, elements, size));
  }
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), address);
}

std::string shardc::originOf(Location loc) {
  auto [name, place] = namedOp(loc);
  std::string origin = userLocation(place);
  if (origin == "unknown")
    origin.clear();
  name = spmd::withoutDialect(name);
  return name.empty()     ? origin
         : origin.empty() ? name.str()
                          : (name + " at " + origin).str();
}

Value shardc::textConstant(OpBuilder &builder, Location loc, ModuleOp module,
                           StringRef text) {
  std::string name =
      "__shardc_text_" +
      std::to_string(llvm::range_size(module.getOps<LLVM::GlobalOp>()));
  std::string value = (text + Twine('\0')).str();
  OpBuilder atStart(module.getBodyRegion());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), value.size());
  auto global = LLVM::GlobalOp::create(atStart, loc, type, /*isConstant=*/true,
                                       LLVM::Linkage::Internal, name,
                                       builder.getStringAttr(value));
  return LLVM::AddressOfOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
      global.getSymName());
}

void shardc::exportConstant(OpBuilder &builder, Location loc, Type type,
                            const Twine &name, Attribute value) {
  auto global =
      LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                             LLVM::Linkage::External, name.str(), value);
  global.setAlignment(64);
}

void shardc::exportWords(OpBuilder &builder, Location loc, StringRef name,
                         ArrayRef<int64_t> words) {
  Type i64 = builder.getI64Type();
  int64_t count = words.size();
  exportConstant(
      builder, loc, LLVM::LLVMArrayType::get(i64, count), name,
      DenseElementsAttr::get(RankedTensorType::get({count}, i64), words));
  exportConstant(builder, loc, i64, name + "_length",
                 builder.getI64IntegerAttr(count));
}

Value shardc::storeWords(OpBuilder &builder, Operation *op,
                         ArrayRef<Value> words) {
  Location loc = op->getLoc();
  Type i64 = builder.getI64Type(),
       ptr = LLVM::LLVMPointerType::get(builder.getContext());
  // Once in a call of the function: never inside a loop.
  auto function = op->getParentOfType<func::FuncOp>();
  OpBuilder atStart(&function.getBody().front(),
                    function.getBody().front().begin());
  Value size = LLVM::ConstantOp::create(
      atStart, loc, i64, builder.getI64IntegerAttr(words.size()));
  Value area =
      LLVM::AllocaOp::create(atStart, loc, ptr, i64, size, /*alignment=*/16);
  for (auto [i, value] : llvm::enumerate(words)) {
    Value slot =
        LLVM::GEPOp::create(builder, loc, ptr, i64, area,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(builder, loc, value, slot);
  }
  return area;
}

Value shardc::memrefAt(OpBuilder &builder, Location loc, MemRefType type,
                       Value pointer, ArrayRef<Value> sizes,
                       ArrayRef<Value> strides, Value offset) {
  MLIRContext *context = builder.getContext();
  Type i64 = builder.getI64Type(), ptr = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> fields{ptr, ptr, i64};
  int64_t numDims = type.getRank();
  if (numDims > 0)
    fields.append(2, LLVM::LLVMArrayType::get(i64, numDims));
  Value descriptor = LLVM::PoisonOp::create(
      builder, loc, LLVM::LLVMStructType::getLiteral(context, fields));
  auto insert = [&](Value value, ArrayRef<int64_t> position) {
    descriptor =
        LLVM::InsertValueOp::create(builder, loc, descriptor, value, position);
  };
  Value stride =
      LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(1));
  insert(pointer, {0});
  insert(pointer, {1});
  insert(offset ? offset
                : LLVM::ConstantOp::create(builder, loc, i64,
                                           builder.getI64IntegerAttr(0))
                      .getResult(),
         {2});
  for (int64_t i = numDims - 1; i >= 0; --i) {
    insert(sizes[i], {3, i});
    insert(strides.empty() ? stride : strides[i], {4, i});
    if (strides.empty())
      stride = LLVM::MulOp::create(builder, loc, stride, sizes[i]);
  }
  return UnrealizedConversionCastOp::create(builder, loc, TypeRange(type),
                                            descriptor)
      .getResult(0);
}
