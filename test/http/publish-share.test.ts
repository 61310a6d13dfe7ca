/** The publishes of one account, through the service, while the store takes nothing. */
import { describe, expect, it } from 'vitest'
import { createRecordingMetrics } from '../delivery/recording-metrics.js'
import { API_KEY, CHILD_ACCOUNT, jsonOf, OWN_ACCOUNT, type RequestOptions } from './records.js'
import { startService } from './service.js'

const MEGA = 1_000_000
const pathOf = (accountId: string) => `/v2/accounts/${accountId}/events`

/** A list of 20 events, with this number of bytes in all. */
function listOf(bytes: number): string {
  const list = (text: string) =>
    JSON.stringify({
      data: Array.from({ length: 20 }, (_, index) => ({
        hook: 'channel_create',
        call_id: `call-${index}`,
        custom_channel_vars: { text },
      })),
    })
  return list('x'.repeat(Math.floor((bytes - list('').length) / 20)))
}

async function startHeldService() {
  const { metrics, labels } = createRecordingMetrics()
  const service = await startService({ ingest: true, metrics })
  const { commit } = service.store.deliveries
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  service.store.deliveries.commit = async (...group) => {
    await opened
    return commit(...group)
  }
  /** Status of the response, when there is one. */
  const publish = (accountId: string, sent: RequestOptions) => {
    const published = { status: undefined as number | undefined, message: undefined as unknown }
    void service.send('PUT', pathOf(accountId), sent).then((response) => {
      published.status = response.status
      published.message = (jsonOf(response).data as { message?: string }).message
    })
    return published
  }
  return { ...service, open, publish, labels }
}

describe('publishes of one account', () => {
  it('above 8 MiB of others are refused, and other accounts are not', async () => {
    const { publish, open, labels, clock, hs, token } = await startHeldService()
    const all = Array.from({ length: 9 }, () => publish(OWN_ACCOUNT, { body: listOf(MEGA) }))
    await clock.settle()
    const above = publish(OWN_ACCOUNT, { body: listOf(MEGA) })
    const small = publish(OWN_ACCOUNT, { body: listOf(10_000) })
    const other = publish(CHILD_ACCOUNT, { body: listOf(MEGA) })
    await clock.settle()
    expect([above.status, above.message]).toEqual([
      429,
      'too many publishes of this account wait: bodies of more than 8388608 bytes, or one for 10 s',
    ])
    expect(labels('hookswitch_events_refused_total')).toEqual({ queue_full: 1 })
    expect([...all, small, other].map(({ status }) => status)).toEqual(Array(11).fill(undefined))

    const head = (accountId: string, ownToken: string, bytes: number | undefined) => ({
      method: 'PUT',
      url: pathOf(accountId),
      headers: {
        'x-auth-token': ownToken,
        ...(bytes === undefined ? {} : { 'content-length': `${bytes}` }),
      },
    })
    const another = (await hs.auth.signIn({ apiKey: API_KEY })).token
    const waits = (...of: Parameters<typeof head>) => hs.admitBody(head(...of)).ready !== undefined
    expect(waits(OWN_ACCOUNT, token, MEGA)).toBe(true)
    expect(waits(OWN_ACCOUNT, token, undefined)).toBe(true)
    expect(waits(OWN_ACCOUNT, token, 16_384)).toBe(false)
    expect(waits(OWN_ACCOUNT, token, 2 * MEGA)).toBe(false)
    expect(waits(OWN_ACCOUNT, another, MEGA)).toBe(false)
    expect(waits(CHILD_ACCOUNT, token, MEGA)).toBe(false)
    expect(hs.admitBody({ ...head(OWN_ACCOUNT, token, MEGA), url: '/v2/accounts' }).ready).toBe(undefined)

    open()
    await clock.settle()
    expect([...all, small, other].map(({ status }) => status)).toEqual(Array(11).fill(202))
  })

  it('leave their share when they are answered, whatever the answer', async () => {
    const { publish, open, clock } = await startHeldService()
    open()
    for (const [body, status] of [
      [listOf(MEGA), 202],
      [listOf(MEGA).slice(1), 400],
      [listOf(MEGA).replace('channel_create', 'channel_creat'), 400],
      [listOf(MEGA), 202],
    ] as const) {
      const published = publish(OWN_ACCOUNT, { body })
      await clock.settle()
      expect(published.status).toBe(status)
    }
  })

  it('that a framework has parsed count with the bytes of their JSON', async () => {
    const { publish, open, clock } = await startHeldService()
    const send = (parsedBody: unknown) =>
      publish(OWN_ACCOUNT, { headers: { 'content-length': '1' }, more: { parsedBody } })
    const body = JSON.parse(listOf(MEGA))
    for (let count = 0; count < 9; count++) send(body)
    await clock.settle()
    const above = send(body)
    await clock.settle()
    expect(above.status).toBe(429)
    open()
  })
})
