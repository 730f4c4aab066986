//===- StableHLOBytecode.cpp - Attributes and types as bytes --------------===//
//
// The encoding is StableHLO's own, so that bytecode of JAX can be read, and
// StableHLO's tools read ours: a code, then the attribute's fields in order.
// Numbers are signed varints, enums varints; lists have their length in front.
//
//===----------------------------------------------------------------------===//
#include "StableHLOBytecode.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/BytecodeFields.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

namespace {
/// Never to be changed; 0 is an attribute that JAX prints none of.
enum AttributeCode : uint64_t {
  ChannelHandleCode = 1,
  ComparisonDirectionCode = 2,
  ComparisonTypeCode = 3,
  ConvDimensionNumbersCode = 4,
  DotDimensionNumbersCode = 5,
  FftTypeCode = 6,
  GatherDimensionNumbersCode = 7,
  PrecisionCode = 8,
  RngAlgorithmCode = 9,
  RngDistributionCode = 10,
  ScatterDimensionNumbersCode = 11,
  TransposeCode = 12,
  TypeExtensionsCode = 13,
  OutputOperandAliasCode = 14,
  DotAlgorithmCode = 15,
  ResultAccuracyModeCode = 16,
  ResultAccuracyCode = 17,
  ReplicaGroupMeshAxesCode = 18,
  SubAxisInfoCode = 19,
  AxisRefCode = 20,
  MeshAxisCode = 21,
  MeshCode = 22,
};
constexpr uint64_t TokenTypeCode = 0, FutureTypeCode = 1;

class StableHLOBytecode final : public BytecodeDialectInterface {
public:
  explicit StableHLOBytecode(Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    return readCodedAttribute(reader, "stablehlo",
                              [&](uint64_t code, BytecodeFields &fields) {
                                return readFields(code, fields);
                              });
  }

  LogicalResult writeAttribute(Attribute attribute,
                               DialectBytecodeWriter &writer) const override;

  Type readType(DialectBytecodeReader &reader) const override {
    uint64_t code;
    if (failed(reader.readVarInt(code)))
      return {};
    if (code == TokenTypeCode)
      return TokenType::get(getContext());
    if (code == FutureTypeCode) {
      SmallVector<Type> types;
      if (failed(reader.readTypes(types)))
        return {};
      return FutureType::getChecked([&] { return reader.emitError(); },
                                    getContext(), ArrayRef<Type>(types));
    }
    reader.emitError() << "unknown type " << code << " of stablehlo";
    return {};
  }

  LogicalResult writeType(Type type,
                          DialectBytecodeWriter &writer) const override {
    if (auto future = dyn_cast<FutureType>(type)) {
      writer.writeVarInt(FutureTypeCode);
      writer.writeTypes(future.getTypes());
      return success();
    }
    if (!isa<TokenType>(type))
      return failure();
    writer.writeVarInt(TokenTypeCode);
    return success();
  }

  /// The version of StableHLO that wrote it; its encoding has only grown.
  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const override {
    return skipVersion(reader);
  }

private:
  /// Failure for a code that is not known. Fields are read in the order in
  /// which they are initialised here.
  FailureOr<Attribute> readFields(uint64_t code, BytecodeFields &fields) const;
};
} // namespace

