/** The publishes of one account, through the service, while the store takes nothing. */
import { describe, expect, it } from 'vitest'
import { withBody } from '../../adapters/http/request-record.js'
import { createRecordingMetrics } from '../delivery/recording-metrics.js'
import { CHILD_ACCOUNT, jsonOf, OWN_ACCOUNT, type RequestOptions, request } from './records.js'
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
    const published = {
      request: withBody(request('PUT', pathOf(accountId), { token: service.token, ...sent }), {}),
      status: undefined as number | undefined,
      message: undefined as unknown,
    }
    void service.hs.handle(published.request).then((response) => {
      published.status = response.status
      published.message = (jsonOf(response).data as { message?: string }).message
    })
    return published
  }
  return { ...service, open, publish, labels }
}

describe('publishes of one account', () => {
  it('above 8 MiB of others are refused, and other accounts are not', async () => {
    const { publish, open, labels, clock } = await startHeldService()
    const all = Array.from({ length: 9 }, () => publish(OWN_ACCOUNT, { body: listOf(MEGA) }))
    await clock.settle()
    const above = publish(OWN_ACCOUNT, { body: listOf(MEGA) })
    await clock.settle()
    expect([above.status, 'body' in above.request]).toEqual([undefined, false])
    await clock.advance(20)
    const small = publish(OWN_ACCOUNT, { body: listOf(10_000) })
    const other = publish(CHILD_ACCOUNT, { body: listOf(MEGA) })
    await clock.settle()
    expect([above.status, above.message]).toEqual([
      429,
      'too many publishes wait: 8388608 bytes in this account, 33554432 of this client, 67108864 in all, or one for 10 s',
    ])
    expect(labels('hookswitch_events_refused_total')).toEqual({ too_many: 1 })
    expect([...all, small, other].map(({ status }) => status)).toEqual(Array(11).fill(undefined))

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
    const small = JSON.parse(listOf(10_000))
    const smalls = Array.from({ length: 200 }, () => publish(OWN_ACCOUNT, { more: { parsedBody: small } }))
    await clock.advance(20)
    expect(smalls.some(({ status }) => status !== undefined)).toBe(false)
    await clock.settle()
    const above = send(body)
    await clock.advance(20)
    expect([above.status, 'parsedBody' in above.request]).toEqual([429, false])
    open()
  })
})
