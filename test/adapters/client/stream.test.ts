import type { ServerResponse } from 'node:http'
import { createClient, type HookswitchClient, type StreamItem } from 'hookswitch/client'
import { manualClock, scriptedReceiver, status, until } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Answer, fail, scriptedApi } from './scripted-api.js'
import { API_KEY, CHILD_KEY, startService } from './service.js'

/** Time in which every pause is short, so that a test waits for the next connection only. */
const HURRIED = {
  monotonic: () => performance.now(),
  sleep: (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      // The limits of calls and of silence stay long.
      const timer = setTimeout(resolve, ms > 20_000 ? ms : 1)
      signal?.addEventListener('abort', () => {
        clearTimeout(timer)
        resolve()
      })
    }),
}

function follow(client: HookswitchClient, ...given: Parameters<HookswitchClient['stream']>) {
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const [parameters, options] = given
  const items: StreamItem[] = []
  const states: string[] = []
  const done = (async () => {
    const stream = client.stream(parameters, {
      ...options,
      signal: abort.signal,
      onState: (state) => states.push(state),
    })
    for await (const item of stream) items.push(item)
  })()
  done.catch(() => {})
  return { items, states, done, stop: () => abort.abort() }
}

const START = 'retry: 10\n\n'
const attemptText = (id: string, place = id) =>
  `id: ${place}\nevent: attempt\ndata: ${JSON.stringify({ id, hook_id: 'w' })}\n\n`

/** Starts a stream as the service does. */
function begin(response: ServerResponse, text = ''): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(START + text)
}

/** Answers with an event stream the requests in turn; the last answer is repeated. */
async function scripted(answers: readonly Answer[], headers: (string | undefined)[] = []) {
  const api = await scriptedApi((response, request, nth) => {
    headers.push(response.req.headers['last-event-id'] as string | undefined)
    return answers[Math.min(nth, answers.length - 1)]!(response, request, nth)
  })
  const client = createClient({ url: api.url, apiKey: 'secret-key', clock: HURRIED })
  return { ...api, client, headers }
}

describe('client.stream on the service', () => {
  it('yields attempts, changes of webhooks and events, with their documents', async () => {
    const receiver = scriptedReceiver()
    await receiver.start()
    onTestFinished(() => receiver.close())
    receiver.on('/', [status(500)])
    const { hs, url } = await startService()
    const client = createClient({ url, apiKey: API_KEY })
    const { items, states } = follow(client, { types: ['attempt', 'webhook', 'event'] })
    await until(() => states.length === 1)
    const input = { name: 'w', uri: receiver.url('/'), hook: 'channel_create', retries: 0 }
    const { id } = await hs.webhooks.create('parent', input)
    await hs.publish({ hook: 'channel_create', accountId: 'parent', callId: 'c1' })
    await until(() => items.length === 3)
    const find = (type: string) => items.find((item) => item.type === type)
    expect(find('webhook')).toMatchObject({ data: { id, account_id: 'parent', change: 'created' } })
    expect(find('event')).toMatchObject({
      data: { hook_event: 'channel_create', call_id: 'c1', sequence: 1 },
    })
    expect(find('attempt')).toMatchObject({
      id: expect.any(String),
      data: { hook_id: id, result: 'failure', resp_status_code: '500' },
    })
  })

  it('sends its parameters, and continues after an id', async () => {
    const { hs, url } = await startService({
      sender: { send: async () => response204, close: async () => {} },
    })
    const client = createClient({ url, apiKey: API_KEY })
    for (const accountId of ['parent', 'child'])
      await hs.webhooks.create(accountId, { name: 'w', uri: 'https://r.example/', hook: 'all' })
    const first = follow(client, { descendants: true, types: ['attempt'] })
    await until(() => first.states.length === 1)
    const publish = (accountId: string, callId: string) =>
      hs.publish({ hook: 'channel_create', accountId, callId })
    await publish('child', 'a')
    await until(() => first.items.length === 1)
    first.stop()
    await first.done
    await publish('parent', 'b')
    const { id: lastId } = first.items[0] as { id: string }
    const second = follow(client, { descendants: true, types: ['attempt'], lastId })
    await until(() => second.items.some(({ data }) => 'call_id' in data && data.call_id === 'b'))
    const third = follow(client, { accountId: 'child', types: ['attempt'], callId: 'x', result: 'success' })
    await until(() => third.states.length === 1)
    await publish('child', 'y')
    await publish('child', 'x')
    await until(() => third.items.length === 1)
    expect(third.items[0]).toMatchObject({ data: { account_id: 'child', call_id: 'x' } })
  })

  it('rejects without access, with a wrong parameter, and for an unknown account', async () => {
    const { url } = await startService()
    const child = createClient({ url, apiKey: CHILD_KEY })
    await expect(follow(child, { accountId: 'parent' }).done).rejects.toMatchObject({ status: 403 })
    await expect(follow(child, { webhookId: 'not an id' }).done).rejects.toMatchObject({
      status: 400,
      data: { webhook_id: { wrong_format: {} } },
    })
    const wrong = createClient({ url, apiKey: 'wrong'.repeat(10) })
    await expect(follow(wrong).done).rejects.toMatchObject({ status: 401 })
  })

  it('logs in again when its token is revoked, and misses nothing', async () => {
    const { hs, url } = await startService({
      sender: { send: async () => response204, close: async () => {} },
    })
    const client = createClient({ url, apiKey: API_KEY, clock: HURRIED })
    await hs.webhooks.create('parent', { name: 'w', uri: 'https://r.example/', hook: 'all' })
    const { items, states } = follow(client, { types: ['attempt'] })
    await until(() => states.includes('open'))
    await hs.publish({ hook: 'channel_create', accountId: 'parent', callId: 'a' })
    await until(() => items.length === 1)
    await hs.auth.signOut(await client.token())
    await hs.publish({ hook: 'channel_create', accountId: 'parent', callId: 'b' })
    await until(() => items.length === 2)
    expect(items.map(({ data }) => (data as { call_id: string }).call_id)).toEqual(['a', 'b'])
    expect(states).toEqual(['open', 'waiting', 'open'])
  })
})

