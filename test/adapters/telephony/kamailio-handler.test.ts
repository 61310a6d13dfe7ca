import { createServer, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import express5 from 'express'
import express4 from 'express4'
import type { ChannelEvent } from 'hookswitch'
import { accountByDomain, type KamailioSourceOptions, kamailioSource } from 'hookswitch/kamailio'
import { manualClock, until } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { fakeKamailio } from '../../../src/testkit/switches/index.js'
import { connected } from '../../testkit/switches-client.js'
import { hooksOf, recordedCalls, recordedLines } from './recorded.js'

const accountOf = accountByDomain({ 'alpha.example': 'alpha', 'beta.example': 'beta' })
const JSON_TYPE = 'application/json'
const [first = '', second = '', third = ''] = recordedLines

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const opened of open.splice(0)) await opened.close()
})

function sourceWith(options: Partial<KamailioSourceOptions> = {}) {
  const published: ChannelEvent[] = []
  const source = kamailioSource({
    publish: async (event) => void published.push(event),
    accountOf,
    ...options,
  })
  open.unshift({ close: () => source.close({ drainMs: 0 }) })
  return { source, published }
}
async function served(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push({
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  })
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`
}
const post = (url: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': JSON_TYPE, connection: 'close', ...headers },
  })

describe.each<[string, (handler: RequestListener) => RequestListener]>([
  ['node:http', (handler) => handler],
  ['Express 5', (handler) => express5().post('/', handler)],
  ['Express 5 with its JSON parser', (handler) => express5().use(express5.json()).post('/', handler)],
  ['Express 4 with its JSON parser', (handler) => express4().use(express4.json()).post('/', handler)],
  [
    'Express 4 with its text parser',
    (handler) =>
      express4()
        .use(express4.text({ type: '*/*' }))
        .post('/', handler),
  ],
])('under %s', (_, mounted) => {
  it.each<[string, string, string]>([
    ['one object', JSON_TYPE, first],
    ['one object over several lines', JSON_TYPE, JSON.stringify(JSON.parse(first), null, 2)],
    ['an array', `${JSON_TYPE}; charset=utf-8`, `[${first},${second},${third}]`],
    ['NDJSON', 'application/x-ndjson', `${first}\n\r\n${second}\r\n${third}\n`],
  ])('accepts %s', async (__, type, body) => {
    const { source, published } = sourceWith()
    const response = await post(await served(mounted(source.handler)), body, { 'content-type': type })
    expect(response.status).toBe(204)
    expect(published).toMatchObject([{ hook: 'channel_create', callId: 'k01-caller-hangup-1' }])
  })
})

describe('a body', () => {
  it('of NDJSON with invalid lines gets their numbers in the response, and the other lines are accepted', async () => {
    const { source, published } = sourceWith()
    const url = await served(source.handler)
    const body = [first, 'garbage', '', '{"event":"reply"}', second].join('\n')
    const response = await post(url, body, { 'content-type': 'application/x-ndjson' })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error: '2 of 4 lines cannot be read, the others are taken',
      bad: [
        { line: 2, message: 'the line is not JSON' },
        { line: 3, message: 'time is not seconds.microseconds in a reply line' },
      ],
      taken: 2,
    })
    expect(published).toHaveLength(1)
  })

  it.each([
    ['nothing', '', 'the body has no line'],
    ['white space', ' \r\n\n ', 'the body has no line'],
    ['an empty array', '[]', 'the body has no line'],
    ['a number', '7', '1 of 1 lines cannot be read, the others are taken'],
    ['an array of strings', '["{}"]', '1 of 1 lines cannot be read, the others are taken'],
    ['an incomplete object', first.slice(0, -10), '1 of 1 lines cannot be read, the others are taken'],
    ['bytes that are not UTF-8', '\xff\xfe', '1 of 1 lines cannot be read, the others are taken'],
  ])('of %s is rejected', async (_, body, error) => {
    const { source } = sourceWith()
    const response = await post(await served(source.handler), Buffer.from(body, 'latin1'))
    expect([response.status, await response.json()]).toMatchObject([400, { error }])
  })

  it('above 1 MiB is rejected, with and without Content-Length', async () => {
    const { source, published } = sourceWith()
    const url = await served(source.handler)
    const long = `${first}\n${' '.repeat(1_048_576)}`
    expect((await post(url, long)).status).toBe(413)
    const chunked = await fetch(url, {
      method: 'POST',
      body: new Blob([long]).stream(),
      headers: { 'content-type': JSON_TYPE },
      duplex: 'half',
    } as RequestInit)
    expect(chunked.status).toBe(413)
    expect((await post(url, 'x\n'.repeat(10_001))).status).toBe(413)
    expect(published).toEqual([])
  })

  it('whose sender disconnects in the middle is not accepted', async () => {
    const { source, published } = sourceWith()
    const url = new URL(await served(source.handler))
    const socket = connect(Number(url.port), '127.0.0.1')
    const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: 100000\r\n\r\n`
    socket.on('error', () => {})
    await new Promise((resolve) => socket.write(`${head}${first}`, resolve))
    socket.destroy()
    expect((await post(url.href, third)).status).toBe(204)
    await until(() => published.length > 0)
    // The call begins with the branch: the INVITE before it was not accepted.
    expect(published).toMatchObject([{ timestampMs: Math.floor(Number(JSON.parse(third).time) * 1000) }])
  })
})

