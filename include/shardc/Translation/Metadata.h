//===- Metadata.h - What an artifact says about itself ----------*- C++ -*-===//
//
// The JSON text of the symbol shardc_metadata: the mesh, the arguments and
// results with how they are laid over it, and where the program came from.
// Tools scatter inputs and gather outputs by it. docs/Reference/artifact.md
// lists the fields.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TRANSLATION_METADATA_H
#define SHARDC_TRANSLATION_METADATA_H

#include "shardc/Layout/Boundaries.h"
#include "shardc/Layout/Exchange.h"
#include "shardc/Seal/Seal.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shardc {

/// One axis of the mesh.
struct MeshAxis {
  std::string name;
  int64_t size = 1;
  friend bool operator==(const MeshAxis &, const MeshAxis &) = default;
};

/// How one dim of an argument or result is cut.
struct DimPlacement {
  std::vector<int64_t>
      axes; ///< mesh axis numbers, major to minor; empty: whole
  /// Over the linearised coordinates along `axes`: one shard if there are none.
  Boundaries boundaries;
  /// The sizes of the shards arrive when the program runs; `boundaries` are
  /// then those to take where nobody says otherwise.
  bool dynamic = false;
  /// How many elements there are arrives when the program runs; until it is
  /// bound, a placeholder stands for it.
  bool open = false;
  friend bool operator==(const DimPlacement &, const DimPlacement &) = default;
};

/// A value that ranks along an axis hold in parts, which are to be combined.
struct PartialPlacement {
  int64_t axis = 0; ///< of the mesh
  std::string kind; ///< "sum", "product", "min", "max", "and", "or", "xor"
  friend bool operator==(const PartialPlacement &,
                         const PartialPlacement &) = default;
};

/// One argument or result of the program.
struct ValueMetadata {
  std::string name;        ///< as the model's author calls it; may be empty
  std::string elementType; ///< as MLIR spells it: "f32", "ui8", "complex<f32>"
  std::string location;    ///< "unet.py:84:11"; may be empty
  std::vector<int64_t> shape; ///< global
  std::vector<DimPlacement> dims;
  std::vector<PartialPlacement> partial = {};
  /// Of results only. How a conformance file compares this result with the next
  /// one: "eq", "almost_eq TOLERANCE" or "close MIN MAX" (in ulp); "expected"
  /// for that next one. Empty for results that belong to the program.
  std::string check = {};
  /// Of arguments only. Whoever runs the program does not need it afterwards:
  /// the number of the result that its memory is meant for, or -1 for any.
  std::optional<int64_t> donated = {};
  /// The kind of memory that the program's author wants it in, such as
  /// "pinned_host"; empty for the device's own.
  std::string memory = {};
  /// Of results only. The donated argument whose memory may be given for this
  /// result as well: the program has read it before it writes.
  std::optional<int64_t> inPlace = {};
  /// The rank that has the shard of each position of the mesh; empty: the
  /// position is the rank.
  std::vector<int64_t> ranks = {};
  /// Which dim of the caller's array each one here is, where the caller asked
  /// for that layout in memory; empty: the same one.
  std::vector<int64_t> callerDims = {};
  /// The caller knows it as a token.
  bool isToken = false;
  friend bool operator==(const ValueMetadata &,
                         const ValueMetadata &) = default;
};

/// One communication site: what the compiler can say of it before it runs.
struct SiteMetadata {
  std::string kind;              ///< "halo_exchange", "all_reduce", …
  std::vector<std::string> axes; ///< mesh axes that it goes along
  int64_t dim = -1;              ///< the tensor dim; -1: none, or several
  int64_t bytesPerStep = 0; ///< that leave a rank, over all ranks; -1: unknown
  std::string location;     ///< of the op that needs it
  std::string reason;       ///< why it is there, one line
  friend bool operator==(const SiteMetadata &, const SiteMetadata &) = default;
};

/// What a rank computes in a step, as estimated (Translation/LocalText.h).
struct ProgramWork {
  int64_t operations = 0;      ///< additions, products, comparisons, …
  int64_t transcendentals = 0; ///< exp, log, …: evaluations
  int64_t bytes = 0;           ///< read and written by ops one by one
  friend bool operator==(const ProgramWork &, const ProgramWork &) = default;
};

struct ProgramMetadata {
  /// Version of the format; other versions are refused.
  static constexpr int64_t currentFormat = kArtifactFormat;
  int64_t format = currentFormat;
  std::string name;     ///< of the module
  std::string compiler; ///< "shardc 0.1.0"
  std::string arch;     ///< what the code was generated for
  /// Features of a processor that the code may use (Seal/Processor.h).
  std::string processor;
  std::vector<MeshAxis> mesh;
  std::vector<ValueMetadata> arguments;
  std::vector<ValueMetadata> results;
  std::vector<SiteMetadata> communication;
  int64_t arenaBytes = 0;    ///< of the rank that needs most
  int64_t threads = 1;       ///< of a rank, that share its loops
  bool reproducible = false; ///< the same bits on every mesh
  ProgramWork work;          ///< zeros where it was not counted

  int64_t numRanks() const;
  std::vector<int64_t> meshShape() const;
  friend bool operator==(const ProgramMetadata &,
                         const ProgramMetadata &) = default;
};

/// The box of `value` that `rank` holds, in global indices.
Box boxOf(const ValueMetadata &value, llvm::ArrayRef<int64_t> meshShape,
          int64_t rank);

/// Writes `metadata` as one line of JSON.
std::string toJSON(const ProgramMetadata &metadata);

/// Reads what toJSON writes. The text is not trusted: fields of wrong types,
/// axes out of range or used twice, boundaries that do not cut the dim, sizes
/// beyond the limits (65,536 ranks, 16 dims, 2^48 elements), deep nesting and
/// other format versions are errors that name the field.
llvm::Expected<ProgramMetadata> parseMetadata(llvm::StringRef json);

} // namespace shardc

#endif // SHARDC_TRANSLATION_METADATA_H
