//===- VhloBytecode.cpp - VHLO as it is in bytecode -----------------------===//
//
// A code, then the fields. What is read is StableHLO's at once: there are no
// attributes and no types of VHLO.
//
//===----------------------------------------------------------------------===//
#include "VhloBytecode.h"

#include "VhloOps.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Dialect/Vhlo/IR/Vhlo.h"
#include "shardc/Support/BytecodeFields.h"
#include "shardc/Support/Refusal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;
using namespace shardc::vhlo;

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

namespace {
/// VHLO's own; none changes its meaning.
enum AttributeCode : uint64_t {
  ArrayCode = 1,
  BoolCode = 2,
  ComparisonDirectionCode = 3,
  ComparisonTypeCode = 4,
  CustomCallApiVersionCode = 5,
  DictionaryCode = 6,
  FftTypeCode = 7,
  FloatCode = 8,
  IntegerCode = 9,
  OutputOperandAliasCode = 10,
  PrecisionCode = 11,
  RngAlgorithmCode = 12,
  RngDistributionCode = 13,
  StringCode = 14,
  TensorCode = 15,
  TransposeCode = 16,
  TypeCode = 17,
  TypeExtensionsCode = 18,
  ResultAccuracyModeCode = 19,
  ResultAccuracyCode = 20,
  SubAxisInfoCode = 21,
  AxisRefCode = 22,
  ReplicaGroupMeshAxesCode = 23,
  MeshAxisCode = 24,
  MeshCode = 25,
};

enum TypeCodes : uint64_t {
  BoolType = 0,
  ComplexTypeCode = 1,
  FunctionTypeCode = 8,
  TensorType = 20,
  EncodedTensorType = 21,
  TokenTypeCode = 22,
  TupleTypeCode = 23,
  QuantisedType = 24,
  UnrankedTensor = 25,
  WitnessType = 26,
  QuantisedPerAxisType = 30,
  BufferType = 41,
  FutureTypeCode = 42,
};

class VhloBytecode final : public BytecodeDialectInterface {
public:
  explicit VhloBytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    return readCodedAttribute(reader, "vhlo",
                              [&](uint64_t code, BytecodeFields &fields) {
                                return readFields(code, fields, reader);
                              });
  }
  Type readType(DialectBytecodeReader &reader) const override;

private:
  FailureOr<Attribute> readFields(uint64_t code, BytecodeFields &fields,
                                  DialectBytecodeReader &reader) const;
  Type simpleType(uint64_t code) const;
};
} // namespace

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Null, with an error, for bytes that are no tensor of `type`.
static Attribute readTensor(DialectBytecodeReader &reader) {
  Type type;
  ArrayRef<char> bytes;
  if (failed(reader.readType(type)) || failed(reader.readBlob(bytes)))
    return {};
  auto shaped = dyn_cast<RankedTensorType>(type);
  if (!shaped || !shaped.hasStaticShape() ||
      !(shaped.getElementType().isIntOrIndexOrFloat() ||
        isa<ComplexType>(shaped.getElementType()))) {
    reader.emitError() << "constant of type " << type
                       << ", expected a tensor of static shape";
    return {};
  }
  if (bool isSplat;
      !DenseElementsAttr::isValidRawBuffer(shaped, bytes, isSplat)) {
    reader.emitError() << "constant of " << bytes.size() << " bytes for "
                       << type;
    return {};
  }
  return DenseElementsAttr::getFromRawBuffer(shaped, bytes);
}

static Attribute readFloat(DialectBytecodeReader &reader) {
  Type type;
  if (failed(reader.readType(type)))
    return {};
  auto floatType = dyn_cast<FloatType>(type);
  if (!floatType) {
    reader.emitError() << "number of type " << type << ", expected a float";
    return {};
  }
  FailureOr<APFloat> value =
      reader.readAPFloatWithKnownSemantics(floatType.getFloatSemantics());
  return failed(value) ? Attribute() : FloatAttr::get(type, *value);
}

