//===- RowsTest.cpp - Rows asked for by index -----------------------------===//

#include "TestWorld.h"
#include <algorithm>
#include <atomic>

using namespace shardrt;
using namespace shardrt::test;
using shardc::Box;
using shardc::DimExchange;

namespace {

/// One random program: a tensor of rows, indices, and updates of them.
struct RowCase {
  std::vector<int64_t> mesh;
  std::vector<int64_t> shape;    ///< of the addressed tensor
  std::vector<DimExchange> cuts; ///< of its dims
  int64_t first = 0, numRowDims = 1;
  std::vector<int64_t> indexShape; ///< the last dim holds vectors
  std::vector<DimExchange> indexCuts;
  std::vector<int64_t> slices;
  std::vector<DimExchange> rows; ///< what is needed: parts of slices
};

/// Integers, so that sums do not depend on their order; doubles below do.
int64_t valueOf(int64_t element) {
  return static_cast<int64_t>(hashOf(element) % 1000) - 500;
}

int64_t sliceCount(const RowCase &c) {
  int64_t count = 1;
  for (int64_t slice : c.slices)
    count *= slice;
  return count;
}

int64_t vectorsOf(const RowCase &c) {
  int64_t vectors = 1;
  for (size_t i = 0; i + 1 < c.indexShape.size(); ++i)
    vectors *= c.indexShape[i];
  return vectors;
}

/// Indices of steps 0 and 1 are the same, step 2 has some others, so that some
/// ranks have what they had, and step 3 has none of them.
constexpr int64_t numSteps = 4;

/// Starts: mostly inside, some far outside.
int64_t startOf(const RowCase &c, int64_t vector, int64_t component,
                int64_t step) {
  int64_t size = c.shape[c.first + component];
  int64_t version = step < 2                     ? 0
                    : step == 3                  ? 2
                    : 2 * vector >= vectorsOf(c) ? 1
                                                 : 0;
  uint64_t hash = hashOf(vector * 7 + component + 3 + 1000 * version);
  if (hash % 11 == 0)
    return hash % 2 ? -3 : size + 5;
  return size == 0 ? 0 : static_cast<int64_t>((hash >> 8) % size);
}

class RowsRun {
public:
  explicit RowsRun(const RowCase &c) : c(c) {
    plan.kind = SiteKind::RowPlan;
    plan.report = "row_plan";
    plan.type = ElementType::I32;
    plan.exchange.meshShape = c.mesh;
    plan.exchange.globalShape = c.indexShape;
    plan.exchange.dims = c.indexCuts;
    plan.rows.vectorDim = static_cast<int64_t>(c.indexShape.size()) - 1;
    plan.rows.gathers = plan.rows.scatters = true;
    for (int64_t i = 0; i < c.numRowDims; ++i)
      plan.rows.components.push_back(i);
    plan.rows.slices = c.slices;
    plan.rows.dims = c.rows;
    gather.kind = SiteKind::GatherRows;
    gather.report = "gather_rows";
    gather.type = ElementType::F64;
    gather.exchange.meshShape = c.mesh;
    gather.exchange.globalShape = c.shape;
    gather.exchange.dims = c.cuts;
    gather.rows.first = c.first;
    scatter = gather;
    scatter.kind = SiteKind::ScatterRows;
    scatter.report = "scatter_rows";
    scatter.reduction = Reduction::Sum;
    set = scatter;
    set.reduction = Reduction::None;
  }

  void check(uint64_t seed) {
    int64_t ranks = 1;
    for (int64_t size : c.mesh)
      ranks *= size;
    if (mpiJob() && canGo(Way::Mpi, ranks))
      check(seed, Way::Mpi);
    if (mpiJob())
      return;
    for (Way way :
         {Way::Host, Way::Shared, Way::Sockets, Way::Direct, Way::CudaDirect,
          Way::Nccl, Way::CudaNccl, Way::SocketsNccl})
      check(seed, way);
  }

private:
  void check(uint64_t seed, Way way);
  /// Calls `body(number of the position in the whole, its place here, batch
  /// index)` for each of a rank's positions.
  template <typename Body> void forEachPosition(int64_t rank, Body body) const;

