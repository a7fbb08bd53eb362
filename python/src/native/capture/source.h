// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Reads the bytes of a trace, and decompresses them. It uses zlib's inflate instead of gzread, because
// gzread discards inflated data at an error and does not report bytes after the end of the gzip data.
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
  explicit ByteSource(std::FILE* file);  // takes ownership of the file
  ByteSource(const void* data, std::size_t size);
  // Reads from a pipe, after the bytes `head` that were read already. The bytes are not decompressed.
  ByteSource(int descriptor, const std::string& head);  // takes ownership of the descriptor
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Returns 0 at the end and after damage; damage() distinguishes the two.
  std::size_t read(void* to, std::size_t size);

  // Returns the number of buffered bytes; 0 if the data are compressed.
  std::size_t here_bytes() const { return gzip_ ? 0 : size_in_; }
  // Consumes `size` bytes that the caller has looked at.
  void skip(std::size_t size) {
    in_ += size;
    size_in_ -= size;
    consumed_ += size;
  }

  bool live() const { return descriptor_ >= 0; }
  // For a pipe: waits at most `wait_ms` for `bytes` bytes or the end. Returns whether they are available.
  bool ahead(std::size_t bytes, int wait_ms);
  // Returns the next bytes without consuming them; null if fewer than `bytes` are available.
  const std::uint8_t* seen(std::size_t bytes) const { return size_in_ < bytes ? nullptr : in_; }
  static constexpr std::size_t kMostAhead = std::size_t{1} << 19;

  const std::string& damage() const { return damage_; }
  bool empty() const { return size_in_ == 0 && !gzip_; }
  std::uint64_t consumed() const { return consumed_; }  // bytes of the stored file
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