static Attribute readInteger(DialectBytecodeReader &reader) {
  Type type;
  if (failed(reader.readType(type)))
    return {};
  if (!type.isIntOrIndex()) {
    reader.emitError() << "number of type " << type << ", expected an integer";
    return {};
  }
  FailureOr<APInt> value = reader.readAPIntWithKnownWidth(
      type.isIndex() ? IndexType::kInternalStorageBitWidth
                     : type.getIntOrFloatBitWidth());
  return failed(value) ? Attribute() : IntegerAttr::get(type, *value);
}

static Attribute readDictionary(DialectBytecodeReader &reader) {
  SmallVector<NamedAttribute> entries;
  auto readEntry = [&](NamedAttribute &entry) {
    StringAttr name;
    Attribute value;
    if (failed(reader.readAttribute(name)) ||
        failed(reader.readAttribute(value)))
      return failure();
    if (name.empty())
      return LogicalResult(reader.emitError() << "entry without a name");
    entry = NamedAttribute(name, value);
    return success();
  };
  uint64_t count;
  if (failed(reader.readVarInt(count)))
    return {};
  for (; count != 0; --count) {
    NamedAttribute entry(StringAttr::get(reader.getContext(), "x"),
                         UnitAttr::get(reader.getContext()));
    if (failed(readEntry(entry)))
      return {};
    entries.push_back(entry);
  }
  if (auto twice = DictionaryAttr::findDuplicate(entries, /*isSorted=*/false)) {
    reader.emitError() << "entry '" << twice->getName().getValue() << "' twice";
    return {};
  }
  return DictionaryAttr::get(reader.getContext(), entries);
}

