//===- Bind.cpp - A program for sizes that are said late ------------------===//
//
// What binding makes is a program like any other: sites, metadata and numbers
// of one binding, and the code of the program that it was made of.
//
//===----------------------------------------------------------------------===//

#include "Program/Program.h"
#include "shardc/Layout/Boundaries.h"
#include "shardc/Layout/Limits.h"
#include <set>

using namespace shardrt;
using shardc::Binding;
using shardc::BoundTable;

/// More than any machine has.
static constexpr int64_t largestArena = int64_t(1) << 48;

/// Of one argument or result.
static constexpr int64_t mostElements = shardc::kMaxElements;

using Sizes = std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>>;

/// The sizes that the indices `boundaries` leave, for messages.
static std::string listSizes(const std::vector<int64_t> &boundaries) {
  std::string text = "[";
  for (size_t i = 1; i < boundaries.size(); ++i)
    text +=
        (i > 1 ? ", " : "") + std::to_string(boundaries[i] - boundaries[i - 1]);
  return text + "]";
}

static std::string nameDim(int64_t argument, int64_t dim) {
  return "argument " + std::to_string(argument) + ", dim " +
         std::to_string(dim);
}

/// " (argument 0, dim 0: 7)": the open extents that are given, for messages
/// about what follows from them.
static std::string listExtents(const Formulas &formulas, const Sizes &given) {
  std::string text;
  for (int64_t i = 0; i < formulas.extents.size(); ++i) {
    const shardc::ExtentExpr &extent = formulas.extents[i];
    if (extent.kind != shardc::ExtentKind::Dim)
      continue;
    auto found = given.find({extent.operands[0], extent.operands[1]});
    if (found != given.end())
      text += (text.empty() ? " (" : "; ") +
              nameDim(extent.operands[0], extent.operands[1]) + ": " +
              std::to_string(found->second.back());
  }
  return text.empty() ? text : text + ")";
}

/// What open extents are: of each dim as many elements as its sizes add up to.
static std::string collectExtents(const Formulas &formulas, const Sizes &given,
                                  Binding &binding) {
  binding.extents = formulas.extents;
  std::map<std::pair<int64_t, int64_t>, int64_t> dims;
  for (const auto &[place, boundaries] : given) {
    if (boundaries.back() > mostElements)
      return nameDim(place.first, place.second) + ": " +
             std::to_string(boundaries.back()) +
             " elements, expected at most 2^48";
    dims[place] = boundaries.back();
  }
  std::string error;
  binding.values = formulas.extents.evaluate(dims, error);
  return error.empty() ? error : error + listExtents(formulas, given);
}

/// The mesh that is bound: `mesh`, if it differs from that of `program` in axes
/// alone whose sizes are open; or an error.
static std::string collectMesh(const Program &program,
                               std::span<const int64_t> mesh,
                               Binding &binding) {
  const SiteTable &table = program.table;
  const std::vector<int64_t> &open = program.formulas->symbolicAxes;
  if (mesh.size() != table.meshShape.size())
    return "a mesh of " + std::to_string(mesh.size()) +
           " axes for a program whose mesh has " +
           std::to_string(table.meshShape.size());
  int64_t ranks = 1;
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    std::string where = "axis \"" + table.axisNames[axis] + "\": ";
    if (mesh[axis] < 1)
      return where + std::to_string(mesh[axis]) + " ranks, expected at least 1";
    bool isOpen = std::find(open.begin(), open.end(),
                            static_cast<int64_t>(axis)) != open.end();
    if (mesh[axis] != table.meshShape[axis] && !isOpen)
      return where + std::to_string(mesh[axis]) +
             " ranks, but the program was compiled for " +
             std::to_string(table.meshShape[axis]);
    if (mesh[axis] > maxRanks / ranks)
      return where + std::to_string(mesh[axis]) +
             (ranks > 1 ? " times " + std::to_string(ranks) : "") +
             ": more than " + std::to_string(maxRanks) + " ranks";
    ranks *= mesh[axis];
  }
  binding.meshShape.assign(mesh.begin(), mesh.end());
  return {};
}

