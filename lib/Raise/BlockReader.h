//===- BlockReader.h - What programs of blocks compute ----------*- C++ -*-===//
//
// Reads what a manual region computes as expressions of blocks of the tensors
// outside: loops are followed iteration by iteration, permutes by whose block
// arrives, what is kept for a gradient from where it is read to where it was
// made. Integers that follow from the rank are known for every rank. Where
// ranks take different branches, they are read one by one.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_RAISE_BLOCKREADER_H
#define SHARDC_LIB_RAISE_BLOCKREADER_H

#include "Reader.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include <deque>

namespace shardc::raise {

/// A block of a tensor of the program outside of regions: which, by rank.
struct BlockLeaf {
  mlir::Value value;
  spmd::ShardingAttr sharding;
  /// The rank whose block it is, and the number of the block; empty where all
  /// ranks have all of it.
  RankTable source, blocks;
};

class BlockReader final : public Reader, public BlockTables {
public:
  BlockReader(Algebra &algebra, const Numbering &numbering,
              spmd::MeshAttr mesh);

  PolyId read(mlir::Value value, const Layout &layout) override;
  /// The block that `term`, of kind Leaf, is of; null if it is none.
  const BlockLeaf *leafOf(const Term &term) const;
  /// The number of the block that each rank has along `axes`, the first one
  /// major, if it stands for `source`.
  RankTable blocksAlong(llvm::ArrayRef<mlir::StringAttr> axes,
                        const RankTable &source) const;
  int64_t countBlocks(llvm::ArrayRef<mlir::StringAttr> axes) const;
  RankTable blocksOf(spmd::ShardingAttr sharding,
                     const RankTable &source) const;
  /// `poly` as the rank `source` of each has it.
  PolyId onRank(PolyId poly, const RankTable &source);
  /// The table that a position, or a number, has; null if it has none.
  const RankTable *tableOf(const Term &term) const;
  /// The block `blocks` of `value` as a term along `layout`.
  PolyId makeLeaf(mlir::Value value, spmd::ShardingAttr sharding,
                  const RankTable &source, const Layout &layout);
  RankTable identity() const { return ranks; }
  /// From now on, expressions and tables hold for `ranks` only: all, or one.
  /// For one rank, comparisons of positions are decided where they can be;
  /// for all, only where the offset is common.
  void restrictTo(RankTable ranks);
  bool isOfOneRank() const {
    return ranks.size() == 1 && mesh.getNumRanks() != 1;
  }
  /// `poly` with comparisons of positions decided, where the sizes of dims
  /// decide them, and what hangs on them.
  PolyId decide(PolyId poly);
  /// The position along `dim` in the whole, where each rank has the block that
  /// `blocks` says.
  PolyId place(unsigned dim, const RankTable &blocks);
  const RankTable *blockOf(const Term &term) const override;
  PolyId inBlock(const Term &term, const RankTable &table) override;
  RankTable moved(const RankTable &table, unsigned move) const override;
  /// The first op that could not be followed, and why.
  mlir::Operation *stopped = nullptr;
  /// How many values were followed, writes seen and tables moved: what reading
  /// takes, but for what the algebra counts.
  int64_t countSteps() const { return steps; }
  /// What is finite only where a row has keys was taken to be so.
  bool isGuarded = false;

protected:
  PolyId leaf(mlir::Value value, const Layout &layout) override;
  PolyId readElementwise(mlir::Operation *op, const Layout &layout) override;

private:
  /// An iteration of a loop.
  struct Frame {
    unsigned parent;
    mlir::Operation *loop;
    int64_t iteration;
  };
  unsigned frameOf(unsigned parent, mlir::Operation *loop, int64_t iteration);
  /// Goes from block arguments and results of loops, branches and regions to
  /// what they are, changing the frame; sets `sharding` where it leaves all
  /// regions. Branches are those of the ranks of table `lanes`.
  mlir::Value follow(mlir::Value value, unsigned &frame,
                     spmd::ShardingAttr &sharding, unsigned lanes);
  std::optional<int64_t> countIterations(mlir::Operation *loop, unsigned frame);
  /// An integer that follows from the rank: by rank, where it is known, and
  /// whether all have the same.
  struct Numbers {
    std::optional<RankTable> table;
    bool isCommon = false;
  };
  const Numbers &numbersOf(mlir::Value value, unsigned frame);
  std::optional<RankTable> evaluate(mlir::Value value, unsigned frame);
  /// The number that all ranks of table `lanes` have.
  std::optional<int64_t> numberOn(mlir::Value value, unsigned frame,
                                  unsigned lanes);
  /// The same for each of several; none where one is not known.
  std::optional<llvm::SmallVector<int64_t>>
  placeOn(mlir::ValueRange starts, unsigned frame, unsigned lanes);
  /// What was last written where `slice` reads on the ranks of table `lanes`,
  /// and in which frame.
  std::optional<std::pair<mlir::Value, unsigned>>
  findWritten(mlir::Operation *slice, unsigned frame, unsigned lanes);
  /// A write to a buffer, and the one before it, as a number of `writes`.
  struct Write {
    mlir::Operation *update;
    unsigned frame;
    llvm::SmallVector<int64_t> place;
    std::optional<unsigned> before;
    /// The buffer, as a number of `buffers`.
    unsigned buffer;
  };
  /// Writes that go back to the same first one.
  struct Buffer {
    /// Each goes before the next, and all are of pieces of one size, at
    /// multiples of it from the first: each place is all of a piece or none.
    bool isRegular = true;
    /// Those to each place, ascending.
    std::map<llvm::SmallVector<int64_t>, llvm::SmallVector<unsigned>> byPlace;
    unsigned first, last;
  };
  /// The last write to `whole` that is known with all before it.
  std::optional<unsigned> lastWrite(mlir::Value whole, unsigned frame,
                                    unsigned lanes);
  unsigned addWrite(mlir::Operation *update, unsigned frame,
                    llvm::SmallVector<int64_t> place,
                    std::optional<unsigned> before);
  PolyId readHere(mlir::Value value, const Layout &layout);
  PolyId readContraction(mlir::Operation *op, const Layout &layout);
  PolyId readReduction(mlir::Operation *op, const Layout &layout);
  /// `poly` with positions in blocks as global ones.
  PolyId placePositions(PolyId poly);
  PolyId ofTable(const RankTable &table, bool isBool);
  /// The same; `decided` are those that were decided before.
  PolyId decide(PolyId poly, llvm::DenseMap<PolyId, PolyId> &decided);
  PolyId decideComparison(Term term);
  unsigned openDim(const Layout &layout, DimSet taken) const;

