// How many times as fast each system is as its peers were on the same test of the same run.

/** Adds `toLlama` and `toWllama` to each rate: undefined where that peer did not run. */
export function compare(results) {
  const fastest = (kind, wanted) => {
    const rates = results.filter((result) => result.kind === kind).flatMap((result) => result.rates ?? []);
    const same = rates.filter((rate) => isSameTest(rate, wanted)).map((rate) => rate.tokensPerSecond);
    return same.length > 0 ? Math.max(...same) : undefined;
  };
  const ratio = (rate, kind) => {
    const peer = fastest(kind, rate);
    return peer === undefined ? undefined : rate.tokensPerSecond / peer;
  };
  return results.map((result) => ({
    ...result,
    rates: result.rates?.map((rate) => ({
      ...rate,
      toLlama: ratio(rate, 'llama.cpp'),
      toWllama: ratio(rate, 'wllama'),
    })),
  }));
}

export function isSameTest(a, b) {
  return a.test === b.test && a.tokens === b.tokens && a.depth === b.depth;
}
