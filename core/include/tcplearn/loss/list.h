/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lists every loss classifier and its presets. A new classifier needs a header and a line here. loss.h
 * includes this file twice, for double precision and for fixed point. */
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
#include "online.h"

#ifndef TCPLEARN_LOSS_LIST_H
#define TCPLEARN_LOSS_LIST_H

/* Each line is X(identifier, name, parameter list, TL_FORMULA or TL_LEARNED, summary, about,
 * TL_LOSS_STATIC, TL_LOSS_LEARNING or TL_LOSS_COUNTING). TL_LEARNED: the classifier has trained weights, or
 * learns. TL_LOSS_LEARNING: the classifier also learns from the losses of its connection, in ID_start() and
 * ID_learn(). TL_LOSS_COUNTING: it learns from each ACK too, in ID_observe(). `summary` is one line, `about`
 * one or more sentences. */
#define TL_LOSS_CLASSIFIERS(X) \
	X(loss_always, "congestion", TL_LOSS_ALWAYS_PARAMS, TL_FORMULA, \
	  "every loss is congestion: TCP's standard", \
	  "Every loss counts as congestion, as in TCP's standard.", TL_LOSS_STATIC) \
	X(loss_oracle, "oracle", TL_LOSS_ORACLE_PARAMS, TL_FORMULA, "the simulator's truth: the ceiling", \
	  "The true cause, known from the simulator: the gain of a perfect classifier.", TL_LOSS_STATIC) \
	X(loss_veno, "veno", TL_LOSS_VENO_PARAMS, TL_FORMULA, "Veno: fewer than beta packets in the queue", \
	  "The rule of TCP Veno (Fu and Liew 2003): a loss is random if the RTT shows that few " \
	  "packets are in the queue.", \
	  TL_LOSS_STATIC) \
	X(loss_threshold, "threshold", TL_LOSS_THRESHOLD_PARAMS, TL_FORMULA, \
	  "one feature against one limit", \
	  "One measured feature against one limit, which a learned classifier has to beat.", TL_LOSS_STATIC) \
	X(loss_mlp, "mlp", TL_LOSS_MLP_PARAMS, TL_LEARNED, "ours: a perceptron trained over many paths", \
	  "A small neural network, trained on labelled losses of simulated paths, gives the " \
	  "probability that a loss is due to congestion.", \
	  TL_LOSS_STATIC) \
	X(loss_adaptive, "adaptive", TL_LOSS_ADAPTIVE_PARAMS, TL_LEARNED, \
	  "ours: mlp with a threshold that outcomes move", \
	  "The same network with a threshold that the connection's own outcomes change: a window kept " \
	  "and followed at once by more loss lowers it.", \
	  TL_LOSS_LEARNING) \
	X(loss_history, "history", TL_LOSS_HISTORY_PARAMS, TL_LEARNED, \
	  "ours: mlp and its answers to earlier losses", \
	  "The same network; its answer is combined with its answers to the " \
	  "connection's earlier losses.", \
	  TL_LOSS_LEARNING) \
	X(loss_online, "online", TL_LOSS_ONLINE_PARAMS, TL_LEARNED, \
	  "ours: learns in the connection, without trained weights", \
	  "It has no trained weights: it begins as TCP's standard and learns from the connection's own " \
	  "packets " \
	  "and losses how many losses occur at low load, which congestion cannot have caused.", \
	  TL_LOSS_COUNTING)

/* Each line is X(classifier, function, name, summary). All else comes from the classifier. */
#define TL_LOSS_PRESETS(X) \
	X(loss_always, random, "random", "no loss is congestion") \
	X(loss_mlp, hwang2018, "mlp/hwang2018", "the paper's two inputs, trained on its topology")

#endif
