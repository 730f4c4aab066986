//===- SessionBind.cpp - Sizes that are said when a program is run --------===//
//
// What a command line says of sizes, shapes and the mesh, as a binding of the
// runtime.
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "shardc/Driver/Balance.h"
#include "shardc/Layout/Limits.h"
#include "shardc/Layout/Shares.h"
#include <set>

using namespace llvm;
using namespace shardc;

/// The number of the argument that `name` names, or -1.
static int64_t findArgument(const ProgramMetadata &program, StringRef name) {
  int64_t count = program.arguments.size(), number = 0;
  if (!name.getAsInteger(10, number))
    return number >= 0 && number < count ? number : -1;
  for (number = 0; number < count; ++number)
    if (program.arguments[number].name == name)
      return number;
  return -1;
}

/// The sizes of a list, "3,2,0".
static std::optional<std::vector<int64_t>> parseSizes(StringRef text) {
  std::vector<int64_t> sizes;
  for (StringRef entry : split(text, ',')) {
    int64_t size = 0;
    if (entry.trim().getAsInteger(10, size) || size < 0)
      return std::nullopt;
    sizes.push_back(size);
  }
  return sizes;
}

bool Session::hasOpenExtents() const {
  return any_of(program.arguments, [](const ValueMetadata &argument) {
    return any_of(argument.dims,
                  [](const DimPlacement &dim) { return dim.open; });
  });
}

/// Reads "0=8x6;x=4x4" into the shapes of arguments, by number. What does not
/// name an open dim says nothing new.
static Error readShapes(const ProgramMetadata &program, StringRef text,
                        std::map<int64_t, std::vector<int64_t>> &shapes) {
  std::set<int64_t> said;
  for (StringRef entry : split(text, ';')) {
    if (entry.empty())
      continue;
    auto [name, list] = entry.rsplit('=');
    bool isGuess = name.consume_front("?");
    int64_t argument = findArgument(program, name.trim());
    std::vector<int64_t> shape;
    bool isShape = true;
    if (list.trim() != "scalar")
      for (StringRef part : split(list.trim(), 'x')) {
        int64_t size = 0;
        isShape &= !part.getAsInteger(10, size) && size >= 0;
        shape.push_back(size);
      }
    bool fits = argument >= 0 && isShape &&
                shape.size() == program.arguments[argument].shape.size();
    for (size_t i = 0; fits && i < shape.size(); ++i)
      fits = program.arguments[argument].dims[i].open ||
             shape[i] == program.arguments[argument].shape[i];
    if (fits && !isGuess && !said.insert(argument).second)
      return toolError(ExitCode::Usage, "--shapes=" + entry + ": argument " +
                                            Twine(argument) +
                                            " is given twice");
    if (fits)
      shapes[argument] = std::move(shape);
    else if (!isGuess)
      return toolError(ExitCode::Usage,
                       "--shapes=" + entry +
                           ": the program has no such argument, or one whose "
                           "other dims differ");
  }
  return Error::success();
}

