/** P13 and P14: the cost of hookswitch in an idle host and in one that is starting. */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { startProcess } from './processes.js'
import { median, summarize } from './statistics.js'

const WEBHOOKS = 10_000
const OBSERVE_MS = 5_000
const STARTS = 7
/** V8's young generation grows under load and never shrinks: a small one makes RSS reflect the live objects. */
const SMALL_YOUNG_GENERATION = ['--expose-gc', '--max-semi-space-size=1']

export async function measureIdle({ rounds }) {
  const results = []
  for (let round = 0; round < Math.min(rounds, 3); round += 1) {
    const idle = startProcess('idle-instance', { nodeOptions: SMALL_YOUNG_GENERATION })
    try {
      results.push(
        await idle.request('measure', { webhooks: WEBHOOKS, observeMs: round === 0 ? OBSERVE_MS : 100 }),
      )
    } finally {
      await idle.stop()
    }
  }
  const row = (measurement, unit, goal, values) => ({
    row: 'P13',
    measurement: `${measurement}, ${WEBHOOKS.toLocaleString('en')} idle webhooks`,
    baseline: 'the empty instance',
    unit,
    goal,
    ...summarize(values),
  })
  return [
    row('timers pending', 'timers', 1, [results[0].timers]),
    row('timers that fire', 'a minute', 0, [results[0].firedPerMinute]),
    row(
      `RSS (heap ${median(results.map(({ heapMb }) => heapMb)).toFixed(1)} MB)`,
      'MB',
      20,
      results.map(({ rssMb }) => rssMb),
    ),
  ]
}

/** Size of the code that an import of the core loads, with dependencies but without undici and lazy imports. */
async function bundleBytes() {
  const require = createRequire(import.meta.url)
  // tsup's esbuild: esbuild is not a direct dependency.
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
    starts.push(await cold.request('ms'))
    await cold.stop()
  }
  const row = { row: 'P14', baseline: '–' }
  return [
    { ...row, measurement: 'import and createHookswitch', unit: 'ms', goal: 60, ...summarize(starts) },
    {
      ...row,
      measurement: 'size of an import, min+gzip without undici',
      unit: 'KB',
      goal: 60,
      ...summarize([(await bundleBytes()) / 1000]),
    },
  ]
}
