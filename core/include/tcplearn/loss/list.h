/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Every classifier of losses and its presets: a new one is its header and its line here. Included by loss.h, once
 * for each arithmetic. */
#include "feature_list.h"

#include "loss_double.h"
#include "loss_fixed.h"

#include "path.h"
#include "features.h"
#include "decision.h"

#include "always.h"
#include "oracle.h"
#include "veno.h"
#include "threshold.h"
#include "mlp.h"
#include "adaptive.h"
#include "history.h"

#ifndef TCPLEARN_LOSS_LIST_H
#define TCPLEARN_LOSS_LIST_H

/* X(identifier, name, parameter list, TL_FORMULA or TL_LEARNED, summary, about, start and learn of its own)
 * TL_LOSS_STATIC: what it has seen changes nothing; TL_LOSS_LEARNING: ID_start() and ID_learn() are its own */
#define TL_LOSS_CLASSIFIERS(X) \
	X(loss_always, "congestion", TL_LOSS_ALWAYS_PARAMS, TL_FORMULA, \
	  "every loss is congestion: TCP's standard", \
	  "Every loss is taken for congestion, as TCP's standard has it.", TL_LOSS_STATIC) \
	X(loss_oracle, "oracle", TL_LOSS_ORACLE_PARAMS, TL_FORMULA, "the simulator's truth: the ceiling", \
	  "Knows from the simulator who dropped the packet: what a perfect classifier would gain.", \
	  TL_LOSS_STATIC) \
	X(loss_veno, "veno", TL_LOSS_VENO_PARAMS, TL_FORMULA, "Veno: fewer than beta packets in the queue", \
	  "The rule of TCP Veno (Fu and Liew 2003): a loss is random where the RTT says that few " \
	  "packets are in the queue.", \
	  TL_LOSS_STATIC) \
	X(loss_threshold, "threshold", TL_LOSS_THRESHOLD_PARAMS, TL_FORMULA, \
	  "one feature against one limit", \
	  "One measured feature against one limit: what a learned classifier has to beat.", TL_LOSS_STATIC) \
	X(loss_mlp, "mlp", TL_LOSS_MLP_PARAMS, TL_LEARNED, "ours: a perceptron trained over many paths", \
	  "A small neural network, trained on labelled losses of simulated paths, gives the " \
	  "probability that a loss is due to congestion.", \
	  TL_LOSS_STATIC) \
	X(loss_adaptive, "adaptive", TL_LOSS_ADAPTIVE_PARAMS, TL_LEARNED, \
	  "ours: mlp with a threshold that outcomes move", \
	  "The same network with a threshold that the connection's own outcomes move: a window kept " \
	  "and followed at once by more loss lowers it.", \
	  TL_LOSS_LEARNING) \
	X(loss_history, "history", TL_LOSS_HISTORY_PARAMS, TL_LEARNED, \
	  "ours: mlp and its answers to earlier losses", \
	  "The same network; its answer is weighed together with those that it gave to the " \
	  "connection's earlier losses.", \
	  TL_LOSS_LEARNING)

/* X(classifier, function, name, summary); the rest is the classifier's */
#define TL_LOSS_PRESETS(X) \
	X(loss_always, random, "random", "no loss is congestion") \
	X(loss_mlp, hwang2018, "mlp/hwang2018", "the paper's two inputs, trained on its topology")

#endif
