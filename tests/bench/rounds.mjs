// Systems take turns, so that a machine that is slow for a while is slow for all; the best of each system's turns counts.

/** What each system did: { name, kind, ...Measurement }; one that fails is out of the other rounds and says why. */
export async function measureInTurns(systems, file, plan, rounds, say) {
  const results = systems.map(({ name, kind }) => ({ name, kind }));
  for (let round = 1; round <= rounds; round++) {
    for (const [i, system] of systems.entries()) {
      if (results[i].failure !== undefined) continue;
      say(`${system.name}, round ${round}`);
      try {
        results[i] = { ...results[i], ...best(results[i], await system.measure(file, plan)) };
      } catch (error) {
        results[i].failure = error.message.split('\n')[0];
        say(`${system.name} is left out: ${results[i].failure}`);
      }
    }
  }
  return results;
}

const least = (a, b) => (a === undefined || b === undefined ? (a ?? b) : Math.min(a, b));
const most = (a, b) => (a === undefined || b === undefined ? (a ?? b) : Math.max(a, b));

export function best(before, now) {
  return {
    rates: now.rates.map((rate, i) => ({
      ...rate,
      tokensPerSecond: Math.max(rate.tokensPerSecond, before.rates?.[i].tokensPerSecond ?? 0),
    })),
    loadMs: least(before.loadMs, now.loadMs),
    firstTokenMs: least(before.firstTokenMs, now.firstTokenMs),
    wasmBytes: most(before.wasmBytes, now.wasmBytes),
    overheadBytes: most(before.overheadBytes, now.overheadBytes),
    processBytes: most(before.processBytes, now.processBytes),
  };
}
