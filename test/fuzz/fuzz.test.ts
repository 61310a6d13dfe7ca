import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import * as raw from '../adapters/http/raw.js'
import { SERVERS, startStandaloneServer } from '../adapters/http/servers.js'
import { runEpoch, STEPS } from './epoch.js'
import { EXEMPTIONS } from './exemptions.js'
import { comparable, findViolations } from './oracle.js'

/** Fixed in CI, as for all property tests. */
const SEED = process.env.FC_SEED ?? (process.env.CI ? 'fixed' : String(Date.now()))
const { express4AfterJson: _, express4: __, express5: ___, ...fuzzed } = SERVERS
const servers = { ...fuzzed, server: startStandaloneServer }

const describeViolations = ({ violations }: Awaited<ReturnType<typeof runEpoch>>) =>
  violations.map(({ message, epoch, replay }) => `${message} (--seed ${SEED} --epoch ${epoch}; ${replay})`)

describe('a fuzzed request', () => {
  it('gets the same valid response through every adapter', async () => {
    const result = await runEpoch({ seed: SEED, epoch: 0, steps: STEPS, servers, raw })
    expect(describeViolations(result)).toEqual([])
    const [compared = 0, notCompared = 0] = ['responses compared', 'responses not compared'].map((name) =>
      result.counts.get(name),
    )
    expect(compared).toBeGreaterThan(8 * notCompared)
    expect(compared).toBeGreaterThan(3 * STEPS)
    expect(result.counts.get('valid requests')).toBeGreaterThan(STEPS / 10)
  })
})

describe('findViolations', () => {
  const body = JSON.stringify({
    data: [],
    status: 'success',
    request_id: 'a'.repeat(32),
    timestamp: '2026-01-01T00:00:00.000Z',
    node: 'n',
    page_size: 0,
  })
  const valid = {
    status: 200,
    headers: {
      'content-type': 'application/json',
      'content-length': String(body.length),
      'x-request-id': 'a'.repeat(32),
    },
    body,
  }
  const context = { method: 'GET', isHostResponse: false, secrets: ['hidden'] }
  const withChange = (change: (json: Record<string, unknown>) => void) => {
    const json = JSON.parse(body)
    change(json)
    const changed = JSON.stringify(json)
    return {
      ...valid,
      headers: { ...valid.headers, 'content-length': String(changed.length) },
      body: changed,
    }
  }

  it('accepts a valid response', () => {
    expect(findViolations(valid, context)).toEqual([])
  })

  it.each([
    ['a 5xx status', { ...valid, status: 500 }],
    ['a body that is not JSON', { ...valid, body: 'x'.repeat(body.length) }],
    [
      'another content type',
      { ...valid, headers: { ...valid.headers, 'content-type': 'application/json; charset=utf-8' } },
    ],
    ['a wrong content length', { ...valid, body: `${body} ` }],
    ['an unknown key', withChange((json) => Object.assign(json, { stack: 'at' }))],
    ['a missing key', withChange((json) => delete json.node)],
    ['null', withChange((json) => Object.assign(json, { data: null }))],
    ['a wrong page_size', withChange((json) => Object.assign(json, { page_size: 1 }))],
    ['another request id', withChange((json) => Object.assign(json, { request_id: 'b' }))],
    ['a leaked secret', withChange((json) => Object.assign(json, { data: ['hidden'] }))],
    ['an error with the status success', { ...valid, status: 400 }],
  ])('reports %s', (_name, response) => {
    expect(findViolations(response, context)).not.toEqual([])
  })

  it('ignores differences in generated request ids, and nothing else', () => {
    const other = JSON.parse(JSON.stringify(valid).replaceAll('a'.repeat(32), 'b'.repeat(32)))
    expect(comparable(other, [])).toBe(comparable(valid, []))
    expect(comparable(other, ['b'.repeat(32)])).not.toBe(comparable(valid, []))
    expect(comparable({ ...valid, status: 201 }, [])).not.toBe(comparable(valid, []))
  })

  it('has a reason for every exemption', () => {
    for (const { servers: exempt, reason } of EXEMPTIONS) {
      expect([...Object.keys(SERVERS), 'server']).toEqual(expect.arrayContaining([...exempt]))
      expect(reason.length).toBeGreaterThan(20)
    }
  })
})

it('the command line rejects an unknown fault injector', async () => {
  const run = fileURLToPath(new URL('./run.js', import.meta.url))
  const text = await new Promise<string>((resolve) => {
    execFile(process.execPath, [run, '--fault-injector', 'unknown'], (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })
  expect(text).toContain('--fault-injector takes one of: 500 for a header')
})