describe('a request', () => {
  it.each([
    ['another method', { method: 'GET' }, 405],
    ['no content type', { method: 'POST', body: Buffer.from(first) }, 415],
    ['another content type', { method: 'POST', body: first, headers: { 'content-type': 'text/plain' } }, 415],
    [
      'a content encoding',
      { method: 'POST', body: first, headers: { 'content-type': JSON_TYPE, 'content-encoding': 'gzip' } },
      415,
    ],
  ])('with %s is rejected', async (_, request, status) => {
    const { source, published } = sourceWith()
    const response = await fetch(await served(source.handler), request as RequestInit)
    expect(response.status).toBe(status)
    expect(response.headers.get('allow')).toBe(status === 405 ? 'POST' : null)
    expect(published).toEqual([])
  })

  it('needs the token if one is set, and the response never contains it', async () => {
    const { source, published } = sourceWith({ token: 'sesame' })
    const url = await served(source.handler)
    for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: 'sesame' }]) {
      const response = await post(url, first, headers as Record<string, string>)
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
      expect(await response.text()).not.toContain('sesame')
    }
    expect(published).toEqual([])
    expect((await post(url, first, { authorization: 'Bearer sesame' })).status).toBe(204)
  })

  it('is answered 503 while the service is full, and after close', async () => {
    const { source } = sourceWith({ publish: () => new Promise(() => {}) })
    const url = await served(source.handler)
    for (let nth = 0; source.push(first.replaceAll('k01-caller-hangup-1', `call-${nth}`)); nth += 1);
    const full = await post(url, second)
    expect([full.status, full.headers.get('retry-after')]).toEqual([503, '1'])
    await source.close({ drainMs: 0 })
    expect((await post(url, second)).status).toBe(503)
  })
})

describe('a full service', () => {
  const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${Buffer.byteLength(third)}\r\n\r\n`
  const started = async () => {
    const { source } = sourceWith({ publish: () => new Promise(() => {}) })
    const requests = { count: 0 }
    const url = await served((req, res) => {
      source.handler(req, res)
      requests.count += 1
    })
    const client = await connected({ port: Number(new URL(url).port) })
    const fill = () => {
      for (let nth = 0; source.push(first.replaceAll('k01-caller-hangup-1', `call-${nth}`)); nth += 1);
      return source.status().openLegs
    }
    return { source, client, fill, requests }
  }

  it('responds before the body is read', async () => {
    const { client, fill } = await started()
    fill()
    client.send(head)
    await client.waitFor('HTTP/1.1 503 ')
  })

  it('accepts nothing of a body during which it became full', async () => {
    const { source, client, fill, requests } = await started()
    client.send(`${head}${third.slice(0, 10)}`)
    await until(() => requests.count === 1)
    const openLegs = fill()
    client.send(third.slice(10))
    await client.waitFor('HTTP/1.1 503 ')
    expect(source.status().openLegs).toBe(openLegs)
  })
})

describe('a proxy that posts', () => {
  it.each([1, 50])(
    '%i lines per request is published completely, although some requests are answered 503',
    async (batch) => {
      const { source, published } = sourceWith()
      let requests = 0
      const url = await served((req, res) => {
        requests += 1
        if (requests % 5 !== 0) return source.handler(req, res)
        req.resume()
        res.writeHead(503, { 'retry-after': '2' }).end()
      })
      const clock = manualClock()
      const fake = fakeKamailio({
        recording: Buffer.from(recordedLines.join('\n')),
        url,
        batch,
        clock,
        speed: Infinity,
      })
      open.unshift(fake)
      await fake.start()
      let isOver = false
      const playing = fake.play().then(() => {
        isOver = true
      })
      await until(
        async () => {
          if (clock.sleepers().count > 0) await clock.advance(2_000)
          return isOver
        },
        { timeoutMs: 25_000 },
      )
      await playing
      const hooks: Record<string, string[]> = {}
      for (const { callId, hook } of published) hooks[callId] = [...(hooks[callId] ?? []), hook]
      expect(hooks).toEqual(Object.fromEntries(recordedCalls.map((call) => [call.callId, hooksOf(call)])))
      expect(new Set(fake.answers.map(({ status }) => status))).toEqual(new Set([204, 503]))
    },
  )
})