/// What is bound: `given`, and balanced sizes for all else; or an error.
static std::string collect(const Formulas &formulas, const Sizes &given,
                           Binding &binding) {
  std::string error;
  if (!formulas.extents.empty())
    error = collectExtents(formulas, given, binding);
  if (!error.empty())
    return error;
  for (const Given &open : formulas.givens) {
    // Axes cut a dim once, so that there are no more shards than ranks; tables
    // that nobody vouches for may say otherwise.
    int64_t shards = 1;
    for (int64_t factor : open.factors)
      if (__builtin_mul_overflow(
              shards, factor < 0 ? binding.meshShape[~factor] : factor,
              &shards) ||
          shards > maxRanks)
        return nameDim(open.argument, open.dim) + ": more than " +
               std::to_string(maxRanks) + " shards";
    binding.given[{open.argument, open.dim}] =
        shardc::Boundaries::balanced(
            formulas.extents.resolve(open.size, binding.values), shards)
            .indices();
  }
  std::set<std::pair<int64_t, int64_t>> openDims;
  for (int64_t i = 0; i < formulas.extents.size(); ++i)
    if (formulas.extents[i].kind == shardc::ExtentKind::Dim)
      openDims.insert(
          {formulas.extents[i].operands[0], formulas.extents[i].operands[1]});
  for (const auto &[place, boundaries] : given) {
    std::string where = nameDim(place.first, place.second) + ": ";
    auto known = binding.given.find(place);
    // One size of an open extent is the extent; its shards are balanced.
    if (openDims.count(place) &&
        (boundaries.size() == 2 || known == binding.given.end())) {
      if (boundaries.size() == 2)
        continue;
      return where + std::to_string(boundaries.size() - 1) + " sizes " +
             listSizes(boundaries) +
             " for a dim that is not cut: give its "
             "extent";
    }
    if (known == binding.given.end())
      return where + "its sizes were not left open when the program was "
                     "compiled";
    if (boundaries.size() != known->second.size())
      return where + std::to_string(boundaries.size() - 1) + " sizes " +
             listSizes(boundaries) + " for " +
             std::to_string(known->second.size() - 1) + " shards";
    if (boundaries.back() != known->second.back())
      return where + "sizes " + listSizes(boundaries) + " add up to " +
             std::to_string(boundaries.back()) + ", expected " +
             std::to_string(known->second.back());
    known->second = boundaries;
  }
  return {};
}

/// Writes `indices`, one for each border of `formulas`, over the boundaries of
/// `metadata`: those of the n-th dim of arguments and results are the n-th of
/// it. An error, or an empty string.
static std::string
writeBorders(const Formulas &formulas,
             const std::vector<std::vector<int64_t>> &indices,
             std::string &metadata) {
  static constexpr std::string_view key = "\"boundaries\":[";
  std::string text;
  size_t copied = 0, from = 0;
  int64_t place = -1;
  for (size_t n = 0; n < formulas.borders.size(); ++n) {
    const BoundBorder &border = formulas.borders[n];
    size_t begin = from;
    while (place < border.place) {
      begin = metadata.find(key, from);
      if (begin == std::string::npos)
        return "has formulas for dims that its metadata has not";
      from = begin + key.size();
      ++place;
    }
    size_t end = metadata.find(']', from);
    if (place != border.place || end == std::string::npos)
      return "has formulas for dims that its metadata has not";
    text.append(metadata, copied, from - copied);
    for (size_t i = 0; i < indices[n].size(); ++i)
      text += (i ? "," : "") + std::to_string(indices[n][i]);
    copied = end;
  }
  text.append(metadata, copied);
  metadata = std::move(text);
  return {};
}

/// Writes open extents into the shapes of arguments and results. An error, or
/// an empty string.
static std::string bindShapes(const Formulas &formulas,
                              const std::vector<int64_t> &values,
                              std::string &metadata) {
  static constexpr std::string_view key = "\"shape\":[";
  std::string text;
  size_t copied = 0;
  // Arguments come first, in order, then results.
  size_t results = metadata.find("\"results\":[");
  int64_t arguments = 0, number = 0;
  for (size_t begin = 0;
       (begin = metadata.find(key, begin)) != std::string::npos;) {
    begin += key.size();
    size_t end = metadata.find(']', begin);
    if (end == std::string::npos)
      break;
    bool isArgument = begin < results;
    arguments += isArgument;
    text.append(metadata, copied, begin - copied);
    size_t start = text.size();
    int64_t elements = 1;
    for (size_t at = begin; at < end;) {
      size_t next = std::min(metadata.find(',', at), end);
      int64_t size = formulas.extents.resolve(
          std::strtoll(metadata.c_str() + at, nullptr, 10), values);
      text += (at > begin ? "," : "") + std::to_string(size);
      if (size < 0 ||
          __builtin_mul_overflow(elements, std::max<int64_t>(size, 1),
                                 &elements) ||
          elements > mostElements)
        elements = mostElements + 1;
      at = next + 1;
    }
    if (elements > mostElements)
      return (isArgument ? "argument " : "result ") +
             std::to_string(isArgument ? number : number - arguments) +
             ": shape [" + text.substr(start) + "] has more than 2^48 elements";
    ++number;
    copied = begin = end;
  }
  text.append(metadata, copied);
  metadata = std::move(text);
  return {};
}

