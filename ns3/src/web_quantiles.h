// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Quantiles of the distributions of PackMime-HTTP (J. Cao, W. S. Cleveland, Y. Gao, K. Jeffay, F. D.
// Smith and M. C. Weigle, "Stochastic models for generating synthetic HTTP source traffic", INFOCOM 2004,
// as ns-2.35 draws them), to three digits. experiments/tambuwal2018/packmime.py reads them at round
// probabilities. Between these points the logarithm is linear in the logit of p; no quantile from 0.001
// to 0.999 is then more than 5 % off.
#ifndef TCPLEARN_NS3_WEB_QUANTILES_H
#define TCPLEARN_NS3_WEB_QUANTILES_H

namespace tcplearn::web {

inline constexpr double kP[] = {0.001, 0.003, 0.01, 0.02, 0.04,  0.05,  0.1,   0.15,   0.25,  0.34,
                                0.44,  0.5,   0.68, 0.69, 0.75,  0.82,  0.87,  0.9,    0.93,  0.945,
                                0.95,  0.97,  0.98, 0.99, 0.994, 0.997, 0.998, 0.9985, 0.999, 0.9999};

// response sizes in bytes: validation of a cached copy; a file
inline constexpr double kValidation[] = {6.26, 9.84, 22.4, 40.3, 61,  64.3, 74.6, 101, 119, 127,
                                         135,  141,  163,  166,  197, 219,  237,  249, 262, 266,
                                         267,  270,  271,  272,  272, 272,  272,  272, 272, 272};
inline constexpr double kFile[] = {276,    277,    284,    293,    314,    324,     386,   464,
                                   691,    1020,   1660,   2260,   6130,   6470,    8900,  12200,
                                   15600,  20300,  29500,  34600,  35900,  41500,   53300, 93100,
                                   141000, 248000, 344000, 435000, 604000, 3.92e+06};
inline constexpr double kRequest[] = {59.3, 76.3, 123,  168,  204,  217,  280,  309,   351,   377,
                                      405,  422,  463,  468,  514,  639,  790,  869,   935,   1020,
                                      1060, 1460, 1920, 3060, 4320, 6890, 9060, 11000, 14400, 68200};
// part of the RTT on either side, in ms
inline constexpr double kClientRtt[] = {0.521, 0.523, 0.53, 0.541, 0.562, 0.574, 0.635, 0.706, 0.882, 1.1,
                                        1.42,  1.47,  1.67, 1.88,  5.73,  21.7,  29.3,  36,    52.5,  68.6,
                                        84.4,  219,   346,  599,   843,   1070,  1220,  1340,  1510,  2380};
inline constexpr double kServerRtt[] = {0.505, 0.524, 0.597, 0.714, 0.996, 1.16, 2.34, 4.23, 11.5, 24.5,
                                        51.6,  58,    87.9,  88.9,  89.7,  91,   103,  114,  160,  197,
                                        214,   324,   436,   670,   1050,  1590, 2460, 2860, 3120, 5110};

}  // namespace tcplearn::web

#endif
