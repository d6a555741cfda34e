export function writeRandomModel(shape: string, mix: string, file: string, overrides?: Record<string, number>): void;
export function promptOf(tokens: number): string;
export const SHAPES: Readonly<Record<string, Readonly<Record<string, number | boolean>>>>;
