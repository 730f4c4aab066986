//===- Manual.cpp - Random programs that communicate by themselves --------===//
//
// A region along one mesh axis with one of StableHLO's collectives in it. What
// it means is written a second time without a region, in reshapes, transposes
// and sums of whole tensors: that is what the one rank runs.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace shardc::fuzz {

namespace {
/// The axis that a region is along.
struct Axis {
  std::string name;
  int64_t size = 1;
  int64_t stride = 1; ///< ranks from one coordinate to the next
  int64_t ranks = 1;  ///< of the whole mesh

  /// "dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>"; coordinate `first` is the
  /// first of each group.
  std::string groups(int64_t first = 0) const {
    std::string text;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      if (rank / stride % size)
        continue;
      std::vector<int64_t> group;
      for (int64_t i = 0; i < size; ++i)
        group.push_back(rank + (first + i) % size * stride);
      text += (text.empty() ? "[" : ", [") + list(group) + "]";
    }
    return "replica_groups = dense<[" + text + "]> : tensor<" +
           std::to_string(ranks / size) + "x" + std::to_string(size) + "xi64>";
  }
  /// Coordinate `i` sends to `to[i]`; -1: to nobody.
  std::string pairs(ArrayRef<int64_t> to) const {
    std::string text;
    int64_t count = 0;
    for (int64_t rank = 0; rank < ranks; ++rank)
      if (int64_t i = rank / stride % size; to[i] >= 0) {
        text += (text.empty() ? "[" : ", [") +
                list({rank, rank + (to[i] - i) * stride}) + "]";
        ++count;
      }
    return "source_target_pairs = dense<[" + text + "]> : tensor<" +
           std::to_string(count) + "x2xi64>";
  }
};

/// A region over one operand that `dim` is cut along.
struct Region {
  Axis axis;
  int64_t dim = 0;

  std::string sharding(const Type &type, int64_t cut) const {
    std::string text = "#spmd.sharding<@mesh, [";
    for (int64_t i = 0; i < type.rank(); ++i)
      text += std::string(i ? ", " : "") +
              (i == cut ? "{\"" + axis.name + "\", ?}" : "{?}");
    return text + "]>";
  }
  Type block(const Type &type, int64_t cut) const {
    Type local = type;
    if (cut >= 0)
      local.shape[cut] /= axis.size;
    return local;
  }
  /// `body` makes %r~ of %b~; the result is cut along `cut`, -1: it is whole.
  std::string text(const Type &in, const Type &out, int64_t cut,
                   const std::string &body) const {
    return "$R = spmd.manual($0) in [" + sharding(in, dim) + "] out [" +
           sharding(out, cut) + "] along [\"" + axis.name +
           "\"] {\n^bb0(%b~: " + block(in, dim).str() + "):\n" + body +
           "  spmd.return %r~ : " + block(out, cut).str() + "\n} : (" +
           in.str() + ") -> " + out.str();
  }
  /// Dims beside `dim` that the axis divides.
  std::vector<int64_t> otherDims(const Type &type) const {
    std::vector<int64_t> others;
    for (auto [i, size] : enumerate(type.shape))
      if (static_cast<int64_t>(i) != dim && size % axis.size == 0)
        others.push_back(i);
    return others;
  }
  /// `type` with `dim` as blocks and what is in a block.
  Type split(const Type &type, int64_t at) const {
    Type parts = type;
    parts.shape[at] /= axis.size;
    parts.shape.insert(parts.shape.begin() + at, axis.size);
    return parts;
  }
  std::string splitText(const std::string &to, const std::string &from,
                        const Type &type) const {
    return to + " = stablehlo.reshape " + from + " : (" + type.str() + ") -> " +
           split(type, dim).str() + "\n";
  }
};
} // namespace

static const std::string kChannel =
    "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, ";

static std::string combiner(const std::string &op, const Type &type) {
  std::string s = type.scalar().str();
  return "({\n^bb0(%p~: " + s + ", %q~: " + s + "):\n%s~ = stablehlo." + op +
         " %p~, %q~ : " + s + "\nstablehlo.return %s~ : " + s + "\n})";
}

