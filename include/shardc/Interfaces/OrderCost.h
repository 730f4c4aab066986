//===- OrderCost.h - What an order of dims is worth -------------*- C++ -*-===//
#ifndef SHARDC_INTERFACES_ORDERCOST_H
#define SHARDC_INTERFACES_ORDERCOST_H

#include "shardc/Interfaces/Localization.h"

#include "shardc/Interfaces/OrderCost.h.inc"

#endif // SHARDC_INTERFACES_ORDERCOST_H