const response204 = { kind: 'response', status: 204, headers: [], body: '', bodyEnd: 'complete' } as const

describe('client.stream', () => {
  it('connects again with its last id when the connection is cut, and drops what it has', async () => {
    const { client, headers } = await scripted([
      (response) => {
        begin(response, attemptText('a') + attemptText('b'))
        setImmediate(() => response.destroy())
      },
      (response) => begin(response, attemptText('b') + attemptText('c')),
    ])
    const { items } = follow(client)
    await until(() => items.length === 3)
    expect(items.map(({ data }) => (data as { id: string }).id)).toEqual(['a', 'b', 'c'])
    expect(headers).toEqual([undefined, 'b'])
  })

  it.each([
    [
      'the end of the service',
      (response: ServerResponse) => {
        begin(response, 'event: end\ndata: {"reason":"closing"}\n\n')
        response.end()
      },
    ],
    [
      '503',
      (response: ServerResponse) => fail(response, 503, 'datastore_unreachable', { 'retry-after': '1' }),
    ],
    ['429', (response: ServerResponse) => fail(response, 429, 'too_many_requests', { 'retry-after': '5' })],
    ['a reset', (response: ServerResponse) => response.destroy()],
  ])('connects again after %s', async (_, answer) => {
    const { client } = await scripted([answer, answer, (response) => begin(response, attemptText('a'))])
    const { items } = follow(client)
    await until(() => items.length === 1)
  })

  it('waits as long as the service says', async () => {
    const pauses: number[] = []
    const clock = {
      ...HURRIED,
      sleep: (ms: number, signal?: AbortSignal) => {
        if (ms < 20_000) pauses.push(ms)
        return HURRIED.sleep(ms, signal)
      },
    }
    const api = await scriptedApi((response, _, nth) => {
      if (nth === 0) {
        begin(response)
        return response.end()
      }
      if (nth === 1) return fail(response, 429, 'too_many_requests', { 'retry-after': '7' })
      return begin(response, attemptText('a'))
    })
    const client = createClient({ url: api.url, apiKey: 'secret-key', clock })
    const { items } = follow(client)
    await until(() => items.length === 1)
    expect(pauses).toHaveLength(2)
    expect(pauses[0]).toBeGreaterThanOrEqual(7.5)
    expect(pauses[0]).toBeLessThanOrEqual(12.5)
    expect(pauses[1]).toBe(7_000)
  })

  it('reports a gap and begins anew when the service does not know its id', async () => {
    const unknown = { 'last-event-id': { wrong_format: { message: 'no' } } }
    const { client, headers } = await scripted([
      (response) => {
        begin(response, attemptText('a', 'place'))
        setImmediate(() => response.destroy())
      },
      (response) => fail(response, 400, 'validation error', {}, unknown),
      (response) => begin(response, attemptText('b')),
    ])
    const { items } = follow(client)
    await until(() => items.length === 3)
    expect(items[1]).toEqual({ type: 'gap', data: { from: 'place', dropped: null } })
    expect(headers).toEqual([undefined, 'place', undefined])
  })

  it('passes on rates and gaps, and ignores kinds that it does not know', async () => {
    const { client } = await scripted([
      (response) =>
        begin(
          response,
          'event: novelty\ndata: {}\n\n:\n\nid: 1\nevent: rate\ndata: {"hook_id":"w","ok":5,"failed":1,"timestamp":9}\n\n' +
            'event: gap\ndata: {"from":"1","dropped":3}\n\n',
        ),
    ])
    const { items } = follow(client)
    await until(() => items.length === 2)
    expect(items).toEqual([
      { type: 'rate', id: '1', data: { hook_id: 'w', ok: 5, failed: 1, timestamp: 9 } },
      { type: 'gap', data: { from: '1', dropped: 3 } },
    ])
  })

  it('gives up a token that is refused twice in a row', async () => {
    const { client, logins } = await scripted([(response) => fail(response, 401, 'invalid_credentials')])
    await expect(follow(client).done).rejects.toMatchObject({ status: 401 })
    expect(logins()).toBe(2)
  })

  it.each([
    [
      'a page',
      (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      'invalid_response',
    ],
    [
      'a redirect',
      (response: ServerResponse) => response.writeHead(302, { location: '/' }).end(),
      'redirected',
    ],
    [
      'data that is not JSON',
      (response: ServerResponse) => begin(response, 'event: attempt\ndata: {\n\n'),
      'invalid_response',
    ],
    [
      'an endless event',
      (response: ServerResponse) => begin(response, `data: ${'x'.repeat(1_100_000)}`),
      'invalid_response',
    ],
  ])('rejects %s', async (_, answer, code) => {
    const { client } = await scripted([answer])
    await expect(follow(client).done).rejects.toMatchObject({ code })
  })

  it('connects again when the service is silent for too long', async () => {
    let silence: (() => void) | undefined
    const clock = {
      monotonic: () => performance.now(),
      sleep: (ms: number, signal?: AbortSignal) => {
        if (ms !== 45_000) return HURRIED.sleep(ms, signal)
        return new Promise<void>((resolve) => {
          silence = resolve
          signal?.addEventListener('abort', () => resolve())
        })
      },
    }
    const headers: unknown[] = []
    const api = await scriptedApi((response, _, nth) => {
      headers.push(response.req.headers['last-event-id'])
      begin(response, attemptText(`a${nth}`))
    })
    const client = createClient({ url: api.url, apiKey: 'secret-key', clock })
    const { items } = follow(client)
    await until(() => items.length === 1)
    silence!()
    await until(() => items.length === 2)
    expect(headers).toEqual([undefined, 'a0'])
  })

  it('closes its connection when its reader stops, or aborts', async () => {
    let closed = 0
    const { client } = await scripted([
      (response) => {
        response.on('close', () => {
          closed += 1
        })
        begin(response, attemptText('a'))
      },
    ])
    for await (const item of client.stream()) {
      expect(item.type).toBe('attempt')
      break
    }
    await until(() => closed === 1)
    const { items, stop, done } = follow(client)
    await until(() => items.length === 1)
    stop()
    await done
    await until(() => closed === 2)
  })

  it.each(['its reader aborts', 'its connection is cut'])('leaves no timer behind when %s', async (how) => {
    const clock = manualClock()
    let cut = () => {}
    const api = await scriptedApi((response) => {
      cut = () => response.destroy()
      begin(response, attemptText('a'))
    })
    const client = createClient({ url: api.url, apiKey: 'secret-key', clock })
    const { items, states, stop, done } = follow(client)
    await until(() => items.length === 1)
    expect(clock.sleepers()).toMatchObject({ count: 1 })
    if (how === 'its connection is cut') {
      cut()
      await until(() => states.includes('waiting'))
      // The pause before the next connection.
      await until(() => clock.sleepers().count === 1)
    }
    stop()
    await done
    await until(() => clock.sleepers().count === 0)
  })

  it('never has a secret in an error', async () => {
    const { client } = await scripted([
      (response, { token }) => fail(response, 400, `echo ${token}`, {}, { token }),
    ])
    const error = await follow(client).done.catch((thrown: unknown) => thrown)
    expect(JSON.stringify([error, String(error)])).not.toContain('token-of-the-scripted-api')
  })
})