/// Writes the sizes of the mesh's axes into `metadata`.
static std::string writeMesh(const std::vector<int64_t> &meshShape,
                             std::string &metadata) {
  // Quotes within names are escaped: these are keys.
  static constexpr std::string_view list = "\"mesh\":[", key = "\"size\":";
  size_t at = metadata.find(list);
  if (at == std::string::npos)
    return metadata.empty() ? "" : "has metadata without a mesh";
  for (int64_t size : meshShape) {
    at = metadata.find(key, at);
    if (at == std::string::npos)
      return "has metadata with fewer axes than its mesh has";
    at += key.size();
    size_t end = metadata.find_first_not_of("0123456789", at);
    if (end == std::string::npos)
      return "has metadata that ends in its mesh";
    metadata.replace(at, end - at, std::to_string(size));
  }
  return {};
}

std::string shardrt::checkBorders(const Program &program) {
  std::string metadata = program.metadata;
  std::string error =
      writeBorders(*program.formulas, program.borders, metadata);
  return error.empty() ? writeMesh(program.table.meshShape, metadata) : error;
}

/// Binds the parts of an exchange whose dims were `compiled`: a table is what
/// is owned of its dim, or what is needed. Where these were the same for the
/// sizes of the estimate, what is needed: the rest of it holds what is owned
/// too.
static std::string bindParts(const std::vector<shardc::DimExchange> &compiled,
                             shardc::Exchange &exchange) {
  for (auto &part : exchange.parts)
    for (size_t i = 0; i < std::min(part.size(), compiled.size()); ++i) {
      const shardc::DimExchange &before = compiled[i], &now = exchange.dims[i];
      if (before == now)
        continue;
      if (part[i] != before.needed && part[i] != before.owned)
        return "has parts of an exchange that do not follow from its sizes";
      part[i] = part[i] == before.needed ? now.needed : now.owned;
    }
  return {};
}

/// Writes the tables that `formulas` say over those of the sites.
static std::string bindSites(const Formulas &formulas, const Binding &binding,
                             const std::vector<BoundTable> &tables,
                             SiteTable &table) {
  table.meshShape = binding.meshShape;
  for (Site &site : table.sites) {
    site.exchange.meshShape = binding.meshShape;
    for (std::vector<int64_t> *shape :
         {&site.exchange.globalShape, &site.rows.slices})
      for (int64_t &size : *shape)
        size = binding.extents.resolve(size, binding.values);
  }
  std::map<int64_t, std::vector<shardc::DimExchange>> withParts;
  for (const BoundSide &side : formulas.sides) {
    bool isThere =
        side.site >= 0 && side.site < static_cast<int64_t>(table.sites.size());
    std::vector<shardc::DimExchange> *dims = nullptr;
    if (isThere)
      dims = side.isRow ? &table.sites[side.site].rows.dims
                        : &table.sites[side.site].exchange.dims;
    if (!dims || side.dim < 0 || side.dim >= static_cast<int64_t>(dims->size()))
      return "has formulas for sites that are not there";
    shardc::Exchange &exchange = table.sites[side.site].exchange;
    if (!side.isRow && !exchange.parts.empty())
      withParts.try_emplace(side.site, exchange.dims);
    shardc::DimExchange &dim = (*dims)[side.dim];
    const BoundTable &bound = tables[side.formula];
    for (int64_t axis : bound.axes)
      if (std::find(dim.axes.begin(), dim.axes.end(), axis) == dim.axes.end())
        return "has formulas along axes that a site has not";
    (side.isNeeded ? dim.needed : dim.owned) =
        shardc::expandTable(bound, dim.axes, table.meshShape).intervals;
    // What there is one of for each rank is as long as there are ranks.
    if (!side.isRow && !side.isNeeded && dim.dim >= 0 &&
        dim.dim < static_cast<int64_t>(exchange.globalShape.size()))
      exchange.globalShape[dim.dim] = dim.size();
  }
  for (const auto &[site, compiled] : withParts)
    if (std::string error = bindParts(compiled, table.sites[site].exchange);
        !error.empty())
      return error;
  return {};
}

std::vector<int64_t> shardrt::wordsOfBinding(const Program &program) {
  std::vector<int64_t> words;
  for (const std::vector<int64_t> &indices : program.given)
    words.insert(words.end(), indices.begin(), indices.end());
  words.insert(words.end(), program.extents.begin(), program.extents.end());
  return words;
}

