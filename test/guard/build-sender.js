// @ts-check
/** Builds the default sender, which the package does not export, because Node 20 cannot run TypeScript. */
import { fileURLToPath } from 'node:url'

const path = (/** @type {string} */ name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

/** @returns {Promise<typeof import('../../src/send/index.js')>} */
export async function buildSender() {
  const { build } = await import('tsup')
  const outDir = path('node_modules/.guard')
  await build({
    config: false,
    entry: { send: path('src/send/index.ts') },
    outDir,
    outExtension: () => ({ js: '.mjs' }),
    format: ['esm'],
    silent: true,
    skipNodeModulesBundle: true,
  })
  return import(`${outDir}/send.mjs`)
}
