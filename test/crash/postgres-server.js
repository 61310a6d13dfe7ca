// @ts-check
/** A PostgreSQL server for a run: a given one, else a private one as the tests have, made for it and gone after it. */
import { fileURLToPath } from 'node:url'

const path = (/** @type {string} */ name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

/**
 * @param {string | undefined} given a connection string
 * @returns {Promise<{ url: string, end(): Promise<void> } | undefined>} undefined: this machine has none, which was said
 */
export async function postgresServer(given) {
  if (given !== undefined && given !== '') return { url: given, async end() {} }
  const { build } = await import('tsup')
  // That module is TypeScript, for the tests; Node 20 reads JavaScript.
  const outDir = path('node_modules/.crash')
  const entry = [path('test/adapters/storage/pg-cluster.ts')]
  const outExtension = () => ({ js: '.mjs' })
  await build({
    config: false,
    entry,
    outDir,
    outExtension,
    format: ['esm'],
    silent: true,
    skipNodeModulesBundle: true,
  })
  const { privatePostgres } = await import(`${outDir}/pg-cluster.mjs`)
  return privatePostgres()
}
