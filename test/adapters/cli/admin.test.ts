/** What `/readyz` answers, part by part. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { adminServer, type Readiness } from '../../../adapters/cli/admin.js'
import { diskHealth, readDisk } from '../../../adapters/cli/disk.js'
import { listen, stopListening } from '../../../adapters/cli/listen.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const WELL: Readiness = { isServing: true, health: { problems: [], outages: [] }, sources: [] }

const PREVIEW = {
  changed: ['logLevel'],
  needsRestart: [],
  accounts: { created: ['acme'], changed: [], removed: [], unlisted: [] },
} as const

async function answerOf(readiness: Partial<Readiness>, path = '/readyz') {
  const metrics = { text: async () => '', contentType: 'text/plain' }
  const server = adminServer(
    async () => ({ ...WELL, ...readiness }),
    metrics,
    async () => PREVIEW,
    () => {},
  )
  const url = await listen(server, 0, '127.0.0.1', { port: '--admin-port', host: '--admin-host' })
  closing.push(() => stopListening(server, 0))
  const response = await fetch(`${url}${path}`)
  return { code: response.status, body: (await response.json()) as Record<string, unknown> }
}

describe('/readyz', () => {
  it('is 200 while nothing hinders the node', async () => {
    expect(await answerOf({})).toEqual({ code: 200, body: { status: 'ready' } })
  })

  it('is 503 with the part, the reason and the time of each problem', async () => {
    const problems = [
      { part: 'store', reason: 'cannot connect', sinceMs: Date.UTC(2026, 0, 2) },
      { part: 'lease', reason: 'it has ended' },
    ] as const
    expect(await answerOf({ health: { problems, outages: [] } })).toEqual({
      code: 503,
      body: {
        status: 'not ready',
        problems: [
          { part: 'store', reason: 'cannot connect', since: '2026-01-02T00:00:00.000Z' },
          { part: 'lease', reason: 'it has ended' },
        ],
      },
    })
  })

  it('is 503 while the disk of the database file is nearly full', async () => {
    const { code, body } = await answerOf({ disk: diskHealth(3 * 1024 * 1024, 2 ** 30) })
    expect(code).toBe(503)
    expect(body.problems).toEqual([
      { part: 'disk', reason: 'the disk of the database file has only 3 MiB left' },
    ])
    expect((await answerOf({ disk: diskHealth(16 * 1024 * 1024, 2 ** 30) })).code).toBe(200)
  })

  it('is 503 without a problem while the node starts or drains', async () => {
    expect(await answerOf({ isServing: false })).toEqual({ code: 503, body: { status: 'not ready' } })
  })

  it('lists every part with ?verbose, also those that do not make it unready', async () => {
    const well = { serving: 'ok', store: 'ok', lease: 'ok', feed: 'ok', network: 'ok', clock: 'ok' }
    expect((await answerOf({}, '/readyz?verbose')).body).toEqual({ status: 'ready', parts: well })
    const source = { source: 'freeswitch 10.0.0.5:8021', connected: false, reason: 'refused' }
    const { code, body } = await answerOf(
      {
        health: {
          problems: [{ part: 'feed', reason: 'cut' }],
          outages: [{ network: 'public', sinceMs: 0 }],
          clockDeviationSeconds: 40,
        },
        disk: diskHealth(2 ** 40, 2 ** 41),
        sources: [source],
      },
      '/readyz?verbose=1',
    )
    expect(code).toBe(503)
    expect(body).toMatchObject({
      parts: {
        ...well,
        feed: 'failed',
        disk: 'ok',
        diskFreeBytes: 2 ** 40,
        network: 'no receiver answers',
        clock: 'wrong',
      },
      clockDeviationSeconds: 40,
      sources: [source],
    })
  })

  it('knows how much room a disk has, and says nothing of a folder that does not exist', async () => {
    expect((await readDisk(join(tmpdir(), 'some.db')))?.freeBytes).toBeGreaterThan(0)
    expect(await readDisk('/nowhere/at/all.db')).toBeUndefined()
  })
})

it('/reload shows what a reload would do', async () => {
  expect(await answerOf({}, '/reload')).toEqual({ code: 200, body: PREVIEW })
})

describe('the admin port', () => {
  async function started(text: () => Promise<string>, preview: () => Promise<typeof PREVIEW>) {
    const faults: unknown[] = []
    const metrics = { text, contentType: 'text/plain' }
    const server = adminServer(
      async () => WELL,
      metrics,
      preview,
      (thrown) => faults.push(thrown),
    )
    const url = await listen(server, 0, '127.0.0.1', { port: '--admin-port', host: '--admin-host' })
    closing.push(() => stopListening(server, 0))
    return { url, faults }
  }

  it('answers 500 where a part fails, and reports it', async () => {
    const fault = new Error('no metrics')
    const { url, faults } = await started(
      () => Promise.reject(fault),
      async () => PREVIEW,
    )
    const response = await fetch(`${url}/metrics`)
    expect([response.status, await response.json()]).toEqual([500, { status: 'internal error' }])
    expect(faults).toEqual([fault])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })

  it('previews a reload once at a time, and again for those who come meanwhile', async () => {
    let previews = 0
    let begin = () => {}
    const isAsked = new Promise<void>((resolve) => {
      begin = resolve
    })
    let finish = () => {}
    const mayFinish = new Promise<void>((resolve) => {
      finish = resolve
    })
    const { url } = await started(
      async () => '',
      async () => {
        previews += 1
        begin()
        await mayFinish
        return PREVIEW
      },
    )
    const first = fetch(`${url}/reload`)
    await isAsked
    const others = Array.from({ length: 20 }, () => fetch(`${url}/reload`))
    // The server has taken them when it answers one that was sent later.
    for (let nth = 0; nth < 20; nth += 1) await (await fetch(`${url}/healthz`)).text()
    finish()
    for (const response of await Promise.all([first, ...others]))
      expect(await response.json()).toEqual(PREVIEW)
    expect(previews).toBeLessThanOrEqual(3)
  })
})
