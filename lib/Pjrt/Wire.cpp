//===- Wire.cpp - The protocol buffers that PJRT passes -------------------===//
#include "Wire.h"

#include <cstring>

namespace shardc::pjrt {

//===----------------------------------------------------------------------===//
// The format
//===----------------------------------------------------------------------===//

enum Kind : uint32_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

bool WireReader::fail() {
  bad = true;
  return false;
}

bool WireReader::varint(uint64_t &result) {
  result = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    uint8_t byte = uint8_t(rest.front());
    rest.remove_prefix(1);
    result |= uint64_t(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return true;
  }
  return fail();
}

bool WireReader::next() {
  if (bad || rest.empty())
    return false;
  uint64_t tag;
  if (!varint(tag))
    return false;
  number = uint32_t(tag >> 3);
  kind = uint32_t(tag & 7);
  scalar = 0;
  content = {};
  size_t bytes = 0;
  switch (kind) {
  case Varint:
    return varint(scalar);
  case Bytes: {
    uint64_t size;
    if (!varint(size) || size > rest.size())
      return fail();
    content = rest.substr(0, size);
    rest.remove_prefix(size);
    return true;
  }
  case Fixed64:
    bytes = 8;
    break;
  case Fixed32:
    bytes = 4;
    break;
  default:
    return fail();
  }
  if (rest.size() < bytes)
    return fail();
  for (size_t i = 0; i < bytes; ++i)
    scalar |= uint64_t(uint8_t(rest[i])) << (8 * i);
  rest.remove_prefix(bytes);
  return true;
}

std::vector<int64_t> WireReader::list() const {
  if (kind != Bytes)
    return {int64_t(scalar)};
  std::vector<int64_t> values;
  WireReader inner(content);
  uint64_t value;
  while (!inner.rest.empty() && inner.varint(value))
    values.push_back(int64_t(value));
  return values;
}

void WireWriter::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out += char(uint8_t(value) | 0x80);
  out += char(uint8_t(value));
}

void WireWriter::number(uint32_t field, uint64_t value) {
  varint(uint64_t(field) << 3 | Varint);
  varint(value);
}

void WireWriter::text(uint32_t field, std::string_view bytes) {
  varint(uint64_t(field) << 3 | Bytes);
  varint(bytes.size());
  out += bytes;
}

void WireWriter::list(uint32_t field, const std::vector<int64_t> &values) {
  WireWriter packed;
  for (int64_t value : values)
    packed.varint(uint64_t(value));
  text(field, packed.out);
}

//===----------------------------------------------------------------------===//
// Compile options
//===----------------------------------------------------------------------===//

/// One entry of compiler_options: a name, and text, bool, number or float.
static bool readUserOption(std::string_view bytes,
                           std::pair<std::string, std::string> &option) {
  WireReader entry(bytes);
  while (entry.next()) {
    if (entry.field() == 1)
      option.first = entry.bytes();
    if (entry.field() != 2)
      continue;
    WireReader value(entry.bytes());
    while (value.next())
      switch (value.field()) {
      case 1:
        option.second = value.bytes();
        break;
      case 2:
        option.second = value.value() ? "true" : "false";
        break;
      case 3:
        option.second = std::to_string(int64_t(value.value()));
        break;
      case 4: {
        double number;
        uint64_t bits = value.value();
        std::memcpy(&number, &bits, sizeof(number));
        option.second = std::to_string(number);
        break;
      }
      }
    if (value.failed())
      return false;
  }
  return !entry.failed();
}

/// The devices of a device assignment, of one replica.
static bool readDevices(std::string_view bytes, std::vector<int64_t> &devices) {
  WireReader assignment(bytes);
  while (assignment.next()) {
    if (assignment.field() != 3)
      continue;
    WireReader computation(assignment.bytes());
    while (computation.next())
      if (computation.field() == 1)
        for (int64_t id : computation.list())
          devices.push_back(id);
    if (computation.failed())
      return false;
  }
  return !assignment.failed();
}

static bool readBuildOptions(std::string_view bytes, CompileOptions &options) {
  WireReader build(bytes);
  while (build.next())
    switch (build.field()) {
    case 1:
      options.deviceOrdinal = int64_t(build.value());
      break;
    case 4:
      options.replicas = int64_t(build.value());
      break;
    case 5:
      options.partitions = int64_t(build.value());
      break;
    case 9:
      if (!readDevices(build.bytes(), options.devices))
        return false;
      break;
    case 12:
      for (int64_t flag : build.list())
        options.freeResults.push_back(flag != 0);
      break;
    }
  return !build.failed();
}

