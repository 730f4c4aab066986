//===- HloSharding.cpp - Shardings in the text of HLO ---------------------===//
//
//     {replicated}   {manual}   {maximal device=0}   {unknown shard_as 3}
//     {devices=[2,1,4]<=[8] last_tile_dim_replicate}
//     {devices=[4,1,2]<=[2,4]T(1,0) last_tile_dims={manual, replicated}}
//     {devices=[2,2]0,2,1,3 metadata={op_name="f"}}
//
// The ranks in order of their tiles are an array of numbers. Where it is the
// numbers 0, 1, .. reshaped and transposed, it is a list of parts, each a size
// and a stride, major to minor; tile dims are runs of them.
//
//===----------------------------------------------------------------------===//
#include "HloSharding.h"
#include "llvm/Support/MathExtras.h"

using namespace shardc;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using Part = HloSharding::Part;

/// `[1,2]`: consumed from `text`.
static bool parseList(StringRef &text, char open, char close,
                      llvm::SmallVectorImpl<int64_t> &list) {
  if (text.empty() || text.front() != open)
    return false;
  size_t end = text.find(close);
  if (end == StringRef::npos)
    return false;
  SmallVector<StringRef> entries;
  text.slice(1, end).split(entries, ',', -1, /*KeepEmpty=*/false);
  text = text.drop_front(end + 1);
  for (StringRef entry : entries)
    if (entry.trim().getAsInteger(10, list.emplace_back()))
      return false;
  return true;
}

/// The parts of `ranks`, an array of all numbers below its size; none if it is
/// no transposed count.
static SmallVector<Part> partsOf(ArrayRef<int64_t> ranks) {
  SmallVector<Part> minorFirst;
  int64_t done = 1, count = ranks.size();
  if (count == 0 || ranks.front() != 0)
    return {};
  while (done < count) {
    int64_t stride = ranks[done], size = 1;
    while ((size + 1) * done <= count && ranks[size * done] == size * stride)
      ++size;
    if (size == 1 || count % (done * size) != 0)
      return {};
    minorFirst.push_back({size, stride});
    done *= size;
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, rank = 0;
    for (Part part : minorFirst) {
      rank += rest % part.size * part.stride;
      rest /= part.size;
    }
    if (rank != ranks[i])
      return {};
  }
  return SmallVector<Part>(llvm::reverse(minorFirst));
}

/// Cuts `parts` into runs that make the sizes of the tile dims.
static bool groupParts(SmallVector<Part> parts, ArrayRef<int64_t> sizes,
                       HloSharding &sharding) {
  size_t next = 0;
  for (int64_t size : sizes) {
    SmallVector<Part> &tile = sharding.tiles.emplace_back();
    while (size > 1) {
      if (next == parts.size())
        return false;
      Part &part = parts[next];
      if (size % part.size == 0) {
        tile.push_back(part);
        size /= part.size;
        ++next;
      } else if (part.size % size == 0) {
        // The major end of this part; the rest is the next tile's.
        tile.push_back({size, part.stride * (part.size / size)});
        part.size /= size;
        size = 1;
      } else {
        return false;
      }
    }
  }
  return next == parts.size();
}

/// Where the brace that opens at the front of `text` closes; npos if it does
/// not.
static size_t findClosing(StringRef text) {
  int64_t depth = 0;
  bool isQuoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\'))
      isQuoted = !isQuoted;
    if (isQuoted)
      continue;
    depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
    if (depth == 0)
      return i;
  }
  return StringRef::npos;
}

SmallVector<StringRef> shardc::splitHloTuple(StringRef text) {
  SmallVector<StringRef> parts;
  StringRef rest = text.trim();
  if (!rest.consume_front("{") || !rest.ltrim().starts_with("{"))
    return {text};
  for (rest = rest.ltrim(); rest.starts_with("{"); rest = rest.ltrim(", ")) {
    size_t end = findClosing(rest);
    if (end == StringRef::npos)
      return {text};
    parts.push_back(rest.take_front(end + 1));
    rest = rest.drop_front(end + 1);
  }
  return parts;
}

int64_t shardc::countHloPartitions(StringRef text) {
  int64_t most = 1;
  for (StringRef part : splitHloTuple(text)) {
    SmallVector<int64_t> sizes;
    size_t at = part.find("devices=");
    StringRef rest = at == StringRef::npos
                         ? ""
                         : part.drop_front(at + StringRef("devices=").size());
    int64_t count = 1;
    if (parseList(rest, '[', ']', sizes))
      for (int64_t size : sizes)
        if (size < 1 || llvm::MulOverflow(count, size, count))
          return 1;
    most = std::max(most, count);
  }
  return most;
}

