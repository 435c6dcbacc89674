export function randomOf(seed: number): () => number
export function linkStream(shape: { links: number; seed: number }): string[]
