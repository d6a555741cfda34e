// The browsers, each with one verb: open a page and give what it left in window.outcome.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import puppeteer from 'puppeteer-core';

const PATIENCE_MS = 120_000;

const CHROMIUM = '/usr/bin/chromium';
const FIREFOX = '/usr/bin/firefox-esr';
const WEBKIT_DRIVER = '/usr/bin/WebKitWebDriver';
const MINI_BROWSER = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser';

/** How Puppeteer starts those it knows. */
export const PUPPETEER_OPTIONS = {
  chromium: {
    executablePath: CHROMIUM,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  },
  firefox: { browser: 'firefox', executablePath: FIREFOX },
};

export const launchers = {
  chromium: { isInstalled: () => existsSync(CHROMIUM), launch: () => launchPuppeteer(PUPPETEER_OPTIONS.chromium) },
  firefox: { isInstalled: () => existsSync(FIREFOX), launch: () => launchPuppeteer(PUPPETEER_OPTIONS.firefox) },
  webkit: {
    isInstalled: () => [WEBKIT_DRIVER, MINI_BROWSER, '/usr/bin/Xvfb'].every((file) => existsSync(file)),
    launch: launchWebKit,
  },
};

async function launchPuppeteer(options) {
  const profile = mkdtempSync(join(tmpdir(), 'kvasir-browser-'));
  const browser = await puppeteer.launch({ headless: true, userDataDir: profile, ...options });
  return {
    async open(url) {
      const page = await browser.newPage();
      const complaints = [];
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      try {
        await page.goto(url);
        await page.waitForFunction(() => document.title === 'finished', { timeout: PATIENCE_MS });
        return await page.evaluate(() => window.outcome);
      } catch (error) {
        throw new Error(`${error.message}; the page said: ${complaints.join(' | ') || 'nothing'}`, { cause: error });
      } finally {
        await page.close();
      }
    },
    async close() {
      await browser.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

async function launchWebKit() {
  const port = await freePort();
  // Without a user namespace WebKit's sandbox cannot start; it shows nothing but the tests' own page.
  const environment = { ...process.env, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', LIBGL_ALWAYS_SOFTWARE: '1' };
  const driver = spawn('xvfb-run', ['-a', WEBKIT_DRIVER, `--port=${port}`], {
    env: environment,
    stdio: 'ignore',
    detached: true,
  });
  const command = async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const { value } = await response.json();
    if (!response.ok) throw new Error(`WebKitWebDriver: ${value.error}: ${value.message}`);
    return value;
  };
  const stop = () => process.kill(-driver.pid);
  try {
    await waitUntil(
      () =>
        command('GET', '/status').then(
          () => true,
          () => false,
        ),
      'WebKitWebDriver did not start',
    );
    const browserOptions = { binary: MINI_BROWSER, args: ['--automation'] };
    const { sessionId } = await command('POST', '/session', {
      capabilities: { alwaysMatch: { browserName: 'MiniBrowser', 'webkitgtk:browserOptions': browserOptions } },
    });
    const session = `/session/${sessionId}`;
    const evaluate = (script) => command('POST', `${session}/execute/sync`, { script, args: [] });
    return {
      async open(url) {
        await command('POST', `${session}/url`, { url });
        await waitUntil(() => evaluate('return document.title === "finished"'), `${url} did not finish`);
        return evaluate('return window.outcome');
      },
      async close() {
        await command('DELETE', session).catch(() => undefined);
        stop();
      },
    };
  } catch (error) {
    stop();
    throw error;
  }
}

async function waitUntil(check, complaint) {
  const end = Date.now() + PATIENCE_MS;
  while (!(await check())) {
    if (Date.now() > end) throw new Error(complaint);
    await sleep(100);
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
