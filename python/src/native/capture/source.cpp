// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "source.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "error.h"

namespace tcplearn {
namespace {
constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
}

ByteSource::ByteSource(std::FILE* file) : file_(file), buffer_(kBufferBytes) {
  struct stat info {};
  if (fstat(fileno(file), &info) == 0 && info.st_size > 0) total_ = static_cast<std::uint64_t>(info.st_size);
  refill();
  start();
}

ByteSource::ByteSource(const void* data, std::size_t size)
    : in_(static_cast<const std::uint8_t*>(data)), size_in_(size), total_(size) {
  start();
}

ByteSource::ByteSource(int descriptor, const std::string& head)
    : descriptor_(descriptor), buffer_(kMostAhead + head.size()) {
  std::copy(head.begin(), head.end(), buffer_.begin());
  in_ = buffer_.data();
  size_in_ = head.size();
  if (size_in_ == 0) refill();
}

ByteSource::~ByteSource() {
  if (descriptor_ >= 0) close(descriptor_);
  if (gzip_) inflateEnd(&zlib_);
  if (file_ != nullptr) std::fclose(file_);
}

void ByteSource::start() {
  gzip_ = size_in_ >= 2 && in_[0] == 0x1f && in_[1] == 0x8b;
  // 16: the data has a gzip header and trailer
  if (gzip_ && inflateInit2(&zlib_, 16 + MAX_WBITS) != Z_OK) {
    gzip_ = false;
    throw TraceError("no memory to unpack gzip");
  }
}

bool ByteSource::ahead(std::size_t bytes, int wait_ms) {
  while (size_in_ < bytes && !pipe_ended_) {
    pollfd watched{descriptor_, POLLIN, 0};
    // also after a signal, so that the caller can handle it
    if (poll(&watched, 1, wait_ms) <= 0) return false;
    std::memmove(buffer_.data(), in_, size_in_);
    in_ = buffer_.data();
    size_in_ += read_pipe(size_in_);
  }
  return true;
}

// Reads from the pipe into the buffer, from offset `at` on.
std::size_t ByteSource::read_pipe(std::size_t at) {
  ssize_t got = 0;
  do {
    got = ::read(descriptor_, buffer_.data() + at, buffer_.size() - at);
  } while (got < 0 && errno == EINTR);
  if (got < 0) damage_ = std::string("cannot be read: ") + std::strerror(errno);
  pipe_ended_ = got <= 0;
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

bool ByteSource::refill() {
  if (file_ == nullptr && descriptor_ < 0) return false;
  size_in_ = live() ? read_pipe(0) : std::fread(buffer_.data(), 1, buffer_.size(), file_);
  if (size_in_ == 0 && file_ != nullptr && std::ferror(file_) != 0)
    damage_ = std::string("cannot be read: ") + std::strerror(errno);
  in_ = buffer_.data();
  return size_in_ > 0;
}

std::size_t ByteSource::copy(std::uint8_t* to, std::size_t size) {
  if (size_in_ == 0 && !refill()) return 0;
  const std::size_t n = std::min(size, size_in_);
  std::memcpy(to, in_, n);
  in_ += n;
  size_in_ -= n;
  consumed_ += n;
  return n;
}

std::size_t ByteSource::inflate_some(std::uint8_t* to, std::size_t size) {
  std::size_t made = 0;
  while (made == 0 && !done_) {
    if (size_in_ == 0 && !refill()) {
      done_ = true;
      if (damage_.empty()) damage_ = "the gzip data ends before its end mark";
      break;
    }
    // zlib counts with 32 bits
    const auto offered = static_cast<uInt>(std::min(size_in_, kBufferBytes));
    const auto room = static_cast<uInt>(std::min(size, kBufferBytes));
    zlib_.next_in = const_cast<Bytef*>(in_);
    zlib_.avail_in = offered;
    zlib_.next_out = to;
    zlib_.avail_out = room;
    const int status = inflate(&zlib_, Z_NO_FLUSH);
    const std::size_t used = offered - zlib_.avail_in;
    in_ += used;
    size_in_ -= used;
    consumed_ += used;
    made = room - zlib_.avail_out;
    if (status == Z_STREAM_END) {
      // Gzip files may be concatenated (RFC 1952, section 2.2), and tapes pad with zeros.
      while ((size_in_ > 0 || refill()) && *in_ == 0) {
        ++in_;
        --size_in_;
        ++consumed_;
      }
      if (size_in_ == 0) {
        done_ = true;
      } else if (*in_ == 0x1f) {
        inflateReset(&zlib_);
      } else {
        done_ = true;
        damage_ = "there are other bytes after the end of the gzip data";
      }
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      done_ = true;
      damage_ =
          std::string("the gzip data is damaged (") + (zlib_.msg != nullptr ? zlib_.msg : "unknown") + ")";
    }
  }
  return made;
}

std::size_t ByteSource::read(void* to, std::size_t size) {
  auto* bytes = static_cast<std::uint8_t*>(to);
  std::size_t got = 0;
  while (got < size) {
    const std::size_t n = gzip_ ? inflate_some(bytes + got, size - got) : copy(bytes + got, size - got);
    if (n == 0) break;
    got += n;
  }
  return got;
}

}  // namespace tcplearn