  spmd::MeshAttr mesh;
  RankTable allRanks, ranks;
  std::vector<Frame> frames;
  std::map<std::tuple<unsigned, mlir::Operation *, int64_t>, unsigned>
      frameNumbers;
  /// References to these stay valid. The first is `allRanks`.
  std::deque<RankTable> tables;
  static constexpr unsigned kAllRanks = 0;
  std::map<size_t, llvm::SmallVector<unsigned, 1>> tablesByHash;
  std::vector<Write> writes;
  std::vector<Buffer> buffers;
  /// The last write to what a value is on the ranks of a table; none where it
  /// is not known.
  std::map<std::tuple<void *, unsigned, unsigned>, std::optional<unsigned>>
      lastWrites;
  std::vector<BlockLeaf> leaves;
  std::map<std::string, unsigned> leafNumbers;
  std::map<std::tuple<void *, unsigned, unsigned, std::string>, PolyId> memo;
  std::map<std::pair<void *, unsigned>, Numbers> numbers;
  std::map<std::pair<void *, unsigned>, std::optional<int64_t>> tripCounts;
  unsigned frame = 0;
  /// Whose block is read, by rank, as a number of `tables`.
  unsigned source = 0;
  unsigned level = 0;
  mutable int64_t steps = 0;
  /// Of the leaf that is read: its layout over ranks.
  spmd::ShardingAttr boundary;

  unsigned tableNumber(const RankTable &table);
};

} // namespace shardc::raise

#endif // SHARDC_LIB_RAISE_BLOCKREADER_H