/// The sizes of axes that `text` says, or that make up `ranks`; those that were
/// not left open must be as they were compiled.
Expected<std::vector<int64_t>>
Session::readMesh(StringRef model, StringRef text,
                  std::optional<int64_t> ranks) const {
  auto refuse = [&](const Twine &asked) {
    return toolError(ExitCode::Usage,
                     model + ": was compiled for the mesh " +
                         printMesh(program.mesh) + ", but " + asked +
                         "; compile it again with shard-translate --mesh, or "
                         "once for any number of ranks with --symbolic-mesh");
  };
  std::vector<int64_t> sizes = program.meshShape();
  std::vector<size_t> unsaid;
  int64_t known = 1;
  for (auto [i, axis] : enumerate(program.mesh)) {
    bool isSaid = false,
         isOpen = shardrt_program_mesh_axis_is_open(code.get(), i);
    for (StringRef entry : split(text, ',')) {
      auto [name, value] = entry.split('=');
      if (name.trim() != axis.name)
        continue;
      int64_t size = 0;
      if (value.trim().getAsInteger(10, size) || size < 1 || size > kMaxRanks)
        return toolError(ExitCode::Usage,
                         "--mesh=" + entry +
                             ": expected an axis and its size, 1 to " +
                             Twine(kMaxRanks));
      if (!isOpen && size != axis.size)
        return refuse("--mesh gives " + entry);
      isSaid = true;
      sizes[i] = size;
    }
    if (isOpen && !isSaid)
      unsaid.push_back(i);
    else
      known = std::min<int64_t>(known * sizes[i], int64_t(1) << 32);
  }
  for (StringRef entry : split(text, ','))
    if (StringRef name = entry.split('=').first.trim();
        !name.empty() && none_of(program.mesh, [&](const MeshAxis &axis) {
          return axis.name == name;
        }))
      return refuse("--mesh gives " + entry);
  if (ranks && unsaid.size() == 1) {
    if (*ranks % known != 0)
      return refuse("--ranks gives " + Twine(*ranks) +
                    ", which its other axes do not divide");
    sizes[unsaid.front()] = *ranks / known;
  } else if (int64_t all = std::accumulate(
                 sizes.begin(), sizes.end(), int64_t(1),
                 [](int64_t a, int64_t b) {
                   return std::min<int64_t>(a * b, int64_t(1) << 32);
                 });
             ranks && all != *ranks) {
    if (unsaid.size() > 1)
      return toolError(ExitCode::Usage,
                       "--ranks gives " + Twine(*ranks) + ", but the mesh " +
                           printMesh(program.mesh) +
                           " has several axes of open size; say them with "
                           "--mesh");
    return refuse("--ranks gives " + Twine(*ranks));
  }
  return sizes;
}

