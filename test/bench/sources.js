/** SOURCES: bytes of a switch → channel events, read and mapped, over the recordings of real switches. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { inTurns, spread } from './numbers.js'

const HERE = new URL('.', import.meta.url)
/** As a socket gives them. */
const CHUNK_BYTES = 65_536
/** Processor time of a round: less would be measured too coarsely. */
const ROUND_MS = 1_000

/** The insides of the sources, which no package shows. */
async function loadStreams() {
  const require = createRequire(import.meta.url)
  // The builder's own bundler: it is no dependency of ours.
  const esbuild = createRequire(require.resolve('tsup'))('esbuild')
  const { outputFiles } = await esbuild.build({
    entryPoints: [fileURLToPath(new URL('source-streams.ts', HERE))],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['hookswitch', 'hookswitch/*', 'undici'],
  })
  // Beside this file's packages, or `hookswitch` would not be found.
  const folder = await mkdtemp(join(fileURLToPath(new URL('../../node_modules/', HERE)), '.sources-'))
  try {
    const path = join(folder, 'streams.mjs')
    await writeFile(
      path,
      outputFiles[0].text.replaceAll(/"hookswitch"/g, JSON.stringify(import.meta.resolve('hookswitch'))),
    )
    return (await import(pathToFileURL(path).href)).STREAMS
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function chunksOf(name) {
  const bytes = await readFile(new URL(`../../examples/${name}`, HERE))
  const text = name.endsWith('.gz') ? gunzipSync(bytes) : bytes
  const chunks = []
  for (let at = 0; at < text.length; at += CHUNK_BYTES) chunks.push(text.subarray(at, at + CHUNK_BYTES))
  return { chunks, text: text.toString('latin1') }
}

/** @param {{ rounds: number }} options */
export async function measureSources({ rounds }) {
  const streams = Object.entries(await loadStreams())
  const sides = {}
  const said = {}
  for (const [name, [recording, begin, make]] of streams) {
    const { chunks, text } = await chunksOf(recording)
    const heard = text.match(begin).length
    sides[name] = async () => {
      const counts = { drafts: 0 }
      const before = process.cpuUsage()
      let cpuMs = 0
      let passes = 0
      for (; cpuMs < ROUND_MS; passes += 1) {
        const push = make(counts)
        for (const chunk of chunks) push(chunk)
        const { user, system } = process.cpuUsage(before)
        cpuMs = (user + system) / 1000
      }
      const megabytes = (text.length / 1e6).toFixed(1)
      said[name] = `${heard} events, ${counts.drafts / passes} of ours, in ${megabytes} MB`
      return (heard * passes * 1000) / cpuMs
    }
    await sides[name]()
  }
  const seen = await inTurns(rounds, sides)
  return streams.map(([name]) => ({
    row: 'SOURCES',
    what: `events of a switch read and mapped, a second of one core: ${name}`,
    baseline: '–',
    unit: '/s',
    goal: 100_000,
    ...spread(seen[name]),
    seen: said[name],
  }))
}
