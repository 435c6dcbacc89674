// The same job as a native program, with the usual means of one: the input mapped into memory, lines by memchr, XXH3 of each
// line, an open-addressing table of hashes with prefetch, buffered output. Unkeyed, no canonicalisation, no state.
//   native-xxh3 < IN > OUT      IN is a file
#define XXH_INLINE_ALL
#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>
#include <xxhash.h>

using u64 = uint64_t;

class HashTable {
  std::vector<u64> cells = std::vector<u64>(1 << 16);
  u64 held = 0;

  static void insert(std::vector<u64> &into, u64 hash) {
    u64 at = hash & (into.size() - 1);
    while (into[at] != 0) at = (at + 1) & (into.size() - 1);
    into[at] = hash;
  }

public:
  void prefetch(u64 hash) const { __builtin_prefetch(&cells[hash & (cells.size() - 1)], 1); }

  // Test-and-set: true when the hash is new.
  bool take(u64 hash) {
    const u64 mask = cells.size() - 1;
    for (u64 at = hash & mask;; at = (at + 1) & mask) {
      if (cells[at] == hash) return false;
      if (cells[at] != 0) continue;
      cells[at] = hash;
      held++;
      return true;
    }
  }

  // Three quarters full at most, with this many more.
  void makeRoom(u64 more) {
    if ((held + more) * 4 <= cells.size() * 3) return;
    std::vector<u64> wider(cells.size() * 2);
    for (u64 hash : cells)
      if (hash != 0) insert(wider, hash);
    cells.swap(wider);
  }
};

static std::vector<char> pending;

static void writeOut() {
  for (size_t at = 0; at < pending.size();) {
    const ssize_t n = write(1, pending.data() + at, pending.size() - at);
    if (n < 0) _exit(1);
    at += n;
  }
  pending.clear();
}

int main() {
  struct stat facts;
  if (fstat(0, &facts) != 0 || !S_ISREG(facts.st_mode)) return 2;
  if (facts.st_size == 0) return 0;
  char *text = (char *)mmap(nullptr, facts.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, 0, 0);
  if (text == MAP_FAILED) return 1;
  madvise(text, facts.st_size, MADV_SEQUENTIAL);
  const char *const end = text + facts.st_size;
  const int group = 128;
  const size_t bufferBytes = 1 << 20;
  const char *lines[group];
  size_t sizes[group];
  u64 hashes[group];
  HashTable table;
  pending.reserve(2 * bufferBytes);
  for (const char *at = text; at < end;) {
    int count = 0;
    for (; count < group && at < end; count++) {
      const char *newline = (const char *)memchr(at, '\n', end - at);
      if (!newline) newline = end;
      lines[count] = at;
      sizes[count] = newline - at;
      const u64 hash = XXH3_64bits(at, sizes[count]);
      hashes[count] = hash != 0 ? hash : 1; // 0 marks an empty cell
      table.prefetch(hashes[count]);
      at = newline + 1;
    }
    table.makeRoom(group);
    for (int i = 0; i < count; i++) {
      if (!table.take(hashes[i])) continue;
      pending.insert(pending.end(), lines[i], lines[i] + sizes[i]);
      pending.push_back('\n');
    }
    if (pending.size() >= bufferBytes) writeOut();
  }
  writeOut();
}
