//===- Wire.h - The protocol buffers that PJRT passes -----------*- C++ -*-===//
//
// Compile options, device assignments and shardings travel as protocol
// buffers: a few fields of each, read and written here. What is not known is
// passed over, as the format asks for.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_PJRT_WIRE_H
#define SHARDC_PJRT_WIRE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardc::pjrt {

/// Goes through the fields of one message.
class WireReader {
public:
  explicit WireReader(std::string_view bytes) : rest(bytes) {}

  /// Reads the next field; false at the end, or where the bytes are no
  /// message.
  bool next();
  bool failed() const { return bad; }
  /// Of the field read: its number, the number it holds (bits, for floats),
  /// and its bytes (text, a message, a packed list).
  uint32_t field() const { return number; }
  uint64_t value() const { return scalar; }
  std::string_view bytes() const { return content; }
  /// The numbers of a list that is packed, or the only one.
  std::vector<int64_t> list() const;

private:
  bool varint(uint64_t &result);
  bool fail();
  std::string_view rest, content;
  uint32_t number = 0, kind = 0;
  uint64_t scalar = 0;
  bool bad = false;
};

/// Puts a message together.
class WireWriter {
public:
  void number(uint32_t field, uint64_t value);
  void text(uint32_t field, std::string_view bytes);
  void list(uint32_t field, const std::vector<int64_t> &values);
  std::string take() { return std::move(out); }

private:
  void varint(uint64_t value);
  std::string out;
};

/// What of a caller's compile options matters here.
struct CompileOptions {
  int64_t replicas = 1, partitions = 1;
  /// Where nothing says which devices: the one that the program was compiled
  /// for, -1 if that is open too.
  int64_t deviceOrdinal = -1;
  bool portable = false;
  /// The device of each partition; empty: not said.
  std::vector<int64_t> devices;
  /// Which results may be laid out as the compiler likes; one flag may be there
  /// for all.
  std::vector<bool> freeResults;
  /// What the user wrote as compiler_options.
  std::vector<std::pair<std::string, std::string>> user;
};

/// nullopt where `bytes` is no such message.
std::optional<CompileOptions> readCompileOptions(std::string_view bytes);

/// One device for each partition, in a message of its own.
std::string writeDeviceAssignment(const std::vector<int64_t> &devices);

/// The layout of a value over the devices of a program.
struct Sharding {
  /// Tiles of each dim; then one entry for each of `subgroups`.
  std::vector<int64_t> tiles;
  /// The partition of each tile, row-major.
  std::vector<int64_t> partitions;
  enum Subgroup { Replicated = 0, Unreduced = 6 };
  std::vector<Subgroup> subgroups;
};

/// As a caller compares it: all replicated has a form of its own.
std::string writeSharding(const Sharding &sharding);
/// Those of a tuple's parts, each written.
std::string writeTupleSharding(const std::vector<std::string> &parts);

/// Reads the sharding of a value with this many dims over `numPartitions`; all
/// dims have a tile. nullopt where `bytes` is none that says where each element
/// is: partial, of one device, or not known.
std::optional<Sharding> readSharding(std::string_view bytes, size_t numDims,
                                     int64_t numPartitions);
/// Those of a tuple's parts; nullopt where `bytes` is no tuple's.
std::optional<std::vector<std::string_view>>
splitTupleSharding(std::string_view bytes);

/// A shape, dims row-major; `elementType` is spelt as MLIR does. "" for a type
/// that callers do not know.
std::string writeShape(std::string_view elementType,
                       const std::vector<int64_t> &dims);
/// The shape of a tuple of `parts`, each written.
std::string writeTupleShape(const std::vector<std::string> &parts);

} // namespace shardc::pjrt

#endif // SHARDC_PJRT_WIRE_H
