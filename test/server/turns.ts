// How often a process could do something else while one thing was done: what does not depend on the speed of the machine.

export interface Turns<T> {
  readonly result: T
  readonly turns: number
}

/** Turns of the event loop from the call until its promise is kept. */
export async function turnsOf<T>(act: () => T | Promise<T>): Promise<Turns<T>> {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const result = await act()
  isOver = true
  return { result, turns }
}
