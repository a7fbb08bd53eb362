// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The bytes of a trace, decompressed while they are read. It uses zlib instead of gzread, because gzread
// discards inflated data at an error, and does not report bytes after the end of the gzip data.
#ifndef TCPLEARN_CAPTURE_SOURCE_H
#define TCPLEARN_CAPTURE_SOURCE_H

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace tcplearn {

class ByteSource {
 public:
  explicit ByteSource(std::FILE* file);  // closes it
  ByteSource(const void* data, std::size_t size);
  // Reads from a pipe, after `head`, which was read already. Its bytes are not decompressed.
  ByteSource(int descriptor, const std::string& head);  // closes it
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Returns 0 at the end and after damage; damage() shows which.
  std::size_t read(void* to, std::size_t size);

  // The available part of the next bytes; nothing if the data are compressed.
  std::size_t here_bytes() const { return gzip_ ? 0 : size_in_; }
  // Consumes bytes that were looked at.
  void skip(std::size_t size) {
    in_ += size;
    size_in_ -= size;
    consumed_ += size;
  }

  bool live() const { return descriptor_ >= 0; }
  // For a pipe: waits for a time for a number of bytes; true once they, or all bytes that will come, are
  // available.
  bool ahead(std::size_t bytes, int wait_ms);
  // The next bytes, not consumed; null if fewer are available.
  const std::uint8_t* seen(std::size_t bytes) const { return size_in_ < bytes ? nullptr : in_; }
  static constexpr std::size_t kMostAhead = std::size_t{1} << 19;

  const std::string& damage() const { return damage_; }
  bool empty() const { return size_in_ == 0 && !gzip_; }
  std::uint64_t consumed() const { return consumed_; }  // of the file as stored
  std::uint64_t size() const { return total_; }

 private:
  void start();
  bool refill();
  std::size_t read_pipe(std::size_t at);
  std::size_t copy(std::uint8_t* to, std::size_t size);
  std::size_t inflate_some(std::uint8_t* to, std::size_t size);

  std::FILE* file_ = nullptr;
  int descriptor_ = -1;
  std::vector<std::uint8_t> buffer_;
  const std::uint8_t* in_ = nullptr;
  std::size_t size_in_ = 0;
  std::uint64_t consumed_ = 0, total_ = 0;
  bool gzip_ = false, done_ = false, pipe_ended_ = false;
  z_stream zlib_{};
  std::string damage_;
};

}  // namespace tcplearn

#endif
