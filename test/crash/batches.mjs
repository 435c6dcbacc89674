// The URLs of a batch: each segment is one of a kind, so that no filter mixes them up.

/** @returns {string[]} */
export function batchOf(batch, urls) {
  return Array.from(
    { length: urls },
    (_, i) => `https://h${batch}x${i}.example/p${batch}y${i}/q${batch}z${i}?n=${batch}`,
  )
}