  const RowCase &c;
  Site plan, gather, scatter, set;
};

template <typename Body>
void RowsRun::forEachPosition(int64_t rank, Body body) const {
  Box batch = shardc::ownedBox(plan.exchange, rank);
  batch.pop_back();
  std::vector<int64_t> batchShape(c.indexShape.begin(), c.indexShape.end() - 1);
  Box part;
  for (const DimExchange &dim : c.rows)
    part.push_back(dim.needed[shardc::coordinateAlong(c.mesh, dim.axes, rank)]);
  int64_t place = 0;
  forEachElement(batch, [&](const auto &at, int64_t) {
    int64_t vector = linearIndex(at, batchShape);
    forEachElement(part, [&](const auto &offset, int64_t) {
      body(vector * sliceCount(c) + linearIndex(offset, c.slices), place++,
           vector, offset);
    });
  });
}

void RowsRun::check(uint64_t seed, Way way) {
  TestWorld world(makeTable(c.mesh, {plan, gather, scatter, set}), seed, 60'000,
                  0, false, way);
  ASSERT_NE(world.world, nullptr);
  // The whole, on one rank: element by element, updates in their order.
  std::vector<double> start;
  int64_t elements = 1;
  for (int64_t size : c.shape)
    elements *= size;
  for (int64_t i = 0; i < elements; ++i)
    start.push_back(1e-3 * valueOf(i));
  std::vector<std::vector<double>> sumsOf(numSteps, start),
      lastOf(numSteps, start);
  auto updateOf = [&](int64_t position, int64_t around) {
    return 1e-3 * valueOf(position * 131 + around + 7);
  };
  auto isInside = [&](std::vector<int64_t> index) {
    return linearIndex(index, c.shape);
  };
  Box around;
  for (size_t i = 0; i < c.shape.size(); ++i) {
    bool isRow = static_cast<int64_t>(i) >= c.first &&
                 static_cast<int64_t>(i) < c.first + c.numRowDims;
    around.push_back({0, isRow ? 1 : c.shape[i]});
  }
  std::vector<int64_t> aroundShape;
  for (shardc::Interval interval : around)
    aroundShape.push_back(interval.size());
  Box sliceBox;
  for (int64_t slice : c.slices)
    sliceBox.push_back({0, slice});
  for (int64_t step = 0; step < numSteps; ++step)
    for (int64_t vector = 0; vector < vectorsOf(c); ++vector)
      forEachElement(sliceBox, [&](const auto &offset, int64_t s) {
        forEachElement(around, [&](std::vector<int64_t> index, int64_t a) {
          for (int64_t i = 0; i < c.numRowDims; ++i)
            index[c.first + i] = startOf(c, vector, i, step) + offset[i];
          int64_t at = isInside(index);
          if (at < 0)
            return;
          double update = updateOf(vector * sliceCount(c) + s, a);
          sumsOf[step][at] += update;
          lastOf[step][at] = update;
        });
      });

  std::atomic<int64_t> wrong{0};
  std::vector<int64_t> stepOf(world.ranks, 0);
  int status = world.run(
      [&](shardrt_context *ctx) -> int {
        int64_t rank = shardrt_rank(ctx), step = stepOf[rank]++;
        const std::vector<double> &sums = sumsOf[step], &last = lastOf[step];
        std::vector<int32_t> indices;
        forEachElement(shardc::ownedBox(plan.exchange, rank),
                       [&](const auto &at, int64_t) {
                         std::vector<int64_t> batch(at.begin(), at.end() - 1);
                         std::vector<int64_t> shape(c.indexShape.begin(),
                                                    c.indexShape.end() - 1);
                         indices.push_back(static_cast<int32_t>(startOf(
                             c, linearIndex(batch, shape), at.back(), step)));
                       });
        Box box = shardc::ownedBox(gather.exchange, rank), mine = box;
        for (int64_t i = 0; i < c.numRowDims; ++i)
          mine[c.first + i] = {0, 1};
        int64_t outer = 1, inner = 1;
        for (size_t i = 0; i < box.size(); ++i)
          if (static_cast<int64_t>(i) < c.first)
            outer *= box[i].size();
          else if (static_cast<int64_t>(i) >= c.first + c.numRowDims)
            inner *= box[i].size();
        std::vector<double> block, sum, setTo;
        forEachElement(box, [&](const auto &index, int64_t) {
          block.push_back(1e-3 * valueOf(linearIndex(index, c.shape)));
        });
        sum = setTo = block;
        int64_t positions = 0;
        forEachPosition(rank, [&](int64_t, int64_t, int64_t, const auto &) {
          ++positions;
        });
        std::vector<double> got(outer * positions * inner + 1, -7);
        std::vector<double> updates(outer * positions * inner);
        auto eachOfRow = [&](int64_t place, auto body) {
          forEachElement(mine,
                         [&](const std::vector<int64_t> &index, int64_t at) {
                           int64_t o = at / inner, i = at % inner;
                           body(index, (o * positions + place) * inner + i);
                         });
        };
        forEachPosition(rank, [&](int64_t number, int64_t place, int64_t,
                                  const auto &) {
          eachOfRow(place, [&](const std::vector<int64_t> &index, int64_t at) {
            std::vector<int64_t> fromStart = index;
            for (int64_t i = 0; i < c.numRowDims; ++i)
              fromStart[c.first + i] = 0;
            updates[at] = updateOf(number, linearIndex(fromStart, aroundShape));
          });
        });
        int64_t handle = planRows(ctx, 0, indices.data());
        // Indices may go away; one plan serves all.
        std::fill(indices.begin(), indices.end(), 1 << 30);
        auto bytes = static_cast<int64_t>(updates.size() * sizeof(double));
        if (int result =
                gatherRows(ctx, 1, handle, block.data(), got.data(), bytes))
          return result;
        if (int result =
                scatterRows(ctx, 2, handle, updates.data(), sum.data(), bytes))
          return result;
        if (int result = scatterRows(ctx, 3, handle, updates.data(),
                                     setTo.data(), bytes))
          return result;
        int64_t bad = got.back() != -7;
        forEachPosition(rank, [&](int64_t, int64_t place, int64_t vector,
                                  const auto &offset) {
          eachOfRow(place, [&](std::vector<int64_t> index, int64_t at) {
            for (int64_t i = 0; i < c.numRowDims; ++i) {
              int64_t most = c.shape[c.first + i] - c.slices[i];
              index[c.first + i] =
                  std::clamp<int64_t>(startOf(c, vector, i, step), 0, most) +
                  offset[i];
            }
            bad += got[at] != 1e-3 * valueOf(linearIndex(index, c.shape));
          });
        });
        forEachElement(box, [&](const auto &index, int64_t at) {
          int64_t i = linearIndex(index, c.shape);
          bad += sum[at] != sums[i];
          bad += setTo[at] != last[i];
        });
        wrong += bad;
        return 0;
      },
      numSteps);
  EXPECT_EQ(status, SHARDRT_OK) << world.error();
  EXPECT_EQ(wrong.load(), 0) << world.ranks << " ranks";
}

/// A part of [0, size) for each coordinate along `axes`.
DimExchange cutDim(std::mt19937_64 &random, int64_t dim, int64_t size,
                   const std::vector<int64_t> &mesh,
                   std::vector<int64_t> axes) {
  int64_t shards = 1;
  for (int64_t axis : axes)
    shards *= mesh[axis];
  Intervals owned = cut(randomSizes(random, size, shards));
  return {dim, std::move(axes), owned, owned};
}

RowCase randomCase(std::mt19937_64 &random) {
  static const std::vector<std::vector<int64_t>> meshes = {
      {1}, {2}, {4}, {5}, {2, 3}, {3, 2}, {2, 2, 2}};
  RowCase c;
  c.mesh = meshes[random() % meshes.size()];
  c.numRowDims = 1 + random() % 2;
  c.first = random() % 2;
  int64_t rank = c.first + c.numRowDims + random() % 2;
  for (int64_t i = 0; i < rank; ++i)
    c.shape.push_back(1 + random() % 6);
  int64_t batchDims = random() % 3;
  for (int64_t i = 0; i < batchDims; ++i)
    c.indexShape.push_back(random() % 8);
  c.indexShape.push_back(c.numRowDims);
  // Each axis cuts at most one dim of the tensor, one of the indices or a part.
  std::vector<std::vector<int64_t>> dimAxes(rank), batchAxes(batchDims),
      partAxes(c.numRowDims);
  for (size_t axis = 0; axis < c.mesh.size(); ++axis) {
    // One that cuts dims around the rows cuts positions there, nothing else.
    int64_t cutDim = random() % 5 ? random() % rank : -1;
    if (cutDim >= 0)
      dimAxes[cutDim].push_back(axis);
    if (cutDim >= 0 && (cutDim < c.first || cutDim >= c.first + c.numRowDims))
      continue;
    int64_t where = random() % (batchDims + c.numRowDims + 1);
    if (where < batchDims)
      batchAxes[where].push_back(axis);
    else if (where < batchDims + c.numRowDims && random() % 2)
      partAxes[where - batchDims].push_back(axis);
  }
  for (int64_t i = 0; i < rank; ++i)
    if (!dimAxes[i].empty())
      c.cuts.push_back(cutDim(random, i, c.shape[i], c.mesh, dimAxes[i]));
  for (int64_t i = 0; i < batchDims; ++i)
    if (!batchAxes[i].empty())
      c.indexCuts.push_back(
          cutDim(random, i, c.indexShape[i], c.mesh, batchAxes[i]));
  for (int64_t i = 0; i < c.numRowDims; ++i) {
    int64_t size = c.shape[c.first + i];
    c.slices.push_back(random() % 2 ? 1 : 1 + random() % size);
    // One table over the axes of both: what is owned, and the part needed.
    const DimExchange *owned = nullptr;
    for (const DimExchange &dim : c.cuts)
      if (dim.dim == c.first + i)
        owned = &dim;
    DimExchange part = cutDim(random, i, c.slices[i], c.mesh, partAxes[i]);
    DimExchange &row = c.rows.emplace_back();
    row.dim = i;
    for (size_t axis = 0; axis < c.mesh.size(); ++axis) {
      bool cutsDim = owned && std::count(owned->axes.begin(), owned->axes.end(),
                                         static_cast<int64_t>(axis));
      bool cutsPart = std::count(part.axes.begin(), part.axes.end(),
                                 static_cast<int64_t>(axis));
      if (cutsDim || cutsPart)
        row.axes.push_back(axis);
    }
    int64_t entries = 1;
    for (int64_t axis : row.axes)
      entries *= c.mesh[axis];
    int64_t ranks = 1;
    for (int64_t extent : c.mesh)
      ranks *= extent;
    row.owned.resize(entries);
    row.needed.resize(entries);
    for (int64_t rank = 0; rank < ranks; ++rank) {
      int64_t entry = shardc::coordinateAlong(c.mesh, row.axes, rank);
      row.owned[entry] =
          owned
              ? owned->owned[shardc::coordinateAlong(c.mesh, owned->axes, rank)]
              : shardc::Interval{0, size};
      row.needed[entry] =
          part.owned[shardc::coordinateAlong(c.mesh, part.axes, rank)];
    }
  }
  return c;
}

} // namespace

