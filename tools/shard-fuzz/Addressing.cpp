//===- Addressing.cpp - Random ops whose indices are data -----------------===//

#include "Generator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace shardc::fuzz {

/// Of integers, what places are counted in.
static std::string indexElement(Generator &g) {
  static const std::vector<std::string> others = {"i64",  "i8",  "ui8",
                                                  "ui32", "i16", "ui64"};
  return g.chance(70) ? "i32" : g.oneOf(others);
}

/// Rows of dim `dim` of a tensor of any rank, by a vector of indices of which
/// some are out of range.
static bool makeGather(Generator &g) {
  int v = g.any([](int) { return true; }, 1);
  int64_t rank = g.type(v).rank(), dim = g.pick(0, rank - 1);
  int indices = g.like({indexElement(g), {g.pick(1, 9), 1}});
  bool offsetFirst = g.chance(30) && rank > 1;
  return g.addOne(
      "gather", {v, indices},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::vector<int64_t> offsets, sizes = types[0].shape, shape;
        if (sizes[dim] < 1 || types[1].shape[1] != 1)
          return std::nullopt;
        for (int64_t i = 0; i < rank; ++i)
          if (i != dim)
            shape.push_back(sizes[i]);
        sizes[dim] = 1;
        for (int64_t i = 0; i < rank - 1; ++i)
          offsets.push_back(offsetFirst ? i : i + 1);
        shape.insert(offsetFirst ? shape.end() : shape.begin(),
                     types[1].shape[0]);
        Type result = types[0].with(shape);
        return Built{
            {result},
            "$R = \"stablehlo.gather\"($0, $1) <{dimension_numbers = "
            "#stablehlo.gather<" +
                (offsets.empty() ? ""
                                 : "offset_dims = [" + list(offsets) + "], ") +
                "collapsed_slice_dims = [" + std::to_string(dim) +
                "], start_index_map = [" + std::to_string(dim) +
                "], index_vector_dim = 1>, slice_sizes = " + braced(sizes) +
                "}> : (" + types[0].str() + ", " + types[1].str() + ") -> " +
                result.str()};
      },
      g.accuracy(v));
}

/// Adds, or takes the larger of, rows of updates to rows of a tensor.
static bool makeScatter(Generator &g) {
  int v = g.any([&](int v) { return g.type(v).element != "i1"; }, 1);
  if (v < 0)
    return false;
  const std::string op = g.chance(60)   ? "add"
                         : g.chance(50) ? "maximum"
                                        : "minimum";
  int64_t rank = g.type(v).rank(), dim = g.pick(0, rank - 1),
          count = g.pick(1, 9);
  int indices = g.like({indexElement(g), {count, 1}});
  Type updates = g.type(v);
  updates.shape.erase(updates.shape.begin() + dim);
  updates.shape.insert(updates.shape.begin(), count);
  int u = g.like(updates);
  Accuracy accuracy = either(g.accuracy(v), g.accuracy(u));
  if (op == "add")
    accuracy = summed(g.type(v), accuracy, count + 1);
  return g.addOne(
      "scatter_" + op, {v, indices, u},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        Type expected = types[0];
        expected.shape.erase(expected.shape.begin() + dim);
        expected.shape.insert(expected.shape.begin(), types[1].shape[0]);
        if (types[2] != expected || types[1].shape[1] != 1)
          return std::nullopt;
        std::vector<int64_t> windows;
        for (int64_t i = 1; i < rank; ++i)
          windows.push_back(i);
        std::string d = std::to_string(dim), s = types[0].scalar().str();
        return Built{{types[0]},
                     "$R = \"stablehlo.scatter\"($0, $1, $2) "
                     "<{scatter_dimension_numbers = #stablehlo.scatter<" +
                         (windows.empty() ? ""
                                          : "update_window_dims = [" +
                                                list(windows) + "], ") +
                         "inserted_window_dims = [" + d +
                         "], scatter_dims_to_operand_dims = [" + d +
                         "], index_vector_dim = 1>}> ({\n^bb0(%p~: " + s +
                         ", %q~: " + s + "):\n%r~ = stablehlo." + op +
                         " %p~, %q~ : " + s + "\nstablehlo.return %r~ : " + s +
                         "\n}) : (" + types[0].str() + ", " + types[1].str() +
                         ", " + types[2].str() + ") -> " + types[0].str()};
      },
      accuracy);
}