std::string
shardrt::compareBindings(const Program &program,
                         std::span<const std::vector<int64_t>> byRank) {
  size_t first = 0;
  for (size_t i = 0; i < program.given.size(); ++i) {
    // Ranks by their sizes.
    std::map<std::vector<int64_t>, std::vector<size_t>> ranksBySizes;
    size_t end = first + program.given[i].size();
    for (size_t rank = 0; rank < byRank.size(); ++rank)
      ranksBySizes[{byRank[rank].begin() + static_cast<int64_t>(first),
                    byRank[rank].begin() + static_cast<int64_t>(end)}]
          .push_back(rank);
    first = end;
    if (ranksBySizes.size() == 1)
      continue;
    const Given &open = program.formulas->givens[i];
    std::string text =
        nameDim(open.argument, open.dim) + ": ranks bring different sizes: ";
    // The few that differ are of interest, and one of the others.
    std::vector<std::pair<std::vector<size_t>, std::string>> lines;
    for (const auto &[indices, ranks] : ranksBySizes)
      lines.push_back({ranks, listSizes(indices)});
    std::sort(lines.begin(), lines.end());
    constexpr size_t most = 4;
    for (size_t line = 0; line < std::min(most, lines.size()); ++line) {
      const auto &[ranks, sizes] = lines[line];
      text += (line ? "; " : "") +
              std::string(ranks.size() > 1 ? "ranks " : "rank ");
      for (size_t r = 0; r < std::min(most, ranks.size()); ++r)
        text += (r ? ", " : "") + std::to_string(ranks[r]);
      text += (ranks.size() > most ? ", …: " : ": ") + sizes;
    }
    return text + (lines.size() > most ? "; …" : "");
  }
  for (size_t i = 0; i < program.extents.size(); ++i) {
    const shardc::ExtentExpr &extent = program.formulas->extents[i];
    if (extent.kind != shardc::ExtentKind::Dim)
      continue;
    for (size_t rank = 1; rank < byRank.size(); ++rank)
      if (byRank[rank][first + i] != byRank[0][first + i])
        return nameDim(extent.operands[0], extent.operands[1]) +
               ": ranks bring different extents: rank 0: " +
               std::to_string(byRank[0][first + i]) + "; rank " +
               std::to_string(rank) + ": " +
               std::to_string(byRank[rank][first + i]);
  }
  return {};
}

/// Appends to `numbers` where the buffers of the arena begin, and its bytes,
/// where `entryOf` says what a table has. False where these are more than there
/// can be.
template <typename EntryOf>
static bool placeBuffers(const Program &program, EntryOf entryOf,
                         std::vector<int64_t> &numbers) {
  const std::vector<BoundBuffer> &buffers = program.formulas->buffers;
  std::vector<int64_t> ends;
  int64_t total = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    int64_t bytes = buffers[i].bytes, begin = 0, end = 0;
    for (const BoundTable &size : program.bufferSizes[i])
      if (__builtin_mul_overflow(bytes, std::max<int64_t>(0, entryOf(size)),
                                 &bytes))
        return false;
    for (int64_t other : buffers[i].below)
      begin = std::max(begin, ends[other]);
    if (bytes > largestArena || begin > largestArena - bytes)
      return false;
    end =
        begin + (bytes + arenaAlignment - 1) / arenaAlignment * arenaAlignment;
    numbers.push_back(begin);
    ends.push_back(end);
    total = std::max(total, end);
  }
  if (!buffers.empty())
    numbers.push_back(total);
  return true;
}

std::optional<std::vector<int64_t>>
shardrt::numbersOfRank(const Program &program, int64_t rank) {
  auto entryOf = [&](const BoundTable &table) {
    return table.numbers[shardc::coordinateAlong(program.table.meshShape,
                                                 table.axes, rank)];
  };
  std::vector<int64_t> numbers;
  for (const BoundTable &table : program.numbers)
    numbers.push_back(entryOf(table));
  if (!placeBuffers(program, entryOf, numbers))
    return std::nullopt;
  return numbers;
}

static int64_t positionOfLargest(const BoundTable &table) {
  return std::max_element(table.numbers.begin(), table.numbers.end()) -
         table.numbers.begin();
}

/// The bytes of an arena with the largest of all that ranks have, which is as
/// large as any; nothing where that is larger than there can be.
static std::optional<int64_t> boundOfArenas(const Program &program) {
  std::vector<int64_t> places;
  auto largest = [](const BoundTable &table) {
    return table.numbers[positionOfLargest(table)];
  };
  if (!placeBuffers(program, largest, places))
    return std::nullopt;
  return places.empty() ? 0 : places.back();
}

