/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* No include guard: once for each number model, from estimators.h. */
#include "../common.h"

#include "last.h"
#include "jacobson.h"
#include "linux_tcp.h"
#include "rfc9002.h"
#include "eifel.h"
#include "experts_grid.h"
#include "experts_steps.h"
#include "experts.h"
#include "experts_q16.h"
#include "linreg.h"
#include "tracking_predictors.h"
#include "tracking.h"
#include "conformal.h"