FailureOr<Attribute> StableHLOBytecode::readFields(uint64_t code,
                                                   BytecodeFields &f) const {
  MLIRContext *context = getContext();
  // A null attribute where a field is missing: those that are read may not be.
  auto make = [&](auto get) -> Attribute {
    return f.ok ? Attribute(get()) : Attribute();
  };
  switch (code) {
#define SHARDC_ENUM(NAME)                                                      \
  case NAME##Code: {                                                           \
    auto value = f.value([](uint32_t v) { return symbolize##NAME(v); });       \
    return make([&] { return NAME##Attr::get(context, value); });              \
  }
    SHARDC_ENUM(ComparisonDirection)
    SHARDC_ENUM(ComparisonType)
    SHARDC_ENUM(FftType)
    SHARDC_ENUM(Precision)
    SHARDC_ENUM(RngAlgorithm)
    SHARDC_ENUM(RngDistribution)
    SHARDC_ENUM(Transpose)
    SHARDC_ENUM(ResultAccuracyMode)
#undef SHARDC_ENUM
  case ChannelHandleCode: {
    int64_t handle = f.number(), type = f.number();
    return make([&] { return ChannelHandleAttr::get(context, handle, type); });
  }
  case ConvDimensionNumbersCode: {
    int64_t batch = f.number(), feature = f.number();
    SmallVector<int64_t> spatial = f.numbers();
    int64_t kernelIn = f.number(), kernelOut = f.number();
    SmallVector<int64_t> kernelSpatial = f.numbers();
    int64_t outBatch = f.number(), outFeature = f.number();
    SmallVector<int64_t> outSpatial = f.numbers();
    return make([&] {
      return ConvDimensionNumbersAttr::get(context, batch, feature, spatial,
                                           kernelIn, kernelOut, kernelSpatial,
                                           outBatch, outFeature, outSpatial);
    });
  }
  case DotDimensionNumbersCode: {
    SmallVector<int64_t> lhsBatch = f.numbers(), rhsBatch = f.numbers(),
                         lhs = f.numbers(), rhs = f.numbers();
    return make([&] {
      return DotDimensionNumbersAttr::get(context, lhsBatch, rhsBatch, lhs,
                                          rhs);
    });
  }
  case GatherDimensionNumbersCode: {
    SmallVector<int64_t> offset = f.numbers(), collapsed = f.numbers(),
                         batch = f.numbers(), startBatch = f.numbers(),
                         map = f.numbers();
    int64_t vector = f.number();
    return make([&] {
      return GatherDimensionNumbersAttr::get(context, offset, collapsed, batch,
                                             startBatch, map, vector);
    });
  }
  case ScatterDimensionNumbersCode: {
    SmallVector<int64_t> window = f.numbers(), inserted = f.numbers(),
                         batch = f.numbers(), indexBatch = f.numbers(),
                         map = f.numbers();
    int64_t vector = f.number();
    return make([&] {
      return ScatterDimensionNumbersAttr::get(context, window, inserted, batch,
                                              indexBatch, map, vector);
    });
  }
  case TypeExtensionsCode: {
    SmallVector<int64_t> bounds = f.numbers();
    return make([&] { return TypeExtensionsAttr::get(context, bounds); });
  }
  case OutputOperandAliasCode: {
    SmallVector<int64_t> result = f.numbers();
    int64_t operand = f.number();
    SmallVector<int64_t> element = f.numbers();
    return make([&] {
      return OutputOperandAliasAttr::get(context, result, operand, element);
    });
  }
  case DotAlgorithmCode: {
    Type lhs = f.type(), rhs = f.type(), sum = f.type();
    int64_t lhsCount = f.number(), rhsCount = f.number(), steps = f.number();
    bool imprecise = f.flag();
    return make([&] {
      return DotAlgorithmAttr::get(context, lhs, rhs, sum, lhsCount, rhsCount,
                                   steps, imprecise);
    });
  }
  case ResultAccuracyCode: {
    APFloat absolute = f.real(), relative = f.real();
    int64_t ulps = f.number();
    auto mode = f.attribute<ResultAccuracyModeAttr>();
    return make([&] {
      return ResultAccuracyAttr::get(context, absolute, relative, ulps, mode);
    });
  }
  case ReplicaGroupMeshAxesCode: {
    auto mesh = f.attribute<>();
    SmallVector<Attribute> axes = f.attributes();
    f.ok = f.ok && isa<FlatSymbolRefAttr, MeshAttr>(mesh) &&
           llvm::all_of(axes, llvm::IsaPred<AxisRefAttr>);
    return make([&] {
      return ReplicaGroupMeshAxesAttr::get(context, mesh,
                                           ArrayAttr::get(context, axes));
    });
  }
  case SubAxisInfoCode: {
    int64_t before = f.number(), size = f.number();
    return make([&] { return SubAxisInfoAttr::get(context, before, size); });
  }
  case AxisRefCode: {
    std::string name = f.text();
    auto part = f.optionalAttribute<SubAxisInfoAttr>();
    return make([&] { return AxisRefAttr::get(context, name, part); });
  }
  case MeshAxisCode: {
    std::string name = f.text();
    int64_t size = f.number();
    return make([&] { return MeshAxisAttr::get(context, name, size); });
  }
  case MeshCode: {
    auto axes = f.attribute<ArrayAttr>();
    auto devices = f.optionalAttribute<DenseIntElementsAttr>();
    f.ok = f.ok && llvm::all_of(axes, llvm::IsaPred<MeshAxisAttr>);
    return make([&] {
      return MeshAttr::get(
          context, llvm::to_vector(axes.getAsRange<MeshAxisAttr>()), devices);
    });
  }
  default:
    return failure();
  }
}

LogicalResult
StableHLOBytecode::writeAttribute(Attribute attribute,
                                  DialectBytecodeWriter &writer) const {
  auto code = [&](AttributeCode value) { writer.writeVarInt(value); };
  auto number = [&](int64_t value) { writer.writeSignedVarInt(value); };
  auto numbers = [&](ArrayRef<int64_t> list) {
    writer.writeSignedVarInts(list);
  };
  return TypeSwitch<Attribute, LogicalResult>(attribute)
#define SHARDC_ENUM(NAME)                                                      \
  .Case([&](NAME##Attr a) {                                                    \
    code(NAME##Code);                                                          \
    writer.writeVarInt(static_cast<uint64_t>(a.getValue()));                   \
    return success();                                                          \
  })
      // clang-format off
      SHARDC_ENUM(ComparisonDirection)
      SHARDC_ENUM(ComparisonType)
      SHARDC_ENUM(FftType)
      SHARDC_ENUM(Precision)
      SHARDC_ENUM(RngAlgorithm)
      SHARDC_ENUM(RngDistribution)
      SHARDC_ENUM(Transpose)
      SHARDC_ENUM(ResultAccuracyMode)
  // clang-format on
#undef SHARDC_ENUM
              .Case([&](ChannelHandleAttr a) {
                code(ChannelHandleCode);
                number(a.getHandle());
                number(a.getType());
                return success();
              })
              .Case([&](ConvDimensionNumbersAttr a) {
                code(ConvDimensionNumbersCode);
                number(a.getInputBatchDimension());
                number(a.getInputFeatureDimension());
                numbers(a.getInputSpatialDimensions());
                number(a.getKernelInputFeatureDimension());
                number(a.getKernelOutputFeatureDimension());
                numbers(a.getKernelSpatialDimensions());
                number(a.getOutputBatchDimension());
                number(a.getOutputFeatureDimension());
                numbers(a.getOutputSpatialDimensions());
                return success();
              })
              .Case([&](DotDimensionNumbersAttr a) {
                code(DotDimensionNumbersCode);
                numbers(a.getLhsBatchingDimensions());
                numbers(a.getRhsBatchingDimensions());
                numbers(a.getLhsContractingDimensions());
                numbers(a.getRhsContractingDimensions());
                return success();
              })
              .Case([&](GatherDimensionNumbersAttr a) {
                code(GatherDimensionNumbersCode);
                numbers(a.getOffsetDims());
                numbers(a.getCollapsedSliceDims());
                numbers(a.getOperandBatchingDims());
                numbers(a.getStartIndicesBatchingDims());
                numbers(a.getStartIndexMap());
                number(a.getIndexVectorDim());
                return success();
              })
              .Case([&](ScatterDimensionNumbersAttr a) {
                code(ScatterDimensionNumbersCode);
                numbers(a.getUpdateWindowDims());
                numbers(a.getInsertedWindowDims());
                numbers(a.getInputBatchingDims());
                numbers(a.getScatterIndicesBatchingDims());
                numbers(a.getScatterDimsToOperandDims());
                number(a.getIndexVectorDim());
                return success();
              })
              .Case([&](TypeExtensionsAttr a) {
                code(TypeExtensionsCode);
                numbers(a.getBounds());
                return success();
              })
              .Case([&](OutputOperandAliasAttr a) {
                code(OutputOperandAliasCode);
                numbers(a.getOutputTupleIndices());
                number(a.getOperandIndex());
                numbers(a.getOperandTupleIndices());
                return success();
              })
              .Case([&](DotAlgorithmAttr a) {
                code(DotAlgorithmCode);
                for (Type type :
                     {a.getLhsPrecisionType(), a.getRhsPrecisionType(),
                      a.getAccumulationType()})
                  writer.writeType(type);
                number(a.getLhsComponentCount());
                number(a.getRhsComponentCount());
                number(a.getNumPrimitiveOperations());
                writer.writeOwnedBool(a.getAllowImpreciseAccumulation());
                return success();
              })
              .Case([&](ResultAccuracyAttr a) {
                // Text may hold numbers of another width.
                if (&a.getAtol().getSemantics() != &APFloat::IEEEdouble() ||
                    &a.getRtol().getSemantics() != &APFloat::IEEEdouble())
                  return failure();
                code(ResultAccuracyCode);
                writer.writeAPFloatWithKnownSemantics(a.getAtol());
                writer.writeAPFloatWithKnownSemantics(a.getRtol());
                number(a.getUlps());
                writer.writeAttribute(a.getMode());
                return success();
              })
              .Case([&](ReplicaGroupMeshAxesAttr a) {
                code(ReplicaGroupMeshAxesCode);
                writer.writeAttribute(a.getMesh());
                writer.writeList(a.getAxes().getValue(), [&](Attribute axis) {
                  writer.writeAttribute(axis);
                });
                return success();
              })
              .Case([&](AxisRefAttr a) {
                code(AxisRefCode);
                writer.writeOwnedString(a.getName());
                writer.writeOptionalAttribute(a.getSubAxisInfo());
                return success();
              })
              .Case([&](SubAxisInfoAttr a) {
                code(SubAxisInfoCode);
                number(a.getPreSize());
                number(a.getSize());
                return success();
              })
              .Case([&](MeshAxisAttr a) {
                code(MeshAxisCode);
                writer.writeOwnedString(a.getName());
                number(a.getSize());
                return success();
              })
              .Case([&](MeshAttr a) {
                code(MeshCode);
                SmallVector<Attribute> axes(a.getAxes().begin(),
                                            a.getAxes().end());
                writer.writeAttribute(ArrayAttr::get(a.getContext(), axes));
                writer.writeOptionalAttribute(a.getDeviceIds());
                return success();
              })
              .Default(failure());
}

void shardc::stablehlo::addBytecode(StablehloDialect *dialect) {
  dialect->addInterfaces<StableHLOBytecode>();
}