/// Lines that make `to`, blocks of `from` combined, and show it to all of them
/// again where `again` is set.
static std::string combineBlocks(const Region &region, const Type &type,
                                 const std::string &op, bool again) {
  Type parts = region.split(type, region.dim),
       one = region.block(type, region.dim);
  std::string init = op == "maximum" ? "-100" : "0";
  if (op == "maximum" && StringRef(type.element).starts_with("ui"))
    init = "0";
  std::string text =
      region.splitText("%m~", "$0", type) +
      scalarConstant("z", type.scalar(), init) +
      "%o~ = stablehlo.reduce(%m~ init: %z~) applies stablehlo." + op +
      " across dimensions = [" + std::to_string(region.dim) + "] : (" +
      parts.str() + ", " + type.scalar().str() + ") -> " + one.str() + "\n";
  if (!again)
    return text;
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < type.rank(); ++i)
    dims.push_back(i < region.dim ? i : i + 1);
  return text + "%e~ = stablehlo.broadcast_in_dim %o~, dims = [" + list(dims) +
         "] : (" + one.str() + ") -> " + parts.str() +
         "\n%w~ = stablehlo.reshape %e~ : (" + parts.str() + ") -> " +
         type.str() + "\n";
}

/// Lines that make $R of $0: its dims split in `shape`, transposed, and put
/// together as `result`.
static std::string shuffled(const Type &type, const std::vector<int64_t> &shape,
                            const std::vector<int64_t> &order,
                            const Type &result) {
  Type parts = type.with(shape), moved = parts;
  for (auto [i, from] : enumerate(order))
    moved.shape[i] = shape[from];
  return "%m~ = stablehlo.reshape $0 : (" + type.str() + ") -> " + parts.str() +
         "\n%o~ = stablehlo.transpose %m~, dims = [" + list(order) + "] : (" +
         parts.str() + ") -> " + moved.str() +
         "\n$R = stablehlo.reshape %o~ : (" + moved.str() + ") -> " +
         result.str();
}

static std::optional<Region> makeRegion(Generator &g, int &v, int64_t minRank,
                                        bool exact) {
  Region region;
  std::vector<int64_t> axes;
  for (auto [i, size] : enumerate(g.program.axisSizes))
    if (size > 1)
      axes.push_back(i);
  if (axes.empty() || !g.program.axisOf.empty())
    return std::nullopt;
  int64_t at = g.oneOf(axes);
  region.axis.name = g.program.axisNames[at];
  region.axis.size = g.program.axisSizes[at];
  for (auto [i, size] : enumerate(g.program.axisSizes)) {
    region.axis.ranks *= size;
    if (static_cast<int64_t>(i) > at)
      region.axis.stride *= size;
  }
  auto divides = [&](int64_t size) { return size % region.axis.size == 0; };
  v = g.any(
      [&](int v) {
        return g.type(v).element != "i1" && any_of(g.type(v).shape, divides) &&
               (!exact || g.isExact(v)) && g.accuracy(v).magnitude < 1e4;
      },
      minRank);
  if (v < 0)
    return std::nullopt;
  std::vector<int64_t> dims;
  for (auto [i, size] : enumerate(g.type(v).shape))
    if (divides(size))
      dims.push_back(i);
  region.dim = g.oneOf(dims);
  return region;
}

static bool addManual(Generator &g, std::string kind, int v, Builder build,
                      Accuracy accuracy) {
  if (!g.addOne(std::move(kind), {v}, std::move(build), accuracy))
    return false;
  // A constraint may be behind it.
  for (Op &op : reverse(g.program.ops))
    if (op.build) {
      op.fixesMesh = true;
      break;
    }
  return true;
}