/// Takes from the end of `rest` what says nothing of tiles: metadata, and the
/// group of values that are cut alike. Returns what is wrong.
static std::string takeTrailers(StringRef &rest, HloSharding &sharding) {
  if (size_t at = rest.find("metadata={"); at != StringRef::npos) {
    StringRef inner = rest.drop_front(at + StringRef("metadata=").size());
    size_t end = findClosing(inner);
    if (end == StringRef::npos || !inner.drop_front(end + 1).trim().empty())
      return "metadata does not end";
    rest = rest.take_front(at).rtrim(", ");
  }
  for (StringRef word : {"shard_as ", "shard_like "})
    if (size_t at = rest.rfind(word); at != StringRef::npos) {
      int64_t number;
      if (rest.drop_front(at + word.size()).trim().getAsInteger(10, number) ||
          number < 0)
        return "expected the number of a group after " + word.rtrim().str();
      sharding.group = number;
      rest = rest.take_front(at).rtrim(", ");
    }
  return "";
}

std::string shardc::parseHloSharding(StringRef text, int64_t numRanks,
                                     HloSharding &sharding) {
  StringRef rest = text.trim();
  if (!rest.consume_front("{") || !rest.consume_back("}"))
    return "expected a sharding in braces";
  rest = rest.trim();
  if (std::string wrong = takeTrailers(rest, sharding); !wrong.empty())
    return wrong;
  if (rest == "replicated")
    return "";
  if (rest == "unknown") {
    sharding.kind = HloSharding::Kind::Unknown;
    return "";
  }
  if (rest == "manual") {
    sharding.kind = HloSharding::Kind::Manual;
    return "";
  }
  if (rest.starts_with("maximal")) {
    sharding.kind = HloSharding::Kind::Maximal;
    return "";
  }
  SmallVector<int64_t> sizes, reshape, order, ranks;
  if (!rest.consume_front("devices=") || !parseList(rest, '[', ']', sizes))
    return "expected replicated, manual, maximal, unknown or devices=[..]";
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (size < 1 || count > numRanks / size)
      return "tiles are not as many as the program's " +
             std::to_string(numRanks) + " partitions";
    count *= size;
  }
  if (count != numRanks)
    return std::to_string(count) + " tiles, but the program has " +
           std::to_string(numRanks) + " partitions";
  if (rest.consume_front("<=")) {
    if (!parseList(rest, '[', ']', reshape))
      return "expected [..] after <=";
    if (rest.consume_front("T")) {
      if (!parseList(rest, '(', ')', order))
        return "expected (..) after T";
    } else {
      order = llvm::to_vector(llvm::seq<int64_t>(0, reshape.size()));
    }
    SmallVector<int64_t> sorted(order);
    llvm::sort(sorted);
    int64_t product = 1;
    for (int64_t size : reshape) {
      if (size < 1 || product > numRanks / size)
        return "<= does not count all partitions";
      product *= size;
    }
    if (sorted != llvm::to_vector(llvm::seq<int64_t>(0, reshape.size())) ||
        product != numRanks)
      return "<=[..]T(..) is no order of all partitions";
    for (int64_t i = 0; i < numRanks; ++i) {
      int64_t left = i, rank = 0;
      for (int64_t axis : llvm::reverse(order)) {
        int64_t stride = 1;
        for (size_t minor = axis + 1; minor < reshape.size(); ++minor)
          stride *= reshape[minor];
        rank += left % reshape[axis] * stride;
        left /= reshape[axis];
      }
      ranks.push_back(rank);
    }
  } else {
    StringRef list =
        rest.take_while([](char c) { return llvm::isDigit(c) || c == ','; });
    rest = rest.drop_front(list.size());
    SmallVector<StringRef> entries;
    list.split(entries, ',', -1, /*KeepEmpty=*/false);
    for (StringRef entry : entries)
      if (entry.getAsInteger(10, ranks.emplace_back()))
        return "expected partitions in order of their tiles";
    if (static_cast<int64_t>(ranks.size()) != numRanks)
      return "expected a partition for each tile";
  }
  rest = rest.trim();
  sharding.kind = HloSharding::Kind::Tiled;
  sharding.numTensorDims = sizes.size();
  if (rest.consume_front("last_tile_dims={") && rest.consume_back("}")) {
    SmallVector<StringRef> kinds;
    rest.split(kinds, ',');
    for (StringRef kind : kinds) {
      if (kind.trim() != "manual" && kind.trim() != "replicated")
        return "last tile dim '" + kind.trim().str() + "' is unknown";
      sharding.lastIsManual.push_back(kind.trim() == "manual");
    }
  } else if (rest == "last_tile_dim_replicate") {
    sharding.lastIsManual.push_back(false);
  } else if (!rest.empty()) {
    return "'" + rest.str() + "' is unknown";
  }
  sharding.numTensorDims -= sharding.lastIsManual.size();
  if (sharding.numTensorDims < 0)
    return "more last tile dims than tile dims";
  if (numRanks > 1) {
    SmallVector<Part> parts = partsOf(ranks);
    if (parts.empty() || !groupParts(parts, sizes, sharding))
      return "the order of its partitions is that of no mesh";
  } else {
    sharding.tiles.resize(sizes.size());
  }
  return "";
}
