/** P13 and P14: what we cost a host that has little to do, and one that is starting. */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { median, spread } from './numbers.js'
import { startProcess } from './processes.js'

const WEBHOOKS = 10_000
const WATCH_MS = 5_000
const STARTS = 7
/** The room for new objects grows with any work and is never given back: it is kept small, so that what is kept shows. */
const QUIET = ['--expose-gc', '--max-semi-space-size=1']

export async function measureIdle({ rounds }) {
  const seen = []
  for (let round = 0; round < Math.min(rounds, 3); round += 1) {
    const idle = startProcess('idle', { nodeOptions: QUIET })
    try {
      seen.push(await idle.ask('measure', { webhooks: WEBHOOKS, watchMs: round === 0 ? WATCH_MS : 100 }))
    } finally {
      await idle.stop()
    }
  }
  const row = (what, unit, goal, values) => ({
    row: 'P13',
    what: `${what}, ${WEBHOOKS.toLocaleString('en')} idle webhooks`,
    baseline: 'the empty instance',
    unit,
    goal,
    ...spread(values),
  })
  return [
    row('timers pending', 'timers', 1, [seen[0].timers]),
    row('timers that ring', 'a minute', 0, [seen[0].ringsPerMinute]),
    row(`RSS (heap ${median(seen.map((one) => one.heapMb)).toFixed(1)} MB)`, 'MB', 20, [
      ...seen.map((one) => one.rssMb),
    ]),
  ]
}

/** What an import of the core loads, as a bundler makes it: its dependencies too, but undici and what is loaded later. */
async function bundledBytes() {
  const require = createRequire(import.meta.url)
  // The builder's own bundler: it is no dependency of ours.
  const esbuild = createRequire(require.resolve('tsup'))('esbuild')
  const { outputFiles, metafile } = await esbuild.build({
    entryPoints: [fileURLToPath(import.meta.resolve('hookswitch'))],
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    logLevel: 'error',
    format: 'esm',
    platform: 'node',
    outdir: 'bundle',
    external: ['undici'],
  })
  const entry = Object.keys(metafile.outputs).find((path) =>
    metafile.outputs[path].entryPoint?.endsWith('index.js'),
  )
  const loaded = new Set([entry])
  for (const path of loaded) {
    for (const { path: next, kind } of metafile.outputs[path].imports) {
      if (kind === 'import-statement' && metafile.outputs[next]) loaded.add(next)
    }
  }
  const parts = outputFiles.filter((file) => [...loaded].some((path) => file.path.endsWith(path)))
  return parts.reduce((sum, file) => sum + gzipSync(file.contents, { level: 9 }).length, 0)
}

export async function measureStart() {
  const starts = []
  for (let start = 0; start < STARTS; start += 1) {
    const cold = startProcess('cold-start')
    starts.push(await cold.ask('ms'))
    await cold.stop()
  }
  const row = { row: 'P14', baseline: '–' }
  return [
    { ...row, what: 'import and createHookswitch', unit: 'ms', goal: 60, ...spread(starts) },
    {
      ...row,
      what: 'what an import loads, min+gzip without undici',
      unit: 'KB',
      goal: 60,
      ...spread([(await bundledBytes()) / 1000]),
    },
  ]
}
