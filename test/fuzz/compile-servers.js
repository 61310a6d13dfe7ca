// @ts-check
/** Compiles the servers and raw connections of the adapter tests: they are TypeScript, and Node 20 runs only JavaScript. */
import { fileURLToPath, pathToFileURL } from 'node:url'

const path = (/** @type {string} */ name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

/** Resolves the package's public names to its build, because code below `node_modules` cannot import them. @type {any} */
const builtPackage = {
  name: 'built-package',
  setup(/** @type {any} */ build) {
    build.onResolve({ filter: /^hookswitch(\/|$)/ }, (/** @type {{ path: string }} */ { path: name }) => ({
      path: pathToFileURL(
        path(`dist/${name === 'hookswitch' ? 'index' : name.slice('hookswitch/'.length)}.js`),
      ).href,
      external: true,
    }))
  },
}

/**
 * @returns {Promise<{
 *   servers: typeof import('../adapters/http/servers.js'), raw: typeof import('../adapters/http/raw.js'),
 * }>}
 */
export async function compileServers() {
  const { build } = await import('tsup')
  const outDir = path('node_modules/.fuzz')
  await build({
    config: false,
    entry: { servers: path('test/adapters/http/servers.ts'), raw: path('test/adapters/http/raw.ts') },
    outDir,
    outExtension: () => ({ js: '.mjs' }),
    format: ['esm'],
    silent: true,
    skipNodeModulesBundle: true,
    noExternal: [/^hookswitch(\/|$)/],
    esbuildPlugins: [builtPackage],
  })
  return { servers: await import(`${outDir}/servers.mjs`), raw: await import(`${outDir}/raw.mjs`) }
}