/// psum and pmax, by the collective or as a ring in a loop.
static bool makeAllReduce(Generator &g) {
  int v;
  std::optional<Region> found = makeRegion(g, v, 1, false);
  if (!found)
    return false;
  Region region = *found;
  bool ring = g.chance(35);
  std::string op = ring || g.chance(70) ? "add" : "maximum";
  Accuracy of = g.accuracy(v);
  Accuracy accuracy = op == "add" ? summed(g.type(v), of, region.axis.size + 1)
                                  : summed(g.type(v), of, 2);
  if (op == "maximum")
    accuracy.magnitude += 100;
  return addManual(
      g, ring ? "manual_ring" : "manual_all_reduce", v,
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &type = types[0];
        if (type.shape[region.dim] % region.axis.size)
          return std::nullopt;
        std::string t = region.block(type, region.dim).str(), body;
        if (ring) {
          std::vector<int64_t> to;
          for (int64_t i = 0; i < region.axis.size; ++i)
            to.push_back((i + 1) % region.axis.size);
          body =
              scalarConstant("zero", {"i32", {}}, "0") +
              scalarConstant("one", {"i32", {}}, "1") +
              scalarConstant("n", {"i32", {}},
                             std::to_string(region.axis.size - 1)) +
              "%l~:3 = stablehlo.while(%i~ = %zero~, %x~ = %b~, %a~ = %b~) : "
              "tensor<i32>, " +
              t + ", " + t +
              "\n cond {\n%c~ = stablehlo.compare LT, %i~, %n~, SIGNED : "
              "(tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %c~ "
              ": tensor<i1>\n} do {\n%j~ = stablehlo.add %i~, %one~ : "
              "tensor<i32>\n%y~ = \"stablehlo.collective_permute\"(%x~) <{" +
              kChannel + region.axis.pairs(to) + "}> : (" + t + ") -> " + t +
              "\n%h~ = stablehlo.add %a~, %y~ : " + t +
              "\nstablehlo.return %j~, %y~, %h~ : tensor<i32>, " + t + ", " +
              t + "\n}\n%r~ = stablehlo.add %b~, %l~#2 : " + t + "\n";
        } else {
          body = "%a~ = \"stablehlo.all_reduce\"(%b~) <{" + kChannel +
                 region.axis.groups() + ", use_global_device_ids}> " +
                 combiner(op, type) + " : (" + t + ") -> " + t +
                 "\n%r~ = stablehlo.add %b~, %a~ : " + t + "\n";
        }
        return Built{{type},
                     region.text(type, type, region.dim, body),
                     combineBlocks(region, type, op, true) +
                         "$R = stablehlo.add $0, %w~ : " + type.str()};
      },
      accuracy);
}

static bool makeAllGather(Generator &g) {
  int v;
  std::optional<Region> found = makeRegion(g, v, 1, false);
  if (!found)
    return false;
  Region region = *found;
  int64_t along = g.pick(0, g.type(v).rank() - 1);
  return addManual(
      g, "manual_all_gather", v,
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &type = types[0];
        if (type.shape[region.dim] % region.axis.size)
          return std::nullopt;
        Type result = region.block(type, region.dim);
        std::string in = result.str();
        result.shape[along] *= region.axis.size;
        // The blocks' dim moves in front of `along`.
        Type parts = region.split(type, region.dim);
        std::vector<int64_t> order;
        for (int64_t i = 0; i < type.rank(); ++i) {
          if (i == along)
            order.push_back(region.dim);
          order.push_back(i < region.dim ? i : i + 1);
        }
        return Built{
            {result},
            region.text(type, result, -1,
                        "%r~ = \"stablehlo.all_gather\"(%b~) <{all_gather_dim "
                        "= " +
                            std::to_string(along) + " : i64, " + kChannel +
                            region.axis.groups() +
                            ", use_global_device_ids}> : (" + in + ") -> " +
                            result.str() + "\n"),
            shuffled(type, parts.shape, order, result)};
      },
      g.accuracy(v));
}

/// The block of one rank, to all of its group.
static bool makeBroadcast(Generator &g) {
  int v;
  std::optional<Region> found = makeRegion(g, v, 1, false);
  if (!found)
    return false;
  Region region = *found;
  int64_t first = g.pick(0, region.axis.size - 1);
  return addManual(
      g, "manual_broadcast", v,
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &type = types[0];
        if (type.shape[region.dim] % region.axis.size)
          return std::nullopt;
        Type block = region.block(type, region.dim);
        std::string t = block.str(), ranges;
        for (int64_t d = 0; d < type.rank(); ++d) {
          int64_t size = block.shape[d],
                  start = d == region.dim ? first * size : 0;
          ranges += (d ? ", " : "") + std::to_string(start) + ":" +
                    std::to_string(start + size);
        }
        return Built{{block},
                     region.text(type, block, -1,
                                 "%r~ = \"stablehlo.collective_broadcast\"("
                                 "%b~) <{" +
                                     kChannel + region.axis.groups(first) +
                                     "}> : (" + t + ") -> " + t + "\n"),
                     "$R = stablehlo.slice $0 [" + ranges + "] : (" +
                         type.str() + ") -> " + t};
      },
      g.accuracy(v));
}

