export function plant(
  n: number,
  seed: number,
  take: (lines: string) => void,
  noise?: number,
): Map<string, number>