TEST(Rows, RandomTensorsIndicesAndMeshes) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 400; ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    RowCase c = randomCase(random);
    RowsRun(c).check(i % 3);
    if (HasFailure())
      break;
  }
}

/// 8 rows over 4 ranks, each of which asks for rows 0, 0 and 7: the same three
/// indices, or three each out of twelve.
static SiteTable smallTable(bool areSame = true) {
  Intervals owned = cut({2, 2, 2, 2});
  Site plan;
  plan.kind = SiteKind::RowPlan;
  plan.report = "row_plan";
  plan.type = ElementType::I64;
  plan.exchange.globalShape = {areSame ? 3 : 12};
  if (!areSame)
    plan.exchange.dims = {{0, {0}, cut({3, 3, 3, 3}), cut({3, 3, 3, 3})}};
  plan.rows.vectorDim = 1;
  plan.rows.gathers = true;
  plan.rows.components = {0};
  plan.rows.slices = {1};
  plan.rows.dims = {{0, {0}, owned, Intervals(4, {0, 1})}};
  Site gather = exchangeSite("gather_rows", {8, 5}, {{0, {0}, owned, owned}});
  gather.kind = SiteKind::GatherRows;
  Site other = plan;
  other.rows.gathers = false;
  other.rows.scatters = true;
  return makeTable({4}, {plan, gather, other});
}

