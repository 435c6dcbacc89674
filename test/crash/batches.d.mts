export function batchOf(batch: number, urls: number): string[]