FailureOr<Attribute>
VhloBytecode::readFields(uint64_t code, BytecodeFields &f,
                         DialectBytecodeReader &reader) const {
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
    SHARDC_ENUM(CustomCallApiVersion)
    SHARDC_ENUM(FftType)
    SHARDC_ENUM(Precision)
    SHARDC_ENUM(RngAlgorithm)
    SHARDC_ENUM(RngDistribution)
    SHARDC_ENUM(Transpose)
    SHARDC_ENUM(ResultAccuracyMode)
#undef SHARDC_ENUM
  case ArrayCode: {
    SmallVector<Attribute> list = f.attributes();
    return make([&] { return ArrayAttr::get(context, list); });
  }
  case BoolCode: {
    uint64_t value;
    if (failed(reader.readVarInt(value)))
      return Attribute();
    return Attribute(BoolAttr::get(context, value != 0));
  }
  case DictionaryCode:
    return readDictionary(reader);
  case FloatCode:
    return readFloat(reader);
  case IntegerCode:
    return readInteger(reader);
  case OutputOperandAliasCode: {
    SmallVector<int64_t> result = f.numbers();
    int64_t operand = f.number();
    SmallVector<int64_t> element = f.numbers();
    return make([&] {
      return OutputOperandAliasAttr::get(context, result, operand, element);
    });
  }
  case StringCode: {
    std::string text = f.text();
    return make([&] { return StringAttr::get(context, text); });
  }
  case TensorCode:
    return readTensor(reader);
  case TypeCode: {
    Type type = f.type();
    return make([&] { return TypeAttr::get(type); });
  }
  case TypeExtensionsCode: {
    SmallVector<int64_t> bounds = f.numbers();
    return make([&] { return TypeExtensionsAttr::get(context, bounds); });
  }
  case ResultAccuracyCode: {
    APFloat absolute = f.real(), relative = f.real();
    int64_t ulps = f.number();
    auto mode = f.attribute<ResultAccuracyModeAttr>();
    return make([&] {
      return ResultAccuracyAttr::get(context, absolute, relative, ulps, mode);
    });
  }
  case SubAxisInfoCode: {
    int64_t before = f.number(), size = f.number();
    return make([&] { return SubAxisInfoAttr::get(context, before, size); });
  }
  case AxisRefCode: {
    auto name = f.attribute<StringAttr>();
    auto part = f.optionalAttribute<SubAxisInfoAttr>();
    return make([&] { return AxisRefAttr::get(context, name, part); });
  }
  case ReplicaGroupMeshAxesCode: {
    Attribute mesh = f.attribute();
    auto axes = f.attribute<ArrayAttr>();
    // A mesh by its name, as other symbols.
    if (auto name = dyn_cast_or_null<StringAttr>(mesh); name && f.ok)
      mesh = FlatSymbolRefAttr::get(name);
    f.ok = f.ok && isa<FlatSymbolRefAttr, MeshAttr>(mesh) &&
           llvm::all_of(axes, llvm::IsaPred<AxisRefAttr>);
    return make(
        [&] { return ReplicaGroupMeshAxesAttr::get(context, mesh, axes); });
  }
  case MeshAxisCode: {
    auto name = f.attribute<StringAttr>();
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

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Null for a type that has fields, or is not known.
Type VhloBytecode::simpleType(uint64_t code) const {
  Builder b(getContext());
  auto isUnsigned = [&](unsigned width) {
    return b.getIntegerType(width, /*isSigned=*/false);
  };
  switch (code) {
  case BoolType:
    return b.getI1Type();
  case 2:
    return b.getBF16Type();
  case 3:
    return b.getF16Type();
  case 4:
    return b.getF32Type();
  case 5:
    return b.getF64Type();
  case 6:
    return b.getType<Float8E4M3FNType>();
  case 7:
    return b.getType<Float8E5M2Type>();
  case 9:
    return b.getIndexType();
  case 10:
    return b.getIntegerType(4);
  case 11:
    return b.getIntegerType(8);
  case 12:
    return b.getIntegerType(16);
  case 13:
    return b.getIntegerType(32);
  case 14:
    return b.getIntegerType(64);
  case 15:
    return isUnsigned(4);
  case 16:
    return isUnsigned(8);
  case 17:
    return isUnsigned(16);
  case 18:
    return isUnsigned(32);
  case 19:
    return isUnsigned(64);
  case TokenTypeCode:
    return TokenType::get(getContext());
  case 27:
    return b.getType<Float8E4M3FNUZType>();
  case 28:
    return b.getType<Float8E5M2FNUZType>();
  case 29:
    return b.getType<Float8E4M3B11FNUZType>();
  case 31:
    return b.getIntegerType(2);
  case 32:
    return isUnsigned(2);
  case 33:
    return b.getNoneType();
  case 34:
    return b.getTF32Type();
  case 35:
    return b.getType<Float8E4M3Type>();
  case 36:
    return b.getType<Float8E3M4Type>();
  case 37:
    return b.getType<Float4E2M1FNType>();
  case 38:
    return b.getType<Float6E2M3FNType>();
  case 39:
    return b.getType<Float6E3M2FNType>();
  case 40:
    return b.getType<Float8E8M0FNUType>();
  default:
    return {};
  }
}

Type VhloBytecode::readType(DialectBytecodeReader &reader) const {
  uint64_t code;
  if (failed(reader.readVarInt(code)))
    return {};
  if (Type simple = simpleType(code))
    return simple;
  BytecodeFields f(reader);
  auto types = [&] {
    SmallVector<Type> list;
    f.ok = f.ok && succeeded(reader.readTypes(list));
    return list;
  };
  auto fail = [&]() { return reader.emitError(); };
  switch (code) {
  case ComplexTypeCode: {
    Type element = f.type();
    return f.ok ? ComplexType::getChecked(fail, element) : Type();
  }
  case FunctionTypeCode: {
    SmallVector<Type> inputs = types(), results = types();
    return f.ok ? FunctionType::get(getContext(), inputs, results) : Type();
  }
  case TensorType:
  case EncodedTensorType: {
    SmallVector<int64_t> shape = f.numbers();
    Type element = f.type();
    Attribute encoding;
    if (code == EncodedTensorType)
      encoding = f.attribute();
    return f.ok ? RankedTensorType::getChecked(fail, shape, element, encoding)
                : Type();
  }
  case TupleTypeCode: {
    SmallVector<Type> elements = types();
    return f.ok ? TupleType::get(getContext(), elements) : Type();
  }
  case UnrankedTensor: {
    Type element = f.type();
    return f.ok ? UnrankedTensorType::getChecked(fail, element) : Type();
  }
  case FutureTypeCode: {
    SmallVector<Type> elements = types();
    return f.ok ? FutureType::getChecked(fail, getContext(),
                                         ArrayRef<Type>(elements))
                : Type();
  }
  case QuantisedType:
  case QuantisedPerAxisType:
    unsupported(fail()) << "quantised types; legalise them before";
    return {};
  case WitnessType:
  case BufferType:
    unsupported(fail()) << (code == WitnessType ? "witnesses" : "buffers")
                        << " as values";
    return {};
  default:
    fail() << "unknown type " << code << " of vhlo";
    return {};
  }
}

//===----------------------------------------------------------------------===//
// Attributes of ops
//===----------------------------------------------------------------------===//

/// Of a list that an op has as an attribute.
static constexpr int64_t kMostNumbers = 1 << 16;

/// The numbers of `attribute`, truth values and values of enums among them;
/// none for anything else.
static std::optional<SmallVector<int64_t>> numbersOf(Attribute attribute) {
  auto one = [](int64_t number) { return SmallVector<int64_t>{number}; };
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    // true is 1 here, though -1 as a number of one bit.
    if (integer.getType().isInteger(1))
      return one(integer.getValue().getZExtValue());
    if (integer.getValue().getSignificantBits() > 64)
      return std::nullopt;
    return one(integer.getValue().getSExtValue());
  }
  if (auto tensor = dyn_cast<DenseIntElementsAttr>(attribute)) {
    bool isBool = tensor.getElementType().isInteger(1);
    // A short file holds a long tensor of one value.
    if (!tensor.getElementType().isSignlessInteger() ||
        tensor.getElementType().getIntOrFloatBitWidth() > 64 ||
        tensor.getNumElements() > kMostNumbers)
      return std::nullopt;
    SmallVector<int64_t> numbers;
    for (const APInt &value : tensor.getValues<APInt>())
      numbers.push_back(isBool ? int64_t(value.getZExtValue())
                               : value.getSExtValue());
    return numbers;
  }
  if (auto type = dyn_cast<ComparisonTypeAttr>(attribute))
    return one(int64_t(type.getValue()));
  if (auto precision = dyn_cast<PrecisionAttr>(attribute))
    return one(int64_t(precision.getValue()));
  if (auto accuracy = dyn_cast<ResultAccuracyAttr>(attribute)) {
    bool isDefault =
        accuracy.getAtol().isZero() && accuracy.getRtol().isZero() &&
        accuracy.getUlps() == 0 &&
        accuracy.getMode().getValue() == ResultAccuracyMode::DEFAULT;
    return one(isDefault ? 0 : 1);
  }
  if (auto list = dyn_cast<ArrayAttr>(attribute)) {
    SmallVector<int64_t> numbers;
    for (Attribute element : list) {
      auto of = numbersOf(element);
      if (!of)
        return std::nullopt;
      llvm::append_range(numbers, *of);
    }
    return numbers;
  }
  return std::nullopt;
}

static bool isEmpty(Attribute attribute) {
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.empty();
  if (auto list = dyn_cast<ArrayAttr>(attribute))
    return list.empty();
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute))
    return dictionary.empty();
  if (auto tensor = dyn_cast<DenseElementsAttr>(attribute))
    return tensor.empty();
  return false;
}

