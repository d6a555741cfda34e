// What a web developer writes first: load the model, stream a text into the page. The address gives the options; the
// outcome is left in document.title and window.outcome for the test.
import { embeddedModel, loadModel } from 'kvasir';

const {
  source = 'url',
  variant,
  threads,
  prompt = '',
  maxTokens = '64',
} = Object.fromEntries(new URLSearchParams(location.search));

async function modelSource() {
  if (source === 'url') return embeddedModel;
  const blob = await (await fetch(embeddedModel)).blob();
  return source === 'blob' ? blob : blob.arrayBuffer();
}

async function story() {
  const output = document.getElementById('output');
  const progress = [];
  const model = await loadModel(await modelSource(), {
    variant,
    threads: threads === undefined ? undefined : Number(threads),
    onProgress: (step) => progress.push(step),
  });
  const generation = model.generate(prompt, { temperature: 0, maxTokens: Number(maxTokens) });
  for await (const piece of generation) output.append(piece.text);
  const { tokens, finishReason } = await generation.result();

  const controller = new AbortController();
  let seen = 0;
  const endless = model.generate(prompt, { ignoreEos: true, maxTokens: 100_000, signal: controller.signal });
  for await (const _ of endless) if (++seen === 3) controller.abort();
  const aborted = (await endless.result()).finishReason;

  await model.dispose();
  const disposed = await model.tokenize('x').catch((error) => error.code);
  const isolated = globalThis.crossOriginIsolated === true;
  return {
    text: output.textContent,
    tokens,
    finishReason,
    engine: model.engine,
    progress: progress.at(-1),
    isolated,
    aborted,
    disposed,
  };
}

story().then(
  (value) => finish({ value }),
  (error) => finish({ error: `${error.code ?? error.name}: ${error.message}` }),
);

function finish(outcome) {
  window.outcome = outcome;
  document.title = 'finished';
}
