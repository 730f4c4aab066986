//===- Metadata.cpp - What an artifact says about itself ------------------===//

#include "shardc/Translation/Metadata.h"
#include "shardc/Layout/Limits.h"
#include "shardc/Seal/Interface.h"
#include "shardc/Translation/MetadataText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace llvm;
using namespace shardc;

static constexpr size_t kMaxNameBytes = 4096;
static constexpr size_t kMaxTextBytes = 100 * 1000 * 1000;
static constexpr int kMaxNesting = 32;
/// More indices than this are written once where several dims have them.
static constexpr size_t kLeastShared = 16;
/// Most indices of all dims together: a text that says each of them has no
/// more.
static constexpr size_t kMaxIndices = kMaxTextBytes / 2;

int64_t ProgramMetadata::numRanks() const {
  int64_t ranks = 1;
  for (const MeshAxis &axis : mesh)
    ranks *= axis.size;
  return ranks;
}

std::vector<int64_t> ProgramMetadata::meshShape() const {
  std::vector<int64_t> shape;
  for (const MeshAxis &axis : mesh)
    shape.push_back(axis.size);
  return shape;
}

Box shardc::boxOf(const ValueMetadata &value, ArrayRef<int64_t> meshShape,
                  int64_t rank) {
  if (!value.ranks.empty())
    rank = llvm::find(value.ranks, rank) - value.ranks.begin();
  Box box;
  for (const DimPlacement &dim : value.dims)
    box.push_back(
        dim.boundaries.shard(coordinateAlong(meshShape, dim.axes, rank)));
  return box;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static void writeIntegers(json::OStream &out, StringRef key,
                          ArrayRef<int64_t> values) {
  out.attributeArray(key, [&] {
    for (int64_t value : values)
      out.value(value);
  });
}

namespace {
/// Boundaries that are written once, by their place in the list of these.
using BoundaryLists = std::map<std::vector<int64_t>, int64_t>;
} // namespace

/// Those of several dims, in the order in which they are met. Short ones take
/// no more room than the fields that would refer to them.
static std::vector<std::vector<int64_t>>
listShared(const ProgramMetadata &metadata) {
  std::map<std::vector<int64_t>, int64_t> uses;
  std::vector<std::vector<int64_t>> shared;
  for (const std::vector<ValueMetadata> *values :
       {&metadata.arguments, &metadata.results})
    for (const ValueMetadata &value : *values)
      for (const DimPlacement &dim : value.dims)
        if (const std::vector<int64_t> &indices = dim.boundaries.indices();
            indices.size() > kLeastShared && ++uses[indices] == 2)
          shared.push_back(indices);
  return shared;
}

static void writeValue(json::OStream &out, const ValueMetadata &value,
                       const BoundaryLists &lists) {
  out.object([&] {
    out.attribute("name", json::fixUTF8(value.name));
    out.attribute("type", value.elementType);
    out.attribute("location", json::fixUTF8(value.location));
    if (!value.check.empty())
      out.attribute("check", value.check);
    if (value.donated)
      out.attribute("donated", *value.donated);
    if (!value.memory.empty())
      out.attribute("memory", json::fixUTF8(value.memory));
    if (value.inPlace)
      out.attribute("in_place", *value.inPlace);
    if (!value.ranks.empty())
      writeIntegers(out, "ranks", value.ranks);
    if (!value.callerDims.empty())
      writeIntegers(out, "caller_dims", value.callerDims);
    if (value.isToken)
      out.attribute("token", true);
    writeIntegers(out, "shape", value.shape);
    out.attributeArray("dims", [&] {
      for (const DimPlacement &dim : value.dims)
        out.object([&] {
          writeIntegers(out, "axes", dim.axes);
          const std::vector<int64_t> &indices = dim.boundaries.indices();
          if (auto found = lists.find(indices); found != lists.end())
            out.attribute("boundaries", found->second);
          else
            writeIntegers(out, "boundaries", indices);
          out.attribute("dynamic", dim.dynamic);
          if (dim.open)
            out.attribute("open", true);
        });
    });
    if (!value.partial.empty())
      out.attributeArray("partial", [&] {
        for (const PartialPlacement &partial : value.partial)
          out.object([&] {
            out.attribute("axis", partial.axis);
            out.attribute("kind", partial.kind);
          });
      });
  });
}

static std::string
write(const ProgramMetadata &metadata,
      const std::vector<std::vector<int64_t>> &written = {}) {
  BoundaryLists lists;
  for (const std::vector<int64_t> &indices : written)
    lists.emplace(indices, lists.size());
  std::string text;
  raw_string_ostream stream(text);
  json::OStream out(stream);
  out.object([&] {
    out.attribute("format", metadata.format);
    out.attribute("interface", StringRef(runtimeInterface()));
    out.attribute("name", json::fixUTF8(metadata.name));
    out.attribute("compiler", json::fixUTF8(metadata.compiler));
    out.attribute("arch", json::fixUTF8(metadata.arch));
    if (!metadata.processor.empty())
      out.attribute("processor", json::fixUTF8(metadata.processor));
    out.attribute("arena_bytes", metadata.arenaBytes);
    out.attribute("threads", metadata.threads);
    if (metadata.reproducible)
      out.attribute("reproducible", true);
    if (metadata.work != ProgramWork()) {
      out.attribute("operations", metadata.work.operations);
      out.attribute("transcendentals", metadata.work.transcendentals);
      out.attribute("accessed_bytes", metadata.work.bytes);
    }
    out.attributeArray("mesh", [&] {
      for (const MeshAxis &axis : metadata.mesh)
        out.object([&] {
          out.attribute("name", json::fixUTF8(axis.name));
          out.attribute("size", axis.size);
        });
    });
    if (!written.empty())
      out.attributeArray("boundary_lists", [&] {
        for (ArrayRef<int64_t> indices : written)
          out.array([&] {
            for (int64_t index : indices)
              out.value(index);
          });
      });
    out.attributeArray("arguments", [&] {
      for (const ValueMetadata &value : metadata.arguments)
        writeValue(out, value, lists);
    });
    out.attributeArray("results", [&] {
      for (const ValueMetadata &value : metadata.results)
        writeValue(out, value, lists);
    });
    out.attributeArray("communication", [&] {
      for (const SiteMetadata &site : metadata.communication)
        out.object([&] {
          out.attribute("kind", site.kind);
          out.attributeArray("axes", [&] {
            for (const std::string &axis : site.axes)
              out.value(json::fixUTF8(axis));
          });
          out.attribute("dim", site.dim);
          out.attribute("bytes", site.bytesPerStep);
          out.attribute("location", json::fixUTF8(site.location));
          out.attribute("reason", json::fixUTF8(site.reason));
        });
    });
  });
  out.flush();
  return text;
}

std::string shardc::toJSON(const ProgramMetadata &metadata) {
  return write(metadata);
}

std::string shardc::toShortJSON(const ProgramMetadata &metadata) {
  return write(metadata, listShared(metadata));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Reads fields by name; the first thing wrong is kept, with its path.
class Reader {
public:
  bool ok() const { return message.empty(); }
  Error take() const { return createStringError("metadata: " + message); }

  bool fail(const Twine &path, const Twine &what) {
    if (ok())
      message = (path + ": " + what).str();
    return false;
  }

  const json::Object *object(const json::Value &value, const Twine &path) {
    const json::Object *object = value.getAsObject();
    if (!object)
      fail(path, "expected an object");
    return object;
  }

  void read(const json::Object &object, StringRef key, const Twine &path,
            int64_t &value) {
    std::optional<int64_t> found = object.getInteger(key);
    if (!found)
      fail(path + "." + key, "expected an integer");
    else
      value = *found;
  }
  void read(const json::Object &object, StringRef key, const Twine &path,
            bool &value) {
    std::optional<bool> found = object.getBoolean(key);
    if (!found)
      fail(path + "." + key, "expected true or false");
    else
      value = *found;
  }
  void read(const json::Object &object, StringRef key, const Twine &path,
            std::string &value) {
    std::optional<StringRef> found = object.getString(key);
    if (!found)
      fail(path + "." + key, "expected a string");
    else if (found->size() > kMaxNameBytes)
      fail(path + "." + key, "longer than " + Twine(kMaxNameBytes) + " bytes");
    else
      value = found->str();
  }
  /// Calls `element` for each entry of an array of at most `most`.
  void
  readArray(const json::Object &object, StringRef key, const Twine &path,
            size_t most,
            function_ref<void(const json::Value &, const Twine &)> element) {
    std::string name = (path + "." + key).str();
    const json::Array *array = object.getArray(key);
    if (!array) {
      fail(name, "expected an array");
      return;
    }
    if (array->size() > most) {
      fail(name, Twine(array->size()) + " entries, at most " + Twine(most) +
                     " are read");
      return;
    }
    for (auto [i, value] : enumerate(*array))
      if (ok())
        element(value, name + "[" + Twine(i) + "]");
  }
  void read(const json::Object &object, StringRef key, const Twine &path,
            size_t most, std::vector<int64_t> &values) {
    readArray(object, key, path, most,
              [&](const json::Value &value, const Twine &at) {
                if (std::optional<int64_t> integer = value.getAsInteger())
                  values.push_back(*integer);
                else
                  fail(at, "expected an integer");
              });
  }

  /// The lists of boundaries that dims may refer to.
  void readLists(const json::Object &object) {
    readArray(object, "boundary_lists", "", SIZE_MAX,
              [&](const json::Value &value, const Twine &at) {
                const json::Array *array = value.getAsArray();
                if (!array || array->size() > kMaxRanks + 1) {
                  fail(at,
                       "expected at most " + Twine(kMaxRanks + 1) + " indices");
                  return;
                }
                std::vector<int64_t> &list = lists.emplace_back();
                for (const json::Value &index : *array)
                  if (std::optional<int64_t> integer = index.getAsInteger())
                    list.push_back(*integer);
                  else
                    fail(at, "expected integers");
              });
  }
  /// The boundaries of a dim: indices, or the number of a list of them.
  void readBoundaries(const json::Object &object, const Twine &path,
                      std::vector<int64_t> &bounds) {
    if (std::optional<int64_t> number = object.getInteger("boundaries")) {
      if (*number < 0 || *number >= static_cast<int64_t>(lists.size())) {
        fail(path + ".boundaries",
             "list " + Twine(*number) + ", there are " + Twine(lists.size()));
        return;
      }
      bounds = lists[*number];
    } else {
      read(object, "boundaries", path, kMaxRanks + 1, bounds);
    }
    indices += bounds.size();
    if (indices > kMaxIndices)
      fail(path + ".boundaries",
           "more than " + Twine(kMaxIndices) + " indices in all");
  }

private:
  std::string message;
  std::vector<std::vector<int64_t>> lists;
  size_t indices = 0; ///< of all dims read
};

} // namespace

static void readDim(Reader &reader, const json::Value &json, const Twine &path,
                    ArrayRef<MeshAxis> mesh, int64_t size, uint64_t &usedAxes,
                    DimPlacement &dim) {
  const json::Object *object = reader.object(json, path);
  if (!object)
    return;
  reader.read(*object, "axes", path, kMaxMeshAxes, dim.axes);
  std::vector<int64_t> bounds;
  reader.readBoundaries(*object, path, bounds);
  reader.read(*object, "dynamic", path, dim.dynamic);
  if (object->get("open"))
    reader.read(*object, "open", path, dim.open);
  if (!reader.ok())
    return;
  int64_t shards = 1;
  for (int64_t axis : dim.axes) {
    if (axis < 0 || axis >= static_cast<int64_t>(mesh.size())) {
      reader.fail(path + ".axes", "axis " + Twine(axis) + ", the mesh has " +
                                      Twine(mesh.size()));
      return;
    }
    if (usedAxes >> axis & 1) {
      reader.fail(path + ".axes",
                  "axis '" + mesh[axis].name + "' is used twice");
      return;
    }
    usedAxes |= uint64_t(1) << axis;
    shards *= mesh[axis].size;
  }
  std::optional<Boundaries> boundaries =
      Boundaries::fromBounds(std::move(bounds));
  if (!boundaries || boundaries->numShards() != shards ||
      boundaries->size() != size) {
    reader.fail(path + ".boundaries", "expected " + Twine(shards + 1) +
                                          " ascending indices from 0 to " +
                                          Twine(size));
    return;
  }
  dim.boundaries = *boundaries;
}

static void readPartial(Reader &reader, const json::Value &json,
                        const Twine &path, ArrayRef<MeshAxis> mesh,
                        uint64_t &usedAxes, PartialPlacement &partial) {
  const json::Object *object = reader.object(json, path);
  if (!object)
    return;
  reader.read(*object, "axis", path, partial.axis);
  reader.read(*object, "kind", path, partial.kind);
  if (!reader.ok())
    return;
  if (partial.axis < 0 || partial.axis >= static_cast<int64_t>(mesh.size()) ||
      (usedAxes >> partial.axis & 1))
    reader.fail(path + ".axis",
                "expected an axis of the mesh that is used once");
  else if (!is_contained({"sum", "product", "min", "max", "and", "or", "xor"},
                         StringRef(partial.kind)))
    reader.fail(path + ".kind", "expected a kind of reduction");
  else
    usedAxes |= uint64_t(1) << partial.axis;
}

/// Whether `numbers` are 0 to `count` - 1, each once.
static bool isOrderOf(std::vector<int64_t> numbers, int64_t count) {
  llvm::sort(numbers);
  bool isOrder = int64_t(numbers.size()) == count;
  for (auto [i, number] : llvm::enumerate(numbers))
    isOrder &= number == int64_t(i);
  return isOrder;
}

static void readValue(Reader &reader, const json::Value &json,
                      const Twine &path, ArrayRef<MeshAxis> mesh,
                      ValueMetadata &value) {
  const json::Object *object = reader.object(json, path);
  if (!object)
    return;
  reader.read(*object, "name", path, value.name);
  reader.read(*object, "type", path, value.elementType);
  reader.read(*object, "location", path, value.location);
  if (object->get("check"))
    reader.read(*object, "check", path, value.check);
  if (object->get("memory"))
    reader.read(*object, "memory", path, value.memory);
  if (object->get("donated")) {
    reader.read(*object, "donated", path, value.donated.emplace());
    if (*value.donated < -1 || *value.donated > INT32_MAX)
      reader.fail(path + ".donated", "expected the number of a result, or -1");
  }
  if (object->get("in_place"))
    reader.read(*object, "in_place", path, value.inPlace.emplace());
  if (object->get("ranks")) {
    reader.read(*object, "ranks", path, kMaxRanks, value.ranks);
    int64_t ranks = 1;
    for (const MeshAxis &axis : mesh)
      ranks *= axis.size;
    if (!isOrderOf(value.ranks, ranks)) {
      reader.fail(path + ".ranks", "expected each rank once");
      return;
    }
  }
  reader.read(*object, "shape", path, kMaxTensorDims, value.shape);
  // Nothing is allocated for placeholders of open extents, but their number of
  // elements is computed with.
  const json::Array *places = object->getArray("dims");
  bool isOpen = places && any_of(*places, [](const json::Value &place) {
                  const json::Object *fields = place.getAsObject();
                  return fields && fields->getBoolean("open").value_or(false);
                });
  int64_t elements = 1, most = isOpen ? int64_t(1) << 62 : kMaxElements;
  for (int64_t size : value.shape) {
    if (size < 0 || size > kMaxElements || (size && elements > most / size)) {
      reader.fail(path + ".shape", "negative, or more than 2^48 elements");
      return;
    }
    elements *= size ? size : 1;
  }
  if (object->get("caller_dims")) {
    reader.read(*object, "caller_dims", path, kMaxTensorDims, value.callerDims);
    if (!isOrderOf(value.callerDims, value.shape.size())) {
      reader.fail(path + ".caller_dims", "expected each dim once");
      return;
    }
  }
  if (object->get("token"))
    reader.read(*object, "token", path, value.isToken);
  uint64_t usedAxes = 0;
  reader.readArray(*object, "dims", path, kMaxTensorDims,
                   [&](const json::Value &dim, const Twine &at) {
                     size_t index = value.dims.size();
                     DimPlacement placement;
                     if (index < value.shape.size())
                       readDim(reader, dim, at, mesh, value.shape[index],
                               usedAxes, placement);
                     value.dims.push_back(std::move(placement));
                   });
  if (reader.ok() && value.dims.size() != value.shape.size())
    reader.fail(path + ".dims", "expected one for each of " +
                                    Twine(value.shape.size()) + " dims");
  if (object->get("partial"))
    reader.readArray(*object, "partial", path, kMaxMeshAxes,
                     [&](const json::Value &json, const Twine &at) {
                       readPartial(reader, json, at, mesh, usedAxes,
                                   value.partial.emplace_back());
                     });
}

static void readSite(Reader &reader, const json::Value &json, const Twine &path,
                     SiteMetadata &site) {
  const json::Object *object = reader.object(json, path);
  if (!object)
    return;
  reader.read(*object, "kind", path, site.kind);
  reader.readArray(*object, "axes", path, kMaxMeshAxes,
                   [&](const json::Value &axis, const Twine &at) {
                     if (std::optional<StringRef> name = axis.getAsString())
                       site.axes.push_back(name->str());
                     else
                       reader.fail(at, "expected a string");
                   });
  reader.read(*object, "dim", path, site.dim);
  reader.read(*object, "bytes", path, site.bytesPerStep);
  reader.read(*object, "location", path, site.location);
  reader.read(*object, "reason", path, site.reason);
}

/// True if brackets nest deeper than `most`: the JSON parser is recursive.
static bool nestsDeeperThan(StringRef text, int most) {
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > most)
        return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

Expected<ProgramMetadata> shardc::parseMetadata(StringRef text) {
  if (text.size() > kMaxTextBytes)
    return createStringError(Twine("metadata: ") + Twine(text.size()) +
                             " bytes, at most " + Twine(kMaxTextBytes) +
                             " are read");
  if (nestsDeeperThan(text, kMaxNesting))
    return createStringError(Twine("metadata: nested deeper than ") +
                             Twine(kMaxNesting));
  Expected<json::Value> root = json::parse(text);
  if (!root)
    return createStringError("metadata: " + toString(root.takeError()));

  Reader reader;
  ProgramMetadata metadata;
  const json::Object *object = reader.object(*root, "root");
  if (!object)
    return reader.take();
  reader.read(*object, "format", "", metadata.format);
  if (reader.ok() && metadata.format != ProgramMetadata::currentFormat)
    reader.fail(".format", "version " + Twine(metadata.format) +
                               ", this build reads " +
                               Twine(ProgramMetadata::currentFormat) +
                               ": compile the program again");
  reader.read(*object, "name", "", metadata.name);
  reader.read(*object, "compiler", "", metadata.compiler);
  reader.read(*object, "arch", "", metadata.arch);
  // Artifacts of before, and those for processors that have no list, do not say
  // it.
  if (object->get("processor"))
    reader.read(*object, "processor", "", metadata.processor);
  reader.read(*object, "arena_bytes", "", metadata.arenaBytes);
  // Artifacts of before threads do not say it.
  if (object->get("threads"))
    reader.read(*object, "threads", "", metadata.threads);
  if (object->get("reproducible"))
    reader.read(*object, "reproducible", "", metadata.reproducible);
  for (auto [name, value] :
       {std::pair("operations", &metadata.work.operations),
        {"transcendentals", &metadata.work.transcendentals},
        {"accessed_bytes", &metadata.work.bytes}})
    if (object->get(name))
      reader.read(*object, name, "", *value);
  int64_t ranks = 1;
  reader.readArray(
      *object, "mesh", "", kMaxMeshAxes,
      [&](const json::Value &json, const Twine &at) {
        MeshAxis axis;
        if (const json::Object *fields = reader.object(json, at)) {
          reader.read(*fields, "name", at, axis.name);
          reader.read(*fields, "size", at, axis.size);
        }
        if (reader.ok() && (axis.size < 1 || axis.size > kMaxRanks / ranks))
          reader.fail(at + ".size",
                      "below 1, or more than " + Twine(kMaxRanks) + " ranks");
        ranks *= axis.size;
        metadata.mesh.push_back(std::move(axis));
      });
  if (object->get("boundary_lists"))
    reader.readLists(*object);
  auto readValues = [&](StringRef key, std::vector<ValueMetadata> &values) {
    if (!reader.ok())
      return;
    reader.readArray(*object, key, "", SIZE_MAX,
                     [&](const json::Value &json, const Twine &at) {
                       readValue(reader, json, at, metadata.mesh,
                                 values.emplace_back());
                     });
  };
  readValues("arguments", metadata.arguments);
  readValues("results", metadata.results);
  for (auto [i, value] : enumerate(metadata.results))
    if (value.inPlace &&
        (*value.inPlace < 0 ||
         *value.inPlace >= static_cast<int64_t>(metadata.arguments.size()) ||
         !metadata.arguments[*value.inPlace].donated))
      reader.fail(".results[" + Twine(i) + "].in_place",
                  "expected the number of a donated argument");
  reader.readArray(*object, "communication", "", SIZE_MAX,
                   [&](const json::Value &json, const Twine &at) {
                     readSite(reader, json, at,
                              metadata.communication.emplace_back());
                   });
  if (!reader.ok())
    return reader.take();
  return metadata;
}
