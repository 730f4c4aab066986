//===- Machine.h - The machine that a program is compiled for ---*- C++ -*-===//
//
// Every estimate of time that the compiler makes is made of these figures, by
// Cost.h. They are given, never measured in silence: the same program with the
// same options is compiled to the same artifact on every host.
//
// Standard library alone.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_MACHINE_MACHINE_H
#define SHARDC_MACHINE_MACHINE_H

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardc {

/// What joins ranks that differ along one axis of the mesh.
struct Link {
  double bandwidth = 0; ///< bytes a second that arrive at one rank
  double latency = 0;   ///< seconds until the first byte is there

  bool operator==(const Link &) const = default;
};

struct Machine {
  std::string name;            ///< the preset that it started from
  double flops = 0;            ///< f32 operations a second of one rank
  double memoryBandwidth = 0;  ///< bytes a second that one rank reads
  double firstCacheBytes = 0;  ///< of data, next to a core's registers
  double cacheBytes = 0;       ///< that one core has for itself
  double sharedCacheBytes = 0; ///< what several cores share
  double forkSeconds = 0;      ///< until threads of a rank have begun a loop
  double launchSeconds = 0;    ///< of a GPU: from one small kernel to the next
  double multiprocessors = 0;  ///< of one GPU
  double tensorFlops = 0;      ///< of a GPU: 16-bit operations by mma.sync
  double sharedBandwidth = 0;  ///< of a GPU: bytes of all its shared memory
  double level2Bandwidth = 0;  ///< of a GPU: bytes from its shared cache
  double lineBytes = 0;        ///< of a cache: what one element brings along
  Link link;                   ///< between ranks, along axes not named below
  std::map<std::string, Link, std::less<>> axes; ///< by name of a mesh axis

  bool operator==(const Machine &) const = default;

  /// The link along `axis`, a mesh axis.
  const Link &linkAlong(std::string_view axis) const;
};

/// What a figure is a number of.
enum class Unit { Bytes, Seconds, BytesPerSecond, OperationsPerSecond, Count };

/// One figure of a machine.
struct Figure {
  std::string_view
      name; ///< as files and attributes have it: "memory_bandwidth"
  Unit unit;
  std::string_view meaning; ///< one sentence, for the reference
};

/// All figures that do not depend on others, in the order of the reference.
const std::vector<Figure> &machineFigures();
/// Those of a link: "bandwidth" and "latency".
const std::vector<Figure> &linkFigures();

/// The figure `name` of `machine`, in SI units: "flops", "link.bandwidth",
/// "axes.x.latency". Empty for a name that is none. An axis that the machine
/// does not name has the figures of `link`.
std::optional<double> getFigure(const Machine &machine, std::string_view name);

/// Sets the figure `name`. Returns what is wrong, empty if nothing is: an
/// unknown name, or a value that is not finite, or not above zero (a latency
/// may be zero).
std::string setFigure(Machine &machine, std::string_view name, double value);

/// The names of all figures of `machine`, those of its axes among them, by
/// which it differs from the preset that it is named after; all if there is
/// none such.
std::vector<std::string> changedFigures(const Machine &machine);

/// What a program is compiled for where nobody says otherwise.
inline constexpr std::string_view kDefaultMachine = "generic";

/// The machine named `name`, if there is one.
std::optional<Machine> machinePreset(std::string_view name);
std::vector<std::string_view> machinePresets();

/// Reads a machine as options have it: a preset's name, then figures that
/// differ, "h100,link.bandwidth=50 GB/s,axes.x.latency=3 us". Returns what is
/// wrong, empty if nothing is.
std::string parseMachine(std::string_view text, Machine &machine);
/// The inverse: what `parseMachine` reads as this machine, to the last bit.
std::string printMachine(const Machine &machine);

/// Sets the figure `name` to a quantity. Returns what is wrong, empty if
/// nothing is.
std::string setFigure(Machine &machine, std::string_view name,
                      std::string_view quantity);

/// Reads a quantity such as "5 GB/s", "20 us", "4 MiB", "100 GFLOP/s", or a
/// plain number in SI units. Returns what is wrong, empty if nothing is.
std::string readQuantity(std::string_view text, Unit unit, double &value);
/// A quantity of that unit as an example: "5 GB/s".
std::string_view exampleOf(Unit unit);

} // namespace shardc

#endif // SHARDC_MACHINE_MACHINE_H