namespace {
/// Takes the attributes that one of StableHLO's is made of, one after another.
class Parts {
public:
  explicit Parts(ArrayRef<Attribute> attributes) : attributes(attributes) {}
  /// False once one was not of the kind that was taken.
  bool ok = true;

  SmallVector<int64_t> list() {
    Attribute next = take();
    auto numbers =
        isa<DenseIntElementsAttr>(next) ? numbersOf(next) : std::nullopt;
    ok &= numbers.has_value();
    return numbers.value_or(SmallVector<int64_t>());
  }
  int64_t number() {
    Attribute next = take();
    auto numbers = isa<IntegerAttr>(next) ? numbersOf(next) : std::nullopt;
    ok &= numbers.has_value();
    return numbers ? numbers->front() : 0;
  }
  Type type() {
    auto next = dyn_cast<TypeAttr>(take());
    ok &= next != nullptr;
    return next ? next.getValue() : Type();
  }

private:
  Attribute take() {
    Attribute first = attributes.front();
    attributes = attributes.drop_front();
    return first;
  }

  ArrayRef<Attribute> attributes;
};
} // namespace

/// The attribute `name` of StableHLO that VHLO holds in `attributes`: null
/// where it is not there, failure where they are of other kinds.
static FailureOr<Attribute> join(StringRef name, ArrayRef<Attribute> attributes,
                                 MLIRContext *context) {
  Parts p(attributes);
  auto done = [&](auto get) -> FailureOr<Attribute> {
    if (!p.ok)
      return failure();
    return Attribute(get());
  };
  if (name == "channel_handle") {
    int64_t handle = p.number(), type = p.number();
    return done([&] { return ChannelHandleAttr::get(context, handle, type); });
  }
  if (name == "dot_dimension_numbers") {
    SmallVector<int64_t> lhsBatch = p.list(), rhsBatch = p.list(),
                         lhs = p.list(), rhs = p.list();
    return done([&] {
      return DotDimensionNumbersAttr::get(context, lhsBatch, rhsBatch, lhs,
                                          rhs);
    });
  }
  if (name == "algorithm") {
    Type lhs = p.type(), rhs = p.type(), sum = p.type();
    if (p.ok && isa<NoneType>(lhs))
      return Attribute();
    int64_t lhsCount = p.number(), rhsCount = p.number(), steps = p.number();
    bool imprecise = p.number() != 0;
    return done([&] {
      return DotAlgorithmAttr::get(context, lhs, rhs, sum, lhsCount, rhsCount,
                                   steps, imprecise);
    });
  }
  if (attributes.size() == 9) {
    int64_t batch = p.number(), feature = p.number();
    SmallVector<int64_t> spatial = p.list();
    int64_t kernelIn = p.number(), kernelOut = p.number();
    SmallVector<int64_t> kernelSpatial = p.list();
    int64_t outBatch = p.number(), outFeature = p.number();
    SmallVector<int64_t> outSpatial = p.list();
    return done([&] {
      return ConvDimensionNumbersAttr::get(context, batch, feature, spatial,
                                           kernelIn, kernelOut, kernelSpatial,
                                           outBatch, outFeature, outSpatial);
    });
  }
  // Of gather and scatter, which have batching dims since 1.1.
  SmallVector<int64_t> window = p.list(), gone = p.list(), map = p.list();
  int64_t vector = p.number();
  SmallVector<int64_t> batch, indexBatch;
  if (attributes.size() == 6) {
    batch = p.list();
    indexBatch = p.list();
  }
  return done([&]() -> Attribute {
    if (name == "dimension_numbers")
      return GatherDimensionNumbersAttr::get(context, window, gone, batch,
                                             indexBatch, map, vector);
    return ScatterDimensionNumbersAttr::get(context, window, gone, batch,
                                            indexBatch, map, vector);
  });
}