static bool makeReduceScatter(Generator &g) {
  int v;
  std::optional<Region> found = makeRegion(g, v, 2, false);
  if (!found)
    return false;
  Region region = *found;
  std::vector<int64_t> others = region.otherDims(g.type(v));
  if (others.empty())
    return false;
  int64_t along = g.oneOf(others);
  return addManual(
      g, "manual_reduce_scatter", v,
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &type = types[0];
        if (type.shape[region.dim] % region.axis.size ||
            type.shape[along] % region.axis.size)
          return std::nullopt;
        Type result = region.block(type, region.dim);
        return Built{
            {result},
            region.text(type, result, along,
                        "%r~ = \"stablehlo.reduce_scatter\"(%b~) <{" +
                            kChannel + region.axis.groups() +
                            ", scatter_dimension = " + std::to_string(along) +
                            " : i64, use_global_device_ids}> " +
                            combiner("add", type) + " : (" + result.str() +
                            ") -> " + region.block(result, along).str() + "\n"),
            combineBlocks(region, type, "add", false) +
                "$R = stablehlo.reshape %o~ : (" + result.str() + ") -> " +
                result.str()};
      },
      summed(g.type(v), g.accuracy(v), region.axis.size));
}

static bool makeAllToAll(Generator &g) {
  int v;
  std::optional<Region> found = makeRegion(g, v, 2, false);
  if (!found)
    return false;
  Region region = *found;
  std::vector<int64_t> others = region.otherDims(g.type(v));
  if (others.empty())
    return false;
  int64_t from = g.oneOf(others);
  bool inPlace = g.chance(40);
  return addManual(
      g, "manual_all_to_all", v,
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &type = types[0];
        int64_t size = region.axis.size;
        if (type.shape[region.dim] % size || type.shape[from] % size)
          return std::nullopt;
        int64_t to = inPlace ? from : region.dim;
        Type local = region.block(type, region.dim), moved = local;
        moved.shape[from] /= size;
        moved.shape[to] *= size;
        std::string body =
            "%r~ = \"stablehlo.all_to_all\"(%b~) <{" + kChannel +
            "concat_dimension = " + std::to_string(to) + " : i64, " +
            region.axis.groups() + ", split_count = " + std::to_string(size) +
            " : i64, split_dimension = " + std::to_string(from) +
            " : i64}> : (" + local.str() + ") -> " + moved.str() + "\n";
        if (!inPlace)
          return Built{{type},
                       region.text(type, type, from, body),
                       "$R = stablehlo.reshape $0 : (" + type.str() + ") -> " +
                           type.str()};
        // Both dims are split, and the blocks' dims change places.
        std::vector<int64_t> shape, order;
        int64_t first = std::min(region.dim, from),
                second = std::max(region.dim, from);
        for (int64_t i = 0; i < type.rank(); ++i) {
          order.push_back(shape.size());
          if (i == region.dim || i == from) {
            order.push_back(shape.size() + 1);
            shape.push_back(size);
            shape.push_back(type.shape[i] / size);
          } else {
            shape.push_back(type.shape[i]);
          }
        }
        std::swap(order[first], order[second + 1]);
        return Built{{type},
                     region.text(type, type, region.dim, body),
                     shuffled(type, shape, order, type)};
      },
      g.accuracy(v));
}

