// @ts-check
/** The faces and the bare sockets of the tests of the adapters: they are TypeScript, and Node 20 reads JavaScript only. */
import { fileURLToPath, pathToFileURL } from 'node:url'

const path = (/** @type {string} */ name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

/** The built package by its public names: from a folder below `node_modules` nothing finds it. @type {any} */
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
 *   faces: typeof import('../adapters/http/faces.js'), raw: typeof import('../adapters/http/raw.js'),
 * }>}
 */
export async function compiledFaces() {
  const { build } = await import('tsup')
  const outDir = path('node_modules/.fuzz')
  await build({
    config: false,
    entry: { faces: path('test/adapters/http/faces.ts'), raw: path('test/adapters/http/raw.ts') },
    outDir,
    outExtension: () => ({ js: '.mjs' }),
    format: ['esm'],
    silent: true,
    skipNodeModulesBundle: true,
    noExternal: [/^hookswitch(\/|$)/],
    esbuildPlugins: [builtPackage],
  })
  return { faces: await import(`${outDir}/faces.mjs`), raw: await import(`${outDir}/raw.mjs`) }
}