/// The attribute that `field` is for StableHLO's op: null where it is left out,
/// failure where VHLO's are of other kinds.
static FailureOr<Attribute> convert(const Field &field,
                                    ArrayRef<Attribute> attributes,
                                    MLIRContext *context) {
  Attribute attribute = attributes.front();
  if (field.omitsEmpty && isEmpty(attribute))
    return Attribute();
  // An empty tensor is what its dims say, an empty list is what is not given.
  if (field.omitted)
    if (auto numbers = numbersOf(attribute);
        numbers && llvm::all_equal(*numbers) &&
        (numbers->empty() ? isa<ArrayAttr>(attribute)
                          : numbers->front() == *field.omitted))
      return Attribute();
  switch (field.form) {
  case Form::Same:
    return attribute;
  case Form::Joined:
    return join(field.name, attributes, context);
  case Form::Symbol:
    if (auto text = dyn_cast<StringAttr>(attribute); text && !text.empty())
      return Attribute(FlatSymbolRefAttr::get(text));
    return failure();
  case Form::Symbols: {
    SmallVector<Attribute> symbols;
    auto list = dyn_cast<ArrayAttr>(attribute);
    if (!list || !llvm::all_of(list, llvm::IsaPred<StringAttr>))
      return failure();
    for (auto text : list.getAsRange<StringAttr>())
      symbols.push_back(FlatSymbolRefAttr::get(text));
    return Attribute(ArrayAttr::get(context, symbols));
  }
  case Form::Flag:
    if (auto value = dyn_cast<BoolAttr>(attribute))
      return value.getValue() ? Attribute(UnitAttr::get(context)) : Attribute();
    return failure();
  case Form::Channel:
    if (auto number = dyn_cast<IntegerAttr>(attribute);
        number && number.getType().isInteger(64))
      return Attribute(ChannelHandleAttr::get(context, number.getInt(), 0));
    return failure();
  case Form::Ints:
  case Form::Bools: {
    auto tensor = dyn_cast<DenseIntElementsAttr>(attribute);
    if (!tensor || tensor.getType().getRank() != 1 ||
        !tensor.getElementType().isInteger(field.form == Form::Ints ? 64 : 1))
      return failure();
    auto numbers = numbersOf(tensor);
    if (!numbers)
      return failure();
    if (field.form == Form::Ints)
      return Attribute(DenseI64ArrayAttr::get(context, *numbers));
    return Attribute(DenseBoolArrayAttr::get(
        context,
        llvm::map_to_vector(*numbers, [](int64_t n) { return n != 0; })));
  }
  }
  llvm_unreachable("unknown form");
}

