/** SOURCES: parses and maps recordings of real switches, from bytes to channel events. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { interleave, summarize } from './statistics.js'

const HERE = new URL('.', import.meta.url)
/** The size of a socket read. */
const CHUNK_BYTES = 65_536
/** CPU time of a round: a shorter one would be measured too coarsely. */
const ROUND_MS = 1_000

/** Bundles and imports internal modules of the sources, which the package does not export. */
async function loadStreams() {
  const require = createRequire(import.meta.url)
  // tsup's esbuild: esbuild is not a direct dependency.
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
  // Inside node_modules, so that imports of packages resolve. The package itself does not resolve there: its name is
  // replaced by its path.
  const folder = await mkdtemp(join(fileURLToPath(new URL('../../node_modules/', HERE)), '.sources-'))
  try {
    const path = join(folder, 'streams.mjs')
    await writeFile(
      path,
      outputFiles[0].text.replaceAll(/"(hookswitch(?:\/[\w-]+)?)"/g, (_, name) =>
        JSON.stringify(import.meta.resolve(name)),
      ),
    )
    return (await import(pathToFileURL(path).href)).STREAMS
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function chunksOf(name, select = (bytes) => bytes) {
  const bytes = await readFile(new URL(`../../examples/${name}`, HERE))
  const text = select(name.endsWith('.gz') ? gunzipSync(bytes) : bytes)
  const chunks = []
  for (let at = 0; at < text.length; at += CHUNK_BYTES) chunks.push(text.subarray(at, at + CHUNK_BYTES))
  return { chunks, text: text.toString('latin1') }
}

/** @param {{ rounds: number }} options */
export async function measureSources({ rounds }) {
  const streams = Object.entries(await loadStreams())
  const sides = {}
  const notes = {}
  for (const [name, [recording, eventStart, createStream, select]] of streams) {
    const { chunks, text } = await chunksOf(recording, select)
    const switchEvents = text.match(eventStart).length
    sides[name] = async () => {
      const counts = { events: 0 }
      const before = process.cpuUsage()
      let cpuMs = 0
      let passes = 0
      for (; cpuMs < ROUND_MS; passes += 1) {
        const push = createStream(counts)
        for (const chunk of chunks) push(chunk)
        const { user, system } = process.cpuUsage(before)
        cpuMs = (user + system) / 1000
      }
      const megabytes = (text.length / 1e6).toFixed(1)
      notes[name] =
        `${switchEvents} switch events to ${counts.events / passes} channel events, ${megabytes} MB`
      return (switchEvents * passes * 1000) / cpuMs
    }
    await sides[name]()
  }
  const results = await interleave(rounds, sides)
  return streams.map(([name]) => ({
    row: 'SOURCES',
    measurement: `switch events parsed and mapped, a second of one core: ${name}`,
    baseline: '–',
    unit: '/s',
    goal: 20_000,
    ...summarize(results[name]),
    details: notes[name],
  }))
}
