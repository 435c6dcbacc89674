// The instance's memory: blocks handed out from the end of what is used, and again from a short list of
// blocks given back. Nothing is allocated per URL, so first fit over a few dozen blocks is all it takes.
// `alloc` answers 0 when the instance is full (its maximum is set by whoever made the memory).

const ALIGN: usize = 64
const FREE_MAX: i32 = 256

let top: usize = (__heap_base + ALIGN - 1) & ~(ALIGN - 1)
let freeCount: i32 = 0
const freeList: usize = memory.data(FREE_MAX * 8, 8)

/** Pages: an instance that is past the first number is given the second. */
const SMALL_PAGES: i32 = 16
const USUAL_PAGES: i32 = 4096

// Grows by `need` pages or more. Each step makes the platform collect its garbage, which with millions of strings about
// costs more than adding them: so there are few steps, the first to 256 MiB. Memory that is not touched yet takes no room
// but in the address space. When that is too much, by half, or by just what is needed.
function grow(need: i32): bool {
  const half = max(need, memory.size() >> 1)
  const ample = memory.size() < SMALL_PAGES ? half : max(half, max(memory.size(), USUAL_PAGES))
  return memory.grow(ample) >= 0 || memory.grow(half) >= 0 || memory.grow(need) >= 0
}

/** A block of at least `size` bytes, aligned to a cache line, or 0 when the instance has no room. Not zeroed. */
export function alloc(size: usize): usize {
  size = (size + ALIGN - 1) & ~(ALIGN - 1)
  for (let i = 0; i < freeCount; i++) {
    const entry = freeList + (<usize>i << 3)
    const ptr = <usize>load<u32>(entry)
    const room = <usize>load<u32>(entry, 4)
    if (room < size) continue
    if (room == size) {
      freeCount--
      store<u64>(entry, load<u64>(freeList + (<usize>freeCount << 3)))
    } else {
      store<u32>(entry, <u32>(ptr + size))
      store<u32>(entry, <u32>(room - size), 4)
    }
    return ptr
  }
  const end = <u64>top + <u64>size
  if (end > 0x100000000 - 65536) return 0
  const have = <u64>memory.size() << 16
  if (end > have && !grow(<i32>((end - have + 65535) >> 16))) return 0
  const ptr = top
  top = <usize>end
  return ptr
}

/** Like `alloc`, but all zero: memory that was never used is so already, and stays untouched until needed. */
export function allocZeroed(size: usize): usize {
  const used = top
  const ptr = alloc(size)
  if (ptr && ptr < used) memory.fill(ptr, 0, size)
  return ptr
}

/** Where memory for a filter that grows ends: past it there is room for the batch's buffers only. */
let filterEnd: u64 = 0x100000000

export function setFilterEnd(bytes: u32): void {
  filterEnd = <u64>bytes
}

/** Like `allocZeroed`, but leaves the batch its room. */
export function allocForFilter(size: usize): usize {
  const used = top
  const ptr = allocZeroed(size)
  if (ptr < used || <u64>top <= filterEnd) return ptr
  top = used
  return 0
}

/** Gives a block back. `size` is the size it was asked for with. */
export function release(ptr: usize, size: usize): void {
  size = (size + ALIGN - 1) & ~(ALIGN - 1)
  if (!ptr || !size) return
  for (let i = 0; i < freeCount; i++) {
    const entry = freeList + (<usize>i << 3)
    const from = <usize>load<u32>(entry)
    const room = <usize>load<u32>(entry, 4)
    if (from + room == ptr) {
      store<u32>(entry, <u32>(room + size), 4)
      return
    }
    if (ptr + size == from) {
      store<u32>(entry, <u32>ptr)
      store<u32>(entry, <u32>(room + size), 4)
      return
    }
  }
  if (freeCount == FREE_MAX) return
  const entry = freeList + (<usize>freeCount << 3)
  store<u32>(entry, <u32>ptr)
  store<u32>(entry, <u32>size, 4)
  freeCount++
}
