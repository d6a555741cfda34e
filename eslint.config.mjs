import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const NODE_GLOBALS = ['console', 'process', 'Buffer', 'URL', 'URLSearchParams', 'fetch', 'AbortController'];
const COMMON_GLOBALS = ['setTimeout', 'clearTimeout', 'performance', 'WebAssembly'];
const PAGE_GLOBALS = ['window', 'document', 'location', 'crossOriginIsolated', 'self', 'postMessage', 'MessageChannel'];
const readonly = (names) => Object.fromEntries(names.map((name) => [name, 'readonly']));

const UNUSED = ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }];
const NO_DEFAULT_EXPORT = {
  selector: 'ExportDefaultDeclaration',
  message: 'Exports have names.',
};

export default defineConfig(
  { ignores: ['**/node_modules', '**/dist', '.toolchain', 'build', 'models', 'tests/golden'] },
  js.configs.recommended,
  {
    languageOptions: { globals: readonly([...NODE_GLOBALS, ...COMMON_GLOBALS, ...PAGE_GLOBALS]) },
    rules: { eqeqeq: 'error', 'no-var': 'error', 'prefer-const': 'error', 'no-unused-vars': UNUSED },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strict],
    rules: {
      'no-restricted-syntax': ['error', NO_DEFAULT_EXPORT],
      'no-undef': 'off',
      'no-unused-vars': 'off',
      '@typescript-eslint/no-unused-vars': UNUSED,
    },
  },
  {
    files: ['web/package/src/**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
    },
  },
);
