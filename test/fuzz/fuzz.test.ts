import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { FACES, serverFace } from '../adapters/http/faces.js'
import * as raw from '../adapters/http/raw.js'
import { runEpoch, STEPS } from './course.js'
import { EXEMPTIONS } from './exemptions.js'
import { comparable, flaws } from './oracle.js'

/** The same on each run where nobody watches, as all generated tests are. */
const SEED = process.env.FC_SEED ?? (process.env.CI ? 'fixed' : String(Date.now()))
const { express4AfterJson: _, express4: __, express5: ___, ...some } = FACES
const faces = { ...some, server: serverFace }

const told = ({ findings }: Awaited<ReturnType<typeof runEpoch>>) =>
  findings.map(({ what, epoch, replay }) => `${what} (--seed ${SEED} --epoch ${epoch}; ${replay})`)

describe('whatever is sent', () => {
  it('gets an answer, the same through every adapter', async () => {
    const seen = await runEpoch({ seed: SEED, epoch: 0, steps: STEPS, faces, raw })
    expect(told(seen)).toEqual([])
    const [compared = 0, not = 0] = ['answers compared', 'answers not compared'].map((name) =>
      seen.counts.get(name),
    )
    expect(compared).toBeGreaterThan(8 * not)
    expect(compared).toBeGreaterThan(3 * STEPS)
    expect(seen.counts.get('good requests')).toBeGreaterThan(STEPS / 10)
  })
})

describe('the oracle', () => {
  const body = JSON.stringify({
    data: [],
    status: 'success',
    request_id: 'a'.repeat(32),
    timestamp: '2026-01-01T00:00:00.000Z',
    node: 'n',
    page_size: 0,
  })
  const good = {
    status: 200,
    headers: {
      'content-type': 'application/json',
      'content-length': String(body.length),
      'x-request-id': 'a'.repeat(32),
    },
    body,
  }
  const asked = { method: 'GET', isForeign: false, secrets: ['hidden'] }
  const text = (change: (json: Record<string, unknown>) => void) => {
    const json = JSON.parse(body)
    change(json)
    const changed = JSON.stringify(json)
    return { ...good, headers: { ...good.headers, 'content-length': String(changed.length) }, body: changed }
  }

  it('has nothing to say of a good answer', () => {
    expect(flaws(good, asked)).toEqual([])
  })

  it.each([
    ['a status of ours', { ...good, status: 500 }],
    ['no JSON', { ...good, body: 'x'.repeat(body.length) }],
    [
      'another type',
      { ...good, headers: { ...good.headers, 'content-type': 'application/json; charset=utf-8' } },
    ],
    ['another length', { ...good, body: `${body} ` }],
    ['an unknown key', text((json) => Object.assign(json, { stack: 'at' }))],
    ['a key less', text((json) => delete json.node)],
    ['null', text((json) => Object.assign(json, { data: null }))],
    ['a page that does not count', text((json) => Object.assign(json, { page_size: 1 }))],
    ['another request id', text((json) => Object.assign(json, { request_id: 'b' }))],
    ['a secret', text((json) => Object.assign(json, { data: ['hidden'] }))],
    ['an error that says success', { ...good, status: 400 }],
  ])('finds %s', (_name, response) => {
    expect(flaws(response, asked)).not.toEqual([])
  })

  it('takes ids that were made for one, and nothing else', () => {
    const other = JSON.parse(JSON.stringify(good).replaceAll('a'.repeat(32), 'b'.repeat(32)))
    expect(comparable(other, [])).toBe(comparable(good, []))
    expect(comparable(other, ['b'.repeat(32)])).not.toBe(comparable(good, []))
    expect(comparable({ ...good, status: 201 }, [])).not.toBe(comparable(good, []))
  })

  it('has a reason for every exemption', () => {
    for (const { faces: named, why } of EXEMPTIONS) {
      expect([...Object.keys(FACES), 'server']).toEqual(expect.arrayContaining([...named]))
      expect(why.length).toBeGreaterThan(20)
    }
  })
})

it('the command line refuses what it does not know', async () => {
  const run = fileURLToPath(new URL('./run.js', import.meta.url))
  const text = await new Promise<string>((resolve) => {
    execFile(process.execPath, [run, '--doctor', 'nobody'], (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })
  expect(text).toContain('--doctor takes one of: 500 for a header')
})