static bool makePermute(Generator &g) {
  int v;
  std::optional<Region> found = makeRegion(g, v, 1, false);
  if (!found)
    return false;
  Region region = *found;
  std::vector<int64_t> to(region.axis.size);
  for (auto [i, target] : enumerate(to))
    target = i;
  if (g.chance(50))
    std::rotate(to.begin(), to.begin() + g.pick(1, to.size() - 1), to.end());
  else
    g.shuffle(to);
  for (int64_t &target : to)
    if (g.chance(20))
      target = -1;
  if (all_of(to, [](int64_t target) { return target < 0; }))
    to[0] = 0;
  return addManual(
      g, "manual_permute", v,
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &type = types[0];
        if (type.shape[region.dim] % region.axis.size)
          return std::nullopt;
        Type block = region.block(type, region.dim);
        std::string zeros = scalarConstant("z", block, "0"), names, kinds;
        for (int64_t i = 0; i < region.axis.size; ++i) {
          auto source = find(to, i);
          std::string name = "%z~";
          if (source != to.end()) {
            int64_t from = source - to.begin();
            name = "%k" + std::to_string(i) + "~";
            zeros += name + " = stablehlo.slice $0 [";
            for (int64_t d = 0; d < type.rank(); ++d) {
              int64_t size = block.shape[d];
              zeros +=
                  (d ? ", " : "") +
                  std::to_string(d == region.dim ? from * size : 0) + ":" +
                  std::to_string(d == region.dim ? (from + 1) * size : size);
            }
            zeros += "] : (" + type.str() + ") -> " + block.str() + "\n";
          }
          names += (i ? ", " : "") + name;
          kinds += (i ? ", " : "") + block.str();
        }
        return Built{
            {type},
            region.text(type, type, region.dim,
                        "%r~ = \"stablehlo.collective_permute\"(%b~) <{" +
                            kChannel + region.axis.pairs(to) + "}> : (" +
                            block.str() + ") -> " + block.str() + "\n"),
            zeros + "$R = stablehlo.concatenate " + names +
                ", dim = " + std::to_string(region.dim) + " : (" + kinds +
                ") -> " + type.str()};
      },
      g.accuracy(v));
}

/// jax.lax.axis_index.
static bool makeAxisIndex(Generator &g) {
  int v;
  std::optional<Region> found = makeRegion(g, v, 1, false);
  if (!found)
    return false;
  Region region = *found;
  Accuracy with = either(g.accuracy(v), {8, 0, 0});
  return addManual(
      g, "manual_axis_index", v,
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &type = types[0];
        if (type.shape[region.dim] % region.axis.size)
          return std::nullopt;
        Type block = region.block(type, region.dim),
             parts = region.split(type, region.dim), scalar = type.scalar();
        std::string t = block.str(), s = scalar.str(), u = "tensor<ui32>";
        return Built{
            {type},
            region.text(
                type, type, region.dim,
                "%p~ = stablehlo.partition_id : " + u + "\n" +
                    scalarConstant("d", {"ui32", {}},
                                   std::to_string(region.axis.stride)) +
                    scalarConstant("k", {"ui32", {}},
                                   std::to_string(region.axis.size)) +
                    "%e~ = stablehlo.divide %p~, %d~ : " + u +
                    "\n%m~ = stablehlo.remainder %e~, %k~ : " + u +
                    "\n%c~ = stablehlo.convert %m~ : (" + u + ") -> " + s +
                    "\n%f~ = stablehlo.broadcast_in_dim %c~, dims = [] : (" +
                    s + ") -> " + t + "\n%r~ = stablehlo.add %b~, %f~ : " + t +
                    "\n"),
            "%i~ = stablehlo.iota dim = " + std::to_string(region.dim) + " : " +
                parts.str() + "\n%w~ = stablehlo.reshape %i~ : (" +
                parts.str() + ") -> " + type.str() +
                "\n$R = stablehlo.add $0, %w~ : " + type.str()};
      },
      summed(g.type(v), with, 2));
}

/// `number` as it is in narrow integers, where sums and conversions wrap.
static std::string wrapped(const Type &type, int64_t number) {
  if (int bits = type.integerBits(); bits && bits < 64) {
    number &= (int64_t(1) << bits) - 1;
    if (type.element.front() == 'i' && number >> (bits - 1))
      number -= int64_t(1) << bits;
  }
  return std::to_string(number);
}

