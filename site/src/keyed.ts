// One child element per name, in a given order, created and removed as needed.

interface Shown {
  readonly element: HTMLElement
}

export class Keyed<T extends Shown, E extends { readonly name: string }> {
  readonly #parent: HTMLElement
  readonly #make: (name: string) => T
  readonly #all = new Map<string, T>()

  constructor(parent: HTMLElement, make: (name: string) => T) {
    this.#parent = parent
    this.#make = make
  }

  /** Those that are shown now. */
  get shown(): Iterable<T> {
    return this.#all.values()
  }

  show(entries: readonly E[], each: (thing: T, entry: E) => void): void {
    const names = new Set(entries.map(({ name }) => name))
    for (const [name, { element }] of this.#all) {
      if (names.has(name)) continue
      element.remove()
      this.#all.delete(name)
    }
    entries.forEach((entry, i) => {
      const thing = this.#all.get(entry.name) ?? this.#make(entry.name)
      this.#all.set(entry.name, thing)
      if (this.#parent.children[i] !== thing.element) {
        this.#parent.insertBefore(thing.element, this.#parent.children[i] ?? null)
      }
      each(thing, entry)
    })
  }
}
