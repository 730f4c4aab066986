//===- Metadata.cpp - Where a compiled program's values are ---------------===//
#include "Metadata.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace shardc::pjrt {

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace {
/// One value. Text is kept as it is between its quotes.
struct Json {
  std::string_view text; ///< of numbers and words too
  std::vector<Json> items;
  std::map<std::string_view, Json> members;

  const Json *member(std::string_view name) const {
    auto found = members.find(name);
    return found == members.end() ? nullptr : &found->second;
  }
  int64_t number() const {
    return std::strtoll(std::string(text).c_str(), nullptr, 10);
  }
  std::vector<int64_t> numbers() const {
    std::vector<int64_t> values;
    for (const Json &item : items)
      values.push_back(item.number());
    return values;
  }
};

class JsonReader {
public:
  explicit JsonReader(std::string_view text) : rest(text) {}

  bool read(Json &value, int depth = 0) {
    if (depth > 32)
      return false;
    if (take('{'))
      return list('}', [&] {
        Json name;
        return string(name.text) && take(':') &&
               read(value.members[name.text], depth + 1);
      });
    if (take('['))
      return list(']',
                  [&] { return read(value.items.emplace_back(), depth + 1); });
    if (peek() == '"')
      return string(value.text);
    size_t size = rest.find_first_of(",]} \n\t\r");
    value.text = rest.substr(0, size);
    rest.remove_prefix(value.text.size());
    return !value.text.empty();
  }

private:
  char peek() {
    size_t begin = rest.find_first_not_of(" \n\t\r");
    rest.remove_prefix(begin == rest.npos ? rest.size() : begin);
    return rest.empty() ? 0 : rest.front();
  }
  bool take(char character) {
    if (peek() != character)
      return false;
    rest.remove_prefix(1);
    return true;
  }
  bool string(std::string_view &text) {
    if (!take('"'))
      return false;
    size_t end = 0;
    while (end < rest.size() && rest[end] != '"')
      end += rest[end] == '\\' ? 2 : 1;
    if (end >= rest.size())
      return false;
    text = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return true;
  }
  template <typename Element> bool list(char end, Element element) {
    if (take(end))
      return true;
    do
      if (!element())
        return false;
    while (take(','));
    return take(end);
  }
  std::string_view rest;
};
} // namespace

/// Whether `dims` are empty, or this many, each once.
static bool isOrder(const std::vector<int64_t> &dims, size_t count) {
  std::vector<bool> seen(count);
  for (int64_t dim : dims)
    if (dim < 0 || size_t(dim) >= count || seen[dim])
      return false;
    else
      seen[dim] = true;
  return dims.empty() || dims.size() == count;
}

static bool readValues(const Json &json, size_t numAxes,
                       std::vector<ValueMetadata> &values) {
  auto inMesh = [&](int64_t axis) {
    return axis >= 0 && size_t(axis) < numAxes;
  };
  for (const Json &item : json.items) {
    ValueMetadata &value = values.emplace_back();
    if (const Json *memory = item.member("memory"))
      value.memory = memory->text;
    if (const Json *ranks = item.member("ranks"))
      value.ranks = ranks->numbers();
    if (const Json *dims = item.member("caller_dims"))
      value.callerDims = dims->numbers();
    if (const Json *donated = item.member("donated"))
      value.donated = donated->number();
    if (const Json *token = item.member("token"))
      value.isToken = token->text == "true";
    if (const Json *dims = item.member("dims"))
      for (const Json &dim : dims->items) {
        const Json *axes = dim.member("axes");
        value.axes.push_back(axes ? axes->numbers() : std::vector<int64_t>());
        if (!std::all_of(value.axes.back().begin(), value.axes.back().end(),
                         inMesh))
          return false;
      }
    if (!isOrder(value.callerDims, value.axes.size()))
      return false;
    if (const Json *partial = item.member("partial"))
      for (const Json &part : partial->items)
        if (const Json *axis = part.member("axis")) {
          value.partial.push_back(axis->number());
          if (!inMesh(value.partial.back()))
            return false;
        }
  }
  return true;
}

std::optional<Metadata> readMetadata(std::string_view text) {
  Json json;
  if (!JsonReader(text).read(json))
    return std::nullopt;
  Metadata metadata;
  const Json *mesh = json.member("mesh");
  const Json *arguments = json.member("arguments");
  const Json *results = json.member("results");
  if (!mesh || !arguments || !results)
    return std::nullopt;
  for (const Json &axis : mesh->items) {
    const Json *size = axis.member("size");
    if (!size || size->number() < 1)
      return std::nullopt;
    metadata.mesh.push_back(size->number());
  }
  if (!readValues(*arguments, metadata.mesh.size(), metadata.arguments) ||
      !readValues(*results, metadata.mesh.size(), metadata.results))
    return std::nullopt;
  return metadata;
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

Sharding shardingOf(const ValueMetadata &value,
                    const std::vector<int64_t> &mesh) {
  Sharding sharding;
  std::vector<int64_t> order; // axes, as the tiles run through them
  std::vector<bool> used(mesh.size());
  auto use = [&](int64_t axis) {
    order.push_back(axis);
    used[axis] = true;
    return mesh[axis];
  };
  std::vector<std::vector<int64_t>> dims = value.axes;
  for (size_t i = 0; i < value.callerDims.size(); ++i)
    dims[value.callerDims[i]] = value.axes[i];
  for (const std::vector<int64_t> &axes : dims) {
    int64_t tiles = 1;
    for (int64_t axis : axes)
      tiles *= use(axis);
    sharding.tiles.push_back(tiles);
  }
  auto subgroup = [&](Sharding::Subgroup kind, int64_t size) {
    if (size == 1)
      return;
    sharding.tiles.push_back(size);
    sharding.subgroups.push_back(kind);
  };
  int64_t parts = 1, copies = 1;
  std::vector<int64_t> partial = value.partial;
  std::sort(partial.begin(), partial.end());
  for (int64_t axis : partial)
    if (!used[axis])
      parts *= use(axis);
  subgroup(Sharding::Unreduced, parts);
  for (size_t axis = 0; axis < mesh.size(); ++axis)
    if (!used[axis])
      copies *= use(int64_t(axis));
  subgroup(Sharding::Replicated, copies);

  // Counts through the axes in that order, the last one fastest.
  std::vector<int64_t> strides(mesh.size(), 1);
  for (size_t axis = mesh.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * mesh[axis];
  sharding.partitions = {0};
  for (int64_t axis : order) {
    std::vector<int64_t> next;
    for (int64_t partition : sharding.partitions)
      for (int64_t i = 0; i < mesh[axis]; ++i)
        next.push_back(partition + i * strides[axis]);
    sharding.partitions = std::move(next);
  }
  for (int64_t &partition : sharding.partitions)
    if (size_t(partition) < value.ranks.size())
      partition = value.ranks[partition];
  return sharding;
}

} // namespace shardc::pjrt