namespace {
/// Reads what all ops of the dialect have, by the table of VhloOps.cpp.
struct ReadProperties
    : BytecodeOpInterface::ExternalModel<ReadProperties, void> {
  static LogicalResult readProperties(DialectBytecodeReader &reader,
                                      OperationState &state) {
    StringRef name = state.name.stripDialect();
    const OpVersion *op = findOp(name);
    SmallVector<Attribute> stored(op->stored.size());
    for (Attribute &attribute : stored)
      if (failed(reader.readAttribute(attribute)))
        return failure();
    for (const Field &field : op->fields) {
      auto attributes = llvm::map_to_vector(field.parts, [&](StringRef part) {
        return stored[llvm::lower_bound(op->stored, part) - op->stored.begin()];
      });
      FailureOr<Attribute> attribute =
          convert(field, attributes, reader.getContext());
      if (failed(attribute))
        return reader.emitError()
               << "'vhlo." << name << "' with " << attributes.front()
               << " as its '" << field.name << "'";
      if (*attribute)
        state.addAttribute(field.name, *attribute);
    }
    return success();
  }
  void writeProperties(Operation *, DialectBytecodeWriter &) const {}
};
} // namespace

void vhlo::addBytecode(VhloDialect *dialect) {
  dialect->addInterfaces<VhloBytecode>();
  for (const OpVersion &op : allOps())
    if (!op.fields.empty())
      RegisteredOperationName::lookup(("vhlo." + op.name).str(),
                                      dialect->getContext())
          ->attachInterface<ReadProperties>();
}
