//===- SdyConverter.h - Shardy's annotations to those of spmd ---*- C++ -*-===//
#ifndef SHARDC_LIB_IMPORT_SDYCONVERTER_H
#define SHARDC_LIB_IMPORT_SDYCONVERTER_H

#include "MeshAxes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

namespace shardc::import {

sdy::AxisRefAttr axisOf(stablehlo::AxisRefAttr axis);
/// The sharding that `value` was given where it comes from; null if none.
spmd::ShardingAttr annotationOf(mlir::Value value);
/// `value` with `sharding` asked for; itself where that says nothing new. What
/// is asked to stay unreduced is summed where it is made.
mlir::Value constrain(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value, spmd::ShardingAttr sharding);

/// Writes a module's shardings as those of spmd, on one mesh.
class SdyConverter {
public:
  SdyConverter(mlir::ModuleOp module, bool deviceOrder)
      : deviceOrder(deviceOrder), module(module), context(module.getContext()),
        main(module.lookupSymbol<mlir::func::FuncOp>("main")) {}
  mlir::LogicalResult run();

private:
  mlir::LogicalResult uniteMeshes();
  mlir::LogicalResult addMesh(mlir::Attribute name, sdy::MeshAttr mesh,
                              mlir::Location loc);
  mlir::LogicalResult forEachSharding(
      llvm::function_ref<mlir::LogicalResult(sdy::TensorShardingAttr,
                                             mlir::Location)>
          visit);
  /// Puts the one mesh in the place of all others; null: one without axes.
  mlir::LogicalResult createMesh(spmd::MeshAttr attr);
  /// The mesh that `on`, a mesh or its symbol, is; null if it has no axes.
  sdy::MeshAttr meshOf(mlir::Attribute on) const;
  /// Null for a sharding that says nothing: on a mesh without axes.
  spmd::ShardingAttr convert(sdy::TensorShardingAttr sharding) const;
  spmd::ShardingAttr onMesh(spmd::ShardingAttr sharding) const;
  /// `sharding` with the orders that `attrs` ask for (`spmd.order =
  /// "2=zigzag"`, or the same as a frontend attribute); an error at `loc` for
  /// what is no order, or one of a dim that is not cut.
  spmd::ShardingAttr withOrder(spmd::ShardingAttr sharding,
                               mlir::DictionaryAttr attrs, mlir::Location loc);
  void convertSignature();
  void convertOps();
  void convertManual(sdy::ManualComputationOp op);
  void convertTie(mlir::Operation *op);
  void keepUnreadTies();
  void convertDevices(mlir::Operation *op);
  /// Places arguments on the devices that their meshes name, and results
  /// leave there.
  void placeBorders();
  /// `value`, laid out as `sharding`, with the shard of rank `pairs[i].first`
  /// at rank `pairs[i].second`.
  mlir::Value
  moveShards(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
             spmd::ShardingAttr sharding,
             llvm::ArrayRef<std::pair<int64_t, int64_t>> pairs) const;
  spmd::ShardingAttr convertBoundary(sdy::TensorShardingAttr sharding,
                                     mlir::RankedTensorType type,
                                     mlir::RankedTensorType inner) const;
  void dropAttributes();

  bool deviceOrder;
  mlir::ModuleOp module;
  mlir::MLIRContext *context;
  mlir::func::FuncOp main;
  MeshAxes meshes;
  mlir::StringAttr meshName; ///< of the first mesh with axes
  mlir::Location meshLoc = mlir::UnknownLoc::get(context);
  spmd::MeshOp ownMesh;   ///< an spmd.mesh of the input
  spmd::MeshAttr refined; ///< the one mesh; null if there is none with axes
  bool hasErrors = false;
  /// What the devices of a manual region are numbered by.
  llvm::DenseMap<mlir::Operation *, sdy::MeshAttr> meshOfRegion;
};

} // namespace shardc::import

#endif // SHARDC_LIB_IMPORT_SDYCONVERTER_H
