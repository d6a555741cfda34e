// Runs one measurement in a fresh browser: nothing else of it is open, and its memory is new.
import { mkdtempSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { tmpdir } from 'node:os';
import puppeteer from 'puppeteer-core';
import { launchers, PUPPETEER_OPTIONS } from '../../browser/browsers.mjs';
import { servePage } from './server.mjs';

/** { name, version }, such as 'Chromium 143'. */
export async function browserOf(name) {
  if (!launchers[name].isInstalled()) throw new Error(`${name} is not installed; npm run setup -- --browsers`);
  const version = (await withBrowser(name, (browser) => browser.version())).split('/')[1];
  return { name, version: `${name[0].toUpperCase()}${name.slice(1)} ${parseInt(version)}` };
}

/** What the function `measure` of a module says of the model file; the page has its address as `options.model`. */
export async function measureInPage(name, file, module, options) {
  const server = await servePage(dirname(file));
  try {
    return await withBrowser(name, async (browser) => {
      const page = await browser.newPage();
      await page.goto(server.url);
      const argument = { ...options, model: `/models/${basename(file)}` };
      return page.evaluate(async (path, given) => (await import(path)).measure(given), module, argument);
    });
  } finally {
    server.close();
  }
}

async function withBrowser(name, use) {
  const profile = mkdtempSync(join(tmpdir(), 'kvasir-bench-'));
  const options = { headless: true, userDataDir: profile, protocolTimeout: 0, ...PUPPETEER_OPTIONS[name] };
  const browser = await puppeteer.launch(options);
  try {
    return await use(browser);
  } finally {
    await browser.close();
    rmSync(profile, { recursive: true, force: true });
  }
}
