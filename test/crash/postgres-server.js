// @ts-check
/** A PostgreSQL server for a run: the given one, or a private one that is started for the run. */
import { fileURLToPath } from 'node:url'

const path = (/** @type {string} */ name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

/**
 * @param {string | undefined} connectionString
 * @returns {Promise<{ url: string, end(): Promise<void> } | undefined>} undefined: PostgreSQL is not installed, which has
 *   been reported
 */
export async function postgresServer(connectionString) {
  if (connectionString !== undefined && connectionString !== '')
    return { url: connectionString, async end() {} }
  const { build } = await import('tsup')
  // That module is TypeScript, which Node 20 cannot load.
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
