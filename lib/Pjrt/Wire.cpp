//===- Wire.cpp - The protocol buffers that PJRT hands over ---------------===//
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

} // namespace shardc::pjrt