std::optional<CompileOptions> readCompileOptions(std::string_view bytes) {
  CompileOptions options;
  WireReader message(bytes);
  while (message.next())
    switch (message.field()) {
    case 3:
      if (!readBuildOptions(message.bytes(), options))
        return std::nullopt;
      break;
    case 4:
      options.portable = message.value() != 0;
      break;
    case 7:
      if (!readUserOption(message.bytes(), options.user.emplace_back()))
        return std::nullopt;
      break;
    }
  if (message.failed())
    return std::nullopt;
  return options;
}

std::string writeDeviceAssignment(const std::vector<int64_t> &devices) {
  WireWriter assignment;
  assignment.number(1, 1);
  assignment.number(2, devices.size());
  for (int64_t device : devices) {
    WireWriter computation;
    computation.list(1, {device});
    assignment.text(3, computation.take());
  }
  return assignment.take();
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

std::string writeSharding(const Sharding &sharding) {
  enum Type { AllReplicated = 0, Maximal = 1, Other = 3, AllUnreduced = 6 };
  WireWriter message;
  size_t numDims = sharding.tiles.size() - sharding.subgroups.size();
  bool cut = false;
  for (size_t i = 0; i < numDims; ++i)
    cut |= sharding.tiles[i] > 1;
  int64_t unreduced = 1, replicated = 1;
  for (size_t i = 0; i < sharding.subgroups.size(); ++i)
    (sharding.subgroups[i] == Sharding::Unreduced ? unreduced : replicated) *=
        sharding.tiles[numDims + i];
  if (!cut && unreduced == 1)
    return message.take(); // the type, 0, is not written
  if (!cut && replicated == 1) {
    message.number(1, AllUnreduced);
    return message.take();
  }
  message.number(1, Other);
  message.list(3, sharding.tiles);
  message.list(4, sharding.partitions);
  if (sharding.subgroups.size() == 1 &&
      sharding.subgroups.front() == Sharding::Replicated) {
    message.number(6, 1);
  } else if (!sharding.subgroups.empty()) {
    std::vector<int64_t> types(sharding.subgroups.begin(),
                               sharding.subgroups.end());
    message.list(8, types);
  }
  return message.take();
}

enum ShardingType { IsReplicated = 0, IsTuple = 2, IsTiled = 3 };

std::string writeTupleSharding(const std::vector<std::string> &parts) {
  WireWriter message;
  message.number(1, IsTuple);
  for (const std::string &part : parts)
    message.text(5, part);
  return message.take();
}

std::optional<std::vector<std::string_view>>
splitTupleSharding(std::string_view bytes) {
  WireReader message(bytes);
  std::vector<std::string_view> parts;
  uint64_t type = IsReplicated;
  while (message.next())
    if (message.field() == 1)
      type = message.value();
    else if (message.field() == 5)
      parts.push_back(message.bytes());
  if (message.failed() || type != IsTuple)
    return std::nullopt;
  return parts;
}

/// The numbers below the product of `dims`, as an array of these dims whose
/// axes are put in `order`.
static std::vector<int64_t> transposedCount(const std::vector<int64_t> &dims,
                                            const std::vector<int64_t> &order) {
  std::vector<int64_t> strides(dims.size(), 1), counted = {0};
  for (size_t i = dims.size(); i-- > 1;)
    strides[i - 1] = strides[i] * dims[i];
  for (int64_t axis : order) {
    std::vector<int64_t> next;
    for (int64_t start : counted)
      for (int64_t i = 0; i < dims[size_t(axis)]; ++i)
        next.push_back(start + i * strides[size_t(axis)]);
    counted = std::move(next);
  }
  return counted;
}

std::optional<Sharding> readSharding(std::string_view bytes, size_t numDims,
                                     int64_t numPartitions) {
  WireReader message(bytes);
  uint64_t type = IsReplicated;
  bool lastIsCopies = false;
  std::vector<int64_t> reshape, order, kinds;
  Sharding sharding;
  auto append = [&](std::vector<int64_t> &to) {
    for (int64_t value : message.list())
      to.push_back(value);
  };
  while (message.next())
    switch (message.field()) {
    case 1:
      type = message.value();
      break;
    case 3:
      append(sharding.tiles);
      break;
    case 4:
      append(sharding.partitions);
      break;
    case 6:
      lastIsCopies = message.value() != 0;
      break;
    case 8:
      append(kinds);
      break;
    case 9:
      append(reshape);
      break;
    case 10:
      append(order);
      break;
    }
  if (message.failed() || (type != IsReplicated && type != IsTiled))
    return std::nullopt;
  if (type == IsReplicated) {
    sharding = {};
    sharding.tiles.assign(numDims, 1);
    sharding.tiles.push_back(numPartitions);
    sharding.subgroups = {Sharding::Replicated};
    sharding.partitions = transposedCount({numPartitions}, {0});
    return sharding;
  }
  if (lastIsCopies)
    kinds = {Sharding::Replicated};
  int64_t count = 1;
  for (int64_t tiles : sharding.tiles)
    if (tiles < 1 || tiles > numPartitions / count)
      return std::nullopt;
    else
      count *= tiles;
  if (count != numPartitions || sharding.tiles.size() != numDims + kinds.size())
    return std::nullopt;
  for (int64_t kind : kinds)
    if (kind == Sharding::Replicated)
      sharding.subgroups.push_back(Sharding::Replicated);
    else
      return std::nullopt;
  if (sharding.partitions.empty()) {
    if (reshape.empty())
      reshape = {numPartitions};
    if (order.empty())
      for (size_t i = 0; i < reshape.size(); ++i)
        order.push_back(int64_t(i));
    std::vector<bool> seen(reshape.size());
    int64_t product = 1;
    if (order.size() != reshape.size())
      return std::nullopt;
    for (int64_t axis : order)
      if (axis < 0 || size_t(axis) >= seen.size() || seen[size_t(axis)] ||
          reshape[size_t(axis)] < 1 ||
          reshape[size_t(axis)] > numPartitions / product)
        return std::nullopt;
      else
        seen[size_t(axis)] = true, product *= reshape[size_t(axis)];
    if (product != numPartitions)
      return std::nullopt;
    sharding.partitions = transposedCount(reshape, order);
  }
  if (sharding.partitions.size() != size_t(numPartitions))
    return std::nullopt;
  return sharding;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static constexpr uint64_t tupleShape = 13;

static uint64_t shapeType(std::string_view name) {
  static constexpr std::pair<std::string_view, uint64_t> types[] = {
      {"i1", 1},
      {"i8", 2},
      {"i16", 3},
      {"i32", 4},
      {"i64", 5},
      {"ui8", 6},
      {"ui16", 7},
      {"ui32", 8},
      {"ui64", 9},
      {"f16", 10},
      {"f32", 11},
      {"f64", 12},
      {"complex<f32>", 15},
      {"bf16", 16},
      {"complex<f64>", 18},
      {"f8E5M2", 19},
      {"f8E4M3FN", 20},
      {"i4", 21},
      {"ui4", 22},
      {"f8E4M3B11FNUZ", 23},
      {"f8E5M2FNUZ", 24},
      {"f8E4M3FNUZ", 25},
      {"i2", 26},
      {"ui2", 27},
      {"f8E4M3", 28},
      {"f8E3M4", 29},
      {"f4E2M1FN", 32},
      {"f8E8M0FNU", 33}};
  for (const auto &[known, code] : types)
    if (known == name)
      return code;
  return 0;
}

std::string writeShape(std::string_view elementType,
                       const std::vector<int64_t> &dims) {
  uint64_t type = shapeType(elementType);
  if (type == 0)
    return "";
  WireWriter shape, layout;
  std::vector<int64_t> minorToMajor;
  for (size_t i = dims.size(); i-- > 0;)
    minorToMajor.push_back(int64_t(i));
  layout.list(1, minorToMajor);
  shape.number(2, type);
  shape.list(3, dims);
  shape.text(5, layout.take());
  shape.list(6, std::vector<int64_t>(dims.size(), 0));
  return shape.take();
}

std::string writeTupleShape(const std::vector<std::string> &parts) {
  WireWriter shape;
  shape.number(2, tupleShape);
  for (const std::string &part : parts)
    shape.text(4, part);
  return shape.take();
}

} // namespace shardc::pjrt