static bool makeDynamicSlice(Generator &g) {
  int v = g.any([&](int v) { return g.type(v).rank() <= 3; }, 1);
  if (v < 0)
    return false;
  std::vector<int> operands{v};
  std::vector<int64_t> sizes;
  std::string index = indexElement(g);
  for (int64_t size : g.type(v).shape) {
    sizes.push_back(g.chance(40) ? size : g.pick(1, size));
    operands.push_back(g.like({index, {}}));
  }
  return g.addOne(
      "dynamic_slice", operands,
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::string names, kinds;
        for (auto [i, size] : enumerate(types[0].shape)) {
          if (sizes[i] > size)
            return std::nullopt;
          names += ", $" + std::to_string(i + 1);
          kinds += ", tensor<" + index + ">";
        }
        Type result = types[0].with(sizes);
        return Built{{result},
                     "$R = stablehlo.dynamic_slice $0" + names + ", sizes = [" +
                         list(sizes) + "] : (" + types[0].str() + kinds +
                         ") -> " + result.str()};
      },
      g.accuracy(v));
}

static bool makeDynamicUpdate(Generator &g) {
  int v = g.any([&](int v) { return g.type(v).rank() <= 3; }, 1);
  if (v < 0)
    return false;
  Type update = g.type(v);
  for (int64_t &size : update.shape)
    size = g.chance(40) ? size : g.pick(1, size);
  std::vector<int> operands{v, g.like(update)};
  std::string index = indexElement(g);
  for (int64_t i = 0; i < update.rank(); ++i)
    operands.push_back(g.like({index, {}}));
  Accuracy accuracy = either(g.accuracy(v), g.accuracy(operands[1]));
  return g.addOne(
      "dynamic_update_slice", operands,
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::string names, kinds;
        for (auto [i, size] : enumerate(types[0].shape)) {
          if (types[1].shape[i] > size)
            return std::nullopt;
          names += ", $" + std::to_string(i + 2);
          kinds += ", tensor<" + index + ">";
        }
        return Built{{types[0]},
                     "$R = stablehlo.dynamic_update_slice $0, $1" + names +
                         " : (" + types[0].str() + ", " + types[1].str() +
                         kinds + ") -> " + types[0].str()};
      },
      accuracy);
}

static bool makeSort(Generator &g) {
  int v = g.any(
      [&](int v) { return g.type(v).element != "i1" && g.isExact(v); }, 1);
  if (v < 0)
    return false;
  int64_t dim = g.pick(0, g.type(v).rank() - 1);
  std::string direction = g.chance(70) ? "LT" : "GT";
  return !g.add("sort", {v},
                [=](ArrayRef<Type> types) -> std::optional<Built> {
                  Type indices{"i32", types[0].shape};
                  std::string s = types[0].scalar().str(),
                              d = std::to_string(dim);
                  return Built{
                      {types[0], indices},
                      "%i~ = stablehlo.iota dim = " + d + " : " +
                          indices.str() +
                          "\n$R = \"stablehlo.sort\"($0, %i~) <{dimension = " +
                          d + " : i64, is_stable = true}> ({\n^bb0(%a~: " + s +
                          ", %b~: " + s +
                          ", %c~: tensor<i32>, %d~: tensor<i32>):\n%g~ = "
                          "stablehlo.compare " +
                          direction + ", %a~, %b~, " +
                          (types[0].isFloat()                ? "FLOAT"
                           : types[0].element.front() == 'u' ? "UNSIGNED"
                                                             : "SIGNED") +
                          " : (" + s + ", " + s +
                          ") -> tensor<i1>\nstablehlo.return %g~ : "
                          "tensor<i1>\n}) : (" +
                          types[0].str() + ", " + indices.str() + ") -> (" +
                          types[0].str() + ", " + indices.str() + ")"};
                },
                {g.accuracy(v), {16, 0, 0}})
              .empty();
}

