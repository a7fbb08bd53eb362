# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the words of the report mean."""

TERMS = (
    (
        "RTT sample",
        "The time from a segment's sending to the ACK that acknowledges it, from the capture. Segments "
        "that were retransmitted give none (Karn's rule), unless timestamps tell which sending is meant.",
    ),
    (
        "Error (mean, median, 95 %)",
        "|prediction - sample| in ms, each sample compared with the prediction that stood "
        "just before it. This is the papers' definition; it flatters estimators that repeat the last sample.",
    ),
    ("Bias", "Mean of prediction - sample in ms: positive where the estimator predicts too much."),
    (
        "Error at send",
        "The same error for the prediction that stood when the sample's segment was sent, a flight "
        "earlier: what a sender has in hand when it arms the timer.",
    ),
    ("RTO", "Retransmission timeout: how long a sender waits for an ACK before it sends again."),
    (
        "RTO miss %, before",
        "Share of samples that took longer than the RTO in force when their segment was sent; and than the "
        "one that stood just before the sample, which is what a chosen miss rate is about.",
    ),
    (
        "Spurious timeouts",
        "How often the timer would have fired although nothing was lost, restarted by each ACK as "
        "RFC 6298, section 5 asks; and the same where a tail loss probe (RFC 8985) goes first.",
    ),
    (
        "Mean RTO",
        "Mean of the RTO over the samples, in ms: roughly what a loss costs that only the timer repairs.",
    ),
    (
        "Excess wait",
        "Mean of RTO - sample in ms, where the RTO is the longer: the part of the wait that was not needed.",
    ),
    (
        "×",
        "Ratio to jacobson on the same flow: below 1 is better than RFC 6298's formulas. In brackets its 95 "
        "% interval, by a block bootstrap: where it holds 1, this flow does not tell which is better.",
    ),
    (
        "Loss RTO, RACK",
        "Mean time in ms from the sending of a segment that was lost to the moment that a sender knows: by "
        "its retransmission timer alone, and by RACK-TLP (RFC 8985).",
    ),
    (
        "× best switching",
        "Error over that of the best sequence in hindsight of those listed, with a change in 100 samples.",
    ),
    (
        "Judged",
        "Flows with too few samples are measured but not judged: they have no picture here.",
    ),
    (
        "jacobson",
        "SRTT and RTTVAR by RFC 6298, without its floor of one second; jacobson/rfc6298 has the floor.",
    ),
    ("last", "Predicts that the next RTT equals the last one: the trivial baseline."),
    ("linux", "The Linux kernel's timer: RFC 6298 with a floor of 200 ms under the variance term."),
    ("rfc9002", "QUIC's estimator; its RTO is the probe timeout (PTO)."),
    ("eifel", "The Eifel retransmission timer: gains that follow the flight size."),
    (
        "experts",
        "Weighted experts that share their weights (Nunes et al. 2014). The default is the paper's grid, in "
        "ticks of 500 ms, which is coarse for today's paths; experts/fitted fits the grid to the path.",
    ),
    (
        "linreg",
        "Regression on the connection's smallest and largest RTT, its hops and its TTL, with published "
        "coefficients (Baddam et al. 2018).",
    ),
)
