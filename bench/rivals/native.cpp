// The same job as a native program, the bound to aim at: input in blocks, a 64-bit hash of each line, an open-addressing table
// of hashes with prefetch, output in blocks. Unkeyed hash, no canonicalisation, no state.  native < IN > OUT
#include <cstdint>
#include <cstring>
#include <unistd.h>
#include <vector>

using u64 = uint64_t;
using u128 = unsigned __int128;

static u64 mix(u64 a, u64 b) {
  u128 product = (u128)a * b;
  return (u64)product ^ (u64)(product >> 64);
}

static u64 read8(const char *at) {
  u64 word;
  memcpy(&word, at, 8);
  return word;
}

static u64 hashOf(const char *text, size_t length) {
  u64 h = length * 0x9e3779b97f4a7c15ull;
  size_t i = 0;
  for (; i + 16 <= length; i += 16) h = mix(read8(text + i) ^ 0xa0761d6478bd642full, read8(text + i + 8) ^ h);
  char rest[16] = {0};
  memcpy(rest, text + i, length - i);
  h = mix(read8(rest) ^ 0xe7037ed1a0b428dbull, read8(rest + 8) ^ h);
  h = mix(h ^ 0x8ebc6af09c88c6e3ull, 0x589965cc75374cc3ull);
  return h ? h : 1; // 0 marks an empty slot
}

struct Table {
  std::vector<u64> slots = std::vector<u64>(1 << 16);
  u64 count = 0;

  bool add(u64 hash) {
    for (u64 mask = slots.size() - 1, at = hash & mask;; at = (at + 1) & mask) {
      if (slots[at] == hash) return false;
      if (slots[at] == 0) {
        slots[at] = hash;
        count++;
        return true;
      }
    }
  }

  void reserve(u64 more) {
    while ((count + more) * 4 > slots.size() * 3) {
      std::vector<u64> old(slots.size() * 2);
      old.swap(slots);
      count = 0;
      for (u64 hash : old)
        if (hash) add(hash);
    }
  }

  void prefetch(u64 hash) const { __builtin_prefetch(&slots[hash & (slots.size() - 1)], 1); }
};

struct Output {
  std::vector<char> buffer = std::vector<char>(1 << 20);
  size_t used = 0;

  void flush() {
    for (size_t sent = 0; sent < used;) {
      ssize_t n = write(1, buffer.data() + sent, used - sent);
      if (n < 0) _exit(1);
      sent += n;
    }
    used = 0;
  }

  void line(const char *text, size_t length) {
    if (used + length + 1 > buffer.size()) flush();
    if (length + 1 > buffer.size()) buffer.resize(length + 1);
    memcpy(buffer.data() + used, text, length);
    used += length;
    buffer[used++] = '\n';
  }
};

struct Input {
  std::vector<char> buffer = std::vector<char>(1 << 22);
  size_t from = 0, end = 0;
  bool ended = false;

  // The next line without its newline, valid until `refill`; false when the buffer holds no whole line.
  bool line(const char *&text, size_t &length) {
    const char *start = buffer.data() + from;
    const char *newline = (const char *)memchr(start, '\n', end - from);
    if (!newline && (!ended || from == end)) return false;
    text = start;
    length = (newline ? newline : buffer.data() + end) - start;
    from = newline ? from + length + 1 : end;
    return true;
  }

  // Keeps the line that has begun and reads on; false at the end.
  bool refill() {
    if (ended) return false;
    memmove(buffer.data(), buffer.data() + from, end - from);
    end -= from;
    from = 0;
    if (end == buffer.size()) buffer.resize(end * 2);
    ssize_t n = read(0, buffer.data() + end, buffer.size() - end);
    if (n < 0) _exit(1);
    end += n;
    ended = n == 0;
    return true;
  }
};

int main() {
  const int batch = 128;
  const char *starts[batch];
  size_t lengths[batch];
  u64 hashes[batch];
  Table table;
  Input input;
  Output output;
  do {
    for (int lines = batch; lines == batch;) {
      table.reserve(batch);
      for (lines = 0; lines < batch && input.line(starts[lines], lengths[lines]); lines++) {
        hashes[lines] = hashOf(starts[lines], lengths[lines]);
        table.prefetch(hashes[lines]);
      }
      for (int i = 0; i < lines; i++)
        if (table.add(hashes[i])) output.line(starts[i], lengths[i]);
    }
  } while (input.refill());
  output.flush();
}
