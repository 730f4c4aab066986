//===- AlignedDims.h - Which dims ops cut alike -----------------*- C++ -*-===//
#ifndef SHARDC_LIB_PROPAGATION_ALIGNEDDIMS_H
#define SHARDC_LIB_PROPAGATION_ALIGNEDDIMS_H

#include "shardc/Propagation/Problem.h"
#include "llvm/ADT/IntEqClasses.h"
#include <map>
#include <tuple>

namespace shardc::propagation {

/// Finds the cuts of arguments that arrive in shards of their own, and meet: as
/// the first of them does, or, where one meets it beyond a stride or a reshape,
/// as that way makes of it.
class AlignedDims {
public:
  explicit AlignedDims(const Problem &problem);

  /// Dims that are cut as dim `dim` of `tensor` is are to lie so, since the
  /// order of their elements is that of these shards.
  void prefer(int64_t tensor, int64_t dim, const Boundaries &shards) {
    preferred.try_emplace({sets[placeOf(tensor, dim)], shards.size()}, shards);
  }
  /// How dim `dim` of `tensor`, which arrives as `given` along `axes`, is to
  /// lie inside of the program. Arguments are asked in order.
  Boundaries lie(int64_t tensor, int64_t dim,
                 const std::vector<llvm::StringRef> &axes,
                 const Boundaries &given);

private:
  /// By place of a dim among all of all tensors.
  using Places = std::vector<std::optional<Boundaries>>;

  unsigned placeOf(int64_t tensor, int64_t dim) const {
    return firstPlaces[tensor] + static_cast<unsigned>(dim);
  }
  void spread(int64_t tensor, int64_t dim, const Boundaries &bounds,
              Places &known) const;

  const Problem &problem;
  std::vector<unsigned> firstPlaces;
  std::vector<std::vector<const OpNode *>> opsOf; ///< by tensor
  llvm::IntEqClasses sets;
  std::map<std::pair<unsigned, int64_t>, Boundaries> preferred;
  /// The first of a set, by size and axes; and what follows from it, by axes.
  std::map<std::tuple<unsigned, int64_t, std::vector<llvm::StringRef>>,
           Boundaries>
      firsts;
  std::map<std::vector<llvm::StringRef>, Places> followers;
};

} // namespace shardc::propagation

#endif // SHARDC_LIB_PROPAGATION_ALIGNEDDIMS_H
