// The parts of a key that a layered filter remembers besides the key: its path segments, or the folders that it lies in.
// The kernel finds the same pieces, but only as positions in its own filters; here they are sent to another machine.

const afterScheme = (key: string): string => key.replace(/^[^:/]{0,29}:\/\//, '')

/** At most `layers` segments; those past the last layer are joined into it (depth `join` of the filter `multilayer`). */
export function segmentsOf(key: string, layers: number): string[] {
  const all = afterScheme(key).split('/')
  return all.length <= layers ? all : [...all.slice(0, layers - 1), all.slice(layers - 1).join('/')]
}

/** The first `layers` folders a1/…/ai/ of a key, the host's first: what the filter `prefix-layers` remembers. */
export function foldersOf(key: string, layers: number): string[] {
  const path = afterScheme(key).split('?', 1)[0]!
  const folders: string[] = []
  for (let at = path.indexOf('/'); at >= 0 && folders.length < layers; at = path.indexOf('/', at + 1)) {
    folders.push(path.slice(0, at + 1))
  }
  return folders
}
