//===- Generator.cpp - Random programs ------------------------------------===//

#include "Generator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace shardc::fuzz {

//===----------------------------------------------------------------------===//
// Accuracy
//===----------------------------------------------------------------------===//

bool isStorable(const Type &type, const Accuracy &accuracy) {
  if (!type.isFloat())
    return true;
  return accuracy.hasGrid() && std::ldexp(accuracy.magnitude, -accuracy.grid) <=
                                   std::ldexp(1.0, type.precision());
}

static double epsilon(const Type &type) {
  return std::ldexp(1.0, -type.precision());
}

Accuracy rounded(const Type &type, double magnitude, double slope, Accuracy of,
                 int grid) {
  Accuracy result{magnitude, grid, 0};
  if (!isStorable(type, result))
    result.grid = Accuracy::kNoGrid;
  // The same bits in give the same bits out.
  if (of.error > 0)
    result.error = slope * of.error + 4 * epsilon(type) * magnitude;
  if (of.apart > 0 || (type.isFloat() && !result.hasGrid()))
    result.apart = slope * of.apart + 4 * epsilon(type) * magnitude;
  return result;
}

Accuracy summed(const Type &type, Accuracy of, int64_t count) {
  Accuracy result{of.magnitude * count, of.grid, of.error * count,
                  of.apart * count};
  if (!type.isFloat())
    return result;
  if (of.apart > 0 || !isStorable(type, result)) {
    result.grid = Accuracy::kNoGrid;
    double rounding = 2 * (count + 2) * epsilon(type) * result.magnitude;
    if (count > 1 || of.error > 0)
      result.error += rounding;
    if (count > 1 || of.apart > 0)
      result.apart += rounding;
  }
  return result;
}

Accuracy either(Accuracy a, Accuracy b) {
  int grid =
      a.hasGrid() && b.hasGrid() ? std::min(a.grid, b.grid) : Accuracy::kNoGrid;
  return {std::max(a.magnitude, b.magnitude), grid, std::max(a.error, b.error),
          std::max(a.apart, b.apart)};
}