Error Session::bind(StringRef model, StringRef text, StringRef shapeText,
                    StringRef meshText, std::optional<int64_t> ranks) {
  Expected<std::vector<int64_t>> mesh = readMesh(model, meshText, ranks);
  if (!mesh)
    return mesh.takeError();
  if (text.empty() && shapeText.empty() && *mesh == program.meshShape() &&
      !hasOpenExtents())
    return Error::success();
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> sizes;
  std::map<int64_t, std::vector<int64_t>> shapes;
  if (Error error = readShapes(program, shapeText, shapes))
    return error;
  std::map<std::string, std::vector<int64_t>> shares;
  for (StringRef entry : split(text, ';')) {
    if (entry.empty())
      continue;
    auto [place, list] = entry.split('=');
    auto [name, dimText] = place.trim().rsplit(':');
    std::optional<std::vector<int64_t>> numbers = parseSizes(list);
    auto refuse = [&](const Twine &why) {
      return toolError(ExitCode::Usage, "--sizes=" + entry + ": " + why);
    };
    if (!numbers)
      return refuse("expected sizes, such as 0:2=300,200");
    if (dimText.empty()) {
      auto axis = find_if(program.mesh, [&](const MeshAxis &axis) {
        return axis.name == place.trim();
      });
      if (axis == program.mesh.end())
        return refuse("the mesh is " + printMesh(program.mesh));
      int64_t total = 0;
      for (int64_t share : *numbers)
        total = std::min<int64_t>(total + std::min<int64_t>(share, INT32_MAX),
                                  INT64_C(1) << 40);
      int64_t size = (*mesh)[axis - program.mesh.begin()];
      if (static_cast<int64_t>(numbers->size()) != size || total == 0 ||
          total > INT32_MAX)
        return refuse("expected a share for each of " + Twine(size) +
                      " coordinates, of 1 to 2147483647 in all");
      if (!shares.try_emplace(axis->name, std::move(*numbers)).second)
        return refuse("axis \"" + axis->name + "\" is given twice");
      continue;
    }
    int64_t argument = findArgument(program, name), dim = 0;
    if (argument < 0)
      return refuse("the program has " + Twine(program.arguments.size()) +
                    " arguments, and none is '" + name + "'");
    if (dimText.getAsInteger(10, dim) || dim < 0 ||
        dim >= static_cast<int64_t>(program.arguments[argument].dims.size()))
      return refuse("argument " + Twine(argument) + " has " +
                    Twine(program.arguments[argument].dims.size()) + " dims");
    if (const DimPlacement &place = program.arguments[argument].dims[dim];
        !place.dynamic && !place.open)
      return refuse("the program was compiled for the sizes of dim " +
                    Twine(dim) + " of argument " + Twine(argument) +
                    "; leave them open with shard-translate --dynamic=" +
                    Twine(argument) + ":" + Twine(dim));
    if (!sizes.try_emplace({argument, dim}, std::move(*numbers)).second)
      return refuse("dim " + Twine(dim) + " of argument " + Twine(argument) +
                    " is given twice");
  }
  if (!shares.empty())
    for (auto [number, argument] : enumerate(program.arguments))
      for (auto [i, dim] : enumerate(argument.dims)) {
        std::pair<int64_t, int64_t> place(number, i);
        bool isAsked = any_of(dim.axes, [&](int64_t axis) {
          return shares.count(program.mesh[axis].name) > 0;
        });
        if (!dim.dynamic || !isAsked || sizes.count(place))
          continue;
        auto shape = shapes.find(number);
        if (dim.open && shape == shapes.end())
          continue;
        Boundaries cut =
            Boundaries::whole(dim.open ? shape->second[i] : argument.shape[i]);
        for (int64_t axis : dim.axes) {
          auto share = shares.find(program.mesh[axis].name);
          cut = share == shares.end() ? cut.refine((*mesh)[axis])
                                      : refineInShares(cut, share->second);
        }
        sizes[place] = cut.sizes();
      }
  // What is said of an open dim is at least how many elements it has.
  for (auto &[argument, shape] : shapes)
    for (auto [i, dim] : enumerate(program.arguments[argument].dims)) {
      if (!dim.open)
        continue;
      auto [place, isNew] =
          sizes.try_emplace({argument, i}, std::vector<int64_t>{shape[i]});
      std::optional<Boundaries> cut = Boundaries::fromSizes(place->second);
      if (!isNew && cut && cut->size() != shape[i])
        return toolError(ExitCode::Usage,
                         "--sizes: argument " + Twine(argument) + ", dim " +
                             Twine(i) + ": sizes add up to " +
                             Twine(cut->size()) + ", but --shapes gives " +
                             Twine(shape[i]));
    }
  for (auto [number, argument] : enumerate(program.arguments))
    for (auto [i, dim] : enumerate(argument.dims))
      if (dim.open && !sizes.count({number, i}))
        return toolError(
            ExitCode::Usage,
            "argument " + Twine(number) + ", dim " + Twine(i) +
                ": how many elements it has was left open when "
                "the program was compiled; give inputs, --shapes=" +
                Twine(number) + "=.. or --sizes=" + Twine(number) + ":" +
                Twine(i) + "=..");
  std::vector<shardrt_given> given;
  for (auto &[place, list] : sizes)
    given.push_back({place.first, place.second,
                     static_cast<int64_t>(list.size()), list.data()});
  return bindTo(*mesh, given, text.empty() ? "" : "--sizes: ");
}

Error Session::bindTo(ArrayRef<int64_t> mesh, ArrayRef<shardrt_given> given,
                      StringRef option) {
  char problem[1024] = "";
  shardrt_program *bound = nullptr;
  if (int status = shardrt_program_bind_mesh(
          code.get(), mesh.data(), static_cast<int64_t>(mesh.size()),
          given.data(), static_cast<int64_t>(given.size()), &bound, problem,
          sizeof(problem)))
    return runtimeError(status, option + problem);
  code.reset(bound);
  Expected<ProgramMetadata> metadata =
      parseMetadata(shardrt_program_metadata(bound));
  if (!metadata)
    return toolError(ExitCode::Artifact, toString(metadata.takeError()));
  describe(std::move(*metadata));
  return Error::success();
}
