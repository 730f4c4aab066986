//===- Cost.h - What something takes, in seconds ----------------*- C++ -*-===//
//
// The one place where operations, bytes and synchronisations become time. All
// functions are of one rank; whoever prices a program takes the busiest rank,
// or adds up all.
//
// Standard library alone.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_MACHINE_COST_H
#define SHARDC_MACHINE_COST_H

#include "shardc/Machine/Machine.h"
#include <algorithm>

namespace shardc {

class Cost {
public:
  /// `axes`: the names of the mesh axes that `move` and `synchronize` know by
  /// number.
  explicit Cost(const Machine &machine,
                const std::vector<std::string> &axes = {});

  /// A way that is not the plain one has to be better by this factor: estimates
  /// are not exact, and the plain way has less that can go wrong.
  static constexpr double kMargin = 1.05;
  static bool isWorth(double other, double plain) {
    return other * kMargin < plain;
  }

  /// Seconds of `operations` on f32, in cache.
  double compute(double operations) const { return operations / machine.flops; }
  /// Seconds of `operations` on 16-bit floats by a GPU's tensor cores.
  double multiply(double operations) const {
    return operations / machine.tensorFlops;
  }
  /// Seconds of reading `bytes` from shared memory, or of writing them, where
  /// all multiprocessors do their part.
  double accessShared(double bytes) const {
    return bytes / machine.sharedBandwidth;
  }
  /// Seconds of reading `bytes` from the second-level cache.
  double accessLevel2(double bytes) const {
    return bytes / machine.level2Bandwidth;
  }
  /// Seconds of reading `bytes` from memory, or of writing them.
  double access(double bytes) const { return bytes / machine.memoryBandwidth; }
  /// Seconds of copying `bytes` within a rank: each is read and written.
  double copy(double bytes) const { return 2 * access(bytes); }
  /// Seconds until `bytes` have arrived from ranks along `axes`, once they
  /// travel. Where several axes are crossed, the slowest link decides.
  template <typename Axes> double move(double bytes, const Axes &axes) const {
    return bytes / slowest(axes).bandwidth;
  }
  double move(double bytes) const { return bytes / machine.link.bandwidth; }
  /// How much longer bytes take along `axes` than along the machine's plain
  /// link.
  template <typename Axes> double slowdown(const Axes &axes) const {
    return machine.link.bandwidth / slowest(axes).bandwidth;
  }
  /// Seconds of a synchronisation of ranks along `axes`, whatever travels.
  template <typename Axes> double synchronize(const Axes &axes) const {
    return slowest(axes).latency;
  }
  double synchronize() const { return machine.link.latency; }
  /// Whether work of `seconds` is over before ranks have synchronised once: of
  /// what takes about as long, less code is worth more than less time.
  bool isSoonOver(double seconds) const { return seconds < synchronize(); }
  const Machine &getMachine() const { return machine; }

private:
  template <typename Axes> Link slowest(const Axes &axes) const {
    Link result;
    bool isFirst = true;
    for (auto axis : axes) {
      const Link &link =
          size_t(axis) < links.size() ? links[axis] : machine.link;
      result.bandwidth =
          isFirst ? link.bandwidth : std::min(result.bandwidth, link.bandwidth);
      result.latency =
          isFirst ? link.latency : std::max(result.latency, link.latency);
      isFirst = false;
    }
    return isFirst ? machine.link : result;
  }

  Machine machine;
  std::vector<Link> links; ///< one a mesh axis
};

} // namespace shardc

#endif // SHARDC_MACHINE_COST_H
