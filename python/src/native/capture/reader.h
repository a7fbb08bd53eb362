// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Reads a capture as a stream of samples. Memory depends on concurrent connections only.
#ifndef TCPLEARN_CAPTURE_READER_H
#define TCPLEARN_CAPTURE_READER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "batch.h"
#include "error.h"
#include "source.h"

namespace tcplearn {

struct Packet;

// Receives every packet in order of time, with its connection. Copies by the same host are left out.
class PacketObserver {
 public:
  PacketObserver() = default;
  virtual ~PacketObserver() = default;
  PacketObserver(const PacketObserver&) = delete;
  PacketObserver& operator=(const PacketObserver&) = delete;

  // `side` is 0 for packets of the endpoint that sent the connection's first packet, 1 for the other.
  virtual void on_packet(std::uint32_t connection, unsigned side, const Packet& packet,
                         std::int64_t now_us) = 0;
  virtual void on_end(std::uint32_t connection) = 0;
};

struct ReaderOptions {
  // auto, near, far, client, server, both, or an address with or without a port: sets FlowInfo::chosen.
  std::string sender = "auto";
  // Whether ACKs that end inside a captured record (segmentation offload) give a sample too, timed by the
  // record that contains the last acknowledged byte.
  bool every_ack = false;
  // Whether batches include events for loss classifiers.
  bool events = false;
  // A connection without a packet for this time counts as ended.
  std::int64_t idle_us = 300'000'000;
  // With an observer, a capture without an RTT sample is no error.
  std::shared_ptr<PacketObserver> observer;
};

struct Stats {
  std::uint64_t packets = 0, tcp_packets = 0;
  std::uint64_t other_packets = 0;  // not TCP over IP
  std::uint64_t fragments = 0;      // later IP fragments, which have no TCP header
  std::uint64_t short_packets = 0;  // cut before the TCP header's first 16 bytes
  std::uint64_t cut_options = 0;    // cut within the TCP options
  std::uint64_t malformed_packets = 0;
  std::uint64_t sorted_packets = 0;  // packets up to 1 ms out of order, which were sorted by time
  // of the out-of-order packets, those that could not be sorted because there were too many at once
  std::uint64_t clamped_packets = 0;
  std::uint64_t data_packets = 0, pure_acks = 0;
  // of these, connections of which only one direction was captured
  std::uint64_t connections_with_data = 0, one_way_connections = 0;
  std::uint64_t connections_alive = 0;
  std::uint64_t bytes_read = 0, bytes_total = 0;  // bytes of the stored file; a total of 0 means unknown
};

class CaptureReader {
 public:
  // `name` appears in messages.
  CaptureReader(const std::string& path, const std::string& name, const ReaderOptions& options);
  CaptureReader(std::unique_ptr<ByteSource> source, const std::string& name, const ReaderOptions& options);
  // Reads from memory, which must outlive the reader.
  CaptureReader(const void* data, std::size_t size, const std::string& name, const ReaderOptions& options);
  // Reads during a capture: from a pipe, after the bytes `head`, or from an interface. Closes the pipe.
  static CaptureReader of_pipe(int descriptor, const std::string& head, const std::string& name,
                               const ReaderOptions& options);
  static CaptureReader of_interface(const std::string& name, const ReaderOptions& options);
  CaptureReader(CaptureReader&&) noexcept;
  ~CaptureReader();

  // Replaces `out` with about `max_rows` rows. There are fewer rows, even none, if rows are rare, so that
  // the caller regains control regularly; for a live source several times a second. Returns false at the
  // end, with `out` empty. Throws TraceError.
  bool next(Batch& out, std::size_t max_rows);

  // Stops reading; next() then returns the rest of the packets read so far.
  void stop();
  bool live() const;
  // Returns whether next() has returned everything.
  bool finished() const;

  // Throws std::out_of_range. near_sender and chosen are final once the flow has ended.
  FlowInfo flow(std::uint32_t id) const;
  // Frees the state of an ended flow.
  void release(std::uint32_t id);

  Stats stats() const;
  std::vector<std::string> warnings() const;
  PacketObserver* observer() const;

 private:
  CaptureReader();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tcplearn

#endif
