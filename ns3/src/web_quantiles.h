// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Quantiles of PackMime-HTTP's marginals (J. Cao, W. S. Cleveland, Y. Gao, K. Jeffay, F. D. Smith and M. C.
// Weigle, "Stochastic models for generating synthetic HTTP source traffic", INFOCOM 2004, as ns-2.35 draws
// them), to three digits. Between them the logarithm is linear over the logit of p: finer detail is not kept.
#ifndef TCPLEARN_NS3_WEB_QUANTILES_H
#define TCPLEARN_NS3_WEB_QUANTILES_H

namespace tcplearn::web {

inline constexpr double kP[] = {0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999};

// responses, bytes: one that validates a cached copy, one that is a file
inline constexpr double kValidation[] = {6.26, 22.4, 64.3, 74.6, 119, 141, 197, 249, 267, 272, 272, 272};
inline constexpr double kFile[] = {276, 284, 324, 386, 691, 2260, 8900, 20300, 35900, 93100, 604e3, 3.92e6};
inline constexpr double kRequest[] = {59.3, 123, 217, 280, 351, 422, 514, 869, 1060, 3060, 14400, 68200};
// part of the RTT on either side, ms
inline constexpr double kClientRtt[] = {0.521, 0.53, 0.574, 0.635, 0.882, 1.47,
                                        5.73,  36,   84.4,  599,   1510,  2380};
inline constexpr double kServerRtt[] = {0.505, 0.597, 1.16, 2.34, 11.5, 58, 89.7, 114, 214, 670, 3120, 5110};

}  // namespace tcplearn::web

#endif