static bool makeTopK(Generator &g) {
  int v = g.any(
      [&](int v) {
        const std::string &e = g.type(v).element;
        return (e == "f32" || e == "i32") && g.isExact(v);
      },
      1);
  if (v < 0)
    return false;
  int64_t k = g.pick(1, g.type(v).shape.back());
  return !g.add("top_k", {v},
                [=](ArrayRef<Type> types) -> std::optional<Built> {
                  std::vector<int64_t> shape = types[0].shape;
                  if (shape.back() < k)
                    return std::nullopt;
                  shape.back() = k;
                  Type values = types[0].with(shape), indices{"i32", shape};
                  return Built{{values, indices},
                               "$R = chlo.top_k($0, k = " + std::to_string(k) +
                                   ") : " + types[0].str() + " -> (" +
                                   values.str() + ", " + indices.str() + ")"};
                },
                {g.accuracy(v), {16, 0, 0}})
              .empty();
}

static bool makeFourier(Generator &g) {
  int v = g.any(
      [&](int v) {
        return g.type(v).element == "f32" && g.accuracy(v).magnitude < 100 &&
               g.type(v).shape.back() > 1;
      },
      1);
  if (v < 0)
    return false;
  int64_t n = g.type(v).shape.back();
  Accuracy of = g.accuracy(v),
           result{2 * of.magnitude * n, Accuracy::kNoGrid, 0};
  auto error = [&](double error) {
    return 2 * n * error + 32 * n * std::ldexp(of.magnitude, -24);
  };
  result.error = error(of.error), result.apart = error(of.apart);
  return g.addOne(
      "fft", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::vector<int64_t> shape = types[0].shape;
        std::string length = std::to_string(shape.back());
        shape.back() = shape.back() ? shape.back() / 2 + 1 : 0;
        Type complex{"complex<f32>", shape}, real{"f32", shape};
        return Built{{real},
                     "%f~ = stablehlo.fft $0, type = RFFT, length = [" +
                         length + "] : (" + types[0].str() + ") -> " +
                         complex.str() + "\n%x~ = stablehlo.real %f~ : (" +
                         complex.str() + ") -> " + real.str() +
                         "\n%y~ = stablehlo.imag %f~ : (" + complex.str() +
                         ") -> " + real.str() +
                         "\n$R = stablehlo.subtract %x~, %y~ : " + real.str()};
      },
      result);
}

/// Boxes of a tensor at positions of several dims; dim 0 may go along with that
/// of the indices.
static bool makeGatherBoxes(Generator &g) {
  int v = g.any([&](int v) { return g.type(v).rank() <= 3; }, 2);
  if (v < 0)
    return false;
  const Type in = g.type(v);
  bool batched = in.rank() > 1 && g.chance(45);
  std::vector<int64_t> free, map, collapsed, sizes = in.shape;
  for (int64_t i = batched; i < in.rank(); ++i)
    free.push_back(i);
  if (batched)
    sizes[0] = 1;
  g.shuffle(free);
  map.assign(free.begin(), free.begin() + g.pick(1, free.size()));
  for (int64_t dim : map) {
    sizes[dim] = g.chance(50) ? 1 : g.pick(1, in.shape[dim]);
    if (sizes[dim] == 1 && g.chance(70))
      collapsed.push_back(dim);
  }
  sort(collapsed);
  std::vector<int64_t> where;
  if (batched)
    where.push_back(in.shape[0]);
  where.push_back(g.pick(1, 6));
  if (g.chance(25))
    where.push_back(g.pick(1, 4));
  Type indexType{indexElement(g), where};
  indexType.shape.push_back(map.size());
  int indices = g.like(indexType);
  return g.addOne(
      batched ? "gather_batched" : "gather_boxes", {v, indices},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (types[0] != in || types[1] != indexType)
          return std::nullopt;
        std::vector<int64_t> shape = where, offsets;
        for (int64_t i = batched; i < in.rank(); ++i)
          if (!is_contained(collapsed, i)) {
            offsets.push_back(shape.size());
            shape.push_back(sizes[i]);
          }
        Type result = in.with(shape);
        std::string numbers;
        auto add = [&](const std::string &name, ArrayRef<int64_t> dims) {
          if (!dims.empty())
            numbers += name + " = [" + list(dims) + "], ";
        };
        add("offset_dims", offsets);
        add("collapsed_slice_dims", collapsed);
        if (batched) {
          add("operand_batching_dims", {0});
          add("start_indices_batching_dims", {0});
        }
        add("start_index_map", map);
        return Built{
            {result},
            "$R = \"stablehlo.gather\"($0, $1) "
            "<{dimension_numbers = #stablehlo.gather<" +
                numbers + "index_vector_dim = " + std::to_string(where.size()) +
                ">, slice_sizes = " + braced(sizes) + "}> : (" + in.str() +
                ", " + indexType.str() + ") -> " + result.str()};
      },
      g.accuracy(v));
}

