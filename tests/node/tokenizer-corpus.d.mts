export function tokenizerCorpus(special: readonly string[], count?: number): string[];
