// Serves a page that is isolated from other origins, and beside it what is measured there: folders as they are.
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { BUILD, PACKAGE, ROOT } from '../../../tools/setup/paths.mjs';
import { ISOLATION_HEADERS } from '../../browser/static-server.mjs';

const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

const FOLDERS = {
  '/bench/': join(ROOT, 'tests/bench'),
  '/package/': join(PACKAGE, 'dist'),
  '/modules/': join(ROOT, 'node_modules'),
  '/peers/': join(BUILD, 'peers'),
};

// The package is served as it is, so the page tells where its one dependency lies.
const IMPORTS = { 'wasm-feature-detect': '/modules/wasm-feature-detect/dist/esm/index.js' };
const PAGE = `<!doctype html>
<title>benchmark</title>
<script type="importmap">${JSON.stringify({ imports: IMPORTS })}</script>
`;

export async function servePage(models) {
  const folders = { ...FOLDERS, '/models/': models };
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    if (path === '/') {
      response.writeHead(200, { 'Content-Type': TYPES['.html'], ...ISOLATION_HEADERS }).end(PAGE);
      return;
    }
    const prefix = Object.keys(folders).find((name) => path.startsWith(name));
    const file = prefix && join(folders[prefix], path.slice(prefix.length));
    const stat = file && statSync(file, { throwIfNoEntry: false });
    if (!stat?.isFile()) {
      response.writeHead(404).end();
      return;
    }
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, { 'Content-Type': type, 'Content-Length': stat.size, ...ISOLATION_HEADERS });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
