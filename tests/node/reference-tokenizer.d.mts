export function referenceTokenizer(json: object, config: object): { encode(text: string): { ids: number[] } };
