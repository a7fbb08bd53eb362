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
  // From a pipe, after `head`, which was read from it already. Its bytes are taken as they come, and not
  // unpacked.
  ByteSource(int descriptor, const std::string& head);  // closes it
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // 0 at the end, or where the data cannot be read further: damage() tells which.
  std::size_t read(void* to, std::size_t size);

  // Of what read() would give next, as much as is here; none of it where it is packed.
  std::size_t here_bytes() const { return gzip_ ? 0 : size_in_; }
  // Takes of that what was looked at.
  void skip(std::size_t size) {
    in_ += size;
    size_in_ -= size;
    consumed_ += size;
  }

  bool live() const { return descriptor_ >= 0; }
  // Of a pipe: waits so long for so many bytes; true once they, or all that will come, are here.
  bool ahead(std::size_t bytes, int wait_ms);
  // The next bytes, not taken; null where fewer are here.
  const std::uint8_t* seen(std::size_t bytes) const { return size_in_ < bytes ? nullptr : in_; }
  static constexpr std::size_t kMostAhead = std::size_t{1} << 19;

  const std::string& damage() const { return damage_; }
  bool empty() const { return size_in_ == 0 && !gzip_; }
  std::uint64_t consumed() const { return consumed_; }  // of the file as it lies there
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
