/** What whoever runs the service sees of it: log lines, unhealthy webhooks, deliveries of all accounts. */
import { createHookswitch, type Log, memoryStore } from 'hookswitch'
import type { Sender } from 'hookswitch/adapter'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { fakeSender, responseWith } from '../delivery/harness.js'

type Line = { level: keyof Log; message: string; fields: Readonly<Record<string, unknown>> }
type Options = Partial<Parameters<typeof createHookswitch>[0]>

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((opened) => opened.close()))
})

async function start(options: Options = {}) {
  const clock = manualClock()
  const lines: Line[] = []
  const at = (level: keyof Log) => (fields: Line['fields'], message: string) =>
    void lines.push({ level, message, fields })
  const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  const sender = fakeSender()
  const random = { ...seededRandom('visible'), fraction: () => 0.5 }
  const hs = createHookswitch({
    store: memoryStore(),
    clock,
    random,
    log,
    sender: sender as Sender,
    ...options,
  })
  await hs.start()
  const acme = await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
  await hs.accounts.create({ id: 'other', name: 'Other', realm: 'other.example' })
  open.push({ close: () => hs.close({ drainMs: 0 }) })
  const webhook = (accountId: string, settings: object = {}) =>
    hs.webhooks.create(accountId, {
      name: 'w',
      uri: `https://${accountId}.example.com/`,
      hook: 'channel_create',
      retries: 0,
      ...settings,
    })
  const publish = async (accountId: string, callId: string) => {
    await hs.publish({ hook: 'channel_create', accountId, callId })
    await clock.settle()
  }
  return { hs, clock, lines, sender, acme, webhook, publish }
}

describe('the log', () => {
  it('has one line for each pause and its end, and for each exhausted delivery', async () => {
    const { clock, lines, sender, webhook, publish } = await start()
    const { id: webhookId } = await webhook('acme')
    sender.script = () => responseWith(500)
    for (let call = 0; call < 12; call++) await publish('acme', `call-${call}`)
    sender.script = () => responseWith(200)
    await clock.advance(60_000)
    const pauses = lines.filter(({ message }) => message.includes('pause'))
    expect(pauses).toEqual([
      {
        level: 'warn',
        message: 'a webhook was paused: its deliveries wait',
        fields: {
          webhookId,
          accountId: 'acme',
          failuresInRow: 10,
          pausedUntil: expect.stringMatching(/^2026-01-01T00:00:/),
          reason: 'status 500',
        },
      },
      {
        level: 'info',
        message: 'the pause of a webhook has ended: sending continues',
        fields: { webhookId, accountId: 'acme' },
      },
    ])
    const exhausted = lines.filter(({ message }) => message.includes('given up'))
    expect(exhausted).toHaveLength(10)
    expect(exhausted[0]).toEqual({
      level: 'warn',
      message: 'a delivery was given up: it has no retries left',
      fields: {
        deliveryId: expect.any(String),
        webhookId,
        accountId: 'acme',
        eventId: expect.any(String),
        hook: 'channel_create',
        callId: 'call-0',
        attempts: 1,
        reason: 'status 500',
      },
    })
  })

  it('has one line for a webhook that the service disabled, and for a removed account', async () => {
    const { hs, lines, sender, webhook, publish } = await start()
    const { id: webhookId } = await webhook('acme')
    sender.script = () => responseWith(410)
    await publish('acme', 'call')
    await hs.accounts.remove('other')
    expect(lines).toEqual([
      {
        level: 'warn',
        message: 'a webhook was disabled by the service',
        fields: { webhookId, accountId: 'acme', reason: 'gone' },
      },
      { level: 'info', message: 'an account was removed', fields: { accountId: 'other' } },
    ])
  })

  it('has a line for an account that was removed over HTTP', async () => {
    const { hs, lines } = await start({ operators: ['acme'] })
    const { token } = await hs.auth.signIn({ apiKey: await hs.accounts.readApiKey('acme') })
    const headers = { 'x-auth-token': token }
    expect((await hs.handle({ method: 'DELETE', url: '/v1/accounts/other', headers })).status).toBe(200)
    expect(lines).toEqual([
      { level: 'info', message: 'an account was removed', fields: { accountId: 'other' } },
    ])
    await hs.handle({ method: 'DELETE', url: '/v1/accounts/other', headers })
    expect(lines).toHaveLength(1)
  })

  it('has no warning about the requests that a graceful stop cuts off', async () => {
    const { hs, lines, sender, webhook, publish } = await start()
    await webhook('acme')
    sender.script = () => undefined
    const close = sender.close.bind(sender)
    sender.close = async () => {
      for (const { answer } of [...sender.open]) answer({ kind: 'own_fault', detail: 'the sender is closed' })
      await close()
    }
    await publish('acme', 'call')
    await hs.close({ drainMs: 0 })
    expect(lines).toEqual([
      {
        level: 'info',
        message: 'closing interrupts requests in flight: they are sent again',
        fields: { requests: 1 },
      },
    ])
  })

  it('has no line for HTTP requests by default', async () => {
    const { hs, lines } = await start()
    await hs.handle({ method: 'GET', url: '/v1/webhooks', headers: {} })
    expect(lines).toEqual([])
  })
})

describe('lists over all accounts', () => {
  it('has the webhooks that fail, are paused or were disabled, by state and page by page', async () => {
    const { hs, sender, webhook, publish } = await start()
    const failing = await webhook('acme')
    const gone = await webhook('other')
    await webhook('acme', { name: 'fine', uri: 'https://fine.example.com/' })
    sender.script = ({ url }) => responseWith(url.includes('acme') ? 500 : url.includes('other') ? 410 : 200)
    await publish('acme', 'call')
    await publish('other', 'call')
    const { webhooks } = await hs.operator.unhealthy()
    expect(new Map(webhooks.map(({ id, health }) => [id, health.state]))).toEqual(
      new Map([
        [failing.id, 'failing'],
        [gone.id, 'disabled'],
      ]),
    )
    const disabled = await hs.operator.unhealthy({ states: ['disabled'] })
    expect(disabled.webhooks.map(({ id }) => id)).toEqual([gone.id])
    const first = await hs.operator.unhealthy({ limit: 1 })
    const second = await hs.operator.unhealthy({ limit: 1, afterId: first.nextId! })
    expect(second).not.toHaveProperty('nextId')
    expect([...first.webhooks, ...second.webhooks]).toEqual(webhooks)
    await expect(hs.operator.unhealthy({ limit: 0 })).rejects.toMatchObject({ field: 'limit' })
  })

  it('has the deliveries that match a search', async () => {
    const { hs, sender, webhook, publish } = await start()
    await webhook('acme')
    await webhook('other')
    sender.script = ({ url }) => responseWith(url.includes('acme') ? 500 : 200)
    await publish('acme', 'call-1')
    await publish('other', 'call-1')
    await publish('other', 'call-2')
    const accountsOf = async (query: Parameters<typeof hs.operator.search>[0]) =>
      (await hs.operator.search(query)).deliveries.map(({ accountId }) => accountId)
    expect(await accountsOf({})).toEqual(['other', 'other', 'acme'])
    expect(await accountsOf({ callId: 'call-1' })).toEqual(['other', 'acme'])
    expect(await accountsOf({ states: ['exhausted'] })).toEqual(['acme'])
    const page = await hs.operator.search({ limit: 2 })
    expect(await accountsOf({ limit: 2, cursor: page.cursor! })).toEqual(['acme'])
  })
})
