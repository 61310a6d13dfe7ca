import { createHookswitch, type Hookswitch, memoryStore } from 'hookswitch'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { beforeAll, describe, expect, it } from 'vitest'
import { ACCOUNTS, SCRIPT, stepBytes } from './api-script.js'
import { isExemptStep, STEP_EXEMPTIONS } from './exemptions.js'
import { FACES, type Face, type FaceName, serverFace } from './faces.js'
import { type RawResponse, sendRaw } from './raw.js'

/** The same service every time: time stands still, chance repeats itself. */
async function freshService(): Promise<Hookswitch> {
  const hs = createHookswitch({
    store: memoryStore(),
    clock: manualClock(),
    random: seededRandom(7),
    cors: ['https://ui.example.com'],
    sender: {
      send: () => Promise.resolve({ kind: 'own_fault', detail: 'no network here' }),
      close: async () => {},
    },
  })
  await hs.start()
  for (const account of ACCOUNTS) await hs.accounts.create(account)
  return hs
}

/** All headers but those that belong to the connection or to the framework. */
const FRAMEWORKS = ['date', 'connection', 'keep-alive', 'x-powered-by', 'transfer-encoding']

const comparable = ({ status, headers, body }: RawResponse) => ({
  status,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !FRAMEWORKS.includes(name))),
  body,
})

type Answers = ReadonlyMap<string, ReturnType<typeof comparable>>

async function visit(face: Face, prefix: string): Promise<Answers> {
  const hs = await freshService()
  const { port, close } = await face(hs, prefix)
  const kept = new Map<string, string>()
  const answers = new Map<string, ReturnType<typeof comparable>>()
  try {
    for (const step of SCRIPT) {
      const answer = await sendRaw(port, stepBytes(step, kept, prefix), { head: step.method === 'HEAD' })
      answers.set(step.name, comparable(answer))
      for (const [name, path] of Object.entries(step.keep ?? {})) {
        const value = path.split('.').reduce((at, key) => at?.[key], JSON.parse(answer.body))
        kept.set(name, String(value))
      }
    }
  } finally {
    await close()
    await hs.close({ drainMs: 0 })
  }
  return answers
}

describe.each([
  ['at the root', ''],
  ['under a prefix', '/telephony'],
])('the whole interface, mounted %s', (_where, prefix) => {
  let reference: Answers
  beforeAll(async () => {
    reference = await visit(FACES.node, prefix)
  })

  it.each(SCRIPT.map((step) => [step.name, step.status] as const))('%s: %i', (name, status) => {
    const answer = reference.get(name)!
    expect(answer.status).toBe(status)
    if (status >= 400)
      expect(JSON.parse(answer.body)).toMatchObject({ status: 'error', error: String(status) })
    if (status !== 304 && status !== 204) expect(answer.headers['content-type']).toBe('application/json')
  })

  it.each((Object.keys(FACES) as FaceName[]).filter((name) => name !== 'node'))(
    '%s answers each step with the same bytes',
    async (name) => {
      const answers = await visit(FACES[name], prefix)
      for (const { name: step } of SCRIPT) {
        if (isExemptStep(name, step))
          expect(answers.get(step), `${step}: no longer exempt`).not.toEqual(reference.get(step))
        else expect({ step, ...answers.get(step) }).toEqual({ step, ...reference.get(step) })
      }
    },
  )
})

it('our own server answers each step with the same bytes', async () => {
  expect(await visit(serverFace, '')).toEqual(await visit(FACES.node, ''))
})

it('a created webhook is located where we are mounted', async () => {
  const location = (await visit(FACES.express5, '/telephony')).get('a new webhook')!.headers.location
  expect(location).toMatch(/^\/telephony\/v2\/accounts\/parent\/webhooks\/[0-9a-f]{32}$/)
})

it('exempts only steps of the script', () => {
  const names = SCRIPT.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { requests } of STEP_EXEMPTIONS) expect(names).toEqual(expect.arrayContaining([...requests]))
})
