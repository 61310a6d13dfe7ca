import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { API_KEY, startService } from './service.js'

/** Size of the minified client in bytes, gzipped. A new route costs about 40 bytes, the stream 1,300. */
const SIZE_BUDGET = 11_264

const ENTRY = fileURLToPath(new URL('../../../adapters/client/index.ts', import.meta.url))

async function bundle(format: 'esm' | 'iife') {
  const { outputFiles, metafile, warnings } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format,
    globalName: 'hookswitch',
    platform: 'browser',
    target: 'es2022',
  })
  return { text: outputFiles[0]!.text, inputs: Object.keys(metafile.inputs), warnings, metafile }
}

describe('the client in a browser', () => {
  let esm: Awaited<ReturnType<typeof bundle>>
  beforeAll(async () => {
    esm = await bundle('esm')
  })

  it('bundles without Node modules, from its own files and @noble/hashes', () => {
    expect(esm.warnings).toEqual([])
    for (const input of esm.inputs)
      expect(input).toMatch(/^(adapters\/client|node_modules\/@noble\/hashes)\//)
    expect(Object.values(esm.metafile.outputs).flatMap(({ imports }) => imports)).toEqual([])
    expect(esm.text).not.toMatch(/\bnode:|\brequire\(|\bprocess\.|\bBuffer\b/)
  })

  it(`has at most ${SIZE_BUDGET} bytes`, () => {
    expect(gzipSync(esm.text, { level: 9 }).byteLength).toBeLessThanOrEqual(SIZE_BUDGET)
  })

  it('runs with the globals of a browser alone', async () => {
    const { url } = await startService()
    const { text } = await bundle('iife')
    const globals = {
      fetch,
      URL,
      URLSearchParams,
      AbortController,
      TextDecoder,
      TextEncoder,
      setTimeout,
      clearTimeout,
    }
    const context = createContext({ ...globals, performance, location: { href: `${url}/portal/index.html` } })
    const script = `${text}
      const client = hookswitch.createClient({ url: '../', apiKey: '${API_KEY}' })
      client.createWebhook({ data: { name: 'Calls', uri: 'http://127.0.0.1:9/', hook: 'all' } })
        .then(({ data }) => client.readWebhook({ webhookId: data.id }))
        .then(({ data }) => data.name)`
    expect(await runInContext(script, context)).toBe('Calls')
    // Node prints the name of the class, which is short in a minified client.
    expect(runInContext('hookswitch.HookswitchClientError.name', context)).toBe('HookswitchClientError')
  })
})