/// The bytes of the largest arena that a rank has; nothing where one is larger
/// than there can be.
static std::optional<int64_t> largestArenaOf(const Program &program) {
  std::optional<int64_t> bound = boundOfArenas(program);
  const BoundTable *varying = nullptr;
  for (const std::vector<BoundTable> &sizes : program.bufferSizes)
    for (const BoundTable &table : sizes)
      if (!varying &&
          table.numbers[positionOfLargest(table)] !=
              *std::min_element(table.numbers.begin(), table.numbers.end()))
        varying = &table;
  if (!varying)
    return bound;
  auto coordinateOf = [&](const BoundTable &table, int64_t rank) {
    return shardc::coordinateAlong(program.table.meshShape, table.axes, rank);
  };
  // Mostly the rank with the longest shard needs as much as the bound says.
  const int64_t ranks = program.table.numRanks();
  int64_t likely = 0, position = positionOfLargest(*varying);
  while (likely + 1 < ranks && coordinateOf(*varying, likely) != position)
    ++likely;
  std::vector<int64_t> places;
  int64_t most = 0;
  for (int64_t i = 0; i < ranks; ++i) {
    int64_t rank = (likely + i) % ranks;
    places.clear();
    auto ofRank = [&](const BoundTable &table) {
      return table.numbers[coordinateOf(table, rank)];
    };
    if (!placeBuffers(program, ofRank, places))
      return std::nullopt;
    if (places.back() == bound)
      return bound;
    most = std::max(most, places.back());
  }
  return most;
}

const std::string &Program::describeValues() const {
  if (!formulas || !isComplete())
    return metadata;
  std::call_once(described, [&] {
    std::string text = metadata;
    writeBorders(*formulas, borders, text);
    writeMesh(table.meshShape, text);
    if (!extents.empty())
      bindShapes(*formulas, extents, text);
    static constexpr std::string_view key = "\"arena_bytes\":";
    size_t begin = text.find(key);
    if (begin != std::string::npos && !formulas->buffers.empty()) {
      begin += key.size();
      size_t end = text.find_first_not_of("0123456789", begin);
      text.replace(begin, end - begin, std::to_string(*largestArenaOf(*this)));
    }
    ofBinding = std::move(text);
  });
  return ofBinding;
}

std::shared_ptr<Program>
shardrt::bindProgram(std::shared_ptr<const Program> program,
                     std::span<const int64_t> mesh, const Sizes &given,
                     int &status, std::string &error) {
  status = SHARDRT_USAGE;
  if (!program->formulas) {
    error = "no sizes of this program were left open when it was compiled";
    return nullptr;
  }
  // Placeholders are in what was compiled alone.
  if (program->origin)
    program = program->origin;
  const Formulas &formulas = *program->formulas;
  Binding binding;
  error = collectMesh(*program, mesh, binding);
  if (error.empty())
    error = collect(formulas, given, binding);
  if (!error.empty())
    return nullptr;
  std::vector<BoundTable> tables = formulas.list.evaluate(binding, error);
  if (!error.empty()) {
    error += listExtents(formulas, given);
    return nullptr;
  }
  auto bound = std::make_shared<Program>();
  for (const Given &open : formulas.givens)
    bound->given.push_back(binding.given[{open.argument, open.dim}]);
  bound->main = program->main;
  bound->table = program->table;
  bound->metadata = program->metadata;
  bound->device = program->device;
  bound->marked = program->marked;
  bound->formulas = program->formulas;
  for (int64_t lookup : formulas.lookups)
    bound->numbers.push_back(tables[lookup]);
  for (const BoundBuffer &buffer : formulas.buffers) {
    std::vector<BoundTable> &sizes = bound->bufferSizes.emplace_back();
    for (int64_t size : buffer.sizes)
      sizes.push_back(tables[size]);
  }
  bound->extents = binding.values;
  for (const BoundBorder &border : formulas.borders)
    bound->borders.push_back(tables[border.formula].indices);
  error = bindSites(formulas, binding, tables, bound->table);
  if (error.empty() && !bound->extents.empty()) {
    std::string unused = bound->metadata;
    error = bindShapes(formulas, bound->extents, unused);
  }
  if (error.empty() && !boundOfArenas(*bound) && !largestArenaOf(*bound)) {
    error = "its temporaries are larger than any memory";
    status = SHARDRT_MEMORY;
  }
  if (error.empty())
    error = checkSites(*bound);
  if (!error.empty())
    return nullptr;
  bound->origin = program->origin ? program->origin : std::move(program);
  status = SHARDRT_OK;
  return bound;
}
