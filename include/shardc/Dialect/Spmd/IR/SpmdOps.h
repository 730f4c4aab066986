//===- SpmdOps.h - All ops --------------------------------------*- C++ -*-===//
//
// For those who read every op; others include the families that they name.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDOPS_H
#define SHARDC_DIALECT_SPMD_IR_SPMDOPS_H

#include "shardc/Dialect/Spmd/IR/SpmdCommunication.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/Spmd/IR/SpmdLines.h"
#include "shardc/Dialect/Spmd/IR/SpmdLocal.h"
#include "shardc/Dialect/Spmd/IR/SpmdMatrices.h"
#include "shardc/Dialect/Spmd/IR/SpmdPairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdSites.h"

#endif // SHARDC_DIALECT_SPMD_IR_SPMDOPS_H