Accuracy multiplied(const Type &type, Accuracy a, Accuracy b) {
  int grid = a.hasGrid() && b.hasGrid() ? a.grid + b.grid : Accuracy::kNoGrid;
  Accuracy result{a.magnitude * b.magnitude, grid, 0};
  if (!isStorable(type, result))
    result.grid = Accuracy::kNoGrid;
  double rounding = 4 * epsilon(type) * result.magnitude;
  if (a.error > 0 || b.error > 0)
    result.error = a.error * b.magnitude + b.error * a.magnitude + rounding;
  if (a.apart > 0 || b.apart > 0 || (type.isFloat() && !result.hasGrid()))
    result.apart = a.apart * b.magnitude + b.apart * a.magnitude + rounding;
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string list(ArrayRef<int64_t> numbers) {
  std::string text;
  raw_string_ostream out(text);
  interleaveComma(numbers, out);
  return text;
}

std::string braced(ArrayRef<int64_t> numbers) {
  return numbers.empty() ? "array<i64>" : "array<i64: " + list(numbers) + ">";
}

std::string scalarConstant(StringRef name, const Type &type, StringRef value) {
  std::string text = value.str();
  if (type.isFloat() && text.find_first_of(".x") == std::string::npos)
    text += ".0";
  int64_t number = 0;
  if (int bits = type.integerBits(); bits && !value.getAsInteger(10, number)) {
    // Constants of kinds are for eight bits; narrower types take the nearest.
    bool isSigned = type.element.front() == 'i';
    int64_t most =
        bits == 64 ? INT64_MAX : (int64_t(1) << (bits - isSigned)) - 1;
    text = std::to_string(std::clamp(number, isSigned ? -most - 1 : 0, most));
  }
  return "%" + name.str() + "~ = stablehlo.constant dense<" + text +
         "> : " + type.str() + "\n";
}

//===----------------------------------------------------------------------===//
// Draws and values
//===----------------------------------------------------------------------===//

uint64_t Generator::next() { // SplitMix64
  state += 0x9e3779b97f4a7c15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::string Generator::randomFloat() {
  static const std::vector<std::string> numbers = {
      "0.5", "-0.5", "2.0", "1.5", "-1.25", "0.25", "3.0", "-1.0"};
  return oneOf(numbers);
}

static int64_t mostOps = 15;
void drawOps(int64_t most) { mostOps = most; }

static bool areLarge = false;
void largeArrays() { areLarge = true; }

int64_t Generator::extent(int64_t low, int64_t high) {
  return pick(low, areLarge && chance(50) ? 16 * high : high);
}

std::vector<int64_t> Generator::randomShape(int64_t rank) {
  static const std::vector<int64_t> small = {1, 2, 3, 4,  5,  6,  7,
                                             8, 8, 9, 10, 12, 13, 16};
  // About the widths of vectors, tiles and blocks.
  static const std::vector<int64_t> large = {
      1,  2,  3,  5,  8,  15,  16,  17,  24,  31,  32,  33,   48,   63,
      64, 65, 95, 96, 97, 127, 128, 129, 200, 255, 257, 1000, 1024, 4099};
  int64_t most = areLarge ? 40000 : 1500;
  std::vector<int64_t> shape(rank);
  do {
    for (int64_t &size : shape)
      size = oneOf(areLarge ? large : small);
  } while (Type{"f32", shape}.numElements() > most);
  return shape;
}

int Generator::newArgument(Type type) {
  Accuracy accuracy{1, -6, 0};
  if (!type.isFloat())
    accuracy = {type.element == "i1" ? 1.0 : 16.0, 0, 0};
  int value = program.values.size();
  Argument argument{value, std::nullopt};
  if (chance(75))
    argument.sharding = randomSharding(type);
  program.values.push_back({std::move(type), accuracy});
  program.arguments.push_back(std::move(argument));
  return value;
}

int Generator::any(function_ref<bool(int)> want, int64_t minRank) {
  std::vector<int> there;
  for (int i = 0, e = program.values.size(); i < e; ++i)
    if (type(i).rank() >= minRank && want(i))
      there.push_back(i);
  // Later values rather than earlier ones: deep programs.
  if (!there.empty() && (program.arguments.size() >= 9 || chance(85)))
    return chance(50) ? there.back() : oneOf(there);
  static const std::vector<std::string> elements = {
      "f32", "f32",  "f32", "f32", "f32", "f32",  "i32",  "i32", "f64",
      "f64", "bf16", "f16", "i64", "i64", "i1",   "ui32", "i8",  "i4",
      "ui4", "i2",   "ui2", "ui8", "i16", "ui16", "ui64"};
  for (int attempt = 0; attempt < 8; ++attempt) {
    Type type{oneOf(elements),
              randomShape(std::max<int64_t>(minRank, pick(1, 3) + chance(15)))};
    // A trial value that is taken back if it is not wanted.
    program.values.push_back({type, {1, type.isFloat() ? -6 : 0, 0}});
    bool wanted = want(program.values.size() - 1);
    program.values.pop_back();
    if (wanted)
      return newArgument(type);
  }
  return there.empty() ? -1 : oneOf(there);
}

int Generator::anyFloat(bool exact, int64_t minRank, double most) {
  return any(
      [&](int v) {
        return type(v).isFloat() && (!exact || isExact(v)) &&
               accuracy(v).magnitude <= most;
      },
      minRank);
}

int Generator::anyInteger(int64_t minRank) {
  return any(
      [&](int v) { return !type(v).isFloat() && type(v).element != "i1"; },
      minRank);
}

int Generator::like(const Type &wanted, function_ref<bool(int)> want) {
  std::vector<int> there;
  for (int i = 0, e = program.values.size(); i < e; ++i)
    if (type(i) == wanted && (!want || want(i)))
      there.push_back(i);
  if (!there.empty() && (program.arguments.size() >= 9 || chance(60)))
    return oneOf(there);
  return newArgument(wanted);
}

std::vector<int> Generator::add(std::string kind, std::vector<int> operands,
                                Builder build,
                                std::vector<Accuracy> accuracies) {
  if (is_contained(operands, -1))
    return {};
  SmallVector<Type> types;
  for (int operand : operands)
    types.push_back(type(operand));
  std::optional<Built> built = build(types);
  if (!built || built->results.size() != accuracies.size())
    return {};
  for (auto [result, accuracy] : zip_equal(built->results, accuracies)) {
    double largest = result.element == "f16" ? 2000 : 1e9;
    if (any_of(result.shape, [](int64_t size) { return size < 1; }) ||
        result.numElements() > (areLarge ? 200000 : 8000) ||
        (result.isFloat() &&
         (accuracy.magnitude > largest ||
          accuracy.error > 0.05 * accuracy.magnitude + 1e-300)))
      return {};
  }
  Op op{std::move(kind), std::move(operands), {}, std::move(build), {}};
  for (auto [result, accuracy] : zip_equal(built->results, accuracies)) {
    accuracy.apart = std::max(accuracy.apart, accuracy.error);
    // Rounded where they are stored, which depends on where kernels are cut
    // (docs/Reference/accuracy.md).
    if (result.element == "f16" || result.element == "bf16")
      accuracy.error = accuracy.apart;
    op.results.push_back(program.values.size());
    program.values.push_back({result, accuracy});
  }
  program.ops.push_back(op);
  if (op.results.size() == 1 && chance(12) && type(op.results[0]).rank() > 0) {
    int value = program.values.size();
    program.values.push_back(program.values[op.results[0]]);
    program.ops.push_back({"constrain",
                           {op.results[0]},
                           {value},
                           nullptr,
                           randomSharding(type(value))});
    return {value};
  }
  return op.results;
}

//===----------------------------------------------------------------------===//
// The mesh, and what is sharded over it
//===----------------------------------------------------------------------===//

void Generator::makeMesh() {
  static const std::vector<std::string> names = {
      "x", "y", "z", "data", "model", "row_axis", "i0", "batch", "B"};
  static const std::vector<std::vector<int64_t>> meshes = {
      {2},    {3},    {4},    {4},    {5},       {6},
      {7},    {8},    {1},    {2, 2}, {2, 2},    {2, 3},
      {3, 2}, {4, 2}, {2, 4}, {2, 1}, {2, 2, 2}, {1, 3, 2}};
  program.axisSizes = oneOf(meshes);
  std::vector<std::string> shuffled = names;
  shuffle(shuffled);
  program.axisNames.assign(shuffled.begin(),
                           shuffled.begin() + program.axisSizes.size());
  uneven = chance(65);
  // Parts of an axis: Shardy's sub-axes, which have no sizes.
  if (program.axisSizes.size() >= 2 && !is_contained(program.axisSizes, 1) &&
      chance(25)) {
    uneven = false;
    for (size_t i = 0; i < program.axisSizes.size(); ++i)
      program.axisOf.push_back(std::max<int64_t>(0, int64_t(i) - 1));
  }
}

Sharding Generator::randomSharding(const Type &type) {
  Sharding sharding(type.rank());
  if (type.rank() == 0)
    return sharding;
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < static_cast<int64_t>(program.axisSizes.size());
       ++axis)
    axes.push_back(axis);
  shuffle(axes);
  for (int64_t axis : axes)
    if (chance(70))
      sharding[pick(0, type.rank() - 1)].axes.push_back(axis);
  for (auto [dim, size] : zip_equal(sharding, type.shape)) {
    bool open = chance(25);
    int64_t shards = 1;
    for (int64_t axis : dim.axes)
      shards *= program.axisSizes[axis];
    dim.open = open;
    if (dim.axes.empty() || !uneven || !chance(80))
      continue;
    // Boundaries anywhere: shards may be empty.
    std::vector<int64_t> bounds = {0, size};
    for (int64_t i = 1; i < shards; ++i)
      bounds.push_back(pick(0, size));
    sort(bounds);
    for (int64_t i = 0; i < shards; ++i)
      dim.sizes.push_back(bounds[i + 1] - bounds[i]);
  }
  return sharding;
}

const std::vector<Kind> &allKinds() {
  static const std::vector<Kind> kinds = [] {
    std::vector<Kind> all;
    addElementwiseKinds(all);
    addShapeKinds(all);
    addReductionKinds(all);
    addContractionKinds(all);
    addAddressingKinds(all);
    addControlKinds(all);
    addManualKinds(all);
    addGradientKinds(all);
    addLibraryKinds(all);
    addChainKinds(all);
    addRarerKinds(all);
    addComplexKinds(all);
    addFormKinds(all);
    return all;
  }();
  return kinds;
}

/// Numbers of kinds, each as often as it weighs.
static std::vector<int> ticketsOf(function_ref<bool(const Kind &)> want) {
  std::vector<int> tickets;
  for (auto [i, kind] : enumerate(allKinds()))
    if (want(kind))
      tickets.insert(tickets.end(), kind.weight, i);
  return tickets;
}

static std::vector<int> favoured;

void favourKinds(const std::vector<std::string> &names) {
  favoured = ticketsOf(
      [&](const Kind &kind) { return is_contained(names, kind.name); });
}

void Generator::makeNests() {
  size_t first = 0, last = program.ops.size();
  // One in the other, now and then.
  for (int percent = 35; first < last && chance(percent); percent = 40) {
    first = pick(first, last - 1);
    last = pick(first + 1, std::min(last, first + 5));
    Nest nest;
    nest.kind = chance(60) ? Nest::Loop : Nest::Branch;
    nest.swaps = chance(60);
    nest.isBoth = chance(40);
    Type type{nest.kind == Nest::Loop ? "i32" : "i1", {}};
    // Nothing in the nest may be what it depends on.
    nest.control = newArgument(type);
    for (size_t i = first; i < last; ++i)
      program.ops[i].nests.push_back(program.nests.size());
    program.nests.push_back(nest);
  }
}

/// Writes some ops otherwise: in functions, and with operands in the place of
/// attributes.
void Generator::makeForms() {
  bool calls = chance(20), isDynamic = chance(20);
  for (Op &op : program.ops) {
    if (!op.build)
      continue;
    if (calls && chance(50))
      op.form = chance(50) ? Op::Call : Op::Composite;
    op.isDynamic = isDynamic && chance(70);
  }
}

Program Generator::run() {
  makeMesh();
  static const std::vector<int> tickets =
      ticketsOf([](const Kind &) { return true; });
  size_t wanted = pick(3, mostOps);
  for (int64_t attempt = 0, e = std::max<int64_t>(100, 6 * mostOps);
       attempt < e && program.ops.size() < wanted; ++attempt) {
    bool favours = !favoured.empty() && chance(75);
    allKinds()[oneOf(favours ? favoured : tickets)].make(*this);
  }

  makeNests();
  makeForms();

  // What nobody reads is a result, and now and then something that is read.
  std::vector<bool> read(program.values.size());
  for (const Op &op : program.ops)
    for (int operand : op.operands)
      read[operand] = true;
  std::vector<int> candidates;
  for (const Op &op : program.ops)
    for (int result : op.results)
      if (!read[result] || chance(10))
        candidates.push_back(result);
  shuffle(candidates);
  size_t most = std::max<int64_t>(5, mostOps / 3);
  if (candidates.size() > most)
    candidates.resize(most);
  for (int value : candidates) {
    Argument result{value, std::nullopt};
    if (chance(50))
      result.sharding = randomSharding(type(value));
    program.results.push_back(std::move(result));
  }
  program.dropUnused();
  return std::move(program);
}

} // namespace shardc::fuzz
