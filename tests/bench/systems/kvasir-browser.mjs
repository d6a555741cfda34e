// Kvasir in a headless browser, from the package as it was built.
import { measureInPage } from '../page/browser.mjs';

export function kvasirInBrowser({ name, version }, variant) {
  return {
    name: `Kvasir ${variant}, ${version}`,
    kind: 'kvasir',
    measure: (file, plan) => measureInPage(name, file, '/bench/page/kvasir.mjs', { variant, plan }),
  };
}
