export function linkStream(shape: { links: number; seed: number }): string[]
