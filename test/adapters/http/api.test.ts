import { createHookswitch, type Hookswitch, memoryStore } from 'hookswitch'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { beforeAll, describe, expect, it } from 'vitest'
import { ACCOUNTS, SCRIPT, stepBytes } from './api-script.js'
import { isExemptStep, STEP_EXEMPTIONS } from './exemptions.js'
import { type RawResponse, sendRaw } from './raw.js'
import { SERVERS, type ServerName, type StartServer, startStandaloneServer } from './servers.js'

/** Starts an instance with a manual clock and seeded random numbers. */
async function startInstance(): Promise<Hookswitch> {
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

/** Headers of the connection or the framework, which are not compared. */
const FRAMEWORK_HEADERS = ['date', 'connection', 'keep-alive', 'x-powered-by', 'transfer-encoding']

const comparable = ({ status, headers, body }: RawResponse) => ({
  status,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !FRAMEWORK_HEADERS.includes(name))),
  body,
})

type Responses = ReadonlyMap<string, ReturnType<typeof comparable>>

async function runScript(startServer: StartServer, prefix: string): Promise<Responses> {
  const hs = await startInstance()
  const { port, close } = await startServer(hs, prefix)
  const saved = new Map<string, string>()
  const responses = new Map<string, ReturnType<typeof comparable>>()
  try {
    for (const step of SCRIPT) {
      const response = await sendRaw(port, stepBytes(step, saved, prefix), { head: step.method === 'HEAD' })
      responses.set(step.name, comparable(response))
      for (const [name, path] of Object.entries(step.save ?? {})) {
        const value = path.split('.').reduce((value, key) => value?.[key], JSON.parse(response.body))
        saved.set(name, String(value))
      }
    }
  } finally {
    await close()
    await hs.close({ drainMs: 0 })
  }
  return responses
}

describe.each([
  ['at the root', ''],
  ['under a prefix', '/telephony'],
])('the whole API, mounted %s', (_where, prefix) => {
  let reference: Responses
  beforeAll(async () => {
    reference = await runScript(SERVERS.node, prefix)
  })

  it.each(SCRIPT.map((step) => [step.name, step.status] as const))('%s: %i', (name, status) => {
    const response = reference.get(name)!
    expect(response.status).toBe(status)
    if (status >= 400)
      expect(JSON.parse(response.body)).toMatchObject({ status: 'error', error: String(status) })
    if (status !== 304 && status !== 204) expect(response.headers['content-type']).toBe('application/json')
  })

  it.each((Object.keys(SERVERS) as ServerName[]).filter((name) => name !== 'node'))(
    '%s responds to each step with the same bytes',
    async (name) => {
      const responses = await runScript(SERVERS[name], prefix)
      for (const { name: step } of SCRIPT) {
        if (isExemptStep(name, step))
          expect(responses.get(step), `${step}: no longer exempt`).not.toEqual(reference.get(step))
        else expect({ step, ...responses.get(step) }).toEqual({ step, ...reference.get(step) })
      }
    },
  )
})

it('createServer responds to each step with the same bytes', async () => {
  expect(await runScript(startStandaloneServer, '')).toEqual(await runScript(SERVERS.node, ''))
})

it('the Location of a new webhook includes the mount point', async () => {
  const location = (await runScript(SERVERS.express5, '/telephony')).get('a new webhook')!.headers.location
  expect(location).toMatch(/^\/telephony\/v2\/accounts\/parent\/webhooks\/[0-9a-f]{32}$/)
})

it('exempts only steps of the script', () => {
  const names = SCRIPT.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { requests } of STEP_EXEMPTIONS) expect(names).toEqual(expect.arrayContaining([...requests]))
})