/// Rows replaced at places that are all different, or boxes added to the rows
/// of their own batch.
static bool makeScatterOthers(Generator &g) {
  bool batched = g.chance(50);
  int v = g.any(
      [&](int v) { return g.type(v).element != "i1" && g.type(v).rank() <= 3; },
      1 + batched);
  if (v < 0)
    return false;
  const Type in = g.type(v);
  int64_t dim = batched, size = in.shape[dim], count = g.pick(1, size);
  Type updates = in;
  updates.shape[dim] = count;
  int u = g.like(updates);
  std::vector<int64_t> windows;
  for (int64_t i = dim + 1; i < in.rank(); ++i)
    windows.push_back(i);
  std::string window =
      windows.empty() ? "" : "update_window_dims = [" + list(windows) + "], ";
  auto text = [=](const Type &indices, const std::string &of,
                  const std::string &update, const std::string &batch,
                  const std::string &body) {
    std::string s = in.scalar().str(), d = std::to_string(dim);
    return "$R = \"stablehlo.scatter\"($0, " + of + ", " + update +
           ") <{scatter_dimension_numbers = #stablehlo.scatter<" + window +
           "inserted_window_dims = [" + d + "], " + batch +
           "scatter_dims_to_operand_dims = [" + d +
           "], index_vector_dim = " + std::to_string(indices.rank() - 1) + ">" +
           (batch.empty() ? ", unique_indices = true" : "") +
           "}> ({\n^bb0(%p~: " + s + ", %q~: " + s + "):\n" + body +
           "\n}) : (" + in.str() + ", " + indices.str() + ", " + updates.str() +
           ") -> " + in.str();
  };
  std::string s = in.scalar().str();
  if (!batched) {
    std::vector<int64_t> places(size);
    for (auto [i, place] : enumerate(places))
      place = i;
    g.shuffle(places);
    std::string numbers;
    for (int64_t i = 0; i < count; ++i)
      numbers += (i ? ", [" : "[") + std::to_string(places[i]) + "]";
    Type indices{"i32", {count, 1}};
    return g.addOne(
        "scatter_replace", {v, u},
        [=](ArrayRef<Type> types) -> std::optional<Built> {
          if (types[0] != in || types[1] != updates)
            return std::nullopt;
          return Built{{in},
                       "%i~ = stablehlo.constant dense<[" + numbers +
                           "]> : " + indices.str() + "\n" +
                           text(indices, "%i~", "$1", "",
                                "stablehlo.return %q~ : " + s)};
        },
        either(g.accuracy(v), g.accuracy(u)));
  }
  Type indices{"i32", {in.shape[0], count, 1}};
  int at = g.like(indices);
  Accuracy accuracy =
      summed(in, either(g.accuracy(v), g.accuracy(u)), count + 1);
  return g.addOne(
      "scatter_batched", {v, at, u},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (types[0] != in || types[1] != indices || types[2] != updates)
          return std::nullopt;
        return Built{{in},
                     text(indices, "$1", "$2",
                          "input_batching_dims = [0], "
                          "scatter_indices_batching_dims = [0], ",
                          "%r~ = stablehlo.add %p~, %q~ : " + s +
                              "\nstablehlo.return %r~ : " + s)};
      },
      accuracy);
}