/// psum of what is the same on all ranks: jax.lax.psum(1, axis).
static bool makeSumOfEquals(Generator &g) {
  int v;
  std::optional<Region> found = makeRegion(g, v, 1, false);
  if (!found)
    return false;
  Region region = *found;
  region.dim = -1;
  return addManual(
      g, "manual_sum_of_equals", v,
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &type = types[0];
        std::string t = type.str();
        return Built{
            {type},
            region.text(
                type, type, -1,
                "%r~ = \"stablehlo.all_reduce\"(%b~) <{" + kChannel +
                    region.axis.groups() + ", use_global_device_ids}> " +
                    combiner("add", type) + " : (" + t + ") -> " + t + "\n"),
            scalarConstant("k", type, wrapped(type, region.axis.size)) +
                "$R = stablehlo.multiply $0, %k~ : " + t};
      },
      summed(g.type(v), g.accuracy(v), region.axis.size));
}

/// A number that the ranks before one have, and another that the others have.
static bool makeRankChoice(Generator &g) {
  int v;
  std::optional<Region> found = makeRegion(g, v, 1, false);
  if (!found)
    return false;
  Region region = *found;
  int64_t border = g.pick(1, region.axis.size - 1);
  Accuracy with = either(g.accuracy(v), {7, 0, 0});
  return addManual(
      g, "manual_rank_choice", v,
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &type = types[0];
        if (type.shape[region.dim] % region.axis.size)
          return std::nullopt;
        Type block = region.block(type, region.dim),
             parts = region.split(type, region.dim),
             numbers{"i32", parts.shape};
        std::string t = block.str(), s = type.scalar().str(),
                    u = "tensor<ui32>";
        Type one{"ui32", {}};
        return Built{
            {type},
            region.text(
                type, type, region.dim,
                "%p~ = stablehlo.partition_id : " + u + "\n" +
                    scalarConstant("d", one,
                                   std::to_string(region.axis.stride)) +
                    scalarConstant("k", one, std::to_string(region.axis.size)) +
                    scalarConstant("o", one, std::to_string(border)) +
                    scalarConstant("y", one, "2") +
                    scalarConstant("n", one, "7") +
                    "%e~ = stablehlo.divide %p~, %d~ : " + u +
                    "\n%m~ = stablehlo.remainder %e~, %k~ : " + u +
                    "\n%l~ = stablehlo.compare LT, %m~, %o~, UNSIGNED : (" + u +
                    ", " + u +
                    ") -> tensor<i1>\n%a~ = stablehlo.select %l~, "
                    "%y~, %n~ : tensor<i1>, " +
                    u + "\n%c~ = stablehlo.convert %a~ : (" + u + ") -> " + s +
                    "\n%f~ = stablehlo.broadcast_in_dim %c~, dims = [] : (" +
                    s + ") -> " + t + "\n%r~ = stablehlo.add %b~, %f~ : " + t +
                    "\n"),
            "%i~ = stablehlo.iota dim = " + std::to_string(region.dim) + " : " +
                numbers.str() + "\n" +
                scalarConstant("o", numbers, std::to_string(border)) +
                scalarConstant("y", parts, wrapped(parts, 2)) +
                scalarConstant("n", parts, wrapped(parts, 7)) +
                "%l~ = stablehlo.compare LT, %i~, %o~, SIGNED : (" +
                numbers.str() + ", " + numbers.str() + ") -> " +
                Type{"i1", parts.shape}.str() +
                "\n%a~ = stablehlo.select %l~, %y~, %n~ : " +
                Type{"i1", parts.shape}.str() + ", " + parts.str() +
                "\n%w~ = stablehlo.reshape %a~ : (" + parts.str() + ") -> " +
                type.str() + "\n$R = stablehlo.add $0, %w~ : " + type.str()};
      },
      summed(g.type(v), with, 2));
}

void addManualKinds(std::vector<Kind> &kinds) {
  kinds.push_back({"manual_all_reduce", 2, makeAllReduce});
  kinds.push_back({"manual_all_gather", 1, makeAllGather});
  kinds.push_back({"manual_broadcast", 1, makeBroadcast});
  kinds.push_back({"manual_reduce_scatter", 1, makeReduceScatter});
  kinds.push_back({"manual_all_to_all", 1, makeAllToAll});
  kinds.push_back({"manual_permute", 1, makePermute});
  kinds.push_back({"manual_axis_index", 1, makeAxisIndex});
  kinds.push_back({"manual_sum_of_equals", 1, makeSumOfEquals});
  kinds.push_back({"manual_rank_choice", 1, makeRankChoice});
}

} // namespace shardc::fuzz
