// Lines for runs that are larger than memory, and digests of what comes out: quick enough to leave the processor to what is
// measured. `lines generate N none|half` writes N lines of 70 bytes, each different, or every second one on average a repeat of
// any earlier line; `lines expected N none|half` prints the digest of their first occurrences; `lines digest` that of stdin.
// A digest: lines, a sum of line hashes that does not depend on the order, and a hash that does.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

static inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

static const char TEMPLATE[] = "https://www.example-0000.com/articles/2026/0000000000000000/index.html\n";
static const size_t LINE = sizeof(TEMPLATE) - 1;
static const size_t HOST = 20, NAME = 43;

static char hex[256][2];

static inline void put(char *line, uint64_t id) {
  const uint64_t h = mix(id);  // a bijection: different ids make different lines
  memcpy(line, TEMPLATE, LINE);
  for (int i = 0; i < 8; i++) memcpy(line + NAME + 2 * i, hex[(h >> (56 - 8 * i)) & 255], 2);
  memcpy(line + HOST, hex[(h >> 8) & 255], 2);
  memcpy(line + HOST + 2, hex[h & 255], 2);
}

struct Digest {
  uint64_t lines = 0, sum = 0, chain = 0;
  void line(const char *p, size_t size) {
    uint64_t h = size;
    while (size >= 8) {
      uint64_t word;
      memcpy(&word, p, 8);
      h = (h ^ word) * 0x9fb21c651e98df25ull;
      h ^= h >> 32;
      p += 8;
      size -= 8;
    }
    uint64_t word = 0;
    memcpy(&word, p, size);
    h = mix(h ^ word);
    lines++;
    sum += h;
    chain = (chain ^ h) * 0x9fb21c651e98df25ull;
    chain ^= chain >> 29;
  }
  void print() const {
    printf("{\"lines\":%llu,\"sum\":\"%016llx\",\"chain\":\"%016llx\"}\n", (unsigned long long)lines,
           (unsigned long long)sum, (unsigned long long)chain);
  }
};

static void writeAll(const char *p, size_t size) {
  while (size > 0) {
    const ssize_t n = write(1, p, size);
    if (n <= 0) _exit(1);
    p += n;
    size -= n;
  }
}

int main(int argc, char **argv) {
  for (int i = 0; i < 256; i++) {
    char text[3];
    snprintf(text, 3, "%02x", i);
    memcpy(hex[i], text, 2);
  }
  const std::string mode = argc > 1 ? argv[1] : "";
  Digest digest;
  if (mode == "digest") {
    std::vector<char> buffer(1 << 20);
    std::string rest;
    fcntl(0, F_SETPIPE_SZ, 1 << 20);
    ssize_t n;
    while ((n = read(0, buffer.data(), buffer.size())) > 0) {
      const char *p = buffer.data(), *end = p + n;
      while (p < end) {
        const char *newline = (const char *)memchr(p, '\n', end - p);
        if (!newline) {
          rest.append(p, end - p);
          break;
        }
        if (rest.empty()) digest.line(p, newline - p);
        else {
          rest.append(p, newline - p);
          digest.line(rest.data(), rest.size());
          rest.clear();
        }
        p = newline + 1;
      }
    }
    digest.print();
    return 0;
  }
  const uint64_t count = argc > 2 ? (uint64_t)strtod(argv[2], nullptr) : 0;
  const bool isHalf = argc > 3 && !strcmp(argv[3], "half");
  const bool isExpected = mode == "expected";
  if ((mode != "generate" && !isExpected) || count == 0) {
    fprintf(stderr, "expected: lines generate|expected N none|half, or lines digest\n");
    return 2;
  }
  std::vector<char> out(LINE * 8192 + 64);
  size_t filled = 0;
  uint64_t known = 0;
  fcntl(1, F_SETPIPE_SZ, 1 << 20);
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t random = mix(i * 3 + 1);
    const bool isRepeat = isHalf && known > 0 && (random & 1);
    const uint64_t id = isRepeat ? (uint64_t)(((unsigned __int128)random * known) >> 64) : known++;
    if (isExpected) {
      if (isRepeat) continue;
      char line[LINE + 16];
      put(line, id);
      digest.line(line, LINE - 1);
      continue;
    }
    put(out.data() + filled, id);
    filled += LINE;
    if (filled + LINE > LINE * 8192) {
      writeAll(out.data(), filled);
      filled = 0;
    }
  }
  if (isExpected) digest.print();
  else writeAll(out.data(), filled);
}