TEST(Rows, EachRowTravelsOnce) {
  for (bool areSame : {true, false})
    for (Way way : {Way::Host, Way::Sockets}) {
      TestWorld world(smallTable(areSame), 0, 60'000, 0, false, way);
      auto run = [&](int64_t changed) {
        int status = world.run([&](shardrt_context *ctx) {
          int64_t indices[] = {0, 0, 7};
          if (shardrt_rank(ctx) == changed)
            indices[1] = 7;
          float block[10], rows[15];
          return shardrt_gather_rows(ctx, 1, shardrt_plan_rows(ctx, 0, indices),
                                     block, rows);
        });
        EXPECT_EQ(status, SHARDRT_OK) << world.error();
      };
      run(-1);
      // Rows 0 and 7 to three other ranks each.
      EXPECT_EQ(world.stats(1).bytes_received, 6 * 5 * 4);
      // Ranks with the same indices know what the others ask for; of others
      // each sends three how many rows, and two ranks have one each, which
      // where they travel have to know which.
      int64_t lists = way == Way::Host ? 0 : 6 * 8;
      int64_t expected = areSame ? 0 : 4 * 3 * 8 + lists;
      EXPECT_EQ(world.stats(0).bytes_received, expected);
      // A rank whose indices are those of the step before says so.
      run(-1);
      expected += areSame ? 0 : 4 * 3 * 8;
      EXPECT_EQ(world.stats(0).bytes_received, expected);
      if (areSame)
        continue;
      // Where one has others, the rest have to send theirs again.
      run(2);
      expected += 4 * 3 * 8 + lists + 3 * 3 * 8;
      EXPECT_EQ(world.stats(0).bytes_received, expected);
    }
}

/// After a step that failed, ranks know different plans of one another.
TEST(Rows, PlansAfterFailures) {
  for (Way way : {Way::Host, Way::Crew})
    for (int64_t failing = 0; failing < 4; ++failing)
      for (bool isLate : {false, true}) {
        TestWorld world(smallTable(/*areSame=*/false), 0, 60'000, 0, false,
                        way);
        auto run = [&](int64_t shift, bool fails) {
          return world.run([&](shardrt_context *ctx) -> int {
            int64_t rank = shardrt_rank(ctx);
            // Ranks 2 and 3 ask for the same rows in every step.
            int64_t indices[] = {0, 3, (rank < 2 ? rank + shift : rank) % 8};
            bool isFailing = fails && rank == failing;
            if (isFailing && !isLate)
              return SHARDRT_REFUSED;
            float block[10], rows[15];
            for (int64_t i = 0; i < 10; ++i)
              block[i] = static_cast<float>(10 * rank + i);
            int64_t plan = shardrt_plan_rows(ctx, 0, indices);
            if (isFailing)
              return SHARDRT_REFUSED;
            if (int status = shardrt_gather_rows(ctx, 1, plan, block, rows))
              return status;
            for (int64_t i = 0; i < 15; ++i)
              if (rows[i] != static_cast<float>(5 * indices[i / 5] + i % 5))
                return SHARDRT_REFUSED;
            return SHARDRT_OK;
          });
        };
        EXPECT_EQ(run(0, false), SHARDRT_OK) << world.error();
        EXPECT_NE(run(4, true), SHARDRT_OK);
        EXPECT_EQ(run(4, false), SHARDRT_OK) << world.error();
        EXPECT_NE(run(1, true), SHARDRT_OK);
        EXPECT_EQ(run(4, false), SHARDRT_OK) << world.error();
        EXPECT_EQ(run(4, false), SHARDRT_OK) << world.error();
      }
}

TEST(Rows, APlanForSomethingElseIsRefused) {
  TestWorld world(smallTable());
  int status = world.run([](shardrt_context *ctx) {
    int64_t indices[] = {0, 0, 7};
    float block[10], rows[15];
    return shardrt_gather_rows(ctx, 1, shardrt_plan_rows(ctx, 2, indices),
                               block, rows);
  });
  EXPECT_EQ(status, SHARDRT_USAGE);
  EXPECT_NE(world.error().find("is a plan for something else"),
            std::string::npos)
      << world.error();
  status = world.run([](shardrt_context *ctx) {
    float block[10], rows[15];
    return shardrt_gather_rows(ctx, 1, 17, block, rows);
  });
  EXPECT_EQ(status, SHARDRT_USAGE);
  EXPECT_NE(world.error().find("there is no plan 17"), std::string::npos);
}

TEST(Rows, RanksThatDisagreeAreTold) {
  TestWorld world(smallTable(/*areSame=*/false));
  int status = world.run([](shardrt_context *ctx) {
    int64_t indices[] = {0, 1, 7};
    float block[10], rows[15];
    int64_t plan = shardrt_plan_rows(ctx, 0, indices);
    if (shardrt_rank(ctx) == 2)
      return shardrt_plan_rows(ctx, 2, indices) ? 0 : SHARDRT_MISMATCH;
    return shardrt_gather_rows(ctx, 1, plan, block, rows);
  });
  EXPECT_EQ(status, SHARDRT_MISMATCH);
  EXPECT_NE(world.error().find("meets"), std::string::npos) << world.error();
}

TEST(Rows, ARankThatNeverComesIsNamed) {
  TestWorld world(smallTable(/*areSame=*/false), 0, /*timeoutMs=*/200);
  int status = world.run([](shardrt_context *ctx) {
    int64_t indices[] = {0, 1, 7};
    if (shardrt_rank(ctx) == 1)
      return 0;
    return shardrt_plan_rows(ctx, 0, indices) ? 0 : SHARDRT_MISMATCH;
  });
  EXPECT_TRUE(status == SHARDRT_MISMATCH || status == SHARDRT_WATCHDOG);
  EXPECT_NE(world.error().find("rank 1"), std::string::npos) << world.error();
}

TEST(Rows, DamagedTablesAreRefused) {
  SiteTable table = smallTable();
  EncodedSites encoded = encodeSites(table);
  SiteTable read;
  ASSERT_EQ(decodeSites(encoded.words, encoded.strings, read), "");
  EXPECT_EQ(read.sites[0].rows.slices, std::vector<int64_t>{1});
  // Any word, made something else, is refused or read; never a wrong access.
  for (size_t i = 3; i < encoded.words.size(); ++i)
    for (int64_t value : {int64_t(-1), int64_t(9), int64_t(1) << 60}) {
      std::vector<int64_t> words = encoded.words;
      words[i] = value;
      shardrt_program *program = nullptr;
      char error[256];
      if (shardrt_program_create(
              callRankFunction, words.data(),
              static_cast<int64_t>(words.size()), encoded.strings.data(),
              static_cast<int64_t>(encoded.strings.size()), "{}", &program,
              error, sizeof(error)) == SHARDRT_OK)
        shardrt_program_destroy(program);
    }
}
