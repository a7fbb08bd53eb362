// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The bytes of a trace, gunzipped on the way. Plain zlib instead of gzread, because gzread throws away what
// it had inflated when it meets an error, and says nothing about bytes after the end of the gzip data.
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
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // 0 at the end, or where the data cannot be read further: damage() tells which.
  std::size_t read(void* to, std::size_t size);

  // What read() would give next without another read of the file, and without gzip; none may be there.
  const std::uint8_t* ahead() const { return in_; }
  std::size_t ahead_bytes() const { return gzip_ ? 0 : size_in_; }
  // Takes of it what was looked at.
  void skip(std::size_t size) {
    in_ += size;
    size_in_ -= size;
    consumed_ += size;
  }

  const std::string& damage() const { return damage_; }
  bool empty() const { return size_in_ == 0 && !gzip_; }
  std::uint64_t consumed() const { return consumed_; }  // of the file as it lies there
  std::uint64_t size() const { return total_; }

 private:
  void start();
  bool refill();
  std::size_t copy(std::uint8_t* to, std::size_t size);
  std::size_t inflate_some(std::uint8_t* to, std::size_t size);

  std::FILE* file_ = nullptr;
  std::vector<std::uint8_t> buffer_;
  const std::uint8_t* in_ = nullptr;
  std::size_t size_in_ = 0;
  std::uint64_t consumed_ = 0, total_ = 0;
  bool gzip_ = false, done_ = false;
  z_stream zlib_{};
  std::string damage_;
};

}  // namespace tcplearn

#endif