/// Boxes combined with what is where indices say; in half of the programs some
/// are partly outside, and dropped.
static bool makeScatterBoxes(Generator &g) {
  int v = g.any(
      [&](int v) { return g.type(v).element != "i1" && g.type(v).rank() <= 3; },
      1);
  if (v < 0)
    return false;
  const Type in = g.type(v);
  int64_t count = g.pick(1, 5);
  std::vector<int64_t> map, windows, sizes = {count};
  for (int64_t dim = 0; dim < in.rank(); ++dim) {
    if (map.empty() || g.chance(70))
      map.push_back(dim);
    windows.push_back(dim + 1);
    sizes.push_back(g.pick(1, in.shape[dim]));
  }
  g.shuffle(map);
  Type indices{"i32", {count, static_cast<int64_t>(map.size())}};
  Type updates = in.with(sizes);
  int at = g.like(indices), u = g.like(updates);
  int64_t outside = g.chance(50);
  std::string starts, highest, lowest = std::to_string(-outside);
  for (int64_t dim : map)
    starts += (starts.empty() ? "" : ", ") +
              std::to_string(in.shape[dim] - sizes[dim + 1] + outside);
  for (int64_t i = 0; i < count; ++i)
    highest += (i ? ", [" : "[") + starts + "]";
  static const std::vector<std::string> ops = {"add", "maximum", "minimum"};
  std::string op = g.oneOf(ops);
  Accuracy of = either(g.accuracy(v), g.accuracy(u));
  return g.addOne(
      "scatter_boxes", {v, at, u},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (types[0] != in || types[1] != indices || types[2] != updates)
          return std::nullopt;
        std::string s = in.scalar().str();
        return Built{
            {in},
            "%l~ = stablehlo.constant dense<" + lowest +
                "> : " + indices.str() + "\n%h~ = stablehlo.constant dense<[" +
                highest + "]> : " + indices.str() +
                "\n%i~ = stablehlo.clamp %l~, $1, %h~ : " + indices.str() +
                "\n$R = \"stablehlo.scatter\"($0, %i~, $2) "
                "<{scatter_dimension_numbers = #stablehlo.scatter<"
                "update_window_dims = [" +
                list(windows) + "], scatter_dims_to_operand_dims = [" +
                list(map) + "], index_vector_dim = 1>}> ({\n^bb0(%p~: " + s +
                ", %q~: " + s + "):\n%r~ = stablehlo." + op +
                " %p~, %q~ : " + s + "\nstablehlo.return %r~ : " + s +
                "\n}) : (" + in.str() + ", " + indices.str() + ", " +
                updates.str() + ") -> " + in.str()};
      },
      op == "add" ? summed(in, of, count + 1) : of);
}

/// Random bits, the same on every mesh.
static bool makeRandomBits(Generator &g) {
  std::string algorithm = g.chance(50)   ? "THREE_FRY"
                          : g.chance(60) ? "DEFAULT"
                                         : "PHILOX";
  int state = g.like({"ui64", {2}});
  Type bits{g.chance(70) ? "ui32" : "ui64", g.randomShape(g.pick(1, 3))};
  return !g.add("rng_bit_generator", {state},
                [=](ArrayRef<Type> types) -> std::optional<Built> {
                  if (types[0].shape[0] != 2)
                    return std::nullopt;
                  return Built{{types[0], bits},
                               "%s~, %b~ = stablehlo.rng_bit_generator $0, "
                               "algorithm = " +
                                   algorithm + " : (" + types[0].str() +
                                   ") -> (" + types[0].str() + ", " +
                                   bits.str() +
                                   ")\n$R = stablehlo.optimization_barrier "
                                   "%s~, %b~ : " +
                                   types[0].str() + ", " + bits.str()};
                },
                {{1e18, 0, 0}, {1e18, 0, 0}})
              .empty();
}

void addAddressingKinds(std::vector<Kind> &kinds) {
  kinds.push_back({"gather", 3, makeGather});
  kinds.push_back({"scatter", 4, makeScatter});
  kinds.push_back({"dynamic_slice", 3, makeDynamicSlice});
  kinds.push_back({"dynamic_update_slice", 3, makeDynamicUpdate});
  kinds.push_back({"gather_boxes", 3, makeGatherBoxes});
  kinds.push_back({"scatter_others", 2, makeScatterOthers});
  kinds.push_back({"scatter_boxes", 2, makeScatterBoxes});
  kinds.push_back({"rng_bit_generator", 1, makeRandomBits});
  kinds.push_back({"sort", 3, makeSort});
  kinds.push_back({"top_k", 1, makeTopK});
  kinds.push_back({"fft", 1, makeFourier});
}

} // namespace shardc::fuzz
